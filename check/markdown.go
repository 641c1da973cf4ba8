package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/results"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// Bounds on Markdown that nobody writes, and that would take the parser minutes or gigabytes.
const (
	mostNested = 200     // block quotes and lists in one another, that begin on one line
	mostCells  = 500_000 // of tables: a row has as many as the head, whatever it says
	mostDefs   = 10_000  // link reference definitions without an empty line between
)

var (
	errNested   = fmt.Errorf("more than %d quotes or lists in one another", mostNested)
	errCells    = fmt.Errorf("more than %d cells of tables", mostCells)
	errDefs     = fmt.Errorf("more than %d link references one after another", mostDefs)
	errRendered = fmt.Errorf("more than %d MiB as HTML", results.MaxBody>>20)
)

// bounded takes the HTML of a document, which references may make much longer than it.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errRendered
	}
	return b.Buffer.Write(p)
}

// isSane returns an error for a document beyond the bounds.
func isSane(source []byte) error {
	const marks = " \t\r>|:-+*.)0123456789"
	cells, columns, defs := 0, 0, 0
	for line := range bytes.Lines(source) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		text := bytes.TrimLeft(line, marks)
		head := line[:len(line)-len(text)]
		nested := bytes.Count(head, []byte(">"))
		for _, item := range []string{"- ", "+ ", "* ", ". ", ") "} {
			nested += bytes.Count(head, []byte(item))
		}
		if bytes.HasPrefix(text, []byte("[")) && bytes.Contains(text, []byte("]:")) {
			defs++
		}
		switch {
		case defs > mostDefs:
			return errDefs
		case nested > mostNested:
			return errNested
		case len(bytes.TrimSpace(line)) == 0:
			columns, defs = 0, 0
		case len(text) == 0 && bytes.IndexByte(line, '-') >= 0: // perhaps what separates head and rows
			columns = max(columns, bytes.Count(line, []byte("|")))
		}
		if cells += columns; cells > mostCells {
			return errCells
		}
	}
	return nil
}

// patience is an inline parser that comes before the others, and ends a paragraph that would take
// them too long: they may look at all that is left of it from each mark on.
type patience struct {
	most  int // for a document
	spent int // bytes that were left, in sum
	cut   int // the first place that was passed over; -1: none
}

// mostSpent is patience.most; it takes about 1.5 s. A paragraph of 5,000 links
// takes two thirds.
const mostSpent = 1 << 30

func (p *patience) Trigger() []byte { return []byte("![]()<`*_~") }

func (p *patience) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	lines := parent.Lines()
	_, at := block.Position()
	if lines == nil || lines.Len() == 0 {
		return nil
	}
	if p.spent += lines.At(lines.Len()-1).Stop - at.Start; p.spent <= p.most {
		return nil
	}
	if p.cut < 0 {
		p.cut = at.Start
	}
	for line, _ := block.PeekLine(); line != nil; line, _ = block.PeekLine() {
		block.AdvanceLine()
	}
	return ast.NewString(nil)
}

// renderMarkdown returns Markdown, as GitHub reads it, in HTML, and where in the source it stops
// reading inside of paragraphs; -1: nowhere. Front matter is none of it.
func renderMarkdown(source []byte) (rendered []byte, cut int, err error) {
	return renderWithin(mostSpent, results.MaxBody, source)
}

func renderWithin(spent, size int, source []byte) (rendered []byte, cut int, err error) {
	if err := isSane(source); err != nil {
		return nil, -1, err
	}
	limit := &patience{most: spent, cut: -1}
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote),
		goldmark.WithParserOptions(parser.WithAttribute(), parser.WithInlineParsers(util.Prioritized(limit, 0))),
		goldmark.WithRendererOptions(renderer.WithUnsafe()),
	)
	out := bounded{most: size}
	body := afterFrontMatter(source)
	err = md.Convert(body, &out)
	if limit.cut >= 0 {
		limit.cut += len(source) - len(body)
	}
	return out.Bytes(), limit.cut, err
}

// afterFrontMatter returns what follows a byte order mark and the lines at the beginning that
// generators of sites read: YAML between --- and --- or ..., TOML between +++ and +++.
func afterFrontMatter(source []byte) []byte {
	source = bytes.TrimPrefix(source, []byte("\uFEFF"))
	first, rest := cutLine(source)
	if first != "---" && first != "+++" {
		return source
	}
	for len(rest) > 0 {
		var line string
		if line, rest = cutLine(rest); line == first || line == "..." && first == "---" {
			return rest
		}
	}
	return source // nothing ends it
}

// cutLine returns the first line of a text, without white space at its end, and what follows it.
func cutLine(text []byte) (line string, rest []byte) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimRight(first, " \t\r")), rest
}

// headingAnchors returns the hashes of the ids that GitHub gives to the headings of rendered
// Markdown, those that the author wrote as HTML included.
func headingAnchors(rendered []byte) (all []uint64) {
	ids := headings{}
	var text []byte
	open := false
	end := func() {
		if open {
			for _, id := range ids.all(string(text)) {
				all = append(all, Anchor(id))
			}
		}
		text, open = text[:0], false
	}
	z := html.NewTokenizer(bytes.NewReader(rendered))
	for len(all) < mostAnchors {
		switch z.Next() {
		case html.ErrorToken:
			end()
			return all
		case html.TextToken:
			if open {
				text = append(text, z.Text()...)
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			if isHeading(name) {
				start := z.Raw()[1] != '/'
				end()
				open = start
			}
		}
	}
	return all
}

func isHeading(name []byte) bool {
	return len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6'
}

// headings are the ids of a document's headings, by GitHub's algorithm: a number stands behind an
// id that is taken.
//
// The number of an id is where the next one like it begins to look for a free one.
type headings map[string]int

// all returns the ids of a heading. One whose text has several lines, as HTML may have, also counts
// as if it stood in one line: renderers differ.
func (h headings) all(text string) (ids []string) {
	ids = []string{h.add(slug(text))}
	if strings.ContainsRune(text, '\n') {
		ids = append(ids, slug(strings.Join(strings.Fields(text), " ")))
	}
	return ids
}

// add returns an id that no heading before has.
func (h headings) add(id string) string {
	unique := id
	for n := h[id]; h[unique] > 0; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
		h[id] = n + 1
	}
	h[unique] = 1
	return unique
}

// slug returns what GitHub makes of the text of a heading: letters, marks and digits in lower case,
// - and what connects words such as _, with - for blanks.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// sourceOf finds the links of rendered Markdown in its source. HTML has them in the same order, but
// for those with a reference, whose URL stands elsewhere; so the next place where the URL stands,
// as a URL would, is the right one nearly always.
type sourceOf struct {
	source []byte
	at     int // after the last link that was found
	read   int // bytes, in search of links

	placed       int // the last place, in bytes
	lines, chars int // before it, and before it in its line
}

// mostRead bounds the bytes that are read in search of the links of a document: a long one, whose
// links stand otherwise in the source, would take time in proportion to the square of its length.
const mostRead = 1 << 28

// before lists the texts before a URL in Markdown: (url), <url>, [ref]: url, attr="url".
var before = []string{"(", "<", ": ", `"`}

// place returns line and column of a link; 0, 0 if the source does not have its URL, or if it would
// take too long to tell.
func (s *sourceOf) place(l *links.Link) (line, column int) {
	raw := []byte(strings.TrimPrefix(l.Raw, "mailto:"))
	at := s.find(raw, s.at)
	switch {
	case at >= 0:
		s.at = at + len(raw)
	case s.at > 0:
		at = s.find(raw, 0)
	}
	if at < 0 {
		return 0, 0
	}
	return s.tell(at)
}

// find returns where a URL stands, from a place on: behind one of before, or else, unless it is
// short, alone; -1: nowhere.
func (s *sourceOf) find(raw []byte, from int) int {
	alone := -1
	for s.read < mostRead {
		i := bytes.Index(s.source[from:], raw)
		if i < 0 {
			s.read += len(s.source) - from
			break
		}
		s.read += i + 1 + len(raw)
		at := from + i
		if slices.ContainsFunc(before, func(mark string) bool { return bytes.HasSuffix(s.source[:at], []byte(mark)) }) {
			return at
		}
		if alone < 0 && len(raw) >= len("a.b") {
			alone = at
		}
		if from = at + 1; from > len(s.source) {
			break
		}
	}
	return alone
}

// tell returns line and column of a place, counted on from the last one.
func (s *sourceOf) tell(at int) (line, column int) {
	if at < s.placed {
		s.placed, s.lines, s.chars = 0, 0, 0
	}
	passed := s.source[s.placed:at]
	s.placed, s.read = at, s.read+len(passed)
	if n := bytes.Count(passed, []byte("\n")); n > 0 {
		s.lines, s.chars = s.lines+n, 0
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	s.chars += utf8.RuneCount(passed)
	return s.lines + 1, s.chars + 1
}
