package render

import (
	"context"
	"sync"
)

// run is the rendering of a page. Its fields are guarded by mu: events come on another goroutine.
type run struct {
	tab    *tab
	page   *Page
	limits Limits
	clocks *clocks         // of the browser
	ctx    context.Context // of the page's requests
	own    *stopwatch      // the browser's time: requests that are under way hold it
	total  *clocks         // of the time in all

	how     manner
	travels bool   // the tab goes where the page leads: see Login
	stocks  string // id of the script that fills stores: see stock

	mu      sync.Mutex
	doc     Document
	begun   bool            // the response of the page was handed out
	shown   bool            // the tab shows the page
	early   []*paused       // requests until then
	fate    fate            // of its document
	frames  map[string]bool // ids of frames that are loading
	pending int             // requests under way
	open    []*paused       // those of them that are left open
	bytes   int             // of answers
	expired bool            // the budget of virtual time is used up
	failed  error           // the tab is lost
	hangs   bool            // its time was up
	drawn   bool            // its scripts ask for frames
	changed chan struct{}   // something of these may have; of capacity 1
}

func newRun(ctx context.Context, t *tab, p *Page, own *stopwatch, of, total *clocks) *run {
	return &run{
		tab: t, page: p, limits: p.Limits.orDefault(), clocks: of, ctx: ctx, own: own, total: total,
		frames: make(map[string]bool), changed: make(chan struct{}, 1),
	}
}

// fate says whether scripts have changed the document of a page for another.
type fate struct {
	replaced bool // another one is in its place
	opened   bool // it is written anew
}

// update changes the run, and wakes whoever waits for it.
func (r *run) update(fn func()) {
	r.mu.Lock()
	fn()
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
