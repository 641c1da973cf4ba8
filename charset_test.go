package weft_test

import (
	"testing"
	"unicode/utf16"

	"github.com/weftcrawl/weft"
)

// TestLinksInAnyCharset checks that links are found in pages of any encoding, and that the record
// names the charset.
func TestLinksInAnyCharset(t *testing.T) {
	wide := func(mark, s string) string {
		b := []byte(mark)
		for _, u := range utf16.Encode([]rune(s)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	w := web{
		"http://a.test/":         "\xef\xbb\xbf" + a("/marked") + "é",
		"http://a.test/marked":   wide("\xff\xfe", a("/unmarked")+"日本"),
		"http://a.test/unmarked": wide("", a("/declared")+"日本"),
		"http://a.test/declared": "<meta charset=shift_jis>\x93\xfa" + a("/detected"),
		"http://a.test/detected": "<p>\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0" + a("/ascii"),
		"http://a.test/ascii":    "a page",
	}
	got, _, _ := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, NoRobots: true})
	for url, want := range map[string]string{
		"http://a.test/": "utf-8", "http://a.test/marked": "utf-16le", "http://a.test/unmarked": "utf-16le",
		"http://a.test/declared": "shift_jis", "http://a.test/detected": "windows-1251", "http://a.test/ascii": "windows-1252",
	} {
		if r := got[url]; r.Charset != want || r.Status != 200 {
			t.Errorf("%s: status %d, charset %q; expected 200, %q", url, r.Status, r.Charset, want)
		}
	}
}
