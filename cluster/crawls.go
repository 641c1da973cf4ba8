package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// CrawlState is the state of a crawl on the servers.
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

// Crawls lists the crawls on the servers by their names, with what is left of half a crawl.
// Options.Name counts for nothing.
func Crawls(ctx context.Context, o Options) (all []Listed, err error) {
	at, err := connect(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer at.close()
	found, err := find(ctx, at)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		c := &Client{newRemote(name, at, &o)}
		l, err := c.listed(ctx, found[name])
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// find returns how much each stream has of each crawl.
func find(ctx context.Context, at *servers) (found map[layout]map[string]uint64, err error) {
	err = at.chosen(ctx, func(ctx context.Context) error {
		found = make(map[layout]map[string]uint64)
		streams := at.js.ListStreams(ctx)
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
		return nil, at.refused(err)
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
	l := Listed{Name: string(c.remote.name), State: CrawlWaits}
	for _, n := range streams {
		l.Bytes += n
	}
	for _, name := range c.remote.name.streamNames() {
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

// Remove removes all that the servers have of the crawl, which need not be whole; then another one
// may have the name. It returns ErrNoCrawl if they have nothing, and ErrInUse if nodes are there,
// which with force end.
func (c *Client) Remove(ctx context.Context, force bool) error {
	there := false
	for i, name := range c.remote.name.streamNames() {
		// The bucket is the first: without the plan it is no crawl.
		s, err := c.remote.sought(ctx, name)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		if i == 0 && !force {
			if err := c.remote.deserted(ctx, s.CachedInfo().TimeStamp); err != nil {
				return err
			}
		}
		there = true
		if err := c.remote.remove(ctx, name); err != nil {
			return err
		}
	}
	if !there {
		return c.remote.noCrawl()
	}
	return nil
}
