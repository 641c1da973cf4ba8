package cluster

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/cluster/changelog"
	"github.com/weftcrawl/weft/cluster/ownership"
	"github.com/weftcrawl/weft/frontier"
)

// Hasten makes nodes beat five times as often.
func (o *Options) Hasten() { o.beat = 400 * time.Millisecond }

// Waver has the node prepare to hand all its partitions over, and keep them when then is called.
func (c *Crawl) Waver() (then func()) {
	n := c.now()
	n.mail.post(func() {
		for p := range n.parts {
			if n.parts[p].open {
				n.drain(p)
			}
		}
	})
	return func() {
		n.mail.post(func() {
			for p := range n.parts {
				if n.own.Epoch(p) != 0 && !n.parts[p].open {
					n.obey(ownership.Order{Kind: ownership.Keep, Partition: p})
				}
			}
		})
	}
}

// Unwatch ends the watch of the bucket.
func (c *Crawl) Unwatch() {
	n := c.now()
	n.mail.post(func() { _ = n.watch.Stop() })
}

// InHand returns how many units of memory the links take that the node was given and has not committed.
func (c *Crawl) InHand() (units, most int) {
	n := c.now()
	return len(n.reader.room), cap(n.reader.room)
}

// Beats waits for so many beats of the node, or its end.
func (c *Crawl) Beats(ctx context.Context, count int) error {
	n := c.now()
	watch, err := n.bucket.Watch(ctx, "node."+n.dir.Node)
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

// Ended returns how often the logs of a crawl say of each URL that it has ended. What a node has sent again,
// as it does after it was started again, counts once.
func Ended(ctx context.Context, servers Options) (map[string]int, error) {
	c, err := Dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, err := c.js.Stream(ctx, c.layout.logStream())
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
