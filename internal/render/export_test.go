package render

import (
	"context"
	"time"
)

// Impatient returns options with other times for a browser to start in, between its starts, and for
// a renderer to compute in. Zero is the default of each.
func (o Options) Impatient(start time.Duration, pauses []time.Duration, cpu time.Duration) Options {
	o.patience = patience{start: start, pauses: pauses, cpu: cpu}
	return o
}

// Longest returns options with another bound of the browser's replies, in bytes.
func (o Options) Longest(most int) Options {
	o.longest = most
	return o
}

// AloneFor returns options with another time for a page that has a browser of its own.
func (o Options) AloneFor(most time.Duration) Options {
	o.patience.alone = most
	return o
}

// Start starts the browser unless it runs.
func (r *Renderer) Start(ctx context.Context) error {
	_, err := r.running(ctx)
	return err
}

// Most returns the memory that the browser for all pages may take.
func (r *Renderer) Most() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.browser.most.Load()
}

// Processes returns those of the browser, its keeper first; none if none runs.
func (r *Renderer) Processes() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.browser == nil {
		return nil
	}
	all, _ := tree(r.browser.process.cmd.Process.Pid)
	return all
}

// Kill ends the browser as a crash does; nothing, if none runs.
func (r *Renderer) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.browser != nil {
		r.browser.process.kill()
		<-r.browser.conn.ended
	}
}

// EndRenderers ends those of the browser, as if they had computed for too long.
func (r *Renderer) EndRenderers() {
	for _, one := range usages(r.browser.process.cmd.Process.Pid) {
		if one.renderer {
			r.browser.end(one.pid, errCPU)
		}
	}
}

// EndServices ends the processes that all pages share.
func (r *Renderer) EndServices() {
	for _, one := range usages(r.browser.process.cmd.Process.Pid) {
		if one.service {
			kill(one.pid)
		}
	}
}

// Documents returns how many a tab without a page has in memory.
func (r *Renderer) Documents(ctx context.Context) (int, error) {
	tab := r.browser.idle[0]
	var count struct{ Documents int }
	err := tab.conn.call(ctx, tab.session, "HeapProfiler.collectGarbage", nil, nil)
	if err == nil {
		err = tab.conn.call(ctx, tab.session, "Memory.getDOMCounters", nil, &count)
	}
	return count.Documents, err
}

// Profile returns the folder of the browser's profile; of that for one page alone, if there is one.
func (r *Renderer) Profile() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alone != nil {
		return r.alone.process.profile
	}
	return r.browser.process.profile
}

// LoseFrames has the pages of all renderers lose the frames that their steps wait for.
func LoseFrames() (undo func()) {
	whole := stepsScript
	stepsScript = "(globalThis.requestAnimationFrame = () => 0, " + whole + ")"
	return func() { stepsScript = whole }
}
