package links

import (
	"slices"

	"github.com/weftcrawl/weft/weburl"
)

// readers maps content types to readers. The name of a file never decides.
var readers = []struct {
	types []string
	read  func(*Extractor)
}{
	{[]string{"text/html"}, (*Extractor).html},
	{[]string{"application/xhtml+xml"}, (*Extractor).xhtml},
	{[]string{"image/svg+xml"}, (*Extractor).svgDocument},
	{[]string{"text/css"}, (*Extractor).css},
	{[]string{"application/rss+xml", "application/atom+xml", "application/rdf+xml"}, (*Extractor).feed},
	{[]string{"application/xml", "text/xml"}, (*Extractor).xml},
	{[]string{"application/ld+json"}, (*Extractor).jsonDocument},
	{[]string{"application/feed+json"}, (*Extractor).jsonFeed},
	{javaScript, (*Extractor).scriptDocument},
}

func readerOf(contentType string) func(*Extractor) {
	essence := mediaType(contentType)
	for _, r := range readers {
		if slices.Contains(r.types, essence) {
			return r.read
		}
	}
	return nil
}

// Reads reports whether documents of a content type can have links, so that they must be
// transcoded to UTF-8.
func Reads(contentType string) bool { return readerOf(contentType) != nil }

// Extract yields the links of a document in the order in which their elements are complete: an
// anchor has text, so it is complete when it ends, except with [Options].Bare. The same URL is
// yielded as often as it is mentioned.
//
// If yield returns false, Extract stops there and Page describes what was read so far; a text
// reader still receives the rest. With a nil yield there are no links, only text. A content type
// that is not in the package's table has no links.
func (x *Extractor) Extract(d Document, yield func(Link) bool) Page {
	x.begin(d.Body, yield)
	x.resolver.begin(d.Base, d.Charset)
	x.stopped, x.tag, x.places.body = yield == nil, d.Tag, d.Body
	x.scan.pauses = pauses{d.Pause, pauseStep}
	x.scan.output = x.output.begin(d.Text, d.Body, d.Base)
	return x.end(d.ContentType)
}

// Mentions yields the URLs that Extract would resolve, in document order and without copies or
// allocations, until yield returns false. Bare and the texts of anchors mean nothing here; Base
// and Refresh of the Page are zero where they are not absolute URLs.
func (x *Extractor) Mentions(contentType string, body []byte, yield func(Mention) bool) Page {
	x.begin(body, nil)
	x.mentioned = yield
	x.resolver.begin(weburl.URL{}, "")
	return x.end(contentType)
}

// end reads the page that begin has set up.
func (x *Extractor) end(contentType string) Page {
	if read := readerOf(contentType); read != nil {
		read(x)
	}
	page := x.page
	page.Base, page.Cut = x.resolver.urls.Base(), x.resolver.isSpent()
	x.begin(nil, nil) // keeps nothing of the page
	x.output.begin(nil, nil, weburl.URL{})
	return page
}

// Extract yields the links of a document at the URL base, until yield returns false.
// See [Extractor.Extract].
func Extract(base weburl.URL, contentType string, body []byte, yield func(Link) bool) Page {
	return NewExtractor(Options{}).Extract(Document{Base: base, ContentType: contentType, Body: body}, yield)
}
