package extract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/css"
	"github.com/weftcrawl/weft/record"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	mostThings     = 1000 // of a page, in each format
	mostProperties = 1000 // of a thing, by name
	mostInside     = 32   // things in things
	mostMeta       = 500  // names of a page, in each format
	thingSteps     = 50   // of work, for each property: things refer to one another
)

// structured returns what a page says in formats for machines.
func (p *page) structured() *record.Structured {
	s := &record.Structured{}
	for _, n := range p.elements {
		switch n.DataAtom {
		case atom.Meta:
			p.meta(s, n)
		case atom.Script:
			if t, _ := attr(n, "type"); isJSONLD(t) {
				p.jsonLD(s, n)
			}
		}
	}
	s.Microdata = p.things(&microdata)
	s.RDFa = p.things(&rdfa)
	return s
}

// meta takes in a meta element: its name, and each word of its property (RDFa), names the content.
func (p *page) meta(s *record.Structured, n *html.Node) {
	content, ok := attr(n, "content")
	if !ok {
		return
	}
	content, _ = collapse(content)
	name, _ := attr(n, "name")
	name, _ = collapse(strings.ToLower(name))
	properties, _ := attr(n, "property")
	words := strings.Fields(strings.ToLower(properties))
	for i, word := range words {
		if i == mostInside {
			break
		}
		if !slices.Contains(words[:i], word) {
			p.metaNamed(s, word, content, false)
		}
	}
	if !slices.Contains(words, name) {
		p.metaNamed(s, name, content, true)
	}
}

// metaNamed takes in the content of a meta element under one of its names. Other names than those
// of a vocabulary count only where they stand in the attribute name.
func (p *page) metaNamed(s *record.Structured, name, content string, other bool) {
	if name == "" || len(name) > mostNote {
		return
	}
	at := strings.IndexAny(name, ":.")
	prefix := name[:max(at, 0)]
	colon := at > 0 && name[at] == ':'
	switch {
	case colon && prefix == "twitter":
		p.addMeta(&s.Twitter, name, content)
	case colon && slices.Contains(openGraph, prefix):
		p.addMeta(&s.OpenGraph, name, content)
	case prefix == "dc" || prefix == "dcterms":
		p.addMeta(&s.DublinCore, prefix+"."+name[at+1:], content)
	case other && len(s.Meta) < mostMeta && p.fits(content, "meta"):
		if s.Meta == nil {
			s.Meta = make(map[string]string)
		}
		if _, known := s.Meta[name]; !known {
			s.Meta[name] = content
		}
	}
}

// openGraph are the prefixes of OpenGraph and its types (https://ogp.me/).
var openGraph = []string{"og", "article", "book", "profile", "music", "video", "product", "fb", "al"}

func (p *page) addMeta(to *map[string][]string, name, content string) {
	if !p.fits(content, "meta") {
		return
	}
	if *to == nil {
		*to = make(map[string][]string)
	}
	if all, known := (*to)[name]; (known || len(*to) < mostMeta) && len(all) < mostMeta {
		(*to)[name] = append(all, content)
	}
}

// syntax is a notation for things and their properties in attributes of elements.
type syntax struct {
	name       string
	scope, typ string // an element with scope is a thing
	property   string
	ids        []string
	refs       string // lists the ids of elements whose properties belong to a thing, too
	vocab      string // in front of a type without a scheme
	resource   bool   // an attribute of that name holds a value
}

// https://html.spec.whatwg.org/multipage/microdata.html, https://www.w3.org/TR/microdata/ and
// https://www.w3.org/TR/rdfa-lite/
var (
	microdata = syntax{name: "microdata", scope: "itemscope", typ: "itemtype", property: "itemprop", ids: []string{"itemid"}, refs: "itemref"}
	rdfa      = syntax{name: "rdfa", scope: "typeof", typ: "typeof", property: "property", ids: []string{"resource", "about"}, vocab: "vocab", resource: true}
)

// things returns the things of a page that are no property of others.
func (p *page) things(x *syntax) (all []record.Thing) {
	for _, n := range p.elements {
		if _, is := attr(n, x.scope); !is {
			continue
		}
		if _, inside := attr(n, x.property); inside {
			continue
		}
		if len(all) == mostThings {
			p.note("%s: more than %d items", x.name, mostThings)
			break
		}
		all = append(all, p.thing(x, n, nil))
	}
	return all
}

// thing returns the thing that an element is; around are those that it is a property of.
func (p *page) thing(x *syntax, n *html.Node, around []*html.Node) record.Thing {
	t := record.Thing{}
	types, _ := attr(n, x.typ)
	vocabulary := p.vocabulary(x, n)
	for name := range strings.FieldsSeq(types) {
		if len(t.Type) == mostInside || !p.fits(vocabulary, x.name) || !p.fits(name, x.name) {
			break
		}
		t.Type = append(t.Type, vocabulary+name)
	}
	for _, name := range x.ids {
		if id, ok := attr(n, name); ok && t.ID == "" {
			t.ID = p.resolved(id)
		}
	}
	around = append(around, n)
	for _, property := range p.properties(x, n) {
		p.property(x, property, &t, around)
	}
	return t
}

// vocabulary returns what stands in front of the types of an element.
func (p *page) vocabulary(x *syntax, n *html.Node) string {
	types, _ := attr(n, x.typ)
	if x.vocab == "" || strings.Contains(types, ":") {
		return ""
	}
	for ; n != nil && p.spend(1); n = n.Parent {
		if v, ok := attr(n, x.vocab); ok {
			return v
		}
	}
	return ""
}

// properties returns the elements that are the properties of a thing, each once and in the order of
// the page: those below it and those that it refers to, but not within another thing.
// https://html.spec.whatwg.org/multipage/microdata.html#the-properties-of-an-item
func (p *page) properties(x *syntax, thing *html.Node) (all []*html.Node) {
	refs, _ := attr(thing, x.refs)
	var met map[*html.Node]bool // elements; nil: each is met once
	if refs != "" {
		met = map[*html.Node]bool{thing: true}
	}
	take := func(top *html.Node) {
		enter := true
		for n := top; n != nil && p.spend(1); n = css.Following(n, top, enter) {
			if enter = n == thing && n == top; enter || n.Type != html.ElementNode {
				continue
			}
			if met[n] {
				continue
			}
			if met != nil {
				met[n] = true
			}
			if _, is := attr(n, x.property); is {
				all = append(all, n)
			}
			_, scope := attr(n, x.scope)
			enter = !scope
		}
	}
	take(thing)
	for i, id := range strings.Fields(refs) {
		if other := p.withID(id); i < mostInside && other != nil && other != thing {
			take(other)
		}
	}
	if refs != "" {
		order := p.positions()
		slices.SortFunc(all, func(a, b *html.Node) int { return cmp.Compare(order[a], order[b]) })
	}
	return all
}

// property adds the property that an element is. A thing that has several names is counted for
// each, as it is written under each.
func (p *page) property(x *syntax, n *html.Node, t *record.Thing, around []*html.Node) {
	names, _ := attr(n, x.property)
	if !p.spend(thingSteps) || p.room < 0 {
		return
	}
	var v any
	room := p.room
	if _, scope := attr(n, x.scope); scope {
		if len(around) == mostInside {
			p.note("%s: items more than %d deep", x.name, mostInside)
			return
		}
		if slices.Contains(around, n) {
			p.note("%s: an item that refers to itself", x.name)
			return
		}
		v = p.thing(x, n, around)
	} else {
		text, cut := p.propertyOf(x, n)
		if cut {
			p.note("%s: a value was cut at %d bytes", x.name, MaxValue)
		}
		v = text
		p.room -= len(text)
	}
	size := room - p.room
	for i, name := range strings.Fields(names) {
		if i > 0 {
			p.room -= size
		}
		if !p.fits(name, x.name) || !p.fits(nil, x.name) {
			return
		}
		add(&t.Properties, name, v)
	}
}

// add adds a value to the list of a name.
func add(to *record.Fields, name string, v any) {
	for i := range *to {
		if f := &(*to)[i]; f.Name == name {
			if list := f.Value.([]any); len(list) < mostProperties {
				f.Value = append(list, v)
			}
			return
		}
	}
	if len(*to) < mostProperties {
		*to = append(*to, record.Value{Name: name, Value: []any{v}})
	}
}

// propertyOf returns the value of a property that is no thing. A content counts on any element:
// RDFa and the W3C's Microdata (2.4) have it so, and schema.org's examples, whatever the HTML
// Standard says.
func (p *page) propertyOf(x *syntax, n *html.Node) (text string, cut bool) {
	if content, has := attr(n, "content"); has {
		return collapse(content)
	}
	if to, ok := attr(n, "resource"); ok && x.resource {
		return p.resolved(to), false
	}
	if to, ok := attr(n, linked[n.DataAtom]); ok && n.DataAtom != atom.Meta && n.DataAtom != atom.Input {
		return p.resolved(to), false
	}
	if v, ok := attr(n, machine[n.DataAtom]); ok {
		return collapse(v)
	}
	return p.textOf(n)
}

// resolved returns an absolute URL, or the text if it is none.
func (p *page) resolved(ref string) string {
	if to, ok := p.resolve(ref); ok {
		return to
	}
	ref, _ = bounded(ref)
	return ref
}

// withID returns the first element with an id.
func (p *page) withID(id string) *html.Node {
	if p.ids == nil {
		p.ids = make(map[string]*html.Node)
		for _, n := range p.elements {
			if id, ok := attr(n, "id"); ok && p.ids[id] == nil {
				p.ids[id] = n
			}
		}
	}
	return p.ids[id]
}
