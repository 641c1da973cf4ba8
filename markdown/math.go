package markdown

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// math converts a formula in the forms that MathJax, KaTeX, Sphinx and Wikipedia leave, and reports
// whether the element is one, or a picture of one that stands beside it.
func (c *converter) math(n *html.Node) bool {
	switch {
	case n.DataAtom == atom.Script:
		tex, display := TeX(n)
		c.formula(tex, display)
		return true
	case n.DataAtom != atom.Span && n.DataAtom != atom.Div || !hasAttr(n, "class"):
		return false
	case hasClass(n, "katex-html", "MathJax", "MathJax_Preview", "MathJax_Display", "MathJax_CHTML", "MathJax_SVG"):
		return !hasElement(n, atom.Math) || hasClass(n, "katex-html")
	case hasClass(n, "math", "arithmatex"):
		return c.delimited(n)
	}
	return false
}

// longestFormula bounds a formula, in bytes.
const longestFormula = 64 << 10

// delimited converts a formula that Sphinx or Pandoc writes: \(…\) or \[…\].
func (c *converter) delimited(n *html.Node) bool {
	text, number := strings.TrimSpace(textOf(n, longestFormula)), ""
	if first := n.FirstChild; first != nil && hasClass(first, "eqno") {
		label := textOf(first, 100)
		text = strings.TrimSpace(strings.TrimPrefix(text, strings.TrimSpace(label)))
		label = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(label), "¶"))
		number = ` \tag{` + strings.Trim(label, "()") + "}"
	}
	for _, pair := range [][2]string{{`\(`, `\)`}, {`\[`, `\]`}, {"$$", "$$"}, {"$", "$"}} {
		if rest, ok := strings.CutPrefix(text, pair[0]); ok {
			if rest, ok = strings.CutSuffix(rest, pair[1]); ok {
				if isBlock(n) {
					c.endRun()
					defer c.endRun()
				}
				c.formula(rest+number, pair[0] == `\[` || pair[0] == "$$")
				return true
			}
		}
	}
	return false
}

// foreign converts an element of MathML or SVG. An SVG is a picture: it has no text here.
func (c *converter) foreign(n *html.Node) {
	if n.Namespace == "svg" {
		return
	}
	if tex, display := TeX(n); tex != "" {
		c.formula(tex, display)
		return
	}
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !strings.HasPrefix(d.Parent.Data, "annotation") {
			c.run.add(d.Data)
		}
	}
}

// TeX returns what a script of MathJax or an element of MathML says in TeX, or what MathML shows,
// and whether it stands in a line of its own; "" if that is nothing.
func TeX(n *html.Node) (tex string, display bool) {
	if n.DataAtom == atom.Script {
		kind := attr(n, "type")
		if !strings.HasPrefix(kind, "math/tex") {
			return "", false
		}
		return textOf(n, longestFormula), strings.Contains(kind, "display")
	}
	display = attr(n, "display") == "block"
	for d := range n.Descendants() {
		if d.Data == "annotation" && strings.Contains(attr(d, "encoding"), "tex") {
			return textOf(d, longestFormula), display
		}
	}
	return cmp.Or(attr(n, "alttext"), presented(n)), display
}

// formula writes TeX, between dollar signs.
func (c *converter) formula(tex string, display bool) {
	tex = strings.Join(strings.Fields(cleaned(tex)), " ")
	if rest, ok := strings.CutPrefix(tex, `{\displaystyle `); ok {
		tex = strings.TrimSpace(strings.TrimSuffix(rest, "}"))
	}
	if tex == "" {
		return
	}
	if c.cells > 0 && !c.Text {
		tex = strings.ReplaceAll(strings.ReplaceAll(tex, `\|`, `\Vert `), "|", `\vert `)
	}
	if display {
		tex = "$$" + tex + "$$"
	} else {
		tex = "$" + tex + "$"
	}
	c.run.raw(tex)
}

// isFormula reports whether an image is a formula, and writes it unless it also stands beside it as
// MathML.
func (c *converter) isFormula(n *html.Node) bool {
	if !hasClass(n, "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display") {
		return false
	}
	if n.Parent != nil {
		for d := range n.Parent.Descendants() {
			if d.DataAtom == atom.Math {
				return true
			}
		}
	}
	c.formula(attr(n, "alt"), hasClass(n, "mwe-math-fallback-image-display"))
	return true
}
