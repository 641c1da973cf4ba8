package read

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// learned is the lesson of a sample of pages about their site.
func learned(t *testing.T, pages ...string) *site {
	t.Helper()
	s := newSite()
	for _, text := range pages {
		root, err := content.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s.add(sampleOf(root))
	}
	s.settle()
	return s
}

// known is the lesson of a sample of pages about their site, with the place of their content.
func known(t *testing.T, pages ...string) *site {
	t.Helper()
	s := learned(t, pages...)
	repeated := &site{pages: s.pages, on: s.on}
	for _, text := range pages {
		root, err := content.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		repeated.clear(root)
		c := content.Extract(content.Page{Root: root}, repeated.options(Options{}))
		s.addMain(&c)
	}
	return s
}

// cleared is the text of a page without the boilerplate of its site.
func (s *site) cleared(t *testing.T, page string) string {
	t.Helper()
	root, err := content.Parse([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	s.clear(root)
	var b strings.Builder
	if err := html.Render(&b, root); err != nil {
		t.Fatal(err)
	}
	return One(Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html; charset=utf-8", Body: []byte(b.String())}, Options{Whole: true, Text: true}).Text
}

func TestSite(t *testing.T) {
	const own = "OWN"
	for _, test := range []struct{ name, page, want string }{
		{"a menu in front, a footer behind", "<ul class=m><li>Home<li>News</ul><p>OWN<div class=f><p>Imprint</div>", "OWN\n"},
		{"headings of content", "<p class=m>Site</p><h2>Description</h2><p>OWN</p><h2>Example</h2><p>OWN more", "Description\n\nOWN\n\nExample\n\nOWN more\n"},
		{"a heading before the content, behind a menu", "<h3>Menu</h3><ul><li>Home</ul><h2>Description</h2><p>OWN", "Description\n\nOWN\n"},
		{"pages with names", "<body id=OWN class='page post-17'><div id=OWN><p class=m>Site</p></div><div class=post-9><p>OWN", "OWN\n"},
		{"a heading at the end", "<p>OWN</p><h2>Notes</h2>", "OWN\n\nNotes\n"},
		{"a footer with a heading", "<p>OWN</p><h2>Help</h2><p>Mail us</p>", "OWN\n"},
		{"code", "<p>OWN</p><h2>Use</h2><pre>make</pre>", "OWN\n\nUse\n\nmake\n"},
		{"a paragraph in the middle", "<p>OWN</p><p>See below.</p><p>OWN", "OWN\n\nSee below.\n\nOWN\n"},
		{"a menu in the middle", "<p>OWN</p><ul><li>a<li>b<li>c</ul><p>OWN", "OWN\n\nOWN\n"},
		{"cells", "<table><tr><th>Name<th>Value<tr><td>size<td>OWN</table>", "Name\tValue\nsize\tOWN\n"},
		{"items", "<ul><li>Safe<li>OWN</ul>", "- Safe\n- OWN\n"},
		{"a logo and its text", "<div><img src=logo.png alt=Logo><p>Site</p></div><p>OWN", "OWN\n"},
		{"a picture of its own", "<p>OWN</p><div><img src=OWN.png alt=Picture><p>Share</p></div>", "OWN\n\nPicture\n"},
		{"all of it", "<p>Not found</p>", "Not found\n"},
	} {
		var pages []string
		for i := range 20 {
			pages = append(pages, strings.ReplaceAll(test.page, own, fmt.Sprint("page-", i)))
		}
		if got := learned(t, pages...).cleared(t, strings.ReplaceAll(test.page, "=OWN", "=page-99")); got != test.want {
			t.Errorf("%s:\n%s\nexpected\n%s", test.name, got, test.want)
		}
	}
}

// TestSiteRights: whose a page is differs from page to page, and stands in one place.
func TestSiteRights(t *testing.T) {
	var pages []string
	for i := range 20 {
		pages = append(pages, fmt.Sprintf("<p>page-%d</p><div class=legal>Copyright © 20%02d by author %d</div>", i, i, i))
	}
	s := learned(t, pages...)
	if got := s.cleared(t, "<p>OWN</p><div class=legal>Copyright © 1999 by another</div>"); got != "OWN\n" {
		t.Errorf("%q", got)
	}
	if got := s.cleared(t, "<p>OWN</p><p>Copyright is a right.</p>"); got != "OWN\n\nCopyright is a right.\n" {
		t.Errorf("elsewhere: %q", got)
	}
}

// TestSiteTitles: the name of the site goes from the end of titles, and nothing else.
func TestSiteTitles(t *testing.T) {
	var pages []string
	for i := range 20 {
		pages = append(pages, fmt.Sprintf("<title>a - page %d — Manual 3.1 | Example</title><p>x", i))
	}
	s := learned(t, pages...)
	for title, want := range map[string]string{
		"open - read — Manual 3.1 | Example": "open - read", "open | Example": "open", "Manual 3.1 | Example": "Manual 3.1",
		"Example": "Example", "a - b": "a - b", " | Example": " | Example", "": "",
	} {
		if got := s.bare(title); got != want {
			t.Errorf("%q: %q, expected %q", title, got, want)
		}
	}
}

// TestSiteBounds: fewer pages than FewestSeen have no boilerplate, and what is on less than half of
// them is none.
func TestSiteBounds(t *testing.T) {
	page := func(i int, menu string) string { return menu + fmt.Sprintf("<p>page %d", i) }
	var few, half, less []string
	for i := range 20 {
		menu := ""
		if i%2 == 0 {
			menu = "<nav>Menu</nav>"
		}
		half = append(half, page(i, menu))
		if i == 0 {
			menu = ""
		}
		less = append(less, page(i, menu))
	}
	for i := range FewestSeen - 1 {
		few = append(few, page(i, "<nav>Menu</nav>"))
	}
	for name, test := range map[string]struct {
		pages []string
		want  string
	}{"few": {few, "Menu\n\nOWN\n"}, "half": {half, "OWN\n"}, "less": {less, "Menu\n\nOWN\n"}} {
		if got := learned(t, test.pages...).cleared(t, "<nav>Menu</nav><p>OWN"); got != test.want {
			t.Errorf("%s: %q, expected %q", name, got, test.want)
		}
	}
}

// TestDocumentation: on two documentation sites, menus and footers go; headings, code, and tables
// of the content all stay.
func TestDocumentation(t *testing.T) {
	for _, of := range []struct {
		dir, content, gone string
		step               int
	}{
		{"/usr/share/doc/python3.11/html/library", "body", "Python Software Foundation. This page is licensed", 8},
		{"/usr/share/doc/libboost1.81-doc/doc/html/boost", "refentry", "Home Libraries People FAQ More", 60},
	} {
		files, err := filepath.Glob(of.dir + "/*.html")
		if more, wrong := filepath.Glob(of.dir + "/*/*.html"); wrong == nil {
			files = append(files, more...)
		}
		if err != nil || len(files) == 0 {
			t.Skipf("no pages in %s: install python3.11-doc and libboost1.81-doc", of.dir)
		}
		s := newSite()
		var roots []*html.Node
		for i := 0; i < len(files); i += of.step {
			text, err := os.ReadFile(files[i])
			if err != nil {
				t.Fatal(err)
			}
			root, err := content.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			s.add(sampleOf(root))
			roots = append(roots, root)
		}
		s.settle()
		gone := 0
		for i, root := range roots {
			main := withClass(root, of.content)
			if main == nil {
				continue
			}
			before := partsOf(main)
			for _, r := range s.clear(root) {
				if strings.Contains(r.Text, of.gone) || strings.Contains(of.gone, r.Text) && r.Text != "" {
					gone++
				}
			}
			if after := partsOf(main); after != before {
				t.Errorf("%s: %s, expected %s", files[i*of.step], after, before)
			}
		}
		if gone < len(roots)*8/10 {
			t.Errorf("%s: %q goes from %d of %d pages", of.dir, of.gone, gone, len(roots))
		}
	}
}

func withClass(root *html.Node, class string) *html.Node {
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "class" && a.Val == class {
				return n
			}
		}
	}
	return nil
}

// partsOf counts the parts of a page.
func partsOf(n *html.Node) string {
	counts := make(map[atom.Atom]int)
	for d := range n.Descendants() {
		counts[d.DataAtom]++
	}
	return fmt.Sprintf("%d headings, %d code, %d rows, %d items, %d paragraphs",
		counts[atom.H1]+counts[atom.H2]+counts[atom.H3]+counts[atom.H4], counts[atom.Pre], counts[atom.Tr], counts[atom.Li], counts[atom.P])
}

// TestMains: what is the content of most pages is that of a page whose text does not tell: a list
// of links is kept whole, what stands beside it is not.
func TestMains(t *testing.T) {
	const prose = "<p>The function returns the value that was given to it, unless the value is empty, and then it returns nothing at all.</p>"
	page := func(i int, inner string) string {
		return fmt.Sprintf("<title>Page %d</title><body><div class=menu>%d of 20</div><div class=body>%s</div><div class=side>Previous topic: <a href=/%[2]d>Number %[2]d</a></div>", i, i-1, inner)
	}
	var pages []string
	for i := range FewestSeen {
		pages = append(pages, page(i, fmt.Sprintf("<h1>Function %d</h1>", i)+strings.Repeat(prose, 4)))
	}
	s := known(t, pages...)
	list := page(20, "<h1>Functions</h1><p>All functions of the library, in their order.</p><ul>"+strings.Repeat("<li><a href=/f>function</a>", 100)+"</ul>")
	p := oneOf(Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html; charset=utf-8", Body: []byte(list)}, Options{Text: true}, s)
	if n := strings.Count(p.Text, "function\n"); n != 100 || strings.Contains(p.Text, "Number 19") || strings.Contains(p.Text, "of 20") {
		t.Errorf("%d of 100 links in %q", n, p.Text)
	}
}
