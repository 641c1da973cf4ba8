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

// TestSolidCode: a page of a reference may be little but a synopsis; the lines about it are
// content.
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

// TestSolidContents: of a known site, an introduction keeps the list behind it whole, however short
// its entries, if it has two fifths of the words, or a quarter on a short page; but no list with a
// button, which is a shop's.
func TestSolidContents(t *testing.T) {
	for _, c := range []struct {
		sentences, entries int
		behind             string
		kept               bool
	}{
		{1, 30, "", true}, {1, 30, "<button>Buy</button>", false},
		{12, 200, "", true}, {12, 200, "<button>Buy</button>", false},
		{120, 2000, "", true}, {120, 2000, "<button>Buy</button>", false},
	} {
		page := contents("", "<h1>Archiving</h1>", c.sentences, c.entries, c.behind)
		n := strings.Count(solid(t, page), ">error<")
		if kept := n == c.entries; kept != c.kept {
			t.Errorf("%+v: %d entries kept", c, n)
		}
	}
}

// contents is a page with a list of links behind an introduction.
func contents(head, heading string, sentences, entries int, behind string) string {
	const prose = "<p>The modules described in this chapter support data compression, and the creation of archives.</p>"
	return "<title>Archiving</title>" + head + "<body><div class=doc>" + heading + strings.Repeat(prose, sentences) +
		"<div><ul>" + strings.Repeat("<li><a href=/e>error</a>", entries) + "</ul>" + behind + "</div></div><p><a href=/b>Next</a>"
}

// TestManual: the front page of a manual and its synopses are kept whole, also of a site that is
// not known; where headings have no names, or something can be pressed, blocks are chosen one by
// one.
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

// TestManualContents: the contents of a manual are kept whole at any length, whether its generator,
// the names of its headings or other pages of the site tell that it is one. A long introduction
// without a generator needs a quarter of the words.
func TestManualContents(t *testing.T) {
	const (
		sphinx = "<meta name=generator content='Sphinx 7.2'>"
		plain  = "<h1>Archiving</h1>"
		named  = "<h1 id=archiving>Archiving</h1>"
	)
	main := extract(t, contents("", plain, 12, 0, ""), Options{Solid: true}).Trunk[1].Place
	for _, c := range []struct {
		name, head, heading string
		sentences           []int
		options             Options
	}{
		{"generator", sphinx, plain, []int{0, 1, 12, 40}, Options{}},
		{"generator, known site", sphinx, plain, []int{0, 1, 12, 40}, Options{Solid: true}},
		{"named heading", "", named, []int{0, 1, 12}, Options{}},
		{"named heading, known site", "", named, []int{0, 1, 12}, Options{Solid: true}},
		{"other pages", "", plain, []int{0, 1, 12, 40}, Options{Solid: true, Main: func(place uint64) bool { return place == main }}},
	} {
		for _, sentences := range c.sentences {
			for _, entries := range []int{5, 30, 150, 300, 3000} {
				page := contents(c.head, c.heading, sentences, entries, "")
				text := extracted(t, page, c.options)
				if n := strings.Count(text, ">error<"); n != entries || strings.Contains(text, "Next") {
					t.Errorf("%s, %d sentences: %d of %d entries kept", c.name, sentences, n, entries)
				}
			}
		}
	}
	if n := strings.Count(extracted(t, contents("", named, 40, 1000, ""), Options{}), ">error<"); n != 1000 {
		t.Errorf("%d of 1000 entries kept", n)
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
	var b strings.Builder
	if err := html.Render(&b, extract(t, page, o).Node); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func extract(t *testing.T, page string, o Options) Content {
	t.Helper()
	root, err := Parse([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	url, err := weburl.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	return Extract(Page{URL: url, Root: root}, o)
}

// TestMains: of several elements where the content of the site's pages is, each is kept, and
// nothing between them.
func TestMains(t *testing.T) {
	const one = "<article><p>The quay was built in 1870, when ships still came under sail, and the town had four streets.</p></article>"
	main := extract(t, "<body>"+one, Options{Solid: true}).Trunk[1].Place
	page := "<body>" + one + "<p>First advert.</p>" + one + one + "<p>Second advert.</p>" + one
	o := Options{Solid: true, Main: func(place uint64) bool { return place == main }}
	if text := extracted(t, page, o); strings.Count(text, "quay") != 4 || strings.Contains(text, "advert") {
		t.Errorf("kept: %s", text)
	}
	for _, r := range extract(t, page, o).Removed {
		if r.Rule != "beside the content" {
			t.Errorf("removed: %+v", r)
		}
	}
}
