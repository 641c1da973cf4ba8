package diff_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/diff"
	"github.com/weftcrawl/weft/wacz"
)

// churning is a site of some 50 pages on which much differs at each request: dates, times,
// counters, tokens, adverts, the order of lists, queries of images.
type churning struct {
	*httptest.Server
	visit int // changes all that churns
	mu    sync.Mutex
	pages map[string]*sitePage
	all   func(*sitePage) // changes every page
}

// sitePage is a page of the site.
type sitePage struct {
	status             int
	header             map[string]string
	raw                string // the body, of another type
	lang, title, h1    string
	head, main         []string // elements
	menu               []string
	phone, data, image string
	bare               bool // without what all products get
}

// pageOf returns the page of a path at the first visit.
func pageOf(path string) *sitePage {
	p := &sitePage{status: 200, header: make(map[string]string), lang: "en", menu: []string{"Start", "Articles", "Products"}, phone: "555-0100"}
	kind, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	p.title = fmt.Sprintf("%s %s", kind, name)
	p.h1 = "All about " + kind + " " + name
	p.head = append(p.head, `<link rel=canonical href="`+path+`">`, `<meta name=description content="What there is to know of `+kind+` `+name+`">`)
	essay := func(n int) string {
		words := strings.Fields("river valley stone bridge winter harvest copper lantern orchard meadow thunder harbour candle saddle feather granite willow ember compass anchor")
		rnd := rand.New(rand.NewPCG(uint64(n), 7))
		var b strings.Builder
		for range 24 {
			b.WriteString(words[rnd.IntN(len(words))] + " ")
		}
		return "<p>" + strings.TrimSpace(b.String()) + " of " + name + ".</p>"
	}
	h := fnv.New32a()
	h.Write([]byte(path))
	for i := range 3 {
		p.main = append(p.main, essay(int(h.Sum32())+i))
	}
	switch kind {
	case "article":
		p.main = append(p.main, "<p>The bridge of "+name+" is 120 metres long, and was opened on 4 May 1927 by the mayor.</p>",
			`<p>See also <a href="/info/about">about us</a> and <a href="/info/help">help</a>.</p>`)
		p.image = "/img/article-" + name + ".jpg"
	case "product":
		n, _ := strconv.Atoi(name)
		p.main = append(p.main, fmt.Sprintf("<p class=price>Price: %d.90 €</p>", 20+n), "<p class=stock>In stock</p>", "<h2>Facts</h2>",
			fmt.Sprintf("<table><tr><th>Weight<td>%d kg<tr><th>Parts<td>%d</table>", 10+n%3, 3+n%4),
			"<ul class=parts><li>Hammer<li>Nail<li>Wood</ul>", "<button>Buy</button>", `<p><a href="/info/terms">Terms of sale</a></p>`,
			`<p>Shipping: $5</p>`, fmt.Sprintf(`<div itemscope itemtype="https://schema.org/AggregateRating"><meta itemprop=ratingValue content="4.%d"></div>`, n%10))
		p.data = fmt.Sprintf(`{"@type":"Product","sku":"S-%d","offers":{"price":"%d.90","availability":"InStock"},"dateModified":"DATE"}`, n, 20+n)
		p.head = append(p.head, `<meta property=og:title content="Product `+name+`">`)
		p.image = "/img/product-" + name + ".jpg"
	case "info":
		p.main = append(p.main, "<p>The director is Ada Smith, and you may write to her.</p>", "<p>Call 040 1234 in the morning.</p>",
			"<p>Open from 9:00 to 17:00 on all days of the week.</p>", `<p><a href="mailto:office@example.org">Mail</a></p>`,
			`<iframe src="/info/map-a"></iframe>`, "<ul class=jobs><li>Baker wanted<li>Smith wanted<li>Tailor wanted</ul>")
		p.data = `{"@type":"Organization","telephone":"040 1234"}`
	case "":
		p.title, p.h1, p.data = "Home", "Home", ""
		p.main = append(p.main, "<p>Welcome to all who come.</p>")
	}
	return p
}

// paths are those of the first visit.
func paths() (all []string) {
	all = append(all, "/")
	for i := range 20 {
		all = append(all, fmt.Sprintf("/article/%d", i))
	}
	for i := range 15 {
		all = append(all, fmt.Sprintf("/product/%d", i))
	}
	for _, name := range strings.Fields("about contact terms privacy jobs press imprint help map-a map-b") {
		all = append(all, "/info/"+name)
	}
	return append(all, "/misc/lost", "/misc/go", "/misc/alias", "/misc/doc.pdf", "/misc/readme.txt", "/misc/sick")
}

func newChurning(t *testing.T) *churning {
	s := &churning{visit: 1, pages: make(map[string]*sitePage)}
	for _, path := range paths() {
		s.pages[path] = pageOf(path)
	}
	s.pages["/misc/lost"].status = 404
	s.pages["/misc/go"] = &sitePage{status: 302, header: map[string]string{"Location": "/info/about"}}
	s.pages["/misc/alias"] = &sitePage{status: 301, header: map[string]string{"Location": "/info/help"}}
	s.pages["/misc/doc.pdf"] = &sitePage{status: 200, header: map[string]string{"Content-Type": "application/pdf"}, raw: "%PDF-1.4 one"}
	s.pages["/misc/readme.txt"] = &sitePage{status: 200, header: map[string]string{"Content-Type": "text/plain"}, raw: "Read me first.\n\nThen read all of the rest."}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *churning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages[r.URL.Path]
	if p == nil {
		http.NotFound(w, r)
		return
	}
	h := fnv.New64a()
	h.Write([]byte(r.URL.Path))
	rnd := rand.New(rand.NewPCG(uint64(s.visit), h.Sum64()))
	token := func() string { return fmt.Sprintf("%016x%016x", rnd.Uint64(), rnd.Uint64()) }
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("ETag", `"`+token()+`"`)
	head.Set("Set-Cookie", "sid="+token())
	nonce := token()
	head.Set("Content-Security-Policy", "default-src 'self'; script-src 'nonce-"+nonce+"'")
	for name, value := range p.header {
		head.Set(name, value)
	}
	w.WriteHeader(p.status)
	if p.raw != "" {
		fmt.Fprint(w, p.raw)
		return
	}
	page := *p
	if s.all != nil {
		s.all(&page)
	}
	page.write(w, rnd, token, s.links(r.URL.Path))
}

// links are the links of the home page to all pages.
func (s *churning) links(path string) (all []string) {
	if path == "/" {
		all = slices.Sorted(maps.Keys(s.pages))
	}
	return all
}

func (p *sitePage) write(w http.ResponseWriter, rnd *rand.Rand, token func() string, links []string) {
	adverts := strings.Split("Buy red shoes|Eat more fruit|Fly to the moon|Sleep well at last|Learn to juggle|Sing in a choir", "|")
	second := rnd.IntN(60)
	fmt.Fprintf(w, "<!DOCTYPE html><html lang=%s><head><title>%s</title><meta name=csrf-token content=%s>", p.lang, p.title, token())
	fmt.Fprintf(w, "<link rel=stylesheet href=/style.css?v=%d><script nonce=%s>var now=%d</script>", rnd.IntN(1e9), token(), rnd.IntN(1e9))
	fmt.Fprint(w, strings.Join(p.head, "\n"))
	if p.data != "" {
		fmt.Fprintf(w, `<script type="application/ld+json">%s</script>`, strings.ReplaceAll(p.data, "DATE", fmt.Sprintf("2026-11-%02dT10:%02d:00Z", 1+rnd.IntN(29), second)))
	}
	fmt.Fprint(w, "</head><body><nav><ul>")
	for _, item := range p.menu {
		fmt.Fprintf(w, `<li><a href="/%s">%s</a></li>`, strings.TrimPrefix(strings.ToLower(item), "start"), item)
	}
	fmt.Fprintf(w, "</ul><a href=/login?back=1&amp;sid=%s>Log in</a></nav><main><h1>%s</h1>", token(), p.h1)
	if p.image != "" {
		fmt.Fprintf(w, "<img src='%s?t=%d'>", p.image, 1.7e9+rnd.IntN(1e7))
	}
	fmt.Fprint(w, strings.Join(p.main, "\n"))
	for _, link := range links {
		fmt.Fprintf(w, "<li><a href='%s'>%s</a></li>", link, link)
	}
	fmt.Fprintf(w, "</main><aside><div class=ad><a href=/offer/%d>%s</a></div><div class=ad>%s</div>", rnd.IntN(900), adverts[rnd.IntN(6)], adverts[rnd.IntN(6)])
	tags := strings.Fields("winter summer spring autumn")
	rnd.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	for _, tag := range tags {
		fmt.Fprintf(w, "<span class=tag>%s</span> <li>%s</li>", tag, tag)
	}
	fmt.Fprint(w, "<div class=also>")
	for _, n := range rnd.Perm(10)[:3] {
		fmt.Fprintf(w, "<p><a href=/article/%d>You may like %c</a></p>", n, 'A'+n)
	}
	fmt.Fprintf(w, "</div><form><input type=hidden name=csrf value=%s></form></aside>", token())
	fmt.Fprintf(w, "<footer><p>Generated %d November 2026 at 17:%02d:%02d. Phone %s</p><p>%d visitors online, updated %d minutes ago</p><p>Request %s</p></footer></body></html>",
		1+rnd.IntN(30), rnd.IntN(60), second, p.phone, rnd.IntN(5000), 2+rnd.IntN(50), token())
}

// planted is a change of the site, and the lines of the report that tell it.
type planted struct {
	path string
	edit func(*sitePage)
	want []string
}

// replace is an edit of what is in the main part, or the head, of a page.
func replace(old, new string) func(*sitePage) {
	return func(p *sitePage) {
		n := 0
		for _, list := range [][]string{p.main, p.head} {
			for i := range list {
				if strings.Contains(list[i], old) {
					list[i] = strings.Replace(list[i], old, new, 1)
					n++
				}
			}
		}
		if strings.Contains(p.data, old) {
			p.data = strings.Replace(p.data, old, new, 1)
			n++
		}
		if n == 0 {
			panic("nothing to replace: " + old)
		}
	}
}

func insert(html string) func(*sitePage) {
	return func(p *sitePage) { p.main = append(p.main, html) }
}

func headline(html string) func(*sitePage) {
	return func(p *sitePage) { p.head = append(p.head, html) }
}

func field(name, value string) func(*sitePage) {
	return func(p *sitePage) { p.header[name] = value }
}

func answer(status int, location string) func(*sitePage) {
	return func(p *sitePage) {
		p.status = status
		if location != "" {
			p.header["Location"] = location
		}
	}
}

// changes are those of single pages. Lines are: kind, path, field, and the words that differ.
var changes = []planted{
	{"/article/0", replace("and was opened", "and was closed"), []string{"changed text [opened][closed]"}},
	{"/article/1", replace("120 metres", "125 metres"), []string{"changed text [120][125]"}},
	{"/article/2", func(p *sitePage) { p.title = "article two" }, []string{"changed title [2][two]"}},
	{"/article/3", func(p *sitePage) { p.h1 = "Nothing about article 3" }, []string{"changed heading [All][Nothing]"}},
	{"/article/4", insert("<p>A paragraph that nobody has seen before.</p>"), []string{"changed text []A paragraph that nobody has seen before."}},
	{"/article/5", func(p *sitePage) { p.main = p.main[1:] }, []string{"changed text -"}},
	{"/article/6", insert(`<p>More is at <a href="/info/press">the press page</a>.</p>`), []string{"changed text []More is at the press page.", "changed link []/info/press"}},
	{"/article/7", replace(` and <a href="/info/help">help</a>`, ""), []string{"changed text [us and help.][us.]", "changed link [/info/help]"}},
	{"/article/8", replace(`href="/info/help"`, `href="/info/terms"`), []string{"changed link []/info/terms", "changed link [/info/help]"}},
	{"/article/9", replace("href=\"/article/9\"", `href="/article/nine"`), []string{"changed canonical [/article/9]/article/nine"}},
	{"/article/10", headline(`<meta name=robots content="noindex">`), []string{"changed robots []noindex"}},
	{"/article/11", field("X-Robots-Tag", "noindex"), []string{"changed header x-robots-tag []noindex"}},
	{"/article/12", replace("What there is to know", "All there is to say"), []string{"changed description [What][All] [know][say]"}},
	{"/article/13", answer(404, ""), []string{"gone 404 Not Found"}},
	{"/article/14", answer(410, ""), []string{"gone 410 Gone"}},
	{"/article/15", answer(301, "/article/16"), []string{"changed status [200 OK]301 Moved Permanently", "changed redirect []/article/16"}},
	{"/article/16", func(p *sitePage) { p.image = "/img/other.jpg" }, []string{"changed image []/img/other.jpg", "changed image [/img/article-16.jpg]"}},
	{"/article/17", replace("opened on 4 May 1927 by the mayor", "blown up on 4 May 1927 by nobody at all"), []string{"changed text [opened][blown up] [the mayor.][nobody at all.]"}},
	{"/article/18", func(p *sitePage) { p.lang = "de" }, []string{"changed language [en]de"}},
	{"/article/19", replace("4 May 1927", "6 June 1928"), []string{"changed text [4 May 1927][6 June 1928]"}},

	{"/product/0", replace("20.90 €", "18.50 €"), []string{"changed text [20.90][18.50]"}},
	{"/product/1", replace(`"price":"21.90"`, `"price":"11.90"`), []string{"changed data Product.offers.price [21.90]11.90"}},
	{"/product/2", replace("InStock", "OutOfStock"), []string{"changed data Product.offers.availability [InStock]OutOfStock"}},
	{"/product/3", replace("In stock", "Sold out"), []string{"changed text [In stock][Sold out]"}},
	{"/product/4", replace("11 kg", "31 kg"), []string{"changed text [11][31]"}},
	{"/product/5", replace("<li>Wood", "<li>Wood<li>Glue"), []string{"changed text []Glue"}},
	{"/product/6", replace("<li>Nail", ""), []string{"changed text [Nail]"}},
	{"/product/7", replace(`content="Product 7"`, `content="The best product"`), []string{"changed data og:title [Product 7]The best product"}},
	{"/product/8", replace("<h2>Facts", "<h2>Rumours"), []string{"changed text [Facts][Rumours]"}},
	{"/product/9", replace(`content="4.9"`, `content="1.2"`), []string{"changed data AggregateRating.ratingValue [4.9]1.2"}},
	{"/product/10", replace("Terms of sale", "Conditions of sale"), []string{"changed text [Terms][Conditions]"}},
	{"/product/11", answer(404, ""), nil}, // moved: see appear
	{"/product/12", answer(301, "/shop/twelve"), nil},
	{"/product/13", replace("<button>Buy", "<button>Order"), []string{"changed text [Buy][Order]"}},
	{"/product/14", replace("Shipping: $5", "Shipping: $6"), []string{"changed text [$5][$6]"}},

	{"/info/about", replace("Ada Smith", "Eve Jones"), []string{"changed text [Ada Smith,][Eve Jones,]"}},
	{"/info/about", replace(`"telephone":"040 1234"`, `"telephone":"040 9999"`), []string{"changed data Organization.telephone [040 1234]040 9999"}},
	{"/info/contact", replace("Call 040 1234", "Call 040 9876"), []string{"changed text [1234][9876]"}},
	{"/info/contact", replace("mailto:office@", "mailto:desk@"), []string{"changed link []mailto:desk@example.org", "changed link [mailto:office@example.org]"}},
	{"/info/contact", replace("from 9:00 to 17:00", "from 10:00 to 18:00"), []string{"changed text [9:00][10:00] [17:00][18:00]"}},
	{"/info/terms", replace("you may write", "you must write"), []string{"changed text [may][must]"}},
	{"/info/privacy", func(p *sitePage) { p.main[0] = "<p>We keep every datum for ever and sell it to anyone.</p>" }, []string{"changed text ~"}},
	{"/info/jobs", replace("<li>Smith wanted<li>Tailor wanted", "<li>Tailor wanted"), []string{"changed text [Smith wanted]"}},
	{"/info/press", field("Content-Language", "en-GB"), []string{"changed header content-language []en-GB"}},
	{"/info/imprint", replace("/info/map-a", "/info/map-c"), []string{"changed link []/info/map-c", "changed link [/info/map-a]"}},
	{"/info/help", headline(`<link rel=alternate hreflang=de href="/de/help">`), []string{"changed alternate de []/de/help"}},
	{"/info/help", headline(`<meta name=robots content="nofollow">`), []string{"changed robots []nofollow"}},

	{"/", insert("<p>Read what is new here.</p>"), []string{"changed text []Read what is new here."}},
	{"/misc/lost", answer(200, ""), []string{"new was 404"}},
	{"/misc/go", field("Location", "/info/terms"), []string{"changed redirect [/info/about]/info/terms"}},
	{"/misc/alias", func(p *sitePage) { *p = *pageOf("/misc/alias") }, []string{"changed status [301 Moved Permanently]200 OK", "changed redirect [/info/help]"}},
	{"/misc/doc.pdf", func(p *sitePage) { p.raw = "%PDF-1.4 another one" }, []string{"changed body ~"}},
	{"/misc/readme.txt", func(p *sitePage) { p.raw = strings.Replace(p.raw, "rest", "text", 1) }, []string{"changed text [rest.][text.]"}},
	{"/misc/sick", answer(500, ""), []string{"not-compared new: 500 Internal Server Error"}},
}

// plant changes the site, and returns the lines that a report has to have.
func (s *churning) plant() (want []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		c.edit(s.pages[c.path])
		for _, line := range c.want {
			kind, rest, _ := strings.Cut(line, " ")
			want = append(want, kind+" "+c.path+" "+rest)
		}
	}
	moved := pageOf("/product/11") // with its text, at another URL
	moved.bare = true
	s.pages["/shop/eleven"], s.pages["/shop/twelve"] = moved, pageOf("/product/12")
	s.pages["/news/1"], s.pages["/news/2"] = pageOf("/news/1"), pageOf("/news/2")
	want = append(want, "moved /product/11 /shop/eleven same text", "moved /product/12 /shop/twelve redirect: 301",
		"new /news/1 ", "new /news/2 ")
	for _, path := range []string{"/news/1", "/news/2", "/shop/eleven", "/shop/twelve"} {
		want = append(want, "changed / text []"+path, "changed / link []"+path)
	}
	s.all = func(p *sitePage) { // what pages share
		p.menu = append(slices.Clone(p.menu), "Blog")
		p.phone = "555-0199"
		if strings.HasPrefix(p.title, "product") && !p.bare {
			p.main = append(slices.Clone(p.main), "<p class=badge>Free returns</p>")
		}
	}
	for path, p := range s.pages {
		if p.raw == "" && path != "/misc/go" {
			p.header["Strict-Transport-Security"] = "max-age=1"
		}
	}
	return append(want, "shared 41 text []Blog", "shared 41 link []/blog", "shared 41 header strict-transport-security []max-age=1", "shared 13 text []Free returns",
		"shared 41 text [555-0100][555-0199]")
}

// lines are the report, a line for each detail.
func lines(t *testing.T, r *diff.Report, site string) (all []string) {
	t.Helper()
	for c, err := range r.Changes() {
		if err != nil {
			t.Fatal(err)
		}
		on := string(c.Kind) + " " + strings.TrimPrefix(c.URL, site)
		switch c.Kind {
		case diff.Shared:
			on = fmt.Sprintf("shared %d", c.Pages)
		case diff.Moved:
			all = append(all, "moved "+strings.TrimPrefix(c.From, site)+" "+strings.TrimPrefix(c.URL, site)+" "+c.Reason)
			continue
		case diff.New:
			was := ""
			if c.OldStatus != 0 {
				was = fmt.Sprintf("was %d", c.OldStatus)
			}
			all = append(all, on+" "+was)
			continue
		case diff.Gone, diff.NotCompared:
			all = append(all, on+" "+c.Reason)
			continue
		}
		for _, d := range c.Details {
			name := string(d.Field)
			if d.Name != "" {
				name += " " + d.Name
			}
			all = append(all, on+" "+name+" "+difference(d, site))
		}
	}
	slices.Sort(all)
	return all
}

// difference is [old][new] of each place, or [old]new where there are no words.
func difference(d diff.Detail, site string) string {
	if d.Words == nil {
		old := strings.TrimPrefix(d.Old, site)
		if at := strings.IndexByte(old, '?'); at > 0 {
			old = old[:at]
		}
		new := strings.TrimPrefix(d.New, site)
		if at := strings.IndexByte(new, '?'); at > 0 {
			new = new[:at]
		}
		switch {
		case d.Field == diff.Body:
			return "~"
		case len(old) > 100:
			return "-"
		}
		return "[" + old + "]" + new
	}
	var parts []string
	for i, w := range d.Words {
		switch {
		case w.Op == diff.Same:
		case w.Op == diff.Added && i > 0 && d.Words[i-1].Op == diff.Removed:
			parts[len(parts)-1] += "[" + w.Text + "]"
		case w.Op == diff.Added:
			parts = append(parts, "[]["+w.Text+"]")
		default:
			parts = append(parts, "["+w.Text+"]")
		}
	}
	if text := strings.Join(parts, " "); len(text) < 100 {
		return text
	}
	return "~"
}

func (s *churning) crawl(t *testing.T, job string, o weft.Options) {
	t.Helper()
	o.Job = job
	o.Reach.NoRobots = true
	o.Pace = weft.Pace{Retries: -1}
	if !o.Rerun.Update {
		o.Seeds = []string{s.URL + "/"}
	}
	for _, err := range weft.Crawl(context.Background(), o) {
		if err != nil && !strings.Contains(err.Error(), "status") {
			t.Log(err)
		}
	}
}

// compare compares, and reads the lines of the report.
func (s *churning) compare(t *testing.T, old, new diff.Source) (*diff.Report, []string) {
	t.Helper()
	r, err := diff.Compare(context.Background(), old, new, diff.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, lines(t, r, s.URL)
}

// equal compares a report with the lines that it has to have: all changes are found, and none is
// invented.
func equal(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(want)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("not found: %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("invented: %s", line)
		}
	}
	if len(got) != len(want) && !t.Failed() {
		t.Errorf("%d lines, expected %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

// TestPlanted: of 60 changes among all that churns, each is found between two visits, and nothing
// else.
func TestPlanted(t *testing.T) {
	t.Parallel()
	s := newChurning(t)
	job := t.TempDir()
	s.crawl(t, job, weft.Options{Keep: weft.Keep{Archive: true}})
	s.visit = 2
	want := s.plant()
	s.crawl(t, job, weft.Options{Rerun: weft.Rerun{Update: true}})
	r, got := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job, Visit: 2})
	equal(t, got, want)
	if n := len(changes) + 6; n < 60 {
		t.Errorf("%d changes were planted, expected 60", n)
	}
	t.Logf("%+v", r.Summary)
}

// packed packs the archive of a job.
func packed(t *testing.T, job string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "old.wacz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := wacz.PackJob(file, job, wacz.Options{}); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// TestPlantedArchives: of two WARC files, made by two crawls, the same changes are found as of two
// jobs; and of a job beside an archive, and of a packed one.
func TestPlantedArchives(t *testing.T) {
	t.Parallel()
	s := newChurning(t)
	old, new := t.TempDir(), t.TempDir()
	s.crawl(t, old, weft.Options{Keep: weft.Keep{Archive: true}})
	s.visit = 2
	want := s.plant()
	s.crawl(t, new, weft.Options{Keep: weft.Keep{Archive: true}})
	warc := func(job string) string {
		all, err := filepath.Glob(filepath.Join(job, "archive", "*.warc.gz"))
		if err != nil || len(all) != 1 {
			t.Fatalf("%q, %v", all, err)
		}
		return all[0]
	}
	for name, sides := range map[string][2]string{
		"jobs": {old, new}, "package and archive": {packed(t, old), warc(new)}, "archives": {warc(old), warc(new)}, "job and archive": {old, warc(new)}, "archive and job": {warc(old), new},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := s.compare(t, diff.Source{Path: sides[0]}, diff.Source{Path: sides[1]})
			equal(t, got, want)
		})
	}
}
