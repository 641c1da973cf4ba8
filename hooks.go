package weft

import (
	"bytes"
	"context"
	"fmt"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// Hooks are a program's part in a crawl. Each may be nil.
//
// The event loops call OnRequest, OnLink, OnRecord and OnError and wait for them: they must be
// quick, must not block, and must not call Stats. Several loops at once call the first two. OnPage
// may take its time.
type Hooks struct {
	// OnRequest may change the header of a request, but not of one for robots.txt, or refuse the
	// URL with an error: its record then has the error kind "refused".
	OnRequest func(*Request) error

	// OnLink judges a link of the page at from, before the scope does. An entry of a sitemap at
	// from is a link with Tag "sitemap" and Attr "loc".
	OnLink func(from weburl.URL, link links.Link) Verdict

	// OnPage takes every whole response that is no redirect, whatever its status; on a recrawl a
	// 304 too, which has no body. It runs on a goroutine of its own, and the worker that fetched
	// the page waits for it: a slow OnPage slows the crawl. At most Concurrency run at once; fewer
	// while the links of their pages fill a share of Memory, and then no other page is read.
	// OnPage owns the page until it returns, and may add URLs: see Page.Add. An error ends the crawl, and Run returns it, wrapped,
	// with the page's URL; ctx is done when the crawl is cancelled.
	OnPage func(ctx context.Context, page *Page) error

	// OnItem takes every item of Options.Extract and Structured, before OnPage takes its page, and as
	// OnPage does. It may change the item: that is how items.jsonl has it.
	OnItem func(ctx context.Context, item *Item) error

	// OnRecord takes the record of every finished URL, which it must not keep.
	OnRecord func(*Record)

	// OnError is OnRecord for records with an error.
	OnError func(*Record)

	// OnWarning reports a problem that does not end the crawl.
	OnWarning func(error)
}

// What hooks are shown, and what they decide: see package fetch.
type (
	Request  = fetch.Request
	Verdict  = fetch.Verdict
	Decision = fetch.Decision
)

// Decisions of OnLink.
const (
	ByScope = fetch.ByScope
	Follow  = fetch.Follow
	Drop    = fetch.Drop
)

// Page is a whole response and its record. It is valid until OnPage returns, or until the next
// iteration over Crawl; clone what you keep.
type Page struct {
	*Record
	Header http1.Header
	Body   []byte       // decoded from its Content-Encoding, in the page's charset
	Links  []links.Link // all links, followed or not
	Items  []Item       // what Options.Extract has found

	page *fetch.Page // nil: the URL failed
}

// Text returns the body in UTF-8.
func (p *Page) Text() []byte {
	if p.page == nil {
		return nil
	}
	return p.page.Text
}

// Add adds a URL to the crawl, absolute or relative to the page, as if the page linked to it: one
// link further from the seed, with the page as From. OnLink sees it as a link with Tag "hook" and
// Attr "add". If the scope, an expression, Depth or a trap refuses it, it is not followed, and
// counted in Summary.NotFollowed; a nofollow of the page does not matter. It is saved together with
// the page's record: after a crash either both are, or OnPage gets the page again.
//
// Only OnPage, or the body of a loop over Crawl, may call it, before the page is no longer valid.
// Errors: ref is no http or https URL; the page is one that failed.
func (p *Page) Add(ref string) error {
	if p.page == nil {
		return fmt.Errorf("%s: nothing was fetched to which %.128q could be added", p.URL, ref)
	}
	return p.page.Add(ref)
}

// Document parses the page. Each call does so anew.
func (p *Page) Document() (*goquery.Document, error) {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(p.Text()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.URL, err)
	}
	return doc, nil
}

// forFetch returns the hooks that fetch loops call.
func (h *Hooks) forFetch() fetch.Hooks {
	hooks := fetch.Hooks{OnRequest: h.OnRequest, OnLink: h.OnLink, OnItem: h.OnItem}
	if onPage := h.OnPage; onPage != nil {
		hooks.OnPage = func(ctx context.Context, p *fetch.Page) error {
			return onPage(ctx, &Page{p.Record, p.Header, p.Body, p.Links, p.Items, p})
		}
	}
	return hooks
}
