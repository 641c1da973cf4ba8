package links

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
)

func mustParse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// raws returns the Raw of the links of a page, at most limit of them.
func raws(t testing.TB, o Options, contentType, body string, limit int) (found []string) {
	t.Helper()
	NewExtractor(o).Extract(Document{Base: mustParse(t, pageURL), ContentType: contentType, Body: []byte(body)}, func(l Link) bool {
		found = append(found, l.Raw)
		return len(found) < limit
	})
	return found
}

func TestContentType(t *testing.T) {
	for contentType, want := range map[string]int{
		"text/html":                    1,
		" Text/HTML ; charset=utf-8":   1,
		"application/xhtml+xml;a=b":    1,
		"":                             0,
		"text/plain":                   0,
		"text/html+x":                  0,
		"application/xml; x=text/html": 0,
	} {
		if got := raws(t, Options{}, contentType, "<a href=x>", 9); len(got) != want {
			t.Errorf("%q: %d links, want %d", contentType, len(got), want)
		}
	}
}

func TestOptionsKinds(t *testing.T) {
	const body = "<base href=/b/><a href=1><img src=2></a><link href=3><img src=4><p style='background: url(5)'>"
	for name, c := range map[string]struct {
		options Options
		want    []string
	}{
		"all":              {Options{}, []string{"2", "1", "3", "4", "5"}},
		"some":             {Options{Kinds: KindsOf(KindPage, KindRelated)}, []string{"1", "3"}},
		"images":           {Options{Kinds: KindsOf(KindImage)}, []string{"2", "4", "5"}},
		"none that it has": {Options{Kinds: KindsOf(KindForm)}, nil},
	} {
		if got := raws(t, c.options, "text/html", body, 9); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestBare: fields that are not wanted are empty, and an anchor is yielded when it begins.
func TestBare(t *testing.T) {
	const body = "<title>T</title><a href=1 rel='x nofollow'>one<img src=2></a>"
	want := []Link{
		{URL: mustParse(t, "http://example.org/dir/1"), Tag: "a", Attr: "href", Kind: KindPage, NoFollow: true},
		{URL: mustParse(t, "http://example.org/dir/2"), Tag: "img", Attr: "src", Kind: KindImage},
	}
	var got []Link
	page := NewExtractor(Options{Bare: true}).Extract(Document{Base: mustParse(t, pageURL), ContentType: "text/html", Body: []byte(body)}, func(l Link) bool {
		got = append(got, l)
		return true
	})
	if !slices.Equal(got, want) || page.Title != "T" {
		t.Errorf("got %+v, %q", got, page.Title)
	}
}

// TestReuse: a used Extractor yields the same for a page as a new one, and earlier links do not
// change.
func TestReuse(t *testing.T) {
	x := NewExtractor(Options{})
	base := mustParse(t, pageURL)
	read := func(x *Extractor, body string) (links []Link, page Page) {
		bytes := []byte(body)
		page = x.Extract(Document{Base: base, ContentType: "text/html", Body: bytes}, func(l Link) bool {
			links = append(links, l)
			return true
		})
		clear(bytes)
		return links, page
	}
	type answer struct {
		body  string
		links []Link
		title string
	}
	var all []answer
	for range 3 {
		for _, body := range append(pages, "<svg><a href=x>", "<base href=/x><meta name=robots content=none><title>t</title><a href='?a&amp;b&#38;c' rel='a b'>some text") {
			links, page := read(x, body)
			all = append(all, answer{body, links, page.Title})
		}
	}
	for _, a := range all {
		links, page := read(NewExtractor(Options{}), a.body)
		if !slices.Equal(links, a.links) || page.Title != a.title {
			t.Errorf("%q: got %+v %q, alone %+v %q", a.body, a.links, a.title, links, page.Title)
		}
	}
}

func TestYieldStops(t *testing.T) {
	const body = "<a href=1><img src=2 srcset='3, 4 1x'></a><area href=5><a href=6>"
	all := raws(t, Options{}, "text/html", body, 99)
	if len(all) != 6 {
		t.Fatalf("got %q", all)
	}
	for n := 1; n <= len(all); n++ {
		if got := raws(t, Options{}, "text/html", body, n); !slices.Equal(got, all[:n]) {
			t.Errorf("stopped after %d: got %q, want %q", n, got, all[:n])
		}
	}
}

func TestBaseOfNoUse(t *testing.T) {
	for _, base := range []weburl.URL{{}, mustParse(t, "mailto:a@b")} {
		var found []string
		Extract(base, "text/html", []byte("<a href=x></a><a href=//h/></a><a href=http://h/></a>"), func(l Link) bool {
			found = append(found, l.URL.String())
			return true
		})
		if !slices.Equal(found, []string{"http://h/"}) {
			t.Errorf("base %q: got %q", base, found)
		}
	}
}

func TestLongValues(t *testing.T) {
	long := strings.Repeat("x", maxValue+1)
	body := "<a href=" + long + ">1</a><a href=2>2</a><img src=data:," + long + " srcset='data:," + long + long + " 1x, 3 2x'>" +
		"<meta name=robots content='none " + long + "'><a href=" + long[:maxValue] + "></a>"
	got := raws(t, Options{}, "text/html", body, 99)
	if want := []string{"2", "3", long[:maxValue]}; !slices.Equal(got, want) {
		t.Errorf("got %d links", len(got))
	}
}

// TestHostile: pages made to be slow. A reader that scans the rest of the body again for each tag
// would take hours.
func TestHostile(t *testing.T) {
	size := long.Or(512<<10, 4<<20)
	for contentType, units := range map[string][]string{
		"text/html": {
			"<", "</", "<a", "<a ", "<a href=x>", "<a href=\"", "<a b='", "<p title=\"x\" ", "<!", "<!-", "<!--", "<!-- -", "<!-- >", "<!-- --",
			"<?", "<script>", "<script><!--", "<script><!--<script></script>", "<script></scrip", "<title>", "<title></titl>", "<textarea></",
			"&", "<a href=&", "<a href='&#x", "<a href='&#9999999", "<a href='&notit;", "<a href='&CounterClockwiseContourIntegra",
			"<img srcset='a,", "<img srcset='a (", "<img srcset=', ", "<meta http-equiv=refresh content='0", "<a a=a b=b", "\x00", "<a\x00", "\xff",
			"<a href='\t", "<a href='/../", "<a href=x>&amp;", "<base href=x>", "<plaintext>", "<svg>", "<svg><title>", "<svg><style>", "<svg><![CDATA[",
			"<p style='url(", "<p style='url(a)'>", "<style>url(", "<script type=application/ld+json>[", "<link rel='a b c d e f' href=x>",
			"<meta name=robots content='a,b:c,none'>", "<a style=a style=b ", "<p a=\"b\"c", "<p a=\"b\" c",
		},
		"text/css": {
			"url(", "url(\"", "url(a", "url(\\", "/*", "/", "@import ", "@import '", "'", "\\", "a\\", "@", "@font-face{", "url(a)", "url( ",
		},
		"application/rss+xml": {"<link>", "<link>a", "<link href=a>", "</link>", "<![CDATA[", "<link><![CDATA[a]]>", "<a:", "&amp;<guid>", ":<a", "<link a=b "},
		"text/xml":            {"<?", "<!--", "<![CDATA[", " ", "<!a>", "<rss><link>"},
		"application/ld+json": {"[", "{\"a\":", "[1,", "\"", "\"\\", "{\"url\":[", "[\"/a\",", " "},
		"text/javascript":     {"'", "'/", "'/a", "'http://", "\"'`", "'/a'", "'\\/", "`/a\n"},
	} {
		x := NewExtractor(Options{Scripts: true, Agent: "weft"})
		for _, unit := range units {
			body := []byte(strings.Repeat(unit, size/len(unit)))
			n := 0
			x.Extract(Document{Base: mustParse(t, pageURL), ContentType: contentType, Body: body}, func(l Link) bool {
				n++
				return true
			})
			if n > len(body)/2 {
				t.Errorf("%s: %q: %d links in %d bytes", contentType, unit, n, len(body))
			}
		}
	}
	many := strings.Repeat("a:nofollow, ", size/12)
	if r := RobotsTag([]string{many}, "weft"); r.NoFollow || len(r.Directives) > 0 {
		t.Errorf("%+v", r)
	}
	Header(mustParse(t, pageURL), []string{"<a>" + strings.Repeat(";a=b", size/4), strings.Repeat("<", size), strings.Repeat("\",", size/2)}, func(Link) bool { return true })
}

// TestNoAllocation: the allocations for a page do not depend on the number of its links.
func TestNoAllocation(t *testing.T) {
	x := NewExtractor(Options{})
	mentions := 0
	cost := func(n int) float64 {
		body := []byte("<title>A page</title>" + strings.Repeat("<p class='x'>text</p><a class=\"y\" href=\"a/b?c&amp;d&#38;e\" rel=nofollow>b</a><img srcset='a 1x, b 2x' src=c>", n))
		return testing.AllocsPerRun(5, func() {
			x.Mentions("text/html", body, func(m Mention) bool {
				mentions += len(m.Value)
				return true
			})
		})
	}
	if few, many := cost(1), cost(1000); many > few || few > 10 || mentions == 0 {
		t.Errorf("%v allocations for a page with a link, %v for one with 1,000", few, many)
	}
}

// TestMemory: memory in use is bounded by the longest attribute of a page, not by its length or
// the number of its links.
func TestMemory(t *testing.T) {
	body := []byte(strings.Repeat("<a href='a&amp;b'>some text</a><p>", 100_000))
	base := mustParse(t, pageURL)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	Extract(base, "text/html", body, func(Link) bool {
		if n++; n == 100_000 {
			runtime.GC()
			runtime.ReadMemStats(&during)
		}
		return true
	})
	if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); n != 100_000 || grown > 64<<10 {
		t.Errorf("after %d links %d bytes are held", n, grown)
	}
	runtime.KeepAlive(body)
}

// checkLink checks the invariants of every link.
func checkLink(t *testing.T, l Link) {
	t.Helper()
	if !l.URL.IsHTTP() {
		t.Fatalf("%q is not http", l.URL)
	}
	if len(l.Text) > maxText || !utf8.ValidString(l.Text) {
		t.Fatalf("text of %d bytes: %q", len(l.Text), l.Text)
	}
	if l.Text != strings.Join(strings.FieldsFunc(l.Text, func(r rune) bool { return r < 128 && markup.IsSpace(byte(r)) }), " ") {
		t.Fatalf("text %q is not collapsed", l.Text)
	}
	if len(l.Raw) > 2*maxValue || l.Kind >= numKinds || l.Tag == "" || l.Attr == "" {
		t.Fatalf("%+v", l)
	}
	if l.Attr == "style" || l.Attr == "import" || l.Attr == "background" {
		// These may be of any element, or of many.
		return
	}
	i := slices.IndexFunc(elements, func(e element) bool { return e.tag == l.Tag })
	if i < 0 {
		t.Fatalf("tag %q", l.Tag)
	}
	if l.Rel != "" && !elements[i].rel || l.Text != "" && l.Tag != "a" {
		t.Fatalf("%+v", l)
	}
}

// FuzzExtract: whatever the bytes, Extract ends without a panic; links satisfy checkLink, resolve
// against the base or the page to their URL, and number at most half the bytes; a page cut short,
// or a yield that stops, changes no link before that.
func FuzzExtract(f *testing.F) {
	for _, page := range pages {
		f.Add([]byte(page), false)
	}
	files, _ := os.ReadDir("testdata")
	for _, file := range files {
		if text, err := os.ReadFile("testdata/" + file.Name()); err == nil {
			f.Add(text, strings.HasPrefix(file.Name(), "xhtml"))
		}
	}
	base := mustParse(f, pageURL)
	f.Fuzz(func(t *testing.T, body []byte, xhtml bool) {
		contentType := "text/html"
		if xhtml {
			contentType = "application/xhtml+xml"
		}
		original := bytes.Clone(body)
		var links []Link
		page := Extract(base, contentType, body, func(l Link) bool {
			checkLink(t, l)
			links = append(links, l)
			return true
		})
		if !bytes.Equal(body, original) {
			t.Fatal("the body was changed")
		}
		if len(links) > len(body)/2 {
			t.Fatalf("%d links in %d bytes", len(links), len(body))
		}
		if len(page.Title) > maxTitle || !utf8.ValidString(page.Title) {
			t.Fatalf("title %q", page.Title)
		}
		// Such documents may have bases of their own.
		hasFrames := bytes.Contains(bytes.ToLower(body), []byte("srcdoc"))
		for _, l := range links {
			early, _ := base.Resolve(l.Raw)
			late, _ := page.Base.Resolve(l.Raw)
			if l.URL != early && l.URL != late && !hasFrames {
				t.Fatalf("%q resolves to %q or %q, not %q", l.Raw, early, late, l.URL)
			}
		}
		if len(links) > 1 {
			n := 0
			Extract(base, contentType, body, func(l Link) bool {
				if l != links[n] {
					t.Fatalf("link %d is %v, then %v", n, links[n], l)
				}
				n++
				return n < len(links)/2
			})
			if n != len(links)/2 {
				t.Fatalf("%d links after yield stopped at %d", n, len(links)/2)
			}
		}
	})
}

// TestLongStarts: links behind something huge are found, or the page says that it hides them.
func TestLongStarts(t *testing.T) {
	n := long.Or(4<<20, 20<<20)
	const link = `<a href="behind">`
	for name, c := range map[string]struct {
		start  string
		hidden bool
	}{
		"tag name":                {"<" + strings.Repeat("a", n) + ">", false},
		"run of <":                {strings.Repeat("<", n), false},
		"title":                   {"<title>" + strings.Repeat("x", n) + "</title>", false},
		"script":                  {"<script>" + strings.Repeat("x<", n/2) + "</script>", false},
		"attribute":               {`<p class="` + strings.Repeat("x", n) + `">`, false},
		"comment":                 {"<!--" + strings.Repeat("->", n/2) + "-->", false},
		"unclosed title":          {"<title>" + strings.Repeat("x", n), true},
		"unclosed script":         {"<script>" + strings.Repeat("x", n), true},
		"unclosed hidden scripts": {"<script><!--" + strings.Repeat("<script></script>", n/17), true},
		"unclosed style":          {"<svg></svg><style>" + strings.Repeat("x", n), true},
		"unclosed attribute":      {`<p class='` + strings.Repeat("x", n), true},
		"unclosed in an end tag":  {`</p class='` + strings.Repeat("x", n), true},
		"unclosed link":           {`<a href='` + strings.Repeat("x", n), true},
		"unclosed comment":        {"<!--" + strings.Repeat("x", n), true},
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			page := Extract(mustParse(t, pageURL), "text/html", []byte(c.start+link), func(Link) bool { found++; return true })
			if page.Hidden != c.hidden || found == 0 != c.hidden {
				t.Errorf("%d links, hidden %v, expected %v", found, page.Hidden, c.hidden)
			}
		})
	}
}

// TestNestedFrames: documents in srcdoc attributes are read some levels deep, so the time is
// linear.
func TestNestedFrames(t *testing.T) {
	body := strings.Repeat("<iframe/srcdoc=", 1<<20) + "<a/href=deep>"
	Extract(mustParse(t, pageURL), "text/html", []byte(body), func(l Link) bool {
		t.Errorf("%+v", l)
		return true
	})
}

// TestLongBase: links on a long base cost their length, and the number that is read is bounded
// accordingly.
func TestLongBase(t *testing.T) {
	body := func(base string) []byte {
		return []byte("<base href=" + base + "/>" + strings.Repeat("<a href=1>", 10_000))
	}
	for _, c := range []struct {
		name, base string
		links      int
		cut        bool
	}{
		{"usual", "http://e.test/" + strings.Repeat("a", 4000), 10_000, false},
		{"long", "http://e.test/" + strings.Repeat("a", longBase+maxExcess/2000), 2000, true},
		{"long, and of another scheme", "foo:/" + strings.Repeat("a", 60_000), 0, true},
	} {
		n := 0
		page := Extract(weburl.URL{}, "text/html", body(c.base), func(Link) bool { n++; return true })
		if n > c.links || n < c.links*99/100 || page.Cut != c.cut {
			t.Errorf("%s: %d links, cut %v; expected %d, %v", c.name, n, page.Cut, c.links, c.cut)
		}
	}
}

// TestQueryEncoding: queries are in the encoding of their page, except those in CSS.
func TestQueryEncoding(t *testing.T) {
	body := `<a href="?日">` + `<p style="background: url('?日')">` + `<style>@import "?日";</style>` + `<a href="?本">`
	var got []string
	NewExtractor(Options{}).Extract(Document{Base: mustParse(t, pageURL), ContentType: "text/html", Body: []byte(body), Charset: "shift_jis"}, func(l Link) bool {
		got = append(got, l.URL.Query())
		return true
	})
	if want := []string{"%E6%97%A5", "%E6%97%A5", "%93%FA", "%96{"}; !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("%q, expected %q", got, want)
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
