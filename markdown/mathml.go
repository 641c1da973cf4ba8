package markdown

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// mathML writes what an element of MathML shows (MathML Core, section 3) in TeX.
type mathML struct {
	strings.Builder
	depth int
}

// deepestFormula bounds the elements in one another; what is deeper is left out.
const deepestFormula = 64

// presented returns in TeX what MathML shows; "" if that is nothing.
func presented(n *html.Node) string {
	var m mathML
	m.element(n)
	return strings.TrimSpace(m.String())
}

func (m *mathML) element(n *html.Node) {
	if m.depth == deepestFormula || m.Len() > longestFormula {
		return
	}
	m.depth++
	defer func() { m.depth-- }()
	parts := elementsOf(n)
	switch part := func(i int) *html.Node {
		if i < len(parts) {
			return parts[i]
		}
		return nil
	}; n.Data {
	case "mi", "mn", "mo", "ms", "mtext":
		m.token(n)
	case "msup", "msub", "msubsup", "munderover":
		m.base(part(0))
		m.script("_", n.Data != "msup", part(1))
		m.script("^", n.Data == "msup", part(1))
		m.script("^", len(parts) > 2, part(2))
	case "mfrac":
		m.command(`\frac`, part(0), part(1))
	case "msqrt":
		m.WriteString(`\sqrt{`)
		m.all(parts)
		m.WriteByte('}')
	case "mroot":
		m.WriteString(`\sqrt[`)
		m.all(parts[min(1, len(parts)):])
		m.WriteString("]")
		m.group(part(0))
	case "mover", "munder":
		m.above(n.Data == "mover", part(0), part(1))
	case "mtable":
		m.WriteString(`\begin{matrix}`)
		m.all(parts)
		m.WriteString(`\end{matrix}`)
	case "mtr", "mlabeledtr":
		for i, cell := range parts {
			if i > 0 {
				m.WriteString(" & ")
			}
			m.element(cell)
		}
		m.WriteString(` \\ `)
	case "mfenced":
		m.fenced(n, parts)
	case "semantics": // the first says it, others say it again
		m.all(parts[:min(1, len(parts))])
	case "mphantom", "annotation", "annotation-xml":
	case "mspace":
		m.WriteByte(' ')
	default: // math, mrow, mstyle, mtd and so on
		m.all(parts)
	}
}

func (m *mathML) all(parts []*html.Node) {
	for _, n := range parts {
		m.element(n)
	}
}

// group writes an argument.
func (m *mathML) group(n *html.Node) {
	m.WriteByte('{')
	if n != nil {
		m.element(n)
	}
	m.WriteByte('}')
}

// base writes what a script stands at.
func (m *mathML) base(n *html.Node) {
	if n != nil && (n.Data == "mi" || n.Data == "mn" || n.Data == "mo") {
		m.element(n)
		return
	}
	m.group(n)
}

func (m *mathML) command(name string, arguments ...*html.Node) {
	m.WriteString(name)
	for _, n := range arguments {
		m.group(n)
	}
}

// script writes a subscript or superscript, if there is to be one.
func (m *mathML) script(sign string, is bool, n *html.Node) {
	if is && n != nil {
		m.command(sign, n)
	}
}

// accents are commands for what stands over a base.
var accents = map[string]string{
	"¯": `\overline`, "‾": `\overline`, "_": `\underline`, "^": `\hat`, "ˆ": `\hat`, "~": `\tilde`, "˜": `\tilde`, "→": `\vec`, "⃗": `\vec`, "˙": `\dot`, "¨": `\ddot`,
}

// above writes a base with something over or under it. Limits of a sum are scripts.
func (m *mathML) above(over bool, base, mark *html.Node) {
	if base == nil || mark == nil {
		m.group(base)
		return
	}
	if accent, ok := accents[strings.TrimSpace(textOf(mark, 16))]; ok {
		m.command(accent, base)
		return
	}
	m.base(base)
	sign := "_"
	if over {
		sign = "^"
	}
	m.command(sign, mark)
}

// fenced writes an element that MathML Core has no more.
func (m *mathML) fenced(n *html.Node, parts []*html.Node) {
	fence := func(key, usual string) {
		if hasAttr(n, key) {
			usual = attr(n, key)
		}
		m.text(usual)
	}
	fence("open", "(")
	for i, part := range parts {
		if i > 0 {
			m.WriteByte(',')
		}
		m.element(part)
	}
	fence("close", ")")
}

// token writes an identifier, a number, an operator or a text.
func (m *mathML) token(n *html.Node) {
	text := strings.Join(strings.Fields(textOf(n, longestFormula)), " ")
	long := utf8.RuneCountInString(text) > 1
	switch {
	case n.Data == "mtext" && text != "", n.Data == "ms":
		m.WriteString(`\text{`)
		m.text(text)
		m.WriteByte('}')
	case n.Data == "mi" && long:
		m.WriteString(`\operatorname{`)
		m.text(text)
		m.WriteByte('}')
	default:
		m.text(text)
	}
}

// text writes characters that stand for themselves. Those that nobody sees, of multiplication and
// application, are left out.
func (m *mathML) text(s string) {
	for _, r := range s {
		switch r {
		case '\\':
			m.WriteString(`\backslash `)
		case '{', '}', '%', '#', '&', '_', '$':
			m.WriteByte('\\')
			m.WriteRune(r)
		case '^', '~':
			m.WriteString(`\` + string(r) + "{}")
		case '\u2061', '\u2062', '\u2063', '\u2064':
		default:
			m.WriteRune(r)
		}
	}
}

func elementsOf(n *html.Node) []*html.Node {
	var all []*html.Node
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode {
			all = append(all, c)
		}
	}
	return all
}
