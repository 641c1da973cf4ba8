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

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/sending"
)

// outbox publishes what the engine has for other nodes and for the logs.
//
// It publishes in phases: first what commits have found, then, once the servers have acknowledged all of it,
// what they have done. Package sending says what goes out together, and when.
type outbox struct {
	node   *node
	ready  chan struct{} // closed when it may begin
	once   sync.Once
	signal chan struct{} // there may be messages
	done   revision      // the ID of the last message that is delivered, and all before it
	ids    atomic.Uint64 // of messages of logs
	opened revision      // of the bucket: that of the last opened key
	wanted atomic.Uint64 // the last message for which somebody waits

	mu      sync.Mutex
	logs    map[int]*logEnd // of the partitions that this node may write to
	commits []commit        // that the queue does not know yet

	sent sentLinks

	complained time.Time // when it was said last why messages wait
}

func newOutbox(n *node) *outbox {
	o := &outbox{node: n, ready: make(chan struct{}), signal: make(chan struct{}, 1), logs: make(map[int]*logEnd)}
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

// committed says that the store has all messages up to last, and when the first change in them was made.
func (o *outbox) committed(last uint64, since time.Time) {
	o.node.figures.lag.committed(last, time.Now())
	o.mu.Lock()
	o.commits = append(o.commits, commit{last, since})
	o.mu.Unlock()
	o.wakeUp()
}

// newCommits returns the commits since the last call.
func (o *outbox) newCommits() []commit {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.commits
	o.commits = nil
	return all
}

// wakeUp has run look again.
func (o *outbox) wakeUp() {
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// wait waits until a message and all before it are delivered. It makes them go out without waiting for more.
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
	queue := sending.New(o.node.beat/gathersABeat, o.node.plan.Partitions)
	for after := uint64(0); ; {
		var err error
		switch after, err = o.fill(queue, after); {
		case errors.Is(err, store.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		phase, wait := queue.Next(time.Now(), o.wanted.Load())
		if phase == nil {
			if !o.pause(ctx, wait) {
				return nil
			}
			continue
		}
		switch err := o.publish(ctx, phase); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		o.delivers(queue.Sent(time.Now()))
	}
}

// fill adds what the outbox has after a message to a queue, and returns its last message.
func (o *outbox) fill(queue *sending.Queue, after uint64) (uint64, error) {
	for !queue.Full() {
		all, err := o.node.crawl.Outbox(after, outboxBytes)
		if err != nil {
			return after, err
		}
		if len(all) == 0 {
			break
		}
		queue.Add(all...)
		after = all[len(all)-1].ID
	}
	for _, c := range o.newCommits() {
		queue.Committed(c.last, c.at)
	}
	return after, nil
}

// pause waits until there may be messages, and for a time at most, if it is not 0. It reports false when ctx ends.
func (o *outbox) pause(ctx context.Context, wait time.Duration) bool {
	var late <-chan time.Time
	if wait > 0 {
		late = time.After(wait)
	}
	select {
	case <-o.signal:
	case <-late:
	case <-ctx.Done():
		return false
	}
	return true
}

// delivers notes that the servers have these messages and all before them.
func (o *outbox) delivers(all []store.Message) {
	if len(all) == 0 {
		return
	}
	gone, stay, as := o.sent.split(all)
	_ = o.node.crawl.Delivered(gone, stay, as) // a crawl that is over sends them again
	o.forgetSent(o.node.ctx)
	last := all[len(all)-1].ID
	o.node.figures.lag.acknowledged(last, time.Now())
	o.done.reach(last)
	o.node.mail.post(func() {}) // whoever waits for that looks again
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

// sendFound sends the URLs that were found as links, which they stay.
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
			o.sent.lost.Store(m.ID, block)
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
	if n := fit(blocks); n < len(blocks) {
		return errors.Join(o.send(ctx, p, blocks[:n]), o.send(ctx, p, blocks[n:]))
	}
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
		ack, err := o.node.js.PublishMsg(ctx, msg)
		if err == nil {
			o.sent.published(ack.Sequence)
		}
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
