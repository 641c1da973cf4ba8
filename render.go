package weft

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Rendering selects the pages that a browser renders.
type Rendering string

// Renderings.
const (
	RenderNever  Rendering = "never"  // none: the default
	RenderAuto   Rendering = "auto"   // those that look empty until their scripts run
	RenderAlways Rendering = "always" // each
)

// Render are the options of rendering: see Rendered.
type Render struct {
	Rendering Rendering // the pages; empty: RenderNever
	Browser   string    // name or path of Chromium; empty: the first that is found

	// Wait is the sign that a page has come as far as it should: a CSS selector, of an element that
	// must be there within 30 s of page time, or a duration of page time such as 5s. Empty: 10s. Page
	// time jumps from timer to timer, so that it takes little.
	Wait string
	// Scroll is the most screens to scroll by, until nothing new comes; 0: none. It opens <details>,
	// too.
	Scroll int
	// Click is a CSS selector of elements to click, such as buttons for more, each until it is gone
	// or brings nothing new, at most 200 times in all. Empty: none.
	Click string

	// RenderPost lets the scripts of a page send POSTs to its own site: its registrable domain, or
	// its host if that is an address.
	RenderPost bool

	// Block are lists of requests that pages do not make, each with exceptions of its own.
	Block []*BlockList

	// Pictures of a page. A crawl needs a job for them: they are files in its folders screenshots and
	// pdf, which the record of the page names, and conversion records of its archive.
	Screenshot Screenshot // empty: none
	PDF        bool       // of at most 200 pages, on A4 unless the page says otherwise
}

// Screenshot is the part of a page that its picture shows. Images, media and fonts of the page are
// requested for it.
type Screenshot string

// Screenshots, 1,280 pixels wide.
const (
	ScreenshotViewport Screenshot = "viewport" // the first 800 pixels
	ScreenshotFull     Screenshot = "full"     // from top to bottom, at most 16,384 pixels
)

// Rendered is a page as a browser has it when its scripts have done their work.
//
// The browser gets the response that was received, and asks nobody for anything: each request of
// the page is made by Weft's client, within the options and the address guard of the call, and
// robots.txt is read as little as for the page. Images, media and fonts are requested for pictures
// only. Nothing is requested by another method than GET, but POST with Render.RenderPost.
type Rendered struct {
	// Reason is the evidence for rendering: RenderAlways, or that of Record.NeedsScripts.
	Reason string
	URL    string // as scripts may have changed it
	// HTML is the document, in UTF-8. Shadow roots are <template shadowrootmode>; the document of a
	// frame follows at the end as the srcdoc of an <iframe> of its own.
	HTML     []byte
	Targets  []string         // URLs that scripts have led to: navigations, windows, the history
	Errors   []string         // of scripts, at most 50: exceptions, and calls of console.error
	Requests int              // with the refused ones
	Refused  []RefusedRequest // at most 1,000

	Screenshot []byte // PNG
	PDF        []byte
	Missing    string // the reason for a screenshot or PDF that is missing; or empty

	Took time.Duration
	// Cut is the limit that ended the page before it was quiet: time, requests, bytes (of what they
	// brought), or wait, if the element of Render.Wait has not come; or the kind of failure after
	// which it is as it was seen before: crash, memory, disk, gone, cpu, time, length, left, emptied,
	// other; or empty.
	Cut string
}

// RefusedRequest is a request of a page that has failed: refused, without an answer, or answered by
// an error.
type RefusedRequest struct {
	URL, Type, Reason string
	Status            int  // of the answer, 400 or more; 0: there was none
	ByRule            bool // Weft does not make it, by a rule that Reason names: no fault of the page
}

// BlockList holds rules on which requests of pages are not made. It does not change and can be
// shared.
type BlockList struct{ list *blocklist.List }

// ReadBlockList reads block rules: filters of Adblock Plus, as EasyList has them, lines of a hosts
// file, or domains. It is an error if no line is a rule that can be judged, or there are more than
// 64 MiB of them.
func ReadBlockList(r io.Reader) (*BlockList, error) {
	list, err := blocklist.Read(r)
	if err != nil {
		return nil, err
	}
	return &BlockList{list}, nil
}

// Len returns the number of rules.
func (l *BlockList) Len() int { return l.list.Len() }

// Skipped returns how many rules cannot be judged, as regular expressions and rare options cannot,
// and the line of the first, with the reason.
func (l *BlockList) Skipped() (rules, line int, reason string) {
	s := l.list.Skipped()
	return s.Rules, s.Line, s.Why
}

// blocks returns the rules of o.
func (o *Render) blocks() (all blocklist.Lists) {
	for _, l := range o.Block {
		all = append(all, l.list)
	}
	return all
}

// ErrNoBrowser is returned for a page to render where there is no browser.
var ErrNoBrowser = render.ErrNoBrowser

// FindBrowser returns the path of the browser of this name or path, or of the first one there is.
// Error: ErrNoBrowser, or why the named one cannot be run.
func FindBrowser(name string) (string, error) { return render.Find(name) }

// check refuses options that have no meaning.
func (o *Render) check() error {
	_, err := o.steps()
	if err != nil {
		return invalid("Wait", o.Wait, err)
	}
	if o.Click != "" {
		err = render.CheckSelector(o.Click)
	}
	switch {
	case err != nil:
		return invalid("Click", o.Click, err)
	case o.Scroll < 0:
		return invalid("Scroll", strconv.Itoa(o.Scroll), errNegative)
	case o.Screenshot != "" && o.Screenshot != ScreenshotViewport && o.Screenshot != ScreenshotFull:
		return invalid("Screenshot", string(o.Screenshot), errors.New("expected viewport or full"))
	}
	return nil
}

// takesPictures reports whether pages are pictured.
func (o *Render) takesPictures() bool { return o.Screenshot != "" || o.PDF }

// steps returns the steps that a page is taken through.
func (o *Render) steps() (s render.Steps, err error) {
	s.Scroll, s.Click = o.Scroll, o.Click
	if o.Wait != "" {
		s.Wait, err = render.ParseWait(o.Wait)
	}
	return s, err
}

// wait is Wait of options that were checked.
func (o *Render) wait() render.Wait {
	s, _ := o.steps()
	return s.Wait
}

// reason returns why a page is to be rendered; empty: it is not.
func (o *Render) reason(p *Page) string {
	if p.Status < 200 || p.Status > 299 || len(p.Body) == 0 && hasNone(p.Status) || !record.IsHTML(p.Type()) {
		return ""
	}
	switch o.Rendering {
	case RenderAlways:
		return string(RenderAlways)
	case RenderAuto:
		text, _ := charset.UTF8(p.Type(), p.Body)
		return string(appshell.Judge(text))
	}
	return ""
}

// hasNone reports whether a response of the status has no document: No Content, Reset Content.
func hasNone(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent
}

// rendering is the rendering of one page. Its requests come to the loop that fetched the page.
type rendering struct {
	*fetcher
	client  *httpclient.Client
	door    *aio.Handle
	rules   fetch.PageRules
	cookies *fetch.PageCookies
	asked   aio.Queue[func(*aio.Task) error]
	hosts   map[string]*aio.Semaphore // of requests under way, by origin
	sites   map[string]bool           // of the pages of a login, where POSTs may go; nil: it is none
}

// mostAtHost is the most requests of a page that are under way at an origin, as browsers have it,
// without those that servers leave open.
const mostAtHost = 6

func (f *fetcher) newRendering(t *aio.Task, client *httpclient.Client) *rendering {
	return &rendering{fetcher: f, client: client, door: t.Loop().Handle(), hosts: make(map[string]*aio.Semaphore)}
}

// render renders a page, and requests what it needs on t's loop.
func (f *fetcher) render(t *aio.Task, client *httpclient.Client, p *Page, reason string) error {
	steps, err := f.Render.steps()
	if err != nil {
		return err
	}
	page := &render.Page{
		URL: p.URL, Status: p.Status, Body: p.Body,
		Steps: steps, Screenshot: render.Screenshot(f.Render.Screenshot), PDF: f.Render.PDF,
	}
	r := f.newRendering(t, client)
	r.rules = fetch.PageRules{Block: f.Render.blocks(), Seen: page.IsSeen(), OwnPosts: f.Render.RenderPost}
	if r.rules.Page, err = weburl.Parse(p.URL); err != nil {
		return err
	}
	page.Fetch, page.Stores = r.fetch, fetch.Stores(r.HTTP.Session.inner(), r.rules.Page)
	r.cookies = fetch.NewPageCookies(r.HTTP.Cookies, r.rules.Page)
	page.Header, page.Cookies = r.cookies.Give(p.Header)
	var doc *render.Document
	err = r.run(t, func(ctx context.Context, browser *render.Renderer) (err error) {
		doc, err = browser.Render(ctx, page)
		return err
	})
	if err != nil {
		return err
	}
	p.Rendered = renderedOf(doc, reason)
	return nil
}

// run has fn use a browser, whose requests it makes.
func (r *rendering) run(t *aio.Task, fn func(context.Context, *render.Renderer) error) error {
	defer r.door.Close()
	return t.Group(func(g *aio.Group) error {
		g.Go("requests", r.serve)
		g.Go("render", func(t *aio.Task) error {
			defer r.asked.Close()
			_, err := aio.Offload(t, func(ctx context.Context) (struct{}, error) {
				browser := render.New(render.Options{Program: r.Render.Browser, Tabs: 1, UserAgent: r.HTTP.UserAgent})
				defer browser.Close()
				return struct{}{}, fn(ctx, browser)
			})
			return err
		})
		return nil
	})
}

// serve makes the requests of the page, each in a task of its own, until the page is done: what a
// server leaves open then is cancelled.
func (r *rendering) serve(t *aio.Task) error {
	return t.Group(func(g *aio.Group) error {
		for {
			request, err := r.asked.Get(t)
			if errors.Is(err, aio.ErrQueueClosed) {
				g.Cancel()
				return nil
			}
			if err != nil {
				return err
			}
			g.Go("request", request)
		}
	})
}

// fetch is render.Page.Fetch: it runs on goroutines of the browser.
func (r *rendering) fetch(ctx context.Context, q *render.Request) (*render.Response, error) {
	u, err := r.rules.Judge(q)
	if err != nil {
		return nil, err
	}
	if answer := fetch.Preflight(q); answer != nil {
		return answer, nil
	}
	type answer struct {
		res *render.Response
		err error
	}
	answered := make(chan answer, 1)
	err = r.door.Post(func() {
		r.asked.TryPut(func(t *aio.Task) error {
			res, err := r.exchangeFor(t, q, u)
			answered <- answer{res, err}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answered:
		return a.res, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// exchangeFor makes a request of the page. A redirect is a response: the browser asks for its
// target.
func (r *rendering) exchangeFor(t *aio.Task, q *render.Request, u weburl.URL) (*render.Response, error) {
	if err := r.visits(q, u); err != nil {
		return nil, err
	}
	ask := httpclient.Request{Method: q.Method, Body: q.Body, Header: fetch.FromBrowser(q), Cookies: r.cookies.Of(q, u), Stranger: r.cookies.Stranger(q, u), Scheme: u.Scheme(), Host: u.Host(), Target: u.RequestTarget(), Allow: r.chain.allow(u)}
	turn := r.turnAt(u.Origin())
	if err := turn.Acquire(t); err != nil {
		return nil, err
	}
	leave := sync.OnceFunc(turn.Release)
	defer leave()
	q.Sent()
	if q.Type.MayStayOpen() {
		// The page goes on without it then, and what it still needs would wait for the turn.
		open := t.Loop().CallLater(render.DefaultLimits.Open, leave)
		defer open.Cancel()
	}
	res, err := r.client.Do(t, ask)
	if res != nil {
		defer res.Close()
	}
	var e *httpclient.Error
	switch {
	case errors.As(err, &e) && e.Kind == httpclient.KindBlocked:
		return nil, render.ByRule(err.Error())
	case err != nil:
		return nil, err
	}
	r.visited(u, res)
	return &render.Response{Status: res.Status, Header: fetch.ForBrowser(res.Header), Body: res.Lasting()}, nil
}

// turnAt returns the turns of requests at an origin.
func (r *rendering) turnAt(origin string) *aio.Semaphore {
	if r.hosts[origin] == nil {
		r.hosts[origin] = aio.NewSemaphore(mostAtHost)
	}
	return r.hosts[origin]
}

// visits notes where the pages of a login lead, and refuses a POST to any other site.
func (r *rendering) visits(q *render.Request, u weburl.URL) error {
	switch site := weburl.Site(u.Hostname()); {
	case r.sites == nil: // a page that is rendered goes nowhere
	case q.Method != http.MethodGet && !r.sites[site]:
		return render.ByRule("method " + q.Method + " to another site")
	case q.Type == render.TypeDocument && !q.Frame:
		r.sites[site] = true
	}
	return nil
}

// visited takes in to which addresses a login may lead from now on: see chain.
func (r *rendering) visited(u weburl.URL, res *httpclient.Response) {
	if r.sites == nil {
		return
	}
	r.chain.answered(u, res.Addr, res.Private)
	if location := res.Header.Get("Location"); record.IsRedirect(res.Status) && location != "" {
		if to, err := u.Resolve(weburl.EscapeInvalid(location)); err == nil {
			r.chain.redirect(u, to)
		}
	}
}

// renderedOf makes one document of a page and its frames.
func renderedOf(d *render.Document, reason string) *Rendered {
	out := &Rendered{
		Reason: reason, URL: d.URL, HTML: d.Text(), Targets: d.Targets, Errors: d.Errors, Requests: d.Requests,
		Screenshot: d.Screenshot, PDF: d.PDF, Missing: d.Missing, Took: d.Took, Cut: d.Cut,
	}
	for _, x := range d.Refused {
		out.Refused = append(out.Refused, RefusedRequest{x.URL, string(x.Type), x.Reason, x.Status, x.ByRule})
	}
	return out
}
