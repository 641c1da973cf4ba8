package fetch

import (
	"context"
	"errors"
	"net/http"
	neturl "net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/appshell/lessons"
	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/httpcache"
	"github.com/weftcrawl/weft/internal/login"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Rendering are the means by which the loops of a crawl render pages.
type Rendering struct {
	Lessons  *lessons.Table // of pages that gain by it; nil: each is rendered
	Browser  *render.Renderer
	Cache    *httpcache.Cache
	Assets   bool // images, media and fonts are requested, too
	Block    blocklist.Lists
	OwnPosts bool // see PageRules
	AtOnce   int  // requests of a page, at most: others wait

	Steps      render.Steps // of each page, before it is read
	Screenshot render.Screenshot
	PDF        bool
	// KeepPicture keeps a picture of a page as a file, whose name it returns. It is called from any
	// goroutine; nil: none are taken.
	KeepPicture func(url, mime string, picture []byte) (name string, err error)

	// Drained is done when the crawl is drained: pages that are being rendered wait for its next run.
	Drained context.Context
}

// judge says in a page why it is to be rendered, if it is. body is its text.
func (r *Rendering) judge(out *Outcome, page *Page, body []byte) {
	switch {
	case r == nil, out.URL.Role.Beyond(), !record.IsHTML(out.Record.Type()), out.Record.Status < 200, out.Record.Status > 299, out.Record.Status == http.StatusNoContent, IsSitemap(out.URL):
		return
	case r.Lessons == nil:
		page.why = record.RenderedAlways
		return
	}
	var room [appshell.MaxSkeleton]byte
	look := appshell.LookAt(body, room[:0])
	page.shape, page.why = lessons.ShapeOf(out.URL.URL.Host(), look), string(look.Reason)
	switch r.Lessons.Ask(page.shape, func() bool { return appshell.Runs(body) }) {
	case lessons.Sample:
		page.why = record.RenderedSample
	case lessons.Learned:
		if !page.shape.Doubtful() {
			page.why = record.RenderedLearned
			return
		}
		out.Record.Rendered = &record.Rendered{Reason: page.why, AsReceived: record.RenderedLearned}
		page.why = ""
	}
}

// ErrDrained ends the rendering of pages when the crawl is drained.
var ErrDrained = errors.New("the crawl is being drained")

// renders renders the pages of a loop.
// Owner: the loop; fetch runs on goroutines of the browser.
type renders struct {
	cfg     *Config
	reports *reports
	clock   *clock
	workers *workers

	shared *Shared
}

// errUnanswered is the error of a script that does not care for the failure of its request. If a
// rule forbids that, it is no fault of the page.
const errUnanswered = "TypeError: Failed to fetch"

// longestURL bounds the URL that scripts give to a document, in bytes.
const longestURL = 2 << 10

// takeDocument puts into the record what became of a page, and returns the URL of its document:
// that of the page, unless scripts have changed it within the origin. Nothing with a secret of the
// session is in it.
func takeDocument(r *record.Rendered, doc *render.Document, page weburl.URL, session *login.Session) weburl.URL {
	holds := func(text string) bool {
		if session == nil {
			return false
		}
		decoded, _ := neturl.QueryUnescape(text)
		return session.Holds(text) || session.Holds(decoded)
	}
	r.MS, r.Requests, r.Cut, r.Missing = doc.Took.Milliseconds(), doc.Requests, doc.Cut, doc.Missing
	for _, x := range doc.Refused {
		u := x.URL
		if holds(u) {
			u = withoutSecrets(u, holds)
		}
		switch {
		case !x.ByRule:
			r.AddFailed(u, x.Reason)
		case x.Reason != string(errNotNeeded):
			r.AddRefused(u, x.Reason)
		}
	}
	for _, message := range doc.Errors {
		first, _, _ := strings.Cut(message, "\n")
		switch {
		case len(r.Refused) > 0 && strings.HasSuffix(first, errUnanswered):
		case holds(message):
			r.AddError(secretMessage)
		default:
			r.AddError(message)
		}
	}
	at, err := weburl.Parse(doc.URL)
	if err != nil || len(doc.URL) > longestURL || at.Origin() != page.Origin() || at == page || holds(doc.URL) {
		return page
	}
	r.URL = at.String()
	return at
}

// secretMessage stands for a message of a script that has a secret of the session.
const secretMessage = "a message with a secret of the session"

// withoutSecrets returns a URL without its query, or its origin alone.
func withoutSecrets(u string, holds func(string) bool) string {
	bare, _, _ := strings.Cut(u, "?")
	if !holds(bare) {
		return bare
	}
	scheme, rest, _ := strings.Cut(bare, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + "/"
}

// leave has the worker of a lease, whose page is being rendered, count as none: another may begin.
// What the page holds is no room of bodies any more, which it waits for.
func (s *renders) leave(l *Lease, a frontier.Result, res *httpclient.Response) {
	l.URL.Responded = true
	res.CountWith(s.shared.Rendered)
	res.Keep(budget.PerRequest)
	s.workers.leave()
	s.reports.responded(*l, a)
}

// back takes in that the page of a response is rendered, with so many bytes.
func (s *renders) back(res *httpclient.Response, n int) {
	res.Keep(n - budget.PerRequest)
	res.CountWith(s.shared.Bodies)
}

// shown is a page as the browser has it.
type shown struct {
	*render.Document
	text   []byte
	gain   lessons.Gain
	cached int64 // bytes of what it needs that were requested for an earlier page, too
}

// render has the browser render a page.
func (s *renders) render(t *aio.Task, out *Outcome, page *Page) (*shown, error) {
	r, one := s.cfg.Render, &rendering{renders: s, from: out.Record.URL, depth: out.URL.Depth + 1}
	one.turns = make(chan struct{}, r.AtOnce)
	ask := &render.Page{
		URL: out.URL.URL.String(), Status: out.Record.Status, Body: page.Body, Fetch: one.fetch,
		Steps: r.Steps, Screenshot: r.Screenshot, PDF: r.PDF, Stores: Stores(s.cfg.Session, out.URL.URL),
	}
	one.cookies = NewPageCookies(s.cfg.HTTP.Cookies, out.URL.URL)
	ask.Header, ask.Cookies = one.cookies.Give(page.Header)
	one.rules = PageRules{Page: out.URL.URL, Block: r.Block, Seen: r.Assets || ask.IsSeen(), OwnPosts: r.OwnPosts}
	got, err := aio.Offload(t, func(ctx context.Context) (got shown, err error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(r.Drained, func() { cancel(ErrDrained) })()
		got.Document, err = r.Browser.Render(ctx, ask)
		switch {
		case err != nil && r.Drained.Err() != nil:
			return got, ErrDrained
		case err != nil:
			return got, err
		}
		got.text = got.Text()
		if r.Lessons != nil {
			got.gain = lessons.Compare(out.URL.URL, page.Text, got.text, got.Targets)
		}
		return got, nil
	})
	got.cached = one.cached.Load()
	return &got, err
}

// learn takes in what rendering a page has added, and reports whether the rendered document is the
// page. Without a gain it stays as it was received, so that a later visit, which may not render it,
// finds it unchanged.
func (s *renders) learn(out *Outcome, page *Page, doc *shown) bool {
	r := s.cfg.Render
	if r.Lessons == nil {
		return true
	}
	known := r.Lessons.Learn(page.shape, doc.gain, isClean(doc.Document))
	out.Lesson = &known
	return doc.gain.Much() || page.shape.Doubtful() && doc.gain.Any()
}

// isClean reports whether nothing has failed of a page that could be of use to it, so that what it
// lacks is no accident.
func isClean(doc *render.Document) bool {
	if doc.Cut != "" || len(doc.Errors) > 0 {
		return false
	}
	for _, x := range doc.Refused {
		byChoice := x.ByRule && (x.Reason == string(errNotNeeded) || strings.HasPrefix(x.Reason, blockedBy))
		if !byChoice && x.Type != render.TypePing {
			return false
		}
	}
	return true
}

// archive makes the record of a rendered document, of a page that was requested at a time.
func (s *renders) archive(out *Outcome, requested time.Time, html []byte) {
	if a := s.cfg.Archive; a != nil {
		out.Rendered = a.Rendered(out.URL.URL.String(), whole(requested), whole(s.clock.loop.Wall()), "text/html; charset=utf-8", html)
	}
}

// whole returns a time in microseconds, as archives have it.
func whole(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }

// pictures are those of a page, to be kept.
type pictures struct {
	requested, at time.Time // the page, and they
	screenshot    []byte
	pdf           []byte
}

func (p *pictures) any() bool { return len(p.screenshot)+len(p.pdf) > 0 }

// hold counts the records of pictures until they are in the archive.
func (s *renders) hold(out *Outcome) {
	if len(out.Pictures) > 0 {
		hold := s.shared.Outcomes.Open(out.URL.Prompt)
		for _, c := range out.Pictures {
			hold.Set(hold.Size() + len(c.Records))
		}
		out.Holds = append(out.Holds, &hold)
	}
}

// keepPictures keeps the pictures of a page as files, and returns their folders and their records
// for the archive. It runs off the loop.
func (s *renders) keepPictures(page *Page) (folders []string, captures []*capture.Capture, err error) {
	for _, p := range []struct {
		mime    string
		picture []byte
		name    *string
	}{
		{"image/png", page.pictures.screenshot, &page.Record.Rendered.Screenshot},
		{"application/pdf", page.pictures.pdf, &page.Record.Rendered.PDF},
	} {
		if len(p.picture) == 0 {
			continue
		}
		url := page.url.String()
		if *p.name, err = s.cfg.Render.KeepPicture(url, p.mime, p.picture); err != nil {
			return nil, nil, err
		}
		folders = append(folders, path.Dir(*p.name))
		if a := s.cfg.Archive; a != nil {
			captures = append(captures, a.Rendered(url, whole(page.pictures.requested), whole(page.pictures.at), p.mime, p.picture))
		}
	}
	return folders, captures, nil
}

// rendering is a page that is being rendered.
type rendering struct {
	*renders
	rules   PageRules
	cookies *PageCookies
	from    string // its URL, as the record has it
	depth   int
	turns   chan struct{} // of its requests: see Rendering.AtOnce
	cached  atomic.Int64  // bytes that were requested for an earlier page
}

// fetch is render.Page.Fetch: the response comes from the cache, or by an errand of the crawl.
func (s *rendering) fetch(ctx context.Context, q *render.Request) (*render.Response, error) {
	u, err := s.rules.Judge(q)
	if err != nil {
		return nil, err
	}
	if answer := Preflight(q); answer != nil {
		return answer, nil
	}
	sends := s.shared.Rendered.Open(false)
	sends.Set(len(q.Body))
	defer sends.Release()
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	a := s.askFor(u, q)
	if a.key == "" {
		res, err := s.errand(ctx, a)
		return a.answer(res), err
	}
	res, kept, err := s.load(ctx, a)
	if kept {
		hold := s.shared.Rendered.Open(false) // the cache may have read it from its file
		hold.Set(len(res.Body))
		a.held = &hold
		res.Header = s.cookies.withoutSet(res.Header)
		s.cached.Add(int64(len(res.Body)))
	}
	return a.answer(res), err
}

// ask is a request of a page, as the cache knows it.
type ask struct {
	*render.Request
	url      weburl.URL
	asset    bool
	stranger bool
	personal bool   // it is a stranger's, and carries a cookie that its site has set
	key      string // of its response; empty: that is for this request alone
	anyOne   string // of one that is for any origin
	refusal  string // of one to a stranger that pages of its site share; empty: they share none

	held *budget.Hold // of the response, until the browser has it; nil: it is in the cache
}

func (s *rendering) askFor(u weburl.URL, q *render.Request) *ask {
	a := &ask{Request: q, url: u, asset: s.cfg.Render.isAsset(q), stranger: s.cookies.Stranger(q, u)}
	a.personal = a.stranger && fieldOf(q, "Cookie") != ""
	name := cachedAs(u, a.stranger, s.cfg.Session.Reads())
	a.key, a.anyOne = cacheKey(name, q, a.asset), assetKey(name)
	if a.stranger && isBySite(q, s.rules.Page) {
		a.refusal = a.key + "\nfor " + weburl.Site(s.rules.Page.Hostname())
	}
	return a
}

// load returns a response: one that is kept, or that of an errand. Pages wait for each other's
// request of an asset alone: other responses may come late, and be for one page. Requests for an
// asset that name an origin, and those that name none, share what all may read. What a server
// refuses a stranger, by its Referer, it may grant another.
func (s *rendering) load(ctx context.Context, a *ask) (res httpcache.Response, kept bool, err error) {
	cache, crosses := s.cfg.Render.Cache, a.asset && a.key != a.anyOne
	if crosses {
		if res, ok := cache.Get(a.anyOne); ok && isForAll(&res) && a.accepts(&res) {
			return res, true, nil
		}
	}
	load := func() (httpcache.Response, time.Duration, error) {
		if res, ok := cache.Get(a.refusal); ok && a.accepts(&res) {
			return res, 0, nil
		}
		res, err := s.errand(ctx, a)
		if err != nil || a.personal {
			return res, 0, err
		}
		life := httpcache.Lifetime(&res, a.asset, time.Now())
		switch {
		case a.stranger && res.Status != http.StatusOK:
			if a.refusal != "" {
				cache.Keep(a.refusal, res, life)
			}
			return res, 0, nil
		case crosses && isForAll(&res):
			cache.Keep(a.anyOne, res, life)
		}
		return res, life, nil
	}
	if a.asset && !a.personal {
		if res, kept, err = cache.Do(ctx, a.key, load); !kept || a.accepts(&res) {
			return res, kept, err
		}
	} else if res, kept = cache.Get(a.key); kept && a.accepts(&res) {
		return res, true, nil
	}
	res, life, err := load()
	if err == nil {
		cache.Keep(a.key, res, life)
	}
	return res, false, err
}

// accepts reports whether a response that is kept has a form that the request accepts: the key of
// an asset does not say it, as almost all requests for one accept the same.
func (a *ask) accepts(r *httpcache.Response) bool {
	x, _ := r.Exchange.(*Exchange)
	return x == nil || !httpcache.Varies(r, "Accept") || x.accept == fieldOf(a.Request, "Accept")
}

// isForAll reports whether a response to a request that names an origin, or to one that names none,
// is the same for any.
func isForAll(r *httpcache.Response) bool {
	return !httpcache.Varies(r, "Origin") && r.Header.Get("Access-Control-Allow-Origin") == "*"
}

// cacheKey returns the key of a request in the cache, by the name of its URL: with the origin that
// it is for, which servers name in what they allow, and, unless it is for an asset, with what a
// script may ask for, on which responses may vary. Empty: the response is for this request alone.
func cacheKey(name string, q *render.Request, asset bool) string {
	if q.Method != http.MethodGet {
		return ""
	}
	var origin, accept, language string
	for _, f := range q.Header {
		switch {
		case strings.EqualFold(f.Name, "Authorization"), strings.EqualFold(f.Name, "Range"):
			return ""
		case strings.EqualFold(f.Name, "Origin"):
			origin = f.Value
		case strings.EqualFold(f.Name, "Accept"):
			accept = f.Value
		case strings.EqualFold(f.Name, "Accept-Language"):
			language = f.Value
		}
	}
	switch {
	case asset && origin == "":
		return assetKey(name)
	case asset:
		return assetKey(name) + "\n" + origin
	}
	return strings.Join([]string{name, origin, accept, language}, "\n")
}

// errand has the crawl make a request. Its response counts among the bodies.
func (s *rendering) errand(ctx context.Context, a *ask) (httpcache.Response, error) {
	e := &Errand{request: a.Request, cookies: s.cookies, to: make(chan answer, 1)}
	errand := frontier.URL{URL: a.url, From: s.from, Depth: s.depth, Errand: &frontier.Errand{
		Foreign: !weburl.SameSite(a.url, s.rules.Page),
		For:     e,
	}}
	if err := s.reports.outbox.Post(func() { s.reports.report.Errand(errand) }); err != nil {
		return httpcache.Response{}, err
	}
	select {
	case x := <-e.to:
		a.held = x.held
		return x.res, x.err
	case <-ctx.Done():
		select {
		case e.to <- answer{}: // nobody waits any more
		default:
			if x := <-e.to; x.held != nil {
				x.held.Release()
			}
		}
		_ = s.reports.outbox.Post(func() { s.reports.report.Dropped(errand) }) // it may be over
		return httpcache.Response{}, context.Cause(ctx)
	}
}

// answer returns a response as the browser gets it.
func (a *ask) answer(r httpcache.Response) *render.Response {
	res := &render.Response{Status: r.Status, Header: ForBrowser(r.Header), Body: r.Body}
	if a.held != nil {
		res.Done = a.held.Release
	}
	return res
}
