package links

import (
	"bytes"

	"golang.org/x/net/html"
)

// feed reads RSS (0.9x, 1.0, 2.0) and Atom. It is read by the scanner of HTML, with the
// rules of XML where these differ, so that a feed that is not well formed has its links
// too. Elements are known by their local names, whatever prefix is before them.
func (x *Extractor) feed() {
	s := &x.scan
	s.xml, s.sections = true, true
	f := feedReader{x: x}
	for !x.stopped {
		kind := s.next()
		f.add(s.text, true)
		f.add(s.cdata, false)
		switch kind {
		case startTag:
			f.start(localName(s.name))
		case endTag:
			name := localName(s.name)
			s.skip()
			f.end(name)
		case eof:
			return
		}
	}
}

// xml reads a document of XML that does not say of what kind: a feed, SVG or XHTML, by
// its first element. Others have no links.
func (x *Extractor) xml() {
	s := scanner{body: x.scan.body, xml: true, sections: true}
	for {
		switch s.next() {
		case other:
			continue
		case startTag:
			switch name := localName(s.name); {
			case equalFold(name, "rss"), equalFold(name, "feed"), equalFold(name, "rdf"):
				x.feed()
			case equalFold(name, "svg"), equalFold(name, "html"):
				x.xhtml()
			}
		}
		return
	}
}

// localName is a name without its prefix.
func localName(name []byte) []byte { return name[bytes.LastIndexByte(name, ':')+1:] }

// A feedReader keeps what of a feed is not in one tag.
type feedReader struct {
	x    *Extractor
	tag  string // of the element whose text is a URL; "" if there is none
	kind Kind
	text []byte
}

// feedTexts are the elements whose text is a URL.
var feedTexts = []struct {
	tag  string
	kind Kind
}{
	{"link", KindPage},
	{"guid", KindPage},
	{"comments", KindPage},
	{"url", KindImage},  // of the channel's image
	{"icon", KindImage}, // these two are Atom's
	{"logo", KindImage},
}

// feedTags are the elements with a URL in an attribute.
var feedTags = []struct {
	tag, attr string
	kind      Kind
}{
	{"link", "href", KindPage}, // and see atomKinds
	{"enclosure", "url", KindMedia},
	{"content", "url", KindMedia}, // of Media RSS
	{"content", "src", KindPage},  // of Atom
	{"thumbnail", "url", KindImage},
	{"player", "url", KindPage},
	{"image", "href", KindImage}, // of iTunes
	{"source", "url", KindFeed},
}

// atomKinds is what the rel of Atom's link means; see RFC 4287, section 4.2.7.2, and
// RFC 5005. A link without one leads to the page that is told of.
var atomKinds = map[string]Kind{
	"": KindPage, "alternate": KindPage, "self": KindFeed, "enclosure": KindMedia, "next": KindNext, "next-archive": KindNext,
	"prev": KindPrev, "previous": KindPrev, "prev-archive": KindPrev, "hub": KindHint,
}

func (f *feedReader) start(name []byte) {
	x, s := f.x, &f.x.scan
	var attrs [5][]byte // by their places in names
	names := [...]string{"href", "url", "src", "rel", "ispermalink"}
	for {
		key, value, ok := s.attr()
		if !ok {
			break
		}
		for i := range names {
			if attrs[i] == nil && equalFold(localName(key), names[i]) {
				attrs[i] = value
			}
		}
	}
	f.tag = ""
	if s.cut {
		return
	}
	x.decoded = x.decoded[:0]
	for _, t := range feedTags {
		if !equalFold(name, t.tag) {
			continue
		}
		raw := attrs[indexOf(names[:], t.attr)]
		if len(raw) == 0 || len(raw) > maxValue {
			continue
		}
		m := Mention{Value: x.decode(raw), Tag: t.tag, Attr: t.attr, Kind: t.kind}
		if t.tag == "link" {
			m.Rel = x.decode(attrs[3][:min(len(attrs[3]), maxValue)])
			known := false
			if m.Kind, known = atomKinds[string(bytes.ToLower(trim(m.Rel)))]; !known {
				m.Kind = KindRelated
			}
		}
		x.found(&m)
	}
	if s.selfClosing || equalFold(name, "guid") && equalFold(trim(attrs[4]), "false") {
		return
	}
	for _, t := range feedTexts {
		if equalFold(name, t.tag) {
			f.tag, f.kind, f.text = t.tag, t.kind, f.text[:0]
		}
	}
}

func indexOf(names []string, name string) int {
	for i := range names {
		if names[i] == name {
			return i
		}
	}
	return -1
}

// add collects a piece of text, with character references to decode or without.
func (f *feedReader) add(raw []byte, encoded bool) {
	switch {
	case f.tag == "" || len(raw) == 0:
	case len(f.text)+len(raw) > maxValue:
		f.tag = ""
	case encoded && bytes.IndexByte(raw, '&') >= 0:
		f.text = append(f.text, html.UnescapeString(string(raw))...)
	default:
		f.text = append(f.text, raw...)
	}
}

// end yields the link that an element's text is. A guid is one only if it is written as
// a URL: feeds that do not say isPermaLink=false may have any text there.
func (f *feedReader) end(name []byte) {
	if f.tag == "" || !equalFold(name, f.tag) {
		f.tag = ""
		return
	}
	text := trim(f.text)
	if len(text) > 0 && (f.tag != "guid" || bytes.Contains(text, []byte("://"))) {
		f.x.found(&Mention{Value: text, Tag: f.tag, Attr: "text", Kind: f.kind})
	}
	f.tag = ""
}
