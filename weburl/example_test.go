package weburl_test

import (
	"fmt"

	"github.com/weftcrawl/weft/weburl"
)

func Example() {
	u, err := weburl.Parse("HTTPS://Bücher.example:443/a/../b?q=ü#top")
	if err != nil {
		panic(err)
	}
	fmt.Println(u)
	fmt.Println(u.Hostname(), u.Path(), u.Fragment())
	fmt.Println(u.Canonical())
	// Output:
	// https://xn--bcher-kva.example/b?q=%C3%BC#top
	// xn--bcher-kva.example /b top
	// https://xn--bcher-kva.example/b?q=%C3%BC
}
