package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// verifier finds out, when requests fail, whether the servers still have what the crawl needs: for a stream
// that was deleted nobody need wait.
type verifier struct {
	mu      sync.Mutex // held while it asks
	last    time.Time
	deleted bool
	made    map[string]time.Time // when the streams were made, by name
}

// stream returns a stream of the crawl.
func (c *Client) stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := c.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("crawl %s: stream %s was deleted from the servers; weft cluster restore brings it back from the folders of all nodes", c.layout, name)
	}
	if err != nil {
		return nil, c.refused(err)
	}
	return s, nil
}

// streamNames are those of what the crawl has on the servers.
func (l layout) streamNames() []string {
	return []string{"KV_" + l.bucket(), l.linkStream(), l.logStream()}
}

// verify ends the node if what it needs was deleted, and reports that. It is called when a request has failed;
// of several calls in a beat, one asks.
func (n *node) verify() (deleted bool) {
	v := &n.streams.verifier
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.deleted || time.Since(v.last) < n.beat {
		return v.deleted
	}
	ctx, cancel := context.WithTimeout(n.ctx, requestTimeout)
	defer cancel()
	for _, name := range n.streamNames() {
		s, err := n.stream(ctx, name)
		var away *absent
		if ctx.Err() != nil || errors.As(err, &away) {
			break // the servers do not say
		}
		if err == nil && !s.CachedInfo().Created.Equal(v.made[name]) {
			err = fmt.Errorf("crawl %s: stream %s was deleted from the servers, and made again", n.layout, name)
		}
		if err != nil {
			v.deleted = true
			n.mail.post(func() { n.fail(err) })
			break
		}
	}
	v.last = time.Now()
	return v.deleted
}

// openStreams opens the streams of the crawl.
func (n *node) openStreams(ctx context.Context) (err error) {
	n.streams.verifier.made = make(map[string]time.Time)
	var apart time.Duration
	for _, name := range n.streamNames() {
		asked := n.wall()
		s, err := n.stream(ctx, name)
		if err != nil {
			return err
		}
		if d := clocksApart(asked, n.wall(), s.CachedInfo().TimeStamp); d.Abs() > apart.Abs() {
			apart = d
		}
		n.streams.verifier.made[name] = s.CachedInfo().Created
		switch name {
		case n.linkStream():
			n.streams.links = s
		case n.logStream():
			n.streams.log = s
		}
	}
	if apart.Abs() > mostApart {
		n.warn(fmt.Errorf("the clock of this machine is %s the servers', expected the same time: records, archives and checks of certificates use it; --max-time uses theirs", aheadOf(apart)))
	}
	return nil
}

// mostApart is how far clocks may be apart without a warning.
const mostApart = time.Minute

// wall is what this machine's clock says.
func (c *Client) wall() time.Time { return time.Now().Add(c.skew) }

// clocksApart returns how far, at least, this machine's clock is ahead of that of a server, which has answered between
// two moments; less than 0 if it is behind.
func clocksApart(asked, heard, answered time.Time) time.Duration {
	switch {
	case answered.IsZero(), !answered.Before(asked) && !answered.After(heard):
		return 0
	case answered.Before(asked):
		return asked.Sub(answered)
	}
	return heard.Sub(answered)
}

func aheadOf(d time.Duration) string {
	if d < 0 {
		return (-d).Round(time.Second).String() + " behind"
	}
	return d.Round(time.Second).String() + " ahead of"
}

// reached waits until the watch of the bucket has come to a revision. A bucket that has not come so far when
// the servers are asked is older than whoever names the revision: restored from a copy, say.
func (n *node) reached(ctx context.Context, revision uint64) error {
	for n.seen.now() < revision {
		soon, cancel := context.WithTimeout(ctx, n.beat)
		err := n.seen.wait(soon, revision)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if at, err := n.bucket.Put(ctx, keyProbe, nil); err == nil && at < revision {
			return fmt.Errorf("it names revision %d of bucket %s, which has %d", revision, n.layout.bucket(), at)
		}
	}
	return nil
}
