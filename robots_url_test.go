package weft_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestLongRobotsRedirect: a robots.txt that redirects to a URL longer than any page has is not
// followed: a thousand sites could make a crawl hold as many of them.
func TestLongRobotsRedirect(t *testing.T) {
	for length, follows := range map[int]bool{1000: true, 3000: false, 60_000: false} {
		target := "http://b.test/" + strings.Repeat("x", length)
		w := web{
			"http://a.test/": "a page", "http://a.test/robots.txt": "302 " + target,
			target: "User-agent: *\nDisallow: /",
		}
		if length > 8000 {
			delete(w, target) // it does not fit into the server's buffer
		}
		got, _, seen := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
		if followed := slices.Contains(seen.urls(), target); followed != follows {
			t.Errorf("%d bytes: followed %t", length, followed)
		}
		if r := got["http://a.test/"]; (r.Status == 200) != !follows {
			t.Errorf("%d bytes: status %d, %s", length, r.Status, r.Error)
		}
	}
}
