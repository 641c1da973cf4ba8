package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/results"
)

// TestReading: whatever reads jobs, by the API, for browsers, agents and Firecrawl's clients, waits
// for the same places.
func TestReading(t *testing.T) {
	const agent = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pages","arguments":{"job":"ID"}}}`
	for path, body := range map[string]string{
		"/v1/crawls/ID/pages": "", "/v1/crawls/ID/urls": "", "/v1/crawls/ID/errors": "", "/v1/crawls/ID/hosts": "", "/v1/crawls/ID/check": "",
		"/v1/crawls/ID/why?url=http://a.test/": "", "/v1/crawls/ID/export": "", "/v1/crawls/ID/changes": "", "/v1/crawls/ID/changes.atom": "",
		"/v1/crawls/ID/orders": `{"words":["pause"]}`, "/crawls/ID/v1/urls": "", "/crawls/ID/v1/records": "", "/v2/crawl/ID": "", "/v2/crawl/ID/errors": "",
		"/mcp": agent,
	} {
		synctest.Test(t, func(t *testing.T) {
			folder, err := crawls.Open(t.TempDir(), crawls.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			tokens, err := OpenTokens(folder.Dir())
			if err != nil {
				t.Fatal(err)
			}
			s := New(Options{Crawls: folder, Tokens: tokens, Scraper: scrape.New(scrape.Options{})})
			c, _, err := folder.Add(crawls.Ask{Seeds: []string{"https://a.test/"}})
			if err == nil {
				err = os.MkdirAll(folder.Job(c.Name), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(folder.Job(c.Name), results.Pages), nil, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			for range mostReading {
				leave, err := s.reading.Enter(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer leave()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			method := http.MethodGet
			if body != "" {
				method = http.MethodPost
			}
			r := httptest.NewRequestWithContext(ctx, method, strings.ReplaceAll(path, "ID", c.Name), strings.NewReader(strings.ReplaceAll(body, "ID", c.Name)))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := httptest.NewRecorder()
			began := time.Now()
			s.ServeHTTP(w, r)
			if time.Since(began) == 0 || w.Code != http.StatusServiceUnavailable && !strings.Contains(w.Body.String(), "others look at jobs") {
				t.Errorf("%s: %d %s after %s", path, w.Code, w.Body, time.Since(began))
			}
		})
	}
}
