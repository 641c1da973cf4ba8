package lessons

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
)

// Gain is the part of a rendered document that the received one lacks.
type Gain struct {
	Links, Own int // different URLs that links and scripts lead to, and those on the page's own site
	Text       int // bytes of words, also of the title, of meta elements and of JSON-LD
	Contents   int // pictures, tables, forms and the like
	Frames     int // documents of frames, but for next to empty ones

	hadOwn, hadText int // of the received document
}

// A page that shows its text and links gains much with as many links to its own site, or as much
// text, which must be a part of what it has had, too: fewer are a widget's.
const (
	muchLinks    = 3
	partOfLinks  = 10 // the tenth part
	muchText     = 500
	partOfText   = 2
	hardlyAny    = 12 // bytes of words: a clock
	mostWords    = 1 << 16
	mostLinks    = 1 << 16
	emptyFrame   = 256 // bytes of one that has nothing to show
	longestHref  = 4 << 10
	longestWords = 64
)

// Any reports whether there is something: of a page without any text, each word is.
func (g Gain) Any() bool {
	return g.Links > 0 || g.Text > hardlyAny || g.Text > 0 && g.hadText == 0 || g.Contents > 0 || g.Frames > 0
}

// Much reports whether a page is poorer without.
func (g Gain) Much() bool {
	return g.Own >= muchLinks && g.Own*partOfLinks >= g.hadOwn || g.Text >= muchText && g.Text*partOfText >= g.hadText
}

// Compare returns what rendering has added to a page. Targets are URLs that its scripts have led
// to. Both documents are UTF-8. Its time is linear in them, and its memory bounded: of a page with
// more than 65,536 words or links, the others do not count.
func Compare(page weburl.URL, received, rendered []byte, targets []string) Gain {
	c := comparison{page: page, words: make(map[uint64]struct{}), links: make(map[uint64]struct{})}
	c.read(received)
	had := c.gain
	c.gain = Gain{hadOwn: had.Own, hadText: had.Text, Contents: -had.Contents}
	c.read(rendered)
	for _, to := range targets {
		c.link([]byte(to))
	}
	return c.gain
}

// comparison reads two documents, one after the other.
type comparison struct {
	page  weburl.URL
	words map[uint64]struct{} // hashes of those met
	links map[uint64]struct{}
	gain  Gain // of what is new
}

// hidden are elements whose text is not shown, or not to those who run scripts.
var hidden = []string{"script", "style", "noscript", "template", "xmp", "noembed", "noframes"}

// contents are the elements that show something without text.
var contents = []string{"img", "picture", "video", "audio", "object", "embed", "canvas", "svg", "table", "input", "select", "textarea", "button"}

// read takes in a document.
func (c *comparison) read(body []byte) {
	for s := (markup.Scanner{Body: body}); ; {
		kind := s.Next()
		c.text(s.Text)
		switch kind {
		case markup.EOF:
			return
		case markup.StartTag:
			c.start(&s)
		case markup.EndTag:
			for ok := true; ok; {
				_, _, ok = s.Attr()
			}
		}
	}
}

// start takes in a start tag.
func (c *comparison) start(s *markup.Scanner) {
	name, shown := s.Name, false
	attr := "href"
	switch {
	case markup.EqualFold(name, "iframe"), markup.EqualFold(name, "frame"):
		attr = "src"
	case markup.EqualFold(name, "a"), markup.EqualFold(name, "area"):
	case markup.EqualFold(name, "meta"):
		attr = "content"
	default:
		attr = ""
	}
	if isOneOf(name, contents) {
		c.gain.Contents++
	}
	for {
		key, value, ok := s.Attr()
		switch {
		case !ok:
			c.skip(s, name, shown)
			return
		case attr == "content" && markup.EqualFold(key, attr):
			c.text(value)
		case attr != "" && markup.EqualFold(key, attr):
			c.link(value)
		case markup.EqualFold(key, "shadowrootmode"), markup.EqualFold(key, "type") && markup.EqualFold(value, "application/ld+json"):
			shown = true
		case markup.EqualFold(key, "srcdoc") && len(value) > emptyFrame:
			c.gain.Frames++
		}
	}
}

func isOneOf(name []byte, all []string) bool {
	for _, one := range all {
		if markup.EqualFold(name, one) {
			return true
		}
	}
	return false
}

// skip passes over the text of an element that is not shown. A declarative shadow root is, and
// JSON-LD counts as if it were.
func (c *comparison) skip(s *markup.Scanner, name []byte, shown bool) {
	for _, h := range hidden {
		if markup.EqualFold(name, h) && !shown {
			s.RawText(h)
			return
		}
	}
}

// link takes in a link.
func (c *comparison) link(href []byte) {
	href, _, _ = bytes.Cut(markup.Trim(href), []byte("#"))
	if len(href) == 0 || len(href) > longestHref || !isNew(c.links, href, mostLinks) {
		return
	}
	to, err := c.page.Resolve(string(href))
	if err != nil || !to.IsHTTP() {
		return
	}
	c.gain.Links++
	if weburl.SameSite(to, c.page) {
		c.gain.Own++
	}
}

// text takes in a piece of text.
func (c *comparison) text(text []byte) {
	for _, word := range bytes.Fields(text) {
		if isNew(c.words, word[:min(len(word), longestWords)], mostWords) {
			c.gain.Text += len(word)
		}
	}
}

// isNew adds a text to those met, and reports whether it was none of them. With as many as there
// may be, none is.
func isNew(met map[uint64]struct{}, text []byte, most int) bool {
	hash := xxhash.Sum64(text)
	if _, is := met[hash]; is || len(met) == most {
		return false
	}
	met[hash] = struct{}{}
	return true
}
