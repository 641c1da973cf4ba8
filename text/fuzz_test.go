package text_test

import (
	"testing"

	"github.com/weftcrawl/weft/text"
	"golang.org/x/net/html"
)

// FuzzRead: nothing panics, whatever the bytes; a word takes a byte at least; what is read
// before does not matter, nor that only the hash is wanted; and text is the same plain, or escaped among furniture.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "a b", "<p>a</p>", "<nav>a", "</", "<!--", "<script><!--<script>", "&#x1F600;&notit;&", "日本", "\xff", "<div role=navigation><div>",
		"Sat, 21 Nov 2026 12:34:56 GMT, 3 minutes ago, 1,234 views", "<time>", "<plaintext>", "<svg><svg/>", "<title>&lt;", "<a b='", "1 < 2",
	} {
		f.Add(s)
	}
	r, hash := new(text.Reader), &text.Reader{HashOnly: true}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range []string{"text/html", "application/xhtml+xml", "text/plain"} {
			got, want := r.Read(kind, []byte(s)), new(text.Reader).Read(kind, []byte(s))
			if got != want || got.Words > len(s) {
				t.Errorf("%s: %+v after another page, expected %+v, of %d words at most", kind, got, want, len(s))
			}
			want.Simhash = 0
			if got := hash.Read(kind, []byte(s)); got != want {
				t.Errorf("%s: %+v with HashOnly, expected %+v", kind, got, want)
			}
		}
		plain := r.Read("text/plain", []byte(long+s+" end"))
		page := "<!DOCTYPE html><script>'<p>'</script><nav>a b c</nav><p class=x>" + long + html.EscapeString(s) + "</p> end <footer>d</footer>"
		if got := r.Read("text/html", []byte(page)); got != plain {
			t.Errorf("%+v of a page, expected %+v as of the plain text", got, plain)
		}
	})
}
