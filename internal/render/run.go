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
	begun   bool      // the response of the page was handed out
	shown   bool      // the tab shows the page
	early   []*paused // requests until then
	fate    fate      // of its document
	frames  frames
	pending int       // requests under way
	open    []*paused // those of them that are left open
	traffic traffic
	expired bool          // the budget of virtual time is used up
	failed  error         // the tab is lost
	hangs   bool          // its time was up
	drawn   bool          // its scripts ask for frames
	changed chan struct{} // something of these may have; of capacity 1
}

func newRun(ctx context.Context, t *tab, p *Page, own *stopwatch, of, total *clocks) *run {
	return &run{
		tab: t, page: p, limits: p.Limits.orDefault(), clocks: of, ctx: ctx, own: own, total: total,
		frames: newFrames(), changed: make(chan struct{}, 1),
	}
}

// traffic counts bytes.
type traffic struct {
	answers int // of all answers
	sent    int // of requests that are not answered yet
}

// takes counts those of an answer, and reports whether there may be so many.
func (x *traffic) takes(n, most int) bool {
	x.answers += n
	return x.answers <= most
}

// sends counts those of a request, unless they are too many.
func (x *traffic) sends(n int) bool {
	if x.sent+n > mostSent {
		return false
	}
	x.sent += n
	return true
}

// answered takes in that a request of so many bytes has its answer.
func (x *traffic) answered(n int) { x.sent -= n }

// fate is the end of a page's document: scripts have changed it for another.
type fate struct {
	replaced bool // another one is in its place
	opened   bool // it is written anew
}

// err is the error of a page whose document has gone.
func (f fate) err() error {
	if f.replaced {
		return errReplaced
	}
	return nil
}

// policy is that of virtual time, by whether requests are open; "": the clock is the real one.
func (m manner) policy(open bool) string {
	switch {
	case m.real:
		return ""
	case open:
		return "advance"
	}
	return "pauseIfNetworkFetchesPending"
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
