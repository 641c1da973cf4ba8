package render

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// look is a reading of the document.
type look struct {
	HTML   string
	Frames []Frame
}

// The time for reading a document, beyond that of the page: until the page answers at all, and for
// the rest, as 10 MB take seconds on a busy machine.
const (
	answersTime = 10 * time.Second
	readTime    = 30 * time.Second
)

// look reads the document and its frames. A page that hangs does not answer: then it is an error.
func (r *run) look(ctx context.Context) (l look, err error) {
	ctx, _, stop := r.clocks.within(context.WithoutCancel(ctx), readTime)
	defer stop()
	var root struct {
		Root struct {
			BackendNodeID int
		}
	}
	t := r.tab
	soon, _, stop := r.clocks.within(ctx, answersTime)
	defer stop()
	if err := t.conn.call(soon, t.session, "DOM.getDocument", []byte(`{"depth":0}`), &root); err != nil {
		return l, err
	}
	if l.HTML, err = t.outer(ctx, root.Root.BackendNodeID); err != nil {
		return l, err
	}
	size := len(l.HTML)
	if size > r.limits.Document {
		return look{}, errTooLong
	}
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
		var refused *protocolError
		if errors.As(err, &refused) {
			continue // it has gone, or is one of another kind
		}
		if err != nil {
			return look{}, err
		}
		if size += len(html) + escaped*(strings.Count(html, `"`)+strings.Count(html, "&")); size > r.limits.Document {
			return look{}, errTooLong
		}
		l.Frames = append(l.Frames, Frame{f.URL, html})
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
	if errors.Is(err, errHuge) {
		err = errTooLong
	}
	return text.OuterHTML, err
}
