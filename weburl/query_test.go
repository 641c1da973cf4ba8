package weburl

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// TestQueryEncoding checks that queries are sent in the encoding of the document, as browsers do.
// The first cases come from the standards and from web-platform-tests.
func TestQueryEncoding(t *testing.T) {
	for _, c := range []struct{ name, label, query, want string }{
		{"a code", "shift_jis", "≡", "%81%DF"},
		{"none for it", "shift_jis", "‽", "%26%238253%3B"},
		{"the Roman mode", "iso-2022-jp", "¥", `%1B(J\%1B(B`},
		{"a table", "windows-1252", "†", "%86"},
		{"would change the mode", "iso-2022-jp", "\x0eA", "%26%2365533%3BA"},

		{"a table", "windows-1252", "aé=€ 日", "a%E9=%80%20%26%2326085%3B"},
		{"an unassigned byte", "windows-1252", "\u0081\u0080", "%81%26%23128%3B"},
		{"no unassigned byte", "windows-1253", "\u00AA", "%26%23170%3B"},
		{"another label", "Latin1", "é", "%E9"},
		{"two halves", "x-user-defined", "\uF780é", "%80%26%23233%3B"},

		{"yen, line, minus", "shift_jis", "¥‾−\u0080", `\~%81|%80`},
		{"half-width", "shift_jis", "ｱﾞ", "%B1%DE"},
		{"IBM's codes, not NEC's", "shift_jis", "髙纊ⅰ∵￢¬", `%FB%FC%FA\%FA@%81%E6%81%CA%26%23172%3B`},
		{"yen, line, minus", "euc-jp", "¥‾−\u0080", `\~%A1%DD%26%23128%3B`},
		{"half-width", "euc-jp", "ｱ", "%8E%B1"},
		{"JIS X 0212 is not written", "euc-jp", "Š丂髙", "%26%23352%3B%26%2319970%3B%FC%E2"},
		{"there and back", "iso-2022-jp", "あaあ", "%1B$B$%22%1B(Ba%1B$B$%22%1B(B"},
		{"minus", "iso-2022-jp", "−", "%1B$B!]%1B(B"},
		{"wide for half-width", "iso-2022-jp", "ｱﾟ", "%1B$B%%22!,%1B(B"},
		{"none for it, in a mode", "iso-2022-jp", "あ‽あ", "%1B$B$%22%1B(B%26%238253%3B%1B$B$%22%1B(B"},
		{"Roman stays for letters", "iso-2022-jp", `¥a\‾~`, `%1B(J\a%1B(B\%1B(J~%1B(B~`},
		{"none for it, in Roman", "iso-2022-jp", "¥‽‾", `%1B(J\%26%238253%3B~%1B(B`},

		{"two bytes and four", "gb18030", "丂€😀", "%81@%A2%E3%949%FC6"},
		{"no character", "gb18030", "\uE5E5", "%26%2358853%3B"},
		{"the euro", "gbk", "€😀", "%80%26%23128512%3B"},
		{"a code", "big5", "一‽", "%A4@%26%238253%3B"},
		{"a code", "euc-kr", "가", "%B0%A1"},

		{"UTF-16 is sent as UTF-8", "utf-16be", "é", "%C3%A9"},
		{"so is replacement", "replacement", "é", "%C3%A9"},
		{"no encoding", "none", "é", "%C3%A9"},
		{"not UTF-8", "windows-1252", "\xe9", "%26%2365533%3B"},
		{"what a query can't hold", "shift_jis", "≡ \"<>'#é", "%81%DF%20%22%3C%3E%27#%C3%A9"},
	} {
		t.Run(c.label+" "+c.name, func(t *testing.T) {
			var r Resolver
			r.ResetIn(mustParse(t, "https://example.org/"), c.label)
			got, err := r.ResolveString("é?" + c.query)
			if want := "https://example.org/%C3%A9?" + c.want; err != nil || got.String() != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

// TestQueryOfOthers checks that only web servers get queries in the document's encoding.
func TestQueryOfOthers(t *testing.T) {
	var r Resolver
	r.ResetIn(mustParse(t, "http://a/"), "windows-1252")
	for ref, want := range map[string]string{
		"ws://a/?é":   "ws://a/?%C3%A9",
		"wss://a/?é":  "wss://a/?%C3%A9",
		"x://a/?é'":   "x://a/?%C3%A9'",
		"mailto:a?é":  "mailto:a?%C3%A9",
		"ftp://a/?é":  "ftp://a/?%E9",
		"file:///a?é": "file:///a?%E9",
		"//é.org/é#é": "http://xn--9ca.org/%C3%A9#%C3%A9",
	} {
		if got, err := r.ResolveString(ref); err != nil || got.String() != want {
			t.Errorf("%q: got %q, %v; want %q", ref, got, err, want)
		}
	}
	r.Reset(mustParse(t, "http://a/?%E9"))
	for ref, want := range map[string]string{"?é": "http://a/?%C3%A9", "#é": "http://a/?%E9#%C3%A9"} {
		if got, err := r.ResolveString(ref); err != nil || got.String() != want {
			t.Errorf("after Reset, %q: got %q, %v; want %q", ref, got, err, want)
		}
	}
}

// TestQueryComesBack checks that a server decodes whatever an encoding can express to the same
// text, except where its encoder merges two characters, and that no code is in a range that the
// standard does not write.
func TestQueryComesBack(t *testing.T) {
	for label, alike := range map[string]string{
		"shift_jis": "¥\\‾~−－", "euc-jp": "¥\\‾~−－", "gb18030": "", "gbk": "", "big5": "", "euc-kr": "", "koi8-r": "", "windows-874": "", "macintosh": "",
	} {
		enc, err := htmlindex.Get(label)
		if err != nil {
			t.Fatal(err)
		}
		e, n := newEncoder(label), 0
		for r := rune(0xA0); r < 0x30000; r++ {
			code, lacked := e.rune(r)
			if lacked != 0 || strings.ContainsRune(alike, r) {
				continue
			}
			n++
			if back, err := enc.NewDecoder().String(string(code)); back != string(r) {
				t.Fatalf("%s: %q is sent as %x, which is %q, %v", label, r, code, back, err)
			}
			if label == "shift_jis" && (code[0] == 0xED || code[0] == 0xEE) || label == "euc-jp" && code[0] == 0x8F {
				t.Errorf("%s: %q is sent as %x", label, r, code)
			}
		}
		if n < 80 {
			t.Errorf("%s has %d characters", label, n)
		}
	}
}

// BenchmarkQuery measures the worst case of a page.
func BenchmarkQuery(b *testing.B) {
	var r Resolver
	for _, label := range []string{"shift_jis", "iso-2022-jp", "windows-1252", "utf-8"} {
		b.Run(label, func(b *testing.B) {
			r.ResetIn(mustParse(b, "https://example.org/"), label)
			ref := "?" + strings.Repeat("é‽≡", 1000)
			b.SetBytes(int64(len(ref)))
			for b.Loop() {
				if _, err := r.ResolveString(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
