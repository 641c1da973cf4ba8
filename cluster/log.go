package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/frontier/store"
)

// The kinds of messages in a log.
const (
	kindOpening  = "opening"  // of an owner: what has an earlier epoch is refused from here on
	kindSnapshot = "snapshot" // a piece of one
	kindEnd      = "end"      // of a snapshot: the changes before its first message are obsolete
)

// errLost is the refusal of a message by a log: the partition is another's.
var errLost = errors.New("the partition is another node's")

// recorder appends to logs, as one process. The outbox and the operations of a partition share it,
// and append to a log in turn.
type recorder struct {
	remote   *remote
	log      jetstream.Stream
	requests *requests
	aside    aside
	figures  *figures
	process  string    // begins the IDs of its messages
	widened  *revision // see linkSender

	mu   sync.Mutex
	ids  uint64          // number of its messages that have one
	ends map[int]*logEnd // of the partitions whose logs it may append to
}

func newRecorder(r *remote, s *streams, q *requests, a aside, f *figures, process string, widened *revision) *recorder {
	return &recorder{
		remote: r, log: s.log, requests: q, aside: a, figures: f, process: process, widened: widened, ends: make(map[int]*logEnd),
	}
}

// logEnd is the end of a log, as its writer knows it.
type logEnd struct {
	mu    sync.Mutex // held while a message is on its way
	epoch uint64
	seq   uint64 // of its last message
	whole uint64 // its last whole snapshot: the last message before that; 0: there is none

	// after is the last message of the outbox before the node got the partition: what is up to it
	// is of an earlier time with it, and the engine may have it no more.
	after uint64

	fresh    int  // bytes since the last snapshot
	snapshot int  // bytes of that
	exports  bool // a snapshot is being made
}

// since sets the last message of the outbox before the node got the partition, and returns the last
// message of the log.
func (e *logEnd) since(posted uint64) (seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.after = posted
	return e.seq
}

// permit lets changes go to the log of a partition, whose last message is the node's own.
func (r *recorder) permit(p int, end *logEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends[p] = end
}

// revoke ends that.
func (r *recorder) revoke(p int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ends, p)
}

// end returns the end of a log that changes may go to; nil: they may not.
func (r *recorder) end(p int) *logEnd {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ends[p]
}

// nextID returns an ID of a message that no other has.
func (r *recorder) nextID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids++
	return fmt.Sprintf("%s.%d", r.process, r.ids)
}

// last is the last message of a log; zero: there is none.
type last struct {
	seq, epoch, whole uint64
	id                string
	bare              bool // the log has only openings
}

// last returns the last message of a log. It may be late: whoever relies on it expects its
// sequence. A message that no node has written would keep all nodes from writing behind it: it is
// removed.
func (r *recorder) last(ctx context.Context, p int) (l last, err error) {
	for {
		msg, err := r.log.GetLastMsgForSubject(ctx, r.remote.name.log(p))
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
		r.aside.log(msg.Sequence, err)
		if err := r.log.DeleteMsg(ctx, msg.Sequence); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return l, err
		}
	}
}

// append adds changes to a log. It returns those that it does not take, as the partition was lost
// since they were made: they are of an earlier time with it, or it is another's. Then the log may
// be due for a snapshot.
func (r *recorder) append(ctx context.Context, p int, all []store.Message) (lost []store.Message, end *logEnd, err error) {
	if end = r.end(p); end == nil {
		return all, nil, nil
	}
	end.mu.Lock()
	first := 0
	for first < len(all) && all[first].ID <= end.after {
		first++
	}
	end.mu.Unlock()
	if first == len(all) {
		return all, nil, nil
	}
	blocks := make([][]byte, 0, len(all)-first)
	for _, m := range all[first:] {
		blocks = append(blocks, m.Data)
	}
	for len(blocks) > 0 {
		n := fit(blocks)
		if err := r.add(ctx, p, end, nats.Header{}, pack(blocks[:n])); err != nil {
			if errors.Is(err, errLost) {
				return all, nil, nil
			}
			return nil, nil, err
		}
		blocks = blocks[n:]
	}
	return all[:first], end, nil
}

// add appends data to a log, in as many messages as it takes, or returns errLost.
func (r *recorder) add(ctx context.Context, p int, end *logEnd, h nats.Header, data []byte) error {
	end.mu.Lock()
	defer end.mu.Unlock()
	end.fresh += len(data)
	h.Del(headerLater)
	for most := r.remote.servers.mostData(); ; h.Set(headerLater, "1") {
		piece := data[:min(len(data), most)]
		data = data[len(piece):]
		if h.Del(headerMore); len(data) > 0 {
			h.Set(headerMore, "1")
		}
		if err := r.addPiece(ctx, p, end, h, piece); err != nil || len(data) == 0 {
			return err
		}
	}
}

// addPiece appends a message. Its fate may be unknown when a request fails: the log tells.
func (r *recorder) addPiece(ctx context.Context, p int, end *logEnd, h nats.Header, data []byte) error {
	id := r.nextID()
	msg := &nats.Msg{Subject: r.remote.name.log(p), Data: data, Header: after(r.widened)}
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
	err := r.requests.retry(ctx, func(ctx context.Context) error {
		ack, err := r.remote.servers.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(end.seq))
		if err == nil {
			end.seq, end.whole = ack.Sequence, whole
			return nil
		}
		l, failed := r.last(ctx, p)
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
		r.figures.log(msg)
	}
	return err
}

// begin appends the opening of an epoch to a log, and returns what was its last message before. An
// end that the node has, from an earlier epoch, goes on: what is on its way is appended first.
func (r *recorder) begin(ctx context.Context, p int, epoch uint64) (before last, end *logEnd, err error) {
	if end = r.end(p); end == nil {
		end = new(logEnd)
	}
	end.mu.Lock()
	defer end.mu.Unlock()
	end.epoch = epoch
	for {
		err = r.requests.retry(ctx, func(ctx context.Context) (err error) {
			before, err = r.last(ctx, p)
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
		if err = r.addPiece(ctx, p, end, h, nil); !errors.Is(err, errLost) { // nobody was faster
			return before, end, err
		}
	}
}

// defaultCompactAfter is the least growth of a log, in bytes, before a snapshot takes its place.
const defaultCompactAfter = 1 << 20

// due reports whether a log has grown by so much, and become twice as long as its snapshot, that
// another one is to take its place: that of all up to a message. It is due once until snapshotMade.
func (e *logEnd) due(least int) (from uint64, is bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	is = !e.exports && e.fresh > max(least, 2*e.snapshot)
	e.exports = e.exports || is
	return e.seq, is
}

// snapshotMade takes in that a snapshot has so many bytes; not made: there is none after all.
func (e *logEnd) snapshotMade(size int, made bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.exports = false; made {
		e.snapshot, e.fresh = size, max(0, e.fresh-size)
	}
}
