package mcp

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// crawled returns a folder with a job of some pages, in parts that a test changes.
func crawled(t *testing.T) (dir, url string) {
	t.Helper()
	pages := map[string]string{"/": kettles + "<a href=/gone>gone</a><a href=/long>long</a><p style=display:none>HIDDEN copper</p>", "/glass": "text/html\n<title>Glass</title><main><p>A glass kettle costs <b class=price>12 euros</b>, and boils ÖL, too. It shows what it does.</p></main>"}
	for i := range 60 {
		pages["/"] += fmt.Sprintf("<a href=/n/%d>n</a>", i)
		pages[fmt.Sprintf("/n/%d", i)] = fmt.Sprintf("text/html\n<title>Number %d</title><main><p>This page of the number %d has a sentence about numbers in it.</p></main>", i, i)
	}
	pages["/long"] = "text/html\n<title>Long</title><main>" + strings.Repeat("<p>A paragraph that says again what was said before, as long pages do.</p>", 2000) + "</main>"
	url = site(t, pages)
	dir = t.TempDir()
	if r := wefttest.In(t, dir, "crawl", "-q", "--bodies", "--job", "kettles.weft", url); r.Code > wefttest.Broken {
		t.Fatalf("%+v", r)
	}
	return dir, url
}

// TestJobs: an agent looks at a job that a person has crawled.
func TestJobs(t *testing.T) {
	dir, url := crawled(t)
	c := start(t, nil, "--allow-private", dir)
	content := func(tool string, a args) (before, content string) {
		t.Helper()
		r := c.call(tool, a)
		if r.IsError {
			t.Fatalf("%s %v: %s", tool, a, textOf(r))
		}
		before, content, _ = parts(t, r)
		return before, content
	}
	if before, text := content("status", args{}); before != "1 jobs.\n" || text != "kettles finished" {
		t.Errorf("%q %q", before, text)
	}
	before, text := content("status", args{"job": "kettles"})
	if !strings.HasPrefix(before, "Job: finished. Done ") || !strings.Contains(text, "status 404: ") || !strings.Contains(text, "first URL: "+url) {
		t.Errorf("%q %q", before, text)
	}
	if _, text := content("pages", args{"job": "kettles", "status": "404"}); !strings.Contains(text, "404 done "+url+"/gone") {
		t.Errorf("%q", text)
	}
	if before, text := content("read", args{"job": "kettles", "url": url + "/"}); !strings.Contains(text, "# Kettles") || strings.Contains(text, "HIDDEN") || !strings.Contains(before, "1 elements") {
		t.Errorf("%q %q", before, text)
	}
	before, text = content("search", args{"job": "kettles", "query": "GLASS kettle öl"})
	if !strings.Contains(before, "1 of these have the words.") || !strings.HasPrefix(text, url+"/glass Glass\n  … ") || !strings.Contains(before, "These are all.") {
		t.Errorf("%q %q", before, text)
	}
	if r := c.call("search", args{"job": "kettles", "query": "copper"}); !strings.Contains(textOf(r), "0 of these") {
		t.Errorf("a hidden word is found: %s", textOf(r))
	}
	if _, text := content("search", args{"job": "kettles", "query": "number 42", "in": "records"}); !strings.Contains(text, "200 "+url+"/n/42 Number 42") {
		t.Errorf("%q", text)
	}
	if before, text := content("check", args{"job": "kettles"}); !strings.Contains(before, " broken, ") || !strings.Contains(text, "error broken-link: "+url+"/gone") || !strings.Contains(text, "such as "+url+"/") {
		t.Errorf("%q %q", before, text)
	}
	if before, text := content("why", args{"job": "kettles", "url": url + "/glass"}); !strings.Contains(before, "1 pages link to it") || !strings.Contains(text, "linked from "+url+"/") {
		t.Errorf("%q %q", before, text)
	}
	if _, text := content("extract", args{"job": "kettles", "fields": []string{"price=.price"}}); !strings.Contains(text, `"price":"12 euros"`) {
		t.Errorf("%q", text)
	}
	if _, text := content("extract", args{"url": url + "/glass", "fields": []string{"price:number=.price"}}); !strings.Contains(text, `"price":12`) {
		t.Errorf("%q", text)
	}

	// Lists in parts are whole.
	for tool, a := range map[string]args{"pages": {"job": "kettles"}, "search": {"job": "kettles", "query": "sentence"}, "extract": {"job": "kettles", "fields": []string{"t=title"}}} {
		seen := make(map[string]bool)
		a["max_tokens"] = 1000
		n := 0
		for ; n < 100; n++ {
			r := c.call(tool, a)
			_, text, _ := parts(t, r)
			for line := range strings.SplitSeq(text, "\n") {
				if strings.Contains(line, "/n/") {
					if seen[line] {
						t.Errorf("%s: %s comes twice", tool, line)
					}
					seen[line] = true
				}
			}
			next, ok := r.Meta["next_cursor"].(string)
			if !ok {
				break
			}
			a["cursor"] = next
		}
		if len(seen) != 60 || n == 0 {
			t.Errorf("%s: %d of 60 in %d parts", tool, len(seen), n+1)
		}
	}

	r, err := c.ReadResource(c.ctx, &sdk.ReadResourceParams{URI: "weft://kettles/" + url + "/glass"})
	if err != nil || len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, "12 euros") || !frame.MatchString(r.Contents[0].Text) {
		t.Errorf("%v %+v", err, r)
	}
	for _, uri := range []string{"weft://other/" + url, "weft://kettles/" + url + "/none", "weft://../" + url, "weft://kettles/", "file:///etc/passwd"} {
		if r, err := c.ReadResource(c.ctx, &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %+v", uri, r)
		}
	}
}

// TestUnchanged: a visit tells the pages that are as they were, by status and in the list.
func TestUnchanged(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "page.html", time.Time{}, strings.NewReader(kettles))
	}))
	defer web.Close()
	dir := t.TempDir()
	for _, how := range [][]string{{"--job", "site.weft", "--scope", "page", web.URL}, {"--update", "site.weft"}} {
		if r := wefttest.In(t, dir, append([]string{"crawl", "-q"}, how...)...); r.Code != wefttest.Done {
			t.Fatalf("%+v", r)
		}
	}
	c := start(t, nil, dir)
	if _, text, _ := parts(t, c.call("status", args{"job": "site"})); !strings.Contains(text, "\nunchanged: 1") || strings.Contains(text, "304") {
		t.Errorf("%q", text)
	}
	if _, text, _ := parts(t, c.call("pages", args{"job": "site", "state": "unchanged"})); !strings.Contains(text, web.URL+"/") {
		t.Errorf("%q", text)
	}
}

// TestJobNames: no name leads out of the folder, by a path or by a link, and no query takes a
// server down.
func TestJobNames(t *testing.T) {
	dir, _ := crawled(t)
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link.weft": "../kettles.weft", "link2": filepath.Join(dir, "kettles.weft")} {
		if err := os.Symlink(to, filepath.Join(inner, name)); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t, nil, inner)
	for _, name := range []string{"../kettles", "..", ".", "", "link", "link2", "link.weft", "/etc", "kettles", filepath.Join(dir, "kettles"), "../kettles.weft", "a/../../kettles", "x\x00", strings.Repeat("x", 1000), "..%2fkettles", "-rf"} {
		for _, tool := range []string{"pages", "search", "check", "why", "read", "extract", "status"} {
			if tool == "status" && name == "" || tool == "read" && name == "" || tool == "extract" && name == "" {
				continue
			}
			r := c.call(tool, map[string]args{
				"pages": {"job": name}, "search": {"job": name, "query": "a"}, "check": {"job": name}, "why": {"job": name, "url": "http://a.test/"},
				"read": {"job": name, "url": "http://a.test/"}, "extract": {"job": name, "structured": true}, "status": {"job": name},
			}[tool])
			if !r.IsError || !strings.HasPrefix(textOf(r), "Error: job ") {
				t.Errorf("%s %.40q: %.300s", tool, name, textOf(r))
			}
		}
	}
	if text := textOf(c.call("status", args{})); !strings.HasPrefix(text, "0 jobs.") {
		t.Error(text)
	}
	c = start(t, nil, dir)
	for _, bad := range []struct {
		tool string
		args args
	}{
		{"search", args{"job": "kettles", "query": ""}}, {"search", args{"job": "kettles", "query": strings.Repeat("a ", 1000)}}, {"search", args{"job": "kettles", "query": "a", "in": "x"}},
		{"search", args{"job": "kettles", "query": "a", "cursor": "-1"}}, {"pages", args{"job": "kettles", "state": "x"}}, {"pages", args{"job": "kettles", "status": "x"}},
		{"pages", args{"job": "kettles", "cursor": "x"}}, {"check", args{"job": "kettles", "rules": "x"}}, {"check", args{"job": "kettles", "cursor": "x"}},
		{"why", args{"job": "kettles", "url": "x y"}}, {"extract", args{"job": "kettles", "fields": []string{"a=["}}}, {"extract", args{"job": "kettles"}}, {"extract", args{"structured": true}},
		{"crawl", args{}}, {"crawl", args{"urls": []string{"file:///etc/passwd"}}}, {"crawl", args{"urls": []string{"http://a.test/"}, "scope": "x"}}, {"crawl", args{"urls": []string{"http://a.test/"}, "include": []string{"("}}},
		{"crawl", args{"stop": "../x"}}, {"crawl", args{"urls": slices.Repeat([]string{"http://a.test/"}, 2000)}},
	} {
		if r := c.call(bad.tool, bad.args); !r.IsError {
			t.Errorf("%s %.200v: %.300s", bad.tool, bad.args, textOf(r))
		}
	}
	// What the tool does not list is refused before it runs.
	if r, err := c.CallTool(c.ctx, &sdk.CallToolParams{Name: "crawl", Arguments: args{"urls": []string{"http://a.test/"}, "proxy": "http://x/"}}); err == nil && !r.IsError {
		t.Errorf("%+v", r)
	}
}

// TestCrawl: an agent starts a crawl, sees where it stands, and ends it; strangers' rules hold.
func TestCrawl(t *testing.T) {
	url := site(t, map[string]string{"/": kettles, "/glass": "text/html\n<title>Glass</title><p>A glass kettle."})
	dir := t.TempDir()
	await := func(c client, name, want string) string {
		t.Helper()
		for c.ctx.Err() == nil {
			text := textOf(c.call("status", args{"job": name, "wait": 30}))
			if strings.Contains(text, want) {
				return text
			}
		}
		t.Fatalf("%s: not %q", name, want)
		return ""
	}
	started := func(c client, a args) string {
		t.Helper()
		r := c.call("crawl", a)
		_, rest, ok := strings.Cut(textOf(r), `has the name "`)
		name, _, _ := strings.Cut(rest, `"`)
		if !ok || r.IsError {
			t.Fatal(textOf(r))
		}
		return name
	}
	c := start(t, nil, "--allow-private", dir)
	name := started(c, args{"urls": []string{url}, "depth": 1})
	await(c, name, "Crawl: done.")
	if text := textOf(c.call("search", args{"job": name, "query": "glass kettle"})); !strings.Contains(text, url+"/glass") {
		t.Error(text)
	}
	if text := textOf(c.call("status", args{})); !strings.Contains(text, name+" done") {
		t.Error(text)
	}
	if text := textOf(c.call("crawl", args{"stop": name})); !strings.Contains(text, "ending") {
		t.Error(text)
	}
	strict := start(t, nil, t.TempDir())
	name = started(strict, args{"urls": []string{url}})
	if text := await(strict, name, "Crawl: failed."); strings.Contains(text, "status 200") {
		t.Error(text)
	}
}

// TestUsualLimit: a crawl without a limit has the usual one, or that of the operator or of the
// client's token, whichever is lowest.
func TestUsualLimit(t *testing.T) {
	f, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for planned, want := range map[string]string{"": "1000", "0": "1000", "50": "50", "5000": "1000"} {
		all := NewCrawls(f, func(_ Client, asked map[string][]string) (map[string][]string, error) {
			if asked = maps.Clone(asked); asked["limit"] == nil && planned != "" {
				asked["limit"] = []string{planned}
			}
			return asked, nil
		})
		tools := tools{Options: Options{Crawls: all}, client: Operator()}
		for asked, want := range map[int]string{0: want, 7: "7", 200_000: "100000"} {
			a, err := tools.crawl(t.Context(), crawlIn{URLs: []string{"https://a.test/"}, Limit: asked})
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(a.text(), `"`)
			name, _, _ := strings.Cut(rest, `"`)
			text, err := os.ReadFile(filepath.Join(f.Dir(), name+".toml"))
			if err != nil || !strings.Contains(string(text), "\nlimit = '"+want+"'\n") {
				t.Errorf("planned %s, asked %d: %v, %s, expected %s", planned, asked, err, text, want)
			}
		}
	}
}
