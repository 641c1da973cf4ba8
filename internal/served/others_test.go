package served

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestOthers: a crawl is there for the token that has asked for it, and for one with the right to
// those of others; for all others, through no door.
func TestOthers(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 3)
	dir := t.TempDir()
	tokens := make(map[string]string)
	for name, rights := range map[string]string{"mine": "read,write,fetch", "other": "read,write,fetch", "boss": "all", "looks": "read,others"} {
		tokens[name] = strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", name, "--rights", rights, dir).Stdout)
	}
	s := serve(t, dir, "--allow-private")
	by := func(name string) *server { return &server{t: t, url: s.url, token: tokens[name]} }
	id := by("mine").until(by("mine").start(map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"bodies": true}}, "Idempotency-Key", "k").ID).ID
	tool := func(name, arguments string) json.RawMessage {
		return json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`)
	}
	type request struct {
		method, path string
		body         any
	}
	all := []request{
		{"GET", "/crawls/ID/", nil}, {"GET", "/crawls/ID/v1/status", nil}, {"POST", "/crawls/ID/v1/orders", json.RawMessage(`{"words":["stop"]}`)},
		{"GET", "/v2/crawl/ID", nil}, {"GET", "/v2/crawl/ID/errors", nil}, {"GET", "/v2/batch/scrape/ID", nil}, {"GET", "/v2/batch/scrape/ID/errors", nil},
		{"DELETE", "/v2/crawl/ID", nil}, {"DELETE", "/v2/batch/scrape/ID", nil},
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.ask("GET", "/v1/openapi.json", nil, &document)
	bodies := map[string]string{"/retry": `{}`, "/schedule": `{"every":"2h"}`, "/orders": `{"words":["stop"]}`}
	for path, methods := range document.Paths {
		rest, of := strings.CutPrefix(strings.NewReplacer("{name}", "pages.jsonl", "{visit}", "2").Replace(path), "/v1/crawls/{id}")
		for method := range methods {
			var body any
			if method = strings.ToUpper(method); bodies[rest] != "" && method != "DELETE" {
				body = json.RawMessage(bodies[rest])
			}
			if of {
				all = append(all, request{method, "/v1/crawls/ID" + rest + map[bool]string{true: "?url=http://a.test/"}[rest == "/why"], body})
			}
		}
	}
	if len(all) < 9+20 {
		t.Errorf("%d requests", len(all))
	}
	for _, r := range all {
		status, text := by("other").ask(r.method, strings.ReplaceAll(r.path, "ID", id), r.body, nil)
		unknown, none := by("other").ask(r.method, strings.ReplaceAll(r.path, "ID", "none"), r.body, nil)
		if status != http.StatusNotFound || unknown != status || text != none {
			t.Errorf("%s %s: %d %s; of one that is not there: %d %s", r.method, r.path, status, text, unknown, none)
		}
		status, text = by("looks").ask(r.method, strings.ReplaceAll(r.path, "ID", id), r.body, nil)
		if r.method == "GET" && status != http.StatusOK && !strings.Contains(text, "changes of this visit") || r.method != "GET" && status != http.StatusForbidden {
			t.Errorf("by one who sees all: %s %s: %d %s", r.method, r.path, status, text)
		}
	}
	agent := func(name string, call json.RawMessage) string {
		_, text := by(name).ask("POST", "/mcp", json.RawMessage(strings.NewReplacer("ID", id, "WEB", web.URL).Replace(string(call))), nil, "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2025-06-18")
		return text
	}
	for _, call := range []json.RawMessage{
		tool("status", `{"job":"ID"}`), tool("status", `{"job":"ID.weft"}`), tool("pages", `{"job":"ID"}`), tool("search", `{"job":"ID","query":"text"}`), tool("check", `{"job":"ID"}`), tool("why", `{"job":"ID","url":"WEB/"}`),
		tool("read", `{"job":"ID","url":"WEB/1"}`), tool("extract", `{"job":"ID","fields":["a=h1"]}`), tool("crawl", `{"stop":"ID"}`),
	} {
		if text := agent("other", call); !strings.Contains(text, "there is none") {
			t.Errorf("%s: %s", call, text)
		}
		if text := agent("boss", call); strings.Contains(text, "there is none") || strings.Contains(text, `"error"`) {
			t.Errorf("by one who sees all: %s: %s", call, text)
		}
	}
	if text := agent("other", json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"weft://ID/WEB/1"}}`)); !strings.Contains(text, "not found") {
		t.Error(text)
	}
	for name, want := range map[string]bool{"mine": true, "other": false, "boss": true, "looks": true} {
		_, text := by(name).ask("GET", "/v1/crawls", nil, nil)
		if strings.Contains(text, id) != want || strings.Contains(agent(name, tool("status", `{}`)), id) != want {
			t.Errorf("%s: %s", name, text)
		}
		if status, _ := by(name).ask("GET", "/metrics", nil, nil); (status == http.StatusOK) != (name == "boss" || name == "looks") {
			t.Errorf("%s: series: %d", name, status)
		}
	}
	if other := by("other").start(map[string]any{"urls": []string{web.URL + "/"}}, "Idempotency-Key", "k"); other.ID == id {
		t.Error("the key of another is the same crawl")
	}
	if _, text := by("mine").ask("GET", "/v2/crawl/active", nil, nil); strings.Contains(text, `"other"`) {
		t.Error(text)
	}
	if status, text := by("boss").ask("DELETE", "/v1/crawls/"+id, nil, nil); status != http.StatusNoContent {
		t.Errorf("%d %s", status, text)
	}
}

// TestQuotas: what a token asks for beyond its limits is refused by their names, through each door.
func TestQuotas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "me", "--max-crawls", "1", "--max-queued", "1", "--max-disk", "1MiB", dir).Stdout)
	asked, on := make(chan bool, 100), make(chan bool)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			asked <- true
			<-on
		}
		w.Header().Set("Content-Type", "text/html")
		page := make([]byte, 300<<10)
		_, _ = rand.Read(page)
		fmt.Fprintf(w, "<a href=%s1>next</a>%x", r.URL.Path, page) // without end
	}))
	defer web.Close()
	s := serve(t, dir, "--allow-private")
	s.token = token
	first := s.start(map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"bodies": true}})
	<-asked
	second := s.start(map[string]any{"urls": []string{"http://localhost:1/"}})
	refused := func(limit string, one, two int) {
		t.Helper()
		for path, body := range map[string]string{"/v1/crawls": `{"urls":["http://a.test/"]}`, "/v1/batches": `{"urls":["http://a.test/"]}`, "/v2/crawl": `{"url":"http://a.test/"}`, "/v2/batch/scrape": `{"urls":["http://a.test/"]}`} {
			want := one
			if strings.HasPrefix(path, "/v2") {
				want = two
			}
			if status, text := s.send(path, body); status != want || !strings.Contains(text, limit+", the limit of the token") {
				t.Errorf("%s: %d %s", path, status, text)
			}
		}
		if _, text := s.send("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crawl","arguments":{"urls":["http://a.test/"]}}}`, "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2025-06-18"); !strings.Contains(text, limit+", the limit of the token") {
			t.Error(text)
		}
	}
	refused("max-queued", 429, 429)
	close(on)
	for _, c := range []crawl{first, second} {
		if c = s.until(c.ID); c.State != "stopped" || !strings.Contains(c.Message, "max-disk") {
			t.Errorf("%+v", c)
		}
	}
	refused("max-disk", 507, 507)
	if status, text := s.ask("POST", "/v1/crawls/"+second.ID+"/resume", nil, nil); status != 507 || !strings.Contains(text, "max-disk") {
		t.Errorf("%d %s", status, text)
	}
}

// TestKeyAgain: the key of a crawl that was deleted starts another.
func TestKeyAgain(t *testing.T) {
	t.Parallel()
	web, asked := site(t, 1)
	s := serve(t, t.TempDir(), "--allow-private")
	body := map[string]any{"urls": []string{web.URL + "/"}}
	first := s.until(s.start(body, "Idempotency-Key", "k").ID)
	if again := s.start(body, "Idempotency-Key", "k"); again.ID != first.ID || again.State != "done" {
		t.Errorf("%+v, expected %+v", again, first)
	}
	if status, text := s.ask("DELETE", "/v1/crawls/"+first.ID, nil, nil); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, text)
	}
	for began := time.Now(); ; {
		status, text := s.ask("POST", "/v1/crawls", body, nil, "Idempotency-Key", "k")
		if status == http.StatusConflict && strings.Contains(text, "being deleted") && time.Since(began) < time.Minute {
			continue
		}
		var c crawl
		if err := json.Unmarshal([]byte(text), &c); status != http.StatusCreated || err != nil || s.until(c.ID).State != "done" || asked()["/"] != 2 {
			t.Errorf("%d %s, %v", status, text, asked())
		}
		break
	}
	if status, text := s.ask("GET", "/crawls/"+first.ID+"/v1/status", nil, nil); status != http.StatusOK || !strings.Contains(text, `"finished"`) {
		t.Errorf("%d %s", status, text)
	}
}
