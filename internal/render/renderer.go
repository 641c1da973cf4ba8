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
	Tabs      int    // pages at a time; 0: 2; no more than Memory has room for
	Memory    int64  // bytes that its processes may take; 0: 1 GiB
	UserAgent string // of the browser's scripts; "": its own

	window   bool     // a person looks at the browser
	longest  int      // bytes of a reply; 0: maxMessage
	patience patience // zero fields are those of defaultPatience
}

// patience is the time that browsers and their renderers are given.
type patience struct {
	start  time.Duration   // to start
	first  []time.Duration // between the first starts of all, when they crash
	pauses []time.Duration // between the starts of a browser that has run before
	cpu    time.Duration   // a renderer that computes for most of it hangs
	alone  time.Duration   // for a page that has a browser of its own: others wait for that
}

// defaultPatience is that of a renderer that names none. It has pauses as what keeps a browser from
// starting, such as a full disk, may go away.
var defaultPatience = patience{start: 30 * time.Second, first: []time.Duration{0, 300 * time.Millisecond, time.Second}, pauses: []time.Duration{time.Second, 5 * time.Second}, cpu: 10 * time.Second, alone: time.Minute}

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
	if p.alone > 0 {
		d.alone = p.alone
	}
	return d
}

// Renderer renders pages in one browser, which it starts when it is needed.
type Renderer struct {
	o     Options
	tabs  *queue // of pages for tabs
	total clocks // of the time of each page in all

	single chan struct{} // held by the page that has a browser of its own

	mu      sync.Mutex
	browser *browser // nil: none runs
	alone   *browser // that of single; nil: none runs
	apart   int      // pages that have or await a browser of their own
	started bool     // one has run
	broken  error    // none starts, and why
	closed  bool

	// For Figures, which waits for no start.
	latest atomic.Pointer[browser] // nil: none has run
	starts atomic.Int64
}

// tabMemory is the memory that a tab may need, with its part of what all share, in bytes.
const tabMemory = 128 << 20

// New returns a renderer.
func New(o Options) *Renderer {
	if o.Tabs <= 0 {
		o.Tabs = 2
	}
	if o.Memory <= 0 {
		o.Memory = 1 << 30
	}
	// Beyond three quarters of the memory, tabs are closed behind each page: see browser.watch.
	o.Tabs = min(o.Tabs, max(1, int(o.Memory*3/4/tabMemory)))
	o.patience = o.patience.orDefault()
	return &Renderer{o: o, tabs: newQueue(o.Tabs), single: make(chan struct{}, 1)}
}

// Tabs returns the number of pages at a time.
func (r *Renderer) Tabs() int { return r.o.Tabs }

// ErrClosed is returned by a renderer that is closed.
var ErrClosed = errors.New("the renderer is closed")

// Render renders a page. Errors: ErrNoBrowser and StartError, then of all pages that follow, too;
// those of ctx; those that KindOf knows. A page at a limit is no error: see Document.Cut.
func (r *Renderer) Render(ctx context.Context, p *Page) (*Document, error) {
	leave, err := r.tabs.enter(ctx, domainOf(p.URL))
	if err != nil {
		return nil, err
	}
	defer leave()
	var how manner
	for try := 1; ; try++ {
		began := time.Now()
		doc, err := r.shown(ctx, p, how)
		next := mannerAfter(err, try)
		first := try == 1 || !how.alone && next.alone
		how = next
		again := err != nil && mayRecover(err) && first && (doc == nil || !how.soon)
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, context.Cause(ctx)
		case again:
			if how.alone {
				leave() // it needs no tab
			}
			continue
		case err != nil && (doc == nil || errors.Is(err, errSelector)):
			return nil, err
		case err != nil: // what was seen before is worth more than nothing
			doc.Cut = cmp.Or(doc.Cut, string(KindOf(err)))
		}
		doc.Took = time.Since(began)
		return doc, nil
	}
}

// manner is the way to render a page.
type manner struct {
	real  bool // its clock is the real one
	soon  bool // it is read soon, too
	alone bool // it has a browser of its own
}

// mannerAfter returns that of the next try. What any page of a browser may have done, a page does
// alone then, so that it costs no other: a browser may end once for another reason.
func mannerAfter(err error, try int) manner {
	kind := KindOf(err)
	ofAny := errors.Is(err, errOutside) || errors.Is(err, errUndrawn) || kind == KindDisk || kind == KindGone && try > 1
	return manner{real: kind == KindCPU, soon: kind == KindLeft || kind == KindEmptied, alone: ofAny}
}

// shown renders a page within its limits of time, in a browser that runs.
func (r *Renderer) shown(ctx context.Context, p *Page, how manner) (*Document, error) {
	running, total := r.running, p.Limits.orDefault().Total
	if how.alone {
		running, total = r.startAlone, min(total, r.o.patience.alone)
		r.part(1)
		defer r.part(-1)
		select {
		case r.single <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		defer r.endAlone()
	}
	b, err := running(ctx)
	if err != nil {
		return nil, err
	}
	ctx, _, stop := r.total.within(ctx, total)
	defer stop()
	return b.render(ctx, p, how)
}

// part takes in that there is a page more, or one less, that has or awaits a browser of its own.
// While there is any, the other browser has half the memory, and half the tabs.
func (r *Renderer) part(by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had := r.apart > 0
	r.apart += by
	switch {
	case had == (r.apart > 0):
		return
	case had:
		r.tabs.grow(r.o.Tabs / 2)
	default:
		r.tabs.grow(-r.o.Tabs / 2)
	}
	if r.browser != nil {
		r.browser.most.Store(r.share())
	}
}

// share is the memory that the browser for all pages may take. r.mu is held.
func (r *Renderer) share() int64 {
	if r.apart > 0 {
		return r.o.Memory / 2
	}
	return r.o.Memory
}

// startAlone starts a browser for one page, with half the memory: the page is suspected of taking
// all. If that does not start, there is still the other. r.single is held.
func (r *Renderer) startAlone(ctx context.Context) (*browser, error) {
	o := r.o
	o.Memory /= 2
	b, err := startBrowser(ctx, o)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), errGone)
	}
	b.total = &r.total
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		b.process.kill()
		return nil, ErrClosed
	}
	r.alone = b
	return b, nil
}

// endAlone ends that browser, and lets the next page have one.
func (r *Renderer) endAlone() {
	r.mu.Lock()
	b := r.alone
	r.alone = nil
	r.mu.Unlock()
	if b != nil {
		b.process.kill()
	}
	<-r.single
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
	o := r.o
	o.Memory = r.share()
	for try := 0; ; try++ {
		if b, err = startBrowser(ctx, o); err == nil {
			b.total = &r.total
			r.browser, r.started = b, true
			r.latest.Store(b)
			r.starts.Add(1)
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
	if r.alone != nil {
		r.alone.process.kill()
	}
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
	most  atomic.Int64          // bytes of memory that it may take
	held  atomic.Int64          // that it takes, at the last look
	full  atomic.Bool           // it takes three quarters of them
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
	b.conn = newConn(p.out, p.in, cmp.Or(o.longest, maxMessage), b.event)
	b.most.Store(o.Memory)
	go b.watch(o.patience.cpu)
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

// greet makes a browser ready. One that does not know a method is named with its version.
func (b *browser) greet(ctx context.Context) error {
	var version struct {
		Product string
	}
	if err := b.conn.call(ctx, "", "Browser.getVersion", nil, &version); err != nil {
		return err
	}
	b.shell = strings.HasPrefix(version.Product, "Headless")
	// Of the browser itself, this catches what workers and service workers ask for, too.
	err := b.conn.call(ctx, "", "Fetch.enable", []byte(`{"patterns":[{"urlPattern":"*"}]}`), nil)
	if err == nil {
		err = b.denyDownloads(ctx, "")
	}
	if err != nil && version.Product != "" {
		err = fmt.Errorf("version %.64q: %w", version.Product, err)
	}
	return err
}

// event takes an event of any session.
func (b *browser) event(m *message) {
	if m.Method == "Fetch.requestPaused" {
		var p paused
		if json.Unmarshal(m.Params, &p) == nil {
			p.join()
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
			r.forbids(p, "of no document, as that of a service worker")
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
	if errors.Is(err, errUndrawn) {
		b.endAll(errUndrawn)
	}
	if over := b.over.Load(); over != nil && err != nil {
		err = *over
	}
	b.give(t, err == nil && !t.blind && (doc.Cut == "" || doc.Cut == cutWait && !r.hangs))
	return doc, err
}
