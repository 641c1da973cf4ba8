package read_test

import (
	"fmt"

	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/weburl"
)

func Example() {
	url, _ := weburl.Parse("https://example.org/spring")
	page := read.One(read.Source{URL: url, ContentType: "text/html; charset=utf-8", Body: []byte(`<title>Rain in spring</title>
<nav><a href="/">Home</a> <a href="/sport">Sport</a></nav>
<article><h1>Rain in spring</h1>
<p>It rained on <b>nine</b> days of April, and the fields stood under water.</p></article>`)}, read.Options{})
	fmt.Println(page.Title, page.Err)
	fmt.Print(page.Markdown)
	// Output:
	// Rain in spring <nil>
	// # Rain in spring
	//
	// It rained on **nine** days of April, and the fields stood under water.
}
