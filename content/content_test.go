package content_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
	"golang.org/x/net/html"
)

func extract(t *testing.T, page string, o content.Options) (content.Content, string) {
	t.Helper()
	root, err := content.Parse([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	c := content.Extract(content.Page{Root: root}, o)
	return c, textOf(c.Node)
}

func textOf(n *html.Node) string {
	var words []string
	for m := range n.Descendants() {
		if m.Type == html.TextNode {
			words = append(words, strings.Fields(m.Data)...)
		}
	}
	return strings.Join(words, " ")
}

func TestExtract(t *testing.T) {
	c, text := extract(t, `<html lang=en><title>A page</title><nav><a href=/>Home</a></nav><main><p>Some text.</main><footer>All rights reserved</footer>`, content.Options{})
	if c.Title != "A page" || c.Language != "en" || text != "Some text." || len(c.Removed) != 2 {
		t.Errorf("%q of %+v", text, c)
	}
}

func TestDrop(t *testing.T) {
	drop := func(b content.Block) bool { return b.Text() == "Read our newsletter" }
	c, text := extract(t, `<p>Some text.<p>Read our  newsletter<p>More text.`, content.Options{Drop: drop})
	if text != "Some text. More text." || len(c.Removed) != 1 || c.Removed[0] != (content.Removal{Rule: "boilerplate", Path: "body/p", Text: "Read our newsletter"}) {
		t.Errorf("%q of %+v", text, c)
	}
}

func TestDeep(t *testing.T) {
	root, err := content.Parse([]byte(strings.Repeat("<div>", 100_000) + "text"))
	if err == nil {
		t.Error("no error, expected one that says what is missing")
	}
	if text := textOf(content.Extract(content.Page{Root: root}, content.Options{}).Node); text != "text" {
		t.Errorf("text %q", text)
	}
}
