package weft

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Rendering says which pages a browser renders.
type Rendering string

// Renderings.
const (
	RenderNever  Rendering = "never"  // none: the default
	RenderAuto   Rendering = "auto"   // those that look empty until their scripts run
	RenderAlways Rendering = "always" // each
)

// Render are the options of rendering: see Rendered.
type Render struct {
	Pages   Rendering // empty: RenderNever
	Browser string    // name or path of Chromium; empty: the first that is found
}

// Rendered is a page as a browser has it when its scripts have done their work.
//
// The browser gets the response that was received, and asks nobody for anything: each request of
// the page is made by Weft's client, within the options and the address guard of the call, and
// robots.txt is read as little as for the page. Images, media and fonts are not requested, nor is
// anything by another method than GET.
type Rendered struct {
	// Reason is the evidence for rendering: RenderAlways, or that of Record.NeedsScripts.
	Reason string
	URL    string // as scripts may have changed it
	// HTML is the document, in UTF-8. Shadow roots are <template shadowrootmode>; the document of a
	// frame follows at the end as the srcdoc of an <iframe> of its own.
	HTML     []byte
	Targets  []string         // URLs that scripts have led to: navigations, windows, the history
	Errors   []string         // of scripts, at most 50
	Requests int              // with the refused ones
	Refused  []RefusedRequest // at most 1,000
	Took     time.Duration
	Cut      string // the limit that ended the page before it was quiet: time, document; or empty
}

// RefusedRequest is a request of a page that was not answered, and why.
type RefusedRequest struct{ URL, Type, Reason string }

// ErrNoBrowser is returned for a page to render where there is no browser.
var ErrNoBrowser = render.ErrNoBrowser

// FindBrowser returns the path of the browser of this name or path, or of the first one there is.
// Error: ErrNoBrowser, or why the named one cannot be run.
func FindBrowser(name string) (string, error) { return render.Find(name) }

// reason returns why a page is to be rendered; empty: it is not.
func (o *Render) reason(p *Page) string {
	if p.Status < 200 || p.Status > 299 || !record.IsHTML(p.Type()) {
		return ""
	}
	switch o.Pages {
	case RenderAlways:
		return string(RenderAlways)
	case RenderAuto:
		text, _ := charset.UTF8(p.Type(), p.Body)
		return string(appshell.Judge(text))
	}
	return ""
}

// rendering is the rendering of one page. Its requests come to the loop that fetched the page.
type rendering struct {
	*fetcher
	client *httpclient.Client
	door   *aio.Handle
	asked  aio.Queue[func(*aio.Task) error]
}

// render renders a page, and requests what it needs on t's loop.
func (f *fetcher) render(t *aio.Task, client *httpclient.Client, p *Page, reason string) error {
	r := &rendering{fetcher: f, client: client, door: t.Loop().Handle()}
	defer r.door.Close()
	var doc *render.Document
	err := t.Group(func(g *aio.Group) error {
		g.Go("requests", func(t *aio.Task) error { return r.serve(t, g) })
		g.Go("render", func(t *aio.Task) (err error) {
			defer r.asked.Close()
			doc, err = aio.Offload(t, func(ctx context.Context) (*render.Document, error) {
				browser := render.New(render.Options{Program: f.Render.Browser, Tabs: 1, Sandbox: os.Geteuid() != 0, UserAgent: f.HTTP.UserAgent})
				defer browser.Close()
				return browser.Render(ctx, &render.Page{
					URL: p.URL, Status: p.Status, Header: fieldsOf(p.Header), Body: p.Body, Fetch: r.fetch,
				})
			})
			return err
		})
		return nil
	})
	if err != nil {
		return err
	}
	p.Rendered = renderedOf(doc, reason)
	return nil
}

// serve makes the requests of the page, each in a task of its own.
func (r *rendering) serve(t *aio.Task, g *aio.Group) error {
	for {
		request, err := r.asked.Get(t)
		if errors.Is(err, aio.ErrQueueClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		g.Go("request", request)
	}
}

// fetch is render.Page.Fetch: it runs on goroutines of the browser.
func (r *rendering) fetch(ctx context.Context, q *render.Request) (*render.Response, error) {
	u, err := weburl.Parse(q.URL)
	switch {
	case err != nil || !u.IsHTTP():
		return nil, errors.New("no URL of http or https")
	case q.Method != http.MethodGet:
		return nil, errors.New("method " + q.Method)
	case q.Type == render.TypeImage || q.Type == render.TypeMedia || q.Type == render.TypeFont:
		return nil, errors.New("not needed")
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

// ours are fields of a browser's request that Weft's client sends as it does, or nobody.
var ours = map[string]bool{
	"host": true, "connection": true, "content-length": true, "accept-encoding": true, "user-agent": true, "te": true,
	"upgrade-insecure-requests": true, "cache-control": true, "pragma": true, "purpose": true,
}

// exchangeFor makes a request of the page. A redirect is a response: the browser asks for its
// target.
func (r *rendering) exchangeFor(t *aio.Task, q *render.Request, u weburl.URL) (*render.Response, error) {
	ask := httpclient.Request{Method: q.Method, Scheme: u.Scheme(), Host: u.Host(), Target: u.RequestTarget(), Allow: r.chain.allow(u)}
	for _, f := range q.Header {
		name := strings.ToLower(f.Name)
		if ours[name] || strings.HasPrefix(name, "sec-") || name == "cookie" && r.HTTP.Cookies != nil {
			continue
		}
		ask.Header = append(ask.Header, httpclient.Field{Name: f.Name, Value: f.Value})
	}
	res, err := r.client.Do(t, ask)
	if res != nil {
		defer res.Close()
	}
	if err != nil {
		return nil, err
	}
	return &render.Response{Status: res.Status, Header: fieldsOf(res.Header), Body: append([]byte(nil), res.Body...)}, nil
}

func fieldsOf(h httpclient.Header) (all []render.Field) {
	for _, f := range h {
		all = append(all, render.Field{Name: f.Name, Value: f.Value})
	}
	return all
}

// renderedOf makes one document of a page and its frames.
func renderedOf(d *render.Document, reason string) *Rendered {
	text := []byte(d.HTML)
	for _, f := range d.Frames {
		text = fmt.Appendf(text, "\n<iframe srcdoc=\"%s\"></iframe>", html.EscapeString(`<base href="`+html.EscapeString(f.URL)+`">`+f.HTML))
	}
	out := &Rendered{
		Reason: reason, URL: d.URL, HTML: text, Targets: d.Targets, Errors: d.Errors, Requests: d.Requests, Took: d.Took, Cut: d.Cut,
	}
	for _, x := range d.Refused {
		out.Refused = append(out.Refused, RefusedRequest{x.URL, string(x.Type), x.Reason})
	}
	return out
}
