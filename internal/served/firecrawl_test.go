package served

import (
	"encoding/json"
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

// TestFirecrawlFruitless: a batch of which no page can be fetched is completed, and lists errors
// and the pages that are errors of their site; a crawl of such a page has failed.
func TestFirecrawlFruitless(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 1)
	s := serve(t, t.TempDir(), "--allow-private")
	run := func(path, body string) (id string, is struct {
		Status, Error string
		Data          []struct{ Metadata struct{ StatusCode int } }
	}) {
		t.Helper()
		var c struct{ ID string }
		if status, text := s.ask("POST", path, json.RawMessage(body), &c); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		s.until(c.ID)
		s.ask("GET", path+"/"+c.ID, nil, &is)
		return c.ID, is
	}
	id, is := run("/v2/batch/scrape", `{"urls":["http://127.0.0.1:25/","`+web.URL+`/none"]}`)
	if is.Status != "completed" || is.Error != "" || len(is.Data) != 1 || is.Data[0].Metadata.StatusCode != http.StatusNotFound {
		t.Errorf("%+v", is)
	}
	var failed struct{ Errors []struct{ URL, Error string } }
	if s.ask("GET", "/v2/batch/scrape/"+id+"/errors", nil, &failed); len(failed.Errors) != 1 || failed.Errors[0].URL != "http://127.0.0.1:25/" || failed.Errors[0].Error == "" {
		t.Errorf("%+v", failed)
	}
	if _, is = run("/v2/crawl", `{"url":"http://127.0.0.1:25/"}`); is.Status != "failed" || is.Error == "" {
		t.Errorf("%+v", is)
	}
}
