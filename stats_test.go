package weft_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestStats checks that the final Stats agree with the summary.
func TestStats(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			io.WriteString(w, "User-agent: *\nDisallow: /private")
		case "/":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, a("/private/a", "/private/b", "/cut", "/page"))
		case "/cut":
			w.Header().Set("Content-Length", "1000")
		default:
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	defer s.Close()
	c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Stats(); got.Done != 0 || got.Elapsed != 0 {
		t.Errorf("stats before the crawl: %+v", got)
	}
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := c.Stats()
	if got.Recorded() != 5 || got.Pages != 1 || got.Redirects != 1 || got.Failed+got.Refused != 3 || got.Refused != 2 || got.Pending+got.InFlight != 0 || got.Hosts != 1 {
		t.Errorf("stats %+v", got)
	}
	if got.Done != sum.Done || got.Pages != sum.Pages || got.Redirects != sum.Redirects || got.Refused != sum.Errors[weft.KindRobots].URLs || got.Bytes != sum.Bytes || got.Elapsed != sum.Elapsed {
		t.Errorf("stats %+v, but summary %+v", got, sum)
	}
}
