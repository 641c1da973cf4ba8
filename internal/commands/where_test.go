package commands_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/record"
)

// conditionsOfPage returns the conditions that docs/jobs.md shows.
func conditionsOfPage(t *testing.T) (all []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Conditions")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if strings.HasPrefix(line, "| `") {
			line = strings.Join(cells[:len(cells)-2], "|") // a condition may have bars
		}
		for _, span := range regexp.MustCompile("`[^`]+`").FindAllString(line, -1) {
			if span = strings.Trim(span, "`"); strings.ContainsAny(span, " (") && !strings.HasPrefix(span, "weft ") {
				all = append(all, span)
			}
		}
	}
	if len(all) < 18 {
		t.Fatalf("%d conditions, expected some 18: %q", len(all), all)
	}
	return all
}

// TestConditions: each condition of docs/jobs.md, and each field of a record, holds for the same
// URLs in weft urls and weft export, and weft read takes it.
func TestConditions(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/sitemap.xml":
			fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/7</loc></url></urlset>`, r.Host)
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<title>About us</title><meta name=robots content=noindex><a href=/1>1</a> <a href=/lost?x>2</a><p>`, strings.Repeat("Words of a page. ", 30))
		case strings.HasPrefix(r.URL.Path, "/lost"):
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<title>A page</title><p>`, strings.Repeat("The same on two pages. ", 30))
		}
	})
	e := wefttest.Run(t, "crawl", "-q", "--sitemaps", "--warc", "--job", "job", s.URL+"/")
	if e.Code != wefttest.Done {
		t.Fatalf("%+v", e)
	}
	found := func(args ...string) string {
		t.Helper()
		l := wefttest.In(t, e.Dir, args...)
		if l.Code != wefttest.Done || l.Stderr != "" {
			t.Errorf("%q: exit %d, %s", args, l.Code, l.Stderr)
		}
		all := strings.Split(strings.TrimPrefix(l.Stdout, "url\n"), "\n")
		slices.Sort(all)
		return strings.TrimSpace(strings.ReplaceAll(strings.Join(all, " "), s.URL, ""))
	}
	conditions := conditionsOfPage(t)
	const last = `robots != [] or sitemap != ""`
	for i := 0; i < len(record.Columns()); i += 9 { // each field equals itself
		var equal []string
		for _, name := range record.Columns()[i:min(i+9, len(record.Columns()))] {
			equal = append(equal, name+" == "+name)
		}
		conditions = append(conditions, strings.Join(equal, " && "))
	}
	for _, c := range append(conditions, last) {
		listed := found("urls", "--only-urls", "--where", c, "job")
		if exported := found("export", "job", "-o", "-", "--format", "csv", "--fields", "url", "--where", c); listed != exported {
			t.Errorf("%s: weft urls lists %s, weft export %s", c, listed, exported)
		}
		l := wefttest.In(t, e.Dir, "read", "job", "-o", "-", "--where", c)
		if empty := strings.Contains(l.Stderr, "no page"); l.Code != wefttest.Done && !empty {
			t.Errorf("weft read --where %q: %+v", c, l)
		}
		switch want := map[string]string{
			`status in [404, 410]`: "/lost?x", `url contains "?"`: "/lost?x", `lower(title) startsWith "about"`: "/", `"noindex" in robots`: "/",
			`url matches "/[0-9]+$"`: "/1 /7", `sitemap in ["urlset", "index"]`: "/sitemap.xml", last: "/ /sitemap.xml",
		}[c]; {
		case want != "" && listed != want:
			t.Errorf("%s: %s, expected %s", c, listed, want)
		case strings.Contains(c, "robots == robots") && strings.Count(listed, " ") != 4:
			t.Errorf("%s: %s", c, listed)
		}
	}
	if got := found("urls", "--only-urls", "--where", `as_sitemap && sitemap != "" && state == "done"`, "job"); got != "/sitemap.xml" {
		t.Errorf("fields of both: %s", got)
	}
	l := wefttest.In(t, e.Dir, "urls", "--cluster", "nats://127.0.0.1:1", "--name", "x", "--where", `title == ""`)
	if l.Code != wefttest.Misused || !strings.Contains(l.Stderr, "--where: unknown field title, expected") {
		t.Errorf("a crawl on several machines: %+v", l)
	}
}

// TestConditionsOfVisits: a condition of weft urls is over the last record of a URL; one that waits
// has none.
func TestConditionsOfVisits(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" && r.URL.Path == "/" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"1"`)
		wefttest.HTML(w, "/a", "/b")
	})
	e := wefttest.Run(t, "crawl", "-q", "--job", "job", "--limit", "1", s.URL+"/")
	for _, c := range []struct{ condition, want string }{
		{`body_bytes > 0`, s.URL + "/\n"}, {`body_bytes == 0`, s.URL + "/a\n" + s.URL + "/b\n"}, {`body_bytes == 0 && state != "pending"`, ""},
	} {
		if l := wefttest.In(t, e.Dir, "urls", "--only-urls", "--where", c.condition, "job"); l.Stdout != c.want || l.Code != wefttest.Done {
			t.Errorf("%s: %+v", c.condition, l)
		}
	}
	wefttest.In(t, e.Dir, "crawl", "-q", "--job", "job")
	wefttest.In(t, e.Dir, "crawl", "-q", "--update", "job")
	if l := wefttest.In(t, e.Dir, "urls", "--only-urls", "--where", `unchanged_by == "not-modified" && visit == 2`, "job"); l.Stdout != s.URL+"/\n" {
		t.Errorf("the second visit: %+v", l)
	}
}
