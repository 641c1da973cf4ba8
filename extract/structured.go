package extract

import (
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

// meta takes in a meta element.
func (p *page) meta(s *record.Structured, n *html.Node) {
	name, _ := attr(n, "property")
	if name == "" {
		name, _ = attr(n, "name")
	}
	content, ok := attr(n, "content")
	name, _ = collapse(strings.ToLower(name))
	content, _ = collapse(content)
	if name == "" || len(name) > mostNote || !ok || !p.fits(content, "meta") {
		return
	}
	prefix, _, prefixed := strings.Cut(name, ":")
	switch {
	case prefixed && prefix == "twitter":
		addMeta(&s.Twitter, name, content)
	case prefixed && slices.Contains(openGraph, prefix):
		addMeta(&s.OpenGraph, name, content)
	case n.Attr != nil && len(s.Meta) < mostMeta:
		if _, is := attr(n, "name"); !is {
			return
		}
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

func addMeta(to *map[string][]string, name, content string) {
	if *to == nil {
		*to = make(map[string][]string)
	}
	if all, known := (*to)[name]; (known || len(*to) < mostMeta) && len(all) < mostMeta {
		(*to)[name] = append(all, content)
	}
}

// syntax is how things and their properties stand in the attributes of elements.
type syntax struct {
	name              string
	scope, typ        string // an element with scope is a thing
	property          string
	ids               []string
	refs              string // lists the ids of elements whose properties belong to a thing, too
	vocab             string // in front of a type without a scheme
	content, resource bool   // attributes of that name hold a value
}

// https://html.spec.whatwg.org/multipage/microdata.html and https://www.w3.org/TR/rdfa-lite/
var (
	microdata = syntax{name: "microdata", scope: "itemscope", typ: "itemtype", property: "itemprop", ids: []string{"itemid"}, refs: "itemref"}
	rdfa      = syntax{name: "rdfa", scope: "typeof", typ: "typeof", property: "property", ids: []string{"resource", "about"}, vocab: "vocab", content: true, resource: true}
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
		all = append(all, p.thing(x, n, 1))
	}
	return all
}

// thing returns the thing that an element is.
func (p *page) thing(x *syntax, n *html.Node, depth int) record.Thing {
	t := record.Thing{}
	types, _ := attr(n, x.typ)
	for _, name := range strings.Fields(types) {
		if name = p.vocabulary(x, n) + name; len(t.Type) < mostInside && p.fits(name, x.name) {
			t.Type = append(t.Type, name)
		}
	}
	for _, name := range x.ids {
		if id, ok := attr(n, name); ok && t.ID == "" {
			t.ID = p.resolved(id)
		}
	}
	p.properties(x, n, n, &t, depth)
	refs, _ := attr(n, x.refs)
	for i, id := range strings.Fields(refs) {
		if i == mostInside {
			break
		}
		if other := p.withID(id); other != nil && !isWithin(n, other) {
			p.property(x, other, &t, depth)
			if _, scope := attr(other, x.scope); !scope {
				p.properties(x, n, other, &t, depth)
			}
		}
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

// properties adds the properties that stand below an element, but not in another thing.
func (p *page) properties(x *syntax, thing, below *html.Node, t *record.Thing, depth int) {
	enter := true
	for n := css.Following(below, below, true); n != nil && p.spend(1); n = css.Following(n, below, enter) {
		enter = true
		if n.Type != html.ElementNode {
			continue
		}
		p.property(x, n, t, depth)
		_, scope := attr(n, x.scope)
		enter = !scope && n != thing
	}
}

// property adds the property that an element is, if it is one.
func (p *page) property(x *syntax, n *html.Node, t *record.Thing, depth int) {
	names, ok := attr(n, x.property)
	if !ok || !p.spend(thingSteps) || p.room < 0 {
		return
	}
	var v any
	if _, scope := attr(n, x.scope); scope {
		if depth == mostInside {
			p.note("%s: items more than %d deep", x.name, mostInside)
			return
		}
		v = p.thing(x, n, depth+1)
	} else {
		text, cut := p.propertyOf(x, n)
		if cut {
			p.note("%s: a value was cut at %d bytes", x.name, MaxValue)
		}
		v = text
	}
	for _, name := range strings.Fields(names) {
		if !p.fits(name, x.name) || !p.fits(v, x.name) {
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

// propertyOf returns the value of a property that is no thing.
func (p *page) propertyOf(x *syntax, n *html.Node) (text string, cut bool) {
	content, has := attr(n, "content")
	if has && (x.content || n.DataAtom == atom.Meta) {
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

// isWithin reports whether n is other, or in it.
func isWithin(n, other *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == other {
			return true
		}
	}
	return false
}
