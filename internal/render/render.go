package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// errLate ends what has taken all of Limits.Time.
var errLate = errors.New("too late")

// Document.Cut of a page that was not quiet when its time was up, made too many requests, or is too
// long.
const (
	cutTime     = "time"
	cutRequests = "requests"
	cutDocument = "document"
)

// The steps of virtual time: the first look is after firstBudget, when requests and frames are
// quiet; then what timers bring until the limit.
const firstBudget = time.Second

// render shows the page, waits until it is quiet, and reads it.
func (r *run) render(ctx context.Context) (*Document, error) {
	r.doc.URL = r.page.URL
	var to struct {
		ErrorText string
	}
	t := r.tab
	// The page before gets no more time: it is granted when this one is shown.
	if err := t.conn.call(ctx, t.session, "Page.navigate", map[string]string{"url": r.page.URL}, &to); err != nil {
		return nil, err
	}
	if to.ErrorText != "" {
		return nil, fmt.Errorf("the page is not shown: %s", to.ErrorText)
	}
	if err := r.grant(firstBudget); err != nil {
		return nil, err
	}
	first, err := r.settle(ctx, firstBudget)
	if err != nil {
		return nil, err
	}
	if first && r.limits.Virtual > firstBudget {
		early, err := r.look(ctx)
		if err != nil {
			return nil, err
		}
		if err := r.grant(r.limits.Virtual - firstBudget); err != nil {
			return nil, err
		}
		if _, err := r.settle(ctx, firstBudget); err != nil {
			return nil, err
		}
		// A page may clear itself after a while, as behind a notice.
		late, err := r.look(ctx)
		if err != nil {
			return nil, err
		}
		if len(late.HTML) < len(early.HTML)/2 {
			late = early
		}
		return r.finish(late), nil
	}
	only, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	return r.finish(only), nil
}

// finish returns the document of a look with what the run has noted.
func (r *run) finish(l look) *Document {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doc.HTML, r.doc.Frames = l.HTML, l.Frames
	if l.cut && r.doc.Cut == "" {
		r.doc.Cut = cutDocument
	}
	doc := r.doc
	return &doc
}

// grant lets a span of virtual time pass. It stands still while requests are under way.
func (r *run) grant(span time.Duration) error {
	r.update(func() { r.expired = false })
	return r.tab.conn.post(r.tab.session, "Emulation.setVirtualTimePolicy", map[string]any{
		"policy": "pauseIfNetworkFetchesPending", "budget": span.Milliseconds(), "maxVirtualTimeTaskStarvationCount": 1000,
	})
}

// settle waits until virtual time is used up and nothing is under way; what is found under way then
// gets more of it. It reports whether the page is quiet; it is not if its real time is up.
func (r *run) settle(ctx context.Context, more time.Duration) (quiet bool, err error) {
	for {
		r.mu.Lock()
		expired, busy, failed := r.expired, r.pending > 0 || len(r.frames) > 0 || !r.shown, r.failed
		cut, shown := r.doc.Cut != "", r.shown
		r.mu.Unlock()
		switch {
		case failed != nil:
			return false, failed
		case cut && shown:
			return false, nil
		case expired && !busy:
			return true, nil
		case expired:
			if err := r.grant(more / 10); err != nil {
				return false, err
			}
		}
		select {
		case <-r.changed:
		case <-r.tab.conn.ended:
			return false, errGone
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errLate) {
				r.update(func() {
					if r.doc.Cut == "" {
						r.doc.Cut = cutTime
					}
				})
				return false, nil
			}
			return false, context.Cause(ctx)
		}
	}
}

// look is a reading of the document.
type look struct {
	HTML   string
	Frames []Frame
	cut    bool // it is longer than it may be
}

// readTime is the time for reading a document, beyond that of the page.
const readTime = 3 * time.Second

// look reads the document and its frames. A page that hangs does not answer: then it is an error.
func (r *run) look(ctx context.Context) (l look, err error) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), readTime, errLate)
	defer cancel()
	var root struct {
		Root struct {
			BackendNodeID int
		}
	}
	t := r.tab
	if err := t.conn.call(ctx, t.session, "DOM.getDocument", []byte(`{"depth":0}`), &root); err != nil {
		return l, err
	}
	if l.HTML, err = t.outer(ctx, root.Root.BackendNodeID); err != nil {
		return l, err
	}
	size := len(l.HTML)
	var tree struct {
		FrameTree frameTree
	}
	if err := t.conn.call(ctx, t.session, "Page.getFrameTree", nil, &tree); err != nil {
		return l, err
	}
	for _, f := range tree.FrameTree.below(nil) {
		if len(l.Frames) == mostFrames {
			break
		}
		html, err := t.frame(ctx, f.ID)
		if err != nil {
			continue // it has gone, or is one of another kind
		}
		size += len(html)
		l.Frames = append(l.Frames, Frame{f.URL, html})
	}
	if size > r.limits.Document {
		return look{cut: true}, nil
	}
	return l, nil
}

// frameTree is the frames of a page, as the protocol has them.
type frameTree struct {
	Frame struct {
		ID, URL string
	}
	ChildFrames []json.RawMessage
}

// frameOf is a frame below the page.
type frameOf struct{ ID, URL string }

// below appends the frames within a frame.
func (f frameTree) below(to []frameOf) []frameOf {
	for _, text := range f.ChildFrames {
		var child frameTree
		if len(to) < mostFrames && json.Unmarshal(text, &child) == nil {
			to = child.below(append(to, frameOf{child.Frame.ID, child.Frame.URL}))
		}
	}
	return to
}

// frame reads the document of a frame.
func (t *tab) frame(ctx context.Context, id string) (string, error) {
	var owner struct {
		BackendNodeID int
	}
	if err := t.conn.call(ctx, t.session, "DOM.getFrameOwner", map[string]string{"frameId": id}, &owner); err != nil {
		return "", err
	}
	var element struct {
		Node struct {
			ContentDocument struct {
				BackendNodeID int
			}
		}
	}
	if err := t.conn.call(ctx, t.session, "DOM.describeNode", map[string]any{"backendNodeId": owner.BackendNodeID, "depth": 0, "pierce": true}, &element); err != nil {
		return "", err
	}
	return t.outer(ctx, element.Node.ContentDocument.BackendNodeID)
}

// outer returns the HTML of a node, with open and closed shadow roots as declarative ones.
func (t *tab) outer(ctx context.Context, id int) (string, error) {
	var text struct {
		OuterHTML string
	}
	err := t.conn.call(ctx, t.session, "DOM.getOuterHTML", map[string]any{"backendNodeId": id, "includeShadowDOM": true}, &text)
	return text.OuterHTML, err
}
