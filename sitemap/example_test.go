package sitemap_test

import (
	"fmt"

	"github.com/weftcrawl/weft/sitemap"
)

func Example() {
	document := sitemap.Document{Body: []byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.org/</loc><lastmod>2026-11-01</lastmod><priority>0.8</priority></url>
</urlset>`)}
	sitemap.Read(document, sitemap.Options{}, func(e sitemap.Entry) bool {
		fmt.Println(e.URL, e.LastMod, e.Priority)
		return true
	})
	// Output:
	// https://example.org/ 2026-11-01 0.8
}
