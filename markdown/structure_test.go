package markdown

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/weftcrawl/weft/weburl"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var page = func() weburl.URL {
	u, err := weburl.Parse("https://example.org/docs/page.html")
	if err != nil {
		panic(err)
	}
	return u
}()

func parse(t testing.TB, text []byte) *html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// rendered reads Markdown as another program does.
func rendered(t testing.TB, text string) *html.Node {
	t.Helper()
	md := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Footnote, extension.TaskList),
		goldmark.WithRendererOptions(renderer.WithUnsafe()))
	var b bytes.Buffer
	if err := md.Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

// structure lists what a page is made of: headings, links, items, code, tables, one a line. White
// space does not count, but in code.
func structure(root *html.Node) []string {
	c := &converter{Options: Options{Base: page}, outer: map[*html.Node]bool{}}
	c.resolver.Reset(page)
	c.notes = findNotes(root, nil, c.survey(root))
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var walk func(n *html.Node, inTable bool, depth int)
	walk = func(n *html.Node, inTable bool, depth int) {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			switch {
			case child.Type != html.ElementNode, isUnseen(child), isCell(child) && isLineNumber(child):
				continue
			case child.DataAtom == atom.Div && hasClass(child, "footnotes") && child.Parent.DataAtom == atom.Body && len(c.notes.all) == 0:
				continue // of goldmark
			}
			switch child.DataAtom {
			case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
				if depth < deepest {
					depth++
				}
				walk(child, inTable, depth)
				depth--
				continue
			case atom.Li, atom.Dt:
				if c.isNotePart(child) || inTable || child.DataAtom == atom.Dt && follows(child) || c.words(child) == "" && !shows(child) && (child.DataAtom == atom.Li || nextElement(child) == nil || nextElement(child).DataAtom == atom.Dt) {
					break
				}
				add("item")
			case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
				if text := c.words(child); text != "" && !inTable && !hasHeading(child) && !c.notes.skip[child] && !hasClass(child, alertHeading) {
					add("%s %s", child.Data, text)
				}
			case atom.Pre:
				if text := strings.Trim(strings.TrimRight(preText(child), " \t\n"), "\n"); text != "" && !inTable {
					add("pre %s %q", language(child, text), text)
				}
				continue
			case atom.A:
				if url := c.target(attr(child, "href")); url != "" && c.words(child) != "" && !isPermalink(child) && c.notes.byRef[child] == nil && !c.notes.isBack(child) && !isGenerated(child) && !inSignature(child) && !(inHeading(child) && c.isSelf(child)) {
					add("link %s %s", strings.NewReplacer("%5B", "[", "%5D", "]", "%25", "%").Replace(url), c.words(child))
				}
			case atom.Table:
				l := layoutOf(child)
				if isCallouts(child) && !inTable {
					for _, row := range l.rows {
						add("item")
						walk(lastCell(row), false, depth)
					}
					continue
				}
				if isVariables(child) && !inTable {
					for _, row := range l.rows {
						if c.words(row) != "" {
							add("item")
						}
						walk(row, false, depth)
					}
					continue
				}
				if inTable || l.arranges {
					break
				}
				for _, row := range l.rows {
					if r := c.cellsOf(row); strings.Trim(r, "|") != "" && !c.isNotePart(row) {
						add("row %s", r)
					}
				}
				walk(child, true, depth)
				continue
			}
			walk(child, inTable, depth)
		}
	}
	walk(root, false, 0)
	slices.Sort(all)
	return all
}

func isUnseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Iframe, atom.Button, atom.Select, atom.Textarea, atom.Object:
		return true
	}
	return hasAttr(n, "hidden") || n.Namespace != ""
}

func isGenerated(n *html.Node) bool { return hasClass(n, "footnote-ref", "footnote-backref") }

func inSignature(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.DataAtom == atom.Dt && hasClass(n, "sig") && !hasBlock(n) {
			return true
		}
	}
	return false
}

func inPre(n *html.Node) bool {
	for n != nil && n.DataAtom != atom.Pre {
		n = n.Parent
	}
	return n != nil
}

// follows reports whether a term shares its definition with the one before.
func follows(n *html.Node) bool {
	p := previousElement(n)
	return p != nil && p.DataAtom == atom.Dt && !areAlone(n.Parent, terms(n.Parent, nil))
}

// shows reports whether an element shows something that has no words.
func shows(n *html.Node) bool {
	return hasElement(n, atom.Pre) || hasElement(n, atom.Img)
}

func inHeading(n *html.Node) bool {
	for n != nil && !isHeadingAtom(n.DataAtom) {
		n = n.Parent
	}
	return n != nil
}

func (c *converter) isNotePart(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if c.notes.skip[n] {
			return true
		}
		for _, one := range c.notes.all {
			if one.target == n {
				return true
			}
		}
	}
	return false
}

func hasHeading(n *html.Node) bool {
	for d := range n.Descendants() {
		if isHeadingAtom(d.DataAtom) {
			return true
		}
	}
	return false
}

// words is the text of an element without white space and permalinks.
func (c *converter) words(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			switch {
			case child.Type == html.TextNode:
				b.WriteString(child.Data)
			case child.DataAtom == atom.A && (isPermalink(child) || c.notes.byRef[child] != nil && !inPre(child)), child.DataAtom == atom.Sup && isGenerated2(child):
			case isUnseen(child), isLineNumber(child), c.notes.skip[child]:
			case child.DataAtom == atom.Img:
				if !isDecoration(child) {
					b.WriteString(attr(child, "alt"))
					if attr(child, "alt") == "" {
						b.WriteString("image")
					}
				}
			case child.DataAtom == atom.Q:
				b.WriteString("\u201C")
				walk(child)
				b.WriteString("\u201D")
			default:
				walk(child)
			}
		}
	}
	walk(n)
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u00AD' || r == '•' || r == '|' {
			return -1
		}
		return r
	}, b.String())
}

func isGenerated2(n *html.Node) bool { return n.FirstChild != nil && isGenerated(n.FirstChild) }

func (c *converter) cellsOf(row *html.Node) string {
	var texts []string
	for cell := row.FirstChild; cell != nil; cell = cell.NextSibling {
		if isCell(cell) && c.words(cell) != "" && !c.isNotePart(cell) {
			texts = append(texts, c.words(cell))
		}
	}
	return strings.Join(texts, "|")
}

// compare converts a page and returns what its Markdown says more or less than the page.
func compare(t testing.TB, root *html.Node) (text string, differences []string) {
	t.Helper()
	text = Convert(root, Options{Base: page}).Text
	want, got := structure(root), structure(rendered(t, text))
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case j == len(got) || i < len(want) && want[i] < got[j]:
			differences = append(differences, "lost   "+want[i])
			i++
		case i == len(want) || got[j] < want[i]:
			differences = append(differences, "gained "+got[j])
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return text, differences
}

// site compares the pages of a documentation site, every step-th.
func site(t *testing.T, dir string, step int) {
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%v: install python3.11-doc and libboost1.81-doc", err)
	}
	pages, failed, at := 0, 0, 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		if at++; at%step != 0 {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages++
		if _, differences := compare(t, parse(t, text)); len(differences) > 0 {
			if failed++; failed <= 20 {
				t.Logf("%s:\n  %.2000s", path, strings.Join(differences[:min(len(differences), 6)], "\n  "))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages, %d differ", pages, failed)
	if failed > 0 {
		t.Fail()
	}
}

func TestSites(t *testing.T) {
	step := 97
	if os.Getenv("WEFT_LONG") != "" {
		step = 1
	}
	for _, dir := range []string{"/usr/share/doc/libboost1.81-doc/doc/html", "/usr/share/doc/python3.11/html"} {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) { site(t, dir, step) })
	}
}
