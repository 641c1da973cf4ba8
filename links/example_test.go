package links_test

import (
	"fmt"

	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

func Example() {
	base, _ := weburl.Parse("https://example.org/docs/")
	body := []byte(`<a href="../about">About us</a> <img srcset="small.png 1x, large.png 2x">`)
	links.Extract(base, "text/html", body, func(l links.Link) bool {
		fmt.Println(l.Tag, l.Attr, l.URL)
		return true
	})
	// Output:
	// a href https://example.org/about
	// img srcset https://example.org/docs/small.png
	// img srcset https://example.org/docs/large.png
}
