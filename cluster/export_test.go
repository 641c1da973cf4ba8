package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Hasten makes nodes beat five times as often.
func (o *Options) Hasten() { o.beat = 400 * time.Millisecond }

// On has the disk of the job be another one.
func (o *Options) On(disk store.FS) { o.files = disk }

// JoinAgain has Dial connect as a node that was cut off does.
func (o *Options) JoinAgain() { o.again = true }

// CompactAfter has snapshots take the place of logs that have grown by so many bytes.
func (o *Options) CompactAfter(bytes int) { o.compactAfter = bytes }

// Reread returns how often a log says of each URL that it has ended, as who takes its partition
// over reads it; and how many logs have a whole snapshot.
func Reread(ctx context.Context, servers Options) (urls map[string]int, snapshots int, err error) {
	c, err := Dial(ctx, servers)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	r := c.remote
	log, err := r.stream(ctx, r.name.logStream())
	if err != nil {
		return nil, 0, err
	}
	ops, seen, a := newOperations(ctx), newRevision(), aside{r.name, newWarnings(r.servers.warn)}
	defer ops.wait()
	seen.reach(math.MaxUint64)
	last := (&recorder{remote: r, log: log, aside: a}).last
	reader := newLogReader(ops, &watch{remote: r, seen: seen}, servers.Partitions, 0, a)
	all := ends{changelog.NewEncoder(time.Time{}, time.Time{}), make(map[string]int)}
	for p := range servers.Partitions {
		l, err := last(ctx, p)
		switch {
		case err != nil:
			return nil, 0, err
		case l.seq == 0:
			continue
		case l.whole > 0:
			snapshots++
		}
		one, err := reader.read(ctx, p, l.whole, l.seq)
		if err != nil {
			return nil, 0, err
		}
		for block, err := range one.blocks(ctx) {
			if err == nil {
				err = changelog.Replay(block, time.Now(), all)
			}
			if err != nil {
				return nil, 0, err
			}
		}
		one.leave()
	}
	return all.urls, snapshots, nil
}

// Waver has the node prepare to hand all its partitions over, and keep them when then is called.
func (c *Crawl) Waver() (then func()) {
	n := c.now()
	n.loop.post(func() {
		for p := range n.parts.all {
			if n.inbox.reads(p) {
				n.parts.drain(p)
			}
		}
	})
	return func() {
		n.loop.post(func() {
			for p := range n.parts.all {
				if n.lease.own.Epoch(p) != 0 && !n.inbox.reads(p) {
					n.obey(ownership.Order{Kind: ownership.Keep, Partition: p})
				}
			}
		})
	}
}

// Unwatch ends the watch of the bucket.
func (c *Crawl) Unwatch() {
	n := c.now()
	n.loop.post(func() { _ = n.watch.keys.Stop() })
}

// InHand returns how many units of memory the links take that the node was given and has not
// committed.
func (c *Crawl) InHand() (units, most int) {
	n := c.now()
	return len(n.inbox.room), cap(n.inbox.room)
}

// Narrow leaves room in memory for that many messages of links. Call it before Run.
func (c *Crawl) Narrow(messages int) { c.now().inbox.room = make(room, messages) }

// EndNow ends the time that a crawl has by --max-time.
func EndNow(ctx context.Context, servers Options) error {
	c, err := Dial(ctx, servers)
	if err != nil {
		return err
	}
	defer c.Close()
	bucket, err := c.remote.bucket(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(limits{MaxTime: time.Millisecond})
	if err == nil {
		_, err = bucket.Put(ctx, keyLimits, text)
	}
	return err
}

// Held returns how many bytes wait for the servers or for the node: of links and logs in memory, by
// units, and of the outbox.
func (c *Crawl) Held() int64 {
	n := c.now()
	_, outbox := n.crawl.Waiting()
	return int64(len(n.inbox.room)+len(n.parts.takeover.reader.room))*roomUnit + outbox
}

// Beats waits for so many beats of the node, or its end.
func (c *Crawl) Beats(ctx context.Context, count int) error {
	n := c.now()
	watch, err := n.watch.bucket.Watch(ctx, "node."+n.identity.Node)
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }()
	for range count {
		select {
		case <-watch.Updates():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Ended returns how often the logs of a crawl say of each URL that it has ended. What a node has
// sent again, as it does after it was started again, counts once.
func Ended(ctx context.Context, servers Options) (map[string]int, error) {
	c, err := Dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, err := c.remote.stream(ctx, c.remote.name.logStream())
	if err != nil {
		return nil, err
	}
	all := ends{changelog.NewEncoder(time.Time{}, time.Time{}), make(map[string]int)}
	sent := make(map[string]bool)
	for seq, state := uint64(1), s.CachedInfo().State; seq <= state.LastSeq; seq++ {
		msg, err := s.GetMsg(ctx, seq)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			continue
		case err != nil:
			return nil, err
		case msg.Header.Get(headerKind) != "": // a test has no log that is long enough for a snapshot
			continue
		}
		if _, err := epochOf(msg.Header); err != nil { // a stranger's
			continue
		}
		node, _, _ := strings.Cut(msg.Header.Get(headerID), ".")
		blocks, err := unpack(msg.Data)
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			if sent[node+string(b)] {
				continue
			}
			sent[node+string(b)] = true
			if err := changelog.Replay(b, time.Now(), all); err != nil {
				return nil, err
			}
		}
	}
	return all.urls, nil
}

// ends counts URLs that have ended.
type ends struct {
	*changelog.Encoder // for all else
	urls               map[string]int
}

func (e ends) Done(u frontier.URL)                     { e.urls[u.URL.String()]++ }
func (e ends) Refused(r frontier.Refusal, _ time.Time) { e.urls[r.URL.URL.String()]++ }

// OnTheWay returns the URLs in the stream of links.
func OnTheWay(ctx context.Context, servers Options) (map[string]bool, error) {
	c, err := Dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, err := c.remote.stream(ctx, c.remote.name.linkStream())
	if err != nil {
		return nil, err
	}
	all := make(map[string]bool)
	state := s.CachedInfo().State
	for seq := max(1, state.FirstSeq); seq <= state.LastSeq; seq++ { // both are 0 where nothing is
		msg, err := s.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		blocks, err := unpack(msg.Data)
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			urls, err := changelog.Read(b)
			if err != nil {
				return nil, err
			}
			for _, u := range urls {
				all[u.URL.String()] = true
			}
		}
	}
	return all, nil
}

// Packed is the data of a message with blocks.
func Packed(blocks ...string) string {
	var all [][]byte
	for _, b := range blocks {
		all = append(all, []byte(b))
	}
	return string(pack(all))
}
