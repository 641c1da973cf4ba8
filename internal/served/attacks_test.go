package served

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestAttacks: what holders of tokens, and strangers, try beyond their rights and limits ends in a
// short line; the server has all of its descriptors and little memory afterwards.
func TestAttacks(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 3)
	dir := t.TempDir()
	tokens := map[string]string{"": ""}
	for _, name := range []string{"read", "write", "fetch", "all"} {
		rights := name
		if name == "all" {
			rights = "read,write,fetch"
		}
		tokens[name] = strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", name, "--rights", rights, "--max-pages", "50", "--max-rate", "100", "--max-memory", "256MiB", dir).Stdout)
	}
	s := serve(t, dir, "--allow-private")
	s.token = tokens["all"]
	id := s.until(s.start(map[string]any{"urls": []string{web.URL + "/"}}).ID).ID
	long := strings.Repeat("x{1000}", 500)
	where := func(condition string) string {
		return "/v1/crawls/ID/export?where=" + strings.NewReplacer(" ", "%20", "#", "%23", "+", "%2B", "&", "%26", ";", "%3B").Replace(condition)
	}
	crawl := func(options string) string { return `{"urls":["http://localhost:1/"],"options":{` + options + `}}` }
	tool := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	}
	open := descriptors(t, s)
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		want                      string
	}{
		// The right of each route.
		{"write", "GET", "/v1/crawls", "", 403, "no right to read"}, {"write", "GET", "/v1/crawls/ID", "", 403, ""}, {"fetch", "GET", "/v1/crawls/ID/pages", "", 403, ""},
		{"fetch", "GET", "/v1/crawls/ID/urls", "", 403, ""}, {"write", "GET", "/v1/crawls/ID/errors", "", 403, ""}, {"write", "GET", "/v1/crawls/ID/hosts", "", 403, ""},
		{"fetch", "GET", "/v1/crawls/ID/why?url=http://a.test/", "", 403, ""}, {"write", "GET", "/v1/crawls/ID/check", "", 403, ""}, {"write", "GET", "/v1/crawls/ID/files", "", 403, ""},
		{"write", "GET", "/v1/crawls/ID/files/pages.jsonl", "", 403, ""}, {"fetch", "GET", "/v1/crawls/ID/export", "", 403, ""}, {"fetch", "GET", "/metrics", "", 403, ""},
		{"write", "GET", "/crawls/ID/", "", 403, ""}, {"write", "GET", "/crawls/ID/v1/looks", "", 403, ""}, {"read", "POST", "/crawls/ID/v1/orders", `{"words":["stop"]}`, 403, ""},
		{"read", "POST", "/v1/crawls/ID/orders", `{"words":["stop"]}`, 403, ""}, {"fetch", "POST", "/v1/crawls/ID/stop", "", 403, ""}, {"read", "POST", "/v1/crawls/ID/resume", "", 403, ""},
		{"read", "DELETE", "/v1/crawls/ID", "", 403, ""}, {"read", "PUT", "/v1/crawls/ID/schedule", `{"every":"2h"}`, 403, ""}, {"fetch", "DELETE", "/v1/crawls/ID/schedule", "", 403, ""},
		{"read", "POST", "/v1/batches", crawl(""), 403, ""}, {"write", "POST", "/v1/scrape", `{"url":"http://a.test/"}`, 403, ""}, {"read", "POST", "/v1/map", `{"url":"http://a.test/"}`, 403, ""},
		{"", "GET", "/metrics", "", 401, ""}, {"", "POST", "/mcp", tool("status", "{}"), 401, ""}, {"", "GET", "/crawls/ID/", "", 401, ""}, {"", "GET", "/v2/crawl/active", "", 401, ""},
		{"read", "POST", "/mcp", tool("fetch", `{"url":"WEB"}`), 200, "unknown tool"}, {"read", "POST", "/mcp", tool("crawl", `{"urls":["WEB"]}`), 200, "unknown tool"},
		{"fetch", "POST", "/mcp", tool("pages", `{"job":"ID"}`), 200, "unknown tool"}, {"fetch", "POST", "/mcp", tool("read", `{"job":"ID","url":"WEB"}`), 200, "there are no jobs here"},
		{"write", "POST", "/mcp", tool("read", `{"url":"WEB"}`), 200, "unknown tool"}, {"read", "POST", "/mcp", tool("read", `{"url":"WEB/1"}`), 200, "expected a job"},
		// Limits.
		{"all", "POST", "/v1/crawls", crawl(`"limit":51`), 422, "limit of the token"}, {"all", "POST", "/v1/crawls", crawl(`"memory":"1GiB"`), 422, "limit of the token"},
		{"all", "POST", "/v1/crawls", crawl(`"rate-limit":101`), 422, "limit of the token"}, {"all", "POST", "/v1/crawls", crawl(`"rate-limit":["1",1000]`), 422, ""},
		{"all", "POST", "/v1/crawls/ID/orders", `{"words":["set","rate-limit=0"]}`, 422, "limit of the token"}, {"all", "POST", "/crawls/ID/v1/orders", `{"words":["set","rate-limit=0"]}`, 400, "limit of the token"},
		{"all", "POST", "/crawls/ID/v1/orders", `{"words":["set","delay=0","rate-limit=1e9"]}`, 400, "limit of the token"}, {"all", "POST", "/mcp", tool("crawl", `{"urls":["WEB"],"limit":1000}`), 200, "limit of the token"},
		{"all", "POST", "/v2/crawl", `{"url":"WEB","limit":51}`, 400, "limit of the token"}, {"all", "PUT", "/v1/crawls/ID/schedule", `{"every":"1s"}`, 422, "at least 1h"},
		{"all", "PUT", "/v1/crawls/ID/schedule", `{"every":"90m","jitter":"1h"}`, 422, "at least 1h"},
		// Expressions, conditions and rules that stand for much.
		{"all", "POST", "/v1/crawls", crawl(`"include":["` + long + `"]`), 422, "too long"}, {"all", "POST", "/v1/crawls", crawl(`"exclude":["(x{100}){10}"` + strings.Repeat(`,"(x{100}){10}"`, 200) + `]`), 422, "too long"},
		{"all", "POST", "/v1/crawls/ID/orders", `{"words":["exclude","` + long + `"]}`, 422, "too long"}, {"all", "POST", "/crawls/ID/v1/orders", `{"words":["exclude","` + long + `"]}`, 400, "too long"},
		{"all", "POST", "/v1/extract", `{"url":"WEB","rules":[{"fields":[{"name":"a","select":"p","match":"` + long + `"}]}]}`, 422, "too long"},
		{"all", "POST", "/v1/extract", `{"url":"WEB","rules":[{"urls":"` + long + `","fields":[{"name":"a","select":"p"}]}]}`, 422, "too long"},
		{"all", "POST", "/v2/crawl", `{"url":"WEB","includePaths":["` + long + `"]}`, 400, "too long"}, {"all", "POST", "/v2/crawl", `{"url":"WEB","regexOnFullURL":true,"excludePaths":["` + long + `"]}`, 400, "too long"},
		{"all", "POST", "/v2/scrape", `{"url":"WEB","formats":[{"type":"json","schema":{"properties":{"a":{"selector":"p","match":"` + long + `"}}}}]}`, 400, "too long"},
		{"all", "POST", "/v2/scrape", `{"url":"WEB","formats":[{"type":"json","schema":{"properties":{"a":` + strings.Repeat(`{"type":"object","selector":"p","properties":{"`+strings.Repeat("n", 60)+`":`, 400) + `{"selector":"p"}` + strings.Repeat("}}", 400) + `}}}]}`, 400, "deep"},
		{"all", "POST", "/mcp", tool("crawl", `{"urls":["WEB"],"limit":1,"include":["`+long+`"]}`), 200, "too long"},
		{"all", "POST", "/v1/extract", `{"url":"WEB","rules":[{"fields":[{"name":"a","select":"//p[re:test(., '(?:` + strings.Repeat("x", 3000) + `){1000}')]"}]}]}`, 422, "shorter patterns"},
		{"all", "POST", "/v2/crawl", `{"url":"WEB","includePaths":["` + strings.Repeat("a*", 1<<20) + `"]}`, 400, "too long"},
		{"all", "POST", "/mcp", "[" + tool("status", "{}") + "," + tool("status", "{}") + "]", 400, "expected no batch"},
		{"all", "GET", where("len(reduce(1..40, #acc + #acc, url)) > 0"), "", 422, "only the operator"}, {"all", "GET", where("let a = url + url; len(a) > 0"), "", 422, "only the operator"},
		{"all", "GET", where("count(1..1000000, true) > 0"), "", 422, "only the operator"}, {"all", "GET", where("url matches url"), "", 422, "only the operator"}, {"all", "GET", where("status =="), "", 422, "where"},
		{"all", "POST", "/v1/crawls", `{"urls":[` + strings.Repeat("1,", 200_000) + `1]}`, 413, "too many values"}, {"all", "POST", "/v2/map", `{"url":` + strings.Repeat("[", 160_000), 413, "too many values"},
		{"all", "POST", "/mcp", `[` + strings.Repeat("{},", 160_000) + `{}]`, 413, "too many values"},
		// Files and names.
		{"all", "GET", "/v1/crawls/ID/files/archive/..%2f..%2fpages.jsonl", "", 404, ""}, {"all", "GET", "/v1/crawls/ID/files/archive%2f..%2fpages.jsonl", "", 404, ""}, {"all", "GET", "/v1/crawls/ID/files/pages.jsonl%00", "", 404, ""},
		{"all", "GET", "/v1/crawls/ID/files/linked.warc.gz", "", 404, ""}, {"all", "GET", "/v1/crawls/ID/files/archive/linked.warc.gz", "", 404, "no such file"}, {"all", "GET", "/v1/crawls/ID/files/links.jsonl", "", 404, "no such file"},
		{"all", "GET", "/v1/crawls/tokens/pages", "", 404, ""}, {"all", "GET", "/v1/crawls/weft", "", 404, ""}, {"all", "GET", "/v1/crawls/ID.weft", "", 404, ""}, {"all", "GET", "/crawls/tokens.json/", "", 404, ""},
		{"all", "POST", "/mcp", tool("pages", `{"job":"../ID"}`), 200, "expected a name"}, {"all", "POST", "/mcp", tool("pages", `{"job":"tokens.json"}`), 200, "there is none"}, {"all", "POST", "/mcp", tool("read", `{"job":"ID/../ID","url":"WEB"}`), 200, "expected a name"},
		{"all", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"weft://../WEB/"}}`, 200, "error"},
		{"all", "GET", "/v1/crawls/ID/export?format=csv%0d%0aX:1", "", 422, "expected one of"}, {"all", "GET", "/v1/crawls/%22x%0d%0aA:b/export", "", 404, ""}, {"all", "GET", "/v1/crawls/ID/export?fields=url%0d", "", 422, "unknown field"},
		{"all", "GET", "/v1/crawls/ID/export?format=sqlite", "", 422, "sqlite"},
		// Changes of visits and their feed.
		{"all", "GET", "/v1/crawls/ID/changes/-1", "", 404, "not known"}, {"all", "GET", "/v1/crawls/ID/changes/0", "", 404, "not known"}, {"all", "GET", "/v1/crawls/ID/changes/99999999999999999999", "", 404, "not known"},
		{"all", "GET", "/v1/crawls/ID/changes/..%2f..%2ftokens", "", 404, "not known"}, {"all", "GET", "/v1/crawls/ID/changes/2.jsonl", "", 404, "not known"}, {"all", "GET", "/v1/crawls/ID/changes/2%00", "", 404, "not known"},
		{"all", "GET", "/v1/crawls/ID/changes/2?format=..%2fx", "", 422, "expected one of"}, {"all", "GET", "/v1/crawls/ID/changes/2?format=" + strings.Repeat("x", 5000), "", 422, "expected one of"},
		{"all", "GET", "/v1/crawls/..%2fID/changes.atom", "", 404, ""}, {"all", "GET", "/v1/crawls/tokens/changes.atom", "", 404, ""}, {"all", "GET", "/v1/crawls/none/changes/2", "", 404, "no such crawl"},
		{"all", "GET", "/v1/crawls/ID/changes?since=" + strings.Repeat("9", 5000) + "&after=%00", "", 200, `"changes":[]`}, {"all", "GET", "/v1/crawls/ID/changes.atom?since=-1", "", 200, "<feed"},
		{"fetch", "GET", "/v1/crawls/ID/changes", "", 403, ""}, {"write", "GET", "/v1/crawls/ID/changes.atom", "", 403, ""}, {"", "GET", "/v1/crawls/ID/changes/2", "", 401, ""}, {"read", "GET", "/v1/crawls/ID/changes.atom", "", 404, "no such crawl"},
		// Header fields, options and texts.
		{"all", "POST", "/v1/scrape", `{"url":"WEB","headers":{"A":"b\r\nHost: x"}}`, 422, "control characters"}, {"all", "POST", "/v1/scrape", `{"url":"WEB","headers":{"A\nB":"b"}}`, 422, "a name of"},
		{"all", "POST", "/v1/scrape", `{"url":"WEB","headers":{"Host":"x"}}`, 422, "not set by Weft"}, {"all", "POST", "/v1/scrape", `{"url":"WEB","headers":{"Proxy-Authorization":"x"}}`, 422, "not set by Weft"},
		{"all", "POST", "/v1/scrape", `{"url":"WEB","headers":{"Transfer-Encoding":"chunked"}}`, 422, "not set by Weft"}, {"all", "POST", "/v1/scrape", `{"url":"WEB","headers":{"Cookie":"a=\u0001"}}`, 422, ""},
		{"all", "POST", "/v1/crawls", crawl(`"Distrust":false`), 422, ""}, {"all", "POST", "/v1/crawls", crawl(`"urls":["x"]`), 422, ""}, {"all", "POST", "/v1/crawls", crawl(`"config":"/etc/passwd"`), 422, ""},
		{"all", "POST", "/v1/crawls", crawl(`"header-fields":"a\nb"`), 422, ""}, {"all", "POST", "/v1/crawls", crawl(`"wait":"p"`), 422, ""}, {"all", "POST", "/v1/crawls", crawl(`"hook":"x"`), 422, ""},
		{"all", "POST", "/v1/crawls", crawl(`"depth":{"a":1}`), 422, ""}, {"all", "POST", "/v1/scrape", `{"url":"\ud800"}`, 422, ""},
		{"all", "POST", "/v1/crawls", `{"urls":["http://u:p@localhost/"]}`, 422, ""}, {"all", "POST", "/v2/scrape", `{"url":"WEB","proxy":"http://x"}`, 400, "not supported"}, {"all", "POST", "/v2/crawl", `{"url":"WEB","webhook":"file:///x"}`, 400, "webhook"},
		{"all", "POST", "/v2/map", `{"url":"WEB","limit":1e400}`, 400, "expected"}, {"all", "GET", "/v1/crawls/ID/pages?after=-1", "", 422, ""}, {"all", "GET", "/v1/crawls/ID/pages?after=9223372036854775807", "", 422, ""},
		{"all", "GET", "/v1/crawls/ID/urls?after=%00%ff", "", 422, ""}, {"all", "GET", "/v1/crawls/ID/urls?state=x", "", 422, ""}, {"all", "GET", "/v1/crawls/ID/export?where=true;false", "", 422, "semicolon"}, {"all", "GET", "/v1/crawls/ID?wait=26", "", 422, ""}, {"all", "GET", "/v1/crawls/ID?wait=-1", "", 422, ""},
		{"all", "PUT", "/v1/crawls/ID/schedule", `{"cron":"* * * * *"}`, 422, ""}, {"all", "PUT", "/v1/crawls/ID/schedule", `{"cron":"0 0 30 2 *"}`, 422, ""}, {"all", "PUT", "/v1/crawls/ID/schedule", `{"zone":"../../etc/passwd","cron":"@daily"}`, 422, ""},
		{"all", "POST", "/crawls/ID/v1/orders", `{"words":[` + strings.Repeat(`"a",`, 30_000) + `"a"]}`, 413, ""}, {"all", "DELETE", "/v2/crawl/..", "", 404, ""},
		{"", "POST", "/session", `{"token":"` + strings.Repeat("x", 10_000) + `"}`, 400, ""}, {"", "POST", "/session", `{"token":"weft_wrong"}`, 401, ""}, {"", "POST", "/session", `[]`, 400, ""},
	} {
		s.token = tokens[c.token]
		of := strings.NewReplacer("ID", id, "WEB", web.URL)
		var body any
		if c.body != "" {
			body = json.RawMessage(of.Replace(c.body))
		}
		status, text := s.ask(c.method, of.Replace(c.path), body, nil, "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2025-06-18")
		if status != c.status || !strings.Contains(text, c.want) || len(text) > 2000 {
			t.Errorf("%s %s %.100s by %q: %d %.300s, expected %d %s", c.method, c.path, c.body, c.token, status, text, c.status, c.want)
		}
	}
	s.token = tokens["all"]
	for range 20 {
		if status, text := s.ask("GET", "/v1/crawls/"+id+"/check", nil, nil); status != http.StatusOK || !strings.Contains(text, `"totals"`) {
			t.Fatalf("%d %s", status, text)
		}
	}
	if now := descriptors(t, s); now > open+10 {
		t.Errorf("%d descriptors, before %d", now, open)
	}
}

// descriptors returns the number of files and connections that a server has open.
func descriptors(t *testing.T, s *server) int {
	t.Helper()
	all, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "fd"))
	if err != nil {
		return 0 // there is no /proc
	}
	return len(all)
}
