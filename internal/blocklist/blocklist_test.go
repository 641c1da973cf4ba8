package blocklist_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/weburl"
)

// request returns a request of a script by a page of another site.
func request(t testing.TB, url string) blocklist.Request {
	t.Helper()
	return requestOf(t, url, "https://news.example/story", "Script")
}

func requestOf(t testing.TB, url, page, kind string) blocklist.Request {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	var p weburl.URL
	if page != "" {
		if p, err = weburl.Parse(page); err != nil {
			t.Fatal(err)
		}
	}
	return blocklist.Request{URL: u, Page: p, Type: kind}
}

func read(t testing.TB, text string) *blocklist.List {
	t.Helper()
	l, err := blocklist.Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return l
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		rule    string
		blocked []string
		passed  []string
	}{
		{"||track.test^",
			[]string{"https://track.test/", "http://a.b.track.test:8080/x?y", "wss://track.test/s", "https://TRACK.test/a"},
			[]string{"https://mytrack.test/", "https://track.test.shop.test/", "https://shop.test/?u=https://track.test/", "https://track.testing/"}},
		{"||track.test", []string{"https://track.test/", "https://track.test.shop.test/"}, []string{"https://mytrack.test/"}},
		{"||track.", []string{"https://a.track.test/", "https://track.shop/"}, []string{"https://backtrack.test/", "https://shop.test/track."}},
		{"||a.test/js/*/t.js", []string{"https://b.a.test/js/v1/t.js?x"}, []string{"https://a.test/js/t.js", "https://a.test/x/js/1/t.js"}},
		{"||tr*ck.test^", []string{"https://trick.test/", "https://a.tr.duck.test/"}, []string{"https://atrick.test/"}},
		{"||*track^", []string{"https://shop.test/track/"}, []string{"https://shop.test/tracks"}},
		{"||bücher.test^", []string{"https://xn--bcher-kva.test/a", "https://x.bücher.test/"}, []string{"https://bucher.test/"}},
		{"||[::1]^", []string{"http://[::1]:80/a"}, []string{"http://[::2]/"}},
		{"||10.1.2.3^", []string{"http://10.1.2.3/a"}, []string{"http://10.1.2.30/"}},
		{"|https://ads.", []string{"https://ads.test/"}, []string{"http://ads.test/", "https://a.test/?https://ads."}},
		{"swf|", []string{"https://a.test/b.swf"}, []string{"https://a.test/swf/b", "https://a.test/b.swf?c"}},
		{"|https://a.test/|", []string{"https://a.test/", "https://a.test/#top"}, []string{"https://a.test/b"}},
		{"/banner/*/img^",
			[]string{"https://a.test/banner/x/img", "https://a.test/banner/x/img?y", "https://a.test/banner//img/"},
			[]string{"https://a.test/banner/img", "https://a.test/banner/x/imgraph", "https://a.test/banner/x/img.gif"}},
		{"^pixel^", []string{"https://a.test/pixel", "https://a.test/?pixel=1"}, []string{"https://a.test/pixel.gif", "https://a.test/a-pixel", "https://a.test/%70pixel"}},
		{"&ad_id=", []string{"https://a.test/?b&AD_ID=4"}, []string{"https://a.test/?ad_id=4"}},
		{"*/ads/*", []string{"https://a.test/ads/b"}, []string{"https://a.test/ads"}},
		{"/Ad.js$match-case", []string{"https://a.test/Ad.js"}, []string{"https://a.test/ad.js"}},
		{"||A.test/Ad$match-case", []string{"https://a.test/Ad"}, []string{"https://a.test/ad"}},
		{"/a$b.js", []string{"https://x.test/a$b.js"}, []string{"https://x.test/a"}},
		{"ad", []string{"https://a.test/lead"}, []string{"https://a.test/"}},
		{"*$script", []string{"https://a.test/"}, nil},
		{"||track.test^$image", nil, []string{"https://track.test/"}},
		{"//shop.test^", []string{"https://user:word@shop.test/"}, nil},
		{"user:word", nil, []string{"https://user:word@shop.test/#user:word"}},
	} {
		l := read(t, "[Adblock Plus 2.0]\n"+c.rule)
		if l.Len() != 1 || l.Skipped() != (blocklist.Skipped{}) {
			t.Errorf("%s: %d rules, skipped %+v", c.rule, l.Len(), l.Skipped())
		}
		for _, url := range c.blocked {
			if got := l.Blocks(request(t, url)); got != c.rule {
				t.Errorf("%s does not block %s: %q", c.rule, url, got)
			}
		}
		for _, url := range c.passed {
			if l.Blocks(request(t, url)) != "" {
				t.Errorf("%s blocks %s", c.rule, url)
			}
		}
	}
}

func TestConditions(t *testing.T) {
	const url = "https://cdn.track.test/t.js"
	for _, c := range []struct {
		rule, page, kind string
		want             bool
	}{
		{"/t.js$script", "https://a.test/", "Script", true},
		{"/t.js$script", "https://a.test/", "Image", false},
		{"/t.js$script,image", "https://a.test/", "Image", true},
		{"/t.js$~script", "https://a.test/", "Script", false},
		{"/t.js$~script", "https://a.test/", "Image", true},
		{"/t.js$css", "https://a.test/", "Stylesheet", true},
		{"/t.js$xmlhttprequest", "https://a.test/", "Fetch", true},
		{"/t.js$xhr", "https://a.test/", "XHR", true},
		{"/t.js$subdocument", "https://a.test/", "Document", true},
		{"/t.js$frame", "https://a.test/", "Script", false},
		{"/t.js$font", "https://a.test/", "Font", true},
		{"/t.js$media", "https://a.test/", "Media", true},
		{"/t.js$websocket", "https://a.test/", "WebSocket", true},
		{"/t.js$ping", "https://a.test/", "Ping", true},
		{"/t.js$other", "https://a.test/", "Manifest", true},
		{"/t.js$other", "https://a.test/", "Script", false},
		{"/t.js$all", "https://a.test/", "Image", true},
		{"/t.js$popup,script", "https://a.test/", "Script", true},
		{"/t.js$SCRIPT", "https://a.test/", "Script", true},

		{"/t.js$third-party", "https://a.test/", "Script", true},
		{"/t.js$third-party", "https://www.track.test/", "Script", false},
		{"/t.js$3p", "https://nottrack.test/", "Script", true},
		{"/t.js$~third-party", "https://track.test/", "Script", true},
		{"/t.js$1p", "https://a.test/", "Script", false},
		{"/t.js$~1p", "https://a.test/", "Script", true},
		{"/t.js$third-party", "", "Script", true},

		{"/t.js$domain=a.test", "https://a.test/", "Script", true},
		{"/t.js$domain=a.test", "https://www.a.test/", "Script", true},
		{"/t.js$domain=a.test", "https://aa.test/", "Script", false},
		{"/t.js$domain=b.test|A.test", "https://a.test/", "Script", true},
		{"/t.js$from=~a.test", "https://a.test/", "Script", false},
		{"/t.js$domain=~a.test", "https://b.test/", "Script", true},
		{"/t.js$domain=a.test|~x.a.test", "https://y.a.test/", "Script", true},
		{"/t.js$domain=a.test|~x.a.test", "https://y.x.a.test/", "Script", false},
		{"/t.js$domain=~a.test|x.a.test", "https://x.a.test/", "Script", true},
		{"/t.js$domain=~a.test|x.a.test", "https://b.test/", "Script", false},
		{"/t.js$domain=bücher.test", "https://bücher.test/", "Script", true},
		{"/t.js$domain=a.test", "", "Script", false},
		{"$script,domain=a.test", "https://www.a.test/", "Script", true},
		{"$script,domain=a.test", "https://b.test/", "Script", false},
		{"*$domain=b.test|a.test,3p", "https://www.a.test/", "Script", true},
	} {
		got := read(t, c.rule).Blocks(requestOf(t, url, c.page, c.kind)) != ""
		if got != c.want {
			t.Errorf("%s, %s of %q: blocked %v", c.rule, c.kind, c.page, got)
		}
	}
}

func TestExceptions(t *testing.T) {
	for _, c := range []struct{ list, url, page, want string }{
		{"||t.test^\n@@||t.test/ok/", "https://t.test/ok/a", "https://a.test/", ""},
		{"@@||t.test/ok/\n||t.test^", "https://t.test/a", "https://a.test/", "||t.test^"},
		{"||t.test^\n@@||t.test^$domain=a.test", "https://t.test/a", "https://a.test/", ""},
		{"||t.test^\n@@||t.test^$domain=b.test", "https://t.test/a", "https://a.test/", "||t.test^"},
		{"||t.test^\n@@||t.test^$image", "https://t.test/a", "https://a.test/", "||t.test^"},
		{"||t.test^$important\n@@||t.test^", "https://t.test/a", "https://a.test/", "||t.test^$important"},
		{"||t.test^\n@@||a.test^$document", "https://t.test/a", "https://www.a.test/", ""},
		{"||t.test^\n@@||a.test/shop/$doc", "https://t.test/a", "https://a.test/news", "||t.test^"},
		{"||t.test^\n@@||t.test^$document", "https://t.test/a", "https://a.test/", "||t.test^"},
		{"||t.test^\n@@||t.test^$document,script", "https://t.test/a", "https://a.test/", ""},
		{"||t.test^\n@@||a.test^$elemhide", "https://t.test/a", "https://a.test/", "||t.test^"},
	} {
		if got := read(t, c.list).Blocks(requestOf(t, c.url, c.page, "Script")); got != c.want {
			t.Errorf("%q, %s of %s: %q, want %q", c.list, c.url, c.page, got, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		list            string
		rules           int
		blocked, passed []string
	}{
		"hosts file": {
			"\ufeff# hosts\r\n127.0.0.1 localhost localhost.localdomain\r\n::1\tip6-localhost\r\n0.0.0.0 0.0.0.0\r\n" +
				"0.0.0.0 Track.test more.test # both\r\n127.0.0.1\tbücher.test\r\n:: six.test\r\n10.0.0.7 intranet.test\r\n", 4,
			[]string{"https://track.test/a", "https://more.test:81/", "https://xn--bcher-kva.test/", "https://six.test/"},
			[]string{"https://www.track.test/", "https://intranet.test/", "http://localhost/", "https://both.test/", "https://localhost.localdomain/"},
		},
		"domains": {
			"# domains\ntrack.test\n*.pixel.test   # all\n.dot.test\nfinal.test.\n\n", 4,
			[]string{"https://track.test/", "https://a.track.test/", "https://pixel.test/", "https://a.pixel.test/", "https://dot.test/", "https://final.test/"},
			[]string{"https://a.test/track.test", "https://track.test.shop.test/"},
		},
		"patterns that look like domains": {
			"[Adblock Plus 2.0]\nad.gif\n", 1,
			[]string{"https://a.test/ad.gif"}, []string{"https://a.test/ad-gif"},
		},
		"a mixture": {
			"! Title: own\n[Adblock]\n||a.test^\n0.0.0.0 b.test\n@@||a.test/ok\n", 3,
			[]string{"https://a.test/", "https://b.test/"}, []string{"https://a.test/ok"},
		},
		"rules that are not about requests": {
			"##.ad\n###top\na.test##.ad > #b\na.test#@#.ad\na.test#?#div:has(.ad)\na.test#$#abort x\na.test$$script[ad]\n" +
				"a.test#$?#p\n||p.test^$popup\n@@||a.test^$generichide\n||d.test^$document\n", 0,
			nil, []string{"https://p.test/", "https://a.test/"},
		},
		"nothing": {"", 0, nil, []string{"https://a.test/"}},
	} {
		l := read(t, c.list)
		if l.Len() != c.rules || l.Skipped().Rules != 0 {
			t.Errorf("%s: %d rules, want %d; skipped %+v", name, l.Len(), c.rules, l.Skipped())
		}
		for _, url := range c.blocked {
			if l.Blocks(request(t, url)) == "" {
				t.Errorf("%s: %s is not blocked", name, url)
			}
		}
		for _, url := range c.passed {
			if by := l.Blocks(request(t, url)); by != "" {
				t.Errorf("%s: %s is blocked by %s", name, url, by)
			}
		}
	}
}

func TestSkipped(t *testing.T) {
	for _, rule := range []string{
		"/ad[0-9]+/", "/ad$/$script", "||a.test^$csp=script-src 'none'", "||a.test^$redirect=noop.js", "||a.test^$unheard-of",
		"||a.test^$~match-case", "||a.test^$script=1", "||a.test^$domain", "||a.test^$domain=a.*", "||a.test^$domain=", "||a.test^$domain=a.test|/x/",
		"@@||a.test^$important", "@@||a.test^$genericblock", "two words", "@@", "||\u00adㅤ^", "||a.test^\xff",
	} {
		l := read(t, "! own\n||t.test^\n"+rule+"\n"+rule)
		got := l.Skipped()
		if got.Rules != 2 || got.Line != 3 || got.Why == "" || l.Len() != 1 {
			t.Errorf("%s: skipped %+v, %d rules", rule, got, l.Len())
		}
		if l.Blocks(request(t, "https://a.test/ad1")) != "" {
			t.Errorf("%s blocks", rule)
		}
	}
}

func TestReadErrors(t *testing.T) {
	unread := errors.New("unread")
	for name, c := range map[string]struct {
		list io.Reader
		want error
		text string
	}{
		"long line":      {strings.NewReader("a.test\n||" + strings.Repeat("a", blocklist.MaxLine)), blocklist.ErrLimit, "line 2: beyond the limit of 64 KiB for a line"},
		"large file":     {io.LimitReader(endless("a.test\n"), blocklist.MaxSize+1), blocklist.ErrLimit, "line 9586981: beyond the limit of 64 MiB for a list"},
		"many rules":     {io.LimitReader(endless("a.test\n"), 7*(blocklist.MaxRules+1)), blocklist.ErrLimit, "line 1000001: beyond the limit of 1000000 rules"},
		"HTML":           {strings.NewReader("\n<!doctype html>\n<p>Not found here\n"), blocklist.ErrNoList, "line 2: not a list of block rules: white space in a rule"},
		"compressed":     {strings.NewReader("a.test\n\x1f\x8b\x08\x00\x00"), blocklist.ErrNoList, "line 2: not a list of block rules: not text"},
		"failing reader": {iotest.ErrReader(unread), unread, "unread"},
	} {
		if _, err := blocklist.Read(c.list); !errors.Is(err, c.want) || err.Error() != c.text {
			t.Errorf("%s: %v, want %v", name, err, c.text)
		}
	}
}

// endless repeats a text.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for len(p)-n >= len(e) {
		n += copy(p[n:], e)
	}
	if n == 0 {
		return copy(p, e), nil
	}
	return n, nil
}

// TestLongURL: what a page adds to a URL costs little, and an end beyond the bound is none.
func TestLongURL(t *testing.T) {
	l := read(t, "||t.test^\n/ad/*/x|\n/late^")
	long := strings.Repeat("/ad", 100_000)
	if l.Blocks(request(t, "https://t.test"+long)) == "" {
		t.Error("the host of a long URL is not found")
	}
	if by := l.Blocks(request(t, "https://a.test"+long+"/late/x")); by != "" {
		t.Errorf("blocked by %s", by)
	}
}

// lines is a list like the common ones: most rules are domains.
func lines(n int) string {
	var b strings.Builder
	b.WriteString("[Adblock Plus 2.0]\n")
	for i := range n {
		switch i % 10 {
		case 0:
			fmt.Fprintf(&b, "/banner%d/*/ad.\n", i)
		case 1:
			fmt.Fprintf(&b, "-track%d.js^$script,third-party\n", i)
		case 2:
			fmt.Fprintf(&b, "||cdn%d.example.com/pixel/$image,domain=a%d.test|~b.test\n", i, i)
		case 3:
			fmt.Fprintf(&b, "@@||site%d.test/ok%d^$script\n", i, i)
		default:
			fmt.Fprintf(&b, "||tracker%d.example^$third-party\n", i)
		}
	}
	return b.String()
}

func BenchmarkBlocks(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		l := read(b, lines(n))
		for name, url := range map[string]string{
			"passed":  "https://www.shop.example/assets/app.3f2a9c.bundle.js?v=2026-11-29&lang=en",
			"blocked": "https://cdn.tracker514.example/collect/v2/event.js?id=4711",
			"long":    "https://www.shop.example/" + strings.Repeat("banner/track/pixel/", 250),
		} {
			r := requestOf(b, url, "https://www.shop.example/p/17", "Script")
			b.Run(fmt.Sprintf("rules=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					l.Blocks(r)
				}
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	text := lines(100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, text)
	}
}
