package markdown

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TestCases compares the Markdown of small pages with what is expected, with their structure, and
// with what comes of it when it is read and converted again. A star in the name of a case says that
// Markdown has no form for something in it.
func TestCases(t *testing.T) {
	golden.Cases(t, "testdata/cases.txt", golden.DoubleRule, func(t *testing.T, _, input, _ string) string {
		name, text, _ := strings.Cut(input, "\n")
		md, differences := compare(t, parse(t, []byte(text)))
		for _, d := range differences {
			if !strings.Contains(name, "*") {
				t.Errorf("%s: %s", name, d)
			}
		}
		if again := Convert(rendered(t, md), Options{Base: page}).Text; again != md && !strings.Contains(name, "*") {
			t.Errorf("%s: read again, it is\n%s\nand was\n%s", name, again, md)
		}
		return strings.TrimSuffix(md, "\n")
	})
}

// FuzzConvert: whatever the page, and a part of it, its text holds no character that steers a
// terminal, and what comes out is valid UTF-8.
func FuzzConvert(f *testing.F) {
	for _, input := range golden.Inputs(f, "testdata/cases.txt", golden.DoubleRule) {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, err := html.Parse(strings.NewReader(strings.ToValidUTF8(text, "")))
		if err != nil {
			return
		}
		for n := range root.Descendants() {
			if n.DataAtom == atom.P || n.DataAtom == atom.Div {
				Convert(n, Options{Base: page, Page: root})
				break
			}
		}
		for _, plain := range []bool{false, true} {
			d := Convert(root, Options{Base: page, Text: plain})
			if !utf8.ValidString(d.Text) {
				t.Fatalf("%q is no UTF-8", d.Text)
			}
			for _, r := range d.Text {
				if unicode.IsControl(r) && r != '\n' && r != '\t' {
					t.Fatalf("%q has %q", d.Text, r)
				}
			}
			for _, h := range d.Headings {
				if !plain && !strings.HasPrefix(d.Text[h.Offset:], "#") {
					t.Fatalf("no heading at %d of %q", h.Offset, d.Text)
				}
			}
		}
	})
}

// TestDeep: elements may nest as deep as the parser lets them, and a list in a list adds to every
// line.
func TestDeep(t *testing.T) {
	for _, tag := range []string{"ul><li", "blockquote", "b", "table><tr><td", "dl><dd", "span><div", "a href=x><p", "code", "sup"} {
		depth := 500 / strings.Count("<"+tag, "<") / 3
		text := strings.Repeat("<"+tag+">", depth) + "x<p>y"
		d := Convert(parse(t, []byte(text)), Options{Base: page})
		if !strings.Contains(d.Text, "x") || !strings.Contains(d.Text, "y") || len(d.Text) > 10_000 {
			t.Errorf("<%s> %d times: %.200q", tag, depth, d.Text)
		}
	}
}

// TestNoMoreThanThePage: no text is many times as long as its page, through a long base, through
// elements around many paragraphs or through rows in rows, as a parser that gives up nesting leaves
// them.
func TestNoMoreThanThePage(t *testing.T) {
	base, err := weburl.Parse("https://example.org/" + strings.Repeat("a", 100_000) + "/")
	if err != nil {
		t.Fatal(err)
	}
	d := Convert(parse(t, []byte(strings.Repeat("<a href=b>c</a> ", 1000))), Options{Base: base})
	if len(d.Text) > 2*mostTargets || !strings.HasSuffix(d.Text, " c\n") {
		t.Errorf("%d bytes, which end with %.20q", len(d.Text), d.Text[max(0, len(d.Text)-20):])
	}
	d = Convert(parse(t, []byte("<a href=/"+strings.Repeat("b", 8000)+">"+strings.Repeat("<p>c</p>d<br><br>e", 10_000)+"</a>")), Options{})
	if len(d.Text) > 2*mostTargets || !strings.HasSuffix(d.Text, "\n\ne\n") {
		t.Errorf("a link around paragraphs: %d bytes", len(d.Text))
	}
	d = Convert(parse(t, []byte(strings.Repeat("<sup>", 400)+strings.Repeat("x<br><br>", 1000))), Options{})
	if len(d.Text) > 100_000 {
		t.Errorf("raised in raised: %d bytes", len(d.Text))
	}
	table := &html.Node{Type: html.ElementNode, Data: "table", DataAtom: atom.Table}
	inner := table
	for range 100 {
		for _, name := range []atom.Atom{atom.Tr, atom.Td} {
			n := &html.Node{Type: html.ElementNode, Data: name.String(), DataAtom: name}
			inner.AppendChild(n)
			if name == atom.Td {
				n.AppendChild(&html.Node{Type: html.TextNode, Data: "cell "})
			}
			inner = n
		}
	}
	inner.Parent.AppendChild(&html.Node{Type: html.ElementNode, Data: "td", DataAtom: atom.Td})
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	root.AppendChild(table)
	if n := strings.Count(Convert(root, Options{}).Text, "cell"); n != 100 {
		t.Errorf("100 cells are %d", n)
	}
}

func TestText(t *testing.T) {
	const text = `<h1>Title</h1><p>One <b>two</b> <a href="/x">three</a> <code>f_x</code>.</p><ul><li>a<li>b</ul>
		<table><tr><th>A<th>B<tr><td>1<td>2</table><blockquote>q</blockquote><pre>x
 y</pre><p>שלום <i>עולם</i></p><p>你好
世界</p><img alt="A cat" src=c.png>`
	const want = "Title\n\nOne two three f_x.\n\n- a\n- b\n\nA\tB\n1\t2\n\nq\n\nx\n y\n\nשלום עולם\n\n你好世界\n\nA cat\n"
	if got := Convert(parse(t, []byte(text)), Options{Base: page, Text: true}).Text; got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

// TestNotesBeyond: notes that the content lacks are those of its page, and their title stands above
// nothing.
func TestNotesBeyond(t *testing.T) {
	const text = `<p>One<sup><a href="#n1">1</a></sup></p><p class=rubric>Footnotes</p>`
	whole := parse(t, []byte(text+`<aside class=footnote-list><aside class=footnote id=n1><p>First <a href=/x>one<p>two</p></a> <b>three<div>four</div></b></p></aside></aside>`))
	got := Convert(parse(t, []byte(text)), Options{Base: page, Page: whole}).Text
	if want := "One[^1]\n\n[^1]: First [one](https://example.org/x)\n\n    [two](https://example.org/x)\n\n    three\n\n    four\n"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
