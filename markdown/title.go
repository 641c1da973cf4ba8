package markdown

import (
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// Title returns text as a heading of the first level.
func Title(text string) string {
	c := &converter{Options: Options{Base: weburl.URL{}}}
	c.text(&html.Node{Type: html.TextNode, Data: text})
	return "# " + headline(string(c.run.text))
}
