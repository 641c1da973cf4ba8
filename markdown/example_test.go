package markdown_test

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/markdown"
)

func Example() {
	root, err := html.Parse(strings.NewReader(`<h1>Lists</h1><ol><li>one <b>thing</b><li><a href="/two">two</a></ol>`))
	if err != nil {
		panic(err)
	}
	fmt.Println(markdown.Convert(root, markdown.Options{}).Text)
	// Output:
	// # Lists
	//
	// 1. one **thing**
	// 2. [two](/two)
}
