package check

import (
	"bytes"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// Facts are the statements of a page about itself.
type Facts struct {
	Title       string // white space collapsed; "": none
	Description string
	Canonical   weburl.URL // zero: none
	Alternates  []Alternate
	NoIndex     bool
	Anchors     []uint64 // hashes of what a fragment may name: see Anchor
	Images      []Image  // without an alt attribute
	Cut         bool     // it is too long, or ends within a tag: links may be missing
}

// Alternate is a page in another language: <link rel=alternate hreflang>.
type Alternate struct {
	Language string
	URL      weburl.URL
}

// Image is an <img> without an alt attribute.
type Image struct {
	Line, Column int
	Source       string
}

// Bounds on the facts of a page.
const (
	mostAnchors    = 1_000_000
	mostAlternates = 1000
	mostImages     = 10_000
	maxDescription = 2000 // bytes
)

// Reader reads pages, one after another: a pass over the body finds links and facts. It keeps its
// buffers; one goroutine at a time uses it.
type Reader struct {
	extractor *links.Extractor
	facts     Facts
	language  string // hreflang of the current <link>
	post      bool   // the current tag sends with POST
	form      bool   // the last <form> does
}

// NewReader returns a reader for pages as this crawler sees them.
func NewReader(agent string) *Reader {
	return &Reader{extractor: links.NewExtractor(links.Options{Every: true, Positions: true, Agent: agent})}
}

// Read yields the links of a document, those of its header first, then as links.Extractor.Extract
// does, those of other schemes and invalid ones included, and returns its facts.
func (r *Reader) Read(d links.Document, header warc.Header, yield func(links.Link) bool) Facts {
	r.facts = Facts{}
	r.language, r.post, r.form = "", false, false
	d.Tag = r.tag
	stopped := false
	found := func(l links.Link) bool {
		switch {
		case l.Kind == links.KindCanonical && r.facts.Canonical.IsZero() && l.URL.IsHTTP():
			r.facts.Canonical = l.URL
		case l.Kind == links.KindAlternate && r.language != "" && len(r.facts.Alternates) < mostAlternates && l.URL.IsHTTP():
			r.facts.Alternates = append(r.facts.Alternates, Alternate{r.language, l.URL})
		}
		stopped = !yield(l)
		return !stopped
	}
	headerLinks(d.Base, header, found)
	var page links.Page
	if !stopped {
		page = r.extractor.Extract(d, found)
	}
	f := r.facts
	f.Title, f.NoIndex, f.Cut = page.Title, page.NoIndex, page.Cut || page.Hidden
	r.facts = Facts{}
	return f
}

// headerLinks yields the links in the header of the response at base.
func headerLinks(base weburl.URL, header warc.Header, yield func(links.Link) bool) {
	stopped := false
	found := func(l links.Link) bool {
		stopped = !yield(l)
		return !stopped
	}
	links.Header(base, valuesOf(header, "Link"), found)
	if !stopped {
		links.RefreshHeader(base, valuesOf(header, "Refresh"), found)
	}
}

// valuesOf returns the values of the fields with a name.
func valuesOf(header warc.Header, name string) (all []string) {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

// sends notes how an element sends a form, by an attribute; without it, as its form does.
func (r *Reader) sends(t *links.Tag, attr string) {
	r.post = r.form
	if method, ok := t.Attr(attr); ok {
		r.post = markup.EqualFold(markup.Trim(method), "post")
	}
}

// tag takes in a start tag.
func (r *Reader) tag(t *links.Tag) {
	if id, ok := t.Attr("id"); ok {
		r.anchor(id)
	}
	switch {
	case markup.EqualFold(t.Name, "a"):
		if name, ok := t.Attr("name"); ok {
			r.anchor(name)
		}
	case markup.EqualFold(t.Name, "link"):
		language, _ := t.Attr("hreflang")
		r.language = strings.ToLower(string(language[:min(len(language), 40)]))
	case markup.EqualFold(t.Name, "img"):
		r.image(t)
	case markup.EqualFold(t.Name, "form"):
		r.form = false
		r.sends(t, "method")
		r.form = r.post
	case markup.EqualFold(t.Name, "button"), markup.EqualFold(t.Name, "input"):
		r.sends(t, "formmethod")
	case markup.EqualFold(t.Name, "meta"):
		name, _ := t.Attr("name")
		if content, ok := t.Attr("content"); ok && r.facts.Description == "" && markup.EqualFold(markup.Trim(name), "description") {
			text := strings.Join(strings.Fields(string(content)), " ")
			r.facts.Description = strings.ToValidUTF8(text[:min(len(text), maxDescription)], "")
		}
	}
}

func (r *Reader) anchor(name []byte) {
	if len(name) > 0 && len(r.facts.Anchors) < mostAnchors {
		r.facts.Anchors = append(r.facts.Anchors, Anchor(name))
		if decoded := percentDecoded(string(name)); decoded != string(name) {
			// A fragment of the same letters means this one.
			r.facts.Anchors = append(r.facts.Anchors, Anchor(decoded))
		}
	}
	if rest, ok := bytes.CutPrefix(name, usersOwn); ok {
		r.anchor(rest)
	}
}

// usersOwn begins the ids that GitHub and others give to what users write; their scripts find them
// without it.
var usersOwn = []byte("user-content-")

// image takes in an image without alt. One that is decoration by its role needs none.
func (r *Reader) image(t *links.Tag) {
	if _, ok := t.Attr("alt"); ok || len(r.facts.Images) == mostImages {
		return
	}
	role, _ := t.Attr("role")
	hidden, _ := t.Attr("aria-hidden")
	if markup.EqualFold(role, "presentation") || markup.EqualFold(role, "none") || markup.EqualFold(hidden, "true") {
		return
	}
	line, column := t.Position()
	source, _ := t.Attr("src")
	source = source[:min(len(source), 1000)]
	if bytes.HasPrefix(source, []byte("data:")) {
		source = []byte("data:")
	}
	r.facts.Images = append(r.facts.Images, Image{line, column, strings.ToValidUTF8(string(source), "\uFFFD")})
}

// Anchor returns the hash of an id or a name, never 0.
func Anchor[T ~string | ~[]byte](name T) uint64 { return max(1, xxhash.Sum64String(string(name))) }

// fragmentOf returns the name that a link's fragment stands for, decoded; ok is false if it names
// none: the top of the page, a piece of text, or a place that a script knows (#/path, #!path). See
// https://html.spec.whatwg.org/multipage/browsing-the-web.html#the-indicated-part-of-the-document.
func fragmentOf(fragment string) (name string, ok bool) {
	fragment, _, _ = strings.Cut(fragment, ":~:")
	if fragment == "" || strings.HasPrefix(fragment, "/") || strings.HasPrefix(fragment, "!") {
		return "", false
	}
	name = percentDecoded(fragment)
	return name, !strings.EqualFold(name, "top")
}

// percentDecoded returns a fragment or an id without percent-encoding; as it is, if it has none.
func percentDecoded(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil && utf8.ValidString(decoded) {
		return decoded
	}
	return text
}
