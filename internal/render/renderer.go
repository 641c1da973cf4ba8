package render

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are those of a renderer.
type Options struct {
	Program   string // path of the browser: see Find
	Temp      string // folder for its profile; "": that for temporary files
	Tabs      int    // pages at a time; 0: 2
	Memory    int64  // bytes that its processes may take; 0: 1 GiB
	UserAgent string // of the browser's scripts; "": its own

	patience patience // zero fields are those of defaultPatience
}

// patience is the time that browsers and their renderers are given.
type patience struct {
	start  time.Duration   // to start
	first  []time.Duration // between the first starts of all, when they crash
	pauses []time.Duration // between the starts of a browser that has run before
	cpu    time.Duration   // a renderer that computes for most of it hangs
}

// defaultPatience is that of a renderer that names none. It has pauses as what keeps a browser from
// starting, such as a full disk, may go away.
var defaultPatience = patience{start: 30 * time.Second, first: []time.Duration{0, 300 * time.Millisecond, time.Second}, pauses: []time.Duration{time.Second, 5 * time.Second}, cpu: 10 * time.Second}

func (p patience) orDefault() patience {
	d := defaultPatience
	if p.start > 0 {
		d.start = p.start
	}
	if p.pauses != nil {
		d.pauses = p.pauses
	}
	if p.cpu > 0 {
		d.cpu = p.cpu
	}
	return d
}

// Renderer renders pages in one browser, which it starts when it is needed.
type Renderer struct {
	o     Options
	tabs  *queue // of pages for tabs
	total clocks // of the time of each page in all

	beside sync.RWMutex // held by a page that is being rendered, for itself if it is to be alone

	mu      sync.Mutex
	browser *browser // nil: none runs
	started bool     // one has run
	broken  error    // none starts, and why
	closed  bool
}

// New returns a renderer.
func New(o Options) *Renderer {
	if o.Tabs <= 0 {
		o.Tabs = 2
	}
	if o.Memory <= 0 {
		o.Memory = 1 << 30
	}
	o.patience = o.patience.orDefault()
	return &Renderer{o: o, tabs: newQueue(o.Tabs)}
}

// ErrClosed is returned by a renderer that is closed.
var ErrClosed = errors.New("the renderer is closed")

// Render renders a page. Errors: ErrNoBrowser and StartError, then of all pages that follow, too;
// those of ctx; those that KindOf knows. A page at a limit is no error: see Document.Cut.
func (r *Renderer) Render(ctx context.Context, p *Page) (*Document, error) {
	leave, err := r.tabs.enter(ctx, originOf(p.URL))
	if err != nil {
		return nil, err
	}
	defer leave()
	var how manner
	for try := 1; ; try++ {
		began := time.Now()
		doc, err := r.shown(ctx, p, how)
		first := try == 1 || !how.alone && mannerAfter(err).alone
		how = mannerAfter(err)
		again := err != nil && mayRecover(err) && first && (doc == nil || !how.soon)
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, context.Cause(ctx)
		case again:
			continue
		case err != nil && (doc == nil || KindOf(err) == KindOther):
			return nil, err
		case err != nil: // what was seen before is worth more than nothing
			doc.Cut = cmp.Or(doc.Cut, string(KindOf(err)))
		}
		doc.Took = time.Since(began)
		return doc, nil
	}
}

// manner says how a page is rendered.
type manner struct {
	real  bool // its clock is the real one
	soon  bool // it is read soon, too
	alone bool // no page is beside it
}

// mannerAfter returns that of another try.
func mannerAfter(err error) manner {
	kind := KindOf(err)
	outside := errors.Is(err, errOutside) || kind == KindDisk // of any page that the browser had
	return manner{real: kind == KindCPU, soon: kind == KindLeft || kind == KindEmptied, alone: outside}
}

// shown renders a page within its limits of time, in a browser that runs.
func (r *Renderer) shown(ctx context.Context, p *Page, how manner) (*Document, error) {
	beside := r.beside.RLocker()
	if how.alone {
		beside = &r.beside
	}
	beside.Lock()
	defer beside.Unlock()
	b, err := r.running(ctx)
	if err != nil {
		return nil, err
	}
	ctx, _, stop := r.total.within(ctx, p.Limits.orDefault().Total)
	defer stop()
	return b.render(ctx, p, how)
}

// Pause says that nobody answers requests of pages for now, or does again: pages may wait for that
// as long as it takes.
func (r *Renderer) Pause(on bool) { r.total.pause(on) }

// running returns a browser that runs.
func (r *Renderer) running(ctx context.Context) (*browser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r.browser != nil {
		select {
		case <-r.browser.conn.ended:
			r.browser.process.kill()
			r.browser = nil
		default:
		}
	}
	switch {
	case r.closed:
		return nil, ErrClosed
	case r.broken != nil:
		return nil, r.broken
	case r.browser == nil:
		return r.start(ctx)
	}
	return r.browser, nil
}

// start starts a browser. If the first one of all does not start, or several in a row, none ever
// will. A crash at the very first start may come of load, also twice in a row: there are further
// ones. r.mu is held.
func (r *Renderer) start(ctx context.Context) (b *browser, err error) {
	for try := 0; ; try++ {
		if b, err = startBrowser(ctx, r.o); err == nil {
			b.total = &r.total
			r.browser, r.started = b, true
			return b, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pauses := r.o.patience.pauses
		var failed *StartError
		switch {
		case r.started:
		case errors.As(err, &failed) && failed.crashed:
			pauses = r.o.patience.first
		case failed != nil && failed.silent:
			pauses = r.o.patience.first[:1]
		default:
			pauses = nil
		}
		if try >= len(pauses) {
			r.broken = err
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pauses[try]):
		}
	}
}

// Close ends the browser. Pages that are being rendered fail.
func (r *Renderer) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.browser != nil {
		r.browser.process.close(context.Background(), r.browser.conn)
		r.browser = nil
	}
	return nil
}

// browser is a browser that runs.
type browser struct {
	process *process
	conn    *conn

	busy  atomic.Int32          // pages being rendered
	full  atomic.Bool           // it takes three quarters of its memory
	own   clocks                // of the browser's time for each page
	total *clocks               // those of the renderer
	cause atomic.Pointer[error] // of the last end of a renderer, until a page has it; nil: none
	over  atomic.Pointer[error] // the limit at which the browser was ended; nil: none
	shell bool                  // it is the headless shell

	services services

	mu    sync.Mutex
	idle  []*tab
	stale []string        // keys of stores in the default context that tabs have left
	tabs  map[string]*tab // by session
	in    map[string]*tab // by id of a frame
}

func startBrowser(ctx context.Context, o Options) (*browser, error) {
	program, err := Find(o.Program)
	if err != nil {
		return nil, err
	}
	p, err := startProcess(program, o, o.flags)
	if err != nil {
		return nil, &StartError{Program: program, Err: err}
	}
	b := &browser{process: p, tabs: make(map[string]*tab), in: make(map[string]*tab)}
	b.conn = newConn(p.out, p.in, b.event)
	go b.watch(o.Memory, o.patience.cpu)
	go b.ping()
	ctx, cancel := context.WithTimeoutCause(ctx, o.patience.start, fmt.Errorf("it has not answered in %v", o.patience.start))
	defer cancel()
	if err := b.greet(ctx); err != nil {
		p.kill()
		gone := errors.Is(err, errGone)
		return nil, &StartError{Program: program, Err: p.lastWords(err), crashed: gone && p.crashed(), silent: !gone && ctx.Err() != nil}
	}
	b.services.take(usages(p.cmd.Process.Pid))
	return b, nil
}

// greet makes a browser ready.
func (b *browser) greet(ctx context.Context) error {
	for _, c := range []struct {
		method string
		params any
	}{
		// Of the browser itself, this catches what workers and service workers ask for, too.
		{"Fetch.enable", []byte(`{"patterns":[{"urlPattern":"*"}]}`)},
		{"Browser.setDownloadBehavior", []byte(`{"behavior":"deny","eventsEnabled":true}`)},
	} {
		if err := b.conn.call(ctx, "", c.method, c.params, nil); err != nil {
			return err
		}
	}
	var version struct {
		Product string
	}
	err := b.conn.call(ctx, "", "Browser.getVersion", nil, &version)
	b.shell = strings.HasPrefix(version.Product, "Headless")
	return err
}

// event takes an event of any session.
func (b *browser) event(m *message) {
	if m.Method == "Fetch.requestPaused" {
		var p paused
		if json.Unmarshal(m.Params, &p) == nil {
			b.paused(&p)
		}
		return
	}
	var f struct {
		FrameID string
	}
	b.mu.Lock()
	t := b.tabs[m.Session]
	if t != nil {
		switch m.Method {
		case "Page.frameAttached":
			if json.Unmarshal(m.Params, &f) == nil {
				b.in[f.FrameID] = t
			}
		case "Page.frameDetached":
			if json.Unmarshal(m.Params, &f) == nil {
				delete(b.in, f.FrameID)
			}
		}
	}
	b.mu.Unlock()
	if t != nil {
		t.event(m)
	}
}

// paused has the tab answer that a request is of.
func (b *browser) paused(p *paused) {
	b.mu.Lock()
	t := b.in[p.FrameID]
	b.mu.Unlock()
	if t != nil {
		t.answer(p)
		return
	}
	(&tab{conn: b.conn}).refuse(p, "BlockedByClient")
	for _, r := range b.runs() {
		if isFrom(p, r.page.URL) {
			r.update(func() {
				r.doc.Requests++
				r.refused(p, ByRule("of no document, as that of a service worker"))
			})
			return
		}
	}
}

// runs returns the pages that are being rendered.
func (b *browser) runs() (all []*run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tabs {
		if r := t.current(); r != nil {
			all = append(all, r)
		}
	}
	return all
}

// take returns a tab that is idle, or a new one; a fresh one, a new one.
func (b *browser) take(ctx context.Context, fresh bool) (*tab, error) {
	b.mu.Lock()
	var t *tab
	if n := len(b.idle); n > 0 && !fresh {
		t, b.idle = b.idle[n-1], b.idle[:n-1]
	}
	b.mu.Unlock()
	if t == nil {
		var err error
		if t, err = b.open(ctx); err != nil {
			return nil, err
		}
	}
	if err := t.clean(ctx); err != nil {
		b.drop(t)
		return nil, err
	}
	return t, nil
}

// tabPages is the number of pages that a tab renders: its process grows by 20 kB with each.
const tabPages = 256

// give takes a tab back; one that is lost, or may hang, is closed, and any that is old, or while
// memory is scarce: its process gives back what pages have left there.
func (b *browser) give(t *tab, sound bool) {
	t.set(nil)
	b.mu.Lock()
	t.cookies = nil
	for frame, of := range b.in {
		if of == t && frame != t.target {
			delete(b.in, frame)
		}
	}
	t.pages++
	sound = sound && t.mayServe() && t.pages < tabPages && !b.full.Load()
	if sound {
		b.idle = append(b.idle, t)
	}
	b.mu.Unlock()
	if !sound {
		b.drop(t)
	}
}

// crash is the reason for which a tab has crashed.
func (b *browser) crash(t *tab) error {
	err := b.why()
	if err == errCPU && b.shell && !t.virtual {
		return errEndless // no tab shares its process
	}
	return err
}

// render renders a page in a tab, or in a fresh one if that is of no use.
func (b *browser) render(ctx context.Context, p *Page, how manner) (doc *Document, err error) {
	fresh := how.real // such a tab has had no virtual time
	if doc, err = b.renderIn(ctx, p, how, fresh); errors.Is(err, errRestless) {
		doc, err = b.renderIn(ctx, p, how, true)
	}
	return doc, err
}

func (b *browser) renderIn(ctx context.Context, p *Page, how manner, fresh bool) (doc *Document, err error) {
	b.busy.Add(1)
	defer b.busy.Add(-1)
	ctx, own, stop := b.own.within(ctx, p.Limits.orDefault().Time)
	defer stop()
	t, err := b.take(ctx, fresh)
	if err != nil {
		return nil, err
	}
	if err := b.setCookies(ctx, t, p); err != nil {
		b.give(t, false)
		return nil, err
	}
	r := newRun(ctx, t, p, own, &b.own, b.total)
	r.how = how
	t.set(r)
	doc, err = r.render(ctx)
	r.unstock()
	if errors.Is(err, errCrashed) {
		err = b.crash(t)
	}
	if !b.isWhole() {
		err = errGone
	}
	if over := b.over.Load(); over != nil && err != nil {
		err = *over
	}
	b.give(t, err == nil && (doc.Cut == "" || doc.Cut == cutWait && !r.hangs))
	return doc, err
}
