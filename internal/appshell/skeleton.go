package appshell

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/markup"
)

// Bounds of a skeleton, in bytes: of all of it, and of the name that an element has.
const (
	MaxSkeleton = 1 << 10
	maxName     = 96
)

// shown is the own text of a page at which its skeleton ends, in bytes: what follows is its
// content, which the pages of one shape do not share.
const shown = 40

// skeleton is the part of a page that others of its template have, too: its scripts, and the
// elements around its content, as lines of text. Numbers in names are the same.
type skeleton struct {
	text []byte
	last int // start of its last line
}

// bone appends an element.
func (k *skeleton) bone(name []byte, a *attributes) {
	at := len(k.text)
	k.text = appendLower(k.text, name)
	if markup.EqualFold(name, "script") {
		src, _, _ := bytes.Cut(a.src, []byte("?"))
		k.text = append(append(k.text, ' '), src[:min(len(src), maxName)]...)
	} else {
		k.text = appendName(append(k.text, '#'), a.id)
		k.text = appendName(append(k.text, '.'), a.class)
	}
	k.text = append(k.text, '\n')
	if bytes.Equal(k.text[at:], k.text[k.last:at]) || len(k.text) > MaxSkeleton { // one of a list
		k.text = k.text[:at]
		return
	}
	k.last = at
}

// appendName appends an id or class with # for each number.
func appendName(b, name []byte) []byte {
	for i, c := range name[:min(len(name), maxName)] {
		switch {
		case !markup.IsDigit(c):
			b = append(b, c)
		case i == 0 || !markup.IsDigit(name[i-1]):
			b = append(b, '#')
		}
	}
	return b
}

func appendLower(b, name []byte) []byte {
	for _, c := range name[:min(len(name), maxName)] {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		b = append(b, c)
	}
	return b
}

// boneless are elements whose number and place differ between pages of one shape: text, lists, and
// what stands in the head besides scripts.
var boneless = []string{"a", "b", "i", "em", "strong", "span", "small", "code", "br", "img", "font", "u", "p", "li", "dt", "dd", "tr", "td", "th",
	"option", "meta", "link", "title", "style", "base", "hr", "wbr", "svg", "path", "use", "picture", "source", "figure", "label"}

// bone adds an element to the skeleton, unless that is whole.
func (p *page) bone(name []byte, a *attributes) {
	if p.bones != nil && p.own.text < shown && p.open.ignored == 0 && named(name, boneless) == "" {
		p.bones.bone(name, a)
	}
}

// Runs reports whether a document has a script that runs.
func Runs(body []byte) bool {
	for s := (markup.Scanner{Body: body}); ; {
		switch s.Next() {
		case markup.EOF:
			return false
		case markup.StartTag:
			name := s.Name
			a := read(&s)
			if markup.EqualFold(name, "script") {
				if executes(a.typ) {
					return true
				}
				s.RawText("script")
			} else if raw := named(name, raws); raw != "" {
				s.RawText(raw)
			}
		}
	}
}
