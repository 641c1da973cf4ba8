package served

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestFetches: pages, fields and maps at once, and a batch.
func TestFetches(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 5)
	s := serve(t, t.TempDir(), "--allow-private")
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/scrape", `{"url":"WEB/3"}`, 200, `"title":"Page 3","markdown":"# Page 3\n\nThe text of page 3.`},
		{"/v1/scrape", `{"url":"WEB/none"}`, 200, `"status":404`},
		{"/v1/scrape", `{"url":"WEB/3","formats":["links","raw"]}`, 200, `{"url":"WEB/4","text":"next","kind":"page"}`},
		{"/v1/scrape", `{"url":"WEB/3","formats":["screenshot"]}`, 422, "the operator turns it on with --render"},
		{"/v1/scrape", `{"url":"WEB/3","formats":["poem"]}`, 422, `poem\", expected one of markdown, text, html, raw, links,`},
		{"/v1/scrape", `{"url":"WEB/3","forms":[]}`, 422, "unexpected property"},
		{"/v1/scrape", `{"url":7}`, 422, "expected string"},
		{"/v1/scrape", `{"url":`, 400, "JSON"},
		{"/v1/scrape", `{"rules":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, 400, "depth"},
		{"/v1/scrape", `{"url":"http://localhost:1/"}`, 502, "unreachable"},
		{"/v1/extract", `{"url":"WEB/3","fields":["name=h1"]}`, 200, `"fields":{"name":"Page 3"}`},
		{"/v1/extract", `{"url":"WEB/3","rules":[{"fields":[{"name":"to","select":"a","type":"url"}]}]}`, 200, `"fields":{"to":"WEB/4"}`},
		{"/v1/extract", `{"url":"WEB/3","structured":true}`, 200, `"status":200`},
		{"/v1/extract", `{"url":"WEB/3"}`, 422, "expected fields, rules or structured"},
		{"/v1/extract", `{"url":"WEB/3","fields":["h1"]}`, 422, "NAME=SELECTOR"},
		{"/v1/map", `{"url":"WEB"}`, 200, `{"url":"WEB/1","text":"next"}`},
		{"/v1/map", `{"url":"WEB","search":"none of these"}`, 200, `"urls":[]`},
		{"/v1/batches", `{"urls":["WEB/"],"options":{"scope":"any"}}`, 422, "expected none"},
	} {
		status, text := s.send(c.path, strings.ReplaceAll(c.body, "WEB", web.URL))
		if want := strings.ReplaceAll(c.want, "WEB", web.URL); status != c.status || !strings.Contains(text, want) {
			t.Errorf("%s %.100s: %d %.500s, expected %d %s", c.path, c.body, status, text, c.status, want)
		}
	}
	var batch crawl
	if status, text := s.ask("POST", "/v1/batches", map[string]any{"urls": []string{web.URL + "/2", web.URL + "/4"}}, &batch); status != http.StatusCreated {
		t.Fatalf("%d: %s", status, text)
	}
	if c := s.until(batch.ID); c.State != "done" || c.Status.Pages != 2 {
		t.Errorf("%+v", c)
	}
	if _, text := s.ask("GET", "/v1/crawls/"+batch.ID+"/pages?format=markdown", nil, nil); !strings.Contains(text, "The text of page 4.") || !strings.Contains(text, `"more":false`) {
		t.Error(text)
	}
}

// send posts a text as JSON.
func (s *server) send(path, body string, header ...string) (int, string) {
	s.t.Helper()
	return s.ask("POST", path, json.RawMessage(body), nil, header...)
}

// TestFetchesAtOnce: a token has a limit of pages at once; one without the right to fetch has none.
func TestFetchesAtOnce(t *testing.T) {
	t.Parallel()
	asked, release := make(chan bool), make(chan bool)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-release
		fmt.Fprint(w, "x")
	}))
	defer web.Close()
	dir := t.TempDir()
	token := func(args ...string) string {
		return strings.TrimSpace(wefttest.Run(t, append(append([]string{"serve"}, args...), dir)...).Stdout)
	}
	reader, fetcher := token("--add-token", "reader", "--rights", "read"), token("--add-token", "fetcher", "--max-fetches", "1")
	s := serve(t, dir, "--allow-private")
	body := `{"url":"` + web.URL + `"}`
	s.token = reader
	if status, text := s.send("/v1/scrape", body); status != http.StatusForbidden {
		t.Errorf("%d %s", status, text)
	}
	s.token = fetcher
	first := make(chan int)
	go func() { status, _ := s.send("/v1/scrape", body); first <- status }()
	<-asked
	if status, text := s.send("/v1/map", body); status != http.StatusTooManyRequests || !strings.Contains(text, "limit of 1 pages") {
		t.Errorf("%d %s", status, text)
	}
	close(release)
	if status := <-first; status != http.StatusOK {
		t.Error(status)
	}
	go func() { <-asked }()
	if status, text := s.send("/v1/scrape", body); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

// TestPrivateDoors: through no door, and by no way of writing it, a private address is requested.
func TestPrivateDoors(t *testing.T) {
	t.Parallel()
	web, asked := site(t, 3)
	_, port, _ := strings.Cut(strings.TrimPrefix(web.URL, "http://"), ":")
	s := serve(t, t.TempDir())
	const advice = "the operator may allow it with --allow-private"
	for _, name := range []string{"fetch", "read", "map"} {
		_, text := s.agent("tools/call", `{"name":"`+name+`","arguments":{"url":"`+web.URL+`/1"}}`)
		if !strings.Contains(text, "Error: blocked-address") || !strings.Contains(text, "Advice: "+advice) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, path := range []string{"/v1/scrape", "/v1/map", "/v1/extract", "/v2/scrape", "/v2/map"} {
		for _, host := range []string{"127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "127.1", "0.0.0.0"} {
			status, text := s.send(path, `{"url":"http://`+host+":"+port+`/1"`+map[string]string{"/v1/extract": `,"fields":["a=a"]`}[path]+`}`)
			if status != http.StatusForbidden || !strings.Contains(text, "blocked-address") || !strings.Contains(text, advice) {
				t.Errorf("%s %s: %d %s", path, host, status, text)
			}
		}
	}
	for path, body := range map[string]string{"/v1/batches": `{"urls":["WEB/1","http://localhost/"]}`, "/v2/crawl": `{"url":"WEB/"}`, "/v2/batch/scrape": `{"urls":["WEB/1"]}`} {
		var c crawl
		if status, text := s.ask("POST", path, json.RawMessage(strings.ReplaceAll(body, "WEB", web.URL)), &c); status >= 300 {
			t.Errorf("%s: %d %s", path, status, text)
		} else if c = s.until(c.ID); c.State != "failed" || !strings.HasSuffix(c.Message, advice) {
			t.Errorf("%s: %+v", path, c)
		} else if status, text := s.ask("GET", "/v1/crawls/"+c.ID+"/export?format=graphml", nil, nil); status != http.StatusUnprocessableEntity || !strings.Contains(text, "--links") {
			t.Errorf("%s: links of a job without: %d %s", path, status, text)
		}
	}
	if len(asked()) > 0 {
		t.Error(asked())
	}
}
