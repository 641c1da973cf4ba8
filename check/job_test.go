package check

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// A made is a record of a job, with its body.
type made struct {
	record.Record
	body string
}

func htmlPage(url, body string) made {
	return made{record.Record{URL: url, Status: 200, ContentType: "text/html; charset=utf-8", From: "x", Depth: 1, Started: time.Unix(1, 0)}, body}
}

func answer(url string, status int, redirect string) made {
	return made{record.Record{URL: url, Status: status, Redirect: redirect, From: "x", Depth: 1}, ""}
}

// makeJob makes the folder of a job with these records, with bodies.
func makeJob(t testing.TB, all ...made) string {
	t.Helper()
	dir := t.TempDir()
	var pages []byte
	for _, m := range all {
		if m.Status == 200 && m.ContentType != "" {
			m.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(m.body)))
			m.BodyBytes = len(m.body)
			folder := filepath.Join(dir, "bodies", m.SHA256[:2])
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, m.SHA256), []byte(m.body), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		pages = append(pages, m.Line()...)
	}
	if err := os.WriteFile(filepath.Join(dir, "pages.jsonl"), pages, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSecure: mixed content, and links by http where https answers.
func TestSecure(t *testing.T) {
	r, err := Job(t.Context(), makeJob(t,
		htmlPage("https://a.test/", "<title>a</title><a href=http://a.test/b>b</a><a href=http://c.test/>c</a>\n<img alt src=http://a.test/i><script src=http://a.test/i></script><a href=http://a.test/i>i</a>"),
		htmlPage("https://a.test/b", "<title>b</title>"), htmlPage("http://a.test/b", "<title>b</title>"),
		answer("http://c.test/", 200, ""), answer("http://a.test/i", 200, ""),
	), Options{})
	want := []string{"https://a.test/:1:25 https-available http://a.test/b", "https://a.test/:2:14 mixed-content http://a.test/i", "https://a.test/:2:42 mixed-content http://a.test/i", "https://a.test/:2:75 https-available http://a.test/i"}
	if got := found(t, r, err); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestProbe: what the root of a host says by https holds for links by http that lead there.
func TestProbe(t *testing.T) {
	probe := func(url string, status int, redirect string) made {
		m := answer(url, status, redirect)
		m.Role = record.RoleProbe
		return m
	}
	for name, c := range map[string]struct {
		probes []made
		want   int
	}{
		"answers":          {[]made{probe("https://b.test/", 200, "")}, 2},
		"has no root":      {[]made{probe("https://b.test/", 404, "")}, 2},
		"overloaded":       {[]made{probe("https://b.test/", 503, "")}, 0},
		"no answer":        {[]made{probe("https://b.test/", 0, "")}, 0},
		"back to http":     {[]made{probe("https://b.test/", 301, "http://b.test/1")}, 0},
		"to another":       {[]made{probe("https://b.test/", 301, "https://www.b.test/"), probe("https://www.b.test/", 200, "")}, 2},
		"the page has not": {[]made{probe("https://b.test/", 200, ""), answer("https://b.test/1", 404, "")}, 1},
	} {
		r, err := Job(t.Context(), makeJob(t, append(c.probes, htmlPage("http://a.test:80/", "<a href=http://b.test/1></a><a href=http://b.test/2></a>"),
			answer("http://b.test/1", 200, ""), answer("http://b.test/2", 200, ""))...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Totals.Rules[HTTPSAvailable] != c.want || r.Totals.Broken > 1 || name == "answers" && r.Totals.URLs != 3 {
			t.Errorf("%s: %+v", name, r.Totals)
		}
		r.Close()
	}
}

// TestSite: each rule about pages finds its page, and the sound ones are left alone.
func TestSite(t *testing.T) {
	page := func(url, title, more string) made {
		return htmlPage("http://a.test"+url, "<title>"+title+"</title>"+more)
	}
	slow, deep := page("/slow", "slow", ""), page("/deep", "deep", "")
	slow.TotalMS, deep.Depth = 5000, 9
	sitemap := made{record.Record{URL: "http://a.test/sitemap.xml", Status: 200, ContentType: "application/xml", Sitemap: "urlset", Depth: 1, From: "x"},
		`<urlset><url><loc>http://a.test/orphan</loc></url><url><loc>http://a.test/old</loc></url><url><loc>http://a.test/same1</loc></url><url><loc>http://a.test/gone</loc></url></urlset>`}
	home := htmlPage("http://a.test/", `<title>home</title><meta name=description content="This  one"><img src=x><img src=y alt><img src=z role=presentation>`+
		`<a href=/slow></a><a href=/deep></a><a href=/huge></a><a href=/same1></a><a href=/same2></a><a href=/none></a><a href=/hidden></a><a href=/de></a><a href=/en></a><a href=/fr></a>`)
	home.From, home.Depth = "", 0
	r, err := Job(t.Context(), makeJob(t, home, slow, deep, sitemap,
		page("/huge", "huge", strings.Repeat(" ", 3<<20)),
		page("/same1", "Same", ""), page("/same2", "same", `<meta name=description content="This one">`), page("/same3", "Same", ""),
		page("/none", "", `<link rel=canonical href=/none#x>`), page("/hidden", "hidden", "<meta name=robots content=noindex>"), page("/orphan", "orphan", "<link rel=canonical href=/>"),
		answer("http://a.test/old", 301, "http://a.test/slow"), answer("http://a.test/gone", 404, ""),
		page("/de", "de", "<link rel=alternate hreflang=en href=/en><link rel=alternate hreflang=fr href=/fr>"), page("/en", "en", "<link rel=alternate hreflang=de href=/de>"), page("/fr", "fr", ""),
	), Options{Rules: named("all") &^ named(NotInSitemap)})
	want := []string{
		"http://a.test/:0:0 duplicate-description ", "http://a.test/:1:63 image-alt x",
		"http://a.test/de:0:0 hreflang-no-return http://a.test/fr",
		"http://a.test/deep:0:0 deep ", "http://a.test/hidden:0:0 noindex-linked ", "http://a.test/huge:0:0 huge ",
		"http://a.test/none:0:0 missing-title ", "http://a.test/orphan:0:0 canonical-elsewhere ", "http://a.test/orphan:0:0 orphan ",
		"http://a.test/same1:0:0 duplicate-title ", "http://a.test/same2:0:0 duplicate-description ", "http://a.test/same3:0:0 duplicate-title ",
		"http://a.test/sitemap.xml:0:0 broken-in-sitemap http://a.test/gone", "http://a.test/sitemap.xml:0:0 redirect-in-sitemap http://a.test/old",
		"http://a.test/slow:0:0 slow ",
	}
	if got := found(t, r, err); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestSitemaps: a sitemap that is cut off, malformed or too long is reported, and so are URLs in it
// that are errors or have noindex, also of a part of the site.
func TestSitemaps(t *testing.T) {
	page := func(url, more string) made { return htmlPage("http://a.test"+url, "<title>"+url+"</title>"+more) }
	entry := func(url string) string { return "<url><loc>http://a.test" + url + "</loc></url>" }
	for name, c := range map[string]struct {
		body, kind, typ string
		want            []string
	}{
		"sound":     {"<urlset>" + entry("/a") + "</urlset>", "", "urlset", nil},
		"noindex":   {"<urlset>" + entry("/a") + entry("/hidden") + "</urlset>", "", "urlset", []string{"http://a.test/hidden:0:0 noindex-in-sitemap "}},
		"error":     {"<urlset>" + entry("/gone") + "</urlset>", "", "urlset", []string{"http://a.test/sitemap.xml:0:0 broken-in-sitemap http://a.test/gone"}},
		"cut off":   {"<urlset>" + entry("/a") + "<url><loc>http://a.te", "", "urlset", []string{"http://a.test/sitemap.xml:0:0 broken-sitemap "}},
		"ended":     {"<urlset>" + entry("/a") + "</urlset>", "early-end", "urlset", []string{"http://a.test/sitemap.xml:0:0 broken-sitemap "}},
		"too long":  {"<urlset>" + strings.Repeat(entry("/a"), mostInSitemap+1) + "</urlset>", "", "urlset", []string{"http://a.test/sitemap.xml:0:0 broken-sitemap "}},
		"full":      {"<urlset>" + strings.Repeat(entry("/a"), mostInSitemap) + "</urlset>", "", "urlset", nil},
		"too large": {"<urlset>" + entry("/a") + strings.Repeat(" ", 50<<20) + "</urlset>", "", "urlset", []string{"http://a.test/sitemap.xml:0:0 broken-sitemap "}},
		"no end":    {"<urlset>" + entry("/a") + strings.Repeat(" ", 64<<20), "", "urlset", []string{"http://a.test/sitemap.xml:0:0 not-read "}},
	} {
		for _, part := range []string{"", "the crawl is stopped"} {
			sitemap := htmlPage("http://a.test/sitemap.xml", c.body)
			sitemap.Sitemap, sitemap.ContentType, sitemap.ErrorKind, sitemap.From = c.typ, "text/xml", c.kind, "http://a.test/robots.txt"
			r, err := Job(t.Context(), makeJob(t, sitemap, page("/a", ""), page("/hidden", "<meta name=robots content=noindex>"), answer("http://a.test/gone", 404, "")),
				Options{Rules: named(GroupLinks) | named(BrokenSitemap) | named(NoindexInSitemap), part: part})
			if got := found(t, r, err); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q\nwant %q", name, got, c.want)
			}
		}
	}
}

// TestNamedSitemaps: what robots.txt or an index names as a sitemap is to be one, and the URLs in
// it are to be valid and absolute. One that nobody has named may be missing.
func TestNamedSitemaps(t *testing.T) {
	const robots, index = "http://a.test/robots.txt", "http://a.test/index.xml"
	at := func(url, from, typ, body string) made {
		m := htmlPage("http://a.test"+url, body)
		m.From, m.Sitemap = from, typ
		if typ != "" {
			m.ContentType = "text/xml"
		}
		return m
	}
	fails := func(url, from string, status int) made {
		m := answer("http://a.test"+url, status, "")
		m.From = from
		return m
	}
	list := func(urls ...string) string {
		return "<urlset>\n<url><loc>" + strings.Join(urls, "</loc></url>\n<url><loc>") + "</loc></url></urlset>"
	}
	indexed := func(url string) made {
		return at("/index.xml", robots, "index", "<sitemapindex><sitemap><loc>http://a.test"+url+"</loc></sitemap></sitemapindex>")
	}
	again := at("/s.xml", robots, "", "")
	again.Status, again.UnchangedBy, again.ContentType = 304, record.SameNotModified, ""
	for name, c := range map[string]struct {
		pages  []made
		want   []string
		broken int
	}{
		"an error":            {[]made{fails("/s.xml", robots, 500)}, []string{robots + ":0:0 broken-link http://a.test/s.xml"}, 1},
		"missing":             {[]made{fails("/s.xml", robots, 404)}, []string{robots + ":0:0 broken-link http://a.test/s.xml"}, 1},
		"a page":              {[]made{at("/s.xml", robots, "", "<p>x")}, []string{"http://a.test/s.xml:0:0 broken-sitemap "}, 0},
		"unchanged":           {[]made{again}, nil, 0},
		"a guess":             {[]made{fails("/sitemap.xml", robots, 404)}, nil, 0},
		"a guess, a page":     {[]made{at("/sitemap.xml", robots, "", "<p>x")}, nil, 0},
		"a guess, an error":   {[]made{fails("/sitemap.xml", robots, 500)}, []string{robots + ":0:0 broken-link http://a.test/sitemap.xml"}, 1},
		"a link":              {[]made{at("/x", "http://a.test/", "", "<p>x")}, nil, 0},
		"empty in an index":   {[]made{indexed("/s.xml"), at("/s.xml", index, "urlset", "<urlset></urlset>")}, []string{"http://a.test/s.xml:0:0 broken-sitemap "}, 0},
		"void in an index":    {[]made{indexed("/s.xml"), at("/s.xml", index, "", "")}, []string{"http://a.test/s.xml:0:0 broken-sitemap "}, 0},
		"a page in an index":  {[]made{indexed("/s"), at("/s", index, "", "<p>x")}, []string{"http://a.test/s:0:0 broken-sitemap "}, 0},
		"sound in an index":   {[]made{indexed("/s.xml"), at("/s.xml", index, "urlset", list("http://a.test/"))}, nil, 0},
		"mistyped":            {[]made{at("/s.xml", robots, "urlset", list("http://a.test/", "htp://a.test/bad"))}, []string{"http://a.test/s.xml:3:11 invalid-url htp://a.test/bad"}, 0},
		"another scheme":      {[]made{at("/s.xml", robots, "urlset", list("http://a.test/", "ftp://a.test/x"))}, []string{"http://a.test/s.xml:3:11 invalid-url ftp://a.test/x"}, 0},
		"relative":            {[]made{at("/s.xml", robots, "urlset", list("http://a.test/", "/rel", "//a.test/rel"))}, []string{"http://a.test/s.xml:3:11 broken-sitemap "}, 0},
		"of an image":         {[]made{at("/s.xml", robots, "urlset", strings.Replace(list("http://a.test/"), "</url>", "<image:image><image:loc>/i</image:loc></image:image></url>", 1))}, nil, 0},
		"with a prefix":       {[]made{at("/s.xml", robots, "urlset", "<s:urlset><s:url><s:loc>http://a.test/</s:loc></s:url><s:url><s:loc>htp://a.test/</s:loc></s:url></s:urlset>")}, []string{"http://a.test/s.xml:1:69 invalid-url htp://a.test/"}, 0},
		"mistyped, in gzip":   {[]made{at("/s.xml", robots, "urlset", gzipped(t, list("http://a.test/", "htp://a.test/bad")))}, []string{"http://a.test/s.xml:3:11 invalid-url htp://a.test/bad"}, 0},
		"mistyped, in a text": {[]made{at("/s.xml", robots, "text", "http://a.test/\n# htp://\nhtp://a.test/bad\n")}, []string{"http://a.test/s.xml:3:1 invalid-url htp://a.test/bad"}, 0},
	} {
		r, err := Job(t.Context(), makeJob(t, append(c.pages, at("/", "", "", "<title>home</title>"))...), Options{Rules: RuleSet(0).orDefault() | named(BrokenSitemap)})
		if got := found(t, r, err); !slices.Equal(got, c.want) || r.Totals.Broken != c.broken {
			t.Errorf("%s: %q, %d broken\nwant %q, %d", name, got, r.Totals.Broken, c.want, c.broken)
		}
	}
}

// TestLeads: the number of links decides the verb.
func TestLeads(t *testing.T) {
	for n, want := range map[uint32]string{1: "1 link leads", 2: "2 links lead"} {
		if got := leads(n); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

func gzipped(t *testing.T, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestLastLines: the last lines say what was not read, with what may be done about it in the words
// of whoever checks.
func TestLastLines(t *testing.T) {
	login, inner := answer("http://a.test/in", 401, ""), answer("http://b.test/", 0, "")
	inner.ErrorKind, inner.Role = "blocked-address", record.RoleExternal
	other := answer("http://c.test/", 401, "")
	other.Role = record.RoleExternal
	home := htmlPage("http://a.test/", "<a href=/in></a><a href=http://b.test/></a><a href=http://c.test/></a>")
	home.From, home.Depth = "", 0
	list := htmlPage("http://a.test/sitemap.xml", "<urlset><url><loc>http://a.test/</loc></url></urlset>")
	list.Sitemap, list.ContentType = "urlset", "text/xml"
	hints := Hints{Login: "log in", Private: "allow it", Sitemaps: "read them"}
	for name, c := range map[string]struct {
		rules string
		bare  bool
		hints Hints
		want  []string
		not   string
	}{
		"links":       {"links", false, hints, []string{"401 Unauthorized: it asks for a login: log in", "its address is not public: allow it", "it asks for a login  unknown", "1 page, 3 links"}, "sitemap"},
		"no hints":    {"links", false, Hints{}, []string{"it asks for a login  own", "its address is not public  unknown"}, "log in"},
		"site":        {"site", false, hints, []string{"\nno sitemap was read: read them\n"}, "bodies"},
		"read":        {"site", false, hints, nil, "no sitemap"},
		"one":         {"broken-in-sitemap", false, Hints{}, []string{"\nno sitemap was read\n"}, "read:"},
		"without":     {"all,-broken-in-sitemap,-orphan,-not-in-sitemap,-redirect-in-sitemap,-noindex-in-sitemap,-broken-sitemap", false, hints, nil, "no sitemap"},
		"no bodies":   {"links", true, hints, []string{"\n0 of 1 page read, ", "\nthe job has no bodies: lines, fragments, "}, "sitemap"},
		"for nothing": {"-own-unknown", false, hints, []string{"it asks for a login: log in  unknown"}, "own-unknown"},
	} {
		rules, err := ParseRules(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		all := []made{home, login, inner, other}
		if name == "read" {
			all = append(all, list)
		}
		dir := makeJob(t, all...)
		if c.bare {
			err = os.RemoveAll(filepath.Join(dir, "bodies"))
		}
		r, err2 := Job(t.Context(), dir, Options{Rules: rules, Hints: c.hints})
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		var out, last bytes.Buffer
		if err := errors.Join(writeText(&out, r, Style{}), WriteSummary(&last, r, Style{}), r.Close()); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %s\nwant %s", name, &out, want)
			}
		}
		if strings.Contains(out.String(), c.not) || last.Len() == 0 || !strings.HasSuffix(out.String(), last.String()) {
			t.Errorf("%s: %s\nin the end %s", name, &out, &last)
		}
	}
}

// TestDuplicateContent: pages that the crawl took for duplicates are reported, unless they say that
// another page stands for them, or that they are none for an index.
func TestDuplicateContent(t *testing.T) {
	of := func(url, same, near, body string) made {
		m := htmlPage("http://a.test"+url, "<title>"+url+"</title>"+body)
		m.DuplicateOf, m.NearDuplicateOf = same, near
		return m
	}
	const home = "http://a.test/"
	all := []made{of("/", "", "", ""), of("/same", home, "", ""), of("/near", "", home, ""), of("/canonical", home, "", "<link rel=canonical href=/>"), of("/hidden", home, "", "<meta name=robots content=noindex>")}
	r, err := Job(t.Context(), makeJob(t, all...), Options{Rules: named(DuplicateContent)})
	want := []string{"http://a.test/near:0:0 duplicate-content http://a.test/", "http://a.test/same:0:0 duplicate-content http://a.test/"}
	if err == nil {
		if got, want := problemsOf(t, r), []string{"false duplicate-content 2/2 http://a.test/ /near:0:0 /same:0:0"}; !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
	if got := found(t, r, err); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestUnseen: pages that need scripts, and documents, are counted; with bodies and without.
func TestUnseen(t *testing.T) {
	app := htmlPage("http://a.test/app", "<title>app</title><div id=root></div><script src=app.js></script>")
	document := htmlPage("http://a.test/x.pdf", "%PDF")
	document.ContentType = "application/pdf"
	external := answer("http://b.test/y.docx", 200, "")
	external.Role, external.ContentType = record.RoleExternal, "application/octet-stream"
	gone := answer("http://b.test/z.pdf", 404, "")
	for _, bodies := range []bool{true, false} {
		app.NeedsScripts = ""
		dir := makeJob(t, app, document, external, gone)
		if !bodies {
			app.NeedsScripts = "mount"
			dir = makeJob(t, app, document, external, gone)
			if err := os.RemoveAll(filepath.Join(dir, "bodies")); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Job(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Totals; n.NeedScripts != 1 || n.Documents.String() != "1 PDF, 1 Word" {
			t.Errorf("bodies %t: %+v", bodies, n)
		}
		if got := found(t, r, nil); !slices.Contains(got, "http://a.test/app:0:0 needs-scripts ") {
			t.Errorf("bodies %t: %q", bodies, got)
		}
	}
}

// TestRedirectFragment: the fragment of a redirect replaces that of the link, and the last one
// counts: RFC 9110, section 10.2.2. Without one, that of the link stays.
func TestRedirectFragment(t *testing.T) {
	r, err := Job(t.Context(), makeJob(t,
		htmlPage("http://a.test/", "<title>a</title><a href=own#any>1</a>\n<a href=empty#any>2</a>\n<a href=chain#any>3</a>\n<a href=old#here>4</a>\n"+
			"<a href=old#gone>5</a>\n<a href=wrong#here>6</a>\n<a href=wrong>7</a>\n<a href=encoded#any>8</a>\n<a href=emptied>9</a>\n<a href=top#any>10</a>"),
		answer("http://a.test/own", 302, "http://a.test/new#here"), answer("http://a.test/empty", 302, "http://a.test/new#"),
		answer("http://a.test/chain", 302, "http://a.test/own2#gone"), answer("http://a.test/own2", 302, "http://a.test/own"),
		answer("http://a.test/old", 302, "http://a.test/new"), answer("http://a.test/wrong", 302, "http://a.test/new#gone"),
		answer("http://a.test/encoded", 302, "http://a.test/new#gr%C3%B6%C3%9Fe"), answer("http://a.test/emptied", 302, "http://a.test/empty2#gone"),
		answer("http://a.test/empty2", 302, "http://a.test/empty"), answer("http://a.test/top", 302, "http://a.test/new#top"),
		htmlPage("http://a.test/new", "<title>n</title><p id=here>x<p id=größe>y"),
	), Options{})
	want := []string{"http://a.test/:5:9 missing-fragment http://a.test/old#gone", "http://a.test/:6:9 missing-fragment http://a.test/wrong#here", "http://a.test/:7:9 missing-fragment http://a.test/wrong"}
	got := slices.DeleteFunc(found(t, r, err), func(f string) bool { return !strings.Contains(f, MissingFragment) })
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestCutPage: of a page that could not be read to its end, nobody knows which fragments it lacks.
func TestCutPage(t *testing.T) {
	r, err := Job(t.Context(), makeJob(t, htmlPage("http://a.test/", "<a href=/b#x>x</a><a href=/c#x>x</a>"),
		htmlPage("http://a.test/b", "<title>b</title><!-- <a href=/>"), htmlPage("http://a.test/c", "<title>c</title>")), Options{})
	if got, want := found(t, r, err), []string{"http://a.test/:1:27 missing-fragment http://a.test/c#x"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestLastRecord: of a URL that was visited again, the last record counts, and its body.
func TestLastRecord(t *testing.T) {
	was, is := htmlPage("http://a.test/", "<a href=/b><a href=/c>"), htmlPage("http://a.test/", "<a href=/b>\n<a href=/c>")
	is.Visit = 2
	r, err := Job(t.Context(), makeJob(t, was, answer("http://a.test/b", 404, ""), answer("http://a.test/c", 200, ""), is, answer("http://a.test/b", 200, ""), answer("http://a.test/c", 410, "")), Options{})
	if err == nil {
		for row := range r.Pages() {
			if row.URL == "http://a.test/" && (row.LinksOut != 2 || row.Errors != 1) {
				t.Errorf("%+v", row)
			}
		}
	}
	if got, want := found(t, r, err), []string{"http://a.test/:2:9 broken-link http://a.test/c"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestHostile: of a page of broken links without end, some are checked, and some of these listed;
// cut and binary lines in pages.jsonl are passed over, and redirects in a circle end.
func TestHostile(t *testing.T) {
	var body strings.Builder
	body.WriteString("<title>x</title>")
	for i := range 5000 {
		fmt.Fprintf(&body, "<a href=/gone#%d>x</a>\n", i)
	}
	dir := makeJob(t, htmlPage("http://a.test/", body.String()), answer("http://a.test/gone", 302, "http://b.test/1"),
		answer("http://b.test/1", 302, "http://c.test/2"), answer("http://c.test/2", 302, "http://b.test/1"))
	f, err := os.OpenFile(filepath.Join(dir, "pages.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("\x00\xff\n{\"url\":\"\"}\n{\"url\":\"http://[\"}\n[1]\n" + strings.Repeat("x", 5<<20) + "\n{\"url\":\"http://a.test/half")
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := Job(t.Context(), dir, Options{Order: ByTarget, bounds: bounds{links: 4000, disk: share * 400_000}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := r.Totals; n.Rules[RedirectLoop] != 4000 || n.Rules[NotRead] != 1 || n.Links != 5000 || n.Unchecked != 1000 || n.Unlisted < 3000 {
		t.Errorf("%+v", r.Totals)
	}
	n := 0
	for f, err := range r.Findings() {
		if err != nil || f.Rule == RedirectLoop && len(f.Redirects) != 3 {
			t.Fatalf("%+v, %v", f, err)
		}
		n++
	}
	if n == 0 || n != 4001-r.Totals.Unlisted {
		t.Errorf("%d findings, %+v", n, r.Totals)
	}
}

// TestNoReferrers: without bodies, and beyond the bound of the file of referrers, what is broken is
// reported on the page that it was found on.
func TestNoReferrers(t *testing.T) {
	on := func(page string, m made) made {
		m.From = page
		return m
	}
	const home = "http://a.test/"
	r, err := Job(t.Context(), makeJob(t, on("", answer(home, 200, "")), on(home, answer(home+"gone", 404, "")),
		on(home, answer(home+"old", 302, home+"lost")), on(home+"old", answer(home+"lost", 404, ""))), Options{})
	want := []string{home + ":0:0 broken-link " + home + "gone", home + ":0:0 broken-link " + home + "old"}
	if got := found(t, r, err); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestHostileSitemap: of the findings of a sitemap, some are listed.
func TestHostileSitemap(t *testing.T) {
	list, all := "<urlset>", []made(nil)
	for i := range 100 {
		url := fmt.Sprintf("http://a.test/%d", i)
		list += "<url><loc>" + url + "</loc></url>"
		all = append(all, answer(url, 404, ""))
	}
	sitemap := htmlPage("http://a.test/sitemap.xml", list+"</urlset>")
	sitemap.Sitemap, sitemap.ContentType = "urlset", "text/xml"
	r, err := Job(t.Context(), makeJob(t, append(all, sitemap)...), Options{bounds: bounds{disk: share * 10_000}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := r.Totals; n.Errors != 100 || n.Unlisted == 0 || n.Unlisted == 100 {
		t.Errorf("%+v", n)
	}
}

// TestCanceled: a check ends with its context, also one whose findings are being read.
func TestCanceled(t *testing.T) {
	page := htmlPage("http://a.test/", "<a href=/b></a><a href=/b></a>")
	dir := makeJob(t, page, answer("http://a.test/b", 404, ""))
	write(t, map[string]string{"a.html": page.body})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Job(ctx, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	var last error
	for _, last = range r.Findings() {
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("findings end with %v", last)
	}
	if _, err := Job(ctx, makeJob(t, answer("http://a.test/b", 404, "")), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the check of a job ends with %v", err)
	}
	if _, err := files(ctx, []string{"."}, "", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the check of files ends with %v", err)
	}
}

// TestSoft404: pages that say what a site says of a URL that does not exist are reported, unless
// the site says that of all.
func TestSoft404(t *testing.T) {
	seed, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	up, err := madeUpBeside(seed)
	if err != nil {
		t.Fatal(err)
	}
	for says, want := range map[string][]string{
		"not here": {"http://a.test/:1:9 soft-404 http://a.test/gone", "http://a.test/:1:42 soft-404 http://a.test/old"},
		"<a href=/gone></a><a href=/b></a><a href=/old></a>": nil,
	} {
		home := htmlPage("http://a.test/", "<a href=/gone></a><a href=/b></a><a href=/old></a>")
		home.From = ""
		r, err := Job(t.Context(), makeJob(t, home, htmlPage("http://a.test/gone", says), htmlPage("http://a.test/b", "here"),
			answer("http://a.test/old", 302, "http://a.test/gone"), htmlPage(up.String(), says)), Options{})
		if got := found(t, r, err); !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}

// TestTextIsHarmless: what the Web says drives no terminal, and writes no command to a CI log.
func TestTextIsHarmless(t *testing.T) {
	r, err := Job(t.Context(), makeJob(t, htmlPage("http://a.test/", "<a href='http://[\x1b[31m'>\x1b]0;x\x07\u009b</a>\n<a href=\"mailto:a\n::error::x\">y</a><img src='::error::z'><a href='http://[/##vso[x'>##[y</a>"), answer("http://a.test/b", 404, "")), Options{Rules: named("all")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Totals.Errors != 3 {
		t.Errorf("%+v", r.Totals)
	}
	command := regexp.MustCompile(`(?m)^\s*::error::[xz]|##(vso)?\[`) // to GitHub, to Azure Pipelines
	for _, name := range []string{"text", "markdown", "github", "junit", "csv"} {
		var out strings.Builder
		f, err := FormatOf(name, "")
		if err == nil {
			err = f.Write(&out, r, Style{})
		}
		if err != nil || strings.ContainsAny(out.String(), "\x1b\x07\u009b") || command.MatchString(out.String()) {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}
}

// TestStrangeRecords: a job that somebody sends has depths below 0, and strings of any length.
func TestStrangeRecords(t *testing.T) {
	odd := htmlPage("http://a.test/odd", "<a href=/long></a><a href='http://["+strings.Repeat("\x01", 60<<10)+"'></a>")
	odd.Depth = -1
	failed := answer("http://a.test/failed", 0, "")
	failed.ErrorKind, failed.Error = strings.Repeat("k\x01", 200_000), strings.Repeat("<", 200_000)
	home := htmlPage("http://a.test/", "<a href=/failed></a><a href=/long#x></a><link rel=canonical href=/long>")
	home.URL += "?" + strings.Repeat("&", 300_000)
	r, err := Job(t.Context(), makeJob(t, odd, home, failed, answer("http://a.test/long", 301, "http://b.test/?"+strings.Repeat("&", 250_000)), answer("http://b.test/?"+strings.Repeat("&", 250_000), 200, "")),
		Options{Order: ByTarget, Rules: named("all")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range Formats() {
		if err := f.Write(io.Discard, r, Style{}); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if r.Totals.Rules[PermanentRedirect] != 3 || r.Totals.Rules[InvalidURL] != 1 || r.Totals.Depths[0] != 1 {
		t.Errorf("%+v", r.Totals)
	}
}

// TestCSVIsHarmless: the text of a link is no formula of a spreadsheet, and the end of a file
// chooses the format.
func TestCSVIsHarmless(t *testing.T) {
	dir := makeJob(t, htmlPage("http://a.test/", "<title>a</title><a href=/gone>=HYPERLINK(\"x\"), \"y\"</a>"), answer("http://a.test/gone", 404, ""))
	r, err := Job(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := FormatOf("", "report.CSV")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := f.Write(&out, r, Style{}); err != nil {
		t.Fatal(err)
	}
	const want = `error,broken-link,404 Not Found,http://a.test/,1,25,<a href>,"'=HYPERLINK(""x""), ""y""",http://a.test/gone,404,,` + "\n"
	if _, lines, _ := strings.Cut(out.String(), "\n"); lines != want {
		t.Errorf("%s, expected a header and %s", out.String(), want)
	}
	if f, err := FormatOf("", "report.xlsx"); err == nil || !strings.Contains(err.Error(), ".csv") {
		t.Errorf("%s: %v", f.Name, err)
	}
	if f, err := FormatOf("", "-"); err != nil || f.Name != "text" {
		t.Errorf("%s: %v", f.Name, err)
	}
}

// TestMarkdownIsHarmless: what pages say is no Markdown, HTML or mention of a user or an issue.
func TestMarkdownIsHarmless(t *testing.T) {
	for text, want := range map[string]string{
		"@user":         "@&#8203;user",
		"o/r#12 GH-3":   `o/r\#&#8203;12 GH-&#8203;3`,
		"a-b gh":        "a-b gh",
		"<b>|`x`|[a](b": "\\<b\\>\\|\\`x\\`\\|\\[a\\]\\(b",
		"$1$":           `\$1\$`,
	} {
		if got := inMarkdown(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// until is a context that ends when a function says so.
type until struct {
	context.Context
	ended func() bool
}

func (u until) Err() error {
	if u.ended() {
		return context.Canceled
	}
	return nil
}

// TestStop: a check that is stopped reports what it has checked, says that it is a part, and
// reports nothing that only the whole can tell.
func TestStop(t *testing.T) {
	sitemap := made{record.Record{URL: "http://a.test/sitemap.xml", Status: 200, ContentType: "application/xml", Sitemap: "urlset", Depth: 1, From: "x"},
		`<urlset><url><loc>http://a.test/b</loc></url></urlset>`}
	dir := makeJob(t, sitemap, htmlPage("http://a.test/a", "<title>a</title><a href=/gone>x</a>"),
		htmlPage("http://a.test/b", "<title>b</title><a href=/gone>x</a>"), htmlPage("http://a.test/c", "<title>c</title><a href=/b>x</a>"),
		answer("http://a.test/gone", 404, ""))
	stopped := false
	j, err := newSite(t.Context(), dir, Options{Rules: named("all"), Stop: until{t.Context(), func() bool { return stopped }}})
	if err != nil {
		t.Fatal(err)
	}
	look := j.look
	j.look = func(u weburl.URL) (outcome, error) {
		if u.Path() == "/gone" { // on the first page
			stopped = true
		}
		return look(u)
	}
	r, err := j.check(dir)
	if want, got := []string{"http://a.test/a:1:25 broken-link http://a.test/gone"}, found(t, r, err); !slices.Equal(got, want) || !r.Interrupted || r.Part != interrupted || r.Totals.Pages != 1 {
		t.Errorf("%q: %q, %+v\nwant %q", r.Part, got, r.Totals, want)
	}
}

// TestPart: every format says that a report is about a part, and why.
func TestPart(t *testing.T) {
	dir := makeJob(t, htmlPage("http://a.test/a", "<title>a</title>"))
	for _, f := range Formats() {
		for part, want := range map[string]bool{"": false, "the crawl is stopped": true} {
			r, err := Job(t.Context(), dir, Options{part: part})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := f.Write(&text, r, Style{}); err != nil {
				t.Fatal(err)
			}
			r.Close()
			if got := strings.Contains(text.String(), "the crawl is stopped"); got != want {
				t.Errorf("%s of %q: %s", f.Name, part, text.String())
			}
		}
	}
}

// TestDisk: what pages give rise to on disk is bounded, over all of them, and hostile ones leave
// room for the others.
func TestDisk(t *testing.T) {
	var all []made
	for i := range 50 {
		body := "<title>x</title><base href=/" + strings.Repeat("x", 500) + "/>"
		for n := range 300 {
			body += fmt.Sprintf("<a href=%d></a><b id=%d></b><a href='/ids%d#no%d'></a>", n%5, n, i, n)
		}
		all = append(all, htmlPage(fmt.Sprintf("http://a.test/%d", i), body), htmlPage(fmt.Sprintf("http://a.test/ids%d", i), "<p>"))
	}
	for n := range 5 {
		all = append(all, answer(fmt.Sprintf("http://a.test/%s/%d", strings.Repeat("x", 500), n), 404, ""))
	}
	gone := "/gone"
	all = append(all, htmlPage("http://a.test/z", "<title>z</title><a href="+gone+"></a><a href=/zz#no></a>"), htmlPage("http://a.test/zz", "<p id=yes>"), answer("http://a.test"+gone, 404, ""))
	const most = 4 << 20
	dir := makeJob(t, all...)
	j, err := newSite(t.Context(), dir, Options{bounds: bounds{disk: most}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := j.check(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	size := 0
	for _, lines := range []*extsort.Sorter{r.findings, j.joins.lines} {
		if err := lines.Each(func(line []byte) error { size += len(line); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if size > 3*most || size < most {
		t.Errorf("%d bytes, expected at most %d", size, 3*most)
	}
	size = 0
	var problemsOfLast []string
	for p, err := range r.Problems() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Places[0].Page == "http://a.test/z" {
			problemsOfLast = append(problemsOfLast, p.Rule)
		}
	}
	for _, lines := range []*extsort.Sorter{r.problems.lines, r.problems.ordered} {
		if err := lines.Each(func(line []byte) error { size += len(line); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(problemsOfLast); size > 3*most/2 || size < most/4 || r.problems.left == 0 || !slices.Equal(problemsOfLast, []string{BrokenLink, MissingFragment}) {
		t.Errorf("problems: %d bytes, %d findings without one, of the last page %q", size, r.problems.left, problemsOfLast)
	}
	var ofLast []string
	for f := range r.Findings() {
		if f.Page == "http://a.test/z" {
			ofLast = append(ofLast, f.Rule)
		}
	}
	if want := []string{BrokenLink, MissingFragment}; !slices.Equal(ofLast, want) || r.Totals.Rules[BrokenLink] != 50*300+1 || r.Totals.Rules[NotRead] == 0 || r.Totals.Unlisted == 0 {
		t.Errorf("of the last page %q, want %q; %+v", ofLast, want, r.Totals)
	}
}

// TestReturn: a page in another language links back by a redirect, too, and what redirects to it
// has to be linked back by the page that it leads to.
func TestReturn(t *testing.T) {
	page := func(name, alternates string) made {
		return htmlPage("http://a.test/"+name, "<title>"+name+"</title>"+alternates)
	}
	to := func(url string) string { return "<link rel=alternate hreflang=en href=" + url + ">" }
	r, err := Job(t.Context(), makeJob(t,
		page("de", to("/en")+to("/de")+to("/old")), page("en", to("/alt")), answer("http://a.test/alt", 301, "http://a.test/alt2"), answer("http://a.test/alt2", 302, "http://a.test/de"),
		page("fr", to("/moved")), answer("http://a.test/moved", 301, "http://a.test/es"), page("es", to("/en")),
		answer("http://a.test/old", 301, "http://a.test/de"),
	), Options{Rules: named(HreflangNoReturn)})
	want := []string{"http://a.test/es:0:0 hreflang-no-return http://a.test/en", "http://a.test/fr:0:0 hreflang-no-return http://a.test/moved"}
	if got := found(t, r, err); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestDamagedReferrers: a file of referrers that is damaged, or no file, ends no check: what it
// does not tell is reported on the page that the target was found on.
func TestDamagedReferrers(t *testing.T) {
	const home = "http://a.test/"
	gone := answer(home+"gone", 404, "")
	gone.From = home
	for name, make := range map[string]func(path string) error{
		"garbage": func(path string) error { return os.WriteFile(path, []byte("garbage, garbage"), 0o666) },
		"bits":    func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte{0xff}, 100), 0o666) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o777) },
		"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o666) },
	} {
		dir := makeJob(t, answer(home, 200, ""), gone)
		if err := make(filepath.Join(dir, refs.File)); err != nil {
			t.Fatal(err)
		}
		r, err := Job(t.Context(), dir, Options{})
		want := []string{home + ":0:0 broken-link " + home + "gone"}
		if got := found(t, r, err); len(got) != 2 && name != "garbage" || !slices.Equal(got[:1], want) {
			t.Errorf("%s: %q\nwant %q and that something is not read", name, got, want)
		}
	}
}

// TestOwn: what cannot be told of a link is an error on the hosts of the seeds, and of what they
// redirect to; elsewhere it is a note, and so is what the owner has asked for in robots.txt.
func TestOwn(t *testing.T) {
	for name, fate := range map[string]struct {
		record.Record
		own string // rule
	}{
		"401":             {record.Record{Status: 401}, OwnUnknown},
		"403":             {record.Record{Status: 403}, OwnUnknown},
		"429":             {record.Record{Status: 429}, OwnUnknown},
		"451":             {record.Record{Status: 451}, OwnUnknown},
		"503":             {record.Record{Status: 503}, OwnUnknown},
		"hangs":           {record.Record{ErrorKind: "first-byte-timeout"}, OwnUnknown},
		"drops":           {record.Record{ErrorKind: "reset"}, OwnUnknown},
		"half a body":     {record.Record{Status: 200, ErrorKind: "early-end"}, OwnUnknown},
		"stalls":          {record.Record{Status: 200, ErrorKind: "idle-timeout"}, OwnUnknown},
		"overloaded":      {record.Record{ErrorKind: record.KindOverloaded}, OwnUnknown},
		"bot wall":        {record.Record{Status: 200, Title: "Just a moment..."}, OwnUnknown},
		"no robots.txt":   {record.Record{ErrorKind: record.KindNoRobots}, OwnUnknown},
		"robots.txt":      {record.Record{ErrorKind: record.KindRobots}, UnknownLink},
		"private address": {record.Record{ErrorKind: "blocked-address"}, UnknownLink},
		"proxy":           {record.Record{ErrorKind: "proxy"}, UnknownLink},
		"login to proxy":  {record.Record{Status: 407}, UnknownLink},
	} {
		of := func(url string) made {
			m := made{fate.Record, ""}
			m.URL, m.From, m.Depth = url, "x", 1
			return m
		}
		seed, other := answer("http://a.test/", 301, "http://www.a.test/"), of("http://b.test/x")
		seed.From, other.Role = "", record.RoleExternal
		dir := makeJob(t, seed, htmlPage("http://www.a.test/", "<title>x</title><a href=/x></a><a href=http://a.test/x></a><a href=http://b.test/x></a>"),
			of("http://www.a.test/x"), of("http://a.test/x"), other)
		for rules, want := range map[RuleSet]string{0: fate.own, named(GroupLinks) &^ named(OwnUnknown): UnknownLink} {
			r, err := Job(t.Context(), dir, Options{Rules: rules})
			if got, want := found(t, r, err), []string{"http://www.a.test/:1:25 " + want + " http://www.a.test/x", "http://www.a.test/:1:40 " + want + " http://a.test/x",
				"http://www.a.test/:1:68 unknown http://b.test/x"}; !slices.Equal(got, want) || r.Failed() != strings.Contains(got[0], OwnUnknown) {
				t.Errorf("%s: %q\nwant %q", name, got, want)
			}
		}
	}
}

// TestSent: what takes a form or a ping is judged although it gets none: a server that wants
// another method, or more, has it.
func TestSent(t *testing.T) {
	for status, want := range map[int][3]string{ // of a GET form, a POST form, a ping
		200: {}, 405: {}, 400: {}, 422: {}, 501: {},
		404: {BrokenLink, UnknownLink, UnknownLink}, 410: {BrokenLink, BrokenLink, BrokenLink},
		500: {UnknownLink, UnknownLink, UnknownLink}, 403: {UnknownLink, UnknownLink, UnknownLink},
	} {
		for i, link := range []string{
			"<form action=/x></form>", "<form method=' POST' action=/x></form>", "<a href=/ ping=/x></a>",
			"<form method=post><button formmethod=get formaction=/x></form>", "<form method=post></form><form><input formmethod=post formaction=/x>", "",
		} {
			r, err := Job(t.Context(), makeJob(t, htmlPage("http://a.test/", link), answer("http://a.test/x", status, "")), Options{})
			var got []string
			for _, f := range found(t, r, err) {
				got = append(got, strings.Fields(f)[1])
			}
			if want := want[i%3]; strings.Join(got, " ") != want && link != "" {
				t.Errorf("%d of %s: %q, want %q", status, link, got, want)
			}
		}
	}
}

// TestCrawledAndChecked: of a URL that a visit crawls, and checks as the target of a form, the
// crawl counts, whichever comes last.
func TestCrawledAndChecked(t *testing.T) {
	crawled, checked := htmlPage("http://a.test/x", "<title>x</title><a href=/gone></a>"), answer("http://a.test/x", 405, "")
	checked.Role, checked.Method = record.RoleExternal, "HEAD"
	gone := answer("http://a.test/gone", 404, "")
	for name, both := range map[string][]made{"crawled first": {crawled, checked, gone}, "checked first": {checked, crawled, gone}} {
		r, err := Job(t.Context(), makeJob(t, both...), Options{})
		if got, want := found(t, r, err), []string{"http://a.test/x:1:25 broken-link http://a.test/gone"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	checked.Visit, gone.Visit = 2, 2 // it is crawled no more
	r, err := Job(t.Context(), makeJob(t, crawled, gone, checked), Options{})
	if got := found(t, r, err); len(got) > 0 {
		t.Errorf("later: %q", got)
	}
}
