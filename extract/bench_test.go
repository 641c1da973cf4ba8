package extract

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft/weburl"
)

// boost is the documentation in Debian's libboost1.81-doc: 3,903 pages of 15 KB.
const boost = "/usr/share/doc/libboost1.81-doc/doc/html"

// BenchmarkPage reads five fields of each tenth page of a site, and what comes before: parsing.
func BenchmarkPage(b *testing.B) {
	var pages [][]byte
	n, total := 0, 0
	err := filepath.WalkDir(boost, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		if n++; n%10 != 0 {
			return nil
		}
		text, err := os.ReadFile(path)
		total += len(text)
		pages = append(pages, text)
		return err
	})
	if err != nil || len(pages) == 0 {
		b.Skipf("no libboost1.81-doc: %v", err)
	}
	u := parseURL(b, "http://127.0.0.1/")
	run := func(name string, do func(weburl.URL, []byte)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(total / len(pages)))
			b.ReportAllocs()
			for i := range b.N {
				do(u, pages[i%len(pages)])
			}
		})
	}
	run("parse", func(_ weburl.URL, text []byte) { _, _ = Parse(text) })
	css, err := Of("title=title", "heading=h1, h2.title, h3", "next:url=a[accesskey=n]", "author[]=.author", "code[]=pre.programlisting")
	if err != nil {
		b.Fatal(err)
	}
	x := extractor(b, css)
	run("css", func(u weburl.URL, text []byte) { x.Page(u, text) })
	xpath, err := Of("title=//title", "heading=//h2", "next=//a[@accesskey='n']/@href", "author[]=//*[@class='author']", "code[]=//pre[@class='programlisting']")
	if err != nil {
		b.Fatal(err)
	}
	y := extractor(b, xpath)
	run("xpath", func(u weburl.URL, text []byte) { y.Page(u, text) })
	z, err := New(nil, true)
	if err != nil {
		b.Fatal(err)
	}
	run("structured", func(u weburl.URL, text []byte) { z.Page(u, text) })
}
