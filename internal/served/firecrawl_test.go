package served

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestFirecrawlRights: each endpoint takes a right, and every refusal has the form of Firecrawl's.
func TestFirecrawlRights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens := make(map[string]string)
	for _, right := range []string{"read", "write", "fetch"} {
		tokens[right] = strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", right, "--rights", right, "--max-pages", "20", dir).Stdout)
	}
	s := serve(t, dir, "--allow-private")
	for _, c := range []struct{ right, method, path string }{
		{"fetch", "POST", "/v2/scrape"}, {"fetch", "POST", "/v2/map"}, {"write", "POST", "/v2/crawl"}, {"write", "POST", "/v2/batch/scrape"},
		{"read", "GET", "/v2/crawl/active"}, {"read", "GET", "/v2/crawl/x"}, {"read", "GET", "/v2/crawl/x/errors"}, {"write", "DELETE", "/v2/crawl/x"},
		{"read", "GET", "/v2/batch/scrape/x"}, {"read", "GET", "/v2/batch/scrape/x/errors"}, {"write", "DELETE", "/v2/batch/scrape/x"},
	} {
		for _, token := range append(slices.Sorted(maps.Keys(tokens)), "") {
			s.token = tokens[token]
			var e struct {
				Success *bool
				Error   string
			}
			status, text := s.ask(c.method, c.path, nil, &e)
			allowed := status != http.StatusForbidden && status != http.StatusUnauthorized
			if allowed != (token == c.right) || c.path != "/v2/crawl/active" && (e.Success == nil || *e.Success || e.Error == "") {
				t.Errorf("%s %s by %q: %d %s", c.method, c.path, token, status, text)
			}
		}
	}
	s.token = tokens["write"]
	for body, want := range map[string]string{
		`{"url":"http://localhost/","limit":21}`:                                  "limit of the token",
		`{"url":"http://u:p@localhost/"}`:                                         "url: ",
		`{"url":"http://localhost/","scrapeOptions":{"timeout":0.5}}`:             "scrapeOptions.timeout: 0.5, expected",
		`{"url":"http://localhost/","poem":"` + strings.Repeat("x", 5<<20) + `"}`: "too long",
	} {
		if status, text := s.send("/v2/crawl", body); status/100 != 4 || !strings.Contains(text, want) {
			t.Errorf("%.100s: %d %s", body, status, text)
		}
	}
}
