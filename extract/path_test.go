package extract

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// TestPathsAsCSS: a path that CSS says finds what package xpath does, in the same order.
func TestPathsAsCSS(t *testing.T) {
	root, err := Parse([]byte(`<title>t</title><body class="a b"><div class=a id=x><p class=a>one<div class="a b"><a href=1 rel="nofollow x">two</a></div>
<a>three</a><svg><a xlink:href=2 href="">four</a><title>u</title></svg><ul><li>a<ul><li><a href="3/[@id]">b</a></ul></ul></div><p data-n="">five<input type=TEXT>`))
	if err != nil {
		t.Fatal(err)
	}
	url, err := weburl.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	p := newPage(url, root, nil)
	record := p.elements[4] // div#x
	found := func(s *selector, from *html.Node) string {
		var b strings.Builder
		s.each(p, from, func(h hit) bool {
			text, _ := p.raw(&field{}, h)
			b.WriteString(h.node.Data + ":" + text + "; ")
			return true
		})
		return b.String()
	}
	for path, plain := range map[string]bool{
		"//title": true, "//*": true, "//div//a": true, "//div/a": true, "//li/a/@href": true, "//a[@href]": true, ".//a": true, ".//*[@class='a']": true,
		`//*[@class="a b"]//a/@href`: true, "//p[@class='a'][contains(@class,'a')]": true, "//a[@href='3/[@id]']": true, "//p[@data-n]": true,
		"//input[@type='text']": true, "//input[contains(@type, 'ex')]": true,
		"//a[contains(@rel, 'nofollow')]": true, ".//a/@href": true, " //h9 ": true, "//body/*": true, "//ul//li": true, "//a[@rel = 'x']": true,
		".//div/a": false, "//a[1]": false, "//a/text()": false, "//A": false, "//a | //p": false, "//a[contains(@rel,'')]": false, "//a[@data-n='']": false,
		"//@href": false, "/html": false, "//a/..": false, "//a/@xlink:href": false, `//a[@rel='\']`: false, "./a": false, "//*[@id='x' or @id='y']": false,
	} {
		s, err := parseSelector(path)
		if err != nil {
			t.Fatal(path, err)
		}
		if plain != (s.css != nil) {
			t.Errorf("%s: by CSS is %v, expected %v", path, s.css != nil, plain)
		}
		x, err := parseXPath(path)
		if err != nil {
			t.Fatal(path, err)
		}
		for _, from := range []*html.Node{root, record} {
			if got, want := found(s, from), found(&selector{xpath: x}, from); got != want {
				t.Errorf("%s within %s: %q, expected %q", path, from.Data, got, want)
			}
		}
	}
}
