package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/cluster/changelog"
	"github.com/weftcrawl/weft/frontier/store"
)

// outbox publishes what the engine has for others and for the logs.
//
// The outbox publishes in phases: first the URLs that a commit has found, then, once the servers have acknowledged all
// of these, the URLs that it has done. So if a log says that a page is done, the page's links are safe, whatever their
// partitions. Done URLs share a message with what the next commit has found, unless the servers are slow:
// engine.MaxUntold bounds how old unacknowledged work may be.
type outbox struct {
	node   *node
	ready  chan struct{} // closed when it may begin
	once   sync.Once
	signal chan struct{} // there may be messages
	done   revision      // the ID of the last message that is delivered, and all before it
	ids    atomic.Uint64 // of messages of logs
	opened revision      // of the bucket: that of the last opened key
	wanted atomic.Uint64 // the last message for which somebody waits
	linger time.Duration // how long done URLs wait for more, at most

	mu   sync.Mutex
	logs map[int]*logEnd // of the partitions that this node may write to

	complained time.Time // when it was said last why messages wait
}

func newOutbox(n *node) *outbox {
	o := &outbox{node: n, ready: make(chan struct{}), signal: make(chan struct{}, 1), logs: make(map[int]*logEnd)}
	o.linger = n.beat / gathersABeat * 3 / 2 // the next commit comes before, unless the disk is slow
	o.done.changed, o.opened.changed = make(chan struct{}), make(chan struct{})
	return o
}

// mayBegin lets messages go out, unless it is not known yet who owns some partitions on the disk: what has
// ended in them would be taken for another's.
func (o *outbox) mayBegin(unknown int) {
	if unknown == 0 {
		o.once.Do(func() { close(o.ready) })
	}
}

// committed says that the outbox has all messages up to last.
func (o *outbox) committed(last uint64) {
	o.node.figures.lag.committed(last, time.Now())
	o.wakeUp()
}

// wakeUp has run look again.
func (o *outbox) wakeUp() {
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// wait waits until a message and all before it are delivered.
func (o *outbox) wait(ctx context.Context, id uint64) error {
	for was := o.wanted.Load(); was < id && !o.wanted.CompareAndSwap(was, id); was = o.wanted.Load() {
	}
	o.wakeUp()
	return o.done.wait(ctx, id)
}

// delivered reports whether a message and all before it are.
func (o *outbox) delivered(id uint64) bool { return o.done.now() >= id }

// hold lets the node write to the log of a partition, whose last message is its own.
func (o *outbox) hold(p int, end *logEnd) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.logs[p] = end
}

// release ends that.
func (o *outbox) release(p int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.logs, p)
}

func (o *outbox) log(p int) *logEnd {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.logs[p]
}

// outboxBytes is how much of the outbox is read at once.
const outboxBytes = 4 << 20

// run publishes until ctx ends.
func (o *outbox) run(ctx context.Context) error {
	select {
	case <-o.ready:
	case <-ctx.Done():
		return nil
	}
	var (
		all  []store.Message  // read, and not published
		late <-chan time.Time // when done URLs wait no longer
		ripe bool             // it is time
	)
	for after := uint64(0); ; {
		more, err := o.node.crawl.Outbox(after, outboxBytes)
		switch {
		case errors.Is(err, store.ErrClosed):
			return nil
		case err != nil:
			return err
		case len(more) > 0:
			after = more[len(more)-1].ID
			all = append(all, more...)
		}
		due := all
		if !ripe {
			due = all[:o.due(all)]
		}
		if len(due) == 0 {
			if len(all) > 0 && late == nil {
				late = time.After(o.linger)
			}
			select {
			case <-o.signal:
			case <-late:
				ripe = true
			case <-ctx.Done():
				return nil
			}
			continue
		}
		began := time.Now()
		for _, phase := range phases(due) {
			switch err := o.publish(ctx, phase); {
			case ctx.Err() != nil:
				return nil
			case err != nil:
				return err
			}
		}
		_ = o.node.crawl.Delivered(due...) // a crawl that is over sends them again
		last := due[len(due)-1].ID
		o.node.figures.lag.acknowledged(last, time.Now())
		o.done.reach(last)
		o.node.mail.post(func() {}) // whoever waits for that looks again
		all, late, ripe = slices.Clone(all[len(due):]), nil, time.Since(began) > o.linger/8
	}
}

// due returns how many of the messages are to be published now: all but the done URLs of the last commit, unless
// somebody waits for them.
func (o *outbox) due(all []store.Message) int {
	n := len(all)
	for n > 0 && all[n-1].Kind == changelog.Ended && all[n-1].ID > o.wanted.Load() {
		n--
	}
	if n > 0 && all[n-1].Kind == changelog.Ended {
		return len(all)
	}
	return n
}

// phases splits messages where what has ended follows what was found.
func phases(all []store.Message) [][]store.Message {
	var out [][]store.Message
	from := 0
	for i := 1; i < len(all); i++ {
		if all[i].Kind == changelog.Ended && all[i-1].Kind != changelog.Ended {
			out = append(out, all[from:i])
			from = i
		}
	}
	return append(out, all[from:])
}

// publish delivers the messages of a phase, in any order but that of each partition's log.
func (o *outbox) publish(ctx context.Context, phase []store.Message) error {
	logs, links := make(map[int][]store.Message), make(map[int][][]byte)
	for _, m := range phase {
		switch m.Kind {
		case changelog.Opened:
			if err := o.open(ctx, m.Data); err != nil {
				return err
			}
		case changelog.Links:
			links[m.Partition] = append(links[m.Partition], m.Data)
		default:
			logs[m.Partition] = append(logs[m.Partition], m)
		}
	}
	return o.all(logs, links,
		func(p int, all []store.Message) error { return o.record(ctx, p, all) },
		func(p int, blocks [][]byte) error { return o.send(ctx, p, blocks) })
}

// record appends changes to the log of a partition. If the partition was lost since they were made, it sends
// the URLs among them to the owner as links; that may be this node again.
func (o *outbox) record(ctx context.Context, p int, all []store.Message) error {
	lost := all
	if end := o.log(p); end != nil {
		first := slices.IndexFunc(all, func(m store.Message) bool { return m.ID > end.after.Load() })
		if first < 0 {
			first = len(all)
		}
		switch err := o.append(ctx, p, end, all[first:]); {
		case err == nil:
			lost = all[:first]
		case !errors.Is(err, errLost):
			return err
		}
	}
	return o.sendFound(ctx, p, lost)
}

// atOnce bounds the messages that are published at once. The servers agree on many as they do on one.
const atOnce = 1024

// all calls functions for all messages, some at once, and returns the first error.
func (o *outbox) all(logs map[int][]store.Message, links map[int][][]byte, log func(int, []store.Message) error, link func(int, [][]byte) error) error {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first error
		room  = make(chan struct{}, atOnce)
	)
	run := func(fn func() error) {
		room <- struct{}{}
		wait.Go(func() {
			err := fn()
			<-room
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
	for p, blocks := range links {
		run(func() error { return link(p, blocks) })
	}
	for p, messages := range logs {
		run(func() error { return log(p, messages) })
	}
	wait.Wait()
	return first
}

// open tells all nodes what is open from now on. They have seen it before they take in links of later
// messages, which name its revision.
func (o *outbox) open(ctx context.Context, what []byte) error {
	sum := sha256.Sum256(what)
	key := keyOpened + hex.EncodeToString(sum[:16])
	return o.retry(ctx, func(ctx context.Context) error {
		revision, err := o.node.bucket.Create(ctx, key, what)
		if errors.Is(err, jetstream.ErrKeyExists) {
			var e jetstream.KeyValueEntry
			if e, err = o.node.bucket.Get(ctx, key); err == nil {
				revision = e.Revision()
			}
		}
		if err == nil {
			o.opened.reach(revision)
		}
		return err
	})
}

// sendFound sends the URLs that were found as links.
func (o *outbox) sendFound(ctx context.Context, p int, all []store.Message) error {
	var links [][]byte
	for _, m := range all {
		if m.Kind != changelog.Found {
			continue
		}
		block, err := changelog.Again(m.Data, time.Now())
		if err != nil {
			return err
		}
		if block != nil {
			links = append(links, block)
		}
	}
	if links == nil {
		return nil
	}
	return o.send(ctx, p, links)
}

// send publishes links to the owner of a partition, in one message if they fit.
func (o *outbox) send(ctx context.Context, p int, blocks [][]byte) error {
	data := pack(blocks)
	if most := o.node.mostData(); len(data) > most {
		if len(blocks) == 1 { // pages may have as many links as they like
			halves, err := changelog.Halves(blocks[0], time.Now())
			if err != nil {
				return err
			}
			if halves == nil {
				return fmt.Errorf("a link of %d bytes for partition %d: the servers take %d at most; expected a higher max_payload", len(data), p, most)
			}
			blocks = halves
		}
		half := len(blocks) / 2
		return errors.Join(o.send(ctx, p, blocks[:half]), o.send(ctx, p, blocks[half:]))
	}
	msg := &nats.Msg{Subject: o.node.links(p), Data: data, Header: o.header()}
	return o.retry(ctx, func(ctx context.Context) error {
		_, err := o.node.js.PublishMsg(ctx, msg)
		return err
	})
}

// header is what links and logs have in common: what their reader has to have seen.
func (o *outbox) header() nats.Header {
	h := nats.Header{}
	if at := o.opened.now(); at > 0 {
		h.Set(headerOpened, strconv.FormatUint(at, 10))
	}
	return h
}

// nextID returns an ID of a message that no other has.
func (o *outbox) nextID() string {
	return fmt.Sprintf("%s.%d.%d", o.node.dir.Node, o.node.dir.Incarnation, o.ids.Add(1))
}

// retry calls fn until it succeeds: servers that are away come back, and full streams get room. Meanwhile,
// the outbox fills, and the engine stops. Its error is that of ctx.
func (o *outbox) retry(ctx context.Context, fn func(context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, requestTimeout)
		err := fn(one)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if !o.node.verify() {
			o.complain(err)
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// complain says why messages wait, now and then: that of one after the other says the same.
func (o *outbox) complain(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := time.Now(); now.Sub(o.complained) > time.Minute {
		o.complained = now
		o.node.warn(fmt.Errorf("messages wait: %w", o.node.refused(err)))
	}
}
