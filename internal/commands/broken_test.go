package commands_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// faulty is a site with planted faults.
func faulty(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/":
		wefttest.HTML(w, "/docs/", "/team", "/crash", "/loop", "/secret/plans", "/broken-off", "/moved")
	case path == "/docs/":
		var pages []string
		for i := range 57 {
			pages = append(pages, fmt.Sprintf("/docs/chapter-%02d", i+1))
		}
		wefttest.HTML(w, append(pages, "/")...)
	case path == "/team":
		wefttest.HTML(w, "/team/ada", "/team/bob?tab=cv", "http://127.0.0.1:2/", "/packed", "/nowhere", "/crash", "/docs/chapter-01")
	case path == "/team/ada":
		w.WriteHeader(http.StatusGone)
	case path == "/crash":
		w.WriteHeader(http.StatusInternalServerError)
	case path == "/loop":
		http.Redirect(w, r, "/loop/"+r.URL.Query().Get("n"), http.StatusFound)
	case strings.HasPrefix(path, "/loop"):
		http.Redirect(w, r, path+"1", http.StatusFound)
	case path == "/moved":
		http.Redirect(w, r, "/gone-since", http.StatusMovedPermanently)
	case path == "/nowhere":
		http.Redirect(w, r, "mailto:ada@example.org", http.StatusFound)
	case path == "/packed":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, "<title>Not compressed at all</title>")
	case path == "/broken-off":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "<title>Only the beginning</title>")
	default:
		http.NotFound(w, r)
	}
}

// plantedFaults crawls a site with planted faults, and returns what the command printed with the
// site as example.org, and times and sizes as N.
func plantedFaults(t *testing.T) (e wefttest.Ended, printed func(string) string) {
	s := wefttest.NewAsked(t, false, faulty)
	e = wefttest.Run(t, "crawl", "--job", "example.org.weft", "--scope", "any", "--retries", "0", "-c", "1", s.URL)
	e.Stderr, _ = strings.CutPrefix(e.Stderr, "weft: ")
	clean := regexp.MustCompile(`[0-9.]+ m?s\b|[0-9,.]+/s|[0-9.]+ k?B|(?m)^ +slowest.*\n( {18,}[0-9].*\n)*`)
	return e, func(text string) string {
		return clean.ReplaceAllStringFunc(strings.ReplaceAll(text, s.URL, "http://example.org"), func(m string) string {
			if strings.Contains(m, "slowest") {
				return ""
			}
			return "N"
		})
	}
}

// TestReportOfFaults: from the report alone one can say what is broken on a site, and where.
func TestReportOfFaults(t *testing.T) {
	t.Parallel()
	e, clean := plantedFaults(t)
	if e.Code != wefttest.Done {
		t.Errorf("exit %d", e.Code)
	}
	golden.Equal(t, "testdata/report-faults.txt", clean(e.Stderr))
}

// TestURLsOfFaults: weft urls lists what the report leaves out.
func TestURLsOfFaults(t *testing.T) {
	t.Parallel()
	e, clean := plantedFaults(t)
	list := func(args ...string) string {
		t.Helper()
		l := wefttest.In(t, e.Dir, append([]string{"urls", "example.org.weft"}, args...)...)
		if l.Code != wefttest.Done || l.Stderr != "" {
			t.Errorf("%q: exit %d, %s", args, l.Code, l.Stderr)
		}
		return clean(l.Stdout)
	}
	missing, all := list("--status", "404"), list()
	if n := strings.Count(missing, "from http://example.org/docs/\n"); n != 57 || strings.Count(missing, "\n") != 60 {
		t.Errorf("%d chapters are missing: %s", n, missing)
	}
	if n := strings.Count(e.File("example.org.weft/pages.jsonl"), "\n"); strings.Count(all, "\n") != n || !strings.Contains(all, "200          http://example.org/team\n") {
		t.Errorf("%d records, and listed\n%s", n, all)
	}
	for args, want := range map[string]string{
		"--status 500-599":                                   "500          http://example.org/crash  from http://example.org/\n",
		"--status 410 --only-urls":                           "http://example.org/team/ada\n",
		"--error connect":                                    "connect      http://127.0.0.1:2/  from http://example.org/team\n",
		"--status 4xx --error connect":                       "",
		"--status 410,500..599":                              "500          http://example.org/crash  from http://example.org/\n410          http://example.org/team/ada  from http://example.org/team\n",
		"--where status==410":                                "410          http://example.org/team/ada  from http://example.org/team\n",
		"--only-urls --where depth>0&&host!=''&&status==410": "http://example.org/team/ada\n",
		"--state pending":                                    "",
	} {
		if got := list(strings.Fields(args)...); got != want {
			t.Errorf("%s: %q, expected %q", args, got, want)
		}
	}
	if got := list("--status", "4xx"); strings.Count(got, "\n") != strings.Count(missing, "\n")+1 {
		t.Errorf("4xx: %s", got)
	}
	for _, args := range []string{"--status 40", "--status xx", "--status 500-400", "--status many", "--status 404,", "--status 4...5", "--error 404", "--where status=404", "--where foo>1"} {
		l := wefttest.In(t, e.Dir, append([]string{"urls", "example.org.weft"}, strings.Fields(args)...)...)
		if l.Code != wefttest.Misused || !strings.Contains(l.Stderr, "expected") {
			t.Errorf("%s: %+v", args, l)
		}
	}
}
