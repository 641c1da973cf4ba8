package live

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/browser"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// hostile are texts of the Web that would run, break or lie in a page that took them as markup.
var hostile = func() (all []string) {
	const run = "window.ran=1"
	for _, tag := range []string{"img src=x onerror", "svg onload", "body onload", "iframe srcdoc=x onload", "input autofocus onfocus", "details open ontoggle", "video src=x onerror", "style onload", "marquee onstart"} {
		for _, before := range []string{"", `">`, `'>`, "</title>", "</script>", "</textarea>", "--><!-- -->"} {
			all = append(all, before+"<"+tag+"="+run+">")
		}
	}
	return append(all, "<script>"+run+"</script>", "<a href=javascript:"+run+">x</a>", `</bdi></td></table><h1>finished</h1>`, "${"+run+"}", "{{"+run+"}}",
		"\u202edehsinif\u202c", "\u2066x\u2069", "e"+strings.Repeat("\u0301", 300), strings.Repeat("W", 3000), "\u200b\u200b", "a\tb\rc\x1b[31m", `\"};`+run+`;//`, "&lt;b&gt;&#x3c;b>", "data:text/html,x\n\ndata: {}\n\nevent: x")
}()

// printable leaves out of a text what ends a header.
var printable = strings.NewReplacer("\r", " ", "\n", " ")

// TestPage: in a real browser the page shows a crawl whose URLs, titles, headers and errors are
// hostile, and steers it; none of them runs, adds markup or widens the page.
func TestPage(t *testing.T) {
	b := browser.Start(t)
	released := make(chan bool)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/" {
			for i := range hostile {
				fmt.Fprintf(w, "<a href='/%d/%s?%s%s'>x</a>", i, url.PathEscape("x"+hostile[i][:min(len(hostile[i]), 60)]), url.QueryEscape(hostile[i][:min(len(hostile[i]), 60)]), strings.Repeat("w", 5*i))
			}
			fmt.Fprint(w, "<a href=/held>x</a>")
			return
		}
		if r.URL.Path == "/held" {
			<-released
		}
		if i := 0; r.URL.Path != "/robots.txt" {
			fmt.Sscanf(r.URL.Path, "/%d/", &i)
			header := printable.Replace(hostile[i]) + "\xe9\xff\x9b31m" // 8-bit, with an escape of terminals
			w.Header().Set("Server", header)
			w.Header().Set("Retry-After", header)
			switch {
			case i%9 == 8:
				w.WriteHeader(http.StatusNotFound)
			case r.URL.RawQuery == "typed":
				w.Header().Set("Content-Type", header)
			case r.URL.RawQuery != "":
				w.Header().Set("Location", "/"+strconv.Itoa(i)+"/?typed#"+header)
				if i%2 == 0 {
					w.Header().Set("Location", "http://[/"+header) // no URL
				}
				if i%3 == 0 {
					w.WriteHeader(http.StatusFound)
				} else {
					w.Header().Set("Content-Type", "text/html; charset="+header)
				}
			}
			fmt.Fprintf(w, "<title>%s</title>", strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(hostile[i]))
		}
	}))
	defer site.Close()
	defer close(released)
	r := crawltest.Start(t, weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "<b>job", "x"), Pace: weft.Pace{Retries: -1, PerHost: 4}, HTTP: weft.HTTP{Timeout: 10 * time.Minute}})
	r.Inspect()
	r.Await("held", func(s weft.Status) bool { return s.InFlight == 1 && s.Done > len(hostile) })
	s, _ := serving(t, r.Dir)
	t.Cleanup(s.CloseClientConnections) // before the browser ends, which waits for them
	b.Watch()
	size := func(width int, scheme string) {
		b.Call(b.Tab, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false}, nil)
		b.Call(b.Tab, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	}
	size(400, "dark")
	b.Open(s.URL + "/")
	const seen = `new Promise(ok => { const look = () => CONDITION ? ok("yes") : setTimeout(look, 20); look(); setTimeout(() => ok(document.body.innerText), 60000) })`
	await := func(what, condition string) {
		t.Helper()
		if got := b.Run(b.Tab, strings.Replace(seen, "CONDITION", condition, 1)); got != "yes" {
			t.Fatalf("%s: %.2000s", what, got)
		}
	}
	await("a look, records and hosts", `by("state").textContent === "running" && by("latest-rows").children.length > 5 && by("hosts-rows").textContent.includes("127.0.0.1")`)
	await("the errors of a host", `(by("hosts-rows").querySelector("td:nth-child(3)")?.textContent ?? 0) > 5`)
	b.Run(b.Tab, `by("filter").elements.state.value = "done"; by("filter").requestSubmit()`)
	await("URLs", `by("urls-rows").children.length === 50`)
	b.Run(b.Tab, `[...by("urls-pager").children][1].click()`)
	await("the next part", `by("urls-pager").textContent.includes("part 2") && by("urls-rows").children.length > 20`)
	b.Run(b.Tab, `[...by("statuses").children].find(b => b.dataset.key === "404").click()`)
	await("those with a status", `by("urls-rows").children.length > 2 && [...by("urls-rows").children].every(r => r.textContent.startsWith("404"))`)
	b.Run(b.Tab, `by("urls-rows").querySelector("button").click()`)
	await("why", `by("reasons").textContent.includes("found: on `+site.URL+`/")`)
	await("hosts of errors", `by("failing-rows").textContent.includes("127.0.0.1") && by("failing-rows").querySelectorAll("button").length === 1`)
	b.Run(b.Tab, `by("pause").click()`)
	await("paused", `by("state").textContent === "paused: by hand" && by("reply").textContent === "paused; 1 in flight"`)
	b.Run(b.Tab, `const form = document.querySelector("form[data-order=exclude]"); form.elements.value.value = "("; form.requestSubmit()`)
	await("a mistake", `by("reply").textContent.includes("expected an expression")`)
	b.Run(b.Tab, `by("process").scrollIntoView()`)
	await("the process", `by("loops-rows").textContent.includes("fetch 1") && by("shares-rows").children.length > 3 && by("process-figures").textContent.includes("Disk left")`)
	await("no nodes", `by("cluster").hidden`)
	names, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	b.Run(b.Tab, strings.Replace(withNodes, "NAMES", string(names), 1))
	await("nodes", `!by("cluster").hidden && by("nodes-rows").children.length > 60 && by("partitions").textContent === "9 of 16 partitions are fetched from; 3 have no node."`)
	b.Run(b.Tab, `by("list-tasks").click()`)
	await("tasks", `by("tasks-rows").children.length > 3`)
	for _, width := range []int{400, 1600} {
		for _, scheme := range []string{"dark", "light"} {
			size(width, scheme)
			facts := b.Run(b.Tab, `JSON.stringify([window.ran ?? 0, document.querySelectorAll("main img, main script, main iframe, main style, main b, main h1").length, document.documentElement.scrollWidth <= innerWidth])`)
			if facts != "[0,0,true]" {
				t.Errorf("%d %s: what ran, foreign elements, within the width: %s", width, scheme, facts)
			}
			if script := os.Getenv("WEFT_AXE"); script != "" {
				axe(t, b, script)
			}
			for _, part := range []string{"now", "errors", "hosts", "why", "cluster"} {
				b.Run(b.Tab, `by("`+part+`").scrollIntoView()`)
				picture(t, b, fmt.Sprintf("%d-%s-%s.png", width, scheme, part))
			}
		}
	}
	for _, url := range b.Requested {
		if !strings.HasPrefix(url, s.URL) {
			t.Errorf("the page has requested %s", url)
		}
	}
	b.Run(b.Tab, `by("resume").click()`)
	await("running", `by("state").textContent === "running"`)
	b.Run(b.Tab, `by("stop").click(); by("stop").click()`)
	await("the end is near", `by("state").textContent.startsWith("ending")`)
}

// withNodes has the page see a crawl of nodes with some names.
const withNodes = `{
	const real = fetch
	const nodes = NAMES.map(name => ({ name, state: name.slice(0, 20), paused: [name], partitions: 4, started: 3, urls_per_second: 1234.5, done: 1e9, pending: 2e9, in_flight: 99, outbox: 7 }))
	fetch = async (path, ...rest) => {
		if (path === "v1/cluster") return new Response(JSON.stringify({ partitions: 16, unowned: 3, total: { partitions: 13, started: 9 }, nodes }))
		const response = await real(path, ...rest)
		if (path !== "v1/figures") return response
		return new Response(JSON.stringify({ ...await response.json(), node: { outbox: 1, bytes: 2, lag: 3 } }))
	}
}`

// picture writes what the browser shows into the folder that WEFT_PICTURES names, if it does.
func picture(t *testing.T, b *browser.Browser, name string) {
	t.Helper()
	dir := os.Getenv("WEFT_PICTURES")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.Call(b.Tab, "Page.captureScreenshot", nil, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), data, 0o666)
	}
	if err != nil {
		t.Error(err)
	}
}

// axe has axe-core, whose script has a path, look for what keeps people from using the page.
func axe(t *testing.T, b *browser.Browser, script string) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	b.Run(b.Tab, string(text)+";0")
	var found []struct{ ID, Help string }
	got := b.Run(b.Tab, `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help + " " + v.nodes.map(n => n.html).join(" ").slice(0, 500)}))))`)
	if err := json.Unmarshal([]byte(got), &found); err != nil || len(found) > 0 {
		t.Errorf("axe: %v, %+v", err, found)
	}
}
