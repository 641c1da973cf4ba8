package fingerprint_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// FuzzRead: nothing panics, whatever the bytes; a word takes at least one byte; the fingerprint
// does not depend on the page read before, on HashOnly or on the search for links, nor do the
// links depend on it; and text is the same plain or escaped among furniture.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "a b", "<p>a</p>", "<nav>a", "</", "<!--", "<script><!--<script>", "&#x1F600;&notit;&", "日本", "\xff", "<div role=navigation><div>",
		"Sat, 21 Nov 2026 12:34:56 GMT, 3 minutes ago, 1,234 views", "<time>", "<plaintext>", "<svg><svg/>", "<title>&lt;", "<a b='", "1 < 2",
		"<a href=b>c <3 d</a><div style='background:url(e)' role=banner>f</div><nav><a href=g>h</a></nav>i<svg><a href=j><style>k</style></svg><iframe src=l>m</iframe>n",
		"<base href=o><form role=navigation action=p>q<form>r</form></form><xmp>s</xmp><plaintext>t",
	} {
		f.Add(s)
	}
	r, hash := new(fingerprint.Reader), &fingerprint.Reader{HashOnly: true}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range []string{"text/html", "application/xhtml+xml", "text/plain"} {
			got, want := r.Read(kind, []byte(s)), new(fingerprint.Reader).Read(kind, []byte(s))
			if got != want || got.Words > len(s) {
				t.Errorf("%s: %+v after another page, expected %+v, of %d words at most", kind, got, want, len(s))
			}
			want.Simhash = 0
			if got := hash.Read(kind, []byte(s)); got != want {
				t.Errorf("%s: %+v with HashOnly, expected %+v", kind, got, want)
			}
			for _, options := range []links.Options{{}, {Bare: true}} {
				for most := range 3 {
					page, found, got := both(hash, options, kind, s, most)
					if alone, those, _ := both(nil, options, kind, s, most); !reflect.DeepEqual(page, alone) || !slices.Equal(found, those) || got != want {
						t.Errorf("%s, at most %d links: %+v %v %+v, expected %+v %v as of the links alone, %+v as of the text alone", kind, most, page, found, got, alone, those, want)
					}
				}
			}
		}
		plain := r.Read("text/plain", []byte(long+s+" end"))
		page := "<!DOCTYPE html><script>'<p>'</script><nav>a b c</nav><p class=x>" + long + html.EscapeString(s) + "</p> end <footer>d</footer>"
		if got := r.Read("text/html", []byte(page)); got != plain {
			t.Errorf("%+v of a page, expected %+v as of the plain text", got, plain)
		}
	})
}

// both reads the links of a page, some more than most at most, and with a reader also its text.
func both(r *fingerprint.Reader, o links.Options, kind, body string, most int) (page links.Page, found []links.Link, f fingerprint.Fingerprint) {
	base, err := weburl.Parse("http://a.example/")
	if err != nil {
		panic(err)
	}
	x, d := links.NewExtractor(o), links.Document{Base: base, ContentType: kind, Body: []byte(body)}
	yield := func(l links.Link) bool {
		found = append(found, l)
		return len(found) <= most*most*25
	}
	if r == nil {
		return x.Extract(d, yield), found, fingerprint.Fingerprint{}
	}
	page, f = r.Extract(x, d, yield)
	return page, found, f
}
