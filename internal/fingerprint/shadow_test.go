package fingerprint_test

import (
	"html"
	"testing"

	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// TestShadowRoots: the text in shadow roots, and in frames of the page's own site in a rendered
// document, is the page's, whether or not it has links. Other templates and frames have none.
func TestShadowRoots(t *testing.T) {
	frame := func(url, page string) string {
		return "\n<iframe hidden srcdoc=\"" + html.EscapeString(`<base href="`+url+`">`+page) + `"></iframe>`
	}
	const plain = "<p>one two</p>"
	for name, c := range map[string]struct{ page, same string }{
		"open":           {"<x-a><template shadowrootmode=open>" + plain + "</template></x-a>", plain},
		"in capitals":    {"<x-a><TEMPLATE class=a ShadowRootMode='closed'>" + plain + "</TEMPLATE></x-a>", plain},
		"one in another": {"<x-a><template shadowrootmode=open>one <x-b><template shadowrootmode=closed>two</template></x-b></template></x-a>", plain},
		"other template": {plain + "<template id=shadowrootmode>three<template shadowrootmode=open>four</template>five</template>", plain},
		"in navigation":  {plain + "<article>a b c d e f g h</article><nav><x-a><template shadowrootmode=open>three</template></x-a></nav>", plain + "a b c d e f g h"},
		"own frame":      {plain + frame("http://b.a.example/x", "<title></title><p>three</p>"), "<p>one two three</p>"},
		"without URL":    {plain + frame("about:srcdoc", "three") + "four", "<p>one two three four</p>"},
		"other site":     {plain + frame("http://b.example/x", "three") + "four", "<p>one two four</p>"},
		"as written":     {plain + "<iframe srcdoc=three></iframe>four", "<p>one two four</p>"},
		"frame unclosed": {plain + frame("about:blank", "three<nav>four") + "five", "<p>one two three five</p>"},
	} {
		base, err := weburl.Parse("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		x, r := links.NewExtractor(links.Options{}), new(fingerprint.Reader)
		for _, yield := range []func(links.Link) bool{nil, func(links.Link) bool { return true }, func(links.Link) bool { return false }} {
			d := links.Document{Base: base, ContentType: "text/html", Body: []byte("<a href=/>" + c.page)}
			_, got := r.Extract(x, d, yield)
			if d.Body = []byte(c.same); got.Words == 0 {
				t.Errorf("%s: no words", name)
			}
			if _, want := r.Extract(x, d, nil); got != want {
				t.Errorf("%s: %+v, expected %+v", name, got, want)
			}
		}
	}
}
