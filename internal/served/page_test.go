package served

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/browser"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// holding is a site that answers no request before a channel is closed.
func holding() (*httptest.Server, chan bool) {
	released := make(chan bool)
	return httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released })), released
}

// TestPage: a person signs in with a token, starts a crawl, looks at it, stops it, and signs out,
// in a real browser; a hostile URL adds nothing to the page.
func TestPage(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	web, _ := site(t, 500)
	dir := t.TempDir()
	e := wefttest.Run(t, "serve", "--add-token", "me", dir)
	s := serve(t, dir, "--allow-private")
	s.token = strings.TrimSpace(e.Stdout)
	hostile := web.URL + "/<img src=x onerror=window.ran=1>"
	s.until(s.start(map[string]any{"urls": []string{hostile}}).ID)
	b.Watch()
	b.Open(s.url + "/")
	const seen = `new Promise(ok => { const look = () => CONDITION ? ok("yes") : setTimeout(look, 20); look(); setTimeout(() => ok(document.body.innerText), 60000) })`
	await := func(what, condition string) {
		t.Helper()
		if got := b.Run(b.Tab, strings.Replace(seen, "CONDITION", condition, 1)); got != "yes" {
			t.Fatalf("%s: %.2000s", what, got)
		}
	}
	await("a form for the token", `!by("sign-in").hidden && by("list").hidden`)
	b.Run(b.Tab, `by("token").value = "weft_wrong"; by("token-form").requestSubmit()`)
	await("a mistake", `by("connection").textContent === "there is no such token"`)
	b.Run(b.Tab, `by("token").value = "`+s.token+`"; by("token-form").requestSubmit()`)
	await("the crawls", `by("sign-in").hidden && by("rows").children.length === 1`)
	b.Run(b.Tab, `by("url").value = "`+web.URL+`/"; by("limit").value = "400"; by("new-form").requestSubmit()`)
	await("a new crawl that runs", `by("rows").children.length === 2 && by("rows").children[0].textContent.startsWith("running")`)
	if script := os.Getenv("WEFT_AXE"); script != "" {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		b.Run(b.Tab, string(text)+";0")
		var found []any
		got := b.Run(b.Tab, `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => JSON.stringify(r.violations.map(v => v.help)))`)
		if err := json.Unmarshal([]byte(got), &found); err != nil || len(found) > 0 {
			t.Errorf("axe: %v, %v", err, found)
		}
	}
	if facts := b.Run(b.Tab, `JSON.stringify([window.ran ?? 0, document.querySelectorAll("main img, main script").length, document.documentElement.scrollWidth <= innerWidth])`); facts != "[0,0,true]" {
		t.Errorf("what ran, foreign elements, within the width: %s", facts)
	}
	crawl := b.Run(b.Tab, `by("rows").children[0].querySelector("a").href`)
	b.Open(crawl)
	await("the page of the crawl", `by("latest-rows")?.children.length > 5 && !by("all").hidden`)
	b.Open(b.Run(b.Tab, `by("all").querySelector("a").href`))
	await("the crawls again", `by("rows")?.children.length === 2`)
	b.Run(b.Tab, `by("rows").children[0].querySelector("button").click()`)
	await("it is stopped", `/^(stopped|limited)/.test(by("rows").children[0].textContent)`)
	b.Open(b.Run(b.Tab, `by("rows").children[0].querySelector("a").href`))
	await("failed URLs may be requested again", `by("retry") && !by("retry").hidden`)
	b.Run(b.Tab, `by("retry").elements.error.value = "dsn"; by("retry").requestSubmit()`)
	await("a mistaken kind", `by("reply").textContent.includes("expected an error kind")`)
	b.Run(b.Tab, `by("retry").elements.error.value = ""; by("retry").elements.status.value = "404"; by("retry").requestSubmit()`)
	await("it runs again", `by("reply").textContent.startsWith("The crawl runs again")`)
	b.Open(s.url + "/")
	await("it has run", `by("rows")?.children.length === 2 && /^(done|limited)/.test(by("rows").children[0].textContent)`)
	b.Run(b.Tab, `[...by("rows").children[0].querySelectorAll("button")].at(-1).click()`)
	await("a question", `by("rows").children[0].textContent.endsWith("Delete: are you sure?")`)
	b.Run(b.Tab, `[...by("rows").children[0].querySelectorAll("button")].at(-1).click()`)
	await("it is deleted", `by("rows").children.length === 1`)
	held, released := holding()
	defer held.Close()
	defer close(released)
	first := s.start(map[string]any{"urls": []string{held.URL}})
	waits := s.start(map[string]any{"urls": []string{held.URL + "/x"}})
	await("it waits for a crawl of its host", `by("rows").children[0].textContent.includes("waits for another crawl of its host")`)
	if _, text := s.ask("GET", "/v1/crawls/"+waits.ID, nil, nil); !strings.Contains(text, `"waits":{"for":"host","crawl":"`+first.ID+`"}`) {
		t.Error(text)
	}
	await("a way out", `!by("sign-out").hidden`)
	b.Run(b.Tab, `by("sign-out").click()`)
	await("signed out", `!by("sign-in").hidden && by("sign-out").hidden`)
	b.Open(crawl)
	await("signed out for good, also of the page of a crawl", `location.pathname === "/" && !by("sign-in").hidden`)
	for _, url := range b.Requested {
		if !strings.HasPrefix(url, s.url) {
			t.Errorf("the page has requested %s", url)
		}
	}
}

// TestPageHostile: in a real browser none of 63 hostile URLs runs or adds an element to the page of
// all crawls.
func TestPageHostile(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	held, released := holding()
	defer held.Close()
	defer close(released)
	s := serve(t, t.TempDir(), "--allow-private")
	all := 0
	for _, tag := range []string{"img src=x onerror", "svg onload", "body onload", "iframe srcdoc=x onload", "input autofocus onfocus", "details open ontoggle", "video src=x onerror", "style onload", "marquee onstart"} {
		for _, before := range []string{"", `">`, `'>`, "</title>", "</script>", "</textarea>", "--><!-- -->"} {
			// One runs; the others wait for its host.
			s.start(map[string]any{"urls": []string{held.URL + "/?" + before + "<" + tag + "=window.ran=1>"}})
			all++
		}
	}
	b.Open(s.url + "/")
	const facts = `new Promise(ok => { const look = () => by("rows").children.length === 50 ? (by("more").click(), setTimeout(look, 200)) : by("rows").children.length < COUNT ? setTimeout(look, 20) : ok([by("rows").textContent.includes("ontoggle="), document.querySelectorAll("main img, main svg, main iframe, main details, main video, main style, main marquee, main script").length, window.ran ?? 0, document.documentElement.scrollWidth <= innerWidth].join()); look() })`
	if got := b.Run(b.Tab, strings.Replace(facts, "COUNT", strconv.Itoa(all), 1)); got != "true,0,0,true" {
		t.Errorf("URLs, foreign elements, what ran, within the width: %s", got)
	}
}

// TestPageMistakes: the page shows the operator which of his files are ignored, whatever their
// names say; to a token without the right to the crawls of others, they are not there.
func TestPageMistakes(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	dir := t.TempDir()
	for _, name := range []string{"News.toml", "<img src=x onerror=window.ran=1>.toml"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, dir)
	b.Watch()
	b.Open(s.url + "/")
	const facts = `new Promise(ok => { const look = () => by("mistakes").hidden ? setTimeout(look, 20) : ok([by("mistakes").children.length, by("mistakes").textContent.includes("News.toml: its name is none of a crawl"), document.querySelectorAll("main img").length, window.ran ?? 0].join()); look() })`
	if got := b.Run(b.Tab, facts); got != "2,true,0,0" {
		t.Errorf("mistakes, named, foreign elements, what ran: %s", got)
	}
	s.token = strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "me", dir).Stdout)
	if status, text := s.ask("GET", "/v1/crawls", nil, nil); status != http.StatusOK || strings.Contains(text, "News") {
		t.Errorf("%d %s", status, text)
	}
}
