package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// of lists the problems of a report: rule, level, numbers, subject and places.
func problemsOf(t *testing.T, r *Report) (all []string) {
	t.Helper()
	for p, err := range r.Problems() {
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%t %s %d/%d %s", p.OnMost, p.Rule, p.Pages, p.Findings, p.URL)
		for _, at := range p.Places {
			text += fmt.Sprintf(" %s:%d:%d", strings.TrimPrefix(at.Page, "http://a.test"), at.Line, at.Column)
		}
		all = append(all, text)
	}
	return all
}

// siteOfProblems has a template with two faults, and faults of some pages.
func siteOfProblems(t *testing.T, backwards bool) string {
	all := []made{answer("http://a.test/gone", 404, ""), answer("http://a.test/moved", 301, "http://a.test/p00"), answer("http://a.test/lost", 404, ""), answer("http://a.test/z", 404, "")}
	for i := range 12 {
		body := fmt.Sprintf("<title>%d</title>\n<a href=/moved#%[1]d>Moved</a>\n<a href=/gone>Gone</a>", i)
		if i == 0 {
			for n := range 12 {
				body += fmt.Sprintf("<p id=%d>", n)
			}
		}
		if i > 6 {
			body += "<a href=/gone#x>again</a><a href=/lost#1></a><a href=/lost#2></a>"
		}
		if i == 3 {
			body += "\n<a href=/z>z</a><a href=#none>none</a>"
		}
		all = append(all, htmlPage(fmt.Sprintf("http://a.test/p%02d", i), body))
	}
	if backwards {
		slices.Reverse(all)
	}
	return makeJob(t, all...)
}

// TestProblems: findings of one rule and one target are one problem, with the pages that have it,
// in order: what most pages have, errors, what more pages have. That holds, too, when memory has
// no room for more than one.
func TestProblems(t *testing.T) {
	want := []string{
		"true broken-link 12/17 http://a.test/gone /p00:3:9 /p01:3:9 /p02:3:9",
		"true permanent-redirect 12/12 http://a.test/moved /p00:2:9 /p01:2:9 /p02:2:9",
		"false broken-link 5/10 http://a.test/lost /p07:3:56 /p08:3:56 /p09:3:56",
		"false missing-fragment 1/1 http://a.test/p03#none /p03:4:25",
		"false broken-link 1/1 http://a.test/z /p03:4:9",
	}
	for i := range 4 {
		most := []int{mostCollected, 1}[i%2]
		j, err := newSite(t.Context(), siteOfProblems(t, i > 1), Options{})
		if err != nil {
			t.Fatal(err)
		}
		j.report.problems.most = most
		r, err := j.check("")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 2 {
			got := problemsOf(t, r)
			if !slices.Equal(got, want) {
				t.Errorf("%q\nwant %q", got, want)
			}
		}
	}
}

// TestProblemsText: reports for people have each problem once; in the other orders, and for
// machines, each finding.
func TestProblemsText(t *testing.T) {
	const text = `On most pages: mend the template once
error    404 Not Found  broken-link, on 12 pages, 17 times
         http://a.test/gone
         on http://a.test/p00 at 3:9  <a href> “Gone”
            http://a.test/p01 at 3:9
            http://a.test/p02 at 3:9, and 9 more
warning  301 Moved Permanently to http://a.test/p00  permanent-redirect, on 12 pages
         http://a.test/moved
         on http://a.test/p00 at 2:9  <a href> “Moved”
            http://a.test/p01 at 2:9
            http://a.test/p02 at 2:9, and 9 more

On some pages
error    404 Not Found  broken-link, on 5 pages, 10 times
         http://a.test/lost
         on http://a.test/p07 at 3:56  <a href>
            http://a.test/p08 at 3:56
            http://a.test/p09 at 3:56, and 2 more
`
	const markdown = "\n## On most pages: mend the template once\n\n" +
		"- **error** 404 Not Found: <http://a.test/gone>, on 12 pages, 17 times (broken-link)\n" +
		"  - <http://a.test/p00> at 3:9 in `<a href>` “Gone”\n" +
		"  - <http://a.test/p01> at 3:9 in `<a href>` “Gone”\n" +
		"  - <http://a.test/p02> at 3:9 in `<a href>` “Gone”\n" +
		"  - and 9 more\n"
	const github = "::error title=broken-link::http://a.test/p00:3:9: http://a.test/gone: 404 Not Found (<a href> “Gone”), on 12 pages, 17 times, http://a.test/p01:3:9, http://a.test/p02:3:9, and 9 more\n"
	for _, c := range []struct {
		format string
		order  Order
		want   string
		gone   int // mentions of the broken link
	}{
		{"text", "", text, 1}, {"text", ByPage, "\nhttp://a.test/p01\n", 17}, {"text", ByTarget, "\nhttp://a.test/lost\n", 1},
		{"markdown", "", markdown, 1}, {"markdown", ByPage, "\n## <http://a.test/p01>\n", 17},
		{"github", "", github, 1}, {"github", ByPage, "::error title=broken-link::http://a.test/p11:3:9:", 17},
		{"csv", "", "\nerror,broken-link,404 Not Found,http://a.test/p11,3,9,", 17}, {"junit", "", ` tests="42" failures="29"`, 17},
		{"json", "", `{"rule":"broken-link","level":"error","message":"404 Not Found","url":"http://a.test/gone","pages":12,"findings":17,"on_most":true,"places":[{"page":"http://a.test/p00","line":3,"column":9,`, 18},
	} {
		r, err := Job(t.Context(), siteOfProblems(t, false), Options{Order: c.order})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		f, err := FormatOf(c.format, "")
		if err == nil {
			err = f.Write(&out, r, Style{})
		}
		r.Close()
		n := strings.Count(out.String(), "http://a.test/gone")
		if c.format == "junit" {
			n /= 2 // its name, and its message
		}
		if err != nil || !strings.Contains(out.String(), c.want) || n != c.gone {
			t.Errorf("%s, %s: %d mentions, %v: %s", c.format, c.order, n, err, out.String())
		}
	}
}

// TestProblemsOfPages: pages without a title are one problem, and so are those with one title, each
// of which names others; pages that each have their own number are one, with their numbers; and so
// is a sitemap, with the URLs that it lists.
func TestProblemsOfPages(t *testing.T) {
	var all []made
	list := "<urlset>"
	for i := range 6 {
		p := htmlPage(fmt.Sprintf("http://a.test/%d", i), "<title>Same</title>")
		p.Depth, p.Title = 6+i, "Same"
		all = append(all, p, htmlPage(fmt.Sprintf("http://a.test/none%d", i), fmt.Sprint(i)), answer(fmt.Sprintf("http://a.test/gone%d", i), 404, ""))
		list += fmt.Sprintf("<url><loc>http://a.test/gone%d</loc></url>", i)
	}
	sitemap := htmlPage("http://a.test/sitemap.xml", list+"</urlset>")
	sitemap.Sitemap, sitemap.ContentType = "urlset", "text/xml"
	r, err := Job(t.Context(), makeJob(t, append(all, sitemap)...), Options{Rules: named("all") &^ named(NotInSitemap)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out strings.Builder
	if err := writeText(&out, r, Style{}); err != nil {
		t.Fatal(err)
	}
	const want = `error    the sitemap lists a URL that is an error  broken-in-sitemap, 6 URLs
         http://a.test/sitemap.xml
         has http://a.test/gone0: 404 Not Found
             http://a.test/gone1: 404 Not Found
             http://a.test/gone2: 404 Not Found, and 3 more
warning  6 pages have this title: Same  duplicate-title
         on http://a.test/0
            http://a.test/1
            http://a.test/2, and 3 more
warning  no title  missing-title, on 6 pages
         on http://a.test/none0
            http://a.test/none1
            http://a.test/none2, and 3 more
note     the page is many links away from the start  deep, on 6 pages
         on http://a.test/0: 6 links from the start
            http://a.test/1: 7 links from the start
            http://a.test/2: 8 links from the start, and 3 more

`
	sorted := func(text string) []string {
		all := strings.SplitAfter(text, "more\n")
		slices.Sort(all)
		return all
	}
	if got, _, _ := strings.Cut(out.String(), "6 errors"); !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("%s\nwant %s", got, want)
	}
	const others = "6 pages have this title: Same (also http://a.test/0, http://a.test/1, http://a.test/3, and 2 more)"
	for f, err := range r.Findings() {
		if err != nil || f.Rule == DuplicateTitle && f.Page == "http://a.test/2" && (f.said() != others || f.Same != 6 || len(f.Others) != 3) {
			t.Errorf("%v: %s, expected %s", err, f.said(), others)
		}
	}
}

// TestProblemsRoom: the problems of one page leave room for those of others.
func TestProblemsRoom(t *testing.T) {
	a := newAnalysis(t.Context(), "x", Options{bounds: bounds{disk: 80_000}})
	defer a.report.Close()
	for i, page := range []string{"http://a.test/1", "http://a.test/2", "http://a.test/z"} {
		done := a.open(page)
		for i := range []int{1000, 1000, 1}[i] {
			a.found(Finding{Rule: BrokenLink, Page: page, URL: fmt.Sprintf("%s/%d", page, i), Message: "x"})
		}
		done()
	}
	got := problemsOf(t, a.report)
	if last := got[len(got)-1]; last != "false broken-link 1/1 http://a.test/z/0 /z:0:0" || len(got) < 30 || len(got)+a.report.problems.left != 2001 {
		t.Errorf("%d problems, %d findings without one, the last is %s", len(got), a.report.problems.left, last)
	}
	a.report.Order = ByProblem
	for name, want := range map[string]string{"text": " not listed\n", "markdown": " findings in no problem: there was no room for more.\n", "json": `"ungrouped":19`} {
		f, err := FormatOf(name, "")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := f.Write(&out, a.report, Style{}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %q: %v, %.300s", name, want, err, out.String())
		}
	}
}
