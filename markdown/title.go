package markdown

import "github.com/weftcrawl/weft/weburl"

// Title returns text as a heading of the first level.
func Title(text string) string {
	c := &converter{Options: Options{Base: weburl.URL{}}}
	c.run.add(text)
	return "# " + headline(c.inLine(" "))
}
