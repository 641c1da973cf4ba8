package charset_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/cost"
	xcharset "golang.org/x/net/html/charset"
)

// pageOf returns a page of 37 KB of this text, with much markup, that declares nothing.
func pageOf(text string) []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><html><head><title>Page</title>")
	for i := 0; b.Len() < 37<<10; i++ {
		fmt.Fprintf(&b, `<div class="section" id="s%d"><a href="/page/%d.html" title="next">%s</a></div>`+"\n", i, i, text)
	}
	return b.Bytes()
}

// BenchmarkUTF8 measures the cost of a page before its links are read, compared with
// golang.org/x/net/html/charset and its decoders.
func BenchmarkUTF8(b *testing.B) {
	cyrillic := "\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0. \xca\xee\xf4\xe5 \xe8 \xf7\xe0\xe9"
	japanese := "\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x79\x81\x5b\x83\x57\x82\xc5\x82\xb7"
	for _, c := range []struct{ name, contentType, text string }{
		{"ASCII", "text/html", "Hello, world"},
		{"ASCII-labelled", "text/html; charset=utf-8", "Hello, world"},
		{"UTF-8", "text/html", "Привет, мир"},
		{"UTF-8-labelled", "text/html; charset=utf-8", "Привет, мир"},
		{"windows-1251-labelled", "text/html; charset=windows-1251", cyrillic},
		{"windows-1251-detected", "text/html", cyrillic},
		{"shift_jis-labelled", "text/html; charset=shift_jis", japanese},
		{"shift_jis-detected", "text/html", japanese},
	} {
		page := pageOf(c.text)
		b.Run(c.name+"/weft", func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			m := cost.Start(b)
			for b.Loop() {
				charset.UTF8(c.contentType, page)
			}
			m.Report(b.N, "op")
		})
		if strings.HasSuffix(c.name, "-detected") {
			continue // it has no detection
		}
		b.Run(c.name+"/x-net", func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			m := cost.Start(b)
			for b.Loop() {
				e, _, _ := xcharset.DetermineEncoding(page, c.contentType)
				if _, err := e.NewDecoder().Bytes(page); err != nil {
					b.Fatal(err)
				}
			}
			m.Report(b.N, "op")
		})
	}
}
