package check

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/links"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
)

// renderMarkdown returns Markdown, as GitHub reads it, in HTML. Front matter is none of it.
func renderMarkdown(source []byte) ([]byte, error) {
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithAttribute()),
		goldmark.WithRendererOptions(html.WithUnsafe()),
	)
	var out bytes.Buffer
	err := md.Convert(afterFrontMatter(source), &out, parser.WithContext(parser.NewContext(parser.WithIDs(headings{}))))
	return out.Bytes(), err
}

// afterFrontMatter returns what follows the lines between two "---" at the beginning.
func afterFrontMatter(source []byte) []byte {
	if rest, ok := bytes.CutPrefix(source, []byte("---\n")); ok {
		if end := bytes.Index(rest, []byte("\n---\n")); end >= 0 {
			return rest[end+len("\n---\n"):]
		}
	}
	return source
}

// headings are the ids of a document's headings, as GitHub makes them: letters, digits, - and _ in
// lower case, with - for spaces, and a number where an id is taken.
type headings map[string]bool

// Generate returns the id of a heading.
func (h headings) Generate(text []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r), unicode.Is(unicode.M, r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(text)))
	unique := id
	for n := 1; h[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	h[unique] = true
	return []byte(unique)
}

// Put notes an id that the document gives itself.
func (h headings) Put(id []byte) { h[string(id)] = true }

// sourceOf finds the links of rendered Markdown in its source. HTML has them in the same order, but
// for those with a reference, whose URL stands elsewhere; so the next place where the URL stands, as
// a URL would, is the right one nearly always.
type sourceOf struct {
	source []byte
	at     int // after the last link that was found
}

// before is what stands before a URL in Markdown: (url), <url>, [ref]: url, attr="url"; and anything, for a URL
// that stands alone.
var before = []string{"(", "<", ": ", `"`, ""}

// place returns line and column of a link; 0, 0 if the source does not have its URL.
func (s *sourceOf) place(l *links.Link) (line, column int) {
	raw := strings.TrimPrefix(l.Raw, "mailto:")
	for _, from := range []int{s.at, 0} {
		best := -1
		for _, mark := range before {
			if mark == "" && (best >= 0 || len(raw) < len("a.b")) {
				break
			}
			if i := bytes.Index(s.source[from:], []byte(mark+raw)); i >= 0 && (best < 0 || i+len(mark) < best) {
				best = i + len(mark)
			}
		}
		if best < 0 {
			continue
		}
		at := from + best
		if from > 0 || s.at == 0 {
			s.at = at + len(raw)
		}
		start := bytes.LastIndexByte(s.source[:at], '\n') + 1
		return bytes.Count(s.source[:at], []byte("\n")) + 1, utf8.RuneCount(s.source[start:at]) + 1
	}
	return 0, 0
}
