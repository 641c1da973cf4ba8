package robots_test

import (
	"fmt"

	"github.com/weftcrawl/weft/robots"
)

func Example() {
	file := robots.Parse([]byte("User-agent: *\nDisallow: /private/\nAllow: /private/about\nCrawl-delay: 2\n"))
	rules := file.Agent("weft")
	for _, path := range []string{"/private/x", "/private/about"} {
		verdict := rules.Test(path)
		fmt.Println(path, verdict.Allowed, verdict.Rule)
	}
	fmt.Println(rules.CrawlDelay())
	// Output:
	// /private/x false Disallow: /private/
	// /private/about true Allow: /private/about
	// 2s true
}
