package scope

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
)

var defaults = Traps{DefaultURLLength, DefaultPathDepth, DefaultRepeats}

// TestTraps: what the defaults take for a trap, and what they do not.
func TestTraps(t *testing.T) {
	n := func(n int, s string) string { return strings.Repeat(s, n) }
	for _, test := range []struct {
		name, target, reason string
	}{
		{"home", "/", ""},
		{"query", "/a/a/a?a/a/a/a/a", ""},
		{"long", "/" + n(2048-len("http://a.test/"), "x"), ""},
		{"too long", "/" + n(2049-len("http://a.test/"), "x"), "too-long"},
		{"too long by its query", "/?" + n(2048, "x"), "too-long"},
		{"deep", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20", ""},
		{"deep folder", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/", ""},
		{"too deep", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21", "too-deep"},
		{"date", "/2011/11/11/11-news", ""},
		{"tile", "/tiles/0/0/0.png", ""},
		{"three", "/x/x/x", ""},
		{"four", "/x/x/x/x", "repeats"},
		{"four, as a folder", "/a/x/x/x/x/", "repeats"},
		{"four, within", "/a/x/x/x/x/b/index.html", "repeats"},
		{"four, not one behind the other", "/x/x/a/x/x", ""},
		{"group three times", "/a/b/a/b/a/b/c", ""},
		{"group four times", "/a/b/a/b/a/b/a/b", "repeats"},
		{"group of three", "/a/b/c/a/b/c/a/b/c/a/b/c", "repeats"},
		{"page by page", "/list/page/2/page/3/page/4/", ""},
		{"page by page, too far", "/list/page/2/page/3/page/4/page/5", "repeats"},
		{"after another beginning", "/en/shop/en/shop/en/shop/en/cart", "repeats"},
		{"at unequal distances", "/x/1/x/2/3/x/4/x/5/6/x", ""},
		{"slashes", "//a//b", ""},
		{"many slashes", "/a/////b", "repeats"},
		{"numbers", "/1/2/1/3/1/2/2/1", ""},
		{"far apart", "/x/1/2/3/4/5/6/7/x/1/2/3/4/5/6/7/x/9/8/7", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := parsed(t, "http://a.test"+test.target)
			if reason := defaults.Reason(u); reason != test.reason {
				t.Errorf("%q, expected %q: %s", reason, test.reason, defaults.Words(u))
			}
			if reason := (Traps{}).Reason(u); reason != "" {
				t.Errorf("%q without limits", reason)
			}
		})
	}
	for limit, want := range map[int]string{1: "repeats", 2: "repeats", 3: "repeats", 4: "", 5: ""} {
		if reason := (Traps{Repeats: limit}).Reason(parsed(t, "http://a.test/x/x/x/x")); reason != want {
			t.Errorf("four with a limit of %d: %q, expected %q", limit, reason, want)
		}
	}
}

func parsed(t testing.TB, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u.Canonical()
}

// FuzzRepeats: the fast way finds what comparing each segment with each does.
func FuzzRepeats(f *testing.F) {
	f.Add("/x/x/x/x", 3)
	f.Add("/a/b/a/b/a/b/a/b/", 2)
	f.Add("//a//b//", 1)
	f.Add("/page/2/page/3/page/4", 3)
	f.Fuzz(func(t *testing.T, path string, limit int) {
		if limit < 1 || len(path) > 200 {
			return
		}
		path = "/" + path
		segments := strings.Split(path, "/")[1:]
		if len(segments) > 0 && segments[len(segments)-1] == "" {
			segments = segments[:len(segments)-1]
		}
		if n := depthOf(path); n != len(segments) {
			t.Errorf("%q: %d segments, expected %d", path, n, len(segments))
		}
		most := 1
		for i := range segments {
			for period := 1; period <= maxPeriod; period++ {
				n := 1
				for j := i + period; j < len(segments) && segments[j] == segments[i]; j += period {
					n++
				}
				most = max(most, n)
			}
		}
		if n := repeats(path, limit); n > most || most > limit && n != most {
			t.Errorf("%q: %d times over, expected %d, with a limit of %d", path, n, most, limit)
		}
	})
}

// BenchmarkTraps measures the cost of each link within the scope.
func BenchmarkTraps(b *testing.B) {
	for name, target := range map[string]string{
		"short": "/library/json.html", "usual": "/doc/html/boost_asio/reference/basic_stream_socket/async_read_some.html", "longest": "/" + strings.Repeat("segment/", 20),
	} {
		u := parsed(b, "http://a.test"+target)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				defaults.Reason(u)
			}
		})
	}
}
