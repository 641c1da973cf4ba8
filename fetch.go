package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/internal/sniff"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// FetchOptions configure [Fetch], [FetchRobots] and [FindSitemaps]. The zero value of each is its
// default.
type FetchOptions struct {
	HTTP HTTP
	Head bool  // send HEAD in place of GET
	Post *Post // send it in place of GET; its URL does not count

	// MaxRedirects bounds the redirects that are followed; 0: 10, negative: none. One more is an
	// error of KindRedirects.
	MaxRedirects int
	NoRedirects  bool // a redirect is a response like others

	Render Render // renders the page: see Page.Rendered

	// OnExchange takes each request, with what came of it, before the next one is made: redirects,
	// and the URL that failed. Its error ends the call, which returns it.
	OnExchange func(*Page) error
	// OnWarning takes the *FetchError of a URL that was given without a scheme and does not answer
	// by https: it is requested by http next.
	OnWarning func(error)
}

// Fetch requests a URL, as [ReadSeed] reads it, and follows its redirects. The page is the response
// at their end, whatever its status. robots.txt is not read, and nothing is tried again. The record
// has what the exchange says; the content is not read, so there are no title, links and items. The
// page stays valid.
//
// The host of the URL may have any address until it has answered from a public one. Where
// redirects lead, and who gets HTTP.Auth and a Cookie of HTTP.Header, is as in a crawl.
//
// A URL that failed is returned as its record and a *FetchError. Other errors: those of ReadSeed,
// an *OptionError, that of ctx.
func Fetch(ctx context.Context, url string, o FetchOptions) (*Page, error) {
	f, err := newFetcher(url, o)
	if err != nil {
		return nil, err
	}
	return f.get(ctx, f.given.URL)
}

// FetchRobots is Fetch for the robots.txt of the site of a URL. [robots.For] says what its status
// means. It follows at most robots.MaxRedirects redirects unless MaxRedirects says otherwise.
func FetchRobots(ctx context.Context, url string, o FetchOptions) (*Page, error) {
	if o.MaxRedirects == 0 {
		o.MaxRedirects = robots.MaxRedirects
	}
	f, err := newFetcher(url, o)
	if err != nil {
		return nil, err
	}
	p, _, err := f.robots(ctx)
	return p, err
}

// FindSitemaps returns the sitemaps that the robots.txt of the site of a URL names, in its order.
// Where it names none, named is false, and /sitemap.xml is returned, which may not exist. An error
// may come with the sitemaps that were found: beyond robots.MaxSitemaps none is read.
func FindSitemaps(ctx context.Context, url string, o FetchOptions) (sitemaps []weburl.URL, named bool, err error) {
	f, err := newFetcher(url, o)
	if err != nil {
		return nil, false, err
	}
	p, at, err := f.robots(ctx)
	if err != nil {
		return nil, false, err
	}
	if robots.For(p.Status) == robots.Read {
		file := robots.Parse(p.Body)
		for _, s := range file.Sitemaps() {
			if to, err := at.Resolve(weburl.EscapeInvalid(s)); err == nil && to.IsHTTP() {
				sitemaps = append(sitemaps, to)
			}
		}
		if file.SitemapsCut() {
			err = fmt.Errorf("%s: more than %d sitemaps, the others are not listed", at, robots.MaxSitemaps)
		}
	}
	if len(sitemaps) > 0 || err != nil {
		return sitemaps, true, err
	}
	usual, err := at.Resolve("/sitemap.xml")
	return []weburl.URL{usual}, false, err
}

// fetcher makes the requests of one call. Owner: the task of its loop.
type fetcher struct {
	FetchOptions
	given  Seed // the URL of the call
	byHTTP bool // its scheme was a wrong guess
	chain  chain
}

func newFetcher(url string, o FetchOptions) (*fetcher, error) {
	given, err := ReadSeed(url)
	if err != nil {
		return nil, err
	}
	if given.Credential != nil {
		o.HTTP.Auth = append(slices.Clip(o.HTTP.Auth), *given.Credential)
	}
	c := config{Options: Options{HTTP: o.HTTP}}
	c.asked = c.Options
	if err := cmp.Or(c.checkTimes(), c.checkRequest(), o.Render.check()); err != nil {
		return nil, err
	}
	o.HTTP, o.MaxRedirects = c.HTTP, orDefault(o.MaxRedirects, 10)
	return &fetcher{FetchOptions: o, given: given}, nil
}

// client returns the options of an HTTP client.
func (h *HTTP) client() httpclient.Options {
	return httpclient.Options{
		UserAgent: h.UserAgent, Header: h.Header, Cookies: h.Cookies, Auth: h.Auth,
		Proxy: h.Proxy, Insecure: h.Insecure, RootCAs: h.RootCAs,
		HTTP1: h.HTTP1, HTTP2: h.HTTP2, Resolve: h.Resolve,
		Timeout: h.Timeout, DialTimeout: h.DialTimeout, TLSTimeout: h.TLSTimeout,
		FirstByteTimeout: h.FirstByteTimeout, IdleTimeout: h.IdleTimeout,
		MinRate: h.MinRate, MaxBody: h.MaxBody,
	}
}

// robots requests the robots.txt of the given URL's site. At is its URL, by the scheme that was
// answered.
func (f *fetcher) robots(ctx context.Context) (p *Page, at weburl.URL, err error) {
	if at, err = f.given.URL.Resolve("/robots.txt"); err != nil {
		return nil, at, err
	}
	p, err = f.get(ctx, at)
	return p, f.settled(at), err
}

// get requests u, of the given URL's site.
func (f *fetcher) get(ctx context.Context, u weburl.URL) (p *Page, err error) {
	err = f.withClient(ctx, u, func(t *aio.Task, client *httpclient.Client) error {
		if p, err = f.follow(ctx, t, client, u); err != nil {
			return err
		}
		if reason := f.Render.reason(p); reason != "" {
			err = f.render(t, client, p, reason)
		}
		return err
	})
	return p, err
}

// withClient has fn make requests, of which the first is for a URL. A page that is rendered makes
// hundreds at once: of what these bring, there is no more in memory than it may have in all.
func (f *fetcher) withClient(ctx context.Context, first weburl.URL, fn func(*aio.Task, *httpclient.Client) error) error {
	f.chain = chain{first: first, distrust: f.HTTP.Distrust, guard: guard.Guard{AllowAll: f.HTTP.AllowPrivate}}
	options := f.HTTP.client()
	options.Trusted, options.Meter = f.chain.trusted, budget.New(int64(render.DefaultLimits.Bytes))
	err := aio.Run(ctx, func(t *aio.Task) error {
		options.Resolver = dns.New(t.Loop(), dns.Options{Servers: f.HTTP.DNS})
		client := httpclient.NewClient(t.Loop(), options)
		defer client.Close()
		return fn(t, client)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// follow requests u and what it redirects to.
func (f *fetcher) follow(ctx context.Context, t *aio.Task, client *httpclient.Client, u weburl.URL) (*Page, error) {
	ask := f.request()
	for left := f.MaxRedirects; ; {
		p, next := f.exchange(t, client, ask, u)
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		plain, again := f.guess(u).Instead(httpclient.Kind(p.ErrorKind))
		switch {
		case again:
			f.byHTTP = true
			p.Error = fetch.TriedInstead(p.Error, plain)
			if f.OnWarning != nil {
				f.OnWarning(&FetchError{p.Record})
			}
		case !next.IsZero() && left == 0:
			p.ErrorKind, p.Error = KindRedirects, fmt.Sprintf("a redirect beyond the limit of %d", f.MaxRedirects)
		}
		if f.OnExchange != nil {
			if err := f.OnExchange(p); err != nil {
				return p, err
			}
		}
		switch {
		case again:
			u = plain
			continue
		case p.ErrorKind != "":
			return p, &FetchError{p.Record}
		case next.IsZero():
			return p, nil
		}
		if ask.Method == http.MethodPost && p.Status != http.StatusTemporaryRedirect && p.Status != http.StatusPermanentRedirect {
			// https://fetch.spec.whatwg.org/#http-redirect-fetch
			ask = httpclient.Request{Method: http.MethodGet}
		}
		f.chain.redirect(u, next)
		u, left = next, left-1
	}
}

// request returns method, body and fields of the first request.
func (f *fetcher) request() httpclient.Request {
	switch {
	case f.Post != nil:
		return httpclient.Request{
			Method: http.MethodPost, Body: f.Post.Body, Header: httpclient.Header{{Name: "Content-Type", Value: f.Post.ContentType()}},
		}
	case f.Head:
		return httpclient.Request{Method: http.MethodHead}
	}
	return httpclient.Request{Method: http.MethodGet}
}

// exchange requests u. Next is the target of a redirect to follow; zero: there is none.
func (f *fetcher) exchange(t *aio.Task, client *httpclient.Client, ask httpclient.Request, u weburl.URL) (p *Page, next weburl.URL) {
	r := &Record{URL: u.String(), Tries: 1, Started: t.Loop().Wall().UTC().Truncate(time.Millisecond)}
	if ask.Method != http.MethodGet {
		r.Method = ask.Method
	}
	ask.Scheme, ask.Host, ask.Target, ask.Allow = u.Scheme(), u.Host(), u.RequestTarget(), f.chain.allow(u)
	if u == f.given.URL && f.given.Written != "" {
		ask.Target = f.given.Written
	}
	if f.guess(u).Guessed {
		ask.ConnectTimeout = GuessPatience
	}
	p = &Page{Record: r}
	res, err := client.Do(t, ask)
	var e *httpclient.Error
	if errors.As(err, &e) {
		fetch.Failed(r, e)
		p.Addr = e.Addr
	}
	if res == nil {
		return p, next
	}
	defer res.Close()
	f.chain.answered(u, res.Addr, res.Private)
	fetch.Received(r, res)
	r.SniffedType = sniff.Type(r.ContentType, res.Header.Get("X-Content-Type-Options"), res.Body)
	p.Header, p.Body, p.Addr = res.Header, slices.Clone(res.Body), res.Addr
	location := res.Header.Get("Location")
	if e != nil || !record.IsRedirect(res.Status) || location == "" {
		return p, next
	}
	to, err := u.Resolve(weburl.EscapeInvalid(location))
	if err == nil {
		r.Redirect = to.String()
		err = leads(u, to)
	}
	switch {
	case f.NoRedirects:
		return p, next
	case err != nil:
		r.ErrorKind, r.Error = KindLocation, err.Error()
		return p, next
	}
	return p, to
}

// leads returns why a redirect is not to be followed.
func leads(from, to weburl.URL) error {
	switch {
	case !to.IsHTTP():
		return fmt.Errorf("scheme %.20q, expected http or https", to.Scheme())
	case guard.BlocksPort(to.EffectivePort()) && to.Host() != from.Host():
		return fmt.Errorf("port %d, which is blocked, as in browsers", to.EffectivePort())
	}
	return nil
}

// guess returns u, and whether its scheme is a guess.
func (f *fetcher) guess(u weburl.URL) Seed {
	return Seed{URL: u, Guessed: f.given.Guessed && !f.byHTTP && u.Origin() == f.given.URL.Origin()}
}

// settled returns u by the scheme by which the given host has answered.
func (f *fetcher) settled(u weburl.URL) weburl.URL {
	guess := Seed{URL: u, Guessed: f.byHTTP && u.Origin() == f.given.URL.Origin()}
	if plain, ok := guess.ByHTTP(); ok {
		return plain
	}
	return u
}
