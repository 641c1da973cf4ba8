package cluster

import (
	"context"
	"time"

	"github.com/weftcrawl/weft/cluster/ownership"
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
