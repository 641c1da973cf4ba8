package scrape

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// room has a value for each of those in it.
type room chan struct{}

// enter waits for a place.
func (r room) enter(ctx context.Context) error {
	select {
	case r <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r room) leave() { <-r }

// stock is bytes that calls share.
type stock struct{ left atomic.Int64 }

// take takes some, and reports whether there are as many.
func (s *stock) take(n int) bool {
	if s.left.Add(-int64(n)) >= 0 {
		return true
	}
	s.give(n)
	return false
}

func (s *stock) give(n int) { s.left.Add(int64(n)) }

// giveAfter gives some back when ctx ends.
func (s *stock) giveAfter(ctx context.Context, n int) { context.AfterFunc(ctx, func() { s.give(n) }) }

var errBusy = errors.New("too many calls wait, try again later")

// gate lets as many fetches in at once as there may be, in all and at one site.
type gate struct {
	all           room // of fetches
	perSite, most int

	mu      sync.Mutex
	waiting int
	sites   map[string]*siteRoom // with a fetch, or with a call that waits
}

// siteRoom is the room for fetches at a site.
type siteRoom struct {
	room room
	used int // fetches and calls that wait
}

func newGate(all, perSite, most int) *gate {
	return &gate{all: make(room, all), perSite: perSite, most: most, sites: make(map[string]*siteRoom)}
}

// enter waits for a place at a site, and then for one in all, so that a slow site holds nobody up.
func (g *gate) enter(ctx context.Context, site string) (leave func(), err error) {
	g.mu.Lock()
	if g.waiting == g.most {
		g.mu.Unlock()
		return nil, errBusy
	}
	g.waiting++
	at := g.sites[site]
	if at == nil {
		at = &siteRoom{room: make(room, g.perSite)}
		g.sites[site] = at
	}
	at.used++
	g.mu.Unlock()
	gone := func(waited bool) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if waited {
			g.waiting--
			return
		}
		if at.used--; at.used == 0 {
			delete(g.sites, site)
		}
	}
	defer gone(true)
	if err := at.room.enter(ctx); err != nil {
		gone(false)
		return nil, err
	}
	if err := g.all.enter(ctx); err != nil {
		at.room.leave()
		gone(false)
		return nil, err
	}
	return func() {
		g.all.leave()
		at.room.leave()
		gone(false)
	}, nil
}
