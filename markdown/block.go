package markdown

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// container converts an element whose content stands in lines of its own.
func (c *converter) container(n *html.Node) {
	if n.DataAtom == atom.Div || n.DataAtom == atom.Aside {
		if isAdmonition(n) {
			c.quote(n)
			return
		}
		if strings.HasPrefix(attr(n, "class"), "admonitionHeading") || hasClass(n, alertHeading) {
			// Docusaurus adds a digest.
			c.title(n)
			return
		}
	}
	c.endRun()
	c.children(n)
	c.endRun()
}

// paragraph is container, where the title of an admonition is a title, and so is one of a topic of
// Sphinx.
func (c *converter) paragraph(n *html.Node) {
	if hasClass(n, "admonition-title", "markdown-alert-title", "custom-block-title", "topic-title", "sidebar-title", "rubric", alertHeading) {
		c.title(n)
		return
	}
	c.endRun()
	c.children(n)
	c.endRun()
}

// alertHeading is the class of the title of a note in pages made with Bootstrap, such as those of
// Docsy.
const alertHeading = "alert-heading"

// isAdmonition reports whether an element is a note or a warning, as generators of manuals have
// them.
func isAdmonition(n *html.Node) bool {
	if !hasAttr(n, "class") {
		return false
	}
	if hasClass(n, "admonition", "admonitionblock", "theme-admonition", "markdown-alert", "custom-block") {
		return true
	}
	if hasClass(n, "alert") && n.FirstChild != nil {
		title := n.FirstChild
		if title.Type != html.ElementNode {
			title = nextElement(title)
		}
		return title != nil && hasClass(title, alertHeading)
	}
	if !hasClass(n, "note", "tip", "warning", "caution", "important") {
		return false
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.DataAtom == atom.Table && hasAttr(child, "summary") {
			return true
		}
	}
	return false
}

// title converts a line that stands above others: the summary of details.
func (c *converter) title(n *html.Node) {
	c.endRun()
	c.mark(n, strong)
	c.endRun()
}

// heading converts h1 to h6. Without text there is none.
func (c *converter) heading(n *html.Node) {
	if c.inline > 0 {
		c.container(n)
		return
	}
	if hasClass(n, alertHeading) {
		c.title(n)
		return
	}
	c.endRun()
	c.inline++
	c.flat++
	c.children(n)
	c.inline--
	c.flat--
	text := c.inLine(" ")
	if text == "" {
		return
	}
	level := int(n.DataAtom.String()[1] - '0')
	c.out.heading(level, Plain(n))
	if c.Text {
		c.out.block(text)
		return
	}
	c.out.block(strings.Repeat("#", level) + " " + headline(text))
}

// headline escapes number signs at the end of a heading, which would go.
func headline(text string) string {
	if end := strings.TrimRight(text, "#"); end != text && (end == "" || end[len(end)-1] == ' ') {
		return end + `\` + text[len(end):]
	}
	return text
}

// Plain returns the text of an element in one line, without permalinks.
func Plain(n *html.Node) string {
	var words []string
	for d := range n.Descendants() {
		if d.Type != html.TextNode || d.Parent.DataAtom == atom.A && isPermalink(d.Parent) {
			continue
		}
		words = append(words, d.Data)
	}
	return strings.Join(strings.Fields(cleaned(strings.Join(words, ""))), " ")
}

// list converts ul and ol.
func (c *converter) list(n *html.Node) {
	if c.inline > 0 {
		c.cellItems(n)
		return
	}
	c.endRun()
	l := list{numbered: n.DataAtom == atom.Ol, at: number(n, "start", 1), tight: isTight(n)}
	c.items(n, &l)
	if l.begun {
		c.out.place.gap, c.out.place.marker = emptyLine, l.marker
	}
}

// list is a list between two of its items.
type list struct {
	numbered bool
	at       int   // number of the next item
	marker   byte  // of bullets, or what stands behind numbers
	before   byte  // that of the list that it goes on; 0: none
	tight    bool  // no empty line stands between items
	begun    bool  // it has items
	inside   place // the place of what stands behind the last item
}

// items converts the items in a list, or in an element around some of them.
func (c *converter) items(n *html.Node, l *list) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		switch {
		case c.notes.skip[child]:
		case child.DataAtom == atom.Li:
			c.item(child, l)
		case holdsItems(child):
			c.items(child, l)
		default:
			for next != nil && next.DataAtom != atom.Li && !holdsItems(next) {
				next = next.NextSibling
			}
			c.stray(child, next, l)
		}
		child = next
	}
}

// holdsItems reports whether an element is around items of the list it stands in.
func holdsItems(n *html.Node) bool {
	if n.Type == html.ElementNode && (n.DataAtom == atom.Div || n.DataAtom == atom.Span || n.DataAtom == 0) {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			if child.DataAtom == atom.Li {
				return true
			}
		}
	}
	return false
}

// item converts an item.
func (c *converter) item(n *html.Node, l *list) {
	if l.numbered {
		l.at = min(max(number(n, "value", l.at), 0), 999_999_999)
	}
	if !l.begun {
		l.marker = cmp.Or(l.before, c.out.marker(l.numbered))
		if c.out.place.gap == newLine && (l.numbered && l.at != 1 || !startsWithText(n)) {
			// Only other lists may follow a paragraph directly: CommonMark, section 5.2.
			c.out.place.gap = emptyLine
		}
	}
	lead := string(l.marker) + " "
	if l.numbered {
		lead = strconv.Itoa(l.at) + lead
		l.at++
	}
	c.out.within(lead, strings.Repeat(" ", len(lead)), l.tight, func() {
		c.children(n)
		c.endRun()
		if c.out.place.lead == nil { // it has content
			l.begun, l.inside = true, c.out.place
		}
	})
	if l.begun && l.tight && c.out.place.gap == emptyLine {
		c.out.place.gap = newLine
	}
}

// stray converts what stands in a list outside its items, up to a node: it belongs to the one
// before. Before the first it stands in no list.
func (c *converter) stray(n, end *html.Node, l *list) {
	outer, before := c.out.place, len(c.out.text)
	if l.begun {
		c.out.place = l.inside
	}
	for ; n != end; n = n.NextSibling {
		c.node(n)
	}
	c.endRun()
	if !l.begun {
		return
	}
	if l.inside, c.out.place = c.out.place, outer; len(c.out.text) > before {
		c.out.written()
		if l.tight {
			c.out.place.gap = newLine
		}
	}
}

// strayItem converts an item outside a list. Several in a row are one.
func (c *converter) strayItem(n *html.Node) {
	if c.inline > 0 {
		c.container(n)
		return
	}
	c.endRun()
	l := list{}
	if p := previousElement(n); p != nil && p.DataAtom == atom.Li && (c.out.place.marker == '-' || c.out.place.marker == '*') {
		l.before = c.out.place.marker
	}
	if c.item(n, &l); l.begun {
		c.out.place.marker = l.marker
	}
}

// isTight reports whether the items of a list have one paragraph each, and lists.
func isTight(list *html.Node) bool {
	for n := list.FirstChild; n != nil; n = n.NextSibling {
		switch {
		case n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" || n.Type == html.CommentNode:
		case n.DataAtom == atom.Ul, n.DataAtom == atom.Ol, n.DataAtom == atom.Script:
		case n.DataAtom == atom.Li && isShort(n), holdsItems(n) && isTight(n):
		default:
			return false
		}
	}
	return true
}

// isShort reports whether an item has one paragraph at most, and lists.
func isShort(item *html.Node) bool {
	runs, in := 0, false
	for n := item.FirstChild; n != nil; n = n.NextSibling {
		switch {
		case n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" || n.Type == html.CommentNode:
		case n.Type != html.ElementNode || !isBlock(n) && n.DataAtom != atom.Script:
			if !in {
				runs++
			}
			in = true
		case n.DataAtom == atom.Ul || n.DataAtom == atom.Ol:
			in = false
		case n.DataAtom == atom.P && (item.DataAtom == atom.Li || isCell(item)):
			runs, in = runs+1, false
		case n.Type == html.ElementNode:
			runs, in = runs+2, false
		}
	}
	return runs <= 1
}

// startsWithText reports whether an item begins with text.
func startsWithText(item *html.Node) bool {
	return strings.TrimSpace(textOf(item, 0)) != ""
}

// definitions converts a dl: each group of terms is an item, its definitions stand below.
func (c *converter) definitions(n *html.Node) {
	if c.inline > 0 {
		c.container(n)
		return
	}
	c.endRun()
	marker := c.out.termMarker()
	groups := terms(n, nil)
	alone := areAlone(n, groups)
	for i := 0; i < len(groups); {
		end := i
		for end < len(groups) && groups[end].DataAtom == atom.Dt && (end == i || !alone) {
			end++
		}
		names := groups[i:end]
		for i = end; end < len(groups) && groups[end].DataAtom != atom.Dt; {
			end++
		}
		definitions := groups[i:end]
		i = end
		c.out.within(string(marker)+" ", "  ", alone, func() {
			for _, dt := range names {
				c.term(dt, alone)
			}
			c.endRun()
			for _, dd := range definitions {
				c.node(dd)
			}
			c.endRun()
		})
		if alone && c.out.place.gap == emptyLine {
			c.out.place.gap = newLine
		}
	}
	if c.out.place.gap == newLine && !c.out.place.tight {
		c.out.place.gap = emptyLine
	}
	c.out.place.marker, c.out.place.terms = marker, true
}

// areAlone reports whether each term of a list is an item: in a table of contents, and where
// nothing is defined.
func areAlone(list *html.Node, groups []*html.Node) bool {
	return hasClass(list, "toc") || !slices.ContainsFunc(groups, func(n *html.Node) bool { return n.DataAtom == atom.Dd })
}

// terms collects what stands in a list, also in its div elements: dt and dd, and others, which
// belong to the term before.
func terms(n *html.Node, all []*html.Node) []*html.Node {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch {
		case (child.DataAtom == atom.Div || child.DataAtom == atom.Span) && holdsTerms(child):
			all = terms(child, all)
		case child.Type == html.TextNode && strings.TrimSpace(child.Data) == "", child.Type == html.CommentNode, child.DataAtom == atom.Script:
		default:
			all = append(all, child)
		}
	}
	return all
}

// holdsTerms reports whether an element is around terms or definitions.
func holdsTerms(n *html.Node) bool { return hasElement(n, atom.Dt) || hasElement(n, atom.Dd) }

// term converts a dt. What documentation tools mark as a signature is code.
func (c *converter) term(n *html.Node, alone bool) {
	if c.notes.skip[n] {
		return
	}
	isCode := hasClass(n, "sig")
	if c.Text || alone && !isCode {
		c.container(n)
		return
	}
	c.endRun()
	if isCode {
		c.run.span(span{kind: code}, func() { c.run.add(signature(n)) })
	} else {
		c.mark(n, strong)
	}
	c.endRun()
}

// signature is the text of a dt without links to itself and to its source.
func signature(n *html.Node) string {
	var text strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			if child.Type == html.TextNode {
				text.WriteString(child.Data)
			} else if !(child.DataAtom == atom.A && (isPermalink(child) || hasClass(child, "viewcode-link", "source"))) && !hasClass(child, "viewcode-link") {
				walk(child)
			}
		}
	}
	walk(n)
	return strings.Join(strings.Fields(text.String()), " ")
}

func (c *converter) quote(n *html.Node) {
	if c.inline > 0 || c.Text {
		c.endRun()
		c.children(n)
		c.endRun()
		return
	}
	c.endRun()
	c.out.within("> ", "> ", false, func() {
		c.children(n)
		c.endRun()
	})
}

// rule converts hr. At the edge of its container it divides nothing.
func (c *converter) rule(*html.Node) {
	if c.inline > 0 || c.Text {
		c.endRun()
		return
	}
	c.endRun()
	if c.out.place.gap != noGap && c.out.place.lead == nil {
		c.out.block("---")
	}
}

// endRun writes the run as paragraphs.
func (c *converter) endRun() {
	if c.inline > 0 {
		c.run.breakLine(c.flat > 0)
		return
	}
	if len(c.run.text) == 0 {
		c.run.space = noSpace
		return
	}
	for _, p := range c.writer.paragraphs(&c.run, c.cells > 0) {
		switch {
		case c.Text:
			c.out.block(strings.Split(p, "\n")...)
		case strings.IndexByte(p, '\n') < 0:
			c.out.block(beginning(p, false))
		default:
			lines := strings.Split(p, "\n")
			for i := range lines {
				if lines[i] = beginning(lines[i], i > 0); i+1 < len(lines) {
					lines[i] += `\`
				}
			}
			c.out.block(lines...)
		}
	}
}

// inLine writes the run in one line, and begins another: of a heading or a cell, with breaks as
// text between its lines.
func (c *converter) inLine(between string) string {
	if all := c.writer.paragraphs(&c.run, c.cells > 0); len(all) > 0 {
		return strings.ReplaceAll(strings.Join(all, between), "\n", between)
	}
	return ""
}

func (c *converter) lineBreak(*html.Node) {
	if c.inline > 0 {
		c.run.breakLine(c.flat > 0)
		return
	}
	c.run.outsideCode(func() {
		if text := c.run.text; len(text) > 0 && (text[len(text)-1] != '\n' || len(text) == 1 || text[len(text)-2] != '\n') {
			c.run.text = append(text, '\n')
		}
	})
	c.run.space = noSpace
}

// cellItems converts a list in a cell.
func (c *converter) cellItems(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.DataAtom != atom.Li {
			c.node(child)
			continue
		}
		c.run.breakLine(c.flat > 0)
		if !c.Text {
			c.run.write(bullet)
		}
		c.children(child)
		c.run.breakLine(c.flat > 0)
	}
	c.run.breakLine(c.flat > 0)
}

// mark converts an element with emphasis. In an element of its kind, and in code, there is none.
func (c *converter) mark(n *html.Node, mark kind) {
	switch {
	case c.outer[n]:
		c.container(n)
	case c.run.inside[mark] > 0 || c.run.inside[code] > 0:
		c.children(n)
	default:
		c.run.span(span{kind: mark}, func() { c.children(n) })
	}
}
