package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestForeign: no page of another origin has the server do anything, not even read; people may
// follow its links, and programs have no origin.
func TestForeign(t *testing.T) {
	s := &Server{guard: http.NewCrossOriginProtection()}
	for _, c := range []struct {
		method  string
		fields  []string
		foreign bool
	}{
		{"GET", nil, false},
		{"POST", nil, false},
		{"GET", []string{"Origin", "http://localhost:9339"}, false},
		{"POST", []string{"Origin", "http://localhost:9339", "Sec-Fetch-Site", "same-origin"}, false},
		{"GET", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, false},
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, false},
		{"POST", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, true},
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, true},
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, true},
		{"GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Origin", "http://localhost:80"}, true},
		{"GET", []string{"Origin", "http://evil.test"}, true},
		{"HEAD", []string{"Origin", "null"}, true},
		{"OPTIONS", []string{"Origin", "http://evil.test"}, true},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost:9339/v1/crawls", nil)
		for i := 0; i < len(c.fields); i += 2 {
			r.Header.Set(c.fields[i], c.fields[i+1])
		}
		if got := s.isForeign(r); got != c.foreign || r.Method != c.method {
			t.Errorf("%s %q: %t", c.method, c.fields, got)
		}
	}
}
