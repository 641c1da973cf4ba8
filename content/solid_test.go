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
	root, err := Parse([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	url, err := weburl.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	c := Extract(Page{URL: url, Root: root}, Options{Solid: true})
	var b strings.Builder
	if err := html.Render(&b, c.Node); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Manual", "Tools", "Nuitka", "cx_Freeze", "More"} {
		if !strings.Contains(b.String(), ">"+want+"<") {
			t.Errorf("%s is missing in %s", want, b.String())
		}
	}
	for _, other := range []string{"Index", "Next"} {
		if strings.Contains(b.String(), other) {
			t.Errorf("%s is in %s", other, b.String())
		}
	}
}
