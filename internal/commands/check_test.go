package commands_test

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/check"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// faultySite serves a home page with a few faults.
func faultySite(t *testing.T) string {
	pages := map[string]string{
		"/":  "<title>Home</title>\n<a href=/gone>Gone</a> <a href='/b#no'>B</a>\n<img src=/gone><a href=/old>old</a> <a href=/bot>bot</a>",
		"/b": "<title>B</title><a href=/gone>again</a><b id=yes>",
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch page, ok := pages[r.URL.Path]; {
		case ok:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, page)
		case r.URL.Path == "/old":
			http.Redirect(w, r, "/b", http.StatusMovedPermanently)
		case r.URL.Path == "/bot":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestCheck checks a site from first crawl to the formats of the report, and its exit status.
func TestCheck(t *testing.T) {
	t.Parallel()
	site := faultySite(t)
	e := wefttest.Run(t, "check", "-q", "--job", "job.weft", site)
	const summary = `
2 pages, 6 links; 5 URLs: 3 ok, 1 broken, 1 unknown
`
	want := `error    404 Not Found  broken-link, on 2 pages, 3 times
         ` + site + `/gone
         on ` + site + `/ at 2:9  <a href> “Gone”
            ` + site + `/b at 1:25
error    no element has this id or name: no  missing-fragment
         ` + site + `/b#no
         on ` + site + `/ at 2:33  <a href> “B”
error    403 Forbidden: it may refuse crawlers alone  own-unknown
         ` + site + `/bot
         on ` + site + `/ at 3:45  <a href> “bot”
warning  301 Moved Permanently to ` + site + `/b  permanent-redirect
         ` + site + `/old
         on ` + site + `/ at 3:24  <a href> “old”

5 errors, 1 warning, 0 notes in 4 problems` + summary
	byPage := site + `/
      2:9  error  404 Not Found  broken-link
            ` + site + `/gone  <a href> “Gone”
      2:33  error  no element has this id or name: no  missing-fragment
            ` + site + `/b#no  <a href> “B”
      3:10  error  404 Not Found  broken-link
            ` + site + `/gone  <img src>
      3:24  warning  301 Moved Permanently to ` + site + `/b  permanent-redirect
            ` + site + `/old  <a href> “old”
      3:45  error  403 Forbidden: it may refuse crawlers alone  own-unknown
            ` + site + `/bot  <a href> “bot”

` + site + `/b
      1:25  error  404 Not Found  broken-link
            ` + site + `/gone  <a href> “again”

5 errors, 1 warning, 0 notes` + summary
	if e.Code != wefttest.Broken || e.Stderr != "" || e.Stdout != want {
		t.Errorf("%d %s\n%s\nwant\n%s", e.Code, e.Stderr, e.Stdout, want)
	}
	job := filepath.Join(e.Dir, "job.weft")
	if got := wefttest.Run(t, "check", "--sort", "page", job); unindented(got.Stdout) != unindented(byPage) {
		t.Errorf("by page: %s\nwant\n%s", got.Stdout, byPage)
	}
	if again := wefttest.Run(t, "check", "--job", job, site); !strings.Contains(again.Stderr, "is finished; weft check --update "+job+" recrawls it") {
		t.Errorf("%+v", again)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"by target":  {[]string{"--sort", "target"}, wefttest.Broken, site + "/gone\n"},
		"accepted":   {[]string{"--accept", "200..299,404", "--no-rule", "missing-fragment", "--no-rule", "own-unknown"}, wefttest.Done, "nothing is broken, 1 warning, 1 note"},
		"ignored":    {[]string{"--ignore", "/gone$", "--ignore", "#no", "--accept", "200..299,403"}, wefttest.Done, "nothing is broken"},
		"other":      {[]string{"--rules", "site"}, wefttest.Done, "nothing is broken, 1 warning, 0 notes"},
		"bad rule":   {[]string{"--rules", "x"}, wefttest.Misused, ""},
		"bad status": {[]string{"--accept", "2xx"}, wefttest.Misused, ""},
		"baseline":   {[]string{"--write-baseline", filepath.Join(e.Dir, "known")}, wefttest.Broken, "5 errors"},
		"github":     {[]string{"--format", "github"}, wefttest.Broken, "::error title=broken-link::" + site + "/:2:9: " + site + "/gone: 404 Not Found"},
		"csv":        {[]string{"--format", "csv"}, wefttest.Broken, "\nerror,broken-link,404 Not Found," + site + "/,2,9,<a href>,Gone," + site + "/gone,404,,"},
		"markdown":   {[]string{"--format", "markdown"}, wefttest.Broken, "- **error** 404 Not Found: <" + site + "/gone>, on 2 pages, 3 times (broken-link)\n  - <" + site + "/> at 2:9 in `<a href>`"},
	} {
		got := wefttest.Run(t, append([]string{"check", job}, c.args...)...)
		if got.Code != c.code || !strings.Contains(got.Stdout, c.want) {
			t.Errorf("%s: %+v, want %d %s", name, got, c.code, c.want)
		}
	}
	if got := wefttest.Run(t, "check", "-q", "--update", job); got.Code != wefttest.Broken || !strings.Contains(got.Stdout, "5 errors, 1 warning, 0 notes in 4 problems\n2 pages") {
		t.Errorf("checked again: %+v", got)
	}
	both := filepath.Join(e.Dir, "both")
	for _, baseline := range []string{filepath.Join(e.Dir, "known"), both} { // what is known stays so
		if got := wefttest.Run(t, "check", "--baseline", baseline, "--write-baseline", both, job); got.Code != wefttest.Done || !strings.Contains(got.Stdout, "6 known") {
			t.Errorf("baseline after baseline: %+v", got)
		}
	}
	if got := wefttest.Run(t, "check"); got.Code != wefttest.Misused {
		t.Errorf("nothing to check: %+v", got)
	}
	if got := wefttest.Run(t, "check", "--baseline", filepath.Join(e.Dir, "known"), job); got.Code != wefttest.Done || !strings.Contains(got.Stdout, "0 warnings, 0 notes, 6 known") {
		t.Errorf("with a baseline: %+v", got)
	}
}

// TestCheckAgain: what a check of a job leaves out of its options is as the job has it, and an
// output that cannot be written is known before the crawl.
func TestCheckAgain(t *testing.T) {
	t.Parallel()
	site := faultySite(t)
	e := wefttest.Run(t, "check", "-q", "--job", "job.weft", "--no-external", "--canon", "sort-query,drop-tracking", site)
	if e.Code != wefttest.Broken {
		t.Fatalf("%+v", e)
	}
	for args, code := range map[string]int{
		"check -q --update job.weft":              wefttest.Broken,
		"check -q --job job.weft":                 wefttest.Broken,
		"check -q --retry-failed job.weft":        wefttest.Broken,
		"check -q --scope page " + site:           wefttest.Broken,
		"check -q -o none/report.html " + site:    wefttest.Misused,
		"check -q -o . " + site:                   wefttest.Misused,
		"check -q --retry-failed none " + site:    wefttest.Misused,
		"check -q job.weft/pages.jsonl none.html": wefttest.Misused,
		"check -q --update none":                  wefttest.Misused,
		"check -q --job job.weft --depth 3":       wefttest.Misused,
		"check -q -o report.html job.weft":        wefttest.Broken,
	} {
		got := wefttest.In(t, e.Dir, strings.Fields(args)...)
		if got.Code != code || code == wefttest.Misused && got.Stderr == "" || code == wefttest.Broken && got.Stderr != "" {
			t.Errorf("weft %s: %+v, expected %d", args, got, code)
		}
	}
}

// TestCheckRefuses: options of a crawl that mean nothing beside a job or files are refused, and so
// is a job that does not exist. Those that say how to read pages are not, nor those of a file of
// options, which may be meant for a crawl.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	e := weftAmong(t, map[string][]byte{"a.html": []byte("<a href=a.html>a</a>"), "c.toml": []byte("depth = 3\n")}, "check", "a.html")
	if e.Code != wefttest.Done {
		t.Fatalf("%+v", e)
	}
	job := filepath.Join(e.Dir, "x.weft")
	line := `{"url":"http://a.test/","status":200,"content_type":"text/html"}` + "\n"
	if err := errors.Join(os.Mkdir(job, 0o777), os.WriteFile(filepath.Join(job, "pages.jsonl"), []byte(line), 0o666), os.Mkdir(filepath.Join(e.Dir, "empty.weft"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--where status==404 x.weft":          "--where: expected with --update or --retry-failed",
		"--status 404 x.weft":                 "--status: expected with --update or --retry-failed",
		"--error dns x.weft":                  "--error: expected with --update or --retry-failed",
		"--older-than 1d x.weft":              "--older-than: expected with --update or --retry-failed",
		"--depth 2 x.weft":                    "--depth: an option of a crawl",
		"--update y.weft x.weft":              `--update and "x.weft": expected one of them`,
		"-H K:V x.weft":                       "--header: an option of a crawl",
		"--depth 2 a.html":                    "--depth: expected with URLs",
		"--no-external --delay 1s a.html":     "--delay: expected without --no-external",
		"nope.weft":                           `"nope.weft": no such job, expected the folder of a job`,
		"empty.weft":                          `"empty.weft": no such job, expected the folder of a job`,
		"-A me --canon sort-query x.weft":     "",
		"-A me --delay 1s a.html":             "",
		"-q --config c.toml x.weft":           "",
		"-q --config c.toml a.html":           "",
		"--where status==404 --update y.weft": `--update "y.weft": no job`,
	} {
		got := wefttest.In(t, e.Dir, append([]string{"check"}, strings.Fields(args)...)...)
		wanted := wefttest.Misused
		if want == "" {
			wanted = wefttest.Done
		}
		if got.Code != wanted || !strings.Contains(got.Stderr, want) || wanted == wefttest.Misused && (got.Stdout != "" || strings.Count(got.Stderr, "\n") != 1) {
			t.Errorf("weft check %s: %+v, expected %d, %s", args, got, wanted, want)
		}
	}
}

// TestCheckFileSummary: when the report goes to a file, standard error has its last lines, unless
// nobody wants to read them.
func TestCheckFileSummary(t *testing.T) {
	t.Parallel()
	const page = `<a href=gone.html>a</a>`
	e := weftAmong(t, map[string][]byte{"a.html": []byte(page)}, "check", "-o", "r.csv", "a.html")
	want := "1 error, 0 warnings, 0 notes\n1 page (1 HTML), 1 link (1 to files, 0 to the Web); 0 URLs: 0 ok, 0 broken, 0 unknown\nreport: r.csv\n"
	if e.Code != wefttest.Broken || e.Stdout != "" || e.Stderr != want || e.File("r.csv") == "" {
		t.Errorf("%+v, expected %s", e, want)
	}
	for args, want := range map[string]string{
		"-q -o r.csv a.html":                 "",
		"--log-format json -o r.csv a.html":  "",
		"-o r.xyz a.html":                    "or a format: --format names one\n",
		"-q --format csv -o r.xyz -q a.html": "",
		"-o none/r.csv a.html":               "--output",
		"-o - --format csv a.html":           "",
	} {
		got := wefttest.In(t, e.Dir, append([]string{"check"}, strings.Fields(args)...)...)
		if !strings.Contains(got.Stderr, want) || want == "" && got.Stderr != "" || strings.Contains(got.Stderr, "report:") {
			t.Errorf("weft check %s: %+v, expected %s", args, got, want)
		}
	}
}

// TestCheckSitemaps: the name of a rule on sitemaps has them read; groups say that none was.
func TestCheckSitemaps(t *testing.T) {
	t.Parallel()
	var s *wefttest.Asked
	s = wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			wefttest.HTML(w)
		case "/sitemap.xml":
			w.Header().Set("Content-Type", "text/xml")
			io.WriteString(w, "<urlset><url><loc>"+s.URL+"/alone</loc></url></urlset>")
		case "/alone":
			wefttest.HTML(w)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	const unread = "\nno sitemap was read: --sitemaps reads them\n"
	for args, want := range map[string]string{
		"--rules orphan":                    "  orphan\n",
		"--rules links,orphan":              "  orphan\n",
		"--rules site --sitemaps":           "  orphan\n",
		"--rules site":                      unread,
		"--rules all,-orphan":               unread,
		"--rules orphan --sitemaps=false":   unread,
		"--rules links":                     "nothing is broken",
		"--rules orphan --limit-per-host 1": "\nno sitemap was read\n",
	} {
		e := wefttest.Run(t, append([]string{"check", "-q", "--no-rule", "soft-404", s.URL}, strings.Fields(args)...)...)
		if !strings.Contains(e.Stdout, want) || want != unread && strings.Contains(e.Stdout, unread) {
			t.Errorf("%s: %+v, expected %s", args, e, want)
		}
	}
	e := wefttest.Run(t, "crawl", "-q", "--warc", "--job", "x.weft", s.URL)
	if got := wefttest.In(t, e.Dir, "check", "--rules", "orphan", "x.weft"); !strings.Contains(got.Stdout, "\nno sitemap was read: a crawl with --sitemaps reads them\n") {
		t.Errorf("a job: %+v", got)
	}
}

// TestCheckHints: the report names options that help.
func TestCheckHints(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		io.WriteString(w, "<a href=/in>x</a><a href=http://10.0.0.1/>y</a>")
	}))
	defer s.Close()
	e := wefttest.Run(t, "check", "-q", "--rules", "unknown,own-unknown", s.URL)
	for _, want := range []string{"401 Unauthorized: it asks for a login: --auth logs in  own-unknown", "its address is not public: --allow-private lets pages lead there  unknown"} {
		if e.Code != wefttest.Broken || !strings.Contains(e.Stdout, want) {
			t.Errorf("%+v, expected %s", e, want)
		}
	}
}

// TestCheckCanon: links are those of the job, by its rules.
func TestCheckCanon(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Set("Content-Type", "text/html"); r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "<a href='/gone?b=2&a=1'>x</a>")
	}))
	defer s.Close()
	e := wefttest.Run(t, "check", "-q", "--job", "job.weft", "--canon", "sort-query", s.URL)
	for range 2 {
		if e.Code != wefttest.Broken || !strings.Contains(e.Stdout, "404 Not Found") || strings.Contains(e.Stdout, "not checked") {
			t.Errorf("%+v", e)
		}
		e = wefttest.In(t, e.Dir, "check", "job.weft")
	}
}

func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, " "))
	}
	return b.String()
}

// TestCheckFormats: what machines read is what they expect.
func TestCheckFormats(t *testing.T) {
	t.Parallel()
	site := faultySite(t)
	e := wefttest.Run(t, "check", "-q", "--job", "job.weft", "-o", "r.json", site)
	var report struct {
		Totals   check.Totals
		Findings []check.Finding
	}
	if err := json.Unmarshal([]byte(e.File("r.json")), &report); err != nil || report.Totals.Errors != 5 || len(report.Findings) != 6 || report.Findings[0].Line != 2 {
		t.Errorf("%v %+v", err, report)
	}
	for _, name := range []string{"r.sarif", "r.xml"} {
		if got := wefttest.Run(t, "check", "-o", filepath.Join(e.Dir, name), filepath.Join(e.Dir, "job.weft")); got.Code != wefttest.Broken || got.Stdout != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var sarif struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	b, _ := os.ReadFile(filepath.Join(e.Dir, "r.sarif"))
	if err := json.Unmarshal(b, &sarif); err != nil || sarif.Version != "2.1.0" || len(sarif.Runs[0].Tool.Driver.Rules) != 4 ||
		len(sarif.Runs[0].Results) != 6 || sarif.Runs[0].Results[0].Locations[0].PhysicalLocation.Region.StartColumn != 9 {
		t.Errorf("%v %s", err, b)
	}
	var suites struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	b, _ = os.ReadFile(filepath.Join(e.Dir, "r.xml"))
	if err := xml.Unmarshal(b, &suites); err != nil || suites.Suite.Tests != 7 || suites.Suite.Failures != 5 || len(suites.Suite.Cases) != 7 {
		t.Errorf("%v %s", err, b)
	}
}

// TestCheckReferrers: of a job without bodies, broken links are known by their pages.
func TestCheckReferrers(t *testing.T) {
	t.Parallel()
	site := faultySite(t)
	e := wefttest.Run(t, "crawl", "-q", "--job", "job.weft", site)
	got := wefttest.Run(t, "check", filepath.Join(e.Dir, "job.weft"))
	for _, want := range []string{" on " + site + "/\n", " " + site + "/b\n", "error    404 Not Found", "error    403", "3 errors, 1 warning, 0 notes"} {
		if got.Code != wefttest.Broken || !strings.Contains(got.Stdout, want) {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// TestCheckStrangersFiles: links of files lead where links of pages may, and get no secrets:
// whoever opens a pull request writes them.
func TestCheckStrangersFiles(t *testing.T) {
	t.Parallel()
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			got = append(got, r.URL.Path+r.Header.Get("Authorization"))
		}
	}))
	defer s.Close()
	files := map[string][]byte{"a.md": []byte("[x](" + s.URL + "/x) [mail](http://127.0.0.1:25/)\n")}
	e := weftAmong(t, files, "check", "-q", "-H", "Authorization: Bearer sesame", "a.md")
	if e.Code != wefttest.Done || len(got) > 0 || !strings.Contains(e.Stdout, "its address is not public") || !strings.Contains(e.Stdout, "1 link not checked") {
		t.Errorf("%+v, requests %q", e, got)
	}
	e = weftAmong(t, files, "check", "-q", "--job", "a.weft", "a.md")
	again := wefttest.Run(t, "check", "-q", "--update", filepath.Join(e.Dir, "a.weft"), "-H", "Authorization: Bearer sesame")
	if len(got) > 0 || !strings.Contains(again.Stdout, "its address is not public") {
		t.Errorf("checked again: %+v, requests %q", again, got)
	}
	e = weftAmong(t, files, "check", "-q", "--allow-private", "-H", "Authorization: Bearer sesame", "a.md")
	if e.Code != wefttest.Done || len(got) != 1 || got[0] != "/x" || !strings.Contains(e.Stdout, "nothing is broken, 0 warnings, 0 notes") {
		t.Errorf("%+v, requests %q", e, got)
	}
}

// TestOwnPages: nothing in the documentation of Weft is broken.
func TestOwnPages(t *testing.T) {
	t.Parallel()
	args := []string{"check", "--no-external"}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"} {
		path, err := filepath.Abs(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if e := wefttest.Run(t, args...); e.Code != wefttest.Done || !strings.Contains(e.Stdout, "nothing is broken") {
		t.Errorf("exit %d: %s%s", e.Code, e.Stdout, e.Stderr)
	}
}

// TestCheckExternalFragments: on request, fragments of pages that are not crawled are compared with
// them; each such page is requested once more, the others are not.
func TestCheckExternalFragments(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	requests := make(map[string]int)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.Method+" "+r.URL.Path]++
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/page":
			io.WriteString(w, "<h1 id=here>x</h1><h2 id=user-content-there>x</h2><a href=/never>x</a>"+strings.Repeat(" ", 100<<10)+"<p id=end>")
		case "/long":
			io.WriteString(w, strings.Repeat("<b>\n", check.ExternalBody/4+1))
		case "/image":
			w.Header().Set("Content-Type", "image/png")
		case "/sulks":
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			io.WriteString(w, strings.Repeat(" ", 100<<10)+"<p id=end>")
		}
	}))
	defer far.Close()
	links := ""
	for _, to := range []string{"/page", "/page#here", "/page#there", "/page#end", "/page#gone", "/moved#moved", "/moved#here", "/long#x", "/image#x", "/plain", "/sulks#end", "/sulks#no"} {
		links += "<a href=" + far.URL + to + ">x</a>\n"
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		io.WriteString(w, links)
	}))
	defer site.Close()
	want := []string{"5:9  error  no element has this id or name: gone", "6:9  error  no element has this id or name: moved", "12:9  error  no element has this id or name: no"}
	e := wefttest.Run(t, "check", "-q", "--sort", "page", "--external-fragments", "--job", "x.weft", site.URL)
	job := filepath.Join(e.Dir, "x.weft")
	again := wefttest.Run(t, "check", "-q", "--sort", "page", "--external-fragments", job)
	files := weftAmong(t, map[string][]byte{"a.html": []byte(links)}, "check", "-q", "--sort", "page", "--external-fragments", "--allow-private", "a.html")
	for total, got := range map[string]wefttest.Ended{"\n3 errors": e, "\n3 errors,": again, "\n4 errors": files} {
		// All of /long is read for files.
		for _, line := range append(want, total) {
			if got.Code != wefttest.Broken || !strings.Contains(got.Stdout, line) {
				t.Errorf("%d %s%s, want %s", got.Code, got.Stdout, got.Stderr, line)
			}
		}
	}
	if e := wefttest.Run(t, "check", "-q", job); e.Code != wefttest.Done {
		t.Errorf("without the option: %+v", e)
	}
	for request, n := range map[string]int{"HEAD /page": 1, "HEAD /plain": 1, "HEAD /long": 1, "GET /plain": 1, "GET /image": 1, "GET /never": 0} {
		if requests[request] != n { // a GET of each is for the file
			t.Errorf("%s: %d times, expected %d", request, requests[request], n)
		}
	}
}

// TestCheckNothing: a check of what cannot be reached is no success.
func TestCheckNothing(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer down.Close()
	e := wefttest.Run(t, "check", "-q", "--retries", "0", "--job", "x.weft", down.URL)
	if e.Code != wefttest.Failed || strings.Count(e.Stderr, "\n") != 1 || !strings.Contains(e.Stderr, "nothing was checked: no seed could be fetched") {
		t.Errorf("%+v", e)
	}
	if e := wefttest.Run(t, "check", filepath.Join(e.Dir, "x.weft")); e.Code != wefttest.Failed {
		t.Errorf("of the job: %+v", e)
	}
	if e := weftAmong(t, map[string][]byte{"a.md": []byte("no link")}, "check", "a.md"); e.Code != wefttest.Done {
		t.Errorf("%+v", e)
	}
	if e := wefttest.Run(t, "check", "docs/none.md"); e.Code != wefttest.Misused || !strings.Contains(e.Stderr, "no such file") {
		t.Errorf("of a file that is not there: %+v", e)
	}
	if e := wefttest.Run(t, "check", t.TempDir()); e.Code != wefttest.Failed {
		t.Errorf("of an empty folder: %+v", e)
	}
}

// TestCheckIgnored: what is ignored is not requested.
func TestCheckIgnored(t *testing.T) {
	asked := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<a href=/a/1></a><a href='/b#no'></a>")
	}))
	defer s.Close()
	e := wefttest.Run(t, "check", "-q", "--job", "x.weft", "--ignore", "/a/", "--ignore", "#no", "--no-rule", "soft-404", s.URL)
	close(asked)
	var all []string
	for path := range asked {
		all = append(all, path)
	}
	if e.Code != wefttest.Done || slices.Contains(all, "/a/1") || !slices.Contains(all, "/b") {
		t.Errorf("%+v, asked for %q", e, all)
	}
}

// TestCheckInterrupted: after Ctrl-C, a check reports what it has checked, as a part. With --job,
// the same command goes on where it was.
func TestCheckInterrupted(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{"kept": {"--job", "x.weft"}, "not kept": nil} {
		t.Run(name, func(t *testing.T) {
			asked, answer := make(chan bool), make(chan bool)
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					wefttest.HTML(w, "/slow", "/gone", "/a", "/b")
				case "/slow":
					if r.Method == http.MethodGet {
						asked <- true
						<-answer
					}
					wefttest.HTML(w, "/never")
				case "/a", "/b":
					wefttest.HTML(w, "/")
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			})
			args := append([]string{"check", "--per-host", "1", "--no-rule", "soft-404", "--write-baseline", "known"}, more...)
			cmd, _ := wefttest.Command(t, append(args, s.URL+"/", "-o", "report.txt")...)
			cmd.Stderr = nil
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			cmd.Env = append(cmd.Env, "TMPDIR="+temp)
			report := func() string {
				text, _ := os.ReadFile(filepath.Join(cmd.Dir, "report.txt"))
				return string(text)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-asked
			_ = cmd.Process.Signal(os.Interrupt)
			lines := bufio.NewReader(stderr)
			for line := ""; err == nil && !strings.Contains(line, "finishing"); {
				line, err = lines.ReadString('\n')
			}
			close(answer)
			printed, _ := io.ReadAll(lines)
			code := wefttest.ExitCode(cmd.Wait())
			last := "weft: interrupted: only a part was checked; "
			if more != nil {
				last += "the same command goes on; "
			}
			last += "nothing was written to \"known\"\n"
			if code != wefttest.Interrupted || !strings.HasSuffix(string(printed), last) || !strings.Contains(report(), "nothing is broken so far") ||
				!strings.Contains(report(), "\n2 pages, 5 links; ") || !strings.Contains(report(), "\nonly a part was checked: the crawl is interrupted, ") {
				t.Errorf("exit %d, printed %s, reported %s", code, printed, report())
			}
			left, _ := os.ReadDir(temp)
			if _, err := os.Stat(filepath.Join(cmd.Dir, "known")); err == nil || len(left) > 0 {
				t.Errorf("left a baseline (%v) and %v", err, left)
			}
			if more == nil {
				return
			}
			if e := wefttest.In(t, cmd.Dir, append([]string{"check", "-q", "--job", "x.weft", "-o", "report.txt"}, s.URL+"/", "--per-host", "1")...); e.Code != wefttest.Broken ||
				strings.Contains(report(), "only a part") || !strings.Contains(report(), "2 errors") || strings.Count(s.Paths()+" ", "/slow ") != 1 {
				t.Errorf("resumed: %+v, %s; requests %s", e, report(), s.Paths())
			}
		})
	}
}

// TestCheckPart: the report of a job that has more to crawl says so.
func TestCheckPart(t *testing.T) {
	t.Parallel()
	site := faultySite(t)
	e := wefttest.Run(t, "check", "-q", "--limit", "1", "--no-rule", "soft-404", "--job", "x.weft", site)
	if e.Code != wefttest.Limited || !strings.Contains(e.Stdout, "nothing is broken so far, ") || !strings.HasSuffix(e.Stdout, "only a part was checked: the crawl is stopped, 5 URLs left\n") {
		t.Errorf("%+v", e)
	}
	if e := wefttest.In(t, e.Dir, "check", "x.weft"); e.Code != wefttest.Done || !strings.Contains(e.Stdout, "the crawl is stopped, 5 URLs left") {
		t.Errorf("the job: %+v", e)
	}
	if e := wefttest.In(t, e.Dir, "check", "-q", "--job", "x.weft", site); e.Code != wefttest.Broken || strings.Contains(e.Stdout, "only a part") {
		t.Errorf("the whole: %+v", e)
	}
}

// TestCheckInterruptedWriting: a second signal ends a report that is being written, and leaves
// neither that nor the crawl behind.
func TestCheckInterruptedWriting(t *testing.T) {
	t.Parallel()
	page := "<title>x</title>" + strings.Repeat("<a href='http://['>no valid URL</a>\n", 50_000)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, page)
	})
	cmd, stderr := wefttest.Command(t, "check", "-o", "report.html", s.URL)
	temp, report := t.TempDir(), filepath.Join(cmd.Dir, "report.html")
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	if err := errors.Join(os.WriteFile(report, []byte("old"), 0o666), cmd.Start()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() { ended <- wefttest.ExitCode(cmd.Wait()) }()
	writing := func() bool {
		parts, _ := filepath.Glob(filepath.Join(cmd.Dir, ".weft-*.part"))
		return len(parts) > 0
	}
	for !writing() && len(ended) == 0 {
		runtime.Gosched()
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Process.Signal(syscall.SIGTERM) // two of a kind may count as one
	if code := <-ended; code != wefttest.Interrupted || !strings.HasSuffix(stderr.String(), "weft: interrupted: no report was written\n") || strings.Contains(stderr.String(), "finishing") {
		t.Errorf("exit %d, printed %q", code, stderr)
	}
	old, err := os.ReadFile(report)
	if left, _ := os.ReadDir(temp); string(old) != "old" || len(left) > 0 || writing() {
		t.Errorf("%.20q, %v, left %v", old, err, left)
	}
}

// TestCheckListSoft404: hosts of a list of seeds are asked how they say that a page is missing,
// once.
func TestCheckListSoft404(t *testing.T) {
	var asked atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/a" || r.URL.Path == "/b":
			io.WriteString(w, "<title>here</title><a href=/gone>x</a>"+r.URL.Path)
		default:
			if strings.Contains(r.URL.Path, "no-such-page") {
				asked.Add(1)
			}
			io.WriteString(w, "<title>sorry</title>not found")
		}
	}))
	defer site.Close()
	e := weftAmong(t, map[string][]byte{"seeds": []byte(site.URL + "/a\n" + site.URL + "/b\n")}, "check", "-q", "-i", "seeds")
	if e.Code != wefttest.Done || !strings.Contains(e.Stdout, "soft-404, on 2 pages") || asked.Load() != 1 {
		t.Errorf("%d requests: %+v", asked.Load(), e)
	}
}
