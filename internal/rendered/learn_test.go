package rendered_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// row is a site of n pages, each of which leads to the next, the last one to the first. head and
// body are those of a page.
func row(n int, head, body string) map[string]string {
	pages := make(map[string]string)
	for i := range n {
		pages[fmt.Sprint("/", i)] = fmt.Sprintf("text/html\n<!doctype html><title>%d</title>%s<nav><a href=/%d>next</a></nav>%s", i, head, (i+1)%n, body)
	}
	return pages
}

// fateOfEach returns a letter for the fate of each page of a row: that of its Reason, a capital if
// it has gained nothing, e for one that failed, - for one that is not rendered, . for one that
// would be, but for what others have shown.
func fateOfEach(t *testing.T, of map[string]*weft.Record, n int) string {
	t.Helper()
	all := make([]byte, n)
	for i := range all {
		r := of[fmt.Sprint("/", i)]
		switch {
		case r == nil:
			t.Fatalf("/%d: no record", i)
		case r.Rendered == nil:
			all[i] = '-'
		case r.Rendered.Error != "":
			all[i] = 'e'
		case r.Rendered.AsReceived == "learned":
			all[i] = '.'
		case r.Rendered.AsReceived != "":
			all[i] = strings.ToUpper(r.Rendered.Reason)[0]
		default:
			all[i] = r.Rendered.Reason[0]
		}
	}
	return string(all)
}

// learns crawls a row of n pages and expects their fates. It returns the run and the records.
func learns(t *testing.T, n int, pages map[string]string, want string, options ...string) (wefttest.Ended, map[string]*weft.Record) {
	t.Helper()
	s := wefttest.Shows(t, pages)
	e := wefttest.Crawl(t, wefttest.Done, append(options, "--render", "--job", "job", s.URL+"/0")...)
	all := s.Records(t, filepath.Join(e.Dir, "job"))
	if got := fateOfEach(t, all, n); got != want {
		t.Errorf("pages are rendered as %s, expected %s", got, want)
	}
	return e, all
}

const hollow = "<script src=/nothing.js></script><div id=root></div>"

// TestCrawlLearnsEmpty: when pages that look empty gain nothing from their scripts, the next ones
// like them are not rendered, but for one now and then; the job keeps that for its next run.
func TestCrawlLearnsEmpty(t *testing.T) {
	t.Parallel()
	pages := row(24, hollow, "")
	pages["/nothing.js"] = "text/javascript\n1"
	s := wefttest.Shows(t, pages)
	e := wefttest.Crawl(t, wefttest.Limited, "--render", "--limit", "6", "--job", "job", s.URL+"/0")
	if e := wefttest.In(t, e.Dir, "crawl", "--limit", "100", "--job", "job"); e.Code != wefttest.Done {
		t.Fatalf("resumed: %s", e.Stderr)
	}
	all := s.Records(t, filepath.Join(e.Dir, "job"))
	// In the next run, the pages since the last one that was rendered are counted anew.
	if got, want := fateOfEach(t, all, 24), "MMM..."+".......M"+".........."; got != want {
		t.Errorf("pages are rendered as %s, expected %s", got, want)
	}
	if r := all["/4"]; r.Rendered.AsReceived != "learned" || r.NeedsScripts != "" || r.Title != "4" {
		t.Errorf("%+v", r.Rendered)
	}
	if status := wefttest.In(t, e.Dir, "status", "job").Stdout; strings.Contains(status, "empty without scripts") {
		t.Errorf("status: %s", status)
	}
	why := wefttest.In(t, e.Dir, "why", "job", s.URL+"/4").Stdout
	if !strings.Contains(why, "not rendered (it looks empty without scripts: mount): rendering has added nothing to pages like it") {
		t.Errorf("why: %s", why)
	}
}

// TestCrawlLearnsFull: when scripts add most links to a sample of pages that show a text, the next
// ones like it are rendered.
func TestCrawlLearnsFull(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("A text that is long enough for a page. ", 20) + "<div id=list></div>"
	pages := row(14, "<script src=/list.js defer></script>", text)
	pages["/list.js"] = "text/javascript\nfor (const c of 'abcde') list.innerHTML += `<a href='${location.pathname}${c}'>x</a> `"
	for i := range 14 {
		for _, c := range "abcde" {
			pages[fmt.Sprintf("/%d%c", i, c)] = "text/html\n<title>leaf</title>A leaf."
		}
	}
	e, all := learns(t, 14, pages, "-------sllllll")
	if all["/6a"] != nil || all["/7e"] == nil || all["/13a"] == nil {
		t.Error("the links of scripts")
	}
	for page, want := range map[string]string{
		"/3": "auto: not rendered", "/7": "rendered (as a sample of pages like it)", "/9": "rendered (scripts add much to pages like it)",
	} {
		url := strings.TrimSuffix(all["/0"].URL, "/0") + page
		if why := wefttest.In(t, e.Dir, "why", "job", url).Stdout; !strings.Contains(why, want) {
			t.Errorf("why %s: %s", page, why)
		}
	}
}

// TestCrawlSamples: a sample to which scripts add nothing counts as it was received, whatever they
// have made of it, and the others of its shape are not rendered.
func TestCrawlSamples(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("A text that is long enough for a page. ", 20) + "<script src=/clear.js></script>"
	pages := row(14, "", text)
	pages["/clear.js"] = "text/javascript\ndocument.body.innerHTML = 'Please sign in'"
	_, all := learns(t, 14, pages, "-------S------")
	if r := all["/7"]; r.Rendered.AsReceived != "same" || r.Words < 100 || r.Links != 1 {
		t.Errorf("%d words, %d links, %+v", r.Words, r.Links, r.Rendered)
	}
}

// TestCrawlLearnsNothing: Weft goes on rendering a shape although its pages fail, lack a response,
// or lead elsewhere.
func TestCrawlLearnsNothing(t *testing.T) {
	t.Parallel()
	learns(t, 8, row(8, hollow, ""), "MMMMMMMM") // the script is missing
	_, all := learns(t, 8, row(8, "", "<script>location.href = '/to' + location.pathname</script>"), "nnnnnnnn")
	if all["/to/7"] == nil {
		t.Error("a page to which a script leads")
	}
	if long.Enabled() {
		learns(t, 5, row(5, "<div id=root></div><script>for (;;);</script>", ""), "eeeee")
	}
}
