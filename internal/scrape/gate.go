package scrape

import (
	"context"
	"errors"
	"sync"

	"github.com/weftcrawl/weft/internal/share"
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

var errBusy = errors.New("too many calls wait, try again later")

// gate lets as many fetches in at once as there may be, in all and at one site.
type gate struct {
	all     *share.Room  // of fetches
	waiting *share.Stock // of calls
	perSite int

	mu    sync.Mutex
	sites map[string]*siteRoom // with a fetch, or with a call that waits
}

// siteRoom is the room for fetches at a site.
type siteRoom struct {
	room room
	used int // fetches and calls that wait
}

func newGate(all, perSite, most int) *gate {
	return &gate{all: share.NewRoom(all, 0), waiting: share.NewStock(most, 0), perSite: perSite, sites: make(map[string]*siteRoom)}
}

// enter waits for a place at a site, and then for one in all, so that a slow site holds nobody up.
func (g *gate) enter(ctx context.Context, site string) (leave func(), err error) {
	waited, err := g.waiting.Take(ctx, 1)
	if err != nil {
		return nil, errBusy
	}
	defer waited()
	g.mu.Lock()
	at := g.sites[site]
	if at == nil {
		at = &siteRoom{room: make(room, g.perSite)}
		g.sites[site] = at
	}
	at.used++
	g.mu.Unlock()
	gone := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if at.used--; at.used == 0 {
			delete(g.sites, site)
		}
	}
	if err := at.room.enter(ctx); err != nil {
		gone()
		return nil, err
	}
	leaveAll, err := g.all.Enter(ctx)
	if err != nil {
		at.room.leave()
		gone()
		return nil, err
	}
	return func() {
		leaveAll()
		at.room.leave()
		gone()
	}, nil
}
