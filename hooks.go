package weft

import (
	"bytes"
	"context"
	"fmt"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// Hooks are what a program may have a say in. Each may be nil.
//
// OnRequest, OnLink, OnRecord and OnError are called by the event loops, which wait
// for them: they must be quick, not block, and not call Stats. The first two are called by several
// loops at once. OnPage may take its time.
type Hooks struct {
	// OnRequest may change the header of a request (not of one for robots.txt), or
	// refuse the URL by an error: its record then has the error kind "refused".
	OnRequest func(*Request) error

	// OnLink judges a link of the page at from, before the scope does. What a sitemap at from
	// tells of is a link with Tag "sitemap" and Attr "loc".
	OnLink func(from weburl.URL, link links.Link) Verdict

	// OnPage is given every whole answer that is no redirect, whatever its status; where a job is
	// visited again, a 304 too, which has no body. It
	// runs on a goroutine of its own, beside others, and the worker that has fetched
	// the page waits for it: so a slow OnPage slows the crawl, and at most Concurrency
	// run at once; fewer while those that run have so many links that these fill their part of
	// Memory, and no other page is read then. The page is its own until it returns. An error ends the crawl, and
	// Run returns it, wrapped, with the page's URL; ctx is done when the crawl is broken off.
	OnPage func(ctx context.Context, page *Page) error

	// OnRecord is given the record of every URL that is finished, and keeps nothing of it.
	OnRecord func(*Record)

	// OnError is OnRecord for those that have an error.
	OnError func(*Record)

	// OnWarning is told what is wrong and does not end the crawl.
	OnWarning func(error)
}

// Request is what OnRequest is asked about. Its Header is what it may change.
type Request struct {
	URL    weburl.URL
	From   string // the page it was found on; empty for a seed
	Depth  int
	Tries  int          // made before
	Header http1.Header // fields to send besides, or instead of, those of Options
}

// Decision says whether a link is followed.
type Decision int

// The decisions.
const (
	ByScope Decision = iota // if the options have nothing against it
	Follow                  // whatever the scope, the expressions, the depth, the limits on traps but MaxVariants, and a nofollow
	Drop                    // not, because of this mention
)

// Verdict is what OnLink says of a link.
type Verdict struct {
	Decision Decision
	Priority int    // of the URL among those of its host, higher first; −128 to 127
	Reason   string // why it is dropped: counted in Summary.NotFollowed
}

// Page is a whole answer and its record. It is valid until OnPage returns, or the
// loop over Crawl comes round; clone what is kept.
type Page struct {
	*Record
	Header http1.Header
	Body   []byte       // decoded from its Content-Encoding, in the page's charset
	Links  []links.Link // all of them, followed or not

	text     []byte // Body in UTF-8
	redirect bool   // kept, and not shown to OnPage
}

// Text returns the body in UTF-8.
func (p *Page) Text() []byte { return p.text }

// Document parses the page. Each call does so anew.
func (p *Page) Document() (*goquery.Document, error) {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(p.text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.URL, err)
	}
	return doc, nil
}
