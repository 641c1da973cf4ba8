package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/browser"
	"golang.org/x/net/html"
)

// hostile is a title, text or URL that pages may have.
var hostile = []string{
	`</script><script>document.title = "pwned"</script>`, `<!--<script>`, `"><img src=x onerror="document.title = 'pwned'">`,
	`</noscript><svg onload="document.title = 'pwned'">`, "javascript:document.title='pwned'", " \tJaVaScRiPt:document.title='pwned'",
	"data:text/html,<script>document.title='pwned'</script>", "\u202etxt.exe \u2028 \x00 \x1b[31m", "مرحبا", "{{.}} ${1} `", "https://x.example/" + strings.Repeat("a", 10_000),
}

// aReport returns a report with findings, many of them hostile, on two pages.
func aReport(t *testing.T, n int, order Order) *Report {
	a := newAnalysis(t.Context(), "https://site.example/"+hostile[0], Options{Order: order})
	r := a.report
	t.Cleanup(func() { r.Close() })
	r.Began = time.Date(2026, 11, 23, 9, 12, 0, 0, time.UTC)
	r.Ended = r.Began.Add(time.Hour)
	pages := []PageRow{
		{URL: "https://site.example/", Status: 200, Title: hostile[0], ContentType: "text/html", Verdict: OK, Bytes: 70_000, TotalMS: 12, Errors: n},
		{URL: "https://site.example/slow", ErrorKind: "timeout", Title: hostile[3], Verdict: Unknown, Depth: 1, Bytes: 3, TotalMS: 7000},
	}
	r.pages = func(yield func(PageRow, error) bool) {
		for _, p := range pages {
			if !yield(p, nil) {
				return
			}
		}
	}
	r.Totals.Statuses = map[string]int{"200": 3, "404": n, "timeout": 1, hostile[0]: 1}
	r.Totals.Depths = map[int]int{0: 1, 1: 1, 40: 7}
	count(r.Totals.Times, 12)
	count(r.Totals.Sizes, 70_000)
	for i := range n {
		s := hostile[i%len(hostile)]
		if i > 100 && len(s) > 1000 {
			s = hostile[0] // enough of long ones
		}
		f := Finding{
			Rule: BrokenLink, Page: pages[i%2].URL, Line: i + 1, Column: 2, Tag: "a", Attr: "href", Text: s, URL: s, Message: fmt.Sprintf("finding-%d %.90s", i, s),
			Error: s, Redirects: []Hop{{301, s}},
		}
		if i%5 == 4 {
			f.Rule = UnknownLink
		}
		a.found(f)
	}
	return r
}

func htmlOf(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeHTML(&b, r, Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// opened is a document as a browser with or without scripts sees it.
type opened struct {
	scripts, styles, hrefs []string
	handlers               []string // attributes that run scripts, or load
	policy, data           string
	text                   strings.Builder
}

func (o *opened) read(n *html.Node) {
	if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
		o.text.WriteString(n.Data)
	}
	attributes := make(map[string]string)
	for _, a := range n.Attr {
		attributes[a.Key] = a.Val
		switch {
		case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
			o.hrefs = append(o.hrefs, a.Val)
		case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style", a.Key == "srcset", a.Key == "action":
			o.handlers = append(o.handlers, a.Key+"="+a.Val)
		}
	}
	switch {
	case n.Data == "script" && n.Type == html.ElementNode && attributes["type"] == "application/json":
		if attributes["id"] == "finding-data" {
			o.data = n.FirstChild.Data
		}
	case n.Data == "script" && n.Type == html.ElementNode:
		o.scripts = append(o.scripts, n.FirstChild.Data)
	case n.Data == "style" && n.Type == html.ElementNode:
		o.styles = append(o.styles, n.FirstChild.Data)
	case attributes["http-equiv"] == "Content-Security-Policy":
		o.policy = attributes["content"]
	}
	for c := range n.ChildNodes() {
		o.read(c)
	}
}

// TestHTML: strings of the Web stay text, for readers with and without scripts; nothing but the
// page's own script and style may run; all findings are there.
func TestHTML(t *testing.T) {
	const n = 55
	for _, order := range []Order{ByProblem, ByPage, ByTarget} {
		for _, scripting := range []bool{true, false} {
			text := htmlOf(t, aReport(t, n, order))
			tree, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(scripting))
			if err != nil {
				t.Fatal(err)
			}
			var o opened
			o.read(tree)
			if len(o.scripts) != 1 || len(o.styles) != 1 || o.handlers != nil {
				t.Fatalf("%d scripts, %d styles, %q", len(o.scripts), len(o.styles), o.handlers)
			}
			want := "default-src 'none'; style-src 'sha256-" + digest([]byte(o.styles[0])) + "'; script-src 'sha256-" + digest([]byte(o.scripts[0])) + "'; base-uri 'none'; form-action 'none'"
			if o.policy != want {
				t.Errorf("policy %s, want %s", o.policy, want)
			}
			for _, url := range o.hrefs {
				if !strings.HasPrefix(url, "https://") {
					t.Errorf("a link to %.80s", url)
				}
			}
			var rows [][]any
			if err := json.Unmarshal([]byte(o.data), &rows); err != nil || len(rows) != n {
				t.Errorf("%d findings: %v", len(rows), err)
			}
			for i := range n {
				if !scripting && !strings.Contains(o.text.String(), fmt.Sprintf("finding-%d ", i)) {
					t.Errorf("without scripts, finding %d is not there", i)
				}
			}
			for _, part := range []string{"44 errors", "23 November 2026, 09:12 – 10:12 UTC", "5 s – 10 s", "50 KiB – 100 KiB", "≥ 11", "the link leads to an error"} {
				if strings.Contains(o.text.String(), part) == (part == "5 s – 10 s") {
					t.Errorf("%s: %t", part, part == "5 s – 10 s")
				}
			}
		}
	}
}

// TestHTMLBounds: a report that is too large for a browser says what it leaves out.
func TestHTMLBounds(t *testing.T) {
	text := htmlOf(t, aReport(t, maxPlain+3, ByPage))
	if want := "3 findings more: with scripts"; !strings.Contains(text, want) {
		t.Errorf("no %q", want)
	}
	var out []string
	var failed error
	all := rows{yield: func(row template.JS) bool { out = append(out, string(row)); return true }, size: maxData - 40, err: &failed}
	added := []bool{all.add("a", 1, "b"), all.add("a", 2, ""), all.add("", 2, ""), all.add(strings.Repeat("c", 40), 1, ""), all.add("d", 1, "")}
	if got := strings.Join(out, ""); fmt.Sprint(added, failed) != "[true true true false false] <nil>" || got != "\n[\"a\",1,\"b\"],\n[0,2,\"\"],\n[\"\",2,\"\"]" {
		t.Errorf("%v %v %s", added, failed, got)
	}
}

// TestHTMLChromium: in a real browser, the tables filter, sort and group, a page has a section with
// an address, and nothing of what pages say runs.
func TestHTMLChromium(t *testing.T) {
	problems := browser.Start(t)
	path := filepath.Join(t.TempDir(), "problems.html")
	r, err := Job(t.Context(), siteOfProblems(t, false), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.WriteFile(path, []byte(htmlOf(t, r)), 0o666); err != nil {
		t.Fatal(err)
	}
	problems.Open("file://" + path)
	for _, step := range []struct{ script, want string }{
		{`[...document.querySelectorAll("#problems > *")].map(e => e.localName).join()`, "h2,h3,details,details,h3,details,details,details"},
		{`document.querySelectorAll("#problems details[open]").length`, "0"},
		{`document.querySelector("#problems summary").innerText.replace(/\s+/g, " ")`, "error 404 Not Found on 12 pages, 17 times http://a.test/gone"},
		{`document.querySelector("#problems ul").textContent.replace(/\s+/g, " ").trim()`,
			"http://a.test/p00 at 3:9 <a href> “Gone” http://a.test/p01 at 3:9 <a href> “Gone” http://a.test/p02 at 3:9 <a href> “Gone” and 9 more"},
		{`document.querySelector("#problems ul a[href^='#']").click(); new Promise(ok => addEventListener("hashchange", () =>
			ok([$("page").open, $("page").querySelectorAll("li").length, location.hash].join())))`, "true,17,#page=http%3a%2f%2fa.test%2fgone"},
		{`$("page").querySelector("button").click(); document.querySelector("#problems p a[href^='#']").click(); new Promise(ok => addEventListener("hashchange", () =>
			ok(document.querySelector("#findings .status").textContent)))`, "28 findings; 41 in all"},
	} {
		if got := problems.Run(problems.Tab, step.script); got != step.want {
			t.Errorf("%s: %s, want %s", step.script, got, step.want)
		}
	}
	b := browser.Start(t)
	path = filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(htmlOf(t, aReport(t, 440, ByPage))), 0o666); err != nil {
		t.Fatal(err)
	}
	b.Call(b.Tab, "Emulation.setDeviceMetricsOverride", map[string]any{"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Open("file://" + path)
	for _, step := range []struct{ script, want string }{
		{`document.title`, "352 errors: https://site.example/" + hostile[0]},
		{`document.documentElement.scrollWidth <= innerWidth`, "true"},
		{`[...document.links].filter(a => !/^(https:|file:.*#)/.test(a.href)).length`, "0"},
		{`document.querySelector("#findings .status").textContent`, "200 of 440 findings shown"},
		{`document.querySelectorAll("#findings .list tr.group").length`, "1"},
		{`document.querySelector("#findings .more").click(), document.querySelector("#findings .status").textContent`, "400 of 440 findings shown"},
		{`location.hash = "level=note"; new Promise(ok => addEventListener("hashchange", () => ok(document.querySelector("#findings .status").textContent)))`, "88 findings; 440 in all"},
		{`findingTable.search.value = "finding-54 BROKEN"; findingTable.update(); findingTable.found.length`, "0"},
		{`findingTable.search.value = "finding-54 UNKNOWN"; findingTable.update(); document.querySelector("#findings td.c-message").textContent.slice(0, 11)`, "finding-54 "},
		{`location.hash = ""; findingTable.search.value = ""; groupChoice.control.value = ""; groupChoice.control.dispatchEvent(new Event("change"));
			levelChoice.control.value = ""; findingTable.update(); findingTable.found.length`, "440"},
		{`document.querySelector("#findings th.c-place button").click(), document.querySelector("#findings td.c-place").textContent`, "440:2"},
		{`document.querySelector("#findings th.c-place button").click(), document.querySelector("#findings td.c-place").textContent`, "1:2"},
		{`document.querySelector("#findings th[aria-sort]").ariaSort`, "ascending"},
		{`document.querySelector("#pages th.c-time button").click(), document.querySelector("#pages td.c-address bdi").textContent`, "https://site.example/slow"},
		{`document.querySelector("#pages td.c-address a").click(); new Promise(ok => addEventListener("hashchange", () =>
			ok([$("page").open, $("page").querySelectorAll("li").length, location.hash].join())))`, "true,200,#page=https%3A%2F%2Fsite.example%2Fslow"},
		{`$("page").querySelector("button").click(); new Promise(ok => $("page").addEventListener("close", () => ok([$("page").open, location.hash].join())))`, "false,"},
		{`document.title`, "352 errors: https://site.example/" + hostile[0]},
	} {
		if got := b.Run(b.Tab, step.script); got != step.want {
			t.Errorf("%s: %s, want %s", step.script, got, step.want)
		}
	}
}
