package content_test

import (
	"html"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/weburl"
	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// framed is a frame of a rendered document, as internal/render writes it.
func framed(url, page string) string {
	return "\n<iframe hidden srcdoc=\"" + html.EscapeString(`<base href="`+url+`">`+page) + `"></iframe>`
}

// TestParsePage: shadow roots, with what is in their slots, and frames of the page's own site stand
// in the page where a browser shows them.
func TestParsePage(t *testing.T) {
	const open = "<template shadowrootmode=open>"
	for name, c := range map[string]struct{ page, want string }{
		"shadow root":          {"<x-a>" + open + "<p>one</p></template></x-a>two", "<x-a><p>one</p></x-a>two"},
		"not the first child":  {"<x-a>two" + open + "one</template></x-a>", "<x-a>onetwo</x-a>"},
		"slot":                 {"<x-a>" + open + "<h1>one</h1><main><slot></slot></main><i>three</i></template><p>two</p></x-a>", "<x-a><h1>one</h1><main><p>two</p></main><i>three</i></x-a>"},
		"slots by name":        {"<x-a>" + open + "<slot name=t></slot><slot></slot></template>two<b slot=t>one</b></x-a>", `<x-a><b slot="">one</b>two</x-a>`},
		"no slot":              {"<x-a>" + open + "one</template><p slot=none>two</p></x-a>", `<x-a>one<p slot="none">two</p></x-a>`},
		"slot without content": {"<x-a>" + open + "<slot>one <slot name=t></slot></slot></template> <b slot=t>two</b></x-a>", `<x-a>one <b slot="">two</b> </x-a>`},
		"slot for a slot":      {"<x-a>" + open + "<x-b>" + open + "<u><slot name=in></slot></u></template><slot name=out slot=in></slot></x-b></template><p slot=out>one</p></x-a>", `<x-a><x-b><u><p slot="">one</p></u></x-b></x-a>`},
		"other template":       {"<template>one</template>two", "<template>one</template>two"},
		"own frame in place": {
			"<iframe src=/f></iframe>two" + framed("http://b.a.example/g", "zero") + framed("http://a.example/f", "<title>t</title><body><a href=x>one</a>"),
			`<div src="/f"><a href="http://a.example/x">one</a></div>two` + "\n<div>zero</div>\n",
		},
		"without URL":         {"<iframe srcdoc=x></iframe>two" + framed("about:srcdoc", "one"), `<div srcdoc="x">one</div>two` + "\n"},
		"of another site":     {"one<iframe src=http://b.example/></iframe>" + framed("http://b.example/", "two"), `one<iframe src="http://b.example/"></iframe>` + "\n<iframe"},
		"one in another":      {"<iframe src=/f></iframe>" + framed("http://a.example/f", "one<iframe src=/g></iframe>") + framed("http://a.example/g", "two"), `<div src="/f">one<div src="http://a.example/g">two</div></div>` + "\n\n"},
		"each in the other":   {framed("http://a.example/f", "one<iframe src=/g></iframe>") + framed("http://a.example/g", "two<iframe src=/f></iframe>"), "\n" + `<div>one<div src="http://a.example/g">two<iframe`},
		"shadow root therein": {framed("http://a.example/f", "<x-a>"+open+"one</template></x-a>"), "\n<div><x-a>one</x-a></div>"},
	} {
		root, err := content.ParsePage(parsedURL(t), []byte("<body>"+c.page+"</body>"))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for n := range root.Descendants() {
			if n.DataAtom == atom.Body {
				_ = xhtml.Render(&text, n)
			}
		}
		if got := text.String(); !strings.HasPrefix(got, "<body>"+c.want) {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}
}

func parsedURL(t *testing.T) weburl.URL {
	t.Helper()
	u, err := weburl.Parse("http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestComposedIsBounded: the tree of a page made to nest is not deeper than twice that of another,
// and frames do not make it larger.
func TestComposedIsBounded(t *testing.T) {
	nested := strings.Repeat("<x-a><template shadowrootmode=open>"+strings.Repeat("<b>", 200)+"<slot></slot></template>", 200) + "end"
	frame := strings.Repeat("<div>", 250) + "<iframe src=/f></iframe>"
	for name, page := range map[string]string{
		"slots":       nested,
		"frames":      strings.Repeat(framed("http://a.example/f", frame), 100),
		"many tags":   strings.Repeat(framed("about:blank", strings.Repeat("<a>", 30_000)), 20),
		"open format": strings.Repeat(framed("about:blank", strings.Repeat("<b><i>", 200)+strings.Repeat("<p>", 2000)), 50),
	} {
		root, err := content.ParsePage(parsedURL(t), []byte(page))
		deepest, nodes := 0, 0
		for n := range root.Descendants() {
			depth := 0
			for m := n; m != nil; m = m.Parent {
				depth++
			}
			deepest, nodes = max(deepest, depth), nodes+1
		}
		if deepest > 2*content.MaxDepth || nodes > 1<<21 {
			t.Errorf("%s: %d nodes, %d deep, %v", name, nodes, deepest, err)
		}
	}
}

// TestComposedText: the article in a shadow root is the page's main content.
func TestComposedText(t *testing.T) {
	root, err := content.ParsePage(parsedURL(t), []byte(page("<x-a><template shadowrootmode=open><h2>In the shadow</h2><slot></slot></template>"+prose+"</x-a>")))
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(content.Extract(content.Page{Root: root}, content.Options{}).Node)
	if !strings.Contains(text, "In the shadow The harbour was built") {
		t.Errorf("text %q, expected the heading and what is in the slot", text)
	}
}
