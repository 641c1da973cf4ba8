package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// CrawlState is where a crawl on the servers is.
type CrawlState string

// The states of crawls.
const (
	CrawlRuns   CrawlState = "running" // nodes are there
	CrawlWaits  CrawlState = "waiting" // it is not over, and no node runs
	CrawlOver   CrawlState = "over"
	CrawlBroken CrawlState = "broken" // some of it is missing, or this version cannot read it
)

// Listed is a crawl as the servers have it.
type Listed struct {
	Name  string     `json:"name"`
	State CrawlState `json:"state"`
	Why   string     `json:"why,omitempty"` // it is broken
	Nodes int        `json:"nodes"`         // that are there
	Pages int        `json:"pages"`
	Begun time.Time  `json:"begun,omitzero"`
	Bytes uint64     `json:"bytes"` // on each server that has a copy
}

// ErrInUse is returned by Client.Remove for a crawl with nodes.
var ErrInUse = errors.New("nodes are crawling, expected that they have left")

// Crawls lists the crawls on the servers by their names, with what is left of half a crawl. Options.Name counts
// for nothing.
func Crawls(ctx context.Context, o Options) (all []Listed, err error) {
	c, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		one := *c
		one.layout = name
		l, err := one.listed(ctx, found[name])
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// find returns how much each stream has of each crawl.
func (c *Client) find(ctx context.Context) (found map[layout]map[string]uint64, err error) {
	err = c.chosen(ctx, func(ctx context.Context) error {
		found = make(map[layout]map[string]uint64)
		streams := c.js.ListStreams(ctx)
		for s := range streams.Info() {
			name, ok := crawlOf(s.Config.Name)
			if !ok {
				continue
			}
			if found[name] == nil {
				found[name] = make(map[string]uint64)
			}
			found[name][s.Config.Name] = s.State.Bytes
		}
		return streams.Err()
	})
	if err != nil {
		return nil, c.refused(err)
	}
	return found, nil
}

// crawlOf returns the crawl that has a stream of that name.
func crawlOf(stream string) (name layout, ok bool) {
	text := strings.TrimPrefix(strings.TrimPrefix(stream, "KV_"), "weft_")
	for _, suffix := range []string{"", "_links", "_log"} {
		name = layout(strings.TrimSuffix(text, suffix))
		if checkName(string(name)) == nil && slices.Contains(name.streamNames(), stream) {
			return name, true
		}
	}
	return "", false
}

// listed says where the crawl is whose streams have so many bytes.
func (c *Client) listed(ctx context.Context, streams map[string]uint64) (Listed, error) {
	l := Listed{Name: string(c.layout), State: CrawlWaits}
	for _, n := range streams {
		l.Bytes += n
	}
	for _, name := range c.streamNames() {
		if _, ok := streams[name]; !ok {
			l.State, l.Why = CrawlBroken, "without stream "+name
			return l, nil
		}
	}
	s, err := c.Status(ctx)
	var away *absent
	switch {
	case errors.As(err, &away):
		return l, err
	case errors.Is(err, ErrNoCrawl):
		l.State, l.Why = CrawlBroken, "without a plan"
		return l, nil
	case err != nil:
		l.State, l.Why = CrawlBroken, strings.TrimPrefix(err.Error(), "crawl "+l.Name+": ")
		return l, nil
	case len(s.Lost) > 0: // all are there, so one is half
		l.State, l.Why = CrawlBroken, ErrHalf.Error()
		return l, nil
	}
	for _, n := range s.Nodes {
		if n.there() {
			l.Nodes++
			l.State = CrawlRuns
		}
	}
	if s.Over {
		l.State, l.Nodes = CrawlOver, 0
	}
	l.Pages, l.Begun = s.Total.Pages, s.Begun
	return l, nil
}

// Remove removes all that the servers have of the crawl, which need not be whole; then another one may have the
// name. It returns ErrNoCrawl if they have nothing, and ErrInUse if nodes are there, which with force end.
func (c *Client) Remove(ctx context.Context, force bool) error {
	there := false
	for i, name := range c.streamNames() { // the bucket is the first: without the plan it is no crawl
		var s jetstream.Stream
		err := c.chosen(ctx, func(ctx context.Context) (err error) { s, err = c.js.Stream(ctx, name); return err })
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err == nil && i == 0 && !force {
			if err := c.deserted(ctx, s.CachedInfo().TimeStamp); err != nil {
				return err
			}
		}
		if err == nil {
			there = true
			err = c.chosen(ctx, func(ctx context.Context) error { return c.js.DeleteStream(ctx, name) })
		}
		if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) { // whose deletion was asked for twice
			return c.refused(err)
		}
	}
	if !there {
		return c.noCrawl()
	}
	return nil
}

// deserted returns ErrInUse if a node is there at a time of the servers and the crawl is not over.
func (c *Client) deserted(ctx context.Context, now time.Time) error {
	used := false
	all, err := c.entries(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Key() == keyOver {
			return nil
		}
		_, b, ok := ownership.NodeOf(e.Key(), e.Value())
		used = used || ok && b.Running() && !c.silent(e, now)
	}
	if used {
		return fmt.Errorf("crawl %s: %w", c.layout, ErrInUse)
	}
	return nil
}

// silent reports whether the node of a beat has been silent for so long, at a time of the servers, that it is
// not there.
func (c *Client) silent(beat jetstream.KeyValueEntry, now time.Time) bool {
	return now.Sub(beat.Created()) > beatsOfSilence*c.beat
}
