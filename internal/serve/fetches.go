package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/scrape"
)

// fetches are the resources that request pages at once.
type fetches struct {
	scraper *scrape.Scraper

	mu      sync.Mutex
	running map[string]int // requests by the name of their token
}

func newFetches(s *scrape.Scraper) *fetches {
	return &fetches{scraper: s, running: make(map[string]int)}
}

func (f *fetches) register(rs routes) {
	add(rs, route{"scrape", http.MethodPost, "/v1/scrape", "Fetch a page, and convert it", Fetch, 0}, f.scrape)
	add(rs, route{"map", http.MethodPost, "/v1/map", "List the URLs of a site without crawling it", Fetch, 0}, f.mapped)
	add(rs, route{"extract", http.MethodPost, "/v1/extract", "Fetch a page, and extract fields from it", Fetch, 0}, f.extract)
}

// enter counts a request, and refuses one beyond the limit of its token.
func (f *fetches) enter(ctx context.Context) (leave func(), err error) {
	by := who(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if most := by.Limits.Fetches; most > 0 && f.running[by.Name] >= most {
		return nil, huma.Error429TooManyRequests(fmt.Sprintf("the token's limit of %d pages at once", most))
	}
	f.running[by.Name]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.running[by.Name]--; f.running[by.Name] == 0 {
			delete(f.running, by.Name)
		}
	}, nil
}

// Page fetches a page for the holder of a token.
func (f *fetches) Page(ctx context.Context, a scrape.Ask) (*scrape.Result, error) {
	leave, err := f.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return f.scraper.Page(ctx, a)
}

// Map lists the URLs of a site for the holder of a token.
func (f *fetches) Map(ctx context.Context, a scrape.MapAsk) (*scrape.Map, error) {
	leave, err := f.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return f.scraper.Map(ctx, a)
}

// Target is a page that a request asks for.
type Target struct {
	URL       string            `json:"url" minLength:"1" maxLength:"16384" example:"https://example.org/"`
	Render    scrape.Rendering  `json:"render,omitempty" enum:"auto,always,no" doc:"run the scripts of the page in a browser; auto: if the page looks empty without them"`
	Wait      string            `json:"wait,omitempty" maxLength:"1024" doc:"when rendering: wait for an element, given by a CSS selector, or for a time such as 2s"`
	Headers   map[string]string `json:"headers,omitempty" doc:"header fields to send; cookies and credentials go only to the origin of the URL"`
	MaxBody   int               `json:"max_body,omitempty" minimum:"0" doc:"the largest body to accept, in bytes; 0: the limit of the operator"`
	TimeoutMS int               `json:"timeout_ms,omitempty" minimum:"0" maximum:"600000" doc:"the time limit; 0, and more than the operator allows: the limit of the operator"`
	MaxAgeMS  int               `json:"max_age_ms,omitempty" minimum:"0" maximum:"86400000" doc:"accept an earlier result of the same request, up to this age"`
}

func (t Target) ask() scrape.Ask {
	a := scrape.Ask{
		URL: t.URL, Render: t.Render, Wait: t.Wait, MaxBody: t.MaxBody,
		Timeout: time.Duration(t.TimeoutMS) * time.Millisecond, MaxAge: time.Duration(t.MaxAgeMS) * time.Millisecond,
	}
	for name, value := range t.Headers {
		a.Header = append(a.Header, httpclient.Field{Name: name, Value: value})
	}
	return a
}

// PageAsk is a page in formats.
type PageAsk struct {
	Target
	Formats  []scrape.Format `json:"formats,omitempty" maxItems:"16" doc:"markdown, text, html, raw, links, items, structured, screenshot; default: markdown"`
	Whole    bool            `json:"whole,omitempty" doc:"convert the whole page, not only its main content"`
	Unseen   bool            `json:"unseen,omitempty" doc:"keep text that people cannot see; it may contain instructions for agents"`
	FullPage bool            `json:"full_page,omitempty" doc:"capture the page from top to bottom"`
	Rules    []extract.Rule  `json:"rules,omitempty" doc:"the rules for items"`
}

// Issue is the reason for which a part of a page is missing, or a part of a site is not known.
type Issue struct {
	Kind   scrape.Kind `json:"kind"`
	URL    string      `json:"url"`
	Cause  string      `json:"cause,omitempty" doc:"the error kind, as weft kinds lists them"`
	Detail string      `json:"detail"`
}

func issues(all []*scrape.Error) (out []Issue) {
	for _, e := range all {
		out = append(out, Issue{e.Kind, e.URL, e.Cause, e.Detail})
	}
	return out
}

// Redirect is a response that leads on.
type Redirect struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	To     string `json:"to"`
}

// Link is a URL that a page mentions.
type Link struct {
	URL      string `json:"url"`
	Text     string `json:"text,omitempty"`
	Rel      string `json:"rel,omitempty"`
	Kind     string `json:"kind"`
	NoFollow bool   `json:"nofollow,omitempty"`
}

// Scraped is a page that was fetched.
type Scraped struct {
	URL          string     `json:"url" doc:"the URL after all redirects"`
	Redirects    []Redirect `json:"redirects,omitempty"`
	Status       int        `json:"status" doc:"the HTTP status; an error page is a page, too"`
	ContentType  string     `json:"content_type,omitempty"`
	Bytes        int        `json:"bytes"`
	Title        string     `json:"title,omitempty"`
	Author       string     `json:"author,omitempty"`
	Description  string     `json:"description,omitempty"`
	Language     string     `json:"language,omitempty"`
	Date         *time.Time `json:"date,omitempty"`
	Canonical    string     `json:"canonical,omitempty"`
	Robots       []string   `json:"robots,omitempty"`
	Markdown     string     `json:"markdown,omitempty"`
	Text         string     `json:"text,omitempty"`
	HTML         string     `json:"html,omitempty"`
	Raw          string     `json:"raw,omitempty" doc:"the body, if it is text"`
	RawBytes     []byte     `json:"raw_bytes,omitempty" doc:"the body, if it is not text"`
	Links        []Link     `json:"links,omitempty"`
	Items        []any      `json:"items,omitempty" doc:"the extracted fields, as in items.jsonl"`
	Screenshot   []byte     `json:"screenshot,omitempty" doc:"PNG"`
	Rendered     string     `json:"rendered,omitempty" doc:"why the page was rendered"`
	NeedsScripts string     `json:"needs_scripts,omitempty" doc:"the sign that the page is empty until its scripts run"`
	Problems     []Issue    `json:"problems,omitempty" doc:"what is missing"`
	At           time.Time  `json:"at" doc:"the time of the request"`
	TookMS       float64    `json:"took_ms"`
}

func scraped(r *scrape.Result) *Scraped {
	out := &Scraped{
		URL: r.URL, Status: r.Status, ContentType: r.ContentType, Bytes: r.Bytes, Title: r.Page.Title, Author: r.Page.Author,
		Description: r.Page.Description, Language: r.Page.Language, Date: r.Page.Date, Canonical: r.Canonical, Robots: r.Robots,
		Markdown: r.Markdown, Text: r.Text, HTML: r.HTML, Screenshot: r.Screenshot, Rendered: r.Rendered,
		NeedsScripts: r.NeedsScripts, Problems: issues(r.Problems), At: r.At, TookMS: float64(r.Took.Microseconds()) / 1000,
	}
	if utf8.Valid(r.Raw) {
		out.Raw = string(r.Raw)
	} else {
		out.RawBytes = r.Raw
	}
	for _, d := range r.Redirects {
		out.Redirects = append(out.Redirects, Redirect(d))
	}
	for _, l := range r.Links {
		out.Links = append(out.Links, Link(l))
	}
	for i := range r.Items {
		out.Items = append(out.Items, &r.Items[i])
	}
	return out
}

func (f *fetches) scrape(ctx context.Context, in *struct{ Body PageAsk }) (*answer[*Scraped], error) {
	a := in.Body.ask()
	a.Formats, a.Whole, a.Unseen, a.FullPage, a.Rules = in.Body.Formats, in.Body.Whole, in.Body.Unseen, in.Body.FullPage, in.Body.Rules
	r, err := f.Page(ctx, a)
	if err != nil {
		return nil, problem(err)
	}
	return &answer[*Scraped]{scraped(r)}, nil
}

// ExtractAsk is fields of a page.
type ExtractAsk struct {
	Target
	Fields     []string       `json:"fields,omitempty" maxItems:"1000" doc:"fields, as weft extract --extract takes them" example:"[\"name=h1\"]"`
	Rules      []extract.Rule `json:"rules,omitempty"`
	Structured bool           `json:"structured,omitempty" doc:"extract JSON-LD, microdata, RDFa, OpenGraph and meta elements, too"`
}

// extract takes fields out of a page.
func (f *fetches) extract(ctx context.Context, in *struct{ Body ExtractAsk }) (*answer[*Scraped], error) {
	a := in.Body.ask()
	a.Rules = slices.Clone(in.Body.Rules)
	if len(in.Body.Fields) > 0 {
		rule, err := extract.Of(in.Body.Fields...)
		if err != nil {
			return nil, problem(wrong{fmt.Errorf("fields: %w", err)})
		}
		a.Rules = append(a.Rules, rule)
	}
	if len(a.Rules) > 0 {
		a.Formats = append(a.Formats, scrape.Items)
	}
	if in.Body.Structured {
		a.Formats = append(a.Formats, scrape.Structured)
	}
	if len(a.Formats) == 0 {
		return nil, problem(wrong{errors.New("expected fields, rules or structured")})
	}
	r, err := f.Page(ctx, a)
	if err != nil {
		return nil, problem(err)
	}
	return &answer[*Scraped]{scraped(r)}, nil
}

// Site is the URLs of a site.
type Site struct {
	URL      string    `json:"url" doc:"the URL of the page after all redirects"`
	URLs     []SiteURL `json:"urls"`
	Sitemaps []string  `json:"sitemaps,omitempty" doc:"the sitemaps that were read"`
	Cut      string    `json:"cut,omitempty" doc:"why the list may be incomplete"`
	Problems []Issue   `json:"problems,omitempty"`
}

// SiteURL is a URL of a site.
type SiteURL struct {
	URL      string `json:"url"`
	Text     string `json:"text,omitempty" doc:"the text of a link to the URL"`
	Modified string `json:"modified,omitempty" doc:"the time of the last change, as a sitemap gives it"`
}

// mapped lists the URLs of a site.
func (f *fetches) mapped(ctx context.Context, in *struct {
	Body struct {
		URL        string `json:"url" minLength:"1" maxLength:"16384" example:"https://example.org/"`
		Subdomains bool   `json:"subdomains,omitempty" doc:"include the other hosts of the registrable domain"`
		Sitemaps   string `json:"sitemaps,omitempty" enum:"include,skip,only" doc:"include (default): sitemaps and the links of the page; skip: links only; only: sitemaps only"`
		Search     string `json:"search,omitempty" maxLength:"4096" doc:"keep the URLs that have all these words, in the URL or in the text of a link to it"`
		Limit      int    `json:"limit,omitempty" minimum:"0" maximum:"100000" doc:"the most URLs to list; 0: 5,000"`
		TimeoutMS  int    `json:"timeout_ms,omitempty" minimum:"0" maximum:"600000"`
	}
}) (*answer[Site], error) {
	b := in.Body
	m, err := f.Map(ctx, scrape.MapAsk{
		URL: b.URL, Subdomains: b.Subdomains, NoSitemaps: b.Sitemaps == "skip", NoLinks: b.Sitemaps == "only",
		Search: b.Search, Limit: b.Limit, Timeout: time.Duration(b.TimeoutMS) * time.Millisecond,
	})
	if err != nil {
		return nil, problem(err)
	}
	out := Site{URL: m.URL, URLs: []SiteURL{}, Sitemaps: m.Sitemaps, Cut: m.Cut, Problems: issues(m.Problems)}
	for _, u := range m.URLs {
		out.URLs = append(out.URLs, SiteURL(u))
	}
	return &answer[Site]{out}, nil
}
