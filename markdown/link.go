package markdown

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// longestTarget bounds the target of a link or an image, in bytes.
	longestTarget = 8 << 10
	// mostTargets is the most bytes of all targets beyond those that stand in the page: a long base
	// would make hundreds of megabytes of short references, and so would a link around many
	// paragraphs. Beyond it, links are their text.
	mostTargets = 16 << 20
)

// link converts a. Around blocks, each paragraph in it becomes the link.
func (c *converter) link(n *html.Node) {
	if isPermalink(n) || c.noted(n) || c.notes.isBack(n) {
		return
	}
	if c.outer[n] {
		c.endRun()
		defer c.endRun()
	}
	target := ""
	if !c.Text && c.run.inside[linked] == 0 && !(c.inHeading() && c.isSelf(n)) {
		target = c.target(attr(n, "href"))
	}
	if target == "" {
		c.children(n)
		return
	}
	title := oneLine(attr(n, "title"))
	content := func() {
		before := len(c.run.text)
		c.children(n)
		if text := c.run.text; !c.outer[n] && len(bytes.TrimSpace(text[min(before, len(text)):])) == 0 && !hasElement(n, atom.Img) {
			c.run.add(cmp.Or(oneLine(attr(n, "aria-label")), title))
		}
	}
	inCode := c.run.inside[code] > 0
	c.run.outsideCode(func() {
		c.run.span(span{kind: linked, target: target, title: title}, func() {
			if inCode {
				c.run.span(span{kind: code}, content)
			} else {
				content()
			}
		})
	})
}

// inHeading reports whether a heading is open.
func (c *converter) inHeading() bool { return c.inline > c.cells }

// reference writes what stands behind the text of a link or an image. A title that says more
// goes between quotation marks.
func (w *writer) reference(target, title string, text []byte) {
	w.out = append(append(w.out, '('), target...)
	if title != "" && !strings.EqualFold(title, string(text)) {
		w.out = append(w.out, ` "`...)
		for i := range len(title) {
			if t := title[i]; t == '"' || t == '\\' || t == '|' && w.cell || t == '&' && isReference(title[i:]) {
				w.out = append(w.out, '\\')
			}
			w.out = append(w.out, title[i])
		}
		w.out = append(w.out, '"')
	}
	w.out = append(w.out, ')')
}

// oneLine returns an attribute as one line.
func oneLine(s string) string {
	if len(s) > longestTarget {
		return ""
	}
	return strings.Join(strings.Fields(cleaned(s)), " ")
}

// isSelf reports whether a link leads to the page it is on: in a heading, that says nothing.
func (c *converter) isSelf(n *html.Node) bool {
	href := attr(n, "href")
	if strings.HasPrefix(href, "#") {
		return true
	}
	to, err := c.resolver.ResolveString(href)
	return err == nil && !c.Base.IsZero() && withoutFragment(to) == withoutFragment(c.Base)
}

func withoutFragment(u weburl.URL) string {
	address, _, _ := strings.Cut(u.String(), "#")
	return address
}

// target returns the absolute URL of a reference, as it stands in Markdown; "" if it leads nowhere.
func (c *converter) target(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > longestTarget {
		return ""
	}
	if scheme, _, found := strings.Cut(ref, ":"); found && len(scheme) <= len("javascript") {
		switch strings.ToLower(strings.TrimSpace(scheme)) {
		case "javascript", "vbscript", "data", "about", "blob":
			return ""
		}
	}
	if !c.Base.IsZero() {
		if c.targets > mostTargets {
			return ""
		}
		u, err := c.resolver.ResolveString(ref)
		if err != nil {
			return ""
		}
		to := u.String()
		c.targets += len(to) - len(ref)
		ref = to
	}
	return destination(ref)
}

// destination writes a URL so that nothing in it ends a link or a cell of a table.
func destination(url string) string {
	if !strings.ContainsAny(url, " ()<>|\\\n\t\r\"`*_[]&") && isPrintable(url) {
		return url
	}
	var b strings.Builder
	for i := range len(url) {
		switch c := url[i]; {
		case c <= ' ' || c == 0x7F || strings.IndexByte("()<>|\\\"`", c) >= 0:
			const hex = "0123456789ABCDEF"
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		case c == '&' && isReference(url[i:]), c == '*', c == '_', c == '[', c == ']':
			if c == '&' {
				b.WriteString("&amp;")
			} else {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
	return strings.ToValidUTF8(b.String(), "")
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7F {
			return false
		}
	}
	return true
}

// image converts img. Decoration, which has an empty alt or the role of none, is left out.
func (c *converter) image(n *html.Node) {
	if isDecoration(n) || c.isFormula(n) {
		return
	}
	alt := strings.Join(strings.Fields(cleaned(attr(n, "alt"))), " ")
	target := ""
	if !c.Text && c.run.inside[code] == 0 {
		target = c.target(source(n))
	}
	if target == "" {
		c.run.add(alt)
		return
	}
	w := writer{out: []byte("!["), cell: c.cells > 0, links: 1}
	w.escaped([]byte(alt), ']')
	w.out = append(w.out, ']')
	w.reference(target, oneLine(attr(n, "title")), []byte(alt))
	c.run.raw(string(w.out))
}

// isDecoration reports whether an image says nothing: HTML Standard, section 4.8.4.4.
func isDecoration(n *html.Node) bool {
	if role := attr(n, "role"); role == "presentation" || role == "none" {
		return true
	}
	if w, h := number(n, "width", 99), number(n, "height", 99); w <= 1 || h <= 1 {
		return true
	}
	if hasAttr(n, "alt") && strings.TrimSpace(attr(n, "alt")) == "" {
		for p := n.Parent; p != nil; p = p.Parent {
			if p.DataAtom == atom.Figure {
				return false
			}
		}
		return true
	}
	// Icons of notes that DocBook writes.
	alt := attr(n, "alt")
	return len(alt) > 2 && alt[0] == '[' && alt[len(alt)-1] == ']' && strings.Contains(attr(n, "src"), "images/"+strings.ToLower(alt[1:len(alt)-1]))
}

// source returns where an image is: scripts load many later, and put something else in src until
// then.
func source(n *html.Node) string {
	src := attr(n, "src")
	if src != "" && !strings.HasPrefix(src, "data:") && !hasAttr(n, "data-src") {
		return src
	}
	for _, key := range []string{"data-src", "data-original", "data-lazy-src", "data-lazy", "data-orig-file"} {
		if v := attr(n, key); v != "" && !strings.HasPrefix(v, "data:") {
			return v
		}
	}
	for _, key := range []string{"srcset", "data-srcset", "data-lazy-srcset"} {
		if v := firstCandidate(attr(n, key)); v != "" {
			return v
		}
	}
	if p := n.Parent; p != nil && p.DataAtom == atom.Picture {
		for s := p.FirstChild; s != nil; s = s.NextSibling {
			if v := firstCandidate(attr(s, "srcset")); v != "" {
				return v
			}
			if v := firstCandidate(attr(s, "data-srcset")); v != "" {
				return v
			}
		}
	}
	if strings.HasPrefix(src, "data:") {
		return ""
	}
	return src
}

// firstCandidate returns the first URL of a srcset.
func firstCandidate(srcset string) string {
	srcset = strings.TrimLeft(srcset, " \t\n\r\f,")
	end := strings.IndexAny(srcset, " \t\n\r\f")
	if end < 0 {
		end = len(srcset)
	}
	url := strings.TrimRight(srcset[:end], ",")
	if strings.HasPrefix(url, "data:") {
		return ""
	}
	return url
}
