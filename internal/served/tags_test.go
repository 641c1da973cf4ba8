package served

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// get requests a path with the tag of what somebody has; "": nothing.
func (s *server) get(path, has string) (status int, tag, text string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if has != "" {
		r.Header.Set("If-None-Match", `"other", W/`+has)
	}
	if !strings.Contains(path, "/files/") {
		r.Header.Set("If-Modified-Since", "Mon, 02 Jan 2034 15:04:05 GMT") // there are no such times
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.isDescribed(resp, body)
	return resp.StatusCode, resp.Header.Get("ETag"), string(body)
}

// TestTags: lists of a crawl that has ended are sent once to one who keeps them, and again when the
// crawl has gone on, by whomever; a crawl that runs has none that stay.
func TestTags(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 4)
	dir := t.TempDir()
	s := serve(t, dir, "--allow-private")
	id := s.until(s.start(map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"bodies": true}}).ID).ID
	paths := []string{"", "/pages", "/pages?format=markdown&limit=2", "/urls", "/errors", "/export", "/export?format=csv", "/files/pages.jsonl"}
	has := make(map[string]string)
	for _, path := range paths {
		at := "/v1/crawls/" + id + path
		status, tag, text := s.get(at, "")
		if status != http.StatusOK || tag == "" || text == "" {
			t.Errorf("%s: %d, tag %s, %.100s", path, status, tag, text)
		}
		has[path] = tag
		if status, again, text := s.get(at, tag); status != http.StatusNotModified || again != tag || text != "" {
			t.Errorf("%s: %d, tag %s, %.100s", path, status, again, text)
		}
	}
	if status, tag, _ := s.get("/v1/crawls/"+id+"/export?where=(", ""); status != http.StatusUnprocessableEntity || tag != "" {
		t.Errorf("%d, tag %s", status, tag)
	}
	if e := wefttest.Run(t, "crawl", "-q", "--allow-private", "--update", filepath.Join(dir, id+".weft")); e.Code != 0 {
		t.Fatalf("%+v", e)
	}
	for _, path := range paths[1:] {
		if status, tag, text := s.get("/v1/crawls/"+id+path, has[path]); status != http.StatusOK || tag == has[path] || text == "" {
			t.Errorf("%s after a visit: %d, tag %s, %.100s", path, status, tag, text)
		}
	}
	slow := s.start(map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"delay": "1m"}}).ID
	for status := 0; status != http.StatusOK; pause(t, 20*time.Millisecond) { // until there is a job
		status, _, _ = s.get("/v1/crawls/"+slow+"/urls", "")
	}
	for _, path := range []string{"/pages", "/urls", "/errors"} {
		if status, tag, _ := s.get("/v1/crawls/"+slow+path, has[path]); status != http.StatusOK || tag != "" {
			t.Errorf("%s of a crawl that runs: %d, tag %s", path, status, tag)
		}
	}
}
