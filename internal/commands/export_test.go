package commands_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// exportedJob is a job of two visits with links: a page that changes, one that does not, one that
// is gone, a redirect, and a link that leads nowhere.
func exportedJob(t *testing.T) (dir, site string) {
	t.Helper()
	var visit atomic.Int32
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, "<title>=1+1, \"home\"</title><p>visit %d<a href=/same>1</a><a href=/moved>2</a><a href=/lost>3</a>", visit.Load())
			if visit.Load() == 1 {
				fmt.Fprint(w, "<a href=/gone>4</a>")
			}
		case "/same":
			w.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, "<title>Same, ü\n👍</title><a href=/>home</a><a href=/lost>lost</a>")
		case "/moved":
			http.Redirect(w, r, "/same", http.StatusFound)
		case "/gone":
			if visit.Load() > 1 {
				w.WriteHeader(http.StatusGone)
				return
			}
			fmt.Fprint(w, "<title>here</title>")
		default:
			http.NotFound(w, r)
		}
	})
	visit.Store(1)
	dir = wefttest.Crawl(t, wefttest.Done, "--links", "--job", "job", s.URL).Dir
	visit.Store(2)
	if e := wefttest.In(t, dir, "crawl", "--update", "job"); e.Code != wefttest.Done {
		t.Fatalf("exit %d, %s", e.Code, e.Stderr)
	}
	return dir, s.URL
}

// reader runs another program on what was exported, and skips the test without it.
func reader(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s (Debian package %[1]s)", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestExport: the readers of other people find in each format what the job knows.
func TestExport(t *testing.T) {
	t.Parallel()
	dir, site := exportedJob(t)
	export := func(file string, args ...string) string {
		t.Helper()
		e := wefttest.In(t, dir, append([]string{"export", "job", "-o", file}, args...)...)
		if e.Code != wefttest.Done || e.Stderr != "" {
			t.Errorf("export %s %q: exit %d, %s", file, args, e.Code, e.Stderr)
		}
		return strings.ReplaceAll(e.Stdout, site, "")
	}
	t.Run("csv", func(t *testing.T) {
		export("pages.csv", "--fields", "url,status,title")
		got := reader(t, dir, "python3", "-c", `import csv
for r in sorted(csv.DictReader(open("pages.csv", newline="", encoding="utf-8")), key=lambda r: r["url"]):
    print(r["url"].split("/")[3], r["status"], ascii(r["title"]))`)
		if want := " 200 '\\'=1+1, \"home\"'\ngone 410 ''\nlost 404 ''\nmoved 302 ''\nsame 304 'Same, \\xfc \\U0001f44d'\n"; got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	})
	t.Run("sqlite", func(t *testing.T) {
		export("site.sqlite")
		export("site.sqlite") // over the first
		for query, want := range map[string]string{
			"PRAGMA integrity_check": "ok\n",
			"SELECT status, typeof(status), title, typeof(total_ms), change FROM pages WHERE status = 304":     "304|integer|Same, ü 👍|real|unchanged\n",
			"SELECT count(*), min(julianday(started)) > 2461000 FROM pages":                                    "5|1\n",
			"SELECT replace(\"from\", rtrim(\"from\", 'same'), ''), text, status FROM broken_links ORDER BY 2": "|3|404\nsame|lost|404\n",
			"SELECT count(*) FROM links":                                              "5\n",
			"SELECT status FROM redirects":                                            "302\n",
			"SELECT status FROM errors ORDER BY 1":                                    "404\n410\n",
			"SELECT count(*) FROM slow":                                               "0\n",
			"SELECT count(*) FROM duplicates":                                         "0\n",
			"SELECT host, pages, errors FROM by_host":                                 "127.0.0.1|5|2\n",
			"SELECT done FROM hosts":                                                  "5\n",
			"EXPLAIN QUERY PLAN SELECT * FROM pages WHERE url = 'x'":                  "QUERY PLAN\n`--SEARCH pages USING INDEX pages_url (url=?)\n",
			"SELECT count(*) FROM sqlite_master WHERE type = 'index'":                 "9\n",
			"SELECT typeof(title), typeof(error), pruned FROM pages WHERE status=410": "null|null|0\n",
		} {
			if got := reader(t, dir, "sqlite3", "site.sqlite", query); got != want {
				t.Errorf("%s: %q, expected %q", query, got, want)
			}
		}
	})
	t.Run("sqlite of a few fields", func(t *testing.T) {
		export("few.db", "--fields", "url,status", "--where", "status >= 400")
		if got := reader(t, dir, "sqlite3", "few.db", "SELECT status FROM pages ORDER BY 1"); got != "404\n410\n" {
			t.Error(got)
		}
	})
	t.Run("edges", func(t *testing.T) {
		if got, want := export("-", "--format", "edges"), "/\t/same\n/\t/moved\n/\t/lost\n"; !strings.Contains(got, want) || strings.Contains(got, "/gone") || strings.Count(got, "\n") != 5 {
			t.Errorf("%q, expected %q", got, want)
		}
	})
	t.Run("graphml", func(t *testing.T) {
		export("site.graphml")
		got := reader(t, dir, "python3", "-c", `import xml.etree.ElementTree as t
ns = "{http://graphml.graphdrawing.org/xmlns}"
g = t.parse("site.graphml").getroot().find(ns + "graph")
nodes = {n.get("id") for n in g.iter(ns + "node")}
edges = [(e.get("source"), e.get("target")) for e in g.iter(ns + "edge")]
print(len(nodes), len(edges), all(a in nodes and b in nodes for a, b in edges))`)
		if got != "5 5 True\n" {
			t.Error(got)
		}
	})
	t.Run("jsonl", func(t *testing.T) {
		if got := export("-", "--table", "errors", "--fields", "url,status", "--where", "status == 410"); got != `{"url":"/gone","status":410}`+"\n" {
			t.Error(got)
		}
		if got := export("-", "--visit", "1", "--format", "csv", "--fields", "status", "--where", `url endsWith "/gone"`); got != "status\n200\n" {
			t.Error(got)
		}
		if got := export("-", "--state", "unchanged", "--fields", "status"); got != `{"status":302}`+"\n"+`{"status":404}`+"\n"+`{"status":304}`+"\n" && strings.Count(got, "\n") < 2 {
			t.Error(got)
		}
		if got := export("-", "--table", "hosts", "--format", "csv", "--fields", "host,done"); got != "host,done\n127.0.0.1,5\n" {
			t.Error(got)
		}
		if got := export("-", "--state", "pending"); got != "" {
			t.Error(got)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "*part-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestExportMistakes: each is said in a line, and FILE stays as it was.
func TestExportMistakes(t *testing.T) {
	t.Parallel()
	dir := wefttest.Crawl(t, wefttest.Done, "--job", "job", wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w) }).URL).Dir
	if err := os.WriteFile(filepath.Join(dir, "old.graphml"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"job":                                         `3: weft: no --output, expected the FILE to write`,
		"job -o a.xls":                                `3: weft: --output "a.xls": no known ending, expected --format with one of csv, jsonl,`,
		"job -o a.csv --format xls":                   `3: weft: --format "xls": expected one of csv, jsonl,`,
		"job -o a.csv --fields ur":                    `3: weft: --fields "ur": unknown field: did you mean url?`,
		"job -o a.csv --fields url,":                  `3: weft: --fields "url,": expected names of fields`,
		"job -o a.csv --where statu==1":               `3: weft: --where "statu==1": unknown field statu: did you mean status?`,
		"job -o a.csv --where status":                 `3: weft: --where "status": expected bool, but got int64`,
		"job -o a.csv --visit 0":                      `3: weft: --visit "0": expected the number of a visit`,
		"job -o a.db --table links":                   `3: weft: --table "links": expected no table, as sqlite has its own`,
		"job -o - --format sqlite":                    `3: weft: --output "-": no regular file, expected one for sqlite`,
		"job -o job/pages.jsonl":                      `3: weft: --output "job/pages.jsonl": the job's own records`,
		"none -o a.csv":                               `3: weft: "none": no job`,
		"job -o old.graphml":                          `1: weft: job: the job has no links, expected a job of weft crawl --links`,
		"job -o a.csv --table links":                  `1: weft: job: the job has no links`,
		"job -o none/a.csv":                           `1: weft: --output "none/a.csv": no such file or directory`,
		"job -o /dev/full --format csv":               `1: weft: `,
		"job -o /dev/full --format edges":             `1: weft: `,
		"job -o a.csv --where split(url,'x')[9]==url": `1: weft: --where "split(url,'x')[9]==url": index out of range`,
	} {
		e := wefttest.In(t, dir, append([]string{"export"}, strings.Fields(args)...)...)
		if got := fmt.Sprintf("%d: %s", e.Code, e.Stderr); !strings.HasPrefix(got, want) || strings.Count(e.Stderr, "\n") != 1 || e.Stdout != "" {
			t.Errorf("%s: %s, expected %s", args, got, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if old, err := os.ReadFile(filepath.Join(dir, "old.graphml")); string(old) != "old" {
		t.Errorf("%q, %v", old, err)
	}
}

// TestExportPipe: a reader that leaves, such as head, is no mistake.
func TestExportPipe(t *testing.T) {
	t.Parallel()
	dir := wefttest.Crawl(t, wefttest.Done, "--job", "job", wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w) }).URL).Dir
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	cmd, stderr := wefttest.Command(t, "export", "job", "-o", "-")
	cmd.Dir, cmd.Stdout = dir, in
	if err := cmd.Run(); err == nil || stderr.String() != "" { // ended by SIGPIPE, as a shell expects
		t.Errorf("%v, %s", err, stderr)
	}
}

// TestExportInterrupted: Ctrl-C, kill and a terminal that closes leave FILE as it was, and nothing
// beside it.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	dir := wefttest.Crawl(t, wefttest.Done, "--job", "job", wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w) }).URL).Dir
	pages, err := os.OpenFile(filepath.Join(dir, "job/pages.jsonl"), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(pages)
	for i := range 200_000 { // seconds of work
		fmt.Fprintf(w, `{"url":"http://a.test/%d","depth":1,"tries":1,"status":200,"title":"a title","started":"2026-11-01T00:00:00Z"}`+"\n", i)
	}
	if err := errors.Join(w.Flush(), pages.Close()); err != nil {
		t.Fatal(err)
	}
	for file, sig := range map[string]os.Signal{"a.csv": os.Interrupt, "a.sqlite": syscall.SIGTERM, "a.parquet": syscall.SIGHUP} {
		if sig == syscall.SIGHUP && signal.Ignored(syscall.SIGHUP) {
			t.Logf("%v: not tried, as it is ignored around here, as by nohup", sig)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := wefttest.Command(t, "export", "job", "-o", file)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		beside := func() []string {
			left, _ := filepath.Glob(filepath.Join(dir, ".weft-*"))
			return left
		}
		ended := make(chan int, 1)
		go func() { ended <- wefttest.ExitCode(cmd.Wait()) }()
		for len(beside()) == 0 && len(ended) == 0 {
			runtime.Gosched()
		}
		_ = cmd.Process.Signal(sig)
		code := <-ended
		if want := fmt.Sprintf("weft: interrupted: nothing was written to %q\n", file); code != wefttest.Interrupted || stderr.String() != want {
			t.Errorf("%s: exit %d, %q, expected %d, %q", file, code, stderr, wefttest.Interrupted, want)
		}
		old, err := os.ReadFile(filepath.Join(dir, file))
		if left := beside(); string(old) != "old" || len(left) > 0 {
			t.Errorf("%s: %.20q, %v, beside it %v", file, old, err, left)
		}
	}
}

// TestExportCollected: a folder of weft cluster collect is exported like the job, but for what only
// a state or referrers have. The commands that are named where it is refused take it.
func TestExportCollected(t *testing.T) {
	t.Parallel()
	dir := wefttest.Crawl(t, wefttest.Done, "--links", "--warc", "--bodies", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL).Dir
	run := func(code int, line string) wefttest.Ended {
		t.Helper()
		e := wefttest.In(t, dir, strings.Fields(line)...)
		if e.Code != code {
			t.Errorf("%s: exit %d, %s", line, e.Code, e.Stderr)
		}
		return e
	}
	run(wefttest.Done, "cluster collect -o all job")
	for _, what := range []string{
		"--format csv", "--format jsonl", "--format csv --table links", "--format jsonl --table redirects", "--format csv --table errors",
		"--format graphml", "--format edges", "--state done", "--where depth==1 --fields url",
	} {
		want, got := run(wefttest.Done, "export job -o - "+what).Stdout, run(wefttest.Done, "export all -o - "+what).Stdout
		// It has no referrers.
		want = strings.NewReplacer(`,"links_in":1`, "", ",done,1\n", ",done,\n").Replace(want)
		if strings.ReplaceAll(got, "n1-", "") != want { // the names of archives
			t.Errorf("%s: %q, expected %q", what, got, want)
		}
	}
	run(wefttest.Done, "export all -o all.parquet")
	run(wefttest.Done, "export all -o all.sqlite")
	if got := reader(t, dir, "sqlite3", "all.sqlite", "SELECT count(*), (SELECT count(*) FROM links), (SELECT count(*) FROM hosts) FROM pages"); got != "4|3|0\n" {
		t.Error(got)
	}
	for _, what := range []string{"--table hosts", "--state pending", "--state leased"} {
		if e := run(wefttest.Failed, "export all -o - "+what); e.Stderr != "weft: all: has results and no state, expected the folder that a crawl was made in\n" {
			t.Errorf("%s: %s", what, e.Stderr)
		}
	}
	for _, line := range []string{"read -o texts all", "check all", "extract --extract page=body all", "mirror --from all -o copy", "wacz all -o all.wacz"} {
		run(wefttest.Done, line)
	}
}
