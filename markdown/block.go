package markdown

import (
	"bytes"
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
		if strings.HasPrefix(attr(n, "class"), "admonitionHeading") || hasClass(n, alertHeading) { // of Docusaurus, which adds a digest
			c.title(n)
			return
		}
	}
	c.endRun()
	c.children(n)
	c.endRun()
}

// paragraph is container, where the title of an admonition is a title, and so is one of a topic of Sphinx.
func (c *converter) paragraph(n *html.Node) {
	if hasClass(n, "admonition-title", "markdown-alert-title", "custom-block-title", "topic-title", "sidebar-title", "rubric", alertHeading) {
		c.title(n)
		return
	}
	c.endRun()
	c.children(n)
	c.endRun()
}

// alertHeading is the class of the title of a note in pages made with Bootstrap, such as those of Docsy.
const alertHeading = "alert-heading"

// isAdmonition reports whether an element is a note or a warning, as generators of manuals have them.
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
	c.mark(n, strongMark)
	c.endRun()
}

// block writes the lines of a block.
func (c *converter) block(lines ...string) {
	p := &c.place
	if p.gap == emptyLine && len(c.out) > 0 {
		c.out = append(append(c.out, bytes.TrimRight(p.prefix, " ")...), '\n')
	}
	if len(p.prefix) == 0 && p.lead == nil {
		c.doc.Blocks = append(c.doc.Blocks, len(c.out))
	}
	for i, line := range lines {
		before := p.prefix
		if i == 0 && p.lead != nil {
			before = p.lead
		}
		if line == "" {
			before = bytes.TrimRight(before, " ")
		}
		c.out = append(append(append(c.out, before...), line...), '\n')
	}
	c.written()
}

// written notes that something was written: what follows is another block.
func (c *converter) written() {
	p := &c.place
	p.lead, p.list = nil, nil
	p.gap = emptyLine
	if p.tight {
		p.gap = newLine
	}
}

// within converts the content of a container whose first line begins with lead, and its others
// with prefix, each behind what lines here begin with. Without content there is no container.
func (c *converter) within(lead, prefix string, tight bool, content func()) {
	outer := c.place
	if outer.depth >= deepest {
		content()
		return
	}
	before, blocks := len(c.out), len(c.doc.Blocks)
	first := outer.prefix
	if outer.lead != nil {
		first = outer.lead
	}
	if outer.gap == emptyLine && len(c.out) > 0 {
		c.out = append(append(c.out, bytes.TrimRight(outer.prefix, " ")...), '\n')
	}
	if len(outer.prefix) == 0 && outer.lead == nil {
		c.doc.Blocks = append(c.doc.Blocks, len(c.out))
	}
	c.place = place{
		lead:   append(bytes.Clone(first), lead...),
		prefix: append(bytes.Clone(outer.prefix), prefix...),
		tight:  tight, depth: outer.depth + 1,
	}
	content()
	if c.place.lead != nil { // nothing was in it
		c.out, c.doc.Blocks = c.out[:before], c.doc.Blocks[:blocks]
		c.place = outer
		return
	}
	c.place = outer
	c.written()
}

// heading converts h1 to h6. Without text there is none.
func (c *converter) heading(n *html.Node) {
	if c.cells > 0 {
		c.container(n)
		return
	}
	if hasClass(n, alertHeading) {
		c.title(n)
		return
	}
	c.endRun()
	outer := c.href
	c.heads++
	if hasBlock(n) {
		c.flatten(n)
	} else {
		c.children(n)
	}
	c.heads--
	var words []string
	for _, lines := range c.lines() {
		words = append(words, lines...)
	}
	text, href := strings.Join(words, " "), c.href
	if c.href = outer; text == "" {
		return
	}
	level := int(n.DataAtom.String()[1] - '0')
	if len(c.place.prefix) == 0 && c.place.lead == nil {
		offset := len(c.out)
		if offset > 0 && c.place.gap == emptyLine {
			offset++
		}
		c.doc.Headings = append(c.doc.Headings, Heading{offset, level, Plain(n)})
	}
	if c.Text {
		c.block(text)
		return
	}
	text = headline(text)
	if href != "" && !strings.Contains(text, "](") {
		text = "[" + text + "](" + href + ")"
	}
	c.block(strings.Repeat("#", level) + " " + text)
}

// headline escapes number signs at the end of a heading, which would go.
func headline(text string) string {
	if end := strings.TrimRight(text, "#"); end != text && (end == "" || end[len(end)-1] == ' ') {
		return end + `\` + text[len(end):]
	}
	return text
}

// flatten converts blocks as one run, which is the link if there is one in it.
func (c *converter) flatten(n *html.Node) {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A && c.href == "" && !isPermalink(d) && !c.isSelf(d) {
			c.href = c.target(attr(d, "href"))
		}
		if d.Type == html.TextNode && d.Parent.DataAtom != atom.Script && d.Parent.DataAtom != atom.Style {
			c.text(d)
		} else if isBlock(d) {
			c.run.space = max(c.run.space, blank)
		}
	}
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
	if c.cells > 0 {
		c.cellItems(n)
		return
	}
	c.endRun()
	if n.DataAtom == atom.Ol {
		c.items(n, number(n, "start", 1))
	} else {
		c.items(n, -1)
	}
}

// items converts the items of a list; a first number below 0 means that they have none.
func (c *converter) items(n *html.Node, first int) {
	other := c.place.list != nil && c.place.list.DataAtom == n.DataAtom && !c.place.other
	tight := isTight(n)
	if c.place.tight && c.place.gap == newLine && (first > 1 || first == 0 || !startsWithText(n)) {
		c.place.gap = emptyLine // only such lists may follow a paragraph directly: CommonMark, section 5.2
	}
	at, written := first, false
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type != html.ElementNode || c.skip[child] {
			continue
		}
		if child.DataAtom != atom.Li {
			c.stray(child)
			continue
		}
		if first >= 0 {
			at = min(max(number(child, "value", at), 0), 999_999_999)
		}
		c.item(child, at, other, tight)
		written = true
		if tight && c.place.gap == emptyLine {
			c.place.gap = newLine
		}
		if first >= 0 {
			at++
		}
	}
	if written {
		c.place.gap = emptyLine
		c.place.list, c.place.other = n, other
	}
}

func (c *converter) item(n *html.Node, at int, other, tight bool) {
	marker := "- "
	switch {
	case at >= 0 && other:
		marker = strconv.Itoa(at) + ") "
	case at >= 0:
		marker = strconv.Itoa(at) + ". "
	case other:
		marker = "* "
	}
	c.within(marker, strings.Repeat(" ", len(marker)), tight, func() {
		c.children(n)
		c.endRun()
	})
}

// stray converts what stands in a list outside its items: it belongs to the one before.
func (c *converter) stray(n *html.Node) {
	if c.place.gap == noGap || c.place.depth >= deepest {
		c.node(n)
		c.endRun()
		return
	}
	outer := c.place
	c.place.prefix = append(bytes.Clone(outer.prefix), "  "...)
	c.place.depth++
	c.node(n)
	c.endRun()
	c.place.prefix, c.place.depth, c.place.list = outer.prefix, outer.depth, outer.list
}

// strayItem converts an item outside a list.
func (c *converter) strayItem(n *html.Node) {
	if c.cells > 0 {
		c.container(n)
		return
	}
	c.endRun()
	c.item(n, -1, false, false)
}

// isTight reports whether the items of a list have one paragraph each, and lists.
func isTight(list *html.Node) bool {
	for item := list.FirstChild; item != nil; item = item.NextSibling {
		if item.Type == html.ElementNode && !isShort(item) {
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

// startsWithText reports whether the first item of a list begins with text.
func startsWithText(list *html.Node) bool {
	for item := list.FirstChild; item != nil; item = item.NextSibling {
		if item.Type == html.ElementNode {
			for d := range item.Descendants() {
				if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
					return true
				}
			}
			return false
		}
	}
	return false
}

// definitions converts a dl: each group of terms is an item, its definitions stand below.
func (c *converter) definitions(n *html.Node) {
	if c.cells > 0 {
		c.container(n)
		return
	}
	c.endRun()
	groups := terms(n, nil)
	alone := areAlone(n, groups)
	for i := 0; i < len(groups); {
		end := i
		for end < len(groups) && groups[end].DataAtom == atom.Dt && (end == i || !alone) {
			end++
		}
		names := groups[i:end]
		for i = end; end < len(groups) && groups[end].DataAtom == atom.Dd; {
			end++
		}
		definitions := groups[i:end]
		i = end
		c.within("- ", "  ", alone, func() {
			for _, dt := range names {
				c.term(dt, alone)
			}
			c.endRun()
			for _, dd := range definitions {
				c.node(dd)
			}
		})
		if alone && c.place.gap == emptyLine {
			c.place.gap = newLine
		}
	}
	if c.place.gap == newLine && !c.place.tight {
		c.place.gap = emptyLine
	}
	c.place.list, c.place.other = nil, false
}

// areAlone reports whether each term of a list is an item: in a table of contents, and where nothing is
// defined.
func areAlone(list *html.Node, groups []*html.Node) bool {
	return hasClass(list, "toc") || !slices.ContainsFunc(groups, func(n *html.Node) bool { return n.DataAtom == atom.Dd })
}

// terms collects dt and dd of a list, also those in its div elements.
func terms(n *html.Node, all []*html.Node) []*html.Node {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.DataAtom {
		case atom.Dt, atom.Dd:
			all = append(all, child)
		case atom.Div, atom.Span:
			all = terms(child, all)
		}
	}
	return all
}

// term converts a dt. What documentation tools mark as a signature is code.
func (c *converter) term(n *html.Node, alone bool) {
	if c.skip[n] {
		return
	}
	isCode := hasClass(n, "sig")
	if c.outer[n] || c.Text || alone && !isCode {
		c.container(n)
		return
	}
	c.endRun()
	if isCode {
		c.codeSpan(signature(n))
	} else {
		c.mark(n, strongMark)
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
	if c.cells > 0 || c.Text {
		c.endRun()
		c.children(n)
		c.endRun()
		return
	}
	c.endRun()
	c.within("> ", "> ", false, func() {
		c.children(n)
		c.endRun()
	})
}

// rule converts hr. At the edge of its container it divides nothing.
func (c *converter) rule(*html.Node) {
	if c.cells > 0 || c.Text {
		c.endRun()
		return
	}
	c.endRun()
	if c.place.gap != noGap && c.place.lead == nil {
		c.block("---")
	}
}

// dropRule removes a rule at the end: it divides nothing.
func (c *converter) dropRule() {
	if rest, found := bytes.CutSuffix(c.out, []byte("\n---\n")); found && len(c.doc.Blocks) > 0 {
		if last := len(c.doc.Blocks) - 1; c.doc.Blocks[last] == len(rest)+1 {
			c.out, c.doc.Blocks = rest, c.doc.Blocks[:last]
			c.dropRule()
		}
	}
}
