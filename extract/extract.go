package extract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/internal/css"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

const (
	// MaxPage bounds the values of all items of a page, in bytes: those beyond it are left out.
	MaxPage = 2 << 20

	mostValues = 10_000 // of a list
	mostItems  = 10_000 // of a page
	mostNotes  = 20     // of an item
	mostNote   = 200    // bytes

	// Work of a page: steps in all, and for each of its elements.
	steps        = 5_000_000
	stepsElement = 20
)

// Extractor finds the fields of pages.
type Extractor struct {
	kinds      []*kind
	structured bool
	steps      int // of a page; tests allow fewer
}

// New returns an extractor for rules; with structured, of structured data, too. Its error is a
// *RuleError.
func New(rules []Rule, structured bool) (*Extractor, error) {
	kinds, err := compile(rules)
	return &Extractor{kinds, structured, steps}, err
}

// Wants reports whether there may be an item of a page.
func (x *Extractor) Wants(url weburl.URL) bool {
	return x.structured || slices.ContainsFunc(x.kinds, func(k *kind) bool { return k.isAbout(url) })
}

// Fields returns the names of the fields that items may have, each once.
func Fields(rules []Rule) (names []string) {
	for _, r := range rules {
		for _, f := range r.Fields {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// isAbout reports whether a page is of the kind.
func (k *kind) isAbout(url weburl.URL) bool {
	switch {
	case k.urls == nil:
		return true
	case k.ofPath:
		return k.urls.MatchString(url.RequestTarget())
	}
	return k.urls.MatchString(url.Canonical().String())
}

// Match is a part of a page that a field has been taken from.
type Match struct {
	Field string     // with those around it, and the rule: "product.reviews.author"
	Node  *html.Node // nil: an expression has computed the value
	Value any        // nil: the text is none of the type
	Text  string     // from which it was made
}

// Tag returns the tag with which the element begins.
func (m *Match) Tag() string {
	return html.Token{Type: html.StartTagToken, Data: m.Node.Data, Attr: m.Node.Attr}.String()
}

// Page returns the items of a page in UTF-8. A page without any value has none, unless it is of a
// rule with URLs and lacks required fields, or there is something to note.
func (x *Extractor) Page(url weburl.URL, body []byte) []record.Item {
	root, err := Parse(body)
	return x.Tree(url, root, err, nil)
}

// mostTags bounds the tags of a page: each takes some hundred bytes of a tree.
const mostTags = 400_000

// Parse is content.Parse for a page of many tags: of more than 400,000 the beginning is read.
func Parse(body []byte) (*html.Node, error) {
	var cut error
	if len(body) > mostTags && bytes.Count(body, []byte("<")) > mostTags {
		at := 0
		for range mostTags {
			at += bytes.IndexByte(body[at:], '<') + 1
		}
		body, cut = body[:at-1], fmt.Errorf("page of more than %d tags: its beginning was read", mostTags)
	}
	root, err := content.Parse(body)
	return root, errors.Join(cut, err)
}

// Tree is Page for a page that [Parse] has parsed, with the error that it returned. Unless it is
// nil, found is called with what selectors have found. The frames of a rendered document are opened
// in the tree.
func (x *Extractor) Tree(url weburl.URL, root *html.Node, cut error, found func(Match)) (items []record.Item) {
	cut = cmp.Or(cut, content.OpenFrames(root, url))
	p := newPage(url, root, found)
	p.allow(x.steps)
	if cut != nil {
		p.note("%s", strings.ReplaceAll(cut.Error(), "\n", "; "))
	}
	for _, k := range x.kinds {
		if k.isAbout(url) {
			items = p.ofKind(k, items)
		}
	}
	if x.structured {
		s := p.structured()
		if !s.Empty() && len(items) == 0 {
			items = append(items, record.Item{URL: url.String()})
		}
		if !s.Empty() {
			items[0].Structured = s
		}
	}
	if p.work.Spent || p.short {
		p.note("more than %d steps of work: some values were not looked for", p.allowed)
	}
	if len(p.notes) > 0 && len(items) == 0 {
		items = append(items, record.Item{URL: url.String()})
	}
	if len(items) > 0 {
		items[0].Notes = p.notes
	}
	return items
}

func newPage(url weburl.URL, root *html.Node, found func(Match)) *page {
	p := &page{url: url, root: root, found: found, room: MaxPage, elements: make([]*html.Node, 0, 1024)}
	for n := root; n != nil; n = css.Following(n, root, true) {
		if n.Type == html.ElementNode {
			p.elements = append(p.elements, n)
		}
	}
	p.allow(steps)
	return p
}

// allow sets the work that the page may take: steps, and some for each element.
func (p *page) allow(steps int) {
	p.allowed = steps + stepsElement*len(p.elements)
	p.work.Steps = p.allowed
}

// ofKind adds the items of a kind.
func (p *page) ofKind(k *kind, items []record.Item) []record.Item {
	add := func(from *html.Node) bool {
		if k.name != "" {
			p.around = append(p.around[:0], k.name)
		}
		item := record.Item{URL: p.url.String(), Type: k.name}
		var some bool
		item.Fields, some = p.record(k.fields, from, &item.Missing, "")
		if some || k.urls != nil && len(item.Missing) > 0 {
			items = append(items, item)
		}
		return len(items) < mostItems
	}
	if k.each == nil {
		add(p.root)
		return items
	}
	var elements []*html.Node
	k.each.each(p, p.root, func(h hit) bool {
		if h.node != nil {
			elements = append(elements, h.node)
		}
		return len(elements) <= mostItems
	})
	for i, n := range elements {
		if i == mostItems || !add(n) {
			p.note("more than %d items of one page: the others were left out", mostItems)
			break
		}
	}
	return items
}

// record returns the values of fields within an element; some: one of them is no default. It adds
// the names of required fields without a value to missing.
func (p *page) record(fields []*field, from *html.Node, missing *[]string, prefix string) (values record.Fields, some bool) {
	for _, f := range fields {
		p.around = append(p.around, f.Name)
		v, ok := p.value(f, from, missing, prefix+f.Name)
		p.around = p.around[:len(p.around)-1]
		switch {
		case ok:
			some = true
		case f.Default != "":
			v = p.convert(&field{Field: Field{Type: f.Type}}, f.Default)
			if f.List && v != nil {
				v = []any{v}
			}
		}
		if v != nil {
			values = append(values, record.Value{Name: f.Name, Value: v})
		} else if f.Required && !slices.Contains(*missing, prefix+f.Name) {
			*missing = append(*missing, prefix+f.Name)
		}
	}
	return values, some
}

// value returns the value of a field within an element; ok: there is one.
func (p *page) value(f *field, from *html.Node, missing *[]string, name string) (v any, ok bool) {
	var list []any
	var hits []hit // of records, which have selectors of their own
	f.selector.each(p, from, func(h hit) bool {
		if f.fields != nil {
			if h.node != nil {
				hits = append(hits, h)
			}
			return f.List && len(hits) < mostValues
		}
		text, cut := p.raw(f, h)
		v := p.convert(f, text)
		if p.found != nil {
			p.found(Match{strings.Join(p.around, "."), h.node, v, text})
		}
		if v == nil {
			return true
		}
		if cut {
			p.note("%s: cut at %d bytes", name, MaxValue)
		}
		if !p.fits(v, name) {
			return false
		}
		list = append(list, v)
		return f.List && len(list) < mostValues
	})
	for _, h := range hits {
		values, some := p.record(f.fields, h.node, missing, name+".")
		if some {
			list = append(list, values)
		}
	}
	switch {
	case len(list) == 0:
		return nil, false
	case f.List:
		if len(list) == mostValues {
			p.note("%s: more than %d values", name, mostValues)
		}
		return list, true
	}
	return list[0], true
}
