package appshell

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/markup"
)

// attributes are the evidence of those of one tag.
type attributes struct {
	id, class, role, typ, src, httpEquiv []byte

	shadow    bool // a declarative shadow root
	bound     bool // a script writes the text of the element
	component bool // it names a component, or what is to be fetched
	template  int  // bound of a page's own text below which the element is a template
	hollow    int  // ... below which the element is a place to fill
}

// read reads the attributes of a tag.
func read(s *markup.Scanner) (a attributes) {
	frame := named(s.Name, fragments) != ""
	for {
		name, value, ok := s.Attr()
		if !ok {
			if frame && len(a.src) > 0 || a.component && markup.EqualFold(s.Name, "table") {
				a.hollow = maxHollow
			}
			return a
		}
		a.note(name, value)
	}
}

// note notes an attribute.
func (a *attributes) note(name, value []byte) {
	switch {
	case markup.EqualFold(name, "class"):
		a.class = first(a.class, value)
	case markup.EqualFold(name, "id"):
		a.id = first(a.id, value)
	case markup.EqualFold(name, "src"):
		a.src = first(a.src, value)
	case markup.EqualFold(name, "type"):
		a.typ = first(a.typ, value)
	case markup.EqualFold(name, "role"):
		a.role = first(a.role, value)
	case markup.EqualFold(name, "http-equiv"):
		a.httpEquiv = first(a.httpEquiv, value)
	case markup.EqualFold(name, "shadowrootmode"):
		a.shadow = true
	case markup.EqualFold(name, "aria-busy") && markup.EqualFold(value, "true"):
		a.hollow = max(a.hollow, maxPlaceholder)
	case len(name) > 2 && bytes.IndexAny(name[:3], "-:") > 0 || len(name) > 5 && name[4] == '-':
		a.framework(name, value)
	}
}

// framework notes an attribute that a framework reads.
func (a *attributes) framework(name, value []byte) {
	if len(name) > 5 && markup.EqualFold(name[:5], "data-") {
		if named(name, components) != "" {
			a.component = true
			return
		}
		if markup.EqualFold(name, "data-bind") {
			a.knockout(value)
			return
		}
		name = name[5:]
	}
	switch {
	case named(name, templates) != "":
		a.template = maxText
	case named(name, bindings) != "":
		a.bound = true
	case markup.EqualFold(name, "hx-trigger") && fetchesAtOnce(value):
		a.hollow = max(a.hollow, maxHollow)
	}
}

// knockout notes bindings of Knockout, such as "text: name, visible: open".
func (a *attributes) knockout(value []byte) {
	for _, word := range [][]byte{[]byte("foreach:"), []byte("with:"), []byte("template:"), []byte("component:")} {
		if bytes.Contains(value, word) {
			a.template = maxText
		}
	}
	if bytes.Contains(value, []byte("text:")) || bytes.Contains(value, []byte("html:")) {
		a.bound = true
	}
}

// templates are attributes of elements that scripts repeat or fill: of Vue, Alpine, AngularJS and
// its routers. With "data-" in front, they mean the same.
var templates = []string{"v-for", "x-for", "ng-repeat", "ng-view", "ui-view"}

// bindings are attributes of elements whose text scripts write.
var bindings = []string{"v-text", "v-html", "x-text", "x-html", "ng-bind", "ng-bind-html"}

// components are attributes with the name of the component that fills an element, or of where its
// content is.
var components = []string{"data-react-class", "data-react-component", "data-vue-component", "data-component", "data-page", "data-app",
	"data-url", "data-endpoint", "data-source", "data-api", "data-feed", "data-ajax"}

// fragments are elements that load their content from src.
var fragments = []string{"turbo-frame", "include-fragment", "amp-list"}

// fetchesAtOnce reports whether a trigger of htmx needs no act of the reader.
func fetchesAtOnce(trigger []byte) bool {
	return bytes.HasPrefix(trigger, []byte("load")) || bytes.HasPrefix(trigger, []byte("revealed")) || bytes.HasPrefix(trigger, []byte("intersect"))
}

// first returns a, the attribute that came first, unless there is none.
func first(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}
