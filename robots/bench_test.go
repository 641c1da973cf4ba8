package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/robots"
)

// file is a robots.txt like those of large sites.
func file(rules int) []byte {
	var b strings.Builder
	b.WriteString("User-agent: badbot\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 1\n")
	for i := range rules {
		fmt.Fprintf(&b, "Disallow: /section-%d/private/\nDisallow: /*?sort-%d=\n", i, i)
	}
	b.WriteString("Sitemap: https://example.org/sitemap.xml\n")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{25, 8_000} { // the second is 460 KiB
		body := file(n)
		b.Run(fmt.Sprintf("rules=%d", 2*n), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				robots.Parse(body).Agent("weft")
			}
		})
	}
}

func BenchmarkTest(b *testing.B) {
	for _, n := range []int{25, 8_000} {
		rules := robots.Parse(file(n)).Agent("weft")
		for name, target := range map[string]string{"plain": "/section/page-17.html?id=4711&lang=en", "escaped": "/b%C3%BCcher/%7Ejoe/a%20b.html"} {
			b.Run(fmt.Sprintf("rules=%d/%s", 2*n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					rules.Test(target)
				}
			})
		}
	}
}
