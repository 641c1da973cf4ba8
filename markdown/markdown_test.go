package markdown

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/golden"
	"golang.org/x/net/html"
)

// TestCases compares the Markdown of small pages with what is expected, with their structure, and with
// what comes of it when it is read and converted again. A star in the name of a case says that Markdown
// has no form for something in it.
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

// FuzzConvert: whatever the page, its text holds no character that steers a terminal, and what comes
// out is valid UTF-8.
func FuzzConvert(f *testing.F) {
	for _, input := range golden.Inputs(f, "testdata/cases.txt", golden.DoubleRule) {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, err := html.Parse(strings.NewReader(strings.ToValidUTF8(text, "")))
		if err != nil {
			return
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

// TestDeep: elements may nest as deep as the parser lets them, and a list in a list adds to every line.
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
	whole := parse(t, []byte(text+`<aside class=footnote-list><aside class=footnote id=n1><p>First.</p></aside></aside>`))
	got := Convert(parse(t, []byte(text)), Options{Base: page, Page: whole}).Text
	if want := "One[^1]\n\n[^1]: First.\n"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
