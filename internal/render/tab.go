package render

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// tab renders one page at a time.
type tab struct {
	conn    *conn
	target  string // id, which is that of its main frame, too
	session string
	context string // the browser context that is its own; "": the default one
	inFront bool   // it is drawn always: all tabs of the headless shell are
	focused bool   // it is drawn for now
	blind   bool   // frames of its page were lost
	pages   int    // that it has rendered
	virtual bool   // its clock is a virtual one

	cookies []Cookie // of its page; guarded by the browser's mu

	mu       sync.Mutex
	worked   bool            // a worker has run in it
	restless bool            // its page made requests when it was done
	run      *run            // the page that it renders; nil: none
	top      string          // the origin of the last page
	origins  map[string]bool // of documents since the tab was last clean
	stale    []string        // keys of stores that a tab before has left
}

// current returns the page that the tab renders, or nil.
func (t *tab) current() *run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run
}

func (t *tab) set(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.run = r
}

// event takes an event of the tab's session.
func (t *tab) event(m *message) {
	r := t.current()
	switch m.Method {
	case "Target.attachedToTarget":
		t.work()
	case "Page.javascriptDialogOpening": // the page stands still until it is answered
		_ = t.conn.post(t.session, "Page.handleJavaScriptDialog", []byte(`{"accept":false}`))
	case "Inspector.targetCrashed":
		if r != nil {
			r.update(func() { r.failed = errCrashed })
		}
	}
	if r == nil {
		return
	}
	var p struct {
		FrameID, ParentFrameID string
		URL                    string
		Frame                  struct {
			ID, URL, SecurityOrigin string
		}
		Type  string
		Entry struct {
			Text string
		}
		Args             []argument
		ExceptionDetails struct {
			Text      string
			Exception struct {
				Description string
			}
		}
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	switch m.Method {
	case "Page.frameNavigated":
		t.visit(p.Frame.SecurityOrigin, p.Frame.ID != t.target)
		switch {
		case p.Frame.ID != t.target:
			r.update(func() { r.frames.document(p.Frame.ID, p.Frame.URL, p.Frame.SecurityOrigin) })
		case r.isShown() && !r.travels: // a document that needs no request, such as that of a blob
			r.update(func() { r.fate.replaced = true })
		default:
			r.begin()
		}
	case "Page.frameRequestedNavigation":
		r.update(func() { r.frames.requested(p.FrameID, p.URL) })
	case "Page.documentOpened":
		r.update(func() { r.fate.opened = r.fate.opened || p.Frame.ID == t.target })
	case "Page.frameAttached", "Page.frameDetached", "Page.frameStartedLoading", "Page.frameStoppedLoading":
		r.update(func() { r.frames.event(m.Method, p.FrameID, p.ParentFrameID) })
	case "Emulation.virtualTimeBudgetExpired":
		r.update(func() { r.expired = r.shown })
	case "Page.navigatedWithinDocument":
		r.update(func() {
			if p.FrameID == t.target && len(p.URL) <= longestURL {
				r.doc.URL = p.URL
			}
			r.target(p.URL)
		})
	case "Page.windowOpen", "Page.downloadWillBegin":
		r.update(func() { r.target(p.URL) })
	case "Runtime.exceptionThrown":
		text := p.ExceptionDetails.Exception.Description
		if text == "" {
			text = p.ExceptionDetails.Text
		}
		r.scriptError(text)
	case "Log.entryAdded":
		r.logged(p.Entry.Text)
	case "Runtime.consoleAPICalled":
		if p.Type == "error" {
			r.scriptError("console.error: " + said(p.Args))
		}
	}
}

// argument is one of a call of the console.
type argument struct {
	Type        string
	Value       json.RawMessage
	Description string // of what is no plain value
}

// said returns arguments as a console shows them, in one line.
func said(all []argument) string {
	var words []string
	for _, a := range all[:min(len(all), 20)] {
		text := a.Description
		if text == "" {
			text = string(a.Value)
		}
		var plain string
		if a.Type == "string" && json.Unmarshal(a.Value, &plain) == nil {
			text = plain
		}
		words = append(words, clipped(text))
	}
	return strings.Join(words, " ")
}

// scriptError notes an error of a script.
func (r *run) scriptError(text string) {
	r.update(func() {
		if len(r.doc.Errors) < mostErrors {
			r.doc.Errors = append(r.doc.Errors, clipped(text))
		}
	})
}

// A WebSocket is no request that is intercepted: it ends at the proxy that is none, and the log of
// the browser says so, that of workers, too.
var socketFailed = [2]string{"WebSocket connection to '", "' failed: "}

// logged notes the WebSocket that a message of the browser is about.
func (r *run) logged(text string) {
	url, ok := strings.CutPrefix(text, socketFailed[0])
	if !ok {
		return
	}
	if url, _, ok = strings.Cut(url, socketFailed[1]); ok {
		p := &paused{ResourceType: TypeWebSocket}
		p.Request.URL = url
		r.update(func() {
			r.doc.Requests++
			r.refused(p, ByRule("WebSockets are refused"))
		})
	}
}

// target notes a URL that a script has led to.
func (r *run) target(url string) {
	if len(r.doc.Targets) < mostTargets && len(url) <= longestText && url != r.page.URL && !slices.Contains(r.doc.Targets, url) {
		r.doc.Targets = append(r.doc.Targets, url)
	}
}

func clipped(text string) string {
	if len(text) > longestText {
		text = strings.Clone(text[:longestText]) // what is cut off is no memory any more
	}
	return text
}

// paused is a request that waits for an answer.
type paused struct {
	RequestID    string
	FrameID      string
	ResourceType Type
	Request      struct {
		URL     string
		Method  string
		Headers map[string]string
		// PostDataEntries are the parts of what is sent, in base64: see join.
		PostDataEntries []struct{ Bytes []byte }
	}

	body    []byte // that it sends
	counted bool   // in run.traffic
}

// join makes one body of the parts of what the request sends.
func (p *paused) join() {
	for i, e := range p.Request.PostDataEntries {
		if i == 0 {
			p.body = e.Bytes
		} else {
			p.body = append(p.body, e.Bytes...)
		}
	}
	p.Request.PostDataEntries = nil
}

// answer answers a request of the tab, or refuses it.
func (t *tab) answer(p *paused) {
	r := t.current()
	main := p.ResourceType == TypeDocument && p.FrameID == t.target
	switch {
	case p.excess() != "":
		t.refuse(p, "BlockedByClient")
		if r != nil {
			r.forbids(p, p.excess())
		}
	case isIcon(p): // of the browser itself
		t.refuse(p, "BlockedByClient")
	case r == nil && main: // it leads elsewhere, and is done
		t.fulfil(p, &Response{Status: 204})
	case r == nil:
		t.stray(p)
	case main && r.travels:
		if r.admits(p) {
			go r.fetch(p)
		} else {
			t.refuse(p, "BlockedByClient")
		}
	case main && r.begins(p):
		go r.present(p)
	case main: // it leads elsewhere, and the document that is there stays
		if p.Request.Method == "GET" { // a POST is no link
			r.update(func() { r.target(p.Request.URL) })
		}
		t.fulfil(p, &Response{Status: 204})
	case !r.sends(p):
		t.refuse(p, "BlockedByClient")
		r.forbids(p, errMuchSent)
	case !r.isShown():
		if !r.keeps(p) {
			t.stray(p)
		}
	case r.admits(p):
		go r.fetch(p)
	case p.isStream(): // of which the browser asks no more then
		t.fulfil(p, &Response{Status: 204})
	default:
		t.refuse(p, "BlockedByClient")
	}
}

// present answers the request for the page itself.
func (r *run) present(p *paused) {
	if r.tab.pages > 0 && r.tab.setScripts(r.ctx, true) != nil {
		return // the tab is lost
	}
	r.reads(r.page.Body)
	r.tab.fulfil(p, &Response{Status: r.page.Status, Header: r.page.Header, Body: r.page.Body})
}

// isStream reports whether a request is that of an EventSource.
func (p *paused) isStream() bool { return p.Request.Headers["Accept"] == "text/event-stream" }

// isShown reports whether the tab shows the page, and no longer the one before.
func (r *run) isShown() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}

// keeps keeps a request until the page is shown: a header of its response may have asked for it.
// It reports whether it has; if not, the request is one of the page before.
func (r *run) keeps(p *paused) (kept bool) {
	r.update(func() {
		mayBe := r.tab.pages == 0 || r.begun && isFrom(p, r.page.URL)
		if kept = mayBe && len(r.early) < r.limits.Requests; kept {
			r.early = append(r.early, p)
		}
	})
	return kept
}

// isFrom reports whether a request is that of a page or of an earlier one of its origin, by the URL
// or the origin of its Referer, which a page of another origin cannot make up.
func isFrom(p *paused, page string) bool {
	from := p.Request.Headers["Referer"]
	return from != "" && strings.HasPrefix(page, from)
}

// begin takes in that the page is shown.
func (r *run) begin() {
	var early []*paused
	r.update(func() {
		r.shown = true
		early, r.early = r.early, nil
	})
	for _, p := range early {
		r.tab.answer(p)
	}
}

// isIcon reports whether the browser wants the icon that a page has by default.
func isIcon(p *paused) bool {
	return p.ResourceType == "Other" && strings.HasSuffix(p.Request.URL, "/favicon.ico")
}

// reads notes whether a script or a document with scripts asks for frames: it may load content when
// that is in view.
func (r *run) reads(body []byte) {
	if bytes.Contains(body, []byte("IntersectionObserver")) || bytes.Contains(body, []byte("requestAnimationFrame")) {
		r.update(func() { r.drawn = true })
	}
}

// awaitsFrames reports whether the page asks for frames.
func (r *run) awaitsFrames() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drawn
}

// requests is the number of requests that the page has made.
func (r *run) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doc.Requests
}

// begins reports whether a request is that for the page itself.
func (r *run) begins(p *paused) (first bool) {
	r.update(func() {
		// One of the page before may lead elsewhere.
		first = !r.begun && originOf(p.Request.URL) == originOf(r.page.URL)
		r.begun = r.begun || first
	})
	return first
}

// admits counts a request, and refuses it if it is one too many.
func (r *run) admits(p *paused) (ok bool) {
	r.update(func() {
		r.doc.Requests++
		switch {
		case r.page.Fetch == nil:
			r.refused(p, ByRule("no request is made"))
		case r.doc.Requests > r.limits.Requests:
			r.refused(p, ByRule("too many requests of one page"))
			r.doc.Cut = cutRequests
		case p.isStream():
			r.refused(p, ByRule("a stream has no end"))
		default:
			r.pending++
			r.own.hold()
			ok = true
		}
	})
	return ok
}

// sends counts the bytes of a request until it is answered, and reports whether the page may send
// them.
func (r *run) sends(p *paused) (ok bool) {
	r.update(func() {
		p.counted = p.counted || r.traffic.sends(len(p.body))
		ok = p.counted
	})
	return ok
}

// forbids notes a request that is not made, by a rule.
func (r *run) forbids(p *paused, rule ByRule) {
	r.update(func() {
		r.doc.Requests++
		r.refused(p, rule)
	})
}

// takes counts the bytes of an answer, and reports whether the page may have them.
func (r *run) takes(n int) (ok bool) {
	r.update(func() {
		if ok = r.traffic.takes(n, r.limits.Bytes); !ok {
			r.doc.Cut = cmp.Or(r.doc.Cut, cutBytes)
		}
	})
	return ok
}

func (r *run) refused(p *paused, reason error) {
	var rule ByRule
	r.note(p, Refusal{Reason: reason.Error(), ByRule: errors.As(reason, &rule)})
}

// note notes a request that has failed. r.mu is held.
func (r *run) note(p *paused, f Refusal) {
	if len(r.doc.Refused) < mostRefused {
		f.URL, f.Type, f.Reason = clipped(p.Request.URL), p.ResourceType, clipped(f.Reason)
		r.doc.Refused = append(r.doc.Refused, f)
	}
}

// fetch has a request answered.
func (r *run) fetch(p *paused) {
	q := &Request{
		URL: p.Request.URL, Method: p.Request.Method, Body: p.body, Type: p.ResourceType,
		Frame: p.ResourceType == TypeDocument && p.FrameID != r.tab.target,
	}
	r.update(func() { q.From = r.frames.from(p.FrameID, r.tab.target) })
	for name, value := range p.Request.Headers {
		q.Header = append(q.Header, Field{name, value})
	}
	sent, answered := make(chan struct{}), make(chan struct{})
	q.sent = sync.OnceFunc(func() { close(sent) })
	if p.ResourceType.MayStayOpen() {
		go r.attend(p, sent, answered)
	}
	res, err := r.page.Fetch(r.ctx, q)
	if err == nil && res.Done != nil {
		defer res.Done()
	}
	if err == nil && len(res.Body) > mostBody {
		err = errHugeBody
	}
	if err == nil && !r.takes(len(res.Body)) {
		err = ByRule("too many bytes of one page")
	}
	if err != nil {
		r.tab.refuse(p, "BlockedByClient")
	} else {
		if q.Type == TypeScript || q.Frame {
			r.reads(res.Body)
		}
		if q.Frame && !res.isRedirect() {
			r.update(func() { r.frames.shows(p.FrameID, originOf(q.URL)) })
		}
		r.tab.fulfil(p, res)
	}
	r.update(func() {
		close(answered)
		r.answered(p)
		switch {
		case err != nil:
			r.refused(p, err)
		case res.Status >= 400:
			r.note(p, Refusal{Reason: "status " + strconv.Itoa(res.Status), Status: res.Status})
		}
	})
}

// unsuitable are header fields that describe the body as it was received, or would make a download
// of a page.
var unsuitable = map[string]bool{
	"content-encoding": true, "content-length": true, "transfer-encoding": true, "connection": true, "keep-alive": true,
	"content-disposition": true, "refresh": true, "trailer": true, "upgrade": true, "alt-svc": true, "proxy-authenticate": true, "www-authenticate": true,
}

// fulfil answers a request.
func (t *tab) fulfil(p *paused, res *Response) {
	status := res.Status
	if status < 100 || status > 599 {
		status = 200
	}
	params := append([]byte(`{"requestId":`), quoted(p.RequestID)...)
	params = append(strconv.AppendInt(append(params, `,"responseCode":`...), int64(status), 10), `,"responseHeaders":[`...)
	first := true
	for _, f := range res.Header {
		if unsuitable[strings.ToLower(f.Name)] {
			continue
		}
		if !first {
			params = append(params, ',')
		}
		first = false
		params = append(append(append(append(append(params, `{"name":`...), quoted(f.Name)...), `,"value":`...), quoted(f.Value)...), '}')
	}
	params = append(params, `],"body":"`...)
	// The page may have gone.
	_, _ = t.conn.send("", "Fetch.fulfillRequest", params, res.Body, `"}`, nil)
}

func (t *tab) refuse(p *paused, reason string) {
	_ = t.conn.post("", "Fetch.failRequest", map[string]string{"requestId": p.RequestID, "errorReason": reason})
}

// quoted returns a text as JSON. Bytes that are not UTF-8 are replaced.
func quoted(s string) []byte {
	text, _ := json.Marshal(s) // a string is JSON always
	return text
}

// stray refuses a request of a page that is done. What it goes on with may be made in the name of
// the next page, so that the tab shows none any more.
func (t *tab) stray(p *paused) {
	t.refuse(p, "BlockedByClient")
	t.mu.Lock()
	t.restless = true
	r := t.run
	t.mu.Unlock()
	if r != nil {
		r.update(func() { r.failed = errRestless })
	}
}

// setScripts allows scripts in the tab's documents, or forbids them.
func (t *tab) setScripts(ctx context.Context, on bool) error {
	return t.conn.call(ctx, t.session, "Emulation.setScriptExecutionDisabled", map[string]bool{"value": !on}, nil)
}

// mayServe reports whether the tab may render another page. Workers go on when their page has ended
// (Chromium gives them 2 s), and the real clock never stands.
func (t *tab) mayServe() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.worked && !t.restless && (t.virtual || t.pages == 0)
}

// work takes in that a worker runs in the tab.
func (t *tab) work() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.worked = true
}
