package sitemap

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"testing"
)

// large returns a sitemap of 50,000 entries, the most that the protocol allows.
func large() []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for i := range 50_000 {
		fmt.Fprintf(&b, "  <url>\n    <loc>https://www.example.com/shop/category-%d/product-%d.html?a=1&amp;b=%d</loc>\n    <lastmod>2024-%02d-%02dT10:%02d:00+00:00</lastmod>\n    <changefreq>weekly</changefreq>\n    <priority>0.%d</priority>\n  </url>\n",
			i%100, i, i, i%12+1, i%28+1, i%60, i%10)
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	body := large()
	for _, c := range []struct {
		name string
		body []byte
	}{{"plain", body}, {"gzip", zip(b, string(body))}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if r := Read(Document{Body: c.body}, Options{}, func(Entry) bool { return true }); r.Entries != 50_000 || r.Err != nil {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}

// BenchmarkEncodingXML reads the same with the standard library into structs of strings, without
// resolving URLs or reading dates.
func BenchmarkEncodingXML(b *testing.B) {
	body := large()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var set struct {
			URLs []struct {
				Loc      string `xml:"loc"`
				LastMod  string `xml:"lastmod"`
				Priority string `xml:"priority"`
			} `xml:"url"`
		}
		if err := xml.Unmarshal(body, &set); err != nil || len(set.URLs) != 50_000 {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostile reads bodies made to be slow: each should take time linear in its length.
func BenchmarkHostile(b *testing.B) {
	for _, c := range []struct{ name, begin, again string }{
		{"stray", "<urlset><url><loc>", "<"},
		{"references", "<urlset><url><loc>", "&"},
		{"attributes", "<urlset><url><link ", `a="b" `},
		{"no quote", "<urlset><url>", `<link rel="alternate href=x>`},
		{"ends", "<urlset>", "</x>"},
		{"comments", "<urlset>", "<!-- "},
		{"nested", "<urlset>", "<url>"},
		{"tags", "<urlset><url>", "<a/>"},
		{"lines", "", "x\n"},
	} {
		for _, size := range []int{1 << 20, 4 << 20} {
			body := append([]byte(c.begin), bytes.Repeat([]byte(c.again), size/len(c.again))...)
			b.Run(fmt.Sprintf("%s/%dMiB", c.name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					Read(Document{Body: body}, Options{}, func(Entry) bool { return true })
				}
			})
		}
	}
}
