package markdown

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// breakTag parts lines in a cell.
const breakTag = "<br>"

// bullet begins an item in a cell.
const bullet = "• "

// mostColumns bounds the columns of a table: further cells of a row stand in the last one.
const mostColumns = 100

// cell is a cell of a table.
type cell struct {
	text   string
	align  string
	header bool
}

// table converts a table. One that arranges other things becomes what is in its cells.
func (c *converter) table(n *html.Node) {
	c.endRun()
	if c.cells > 1 {
		c.children(n)
		c.endRun()
		return
	}
	t := layoutOf(n)
	if c.inline > 0 {
		c.cellRows(t.rows)
		return
	}
	if isCallouts(n) && !c.Text {
		c.callouts(t.rows)
		return
	}
	if isVariables(n) && !c.Text {
		c.variables(t.rows)
		return
	}
	if t.arranges {
		c.arranged(n)
		return
	}
	if t.caption != nil {
		c.children(t.caption)
		c.endRun()
	}
	var rows [][]cell
	var spans []int // rows that the cell of each column goes on for
	columns := 0
	for _, tr := range t.rows {
		row := c.row(tr, &spans)
		if len(row) > 0 {
			rows = append(rows, row)
			columns = max(columns, len(row))
		}
	}
	if columns > 0 {
		c.out.block(c.tableLines(rows, columns)...)
	}
}

// layout is the arrangement of a table's cells.
type layout struct {
	rows     []*html.Node
	caption  *html.Node
	arranges bool

	widest, heads        int
	hasTable, hasHeading bool
}

// layoutOf looks at a table without the tables in its cells: these have layouts of their own.
func layoutOf(table *html.Node) (t layout) {
	t.add(table)
	switch role := attr(table, "role"); {
	case role == "presentation", role == "none", t.hasHeading, table.Parent != nil && isAdmonition(table.Parent):
		t.arranges = true
	case t.heads == 0:
		t.arranges = t.hasTable || t.widest <= 1 || len(t.rows) == 1 && !isData(t.rows[0])
	}
	return t
}

// add adds the rows and cells in an element.
func (t *layout) add(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.DataAtom {
		case atom.Table:
			t.hasTable = true
			continue
		case atom.H1, atom.H2, atom.H3, atom.H4:
			t.hasHeading = true
		case atom.Tr:
			if !inRow(child) { // it is content of a cell
				t.rows = append(t.rows, child)
				t.widest = max(t.widest, width(child))
			}
		case atom.Th:
			t.heads++
		case atom.Caption:
			t.caption = child
		}
		t.add(child)
	}
}

// width is the number of cells in a row.
func width(tr *html.Node) (cells int) {
	for cell := tr.FirstChild; cell != nil; cell = cell.NextSibling {
		if isCell(cell) && !isLineNumber(cell) {
			cells++
		}
	}
	return cells
}

// inRow reports whether a row stands in another one of its table, as no parser of the standard
// leaves it, or in a template.
func inRow(tr *html.Node) bool {
	for p := tr.Parent; p != nil && p.DataAtom != atom.Table; p = p.Parent {
		if p.DataAtom == atom.Tr || p.DataAtom == atom.Template {
			return true
		}
	}
	return false
}

// isData reports whether a row without others holds data: each cell a line of words, in one of them
// outside of links. Rows of menus and of columns do not.
func isData(row *html.Node) bool {
	words := false
	for cell := row.FirstChild; cell != nil; cell = cell.NextSibling {
		if !isCell(cell) {
			continue
		}
		if hasBlock(cell) || strings.TrimSpace(textOf(cell, 1000)) == "" {
			return false
		}
		linked := false
		for d := range cell.Descendants() {
			if d.DataAtom == atom.Img || d.DataAtom == atom.Br {
				return false
			}
			linked = linked || d.DataAtom == atom.A
		}
		words = words || !linked
	}
	return words
}

// arranged converts the cells of a table one after another.
func (c *converter) arranged(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch {
		case c.notes.skip[child], isCell(child) && isLineNumber(child):
		case child.DataAtom == atom.Th:
			if c.outer[child] || hasBlock(child) {
				c.container(child)
			} else {
				c.title(child)
			}
		case child.DataAtom == atom.Tbody, child.DataAtom == atom.Thead, child.DataAtom == atom.Tfoot, child.DataAtom == atom.Tr:
			c.arranged(child)
		default:
			c.node(child)
		}
	}
	c.endRun()
}

func hasBlock(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && isBlock(d) {
			return true
		}
	}
	return false
}

// row converts the cells of a row. Spans of cells leave empty ones.
func (c *converter) row(tr *html.Node, spans *[]int) (row []cell) {
	spanned := func() {
		for len(row) < len(*spans) && (*spans)[len(row)] > 0 && len(row) < mostColumns {
			(*spans)[len(row)]--
			row = append(row, cell{})
		}
	}
	for n := tr.FirstChild; n != nil; n = n.NextSibling {
		if !isCell(n) || isLineNumber(n) || c.notes.skip[n] {
			continue
		}
		spanned()
		text := c.cellText(n)
		if len(row) == mostColumns {
			last := &row[mostColumns-1]
			last.text = strings.TrimSpace(last.text + " " + text)
			continue
		}
		rows := min(max(number(n, "rowspan", 1), 1), 65534)
		for i := range min(max(number(n, "colspan", 1), 1), mostColumns-len(row)) {
			if i > 0 {
				text = ""
			}
			for len(*spans) <= len(row) {
				*spans = append(*spans, 0)
			}
			(*spans)[len(row)] = rows - 1
			row = append(row, cell{text, alignment(n), n.DataAtom == atom.Th})
		}
	}
	spanned()
	for len(row) > 0 && row[len(row)-1] == (cell{}) {
		row = row[:len(row)-1]
	}
	return row
}

func alignment(n *html.Node) string {
	if align := strings.ToLower(attr(n, "align")); align != "" {
		return align
	}
	if _, style, found := strings.Cut(attr(n, "style"), "text-align:"); found {
		style, _, _ = strings.Cut(style, ";")
		return strings.TrimSpace(style)
	}
	return ""
}

// cellText converts a cell to one line.
func (c *converter) cellText(n *html.Node) (text string) {
	c.cells++
	c.inline++
	c.run.apart(func() {
		c.children(n)
		text = c.inLine(breakTag)
	})
	c.cells--
	c.inline--
	return text
}

// cellRows converts the rows of a table in a cell: one a line, with separators between their cells.
func (c *converter) cellRows(rows []*html.Node) {
	for _, tr := range rows {
		c.run.breakLine(c.flat > 0)
		first := true
		for cell := tr.FirstChild; cell != nil; cell = cell.NextSibling {
			if !isCell(cell) || isLineNumber(cell) || c.notes.skip[cell] {
				continue
			}
			if c.run.space = max(c.run.space, blank); !first && !c.Text {
				c.run.write("|")
				c.run.space = blank
			}
			first = false
			c.cells++
			c.inline++
			c.flat++
			c.children(cell)
			c.cells--
			c.inline--
			c.flat--
		}
	}
	c.run.breakLine(c.flat > 0)
}

// isCallouts reports whether a table is DocBook's list of remarks on code.
func isCallouts(table *html.Node) bool { return attr(table, "summary") == "Callout list" }

// callouts converts remarks on code: a list, as the code has their numbers.
func (c *converter) callouts(rows []*html.Node) {
	var remarks []*html.Node
	l := list{numbered: true, at: 1, tight: true}
	for _, tr := range rows {
		if cell := lastCell(tr); cell != nil {
			remarks = append(remarks, cell)
			l.tight = l.tight && isShort(cell)
		}
	}
	for _, remark := range remarks {
		c.item(remark, &l)
	}
	if l.begun {
		c.out.place.gap, c.out.place.marker = emptyLine, l.marker
	}
}

// isVariables reports whether a table is a list of definitions: DocBook's, such as the parameters
// of a function.
func isVariables(table *html.Node) bool { return hasClass(table, "variablelist") }

// variables converts a list of definitions: each row is an item, its first cell the term.
func (c *converter) variables(rows []*html.Node) {
	marker := c.out.termMarker()
	for _, tr := range rows {
		c.out.within(string(marker)+" ", "  ", false, func() {
			isTerm := true
			for cell := tr.FirstChild; cell != nil; cell = cell.NextSibling {
				switch {
				case !isCell(cell) || c.notes.skip[cell]:
					continue
				case isTerm:
					c.variable(cell)
				default:
					c.container(cell)
				}
				isTerm = false
			}
		})
	}
	c.out.place.marker, c.out.place.terms = marker, true
}

// variable converts the term of a definition, which is a paragraph.
func (c *converter) variable(cell *html.Node) {
	term := cell
	if p := cell.FirstChild; p != nil && p == cell.LastChild && p.DataAtom == atom.P {
		term = p
	}
	if c.outer[term] || hasBlock(term) {
		c.container(cell)
		return
	}
	c.mark(term, strong)
	c.endRun()
}

func lastCell(tr *html.Node) *html.Node {
	cell := tr.LastChild
	for cell != nil && !isCell(cell) {
		cell = cell.PrevSibling
	}
	return cell
}

// tableLines writes rows. Without a header its cells are empty.
func (c *converter) tableLines(rows [][]cell, columns int) (lines []string) {
	if c.Text {
		for _, row := range rows {
			var texts []string
			for _, cell := range row {
				texts = append(texts, cell.text)
			}
			lines = append(lines, strings.Join(texts, "\t"))
		}
		return lines
	}
	head := make([]cell, columns)
	if isHeader(rows[0]) {
		copy(head, rows[0])
		rows = rows[1:]
	}
	lines = append(lines, tableLine(head))
	var b strings.Builder
	b.WriteByte('|')
	for i := range columns {
		align := head[i].align
		if align == "" && len(rows) > 0 && i < len(rows[0]) {
			align = rows[0][i].align
		}
		switch align {
		case "center":
			b.WriteString(" :-: |")
		case "right":
			b.WriteString(" --: |")
		default:
			b.WriteString(" --- |")
		}
	}
	lines = append(lines, b.String())
	for _, row := range rows {
		lines = append(lines, tableLine(slices.Concat(row, make([]cell, columns-len(row)))))
	}
	return lines
}

// isHeader reports whether a row is a header: all its cells are, and one has text.
func isHeader(row []cell) bool {
	for _, cell := range row {
		if !cell.header && cell.text != "" {
			return false
		}
	}
	return true
}

func tableLine(row []cell) string {
	var b strings.Builder
	b.WriteByte('|')
	for _, cell := range row {
		b.WriteByte(' ')
		b.WriteString(cell.text)
		if cell.text != "" {
			b.WriteByte(' ')
		}
		b.WriteByte('|')
	}
	return b.String()
}
