package render

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// errCut ends the steps of a page that is at a limit: Document.Cut says which.
var errCut = errors.New("the page is at a limit")

// Document.Cut of a page that was not quiet when its time was up, made too many requests, got too
// many bytes for them, or lacks the element that was waited for. It is the Kind of the error of a
// page that failed after a look.
const (
	cutTime     = "time"
	cutRequests = "requests"
	cutBytes    = "bytes"
	cutWait     = "wait"
)

// The steps of virtual time: the first look is after firstBudget, when requests and frames are
// quiet; then what timers bring until the limit.
const firstBudget = time.Second

// mostReal bounds the time that a page gets at once that is on the real clock: where a script waits
// for the clock, virtual time never passes.
const mostReal = 2 * time.Second

// grant lets a span of virtual time pass, a millisecond at least: the end of none is no event. It
// stands still while requests are under way.
func (r *run) grant(ctx context.Context, span time.Duration) error {
	r.update(func() { r.expired = false })
	policy := r.how.policy(r.hasOpen())
	if policy == "" {
		time.AfterFunc(min(span, mostReal), func() { r.update(func() { r.expired = true }) })
		return nil
	}
	params := map[string]any{"policy": policy, "budget": max(span.Milliseconds(), 1), "maxVirtualTimeTaskStarvationCount": 1000}
	if r.tab.virtual {
		return r.tab.conn.post(r.tab.session, "Emulation.setVirtualTimePolicy", params)
	}
	err := r.tab.conn.call(ctx, r.tab.session, "Emulation.setVirtualTimePolicy", params, nil)
	r.tab.virtual = err == nil
	return r.late(err)
}

// pass lets a span of virtual time pass, and waits until the page is quiet. errCut: it is not, and
// gets no more.
func (r *run) pass(ctx context.Context, span time.Duration) error {
	for step := max(openStep, span/100); span > 0; {
		part := span
		if r.hasOpen() {
			part = min(span, step)
		}
		if err := r.grant(ctx, part); err != nil {
			return err
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
		span -= part
	}
	return nil
}

// settle waits until virtual time is used up and nothing is under way; what is found under way then
// gets more of it.
func (r *run) settle(ctx context.Context) error {
	stands := !r.hasOpen()
	for {
		r.mu.Lock()
		awaits, open := r.pending > len(r.open), len(r.open) > 0
		expired, busy, failed := r.expired, awaits || len(r.frames.loading) > 0 || !r.shown, cmp.Or(r.failed, r.fate.err())
		cut, shown := r.doc.Cut != "", r.shown
		r.mu.Unlock()
		switch {
		case failed != nil:
			return failed
		case cut && shown:
			return errCut
		case expired && !busy:
			return nil
		case stands && open && !expired:
			stands = false
			if err := r.advance(); err != nil {
				return err
			}
		case expired && !(open && awaits):
			if err := r.grant(ctx, firstBudget/10); err != nil {
				return err
			}
		}
		select {
		case <-r.changed:
		case <-r.tab.conn.ended:
			return errGone
		case <-ctx.Done():
			return r.late(context.Cause(ctx))
		}
	}
}

// late makes errCut of an error that says that time is up.
func (r *run) late(err error) error {
	if !errors.Is(err, errLate) {
		return err
	}
	r.update(func() {
		r.hangs = true
		if r.doc.Cut == "" {
			r.doc.Cut = cutTime
		}
	})
	return errCut
}
