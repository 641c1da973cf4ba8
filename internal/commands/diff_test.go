package commands_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestDiff: what the command says of two visits, with which exit status, and of what it cannot
// compare.
func TestDiff(t *testing.T) {
	t.Parallel()
	var visit atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>Boats</title><p>The %s boat is ours.", []string{"red", "blue", "blue"}[visit.Load()])
	}))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	wefttest.In(t, dir, "crawl", "-q", "--bodies", "--job", "job", site.URL)
	once := wefttest.In(t, dir, "diff", "job")
	if once.Code != wefttest.Misused || !strings.Contains(once.Stderr, "1 visit, expected two: weft crawl --update") {
		t.Errorf("one visit: %d %s", once.Code, once.Stderr)
	}
	for range 2 {
		visit.Add(1)
		wefttest.In(t, dir, "crawl", "-q", "--update", "job")
	}
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("no archive\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"job":                                              "0 1 unchanged",
		"--visits 1..2 job":                                "0 The [-red-] {+blue+} boat is ours.",
		"--visits 1..2 --exit-code job":                    "2 1 changed",
		"--exit-code job":                                  "0 job: visit 2 and visit 3",
		"--visits 1..2 --include ^http job":                "0 1 changed",
		"--visits 1..2 --include /none job":                "0 no page",
		"--visits 1..2 --exclude /$ job":                   "0 no page",
		"--include ( job":                                  "3 expected a regular expression",
		"--from notes.txt --exclude x":                     "3 without --visits",
		"--visits 1..2 --json job":                         `0 {"op":"old","text":"red"}`,
		"--visits 1..2 --format markdown job":              "0 ~~red~~ **blue**",
		"--visits 1..2 --format mail --to a@b.example job": "0 To: <a@b.example>",
		"--visits 1..4 job":                                "3 the job has had 3 visits",
		"--visits 2..1 job":                                "3 such as 2..5",
		"--visits 1..2 job job":                            "3 expected with one JOB",
		"--to a@b.example job":                             "3 expected with --format mail",
		"--format mail --to nobody job":                    "3 expected an address",
		"--json --format html job":                         "3 expected one of them",
		"-o report.doc job":                                "3 --format names one",
		"--from notes.txt":                                 "1 notes.txt",
		"--from nowhere.json":                              "3 no such file",
		"--from notes.txt job":                             "3 expected one of them",
		"nowhere.weft":                                     "3 no such file",
		"notes.txt":                                        "3 one archive, expected a second one",
		"job notes.txt":                                    "1 notes.txt: ",
		"":                                                 "3 nothing given",
	} {
		got := wefttest.In(t, dir, append([]string{"diff"}, strings.Fields(args)...)...)
		code, part, _ := strings.Cut(want, " ")
		if fmt.Sprint(got.Code) != code || !strings.Contains(got.Stdout+got.Stderr, part) {
			t.Errorf("weft diff %s: %d, expected %s\n%s%s", args, got.Code, want, got.Stdout, got.Stderr)
		}
	}
	wefttest.In(t, dir, "diff", "--visits", "1..2", "job", "-o", "changes.json")
	if got := wefttest.In(t, dir, "diff", "--from", "changes.json", "-o", "changes.html", "--exit-code"); got.Code != wefttest.Broken {
		t.Errorf("--from: %d %s", got.Code, got.Stderr)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "changes.html")); err != nil || !strings.Contains(string(page), "<del>red</del> <ins>blue</ins>") {
		t.Errorf("changes.html: %v %s", err, page)
	}
}
