package weft

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/fetch"
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
	// 304 too, which has no body; after a login, pages that it has taken before. It runs on a
	// goroutine of its own, and the worker that fetched the page waits for it: a slow OnPage slows
	// the crawl. At most Concurrency run at once; fewer while the links of their pages fill a share
	// of Memory, and then no other page is read. OnPage owns the page until it returns, and may add
	// URLs: see Page.Add and Page.Post. An error ends the crawl, and Run returns it, wrapped, with
	// the page's URL; ctx is done when the crawl is cancelled.
	OnPage func(ctx context.Context, page *Page) error

	// OnItem takes every item of Keep.Extract and Structured, before OnPage takes its page, and
	// as OnPage does. It may change the item: that is how items.jsonl has it.
	OnItem func(ctx context.Context, item *Item) error

	// OnRecord takes the record of every finished URL, which it must not keep.
	OnRecord func(*Record)

	// OnError is OnRecord for records with an error.
	OnError func(*Record)

	// OnWarning reports a problem that does not end the crawl; an error with a method Notice() is
	// none: an order that was carried out.
	OnWarning func(error)

	elements []elementHook // of OnHTML
}

// elementHook is a function that OnHTML was given.
type elementHook struct {
	selector string
	find     extract.Selector // set by check
	do       func(*Page, *goquery.Selection) error
}

// OnHTML calls do with each element of HTML pages that a selector finds, CSS or XPath as in package
// extract, on the goroutine of OnPage and before it. The first error is like one of OnPage. Several
// calls are made in their order.
func (h *Hooks) OnHTML(selector string, do func(page *Page, element *goquery.Selection) error) {
	h.elements = append(slices.Clip(h.elements), elementHook{selector: selector, do: do})
}

// check reads the selectors of OnHTML.
func (h *Hooks) check() error {
	h.elements = slices.Clone(h.elements)
	for i := range h.elements {
		e := &h.elements[i]
		var err error
		if e.find, err = extract.ParseSelector(e.selector); err != nil {
			return fmt.Errorf("OnHTML %.128q: %w", e.selector, err)
		}
	}
	return nil
}

// onHTML calls the functions of OnHTML for a page.
func (h *Hooks) onHTML(page *Page) error {
	if len(h.elements) == 0 || !page.IsPage() || len(page.Body) == 0 {
		return nil
	}
	root, _ := extract.Parse(page.Text()) // a part is as good as a short page
	doc := goquery.NewDocumentFromNode(root)
	for _, e := range h.elements {
		nodes, whole := e.find.Elements(root)
		if !whole && h.OnWarning != nil {
			h.OnWarning(fmt.Errorf("%s: OnHTML %.128q: too much work, some elements were left out", page.URL, e.selector))
		}
		for _, n := range nodes {
			if err := e.do(page, doc.FindNodes(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Request is a request that OnRequest may change or refuse.
type Request struct {
	URL   weburl.URL // of a POST, with the fragment by which the crawl knows it
	From  string     // page that linked here; empty for a seed
	Depth int
	Tries int // earlier ones
	// Header holds fields to send besides, or instead of, those of Options; an empty one removes. The
	// hook may change them.
	Header httpclient.Header
}

// Verdict is the decision of OnLink about a link.
type Verdict struct {
	Decision Decision
	Priority int    // of the URL within its host, higher first; −128 to 127
	Reason   string // of Drop: counted in Summary.NotFollowed
}

// Decision is the answer of OnLink about a link.
type Decision int

// MaxData bounds the data of AddWith, in bytes.
const MaxData = fetch.MaxData

// Decisions of OnLink.
const (
	ByScope Decision = Decision(fetch.ByScope) // as the options say
	// Whatever scope, expressions, depth, nofollow and the limits on traps say, but for MaxVariants
	// and blocked ports.
	Follow Decision = Decision(fetch.Follow)
	Drop   Decision = Decision(fetch.Drop) // not for this mention
)

// Page is a whole response and its record. It is valid until OnPage returns, or until the next
// iteration over Crawl; clone what you keep.
type Page struct {
	*Record
	Header httpclient.Header
	Body   []byte       // decoded from its Content-Encoding, in the page's charset
	Links  []links.Link // all links, followed or not
	Items  []Item       // of the page, by Keep.Extract
	Data   string       // given to its URL by AddWith

	Rendered *Rendered // by FetchOptions.Render; nil: the page was not rendered

	Addr netip.AddrPort // the server's; invalid if a proxy has looked it up, or nobody

	page *fetch.Page // nil: the URL failed, or the page is of no crawl
}

// Text returns the body in UTF-8, if it is of a type that package links reads, else as it is.
func (p *Page) Text() []byte {
	switch {
	case p.page != nil:
		return p.page.Text
	case !links.Reads(p.Type()):
		return p.Body
	}
	text, _ := charset.UTF8(p.Type(), p.Body)
	return text
}

// Add adds a URL to the crawl, absolute or relative to the page (its <base>), as if the page linked
// to it: one link further from the seed, with the page as From. OnLink sees it as a link with Tag
// "hook" and Attr "add". If the scope, an expression, Depth or a trap refuses it, it is not
// followed, and counted in Summary.NotFollowed; a nofollow of the page does not matter. It is saved
// together with the page's record: after a crash either both are, or OnPage gets the page again.
//
// Only OnPage, or the body of a loop over Crawl, may call it, before the page is no longer valid.
// Errors: ref is no http or https URL; the page is one that failed, or one of Fetch.
func (p *Page) Add(ref string) error { return p.AddWith(ref, "") }

// AddWith is Add with data for the page that is added: its Page.Data, at most MaxData bytes. It is
// saved with the URL, and a redirect keeps it. Of a URL that the crawl knows already, nothing
// changes.
func (p *Page) AddWith(ref, data string) error {
	if p.page == nil {
		return fmt.Errorf("%s: no page of a crawl, to which %.128q could be added", p.URL, ref)
	}
	return p.page.Add(ref, data)
}

// Post adds a POST request to the crawl, as Add adds a URL: that of a form, with its hidden fields,
// or of an API. Content type and body take less than MaxData bytes together. OnLink sees it with
// Attr "post". The page that it brings has the Method POST, and a URL that ends with a digest of
// what was sent: the same request is made once. See Options.Posts for when it is sent again.
func (p *Page) Post(post Post) error {
	if p.page == nil {
		return fmt.Errorf("%s: no page of a crawl, to which %.128q could be added", p.URL, post.URL)
	}
	return p.page.Post(post)
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
	hooks := fetch.Hooks{OnItem: h.OnItem}
	if h.OnRequest != nil {
		hooks.OnRequest = func(r *fetch.Request) error { return h.OnRequest((*Request)(r)) }
	}
	if h.OnLink != nil {
		hooks.OnLink = func(from weburl.URL, link links.Link) fetch.Verdict {
			v := h.OnLink(from, link)
			return fetch.Verdict{Decision: fetch.Decision(v.Decision), Priority: v.Priority, Reason: v.Reason}
		}
	}
	if h.OnPage != nil || len(h.elements) > 0 {
		hooks.OnPage = func(ctx context.Context, p *fetch.Page) error {
			page := &Page{p.Record, p.Header, p.Body, p.Links, p.Items, p.Data, nil, p.Addr, p}
			if err := h.onHTML(page); err != nil || h.OnPage == nil {
				return err
			}
			return h.OnPage(ctx, page)
		}
	}
	return hooks
}
