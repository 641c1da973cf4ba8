package charset_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/charset"
)

func TestUTF8(t *testing.T) {
	const html = "text/html"
	for name, c := range map[string]struct{ contentType, body, text, encoding string }{
		"says nothing":           {html, "caf\u00e9", "café", "utf-8"},
		"says nothing, no UTF-8": {html, "caf\xe9", "café", "windows-1252"},
		"Content-Type":           {html + "; charset=windows-1251", "\xca\xee\xf4\xe5", "Кофе", "windows-1251"},
		"declared":               {html, "<meta charset=Shift_JIS>\x93\xfa", "<meta charset=Shift_JIS>日", "shift_jis"},
		"mark before all else":   {html + "; charset=windows-1251", "\xff\xfe\xe9\x00", "\ufeffé", "utf-16le"},
		"not valid":              {html + "; charset=utf-8", "a\xff", "a\xff", "utf-8"},
		"not safe to read":       {html + "; charset=iso-2022-kr", "<script>", "\ufffd", "replacement"},
		"unknown":                {html + "; charset=klingon", "caf\xe9", "café", "windows-1252"},
		"empty":                  {"", "", "", "utf-8"},
	} {
		text, encoding := charset.UTF8(c.contentType, []byte(c.body))
		if string(text) != c.text || encoding != c.encoding {
			t.Errorf("%s: %q in %s, expected %q in %s", name, text, encoding, c.text, c.encoding)
		}
	}
}
