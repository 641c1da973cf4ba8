package render

import (
	"context"
	"slices"
	"time"
)

// A request that a server leaves open, such as a long poll, is nothing that a page waits for: what
// it shows by then is what people see. The first one of a page is open after Limits.Open, further
// ones after furtherOpen, as a page that polls does so again.
const furtherOpen = time.Second

// openStep is the span of virtual time that a page gets at once that has open requests. It does not
// stand still any more while others are under way, so these are waited for in between.
const openStep = 100 * time.Millisecond

// attend notes a request as open that was made, and is not answered in time.
func (r *run) attend(p *paused, sent, answered <-chan struct{}) {
	select {
	case <-sent:
	case <-answered:
		return
	}
	r.mu.Lock()
	most := r.limits.Open
	if len(r.open) > 0 {
		most = min(most, furtherOpen)
	}
	r.mu.Unlock()
	ctx, _, stop := r.total.within(r.ctx, most)
	defer stop()
	select {
	case <-answered:
	case <-ctx.Done():
		if context.Cause(ctx) == errLate && r.ctx.Err() == nil {
			r.stayOpen(p, answered)
		}
	}
}

// stayOpen notes a request as open, unless it was just answered.
func (r *run) stayOpen(p *paused, answered <-chan struct{}) {
	r.update(func() {
		select {
		case <-answered:
		default:
			r.open = append(r.open, p)
			r.own.release()
		}
	})
}

// answered takes in that a request is not under way any more. r.mu is held.
func (r *run) answered(p *paused) {
	r.pending--
	r.traffic.answered(len(p.body))
	if i := slices.Index(r.open, p); i >= 0 {
		r.open = slices.Delete(r.open, i, i+1)
	} else {
		r.own.release()
	}
}

// hasOpen reports whether requests are open.
func (r *run) hasOpen() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open) > 0
}

// advance has virtual time pass that has stood still for a request, which is open now. What was
// granted stays: another grant would not replace it, but end with it.
func (r *run) advance() error {
	if r.how.real {
		return nil
	}
	return r.tab.conn.post(r.tab.session, "Emulation.setVirtualTimePolicy", []byte(`{"policy":"advance"}`))
}
