package scrape

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/internal/unseen"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// Page fetches a page. Its error is an *Error. The response of ctx holds it: see [share.Hold].
func (s *Scraper) Page(ctx context.Context, a Ask) (*Result, error) {
	ctx, cancel := s.within(ctx, a.Timeout)
	defer cancel()
	r, err := s.page(ctx, a)
	if err == nil {
		err = share.Hold(ctx, 2*r.size()) // with the text that becomes of it
	}
	if err != nil {
		return nil, problemOf(short(a.URL), err)
	}
	return r, nil
}

func (s *Scraper) page(ctx context.Context, a Ask) (*Result, error) {
	given, wrong := s.target(a.URL)
	if wrong != nil {
		return nil, wrong
	}
	if err := s.check(&a); err != nil {
		return nil, err
	}
	extractor, err := extract.New(a.Rules, a.wants(Structured))
	if err != nil {
		return nil, &Error{Kind: KindMistake, URL: given.URL.String(), Detail: err.Error()}
	}
	key := a.key(given)
	if r, ok := s.kept.find(key, a.MaxAge); ok {
		return r, nil
	}
	o := weft.FetchOptions{HTTP: s.HTTP}
	o.HTTP.MaxBody, o.HTTP.Cookies = a.MaxBody, newJar()
	if err := Give(&o.HTTP, a.Header, given); err != nil {
		return nil, err
	}
	render := a.Render == RenderAlways || a.wants(Screenshot)
	r, err := s.once(ctx, &a, given, o, extractor, render, key)
	if err != nil || r.NeedsScripts == "" || !s.Render || a.Render == RenderNo {
		return r, err
	}
	rendered, err := s.once(ctx, &a, given, o, extractor, true, "")
	if err != nil {
		why := problemOf(r.URL, err)
		if why.Kind == KindCanceled {
			return nil, why
		}
		r.lacks(KindNoRendering, why.Detail)
		return r, nil
	}
	s.kept.keep(key, rendered, rendered.size())
	return rendered, nil
}

// once fetches a page, and renders it or not. What others have kept meanwhile under the key is as
// good.
func (s *Scraper) once(ctx context.Context, a *Ask, given weft.Seed, o weft.FetchOptions, x *extract.Extractor, render bool, key string) (r *Result, err error) {
	if render {
		leave, err := s.browser.Enter(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
		o.Render = weft.Render{Rendering: weft.RenderAlways, Browser: s.Browser, Wait: a.Wait}
		if a.wants(Screenshot) {
			o.Render.Screenshot = weft.ScreenshotViewport
			if a.FullPage {
				o.Render.Screenshot = weft.ScreenshotFull
			}
		}
	}
	var redirects []Redirect
	o.OnExchange = func(p *weft.Page) error {
		if p.Redirect != "" {
			redirects = append(redirects, Redirect{p.URL, p.Status, p.Redirect})
		}
		return nil
	}
	asked := time.Now()
	var began time.Time
	known := false
	wrong := s.fetch(ctx, given.URL, func() (err error) {
		began = time.Now()
		if r, known = s.kept.find(key, a.MaxAge); known {
			return nil
		}
		p, err := weft.Fetch(ctx, a.URL, o)
		if err != nil {
			return err
		}
		// The turn lasts until the page is read: no body waits beside those that are fetched.
		if err := s.reading.enter(ctx); err != nil {
			return err
		}
		defer s.reading.leave()
		r = &Result{
			URL: p.URL, Redirects: redirects, Status: p.Status, ContentType: p.Type(), Header: p.Header, Bytes: len(p.Body),
			At: began, Waited: began.Sub(asked),
		}
		u, err := weburl.Parse(p.URL)
		if err == nil {
			s.read(a, r, p, u, x)
		}
		return err
	})
	if wrong != nil {
		return nil, wrong
	}
	if known {
		return r, nil
	}
	r.Took = time.Since(began)
	if r.NeedsScripts == "" || !s.Render || a.Render == RenderNo {
		s.kept.keep(key, r, r.size())
	}
	return r, nil
}

// read makes the texts of a page.
func (s *Scraper) read(a *Ask, r *Result, p *weft.Page, u weburl.URL, x *extract.Extractor) {
	body, contentType := p.Body, r.ContentType
	isText := record.IsHTML(contentType) || IsText(contentType)
	if d := p.Rendered; d != nil {
		body, contentType = d.HTML, "text/html; charset=utf-8"
		r.Rendered, r.Screenshot = d.Reason, d.Screenshot
		if d.Missing != "" {
			r.lacks(KindPart, "screenshot: "+d.Missing)
		}
		if d.Cut != "" {
			r.lacks(KindPart, "rendering ended early: "+d.Cut)
		}
	}
	text, encoding := body, ""
	if isText {
		text, encoding = charset.UTF8(contentType, body)
	}
	if a.wants(Raw) {
		r.Raw = text
	}
	if !record.IsHTML(contentType) {
		s.plain(a, r, text, isText)
	} else {
		texts(a, r, u, contentType, body)
		if p.Rendered != nil {
			r.NeedsScripts = ""
		} else if r.NeedsScripts != "" && (!s.Render || a.Render == RenderNo) {
			r.lacks(KindNeedScripts, "the page looks empty until its scripts run ("+r.NeedsScripts+"), and it was not rendered")
		}
	}
	if a.wants(Items, Structured) && record.IsHTML(contentType) {
		r.Items = x.Page(u, text)
	}
	if links.Reads(contentType) {
		shown := text
		if !a.Unseen && a.wants(Links) && record.IsHTML(contentType) {
			shown = seen(u, text)
		}
		findLinks(a, r, p, links.Document{Base: u, ContentType: contentType, Body: shown, Charset: encoding})
	}
}

// texts makes the texts of an HTML page.
func texts(a *Ask, r *Result, u weburl.URL, contentType string, body []byte) {
	from := read.Source{URL: u, ContentType: contentType, Body: body}
	o := read.Options{Whole: a.Whole, Seen: !a.Unseen, HTML: a.wants(HTML)}
	if !a.wants(Text) || a.wants(Markdown, HTML) {
		r.Page = read.One(from, o)
	}
	if a.wants(Text) {
		o.Text = true
		p := read.One(from, o)
		r.Text = p.Text
		if r.Page.URL == "" {
			r.Page = p
		}
	}
	if a.wants(Markdown) {
		r.Markdown = r.Page.Markdown
	}
	r.HTML, r.NeedsScripts = r.Page.HTML, r.Page.NeedsScripts
	if r.Page.Err != nil {
		r.lacks(KindPart, r.Page.Err.Error())
	}
	r.Page.Markdown, r.Page.Text, r.Page.HTML = "", "", ""
}

// plain takes a text that is no page as it is.
func (s *Scraper) plain(a *Ask, r *Result, text []byte, isText bool) {
	if !a.wants(Markdown, Text, HTML) {
		return
	}
	if !isText {
		kind := "no content type"
		if r.ContentType != "" {
			kind = "content type " + short(r.ContentType)
		}
		r.lacks(KindNoText, kind+", expected a page or a text")
		return
	}
	t := strings.ToValidUTF8(string(text), "\uFFFD")
	if !a.Unseen {
		t, r.Page.Unseen.Characters = unseen.Characters(t)
	}
	if a.wants(Text) {
		r.Text = t
	}
	if a.wants(Markdown) {
		r.Markdown = t
	}
	if a.wants(HTML) {
		r.HTML = "<pre>" + html.EscapeString(t) + "</pre>"
	}
}

// IsText reports whether a body of a type is for readers of plain texts.
func IsText(contentType string) bool {
	t := strings.ToLower(record.MediaType(contentType))
	if strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") {
		return true
	}
	switch t {
	case "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/x-ndjson", "application/jsonl",
		"application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/rtf", "application/x-sh":
		return true
	}
	return false
}

// seen returns a page without what people do not see.
func seen(u weburl.URL, text []byte) []byte {
	root, _ := content.ParsePage(u, text) // of a page that is too long, its beginning counts
	unseen.Remove(root)
	var b strings.Builder
	if html.Render(&b, root) != nil {
		return text
	}
	return []byte(b.String())
}

// findLinks finds the links of a page, each URL once, and what it says of itself in them.
func findLinks(a *Ask, r *Result, p *weft.Page, d links.Document) {
	known := make(map[string]int)
	add := func(l links.Link) bool {
		switch l.Kind {
		case links.KindHint, links.KindPing, links.KindText, links.KindData:
			return true
		}
		to := l.URL.String()
		text, _ := unseen.Characters(l.Text)
		if at, ok := known[to]; ok {
			r.Links[at].Text = cmp.Or(r.Links[at].Text, text)
			return true
		}
		if len(r.Links) == mostLinks {
			r.lacks(KindPart, "links beyond the first 10,000")
			return false
		}
		known[to] = len(r.Links)
		r.Links = append(r.Links, Link{URL: to, Text: text, Rel: l.Rel, Kind: l.Kind.String(), NoFollow: l.NoFollow})
		return true
	}
	if !a.wants(Links) {
		add = func(links.Link) bool { return true }
	} else {
		links.Header(d.Base, p.Header.Values("Link"), add)
	}
	about := links.NewExtractor(links.Options{}).Extract(d, add)
	if a.wants(Links) && p.Rendered != nil {
		for _, target := range p.Rendered.Targets {
			if u, err := d.Base.Resolve(target); err == nil && u.IsHTTP() {
				add(links.Link{URL: u, Kind: links.KindPage})
			}
		}
	}
	if !about.Canonical.IsZero() {
		r.Canonical = about.Canonical.String()
	}
	about.Robots.Add(links.RobotsTag(p.Header.Values("X-Robots-Tag"), ""))
	r.Robots = about.Robots.All()
}
