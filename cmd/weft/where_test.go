package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/record"
)

// conditionsOfPage returns the conditions that docs/jobs.md shows.
func conditionsOfPage(t *testing.T) (all []string) {
	t.Helper()
	_, section, _ := strings.Cut(readPage(t, "../../docs/jobs.md"), "## Conditions")
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
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
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
	e := weftRun(t, "crawl", "-q", "--sitemaps", "--warc", "--job", "job", s.URL+"/")
	if e.code != exitDone {
		t.Fatalf("%+v", e)
	}
	found := func(args ...string) string {
		t.Helper()
		l := weftIn(t, e.dir, args...)
		if l.code != exitDone || l.stderr != "" {
			t.Errorf("%q: exit %d, %s", args, l.code, l.stderr)
		}
		all := strings.Split(strings.TrimPrefix(l.stdout, "url\n"), "\n")
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
		l := weftIn(t, e.dir, "read", "job", "-o", "-", "--where", c)
		if empty := strings.Contains(l.stderr, "no page"); l.code != exitDone && !empty {
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
	l := weftIn(t, e.dir, "urls", "--cluster", "nats://127.0.0.1:1", "--name", "x", "--where", `title == ""`)
	if l.code != exitUsage || !strings.Contains(l.stderr, "--where: unknown field title, expected") {
		t.Errorf("a crawl on several machines: %+v", l)
	}
}

// TestConditionsOfVisits: a condition of weft urls is over the last record of a URL; one that waits
// has none.
func TestConditionsOfVisits(t *testing.T) {
	t.Parallel()
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" && r.URL.Path == "/" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"1"`)
		html(w, "/a", "/b")
	})
	e := weftRun(t, "crawl", "-q", "--job", "job", "--limit", "1", s.URL+"/")
	for _, c := range []struct{ condition, want string }{
		{`body_bytes > 0`, s.URL + "/\n"}, {`body_bytes == 0`, s.URL + "/a\n" + s.URL + "/b\n"}, {`body_bytes == 0 && state != "pending"`, ""},
	} {
		if l := weftIn(t, e.dir, "urls", "--only-urls", "--where", c.condition, "job"); l.stdout != c.want || l.code != exitDone {
			t.Errorf("%s: %+v", c.condition, l)
		}
	}
	weftIn(t, e.dir, "crawl", "-q", "--job", "job")
	weftIn(t, e.dir, "crawl", "-q", "--update", "job")
	if l := weftIn(t, e.dir, "urls", "--only-urls", "--where", `unchanged_by == "not-modified" && visit == 2`, "job"); l.stdout != s.URL+"/\n" {
		t.Errorf("the second visit: %+v", l)
	}
}
