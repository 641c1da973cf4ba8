package appshell

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/markup"
)

// Reason is the evidence that a page is an app shell; empty: it is none.
type Reason string

// The reasons.
const (
	Mount    Reason = "mount"
	NoScript Reason = "noscript"
	NoText   Reason = "no-text"
)

// Bounds of text, in bytes of UTF-8 without white space: a word of English has five, a character
// of Chinese three.
const (
	maxText     = 1000 // of a page whose mount is empty
	maxNoScript = 150  // of a page that asks for JavaScript
	maxNothing  = 25   // of a page that says nothing
	maxPatience = 100  // of one that asks for patience
	maxLoading  = 60   // within a mount: "Loading…"
	maxLinks    = 3    // links of a page that says nothing, or of a mount
	maxSpinner  = 2    // pictures within a mount
)

// mounts are the ids of the elements that frameworks fill, in lower case. Custom elements, such as
// Angular's app-root, count by their name.
var mounts = []string{
	"root", "app", "__next", "__nuxt", "___gatsby", "app-root", "react-root", "reactroot", "react-app", "vue-app",
	"application", "app-container", "app-mount", "main-app", "mount", "svelte", "q-app", "ember-application",
	"swagger-ui", "redoc-container", "single-spa-application", "wrapper-app", "spa",
}

// customMounts are names of custom elements that hold a whole page.
var customMounts = []string{"app-root", "my-app", "ng-app", "app-component", "app-shell", "redoc", "rapi-doc", "elements-api"}

// page is the evidence found so far.
type page struct {
	scripts bool // executable ones
	asks    bool // a noscript asks for JavaScript
	empty   bool // a mount shows hardly anything
	refresh bool
	loading bool // it asks for patience
	counts

	mount  []byte // the name of the open mount's element; nil: none is open
	depth  int    // open elements of that name in it
	before counts // at its start
}

// counts are the numbers of things that a page shows.
type counts struct {
	text     int // bytes
	links    int
	contents int // pictures, forms, frames, tables: whatever shows something without text
}

// Judge returns the reason to take a page for an app shell. The body is UTF-8, and is not kept.
func Judge(body []byte) Reason {
	var p page
	s := markup.Scanner{Body: body}
	for {
		kind := s.Next()
		p.text += visible(s.Text)
		p.loading = p.loading || asksForPatience(s.Text)
		if p.text > maxText {
			return ""
		}
		switch kind {
		case markup.EOF:
			p.endMount()
			return p.reason()
		case markup.StartTag:
			p.start(&s)
		case markup.EndTag:
			p.end(&s)
		}
	}
}

// reason weighs the evidence.
func (p *page) reason() Reason {
	switch {
	case !p.scripts || p.refresh:
		return ""
	case p.empty:
		return Mount
	case p.asks && p.text < maxNoScript:
		return NoScript
	case (p.text < maxNothing || p.loading && p.text < maxPatience) && p.links <= maxLinks && p.contents == 0:
		return NoText
	}
	return ""
}

// attributes are the values of a tag that matter.
type attributes struct{ id, typ, httpEquiv []byte }

func read(s *markup.Scanner) (a attributes) {
	for {
		name, value, ok := s.Attr()
		switch {
		case !ok:
			return a
		case a.id == nil && markup.EqualFold(name, "id"):
			a.id = value
		case a.typ == nil && markup.EqualFold(name, "type"):
			a.typ = value
		case a.httpEquiv == nil && markup.EqualFold(name, "http-equiv"):
			a.httpEquiv = value
		}
	}
}

func (p *page) start(s *markup.Scanner) {
	name := s.Name
	a := read(s)
	if s.Cut {
		return
	}
	switch {
	case markup.EqualFold(name, "script"):
		if text := s.RawText("script"); executes(a.typ) && (len(text) > 0 || !s.SelfClosing) {
			p.scripts = true
		}
	case markup.EqualFold(name, "noscript"):
		if text := s.RawText("noscript"); asksForScripts(text) {
			p.asks = true
		}
	case markup.EqualFold(name, "meta"):
		p.refresh = p.refresh || markup.EqualFold(a.httpEquiv, "refresh")
	case markup.EqualFold(name, "a"):
		p.links++
	case named(name, raws) != "":
		s.RawText(named(name, raws))
	case named(name, shows) != "":
		if !markup.EqualFold(name, "input") || !markup.EqualFold(a.typ, "hidden") {
			p.contents++
		}
	}
	switch {
	case p.mount != nil:
		if bytes.EqualFold(name, p.mount) {
			p.depth++
		}
	case named(a.id, mounts) != "" || named(name, customMounts) != "":
		p.mount, p.depth, p.before = name, 1, p.counts
	}
}

func (p *page) end(s *markup.Scanner) {
	if p.mount != nil && bytes.EqualFold(s.Name, p.mount) {
		if p.depth--; p.depth == 0 {
			p.endMount()
		}
	}
	read(s)
}

// endMount closes the open mount, if there is one.
func (p *page) endMount() {
	if p.mount != nil && p.text-p.before.text < maxLoading && p.links-p.before.links <= maxLinks && p.contents-p.before.contents <= maxSpinner {
		p.empty = true
	}
	p.mount = nil
}

// raws are the elements whose text is not shown, or has no tags.
var raws = []string{"style", "title", "template", "xmp", "noembed", "noframes"}

// shows are the elements that show something without text.
var shows = []string{
	"img", "picture", "video", "audio", "iframe", "frame", "object", "embed", "table",
	"input", "select", "button", "textarea",
}

// named returns the one of these names that a name is; empty: none.
func named(name []byte, all []string) string {
	for _, n := range all {
		if markup.EqualFold(name, n) {
			return n
		}
	}
	return ""
}

// executes reports whether a script of this type runs: data, templates and import maps do not.
func executes(typ []byte) bool {
	typ = markup.Trim(typ)
	return len(typ) == 0 || markup.EqualFold(typ, "module") || bytes.Contains(bytes.ToLower(typ), []byte("javascript"))
}

// asksForScripts reports whether a noscript element speaks of scripts to people, and not to a
// counter.
func asksForScripts(text []byte) bool {
	lower := bytes.ToLower(text)
	return bytes.Contains(lower, []byte("javascript")) || bytes.Contains(lower, []byte("enable js"))
}

// asksForPatience reports whether a text is that of a page that is still to come.
func asksForPatience(text []byte) bool {
	if len(text) > maxPatience {
		return false
	}
	for _, word := range [][]byte{[]byte("oading"), []byte("lease wait")} {
		if bytes.Contains(text, word) {
			return true
		}
	}
	return false
}

// visible returns the length of a text without white space and references to it.
func visible(text []byte) (n int) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case markup.IsSpace(c):
		case c == '&' && bytes.HasPrefix(text[i:], []byte("&nbsp;")):
			i += len("&nbsp;") - 1
		default:
			n++
		}
	}
	return n
}
