package render

import (
	"context"
	"fmt"
	"time"
)

// render shows the page, waits until it is quiet, takes it through its steps, and reads it. With an
// error, the document is that of a look before; or nil.
func (r *run) render(ctx context.Context) (*Document, error) {
	if err := r.show(ctx); err != nil {
		return nil, err
	}
	most := r.limits.Virtual
	if wait := r.page.Steps.Wait.Time; wait > 0 {
		most = wait
	}
	first, passed, soon := min(firstBudget, most), time.Duration(0), look{}
	var err error
	if r.how.soon {
		if passed, soon, err = r.lookEarly(ctx); err != nil && err != errCut {
			return r.found(soon), err
		}
	}
	if err == nil {
		err = r.pass(ctx, first-passed)
	}
	if err != nil && err != errCut {
		return r.found(soon), err
	}
	seen, wrong := r.look(ctx)
	if wrong != nil {
		return r.found(soon), wrong
	}
	if err == nil && (most > first || r.page.Steps.any()) {
		if seen, err = r.further(ctx, first, most, seen); err != nil {
			return r.finish(seen), err
		}
	}
	if seen, err = r.judge(seen, soon); err != nil {
		return r.found(seen), err
	}
	err = r.picture(ctx)
	return r.finish(seen), err
}

// further takes a page that was quiet further, and looks again.
func (r *run) further(ctx context.Context, passed, most time.Duration, early look) (look, error) {
	err := r.wait(ctx, passed, most)
	awaited := err == nil && r.page.Steps.Wait.Selector != ""
	if err == nil {
		err = r.draw(ctx, most)
	}
	if err == nil && r.page.Steps.any() {
		err = r.walk(ctx)
	}
	if err != nil && err != errCut {
		return early, err
	}
	late, err := r.look(ctx)
	if err != nil {
		return early, err
	}
	// A page may clear itself after a while, as behind a notice.
	if len(late.HTML) < len(early.HTML)/2 && !awaited {
		late = early
	}
	return late, nil
}

// draw has the page drawn if it waits for that, and lets what that brings come. Virtual time draws
// nothing. The first document of a tab has no frame, however long it waits, before a tenth of a
// second of it has passed.
func (r *run) draw(ctx context.Context, passed time.Duration) error {
	if !r.page.Steps.any() && !r.awaitsFrames() {
		return nil
	}
	if err := r.pass(ctx, stepTime-passed); err != nil {
		return err
	}
	if err := r.tab.focus(ctx, true); err != nil {
		return err
	}
	for range mostDraws {
		before := r.requests()
		if err := r.drawFrames(ctx); err != nil || r.requests() == before {
			return err
		}
	}
	return nil
}

// mostDraws is the most times that a page is drawn whose drawing brings requests.
const mostDraws = 4

// leaveTime is the virtual time of a page that is left.
const leaveTime = time.Millisecond

// leave has the last tasks of the page before run: its clock stands, so that it would stay in
// memory for ever. Its scripts have no part in them, or they would make requests in the name of
// this page.
func (r *run) leave(ctx context.Context) error {
	switch {
	case r.tab.pages == 0:
		return nil
	case !r.tab.mayServe():
		return errRestless
	}
	if err := r.tab.setScripts(ctx, false); err != nil {
		return err
	}
	return r.grant(ctx, leaveTime)
}

// show opens the page.
func (r *run) show(ctx context.Context) error {
	r.doc.URL = r.page.URL
	var to struct {
		ErrorText string
	}
	t := r.tab
	if err := t.focus(ctx, r.page.Steps.any() || r.page.IsSeen()); err != nil {
		return err
	}
	if err := r.stock(ctx); err != nil {
		return err
	}
	if err := r.leave(ctx); err != nil {
		return err
	}
	if err := t.conn.call(ctx, t.session, "Page.navigate", map[string]string{"url": r.page.URL}, &to); err != nil {
		return err
	}
	if to.ErrorText != "" {
		return fmt.Errorf("the page is not shown: %s", to.ErrorText)
	}
	return nil
}

// found is finish, or nil if nothing was seen.
func (r *run) found(l look) *Document {
	if l.HTML == "" {
		return nil
	}
	return r.finish(l)
}

// finish returns the document of a look with what the run has noted.
func (r *run) finish(l look) *Document {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doc.HTML, r.doc.Frames = l.HTML, l.Frames
	for _, p := range r.open {
		r.note(p, Refusal{Reason: "left open, without an answer in time"})
	}
	doc := r.doc
	return &doc
}
