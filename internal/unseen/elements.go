package unseen

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Removed counts the elements and characters that were taken out of a page.
type Removed struct {
	Elements   int // and texts, with a word in them
	Characters int
}

// Any reports whether anything was.
func (r Removed) Any() bool { return r.Elements+r.Characters > 0 }

// Remove takes what is unseen out of a tree.
func Remove(root *html.Node) Removed {
	r := remover{sheet: sheetOf(root)}
	from := look{background: white}
	if r.sheet.styled {
		from.background = color{}
	}
	r.children(root, from)
	return r.Removed
}

// look is the style that a text takes over from the elements around it.
type look struct {
	invisible, small  bool
	color, background color
}

type remover struct {
	Removed
	sheet sheet
}

// children goes through what is in an element: the depth of a tree is bounded by its parser.
func (r *remover) children(n *html.Node, l look) {
	for child, next := n.FirstChild, (*html.Node)(nil); child != nil; child = next {
		next = child.NextSibling
		switch child.Type {
		case html.TextNode:
			r.text(n, child, l)
		case html.ElementNode:
			r.element(n, child, l)
		case html.CommentNode:
			n.RemoveChild(child)
		}
	}
}

func (r *remover) text(parent, n *html.Node, l look) {
	switch parent.DataAtom {
	case atom.Script, atom.Style, atom.Title:
		if parent.DataAtom == atom.Title {
			r.clean(&n.Data)
		}
		return
	}
	if l.invisible || l.small || l.color.isLike(l.background) {
		if strings.TrimSpace(n.Data) != "" {
			r.Elements++
			n.Data = " "
		}
		return
	}
	r.clean(&n.Data)
}

func (r *remover) clean(s *string) {
	clean, n := Characters(*s)
	*s = clean
	r.Characters += n
}

func (r *remover) element(parent, n *html.Node, l look) {
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "alt", "title", "content", "aria-label", "summary", "label", "placeholder", "value", "cite":
			r.clean(&n.Attr[i].Val)
		}
	}
	s := r.sheet.styleOf(n)
	if isHidden(n) || s.hides() {
		if hasWords(n) {
			r.Elements++
		}
		if n.DataAtom == atom.Body || n.DataAtom == atom.Html { // shown by a script
			r.children(n, l)
			return
		}
		parent.RemoveChild(n)
		return
	}
	r.children(n, l.with(n, s))
}

// isHidden reports whether an element has the attribute by which browsers do not show it. Frames of
// a rendered document have it: see content.OpenFrames.
func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "hidden" {
			return !strings.EqualFold(a.Val, "until-found") && n.DataAtom != atom.Iframe
		}
	}
	return false
}

func hasWords(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
			return true
		}
	}
	return false
}

// with returns the look of what is in an element.
func (l look) with(n *html.Node, s style) look {
	if n.DataAtom == atom.Font {
		if c := colorOf(strings.ToLower(attr(n, "color"))); c.known {
			l.color = c
		}
	}
	if b := attr(n, "bgcolor"); b != "" {
		l.background = colorOf(strings.ToLower(b))
	}
	if len(s) == 0 {
		return l
	}
	switch s["visibility"] {
	case "hidden", "collapse":
		l.invisible = true
	case "visible":
		l.invisible = false
	}
	if size, ok := s["font-size"]; ok {
		l.small = isSmall(size)
	} else if font := s["font"]; font != "" {
		for part := range strings.FieldsSeq(font) {
			size, _, _ := strings.Cut(part, "/")
			if _, unit, ok := number(size); ok && unit != "" {
				l.small = isSmall(size)
			}
		}
	}
	for _, property := range []string{"color", "-webkit-text-fill-color"} {
		if value, ok := s[property]; ok && value != "inherit" {
			l.color = colorOf(value)
		}
	}
	for _, property := range []string{"background", "background-color"} {
		if value, ok := s[property]; ok {
			if b := backgroundOf(value); !b.clear {
				l.background = b
			}
		}
	}
	return l
}

// isSmall reports whether a text of a size cannot be read.
func isSmall(size string) bool {
	n, unit, ok := number(size)
	switch unit {
	case "em", "rem", "%":
		return ok && isNothing(size, 1.9) && (unit != "%" || n < 12)
	}
	return ok && n < 2
}
