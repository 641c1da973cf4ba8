package served

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// hookEvent is a delivery of Firecrawl's form.
type hookEvent struct {
	Success             bool
	Type, ID, WebhookID string
	Error               string
	Metadata            map[string]string
	Data                []struct {
		Markdown string
		Metadata struct {
			URL        string
			StatusCode int
		}
	}
}

// hookReceiver takes deliveries in that are signed with a secret. Do is called with the number of
// each, and says its status.
func hookReceiver(t *testing.T, secret string, do func(n int) int) (url string, taken func() []hookEvent, more <-chan struct{}) {
	var mu sync.Mutex
	var all []hookEvent
	n := 0
	news := make(chan struct{}, 1000)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		if got := r.Header.Get("X-Firecrawl-Signature"); err != nil || got != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%v, signature %s", err, got)
		}
		if r.Header.Get("Authorization") != "Bearer mine" || r.Header.Get("X-Mine") != "yes" || r.Header.Get("Content-Type") != "application/json" {
			t.Error(r.Header)
		}
		var e hookEvent
		if err := json.Unmarshal(body, &e); err != nil || !strings.Contains(string(body), `"data":[`) {
			t.Errorf("%v: %.300s", err, body)
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		if status := do(n); status/100 != 2 {
			w.WriteHeader(status)
			return
		}
		if len(all) == 0 || all[len(all)-1].WebhookID != e.WebhookID { // else a kill came before
			all = append(all, e)
		}
		news <- struct{}{}
	}))
	t.Cleanup(web.Close)
	return web.URL, func() []hookEvent { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }, news
}

// TestFirecrawlHooks: the webhooks of Firecrawl's clients get each event once or more, in order,
// signed, whenever the server is killed; and only the events that they ask for.
func TestFirecrawlHooks(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 4)
	dir := t.TempDir()
	token := strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "me", dir).Stdout)
	sum := sha256.Sum256([]byte(token))
	kill := make(chan struct{}, 1)
	url, taken, more := hookReceiver(t, hex.EncodeToString(sum[:]), func(n int) int {
		switch n {
		case 1:
			return http.StatusInternalServerError
		case 4:
			kill <- struct{}{} // it is delivered, and the server does not know, or does
		}
		return http.StatusNoContent
	})
	s := serve(t, dir, "--allow-private")
	s.token = token
	start := func(path, body string) string {
		t.Helper()
		var c struct{ ID string }
		if status, text := s.ask("POST", path, json.RawMessage(body), &c); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		return c.ID
	}
	hook := func(more string) string {
		return fmt.Sprintf(`"webhook":{"url":%q,"headers":{"Authorization":"Bearer mine","X-Mine":"yes","Content-Type":"application/json"},"metadata":{"a":"b"}%s}`, url, more)
	}
	id := start("/v2/crawl", fmt.Sprintf(`{"url":%q,"sitemap":"skip",%s}`, web.URL+"/", hook("")))
	await := func(n int) []hookEvent {
		t.Helper()
		for {
			all := taken()
			if len(all) >= n {
				return all
			}
			select {
			case <-more:
			case <-kill:
				s.signal(syscall.SIGKILL)
				s = serve(t, dir, "--allow-private")
				s.token = token
			case <-t.Context().Done():
				t.Fatalf("%+v", all)
			}
		}
	}
	var got []string
	for _, e := range await(8) {
		one := e.Type
		for _, d := range e.Data {
			one += fmt.Sprint(" ", strings.TrimPrefix(d.Metadata.URL, web.URL), " ", d.Metadata.StatusCode, " ", strings.Contains(d.Markdown, "The text of page"))
		}
		got = append(got, one)
		if !e.Success || e.ID != id || e.Metadata["a"] != "b" || e.Error != "" {
			t.Errorf("%+v", e)
		}
	}
	want := []string{"crawl.started", "crawl.page / 200 true", "crawl.page /1 200 true", "crawl.page /2 200 true", "crawl.page /3 200 true", "crawl.page /4 200 true", "crawl.page /5 404 false", "crawl.completed"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// One page that fails, which completes its batch, and no event that was not asked for.
	start("/v2/batch/scrape", fmt.Sprintf(`{"urls":[%q],%s}`, "http://127.0.0.1:25/", hook(`,"events":["page","completed","failed"]`)))
	start("/v2/batch/scrape", fmt.Sprintf(`{"urls":[%q],%s}`, web.URL+"/", hook(`,"events":["batch_scrape.completed"]`)))
	all := await(11)[8:]
	slices.SortFunc(all, func(a, b hookEvent) int { return strings.Compare(a.Type, b.Type) })
	for _, e := range all[:2] {
		if e.Type != "batch_scrape.completed" || !e.Success || e.Error != "" {
			t.Errorf("%+v", e)
		}
	}
	if e := all[2]; e.Type != "batch_scrape.page" || e.Success || e.Error == "" || len(e.Data) > 0 {
		t.Errorf("%+v", all)
	}
	slow := start("/v2/crawl", fmt.Sprintf(`{"url":%q,"sitemap":"skip","delay":60,%s}`, web.URL+"/", hook(`,"events":["failed"]`)))
	if status, text := s.ask("DELETE", "/v2/crawl/"+slow, nil, nil); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	if e := await(12)[11]; e.Type != "crawl.failed" || e.Success || e.Error != "the crawl was cancelled" || e.ID != slow {
		t.Errorf("%+v", e)
	}
}
