package charset_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/long"
)

func TestUTF8(t *testing.T) {
	const html = "text/html"
	for name, c := range map[string]struct{ contentType, body, text, encoding string }{
		"says nothing":           {html, "caf\u00e9", "café", "utf-8"},
		"says nothing, no UTF-8": {html, "caf\xe9", "café", "windows-1252"},
		"Content-Type":           {html + "; charset=windows-1251", "\xca\xee\xf4\xe5", "Кофе", "windows-1251"},
		"declared":               {html, "<meta charset=Shift_JIS>\x93\xfa", "<meta charset=Shift_JIS>日", "shift_jis"},
		"mark before all else":   {html + "; charset=windows-1251", "\xff\xfe\xe9\x00", "é", "utf-16le"},
		"mark of UTF-8":          {html + "; charset=windows-1251", "\xef\xbb\xbf\u00e9", "é", "utf-8"},
		"not valid":              {html + "; charset=utf-8", "a\xff", "a\ufffd", "utf-8"},
		"not safe to read":       {html + "; charset=iso-2022-kr", "<script>", "\ufffd", "replacement"},
		"unknown":                {html + "; charset=klingon", "caf\xe9", "café", "windows-1252"},
		"empty":                  {"", "", "", "windows-1252"},
	} {
		text, encoding := charset.UTF8(c.contentType, []byte(c.body))
		if string(text) != c.text || encoding != c.encoding {
			t.Errorf("%s: %q in %s, expected %q in %s", name, text, encoding, c.text, c.encoding)
		}
	}
}

// TestShared: UTF-8 is not copied and costs no memory.
func TestShared(t *testing.T) {
	for name, body := range map[string]string{"ASCII": "<p>a", "UTF-8": "<p>\u00e9", "with a mark": "\xef\xbb\xbf\u00e9"} {
		b := []byte(body)
		text, _ := charset.UTF8("text/html", b)
		if &text[len(text)-1] != &b[len(b)-1] {
			t.Errorf("%s: copied", name)
		}
		if n := testing.AllocsPerRun(10, func() { charset.UTF8("text/html", b) }); n != 0 {
			t.Errorf("%s: %v allocations, expected none", name, n)
		}
	}
}

func TestDetermine(t *testing.T) {
	late := "<!-- " + strings.Repeat("x", 2000) + " -->"
	for name, c := range map[string]struct {
		contentType, body string
		encoding          string
		source            charset.Source
	}{
		"bom":                     {"text/html;charset=koi8-r", "\xfe\xff\x00a", "utf-16be", charset.Mark},
		"header":                  {"text/html; charset=koi8-r", "<meta charset=utf-8>", "koi8-r", charset.Header},
		"header, quoted":          {`text/html;x="a;charset=big5"; CharSet="koi8\-r"`, "", "koi8-r", charset.Header},
		"header, twice":           {"text/html;charset=koi8-r;charset=utf-8", "", "koi8-r", charset.Header},
		"header, unknown":         {"text/html;charset=none", "<meta charset=koi8-r>", "koi8-r", charset.Meta},
		"header, spaces":          {"text/html ; charset=koi8-r ", "", "koi8-r", charset.Header},
		"header, other parameter": {"text/html; x; a=b; charset=koi8-r", "", "koi8-r", charset.Header},
		"header, UTF-16":          {"text/html; charset=utf-16", "a\x00", "utf-16le", charset.Header},
		"meta":                    {"", "<meta charset=koi8-r>", "koi8-r", charset.Meta},
		"meta, no ASCII name":     {"", "<meta char\u017fet=koi8-r>", "utf-8", charset.Detected},
		"meta of plain text":      {"text/plain", "<meta charset=koi8-r>", "windows-1252", charset.Default},
		"meta, late":              {"", late + "<meta charset=koi8-r>", "koi8-r", charset.Meta},
		"meta, late in a script":  {"", late + "<script>'<meta charset=koi8-r>'</script>", "windows-1252", charset.Default},
		"meta, after a script":    {"", late + "<SCRIPT>'</scripts>'</Script ><META CHARSET=koi8-r>", "koi8-r", charset.Meta},
		"xml":                     {"text/html", `<?xml version="1.0" encoding="koi8-r"?>`, "koi8-r", charset.XML},
		"xml, then meta":          {"text/html", `<?xml encoding="koi8-r"?><meta charset=big5>`, "big5", charset.Meta},
		"xml, UTF-16":             {"text/html", `<?xml encoding="utf-16"?>`, "utf-8", charset.XML},
		"xml in UTF-16":           {"text/html", "<\x00?\x00x\x00m\x00", "utf-16le", charset.XML},
		"xml, space in it":        {"text/html", `<?xml encoding=" koi8-r"?>`, "windows-1252", charset.Default},
		"xml, no end":             {"text/html", `<?xml encoding="koi8-r"`, "windows-1252", charset.Default},
		"feed":                    {"application/rss+xml", `<?xml encoding="koi8-r"?>`, "koi8-r", charset.XML},
		"feed says nothing":       {"application/rss+xml", `<rss/>`, "utf-8", charset.Default},
		"XHTML in ASCII":          {"application/xhtml+xml", "<html/>", "utf-8", charset.Default},
		"XHTML, meta":             {"application/xhtml+xml", "<meta charset=koi8-r />", "koi8-r", charset.Meta},
		"CSS in ASCII":            {"text/css; charset=", "b {}", "utf-8", charset.Default},
		"UTF-8":                   {"text/plain", "\u00e9", "utf-8", charset.Detected},
		"ASCII":                   {"text/html", "e", "windows-1252", charset.Default},
	} {
		e, source := charset.Determine(c.contentType, []byte(c.body))
		if e.Name() != c.encoding || source != c.source {
			t.Errorf("%s: %s by %s, expected %s by %s", name, e.Name(), source, c.encoding, c.source)
		}
	}
}

func TestLookup(t *testing.T) {
	for label, name := range map[string]string{
		" \tLatin1\r\n": "windows-1252", "\u212aoi8-r": "", "\vutf-8": "", "utf-8\u00a0": "", "": "", strings.Repeat("x", 1e6): "",
	} {
		got := ""
		if e := charset.Lookup(label); e != nil {
			got = e.Name()
		}
		if got != name {
			t.Errorf("%.20q: %q, expected %q", label, got, name)
		}
	}
}

// TestConformance: all pages of html5lib and jsdom, and all labels of the standard.
func TestConformance(t *testing.T) {
	pages := conformance.Cases[struct {
		ID          string
		HTML        string `json:"html_b64"`
		ContentType string `json:"content_type"`
		Want        string
	}](t, "charset-prescan.jsonl")
	if len(pages) != 104 {
		t.Errorf("%d pages, expected 104", len(pages))
	}
	for _, c := range pages {
		body, err := base64.StdEncoding.DecodeString(c.HTML)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		if e, source := charset.HTML(c.ContentType, body); e.Name() != c.Want {
			t.Errorf("%s: %s by %s, expected %s", c.ID, e.Name(), source, c.Want)
		}
	}
	labels := conformance.Cases[struct{ Label, Want string }](t, "charset-labels.jsonl")
	if len(labels) != 228 {
		t.Errorf("%d labels, expected 228", len(labels))
	}
	for _, c := range labels {
		if e := charset.Lookup(c.Label); e == nil || e.Name() != c.Want {
			t.Errorf("label %s: %v, expected %s", c.Label, e, c.Want)
		}
	}
}

// TestDecode: cases of the Encoding Standard in which the decoders of x/text differ, or did.
func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ encoding, bytes, text string }{
		"control of windows-1252":          {"latin1", "\x81\x80", "\u0081€"},
		"hole of windows-1253":             {"windows-1253", "\xd2\x81", "\ufffd\u0081"},
		"user-defined":                     {"x-user-defined", "a\x80\xff", "a\uf780\uf7ff"},
		"hebrew, logical":                  {"iso-8859-8-i", "\xe0", "א"},
		"UTF-8, maximal subparts":          {"utf-8", "\xf0\x90\x80a\xe2\x82\xed\xa0\x80", "\ufffda\ufffd\ufffd\ufffd\ufffd"},
		"UTF-16, lone halves":              {"utf-16le", "\x3d\xd8\x00\xdea\x00\x00\xde\x3d\xd8b\x00", "\U0001f600a\ufffd\ufffdb"},
		"UTF-16, odd":                      {"utf-16be", "\x00a\xd8", "a\ufffd"},
		"UTF-16, half and odd":             {"utf-16be", "\x00a\xd8\x3d\x00", "a\ufffd"},
		"GBK, euro":                        {"gbk", "\x80", "€"},
		"GBK, four bytes":                  {"gbk", "\x84\x31\xa4\x37", "\ufffd"},
		"gb18030, four bytes":              {"gb18030", "\x94\x39\xda\x33", "\U0001f4a9"},
		"gb18030, ASCII is kept":           {"gb18030", "\x81<a", "\ufffd<a"},
		"gb18030, two digits":              {"gb18030", "\x81\x30<a", "\ufffd0<a"},
		"gb18030, fourth":                  {"gb18030", "\x81\x30\x81<", "\ufffd0\ufffd<"},
		"gb18030, one's own":               {"gb18030", "\xaa\xa1\xa2\xab", "\ue000\ue766"},
		"Big5, ASCII is kept":              {"big5", "\x81@\xa4\xa4", "\ufffd@中"},
		"Big5, two characters":             {"big5", "\x88\x62", "\u00ca\u0304"},
		"Shift_JIS, ASCII is kept":         {"shift_jis", "\x82<\x93\xfa", "\ufffd<日"},
		"Shift_JIS, one's own":             {"shift_jis", "\xf0\x40\xf9\xfc", "\ue000\ue757"},
		"EUC-JP, katakana and JIS X 0212":  {"euc-jp", "\x8e\xb1\x8f\xb0\xa1\x8e\x80", "ｱ丂\ufffd"},
		"ISO-2022-JP":                      {"iso-2022-jp", "\x1b$B\x46\x7c\x1b(J\\\x1b(B\\", "日¥\\"},
		"ISO-2022-JP, escapes for nothing": {"iso-2022-jp", "\x1b$B\x1b(Ba", "\ufffda"},
		"ISO-2022-JP, half of a pair":      {"iso-2022-jp", "\x1b$B\x46\x1b(Ba", "\ufffda"},
		"EUC-KR, windows-949":              {"euc-kr", "\x81\x41\xb0\xa1\x81<", "갂가\ufffd<"},
		"cut":                              {"euc-kr", "a\xb0", "a\ufffd"},
	} {
		if text := charset.Lookup(c.encoding).Decode([]byte(c.bytes)); string(text) != c.text {
			t.Errorf("%s: %+q, expected %+q", name, text, c.text)
		}
	}
}

// TestRoom: the room for a text is known before it is made, and a long one takes no more.
func TestRoom(t *testing.T) {
	const n = 1 << 18
	for _, c := range []struct {
		encoding, piece string
		room            int // of each piece
	}{
		{"windows-874", "\xa1\xd2\xc3 ", 10}, {"windows-1251", "\xe0\xe1 ", 5}, {"utf-8", "\xc3\xa4", 0}, {"windows-1252", "abc", 0},
		{"utf-8", "a\xffb", 5}, {"gbk", "\xd6\xd0", 6}, {"utf-16le", "a\x00", 3}, {"iso-2022-jp", "a", 3},
	} {
		body := bytes.Repeat([]byte(c.piece), n)
		u := charset.Lookup(c.encoding).Prepare(body)
		text := u.Text()
		if u.Room != c.room*n && u.Room != c.room*n+1 || c.room > 0 && (cap(text) > u.Room+u.Room/8 || len(text) > u.Room) {
			t.Errorf("%s: room for %d bytes, expected %d; the text has %d and takes %d", c.encoding, u.Room, c.room*n, len(text), cap(text))
		}
	}
}

// FuzzDecode: whatever the bytes, the text is valid UTF-8 and bounded, and no ASCII is lost.
func FuzzDecode(f *testing.F) {
	for _, label := range []string{"utf-8", "gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "utf-16le", "windows-1253"} {
		f.Add(label, []byte("a\xd8\x3d\x81\x30\x81\x30\x8f\xb0\xa1<\x1b$B\x46\x7c\x1b(B\xff"))
	}
	f.Fuzz(func(t *testing.T, label string, body []byte) {
		e := charset.Lookup(label)
		if e == nil {
			return
		}
		u := e.Prepare(body)
		text := u.Text()
		if !utf8.Valid(text) || len(text) > 3*len(body) || u.Room > 0 && len(text) > u.Room || u.Room > 3*len(body) {
			t.Fatalf("%s %q: %q, and room for %d bytes", e.Name(), body, text, u.Room)
		}
	})
}

// TestDigests: all pairs of bytes, alone and after the beginnings of longer sequences, decode to
// the same text as in another implementation of the standard (@exodus/bytes 1.16.0 for
// JavaScript, which is tested against the standard's own tables).
func TestDigests(t *testing.T) {
	severalBytes := []string{"utf-8", "utf-16le", "utf-16be", "gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr"}
	var text []byte
	for name, digest := range map[string]string{
		"utf-8": "988f5e9eba5eda3f", "utf-16le": "eb4ee71f08ce5543", "utf-16be": "fabd9a3dd2c67e62",
		"ibm866": "cadf1f3e0a6dc736", "iso-8859-2": "af622b4f1f81ebc9", "iso-8859-3": "19fca6fa2bf69ade",
		"iso-8859-4": "c29a8892cd5362d3", "iso-8859-5": "7614effba7216da5", "iso-8859-6": "09a2c2bd2fff6162",
		"iso-8859-7": "16c33f641759f2e1", "iso-8859-8": "4c6bc0e37a5c767d", "iso-8859-8-i": "4c6bc0e37a5c767d",
		"iso-8859-10": "fc420cdac2991997", "iso-8859-13": "c537f3df5977e8a9", "iso-8859-14": "88e724891a23e499",
		"iso-8859-15": "9e4ce061cf1bbd84", "iso-8859-16": "f3c6c4c62fed1b5b", "koi8-r": "ed4c12d35558c8ee",
		"koi8-u": "7b5c6b0f6b66b106", "macintosh": "2501293dc5bb354e", "windows-874": "c304b40c193cd6ad",
		"windows-1250": "3f32ba786266c933", "windows-1251": "94d6661d0c831500", "windows-1252": "0c0f3a1652ec24e1",
		"windows-1253": "bb09173e26390d60", "windows-1254": "722616dcec4b30f5", "windows-1255": "3f846937bddc1876",
		"windows-1256": "392f72d990d89618", "windows-1257": "30b4c75601af5974", "windows-1258": "b24e885595c5dd70",
		"x-mac-cyrillic": "3a488a0a51225295", "x-user-defined": "21a155d11d9025f5", "gbk": "ef083998edddda64",
		"gb18030": "ef083998edddda64", "big5": "1d8c1e86cc7f21a4", "euc-jp": "3cd0d6a938b9b402",
		"iso-2022-jp": "f5b1b322379925ee", "shift_jis": "95667ea84a81f5f8", "euc-kr": "33d73bb7744b2f9f",
	} {
		decode := charset.Lookup(name).Decode
		if !long.Enabled() && !slices.Contains(severalBytes, name) {
			decode = byByte(t, name)
		}
		h := sha256.New()
		for a := range 256 {
			text = text[:0]
			for b := range 256 {
				a, b := byte(a), byte(b)
				for _, bytes := range [][]byte{
					{a, b}, {0x8f, a, b}, {0x1b, '$', 'B', a, b}, {0x1b, '(', 'J', a, 0x1b, '(', b}, {0x81 + a>>3, '0' + a&7, b, '1', 'A'},
				} {
					text = append(append(text, decode(bytes)...), '\n')
				}
			}
			h.Write(text)
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != digest {
			t.Errorf("%s: %s, expected %s", name, got, digest)
		}
	}
}

// byByte returns a decoder of an encoding in which no byte depends on another: it joins what each
// decodes to.
func byByte(t *testing.T, name string) func([]byte) []byte {
	decode := charset.Lookup(name).Decode
	var table [256][]byte
	var all, joined []byte
	for i := range 2 * 256 {
		b := byte(i * 129) // each twice, after different ones
		table[b] = slices.Clone(decode([]byte{b}))
		all, joined = append(all, b), append(joined, table[b]...)
	}
	if got := decode(all); !bytes.Equal(got, joined) {
		t.Errorf("%s: %q, byte by byte %q", name, got, joined)
	}
	var text []byte
	return func(body []byte) []byte {
		text = text[:0]
		for _, b := range body {
			text = append(text, table[b]...)
		}
		return text
	}
}

// TestDetect: pages that declare nothing.
func TestDetect(t *testing.T) {
	for name, c := range map[string]struct{ body, encoding string }{
		"Russian":             {"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", "windows-1251"},
		"Russian, KOI8-R":     {"\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2", "koi8-r"},
		"Russian, capitals":   {"\xcf\xd0\xc8\xc2\xc5\xd2, \xcc\xc8\xd0", "windows-1251"},
		"Greek":               {"\xca\xe1\xeb\xe7\xec\xdd\xf1\xe1 \xea\xfc\xf3\xec\xe5", "windows-1253"},
		"Hebrew":              {"\xf9\xec\xe5\xed \xf2\xe5\xec\xed", "windows-1255"},
		"Czech":               {"P\xf8\xedli\x9a \x9elu\x9dou\xe8k\xfd k\xf9\xf2 \xfap\xecl \xef\xe1belsk\xe9 \xf3dy", "windows-1250"},
		"Japanese, Shift_JIS": {"\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\x90\xa2\x8a\x45", "shift_jis"},
		"Japanese, EUC-JP":    {"\xa4\xb3\xa4\xf3\xa4\xcb\xa4\xc1\xa4\xcf\xc0\xa4\xb3\xa6", "euc-jp"},
		"Japanese, escapes":   {"\x1b$B$3$s$K$A$O@$3&\x1b(B", "iso-2022-jp"},
		"Korean":              {"\xbe\xc8\xb3\xe7\xc7\xcf\xbc\xbc\xbf\xe4", "euc-kr"},
		"Chinese":             {"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa1\xa3\xce\xd2\xc3\xc7\xca\xc7\xd6\xd0\xb9\xfa\xc8\xcb", "gbk"},
		"foreign word":        {"the na\xefve caf\xe9 of El Ni\xf1o", "windows-1252"},
		"sign":                {"price \xa3100", "windows-1252"},
		"one word":            {"Z\xfcrich", "windows-1252"},
		"quotes":              {"It\x92s a \x93test\x94 \x97 of them", "windows-1252"},
		"UTF-16":              {"<\x00p\x00>\x00\x1f\x04@\x048\x04", "utf-16le"},
		"UTF-16, big endian":  {"\x00<\x00p\x00>\x04\x1f\x04@\x048", "utf-16be"},
		"UTF-8 with an error": {strings.Repeat("\u00e9", 40) + "\xe9 a", "utf-8"},
		"UTF-8, cut":          {"\u65e5\u672c\u8a9e\xe3\x81", "utf-8"},
		"zeros":               {"\x00\x00\x00\x00", "windows-1252"},
	} {
		if e, source := charset.Determine("text/html", []byte(c.body)); e.Name() != c.encoding || source != charset.Detected && name != "zeros" {
			t.Errorf("%s: %s by %s, expected %s by detection", name, e.Name(), source, c.encoding)
		}
	}
}
