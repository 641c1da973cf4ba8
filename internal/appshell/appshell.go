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
	Template Reason = "template"
	Hollow   Reason = "hollow"
	NoText   Reason = "no-text"
)

// Bounds of a page's own text, in bytes of UTF-8 without white space: a word of English has five, a
// character of Chinese three. Evidence counts below its bound.
const (
	maxText        = 300 // of an empty mount, or of a template that is not filled
	maxHollow      = 200 // of an empty place that is named for content
	maxCustom      = 150 // of an empty element that is custom or names its component
	maxPlaceholder = 100 // of placeholder blocks, empty pieces of text, scripts that write markup
	maxUnknown     = 40  // of an empty place with any other name
	maxNoScript    = 150 // of a page that asks for JavaScript, and has an empty place
	maxAsking      = 25  // of one without such a place
	maxLoading     = 40  // of a page that says that it is loading
	maxNothing     = 12  // of a page that says nothing
	maxFilled      = 25  // of a mount that says nothing
	maxLinks       = 3   // links of a page that has an empty place
	maxSpinner     = 2   // pictures within a mount
	maxBlanks      = 1   // empty pieces of text with a name
	maxBlocks      = 1   // pieces of text of a page that is still to come
	longPage       = 1000
)

// page is the evidence found so far.
type page struct {
	scripts bool // executable ones
	asks    bool // a noscript asks for JavaScript
	filled  bool // a mount shows something: what a noscript asks for is done
	refresh bool
	loading bool // it asks for patience

	all counts
	own counts // without furniture and widgets

	// Bounds of the page's own text below which the evidence of each kind counts; 0: there is none.
	mount, template, hollow, custom, unknown int

	blanks int // named pieces of text that are empty

	bones   *skeleton // nil: nobody wants it
	open    stack
	inBlock bool // the text is that of a paragraph, heading or item
	heading bool // ... of a heading
}

// counts are the numbers of things that a page shows.
type counts struct {
	text     int // bytes
	blocks   int // pieces of text in paragraphs, headings and items
	links    int
	contents int // pictures, forms, frames, tables: whatever shows something without text
}

// Judge returns the reason to take a page for an app shell. The body is UTF-8, and is not kept.
func Judge(body []byte) Reason {
	return new(page).judge(body)
}

// Look is a page as it looks without scripts.
type Look struct {
	Reason   Reason
	Thin     bool   // it shows a short text of its own, and next to no links
	Skeleton []byte // see skeleton
}

// LookAt is Judge, and appends the skeleton of the page to room, which should have MaxSkeleton
// bytes.
func LookAt(body, room []byte) Look {
	k := skeleton{text: room}
	p := page{bones: &k}
	reason := p.judge(body)
	return Look{reason, p.own.text <= longPage && p.own.links <= maxLinks, k.text}
}

// judge is Judge.
func (p *page) judge(body []byte) Reason {
	s := markup.Scanner{Body: body}
	for {
		kind := s.Next()
		p.text(s.Text)
		if p.own.text > longPage || p.bones == nil && p.own.text >= maxText { // no evidence counts
			return ""
		}
		switch kind {
		case markup.EOF:
			for p.open.n > 0 {
				p.close(p.open.pop())
			}
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
	text, few := p.own.text, p.own.links <= maxLinks
	switch {
	case !p.scripts || p.refresh:
		return ""
	case text < p.mount:
		return Mount
	case p.asks && !p.filled && few && (text < maxAsking || text < maxNoScript && max(p.hollow, p.custom, p.unknown) > 0):
		return NoScript
	case text < p.template:
		return Template
	case few && p.loading && text < maxLoading && p.own.contents == 0 && p.own.blocks <= maxBlocks:
		return NoText
	case p.saysNothing():
		return NoText
	case few && p.isHollow():
		return Hollow
	}
	return ""
}

// isHollow reports whether what is empty outweighs what is shown.
func (p *page) isHollow() bool {
	text := p.own.text
	switch {
	case text < p.hollow, p.blanks > maxBlanks && text < maxPlaceholder:
		return true
	case p.own.contents > 0:
		return false
	}
	return text < p.custom || text < p.unknown && p.own.blocks <= maxBlocks
}

// saysNothing reports whether a page shows nothing, or nothing but a menu.
func (p *page) saysNothing() bool {
	if p.all.blocks > 0 || p.own.contents > 0 || p.own.links > 0 {
		return false
	}
	return p.own.text == 0 || p.all.text < maxNothing && p.all.contents == 0 && p.all.links == 0
}

// text counts a piece of text.
func (p *page) text(text []byte) {
	n := visible(text)
	switch {
	case n == 0:
		return
	case p.open.links == 0 && (asksForPatience(text) || !p.heading && beginsLoading(text)):
		p.loading = p.loading || p.open.ignored == 0
		return
	case p.open.code == 0 && p.open.ignored == 0 && isTemplate(text):
		p.template = maxText
		return
	}
	more := counts{text: n}
	if p.inBlock {
		more.blocks = 1
	}
	p.add(more)
}

// add counts what the page shows.
func (p *page) add(more counts) {
	p.all.add(more)
	if p.open.ignored == 0 {
		p.own.add(more)
	}
}

func (c *counts) add(more counts) {
	c.text += more.text
	c.blocks += more.blocks
	c.links += more.links
	c.contents += more.contents
}

// since returns what has been counted since c was before.
func (c counts) since(before counts) counts {
	return counts{c.text - before.text, c.blocks - before.blocks, c.links - before.links, c.contents - before.contents}
}

// start notes a start tag.
func (p *page) start(s *markup.Scanner) {
	name := s.Name
	a := read(s)
	if s.Cut {
		return
	}
	p.bone(name, &a)
	if p.open.ignored == 0 {
		p.template = max(p.template, a.template)
		p.hollow = max(p.hollow, a.hollow)
	}
	if named(name, inlines) == "" {
		p.inBlock = named(name, textBlocks) != ""
		p.heading = named(name, headings) != ""
	}
	switch {
	case markup.EqualFold(name, "script"):
		p.script(s, a.typ)
	case markup.EqualFold(name, "noscript"):
		p.noscript(s.RawText("noscript"))
	case markup.EqualFold(name, "template") && a.shadow:
		// A declarative shadow root is shown.
	case named(name, raws) != "":
		s.RawText(named(name, raws))
	case markup.EqualFold(name, "meta"):
		p.refresh = p.refresh || markup.EqualFold(a.httpEquiv, "refresh")
	default:
		p.show(name, &a)
		if !s.SelfClosing || bytes.IndexByte(name, '-') > 0 {
			p.openElement(name, &a)
		}
	}
}

// show counts an element that shows something.
func (p *page) show(name []byte, a *attributes) {
	switch {
	case markup.EqualFold(name, "a"):
		p.add(counts{links: 1})
	case markup.EqualFold(name, "input") && markup.EqualFold(a.typ, "hidden"):
	case markup.EqualFold(name, "iframe") && !leads(a.src):
	case named(name, shows) != "":
		p.add(counts{contents: 1})
	}
}

// leads reports whether a frame's source is a document.
func leads(src []byte) bool {
	src = markup.Trim(src)
	return len(src) > 0 && !bytes.HasPrefix(src, []byte("about:")) && !bytes.HasPrefix(src, []byte("javascript:"))
}

// openElement puts an element on the stack, if its end tells something.
func (p *page) openElement(name []byte, a *attributes) {
	if named(name, voids) != "" {
		return
	}
	e := element{name: name, place: placeOf(name, a)}
	if e.place == mount && p.open.ignored > 0 {
		e.place = other
	}
	if e.place == none {
		return
	}
	e.main = e.place == content || markup.EqualFold(a.role, "main")
	e.before = p.all
	if e.place == mount {
		e.before = p.own
	}
	if e.place == spinner && p.open.ignored == 0 {
		p.loading = true
	}
	p.open.push(e)
}

// end notes an end tag.
func (p *page) end(s *markup.Scanner) {
	name := s.Name
	read(s)
	if named(name, inlines) == "" {
		p.inBlock, p.heading = false, false
	}
	for i := p.open.find(name); i >= 0 && p.open.n > i; {
		p.close(p.open.pop())
	}
}

// close judges an element whose end has come.
func (p *page) close(e element) {
	if p.open.ignored > 0 || e.place == ignored {
		return
	}
	if e.place == mount {
		p.closeMount(p.own.since(e.before))
		return
	}
	if p.all.since(e.before) != (counts{}) {
		return
	}
	switch e.place {
	case bound:
		p.template = max(p.template, maxText)
	case content:
		p.hollow = max(p.hollow, maxHollow)
	case component:
		p.hollow = max(p.hollow, maxCustom)
	case custom:
		p.custom = maxCustom
	case blank:
		p.blanks++
	case placeholder:
		p.hollow = max(p.hollow, maxPlaceholder)
	case other:
		if p.open.mains > 0 {
			p.unknown = maxUnknown
		}
	}
}

// closeMount judges a mount by what it shows.
func (p *page) closeMount(shown counts) {
	if shown.text < maxFilled && shown.blocks == 0 && shown.links <= 1 && shown.contents <= maxSpinner {
		p.mount = maxText
	} else {
		p.filled = true
	}
}

// script notes a script.
func (p *page) script(s *markup.Scanner, typ []byte) {
	text := s.RawText("script")
	if !executes(typ) || len(text) == 0 && s.SelfClosing {
		return
	}
	p.scripts = true
	if p.open.ignored == 0 && writes(text) {
		p.hollow = max(p.hollow, maxPlaceholder)
	}
}

// noscript notes what is shown to those who run no scripts: a request to do so, or the page itself.
func (p *page) noscript(text []byte) {
	if asksForScripts(text) {
		p.asks = true
		return
	}
	for s := (markup.Scanner{Body: text}); ; {
		kind := s.Next()
		p.add(counts{text: visible(s.Text)})
		switch kind {
		case markup.EOF:
			return
		case markup.StartTag:
			name := s.Name
			read(&s)
			if markup.EqualFold(name, "a") {
				p.add(counts{links: 1})
			} else if raw := named(name, raws); raw != "" {
				s.RawText(raw)
			}
		case markup.EndTag:
			read(&s)
		}
	}
}
