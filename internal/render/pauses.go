package render

import "sync"

// pauses has the pages of a renderer stand still while nobody answers their requests. The zero
// value has none.
type pauses struct {
	mu     sync.Mutex
	paused bool
	pages  map[*stopwatch]bool // the time of each page in all
}

// begin adds a page.
func (p *pauses) begin(w *stopwatch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages == nil {
		p.pages = make(map[*stopwatch]bool)
	}
	p.pages[w] = true
	if p.paused {
		w.hold()
	}
}

// end removes a page.
func (p *pauses) end(w *stopwatch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pages, w)
	w.stop()
}

// set begins a pause, or ends it.
func (p *pauses) set(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused == on {
		return
	}
	p.paused = on
	for w := range p.pages {
		if on {
			w.hold()
		} else {
			w.release()
		}
	}
}
