package links

import (
	"github.com/weftcrawl/weft/internal/feed"
	"github.com/weftcrawl/weft/internal/markup"
)

// feedKinds is the kind of a link by its role in a feed. Dates are no links.
var feedKinds = map[feed.Role]Kind{
	feed.Page: KindPage, feed.PermaLink: KindPage, feed.Extra: KindPage, feed.Media: KindMedia, feed.Image: KindImage,
	feed.Feed: KindFeed, feed.Next: KindNext, feed.Previous: KindPrev, feed.Hub: KindHint, feed.Related: KindRelated,
}

// feed reads RSS and Atom. A feed that is not well formed has its links too.
func (x *Extractor) feed() {
	r := markup.XML{Body: x.scan.Body}
	tag, role := "", feed.None // of the element whose text is a URL
	var from []byte            // the body from this text on
	for !x.stopped {
		switch r.Next() {
		case markup.EOF:
			return
		case markup.EndTag:
			if role != feed.None && !r.TooLong && markup.EqualFold(markup.LocalName(r.Name), tag) {
				x.feedText(tag, role, r.Text, from)
			}
			role = feed.None
		case markup.StartTag:
			for u := range feed.Any.URLs(&r) {
				if len(u.Value) <= maxValue {
					x.found(&Mention{Value: u.Value, Tag: u.Tag, Attr: u.Attr, Rel: u.Rel[:min(len(u.Rel), maxValue)], Kind: feedKinds[u.Role], from: r.Name})
				}
			}
			if tag, role = feed.Any.Text(&r); r.Empty {
				role = feed.None
			}
			if _, isURL := feedKinds[role]; isURL {
				r.Collect(maxValue)
				from = r.Body[r.Pos:]
			} else {
				role = feed.None
			}
		}
	}
}

// feedText yields the link that is the text of an element. A guid is one only if it is
// written as a URL: feeds that do not say isPermaLink=false may have any text there.
func (x *Extractor) feedText(tag string, role feed.Role, text, from []byte) {
	text = markup.Trim(text)
	if len(text) > 0 && (role != feed.PermaLink || feed.IsURL(text)) {
		x.found(&Mention{Value: text, Tag: tag, Attr: "text", Kind: feedKinds[role], from: from})
	}
}

// xml reads a document of XML whose type does not say what it is: a feed, SVG or XHTML, by
// its first element. Others have no links.
func (x *Extractor) xml() {
	r := markup.XML{Body: x.scan.Body}
	if r.Next() != markup.StartTag {
		return
	}
	switch name := markup.LocalName(r.Name); {
	case feed.Root(name) != 0:
		x.feed()
	case markup.EqualFold(name, "svg"), markup.EqualFold(name, "html"):
		x.xhtml()
	}
}
