package markdown

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// onGitHub reads Markdown with the extensions of GitHub, bare URLs included.
func onGitHub(t testing.TB, text string) *html.Node {
	t.Helper()
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	var b bytes.Buffer
	if err := md.Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

// glyph is a character of a page, or a picture, and what is said of it.
type glyph struct {
	char  string
	gap   int    // before it: 1: a blank, 2: a break, 3: the beginning of a block
	in    string // elements: lists and items with their numbers, quotations, headings, cells, pre
	link  string // target and title
	code  bool
	shift string // sup, sub

	strong, emphasis, deleted bool
}

func (g glyph) String() string {
	marks := ""
	for mark, is := range map[string]bool{"strong": g.strong, "em": g.emphasis, "del": g.deleted, "code": g.code, g.shift: g.shift != ""} {
		if is {
			marks += " " + mark
		}
	}
	return fmt.Sprintf("%q gap %d in %s link %q%s", g.char, g.gap, g.in, g.link, marks)
}

// glyphs lists the characters that a tree shows. Blanks are gaps.
type glyphs struct {
	all   []glyph
	now   glyph
	count map[atom.Atom]int
	c     *converter
}

func glyphsOf(root *html.Node) []glyph {
	g := glyphs{count: make(map[atom.Atom]int), c: &converter{Options: Options{Base: page}}}
	g.c.resolver.Reset(page)
	g.now.gap = 3
	g.children(root)
	return g.all
}

func (g *glyphs) children(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		g.node(child)
	}
}

func (g *glyphs) add(char string) {
	one := g.now
	if one.char = char; one.code {
		one.shift = ""
	}
	if len(g.all) > 0 {
		switch same := g.all[len(g.all)-1].in == one.in; {
		case same && strings.Contains(one.in, "/h"):
			one.gap = min(one.gap, 1)
		case same && strings.Contains(one.in, "/cell"):
			one.gap = min(one.gap, 2)
		}
	}
	g.all = append(g.all, one)
	g.now.gap = 0
}

func (g *glyphs) node(n *html.Node) {
	if n.Type == html.TextNode {
		for _, r := range n.Data {
			switch {
			case strings.Contains(g.now.in, "/pre") && r == '\n':
				g.now.gap = max(g.now.gap, 2)
			case strings.ContainsRune(" \t\n\u00A0", r):
				g.now.gap = max(g.now.gap, 1)
			default:
				g.add(string(r))
			}
		}
		return
	}
	if n.Type != html.ElementNode {
		return
	}
	outer := g.now
	switch n.DataAtom {
	case atom.Head:
		return
	case atom.Br:
		if g.now.gap++; g.now.gap < 2 {
			g.now.gap = 2
		}
		g.now.gap = min(g.now.gap, 3)
		return
	case atom.Hr:
		g.now.gap = 3
		return
	case atom.Img:
		if g.now.code { // which no picture is
			g.node(&html.Node{Type: html.TextNode, Data: attr(n, "alt")})
			return
		}
		g.add(fmt.Sprintf("image %s %q %q", g.c.target(attr(n, "src")), attr(n, "alt"), oneLine(attr(n, "title"))))
		return
	case atom.B, atom.Strong:
		g.now.strong = true
	case atom.I, atom.Em:
		g.now.emphasis = true
	case atom.Del, atom.S:
		g.now.deleted = true
	case atom.Sup, atom.Sub:
		g.now.shift += n.Data
	case atom.Code:
		g.now.code = true
	case atom.A:
		if target := g.c.target(attr(n, "href")); g.now.link == "" && !isAuto(attr(n, "href"), textOf(n, 1000)) {
			title := oneLine(attr(n, "title"))
			if strings.EqualFold(title, Plain(n)) {
				title = ""
			}
			if g.now.link = ""; target != "" {
				g.now.link = target + " " + title
			}
		}
	}
	if isBlock(n) {
		g.now.gap = 3
		switch n.DataAtom {
		case atom.Ul, atom.Ol:
			g.list(n)
			g.now.in, g.now.gap = outer.in, 3
			return
		case atom.Blockquote:
			g.count[n.DataAtom]++
			g.now.in += fmt.Sprintf("/quote %d", g.count[n.DataAtom])
		case atom.Td, atom.Th:
			g.count[atom.Td]++
			g.now.in += fmt.Sprintf("/cell %d", g.count[atom.Td])
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			g.count[atom.H1]++
			g.now.in += fmt.Sprintf("/%s %d", n.Data, g.count[atom.H1])
		case atom.Pre:
			g.count[n.DataAtom]++
			g.now.in += fmt.Sprintf("/pre %d", g.count[n.DataAtom])
			outerCode := g.now.code
			for _, line := range strings.Split(strings.Trim(textOf(n, 10_000), "\n"), "\n") {
				for _, r := range line {
					g.now.code, g.now.link = true, ""
					g.add(string(r))
				}
				g.now.gap = 2
			}
			g.now = outer
			g.now.gap, g.now.code = 3, outerCode
			return
		}
	}
	before, count := len(g.all), maps.Clone(g.count)
	g.children(n)
	if len(g.all) == before { // without content, it is no heading and no quotation
		g.count = count
		switch n.DataAtom {
		case atom.Blockquote, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			g.count[headingOr(n.DataAtom)]--
		}
	}
	gap := g.now.gap
	g.now = outer
	if g.now.gap = gap; isBlock(n) {
		g.now.gap = 3
	}
}

func headingOr(name atom.Atom) atom.Atom {
	if isHeadingAtom(name) {
		return atom.H1
	}
	return name
}

// isAuto reports whether a link is its text, which GitHub makes a link of anyway.
func isAuto(target, text string) bool {
	text = strings.Join(strings.Fields(text), "")
	plain, err := url.PathUnescape(target)
	if err != nil {
		plain = target
	}
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	return plain == text || plain == "http://"+text || plain == "mailto:"+text
}

// list lists what is in a list: what stands outside of its items belongs to the one before, or
// stands in no list. Items without content are none.
func (g *glyphs) list(n *html.Node) {
	in, list := g.now.in, ""
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.DataAtom != atom.Li {
			g.node(child)
			continue
		}
		before, count := len(g.all), maps.Clone(g.count)
		at, was := list, g.now.in
		if at == "" {
			g.count[atom.Ul]++
			at = fmt.Sprintf("%s/%s %d", in, n.Data, g.count[atom.Ul])
		}
		g.count[atom.Li]++
		g.now.in = fmt.Sprintf("%s/item %d", at, g.count[atom.Li])
		g.now.gap = 3
		g.children(child)
		g.now.gap = 3
		if list = at; len(g.all) == before {
			g.count, g.now.in, list = count, was, ""
			if was != in {
				list = at
			}
		}
	}
}

// roundTrip compares a page with what its Markdown says. Emphasis may be left out, and nothing
// else.
func roundTrip(t testing.TB, text string) (md string, ok bool) {
	t.Helper()
	root := parse(t, []byte(text))
	md = Convert(root, Options{Base: page}).Text
	want, got := glyphsOf(root), glyphsOf(onGitHub(t, md))
	for i := range max(len(want), len(got)) {
		if i == len(want) || i == len(got) {
			t.Logf("%d characters, expected %d", len(got), len(want))
			return md, false
		}
		w, g := want[i], got[i]
		if g.strong && !w.strong || g.emphasis && !w.emphasis || g.deleted && !w.deleted {
			t.Logf("%d: got %v, expected %v", i, g, w)
			return md, false
		}
		if w.gap == 1 && i > 0 && isWide([]rune(want[i-1].char)[0]) && isWide([]rune(w.char)[0]) {
			// A line feed between them is nothing.
			w.gap = g.gap
		}
		w.strong, w.emphasis, w.deleted = g.strong, g.emphasis, g.deleted
		w.link = strings.NewReplacer("%5B", "[", "%5D", "]").Replace(w.link)
		g.link = strings.NewReplacer("%5B", "[", "%5D", "]").Replace(g.link)
		if w != g {
			t.Logf("%d: got %v, expected %v", i, g, w)
			return md, false
		}
	}
	return md, true
}

// author writes pages with characters and elements at each other's edges.
type author struct {
	*rand.Rand
	strings.Builder
	links   int
	without string // a tag
}

var edges = []string{"k", "*", "[", "~", "\\", "`", "]", "!", "^", "[x]"}

var pieces = strings.Split("a|b|c |  d|e\n|*|**|_|__|~|~~|\\|`|``|[|]|[x]|[ ] |(|)|!|&lt;|&gt;|&amp;|&amp;amp;|&amp;#42;|¦|#|# |-|- |---|1. |2)|.|:|\"|+ |=|==|x_y|https://x.org/a|https://x.org/~b|http://www.x.org/*|www.x.org/_|「|。|\u00A0|é| |, |;|^|[^1]|&lt;b>|&lt;!--|$|/|%|{|}|\n", "|")

func (a *author) pick(all ...string) string { return all[a.IntN(len(all))] }

func (a *author) text() {
	for range 1 + a.IntN(3) {
		a.WriteString(strings.ReplaceAll(pieces[a.IntN(len(pieces))], "¦", "|"))
	}
}

// line writes the content of a line.
func (a *author) line(depth int) {
	for range 1 + a.IntN(4) {
		if depth == 0 || a.IntN(2) == 0 {
			a.text()
			continue
		}
		switch tag := a.pick("b", "b", "i", "em", "del", "code", "sup", "a", "a", "br", "br2", "img"); tag {
		case a.without:
		case "br":
			a.WriteString("<br>")
		case "br2":
			a.WriteString("<br><br>")
		case "img":
			a.WriteString(`<img src="https://x.org/i.png" alt="`)
			a.WriteString(a.pick("p", "[x]", "*p*", `q\`, "r|s", "!"))
			a.WriteString(`"` + a.pick("", ` title="Say &quot;x\&quot; | &amp;amp;"`) + `>`)
		case "a":
			a.links++
			a.without = "a"
			fmt.Fprintf(a, `<a href="https://x.org/%d%s"%s>`, a.links, a.pick("", "", "_a*", "?b=c&amp;d", "(e)", "[f]"), a.pick("", "", ` title="A title"`, ` title="&quot;b\&quot;|&amp;amp;*c*"`))
			first := a.IntN(2) == 0
			if first {
				a.WriteString(a.pick(edges...))
			}
			a.line(depth - 1)
			if !first {
				a.WriteString(a.pick(edges...))
			}
			a.WriteString("</a>")
			a.without = ""
		default:
			a.WriteString("<" + tag + ">")
			a.line(depth - 1)
			a.WriteString("</" + tag + ">")
		}
	}
}

// blocks writes blocks, in lists also those that stand outside of items.
func (a *author) blocks(depth int) {
	for range 1 + a.IntN(3) {
		tag := a.pick("p", "p", "line", "h2", "pre", "hr")
		if depth > 0 {
			tag = a.pick("p", "line", "h3", "pre", "hr", "ul", "ol", "ol", "blockquote", "div", "a", "table")
		}
		switch tag {
		case "line":
			a.line(2)
		case "hr":
			a.WriteString("<hr>")
		case "pre":
			a.WriteString("<pre>x  *y*\n\n  " + a.pick("z", "```", "&lt;b>", "- q") + "</pre>")
		case "p", "h2", "h3":
			a.WriteString("<" + tag + ">")
			a.line(2)
			a.WriteString("</" + tag + ">")
		case "ul", "ol":
			a.WriteString("<" + tag + a.pick("", "", ` start="9"`, ` start="57"`) + ">")
			for range 1 + a.IntN(3) {
				switch a.IntN(4) {
				case 0:
					a.blocks(depth - 1)
				default:
					a.WriteString("<li>")
					a.pickBlocks(depth - 1)
					a.WriteString("</li>")
				}
			}
			a.WriteString("</" + tag + ">")
		case "table":
			a.WriteString("<table><tr><th>k</th><th>l</th></tr><tr><td>m")
			a.line(2)
			a.WriteString("</td><td>n")
			a.line(1)
			a.WriteString("<p>")
			a.line(1)
			a.WriteString("</table>")
		case "a":
			a.links++
			fmt.Fprintf(a, `<a href="https://x.org/%d">`, a.links)
			a.WriteString("<p>")
			a.text()
			a.WriteString("</p><div><b>")
			a.text()
			a.WriteString("</b></div></a>")
		default:
			a.WriteString("<" + tag + ">")
			a.blocks(depth - 1)
			a.WriteString("</" + tag + ">")
		}
	}
}

func (a *author) pickBlocks(depth int) {
	if a.IntN(2) == 0 {
		a.line(1)
		return
	}
	a.blocks(depth)
}

// TestRoundTrip: what GitHub reads in the Markdown of a page is what the page says: each character,
// in its block, with its link, and as code where it is code. Emphasis may be left out, where
// CommonMark has no form for it.
func TestRoundTrip(t *testing.T) {
	pages := uint64(1500)
	if os.Getenv("WEFT_LONG") != "" {
		pages = 100_000
	}
	for name, write := range map[string]func(*author){
		"lines":  func(a *author) { a.WriteString("<p>"); a.line(3) },
		"blocks": func(a *author) { a.blocks(2) },
	} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for seed := range pages {
				a := author{Rand: rand.New(rand.NewPCG(seed, 1))}
				write(&a)
				if md, ok := roundTrip(t, a.String()); !ok {
					if failed++; failed < 6 {
						t.Errorf("seed %d: %s\nbecomes\n%s", seed, a.String(), md)
					}
				}
			}
			if failed > 0 {
				t.Errorf("%d differ", failed)
			}
		})
	}
}
