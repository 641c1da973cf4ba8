package content

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// TestSolid: what stands between paragraphs of a manual is content, but for a menu.
func TestSolid(t *testing.T) {
	const prose = "<p>The function returns the value that was given to it, unless the value is empty, and then it returns nothing at all.</p>"
	page := `<body><div class=top><a href=/>Home</a> <a href=/a>Index</a></div><div class=doc><h1>Manual</h1>` + prose +
		`<h2>Tools</h2>` + prose + `<ul><li><a href=/x>Nuitka</a><li><a href=/y>cx_Freeze</a></ul><nav><a href=/b>Next</a></nav><h2>More</h2>` + prose + prose + `</div>`
	text := solid(t, page)
	for _, want := range []string{"Manual", "Tools", "Nuitka", "cx_Freeze", "More"} {
		if !strings.Contains(text, ">"+want+"<") {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	for _, other := range []string{"Index", "Next"} {
		if strings.Contains(text, other) {
			t.Errorf("%s is in %s", other, text)
		}
	}
}

// TestSolidCode: a page of a reference may be little but a synopsis; the lines about it are content.
func TestSolidCode(t *testing.T) {
	page := `<body><div class=top><a href=/>Home</a></div><div class=entry><div><h2><span>Function template make_terminal</span></h2><p>yap::make_terminal</p></div>` +
		`<h2>Synopsis</h2><div><pre>// In header: yap/expression.hpp\n\ntemplate &lt;typename T> constexpr auto make_terminal(T &amp;&amp; t);` +
		strings.Repeat("\n  typedef typename result_of::fold&lt;Sequence, State, Function>::type result;", 4) + `</pre></div>` +
		`<div><h2>Description</h2><p>Returns make_terminal&lt;expression>(t).</p></div></div><table><tr><td>Copyright 2018 by its author</table>`
	text := solid(t, page)
	for _, want := range []string{"Function template", "yap::make_terminal<", "Synopsis", "constexpr", "Description", "Returns"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Contains(text, "Copyright") || strings.Contains(text, "Home") {
		t.Errorf("more than the entry: %s", text)
	}
}

// TestSolidContents: a table of contents behind an introduction is kept whole, however short its
// entries; what a shop lists is not, and has buttons. On a short page, less of an introduction is
// enough.
func TestSolidContents(t *testing.T) {
	const prose = "<p>The modules described in this chapter support data compression, and the creation of archives.</p>"
	for _, c := range []struct {
		paragraphs, entries int
		behind              string
		kept                bool
	}{
		{1, 30, "", true}, {1, 200, "", false}, {1, 9, "<button>Buy</button>", false},
		{12, 200, "", true}, {12, 300, "", false}, {12, 200, "<button>Buy</button>", false},
	} {
		page := "<body><div class=doc><h1>Archiving</h1>" + strings.Repeat(prose, c.paragraphs) +
			"<div><ul>" + strings.Repeat("<li><a href=/e>error</a>", c.entries) + "</ul>" + c.behind + "</div></div><p><a href=/b>Next</a>"
		n := strings.Count(solid(t, page), ">error<")
		if kept := n == c.entries; kept != c.kept {
			t.Errorf("%+v: %d entries kept", c, n)
		}
	}
}

// TestManual: the front page of a manual and its synopses are kept whole, also of a site that is not known;
// where headings have no names, or something can be pressed, blocks are chosen one by one.
func TestManual(t *testing.T) {
	const prose = "<p>The function returns the value that was given to it, unless the value is empty, and then it returns nothing at all.</p>"
	manual := func(name, more string) string {
		return `<title>Function</title><body><table><tr><td><a href=/>Home</a></table><div class=chapter><div class=titlepage><h2><a ` + name + `></a>Chapter 14. Function</h2>` +
			`<h3 id=author>Douglas Gregor</h3><p>Copyright 2001 Douglas Gregor</p></div><div class=toc><p>Table of Contents</p><dl>` +
			strings.Repeat(`<dt><a href=/a>Performance</a><dd><dl><dt><a href=/b>History</a></dl>`, 9) + `</dl></div>` + strings.Repeat(prose, 4) + more + `</div>`
	}
	for _, c := range []struct {
		name, more string
		kept       bool
	}{
		{"name=function", "", true},
		{"href=/other", "<h4>Notes</h4>" + prose, false},
		{"name=function", "<button>Buy</button>", false},
	} {
		text := extracted(t, manual(c.name, c.more), Options{})
		if kept := strings.Contains(text, "Copyright 2001"); kept != c.kept {
			t.Errorf("%s %s: kept %v in %s", c.name, c.more, kept, text)
		}
		if strings.Contains(text, "Home") || !strings.Contains(text, "returns nothing") {
			t.Errorf("%s %s: %s", c.name, c.more, text)
		}
	}
}

// TestManualContents: of contents, less of a manual is enough.
func TestManualContents(t *testing.T) {
	const prose = "<p>The modules described in this chapter support data compression, and the creation of archives.</p>"
	page := "<title>Archiving</title><body><section id=archiving><h1>Archiving</h1>" + strings.Repeat(prose, 12) +
		"<div><ul>" + strings.Repeat("<li><a href=/e>error</a>", 320) + "</ul></div></section><p><a href=/b>Next</a>"
	if n := strings.Count(extracted(t, page, Options{}), ">error<"); n != 320 {
		t.Errorf("%d entries kept", n)
	}
}

// solid returns what is kept of a page of a site that is known.
func solid(t *testing.T, page string) string {
	t.Helper()
	return extracted(t, page, Options{Solid: true})
}

// extracted returns the main content of a page, as HTML.
func extracted(t *testing.T, page string, o Options) string {
	t.Helper()
	root, err := Parse([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	url, err := weburl.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	c := Extract(Page{URL: url, Root: root}, o)
	var b strings.Builder
	if err := html.Render(&b, c.Node); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
