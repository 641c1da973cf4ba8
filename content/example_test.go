package content_test

import (
	"fmt"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/markdown"
)

func Example() {
	root, err := content.Parse([]byte(`<title>Rain in spring - The Gazette</title>
<nav><a href="/">Home</a> <a href="/sport">Sport</a></nav>
<article><h1>Rain in spring</h1>
<p>It rained on nine days of April, and the fields stood under water.</p>
<p>Farmers expect a late harvest, and say that they have seen worse, though not for a long time.</p></article>
<footer>© The Gazette. <a href="/terms">Terms</a></footer>`))
	if err != nil {
		panic(err)
	}
	page := content.Extract(content.Page{Root: root}, content.Options{})
	fmt.Println(page.Title)
	fmt.Println(markdown.Convert(page.Node, markdown.Options{Text: true}).Text)
	// Output:
	// Rain in spring
	// It rained on nine days of April, and the fields stood under water.
	//
	// Farmers expect a late harvest, and say that they have seen worse, though not for a long time.
}
