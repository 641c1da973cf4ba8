package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// The kinds of messages in a log.
const (
	kindOpening  = "opening"  // of an owner: what has an earlier epoch is refused from here on
	kindSnapshot = "snapshot" // a piece of one
	kindEnd      = "end"      // of a snapshot: the changes up to its first message need no more be read
)

// errLost is why a log refuses a message: the partition is another's.
var errLost = errors.New("the partition is another node's")

// logEnd is the end of a log that this node may write to.
type logEnd struct {
	// after is the last message of the outbox before the node got the partition: what is up to it is of an
	// earlier time with it, and the engine may have it no more.
	after atomic.Uint64

	mu    sync.Mutex // held while a message is on its way
	epoch uint64
	seq   uint64 // of its last message
	whole uint64 // its last whole snapshot: the last message before that; 0: there is none

	fresh    int // bytes since the last snapshot
	snapshot int // bytes of that
	exports  bool
}

// last is the last message of a log; zero: there is none.
type last struct {
	seq, epoch, whole uint64
	id                string
	bare              bool // the log has only openings
}

// last returns the end of a log. It may be late: whoever relies on it expects its sequence. A message that no node has
// written would keep all nodes from writing behind it: it is removed.
func (n *node) last(ctx context.Context, p int) (l last, err error) {
	for {
		msg, err := n.streams.log.GetLastMsgForSubject(ctx, n.log(p))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return last{bare: true}, nil
		}
		if err != nil {
			return l, err
		}
		if l.epoch, err = epochOf(msg.Header); err == nil {
			l.seq, l.id, l.bare, l.whole = msg.Sequence, msg.Header.Get(headerID), msg.Header.Get(headerBare) != "", number(msg.Header.Get(headerWhole))
			return l, nil
		}
		n.setLogAside(msg.Sequence, err)
		if err := n.streams.log.DeleteMsg(ctx, msg.Sequence); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return l, err
		}
	}
}

// epochOf returns the epoch of a message of a log. It tells the messages of nodes from those of anyone else.
func epochOf(h nats.Header) (uint64, error) {
	epoch, err := strconv.ParseUint(h.Get(headerEpoch), 10, 64)
	if err != nil {
		return 0, errors.New("no epoch, expected a message of a node")
	}
	return epoch, nil
}

// append adds changes to a log, or returns errLost.
func (o *outbox) append(ctx context.Context, p int, end *logEnd, all []store.Message) error {
	if len(all) == 0 {
		return nil
	}
	blocks := make([][]byte, len(all))
	for i, m := range all {
		blocks[i] = m.Data
	}
	for len(blocks) > 0 {
		n := fit(blocks)
		if err := o.add(ctx, p, end, nats.Header{}, pack(blocks[:n])); err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	o.node.compact(p, end)
	return nil
}

// add appends data to a log, in as many messages as it takes.
func (o *outbox) add(ctx context.Context, p int, end *logEnd, h nats.Header, data []byte) error {
	end.mu.Lock()
	defer end.mu.Unlock()
	end.fresh += len(data)
	h.Del(headerLater)
	for most := o.node.mostData(); ; h.Set(headerLater, "1") {
		piece := data[:min(len(data), most)]
		data = data[len(piece):]
		if h.Del(headerMore); len(data) > 0 {
			h.Set(headerMore, "1")
		}
		if err := o.addOne(ctx, p, end, h, piece); err != nil || len(data) == 0 {
			return err
		}
	}
}

// addOne appends a message. Its fate may be unknown when a request fails: the log tells.
func (o *outbox) addOne(ctx context.Context, p int, end *logEnd, h nats.Header, data []byte) error {
	id := o.nextID()
	msg := &nats.Msg{Subject: o.node.log(p), Data: data, Header: o.header()}
	maps.Copy(msg.Header, h)
	msg.Header.Set(headerEpoch, strconv.FormatUint(end.epoch, 10))
	msg.Header.Set(headerID, id)
	whole := end.whole
	if h.Get(headerKind) == kindEnd {
		whole = number(h.Get(headerSnapshot))
	}
	if whole > 0 {
		msg.Header.Set(headerWhole, strconv.FormatUint(whole, 10))
	}
	lost := false
	err := o.retry(ctx, func(ctx context.Context) error {
		ack, err := o.node.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(end.seq))
		if err == nil {
			end.seq, end.whole = ack.Sequence, whole
			return nil
		}
		l, failed := o.node.last(ctx, p)
		switch {
		case failed != nil || l.seq <= end.seq:
			return err
		case l.id == id:
			end.seq, end.whole = l.seq, whole
		default:
			lost = true
		}
		return nil
	})
	if lost {
		return errLost
	}
	if err == nil {
		o.node.figures.log(msg)
	}
	return err
}

// restore makes a partition this node's: first its log refuses all others, then the engine gets what the
// log has. A disk that has the state of the epoch before is used as it is.
func (n *node) restore(ctx context.Context, o ownership.Order) error {
	p, part := o.Partition, &n.parts[o.Partition]
	if part.local && o.Before == o.Epoch { // it was kept
		return n.crawl.Release(ctx, p)
	}
	before, end, err := last{bare: true}, &logEnd{epoch: o.Epoch}, error(nil)
	if o.Before > 0 { // else there is no earlier owner to be refused
		before, end, err = n.openLog(ctx, p, o.Epoch)
	}
	if err != nil {
		return err
	}
	switch {
	case part.local && o.Mine && (before.epoch == o.Before || before.seq == 0):
		if err := n.crawl.Mark(ctx, p, o.Epoch); err != nil {
			return err
		}
		n.outbox.hold(p, end)
		return n.crawl.Release(ctx, p)
	case part.local, part.remains:
		if err := n.forget(ctx, p); err != nil {
			return err
		}
	}
	if err := n.crawl.Mark(ctx, p, o.Epoch); err != nil {
		return err
	}
	part.remains = true
	end.after.Store(n.crawl.Posted())
	to := end.seq
	// The log is open before the engine has the partition: what the engine finds must not be taken for
	// another's, sent as links, and found to be known here when it arrives. No log would have it.
	n.outbox.hold(p, end)
	if before.bare {
		err = n.news.join(ctx, n.crawl, p)
	} else {
		err = n.joinFrom(ctx, p, before.whole, to)
	}
	if err != nil {
		n.outbox.release(p)
		return err
	}
	part.local, part.remains = true, false
	return nil
}

// joinFrom has the engine take over a partition whose log has something, when the log is read.
func (n *node) joinFrom(ctx context.Context, p int, snapshot, to uint64) (err error) {
	urls, end := 0, n.figures.restored.begin()
	defer func() { end(urls, err) }()
	log, err := n.logs.read(ctx, n, p, snapshot, to)
	if err != nil {
		return err
	}
	defer log.leave()
	urls, err = n.crawl.Join(ctx, p, n.readLog(ctx, log))
	return err
}

// openLog appends the opening of an epoch to a log, and returns what was its end before. An end that the
// node has, from an earlier epoch, goes on: what is on its way is appended first.
func (n *node) openLog(ctx context.Context, p int, epoch uint64) (before last, end *logEnd, err error) {
	if end = n.outbox.log(p); end == nil {
		end = new(logEnd)
	}
	end.mu.Lock()
	defer end.mu.Unlock()
	end.epoch = epoch
	for {
		err = n.outbox.retry(ctx, func(ctx context.Context) (err error) {
			before, err = n.last(ctx, p)
			return err
		})
		switch {
		case err != nil:
			return before, nil, err
		case before.epoch > epoch:
			return before, nil, errLost
		}
		h := nats.Header{headerKind: {kindOpening}}
		if before.bare {
			h.Set(headerBare, "1")
		}
		end.seq, end.whole = before.seq, before.whole
		if err = n.outbox.addOne(ctx, p, end, h, nil); !errors.Is(err, errLost) { // nobody was faster
			return before, end, err
		}
	}
}

// message is one of a log.
type message struct {
	seq, snapshot, opened uint64
	kind                  string
	later, more           bool // a piece of several: not the first, not the last
	data                  []byte
}

// messagesAhead bounds the messages that the servers send before they are taken in.
const messagesAhead = 256

// consume reads messages of a stream in order, about so many bytes ahead, until stop is called or ctx ends.
func (c *Client) consume(ctx context.Context, stream string, subjects []string, ahead int) (all jetstream.MessagesContext, stop func(), err error) {
	consumer, err := c.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{
		FilterSubjects:    subjects,
		InactiveThreshold: time.Minute, // servers forget a consumer whose process has died
	})
	if err != nil {
		return nil, nil, err
	}
	// The servers send nothing at all if the next message is longer than that.
	ahead = max(ahead, int(c.conn.MaxPayload())+64<<10)
	if all, err = consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(messagesAhead, ahead)); err != nil {
		return nil, nil, err
	}
	done := context.AfterFunc(ctx, all.Stop)
	return all, func() {
		done()
		all.Stop()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		if info := consumer.CachedInfo(); info != nil {
			_ = c.js.DeleteConsumer(ctx, stream, info.Name) // or it goes when it was inactive for long enough
		}
	}, nil
}

// number reads a number of a header field; none is 0.
func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// defaultCompactAfter is how many bytes a log grows by, at least, before a snapshot takes its place.
const defaultCompactAfter = 1 << 20

// compact has a snapshot take the place of a log that has become twice as long as one.
func (n *node) compact(p int, end *logEnd) {
	end.mu.Lock()
	due := !end.exports && end.fresh > max(n.compactAfter, 2*end.snapshot)
	end.exports = end.exports || due
	from := end.seq
	end.mu.Unlock()
	if due {
		n.mail.post(func() {
			n.do(p, func(ctx context.Context) func() {
				err := n.snapshot(ctx, p, end, from)
				end.mu.Lock()
				end.exports = false
				end.mu.Unlock()
				if err != nil && ctx.Err() == nil && !errors.Is(err, errLost) && !errors.Is(err, engine.ErrEnded) {
					n.warn(fmt.Errorf("snapshot of partition %d: %w", p, err))
				}
				return func() {}
			})
		})
	}
}

// snapshot appends a snapshot to a log, and removes what it takes the place of.
func (n *node) snapshot(ctx context.Context, p int, end *logEnd, from uint64) error {
	if !n.parts[p].local || n.outbox.log(p) != end {
		return nil
	}
	h := nats.Header{headerKind: {kindSnapshot}, headerSnapshot: {strconv.FormatUint(from, 10)}}
	size := 0
	err := n.crawl.Export(ctx, p, func(block []byte) error {
		data := pack([][]byte{block})
		size += len(data)
		return n.outbox.add(ctx, p, end, h, data)
	})
	if err != nil {
		return err
	}
	// The disk, and so the snapshot, may say of a page that it is done before others have its links.
	if err := n.outbox.done.wait(ctx, n.crawl.Posted()); err != nil { // in its own time
		return err
	}
	h.Set(headerKind, kindEnd)
	if err := n.outbox.add(ctx, p, end, h, pack(nil)); err != nil {
		return err
	}
	end.mu.Lock()
	end.snapshot, end.fresh = size, max(0, end.fresh-size)
	end.mu.Unlock()
	return n.streams.log.Purge(ctx, jetstream.WithPurgeSubject(n.log(p)), jetstream.WithPurgeSequence(from+1))
}
