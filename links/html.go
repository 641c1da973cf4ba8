package links

import (
	"bytes"
	"slices"

	"github.com/weftcrawl/weft/internal/markup"
)

// html reads a page. When no more links are wanted, it continues for the text reader, if any.
func (x *Extractor) html() {
	s := &x.scan
	for !x.stopped || s.output != nil {
		if s.Pos >= s.due {
			s.rest(s.Pos)
		}
		s.only = x.stopped
		kind := markup.EOF
		if x.pending.open || x.heading.open || x.tag != nil || len(x.foreign.open) > 0 {
			kind = s.next()
		} else {
			kind = s.seek()
		}
		x.pending.add(s.Text, s.CDATA)
		if x.heading.open && !x.heading.add(s.Text, s.CDATA) {
			x.closeHeading()
		}
		if s.output != nil {
			s.output.add(s.From, s.From+len(s.Text))
			if s.CDATA != nil {
				s.output.send(s.CDATAFrom, s.CDATAFrom+len(s.CDATA), true)
			}
		}
		if x.inner != nil {
			x.innerText(kind)
		}
		switch kind {
		case markup.StartTag:
			if x.heading.open && beginsLine(s.Name) {
				x.heading.text.space()
			}
			x.startTag(s.Name, s.element)
		case skipped:
			x.attrs.reset()
			if s.style != nil {
				x.styleAttribute(s.Name, s.style)
			}
			x.backgroundAttribute(s.Name)
			s.output.startPart(s.Name, s.role, false)
		case markup.EndTag:
			x.endTag(s.Name)
		case markup.Other:
			s.endOfOther()
		case markup.EOF:
			x.page.Hidden = mayHaveLinks(s.hidden)
			x.closeAnchor()
			x.closeHeading()
			if s.output != nil {
				s.output.flush(false)
			}
			return
		}
	}
}

// innerText reads the first text or CDATA section in a style or script of SVG, where content is
// not raw text.
func (x *Extractor) innerText(kind markup.Token) {
	e := x.inner
	if e.text != nil && len(markup.Trim(x.scan.Text)) > 0 {
		e.text(x, e, x.scan.Text)
	}
	if e.text != nil && len(x.scan.CDATA) > 0 {
		e.text(x, e, x.scan.CDATA)
	}
	if kind != markup.Other {
		x.inner = nil
	}
}

// xhtml reads a page in XML. There a tag that closes itself has no content, and CDATA sections
// are text anywhere.
func (x *Extractor) xhtml() {
	x.scan.xml = true
	x.setRules()
	x.html()
}

// svgDocument reads an image.
func (x *Extractor) svgDocument() {
	x.scan.output = nil // text readers want pages
	x.xhtml()
}

// setRules sets the scanner to the rules that apply here.
func (x *Extractor) setRules() { x.scan.Sections = x.scan.xml || x.foreign.sections() }

func (x *Extractor) endTag(name []byte) {
	s := &x.scan
	from := s.Pos
	if s.skip(); s.Cut {
		s.hidden = s.Body[from:]
		return
	}
	if len(name) == 1 && name[0]|0x20 == 'a' {
		x.closeAnchor()
	}
	if x.heading.open && isHeading(name) {
		x.closeHeading() // any of them ends it, as in the tree builder
	}
	if len(x.foreign.open) > 0 {
		x.foreign.end(name)
		x.setRules()
	}
	s.output.endPart(name)
}

func (x *Extractor) startTag(name []byte, e *element) {
	s := &x.scan
	if e != nil && e.svg && !x.foreign.svg() {
		e = nil
	}
	if s.only && e != nil && !e.raw && !e.root && e.tag != "iframe" {
		e = nil
	}
	x.attrs.reset()
	attributes := s.Pos
	if e == nil {
		s.skip()
	} else {
		x.attrs.read(s)
	}
	if s.Cut {
		s.hidden = s.Body[attributes:]
		return
	}
	written := s.Body[attributes:s.Pos]
	if x.tag != nil {
		x.tag(&Tag{Name: name, x: x, attributes: written})
	}
	foreign := false
	if len(x.foreign.open) > 0 || e != nil && e.root {
		foreign = x.foreign.start(name, s.SelfClosing)
		x.setRules()
	}
	if !s.output.isShadowRoot(name, written) {
		s.output.startPart(name, s.role, s.SelfClosing && (s.xml || foreign || e != nil && e.root))
	}
	if s.style != nil && !s.only {
		x.styleAttribute(name, s.style)
	}
	if e == nil && !foreign {
		x.backgroundAttribute(name)
	}
	switch {
	case e == nil:
		return
	case e.read != nil:
		e.read(x, e)
	default:
		x.links(e)
		if e.tag == "iframe" {
			x.srcDocument()
		}
	}
	switch {
	case !e.raw || s.SelfClosing && (s.xml || foreign):
	case foreign && e.tag != "title":
		x.inner = e
	case !foreign:
		from := s.Pos
		text := s.RawText(e.tag)
		if s.Pos == len(s.Body) && e.tag != "plaintext" {
			s.hidden = text
		}
		if e.text != nil && !x.stopped {
			e.text(x, e, text)
		}
		switch e.tag {
		case "title":
			s.output.send(from, from+len(text), false)
		case "plaintext", "xmp":
			s.output.send(from, from+len(text), true)
		}
	}
}

// mayHaveLinks reports whether what a broken page hides would matter.
func mayHaveLinks(hidden []byte) bool {
	return bytes.Contains(hidden, []byte("href")) || bytes.Contains(hidden, []byte("HREF"))
}

// backgroundAttribute yields the background attribute of the current tag, if it has one.
func (x *Extractor) backgroundAttribute(name []byte) {
	raw := x.scan.background
	if raw == nil || !x.wants(KindImage) || len(raw) > maxValue || hasOtherScheme(raw) {
		return
	}
	value := x.attrs.decode(raw)
	for _, tag := range backed {
		if markup.EqualFold(name, tag) && len(markup.Trim(value)) > 0 {
			x.found(&Mention{Value: value, Tag: tag, Attr: "background", Kind: KindImage, from: raw})
		}
	}
}

// maxFrames bounds the documents in one another that srcdoc attributes hold: each level is decoded
// and read again.
const maxFrames = 4

// links yields the links of the current tag.
func (x *Extractor) links(e *element) {
	for _, p := range e.links {
		raw := x.attrs.raw(p.attr)
		switch {
		case raw == nil:
		case p.attr == ping:
			x.pings(e)
		case p.attr == srcset || p.attr == imageSrcset || p.attr == dataSrcset:
			if !x.wants(p.kind) {
				continue
			}
			for candidate := range candidates(x.attrs.decode(raw)) {
				x.found(&Mention{Value: candidate, Tag: e.tag, Attr: attributeNames[p.attr], Kind: p.kind, from: raw})
			}
		default:
			if x.wants(p.kind) || e.tag == "link" {
				var m Mention
				if x.mention(&m, e, p) {
					x.found(&m)
				}
			}
		}
	}
}

// pings yields the URLs of a ping attribute, which means something only beside href.
func (x *Extractor) pings(e *element) {
	raw := x.attrs.raw(ping)
	if raw == nil || x.attrs.raw(href) == nil || !x.wants(KindPing) || len(raw) > maxValue {
		return
	}
	for url, rest := cutWord(x.attrs.decode(raw)); url != nil; url, rest = cutWord(rest) {
		x.found(&Mention{Value: url, Tag: e.tag, Attr: attributeNames[ping], Kind: KindPing, from: raw})
	}
}

// mention reads an attribute of the current tag that holds one URL into m. It reports whether
// it is a link.
func (x *Extractor) mention(m *Mention, e *element, p source) bool {
	raw := x.attrs.raw(p.attr)
	if raw == nil || len(raw) > maxValue || !x.options.Every && hasOtherScheme(raw) {
		return false
	}
	// A script has href only in SVG, and xlink:href is the old name of href there.
	switch {
	case p.attr == xlinkHref && (x.attrs.raw(href) != nil || !x.foreign.svg()),
		e.tag == "script" && p.attr != src && !x.foreign.svg(),
		e.tag == "input" && p.attr == src && !markup.EqualFold(x.attrs.value(typ), "image"):
		return false
	}
	*m = Mention{Value: x.attrs.decode(raw), Tag: e.tag, Attr: attributeNames[p.attr], Kind: p.kind, from: raw}
	if !e.empty && len(markup.Trim(m.Value)) == 0 {
		return false
	}
	if e.svg && bytes.HasPrefix(markup.Trim(m.Value), []byte("#")) { // a part of this document
		return false
	}
	if e.rel {
		m.Rel = x.attrs.value(rel)
	}
	if e.tag == "link" {
		m.Kind = kindOfRel(m.Rel, x.attrs.value(typ))
	}
	return true
}

// anchor opens an <a>. It ends the previous one, as in the tree builder.
func (x *Extractor) anchor(e *element) {
	x.closeAnchor()
	if x.options.Bare || x.mentioned != nil {
		x.links(e)
		return
	}
	x.pings(e)
	for _, p := range e.links {
		var m Mention
		if p.attr != ping && x.mention(&m, e, p) && x.wants(m.Kind) {
			if l, ok := x.link(&m); ok {
				x.pending.begin(l)
			}
		}
	}
}

func (x *Extractor) closeAnchor() {
	if x.pending.open {
		x.emit(x.pending.end(&x.strings))
	}
}

// base reads <base>. The first with an href counts, even if it cannot serve as a base:
// https://html.spec.whatwg.org/multipage/semantics.html#the-base-element.
func (x *Extractor) base(*element) {
	if x.hasBase || x.attrs.raw(href) == nil || x.foreign.strict() {
		return
	}
	x.hasBase = true
	u, ok := x.resolve(x.attrs.value(href))
	if ok && u.Scheme() != "data" && u.Scheme() != "javascript" {
		x.resolver.setBase(u)
	}
}

// title reads the first <title>.
func (x *Extractor) title(_ *element, text []byte) {
	if x.hasTitle {
		return
	}
	x.hasTitle = true
	title := collapsed{buf: x.heading.spare[:0], max: maxTitle}
	title.add(text)
	x.page.Title, x.heading.spare = string(title.buf), title.buf
}

// openHeading opens an <h1>, unless one before had a text.
func (x *Extractor) openHeading(*element) {
	x.closeHeading()
	if x.page.H1 == "" && x.mentioned == nil {
		x.heading.open = true
		x.heading.text.reset(maxTitle)
	}
}

func (x *Extractor) closeHeading() {
	if x.heading.open {
		x.heading.open = false
		x.page.H1 = string(x.heading.text.buf)
	}
}

// description reads a description, if it is the first.
func (x *Extractor) description() {
	value := x.attrs.value(content)
	if x.page.Description != "" || len(value) == 0 {
		return
	}
	text := collapsed{buf: x.heading.spare[:0], max: maxDescription}
	text.addDecoded(value[:min(len(value), maxChunk)])
	x.page.Description, x.heading.spare = string(text.buf), text.buf
}

// previews are the names of meta elements that have the image by which others show the page.
var previews = []string{"og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"}

// itemPreviews are those of schema.org, in lower case.
var itemPreviews = []string{"image", "thumbnailurl"}

// preview yields the image of a meta element, if it has one. People write name and property for
// each other.
func (x *Extractor) preview(e *element) {
	raw := x.attrs.raw(content)
	if raw == nil || len(raw) > maxValue {
		return
	}
	named := func(a attribute, names []string) bool {
		name := markup.Trim(x.attrs.value(a))
		return len(name) > 0 && slices.ContainsFunc(names, func(n string) bool { return markup.EqualFold(name, n) })
	}
	if !named(property, previews) && !named(metaName, previews) && !named(itemProp, itemPreviews) {
		return
	}
	if value := x.attrs.decode(raw); len(markup.Trim(value)) > 0 {
		x.found(&Mention{Value: value, Tag: e.tag, Attr: attributeNames[content], Kind: KindPreview, from: raw})
	}
}

// meta reads <meta> with name=robots and name=description, <meta http-equiv=refresh> and the images
// of previews. Whatever one of several robots elements forbids is forbidden. Of several refresh
// elements the first valid one takes effect; each is a link.
func (x *Extractor) meta(e *element) {
	if x.wants(KindPreview) {
		x.preview(e)
	}
	if name := markup.Trim(x.attrs.value(metaName)); len(name) > 0 {
		if everyone := markup.EqualFold(name, "robots"); everyone || x.agent != "" && markup.EqualFold(name, x.agent) {
			x.page.Robots.read(string(x.attrs.value(content)), everyone)
		} else if markup.EqualFold(name, "description") && x.mentioned == nil {
			x.description()
		}
	}
	if !markup.EqualFold(x.attrs.value(httpEquiv), "refresh") {
		return
	}
	target, ok := refresh(x.attrs.value(content))
	if !ok {
		return
	}
	m := Mention{Value: target, Tag: e.tag, Attr: attributeNames[content], Kind: KindRedirect, from: x.attrs.raw(content)}
	if !x.hasFresh {
		u, ok := x.resolve(target)
		switch {
		case len(target) == 0:
			x.hasFresh = true
		case ok && u.IsHTTP():
			x.hasFresh, x.page.Refresh = true, u
		}
	}
	if len(target) > 0 {
		x.found(&m)
	}
}

// script reads the text of a <script>.
func (x *Extractor) script(e *element, text []byte) {
	switch kind := x.scriptKind(); {
	case kind == "application/ld+json":
		x.jsonLD(e.tag, text)
	case kind == "" || kind == "module" || slices.Contains(javaScript, kind):
		x.page.Scripted = true
		if x.options.Scripts {
			x.scriptURLs(e.tag, text)
		}
	}
}

// scriptKind returns the type of the current script, without parameters, in lower case.
func (x *Extractor) scriptKind() string {
	if len(x.attrs.raw(typ)) == 0 {
		return ""
	}
	return mediaType(string(x.attrs.value(typ)))
}

// srcDocument reads the document that an <iframe> has in its srcdoc attribute. It is a part of this
// page: its links are this page's, and it has this page's base unless it has a <base> of its own.
// Its title and what it says to robots do not count.
func (x *Extractor) srcDocument() {
	raw := x.attrs.raw(srcDoc)
	if raw == nil || x.frames == maxFrames || x.stopped && x.scan.output == nil {
		return
	}
	document := x.attrs.decode(raw)
	reads := x.scan.output.readsFrame(document)
	if x.stopped && !reads {
		return
	}
	outer, base := x.reading, x.resolver.urls.Base()
	x.begin(document, outer.yield)
	if reads {
		output := x.output
		defer func() { x.output = output }()
		x.scan.output = x.output.begin(output.reader, document, base)
	}
	// Those of the outer page stay as they are.
	x.attrs.decoded, x.pending.text.buf, x.heading.text.buf, x.foreign.open = nil, nil, nil, nil
	x.mentioned, x.stopped, x.frames = outer.mentioned, outer.stopped, outer.frames+1
	x.places = outer.places
	x.places.find(raw)
	x.scan.pauses = pauses{outer.scan.pause, pauseStep}
	x.html()
	if x.hasBase {
		x.resolver.setBase(base)
	}
	outer.stopped, outer.places = x.stopped, x.places
	x.reading = outer
}
