package css

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// page has the elements that the selectors of these tests tell apart.
const page = `<!doctype html><html><head><title>T</title><meta name=description content="About cats"></head>
<body class="home page"><div id=main class="box wide"><h1>Cats</h1><p class=lead>First <b>bold</b></p><p>Second</p><p lang=en-GB></p>
<ul><li>1<li class=on>2<li>3<li>4<ul><li>4.1</ul><li>5</ul><a href="/a.PDF" rel="next nofollow">A</a><a href=/b>B</a><a name=c>C</a></div>
<div class=box><div class=box><p>deep</p><span></span></div></div><svg><linearGradient id=g></linearGradient></svg>
<table><tr><td>x</td><td data-x="a b">y</td></tr></table></body></html>`

func tree(t testing.TB, text string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// found returns the elements in a tree that match.
func found(s *Selector, root *html.Node, w *Work) (all []*html.Node) {
	for n := root; n != nil; n = Following(n, root, true) {
		if n.Type == html.ElementNode {
			if _, ok := s.Match(n, w); ok {
				all = append(all, n)
			}
		}
	}
	return all
}

// shared are selectors that cascadia knows, too.
var shared = []string{
	"p", "P", "*", "#main", ".box", ".box.wide", "div.box p", "div > p", "div > div > p", "h1 + p", "h1 ~ p", "p ~ a", "li:first-child", "li:last-child",
	"li:nth-child(2n+1)", "li:nth-child(even)", "li:nth-child(-n+2)", "li:nth-child(3)", "li:nth-last-child(2)", "li:nth-last-child( 2n - 1 )", "p:nth-of-type(2)", "p:nth-last-of-type(1)",
	"p:first-of-type", "p:last-of-type", "p:only-of-type", "p:only-child", "h1:only-of-type", "[href]", "a[href$=PDF]", "a[href$='pdf' i]", "a[rel~=next]", "a[rel~=nex]", "p[lang|=en]",
	"a[href^='/']", "[content*=cat]", "[class='box']", "a[href!='/b']", "a:not([href])", "div:not(.wide):not(#x)", "p:empty", "span:empty", ":root", "body > *", "div p:not(.lead), h1", "td[data-x='a b']",
	"p:has(b)", "div:has(span)", "li:has(ul > li)", "h1:contains('at')", "p:contains(\"deep\")", "#main .lead b", "title", "meta[name=description]", "div div", "html body div.box > p.lead", "a[name=\\63 ]",
}

func TestAsCascadia(t *testing.T) {
	root := tree(t, page)
	for _, text := range shared {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		other, err := cascadia.ParseGroup(text)
		if err != nil {
			t.Errorf("cascadia: %s: %v", text, err)
			continue
		}
		if got, want := found(s, root, &Work{Steps: 1e6}), cascadia.QueryAll(root, other); !slices.Equal(got, want) {
			t.Errorf("%s: %d elements, cascadia finds %d", text, len(got), len(want))
		}
	}
}

func TestBeyondCascadia(t *testing.T) {
	root := tree(t, page)
	for text, want := range map[string]string{
		":is(h1, title)":              "title h1",
		"div:where(#main) > h1":       "h1",
		"h1:has(+ p)":                 "h1",
		"ul:has(> li.on)":             "ul",
		"p:not(div > div > p, .lead)": "p p",
		"li:nth-child(1 of .on)":      "li",
		"lineargradient":              "linearGradient",
		":scope > body":               "body",
		"> body > svg":                "svg",
		"a:link":                      "a a",
		"P.lead, #nothing":            "p",
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var names []string
		w := &Work{Steps: 1e6}
		if strings.HasPrefix(text, ">") {
			w.Scope = root.LastChild
		}
		for _, n := range found(s, root, w) {
			names = append(names, n.Data)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
}

// TestValuesOfHTML: attributes that HTML lists as such have values whose case does not matter;
// others, and those of SVG, do; i and s say otherwise.
func TestValuesOfHTML(t *testing.T) {
	root := tree(t, `<input type=TEXT name=A lang=EN-gb><form method=POST accept-charset="UTF-8 x" action=A><a rel="NoFollow Next" class=A hreflang=DE></a>`+
		`<svg type=TEXT></svg><i dir=K align=É>`)
	for text, want := range map[string]string{
		"[type=text]": "input", "[type=TEXT]": "input svg", "[type='text' s]": "", "[type=text i]": "input svg", "[type^=te]": "input", "[type$=xt]": "input",
		"[type*=ex]": "input", "[type!=text]": "html head body form a svg i", "[rel~=nofollow]": "a", "[lang|=en]": "input", "[method=post]": "form",
		"[accept-charset~=utf-8]": "form", "[hreflang=de]": "a", "[name=a]": "", "[name=a i]": "input", "[action=a]": "", "[class=a]": "", ".a": "",
		"[dir=k]": "", "[align=é]": "", "[align=é i]": "",
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var names []string
		for _, n := range found(s, root, &Work{Steps: 1e6}) {
			names = append(names, n.Data)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
}

func TestTake(t *testing.T) {
	for text, want := range map[string]Take{
		"p":                 {},
		"p::text":           {What: TakeText},
		"p ::text":          {What: TakeText},
		"::text":            {What: TakeText},
		"a::attr(HREF)":     {TakeAttr, "href"},
		"a::attr( 'href' )": {TakeAttr, "href"},
		"> a::attr(data-x)": {TakeAttr, "data-x"},
	} {
		s, err := Parse(text)
		if err != nil || s.all[0].take != want {
			t.Errorf("%s: %+v, %v, expected %+v", text, s, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "column 1: the end, expected an element, .class, #id, [attribute] or :pseudo-class",
		"div >":                            "column 6: the end, expected an element, .class, #id, [attribute] or :pseudo-class",
		"div > > p":                        `column 7: "> p", expected an element, .class, #id, [attribute] or :pseudo-class`,
		"a[href":                           "column 7: the end, expected ] or one of = ~= |= ^= $= *= !=",
		"a[href=x":                         "column 9: the end, expected a closing ]",
		"a[href='x]":                       `column 8: "'x]", expected a closing '`,
		".5":                               `column 2: "5", expected a class`,
		"p.é:frist-child":                  `column 4: ":frist-child", expected a pseudo-class: did you mean :first-child?`,
		"li:nth-child(x)":                  `column 14: "x)", expected odd, even, a number, or a formula such as 2n+1`,
		"li:nth-child":                     "column 13: the end, expected ( and an argument of :nth-child",
		"a::href":                          `column 2: "::href", expected ::text or ::attr(name)`,
		"a::attr":                          "column 8: the end, expected (name) of an attribute, as in ::attr(href)",
		"a::text b":                        `column 9: "b", expected a comma, a combinator or the end`,
		":not(a::text)":                    `column 7: "::text)", expected ::text and ::attr at the end only`,
		"p)":                               `column 2: ")", expected a comma, a combinator or the end`,
		"a, , b":                           `column 4: ", b", expected an element, .class, #id, [attribute] or :pseudo-class`,
		"a b $":                            `column 5: "$", expected an element, .class, #id, [attribute] or :pseudo-class`,
		"p:hover":                          `column 2: ":hover", expected one of :contains :empty`,
		strings.Repeat(":not(", 100) + "a": "expected selectors nested at most 32 times",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

// Selectors that take a power of the size of the page end when their work is spent.
func TestWork(t *testing.T) {
	deep := tree(t, strings.Repeat("<div>", 500))
	wide := tree(t, strings.Repeat("<i></i>", 5_000))
	for text, root := range map[string]*html.Node{
		"p div div div div div div div": deep,
		"div:has(div:has(div:has(p)))":  deep,
		"i:nth-last-child(2n)":          wide,
		"b ~ i":                         wide,
		"body:has(b ~ i ~ i)":           wide,
		"p:contains('x'), i:not(:not(:nth-last-child(3n+1)))": wide,
	} {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		w := &Work{Steps: 1e5}
		found(s, root, w)
		if !w.Spent {
			t.Errorf("%s: %d steps left", text, w.Steps)
		}
	}
}

// A selector that parses matches as before when its text is read again, and nothing panics.
func FuzzParse(f *testing.F) {
	for _, text := range shared {
		f.Add(text)
	}
	root := tree(f, page)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Column < 1 || e.Expected == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		got := found(s, root, &Work{Steps: 1e5})
		again, err := Parse(s.String())
		if err != nil || !slices.Equal(got, found(again, root, &Work{Steps: 1e5})) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func ExampleSelector_Match() {
	s, _ := Parse("a[rel~=next]::attr(href)")
	root, _ := html.Parse(strings.NewReader(`<a href=/1>1</a><a href=/2 rel=next>2</a>`))
	w := &Work{Steps: 1000}
	for n := root; n != nil; n = Following(n, root, true) {
		if take, ok := s.Match(n, w); ok {
			fmt.Println(n.Data, take.Attr)
		}
	}
	// Output: a href
}
