package webtest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// sitemapStyle is what sitemaps a host has, and how it tells of them.
type sitemapStyle uint8

const (
	sitemapIndex  sitemapStyle = iota // robots.txt names an index, of a sitemap of each other sort
	sitemapUsual                      // at /sitemap.xml, and not named
	sitemapGzip                       // named, in gzip, of whatever content type
	sitemapBroken                     // named; it breaks off
	sitemapText                       // named, a URL a line
	sitemapNone                       // 404 at /sitemap.xml
	sitemapStyles
)

// sitemapStyle draws that of host i. One without a robots.txt names none.
func (w *Web) sitemapStyle(i int) sitemapStyle {
	d := w.dice(saltSitemap, place{host: int32(i)})
	switch style := sitemapStyle(d.roll(int(sitemapStyles))); {
	case i == 0:
		return sitemapIndex
	case w.robots(i) == robotsNone && style != sitemapNone:
		return sitemapUsual
	default:
		return style
	}
}

// sitemapStyleOf is that of one file: that which an index has the n-th of is of the n-th style.
func (w *Web) sitemapStyleOf(p place) sitemapStyle {
	if p.n > 0 {
		return sitemapStyle(p.n)
	}
	return w.sitemapStyle(int(p.host))
}

// hasSitemap reports whether a file is there, or is asked for all the same.
func (w *Web) hasSitemap(p place) bool {
	last := int32(0)
	if w.sitemapStyle(int(p.host)) == sitemapIndex {
		last = int32(sitemapText)
	}
	return w.cfg.Told > 0 && p.n <= last
}

// sitemapTarget spells a sitemap.
func (w *Web) sitemapTarget(p place) string {
	if p.n == 0 {
		switch w.sitemapStyle(int(p.host)) {
		case sitemapUsual, sitemapNone:
			return "/sitemap.xml"
		}
	}
	extension := ".xml"
	switch w.sitemapStyleOf(p) {
	case sitemapGzip:
		extension = ".xml.gz"
	case sitemapText:
		extension = ".txt"
	}
	return fmt.Sprintf("/sitemaps/%d%s", p.n, extension)
}

// sitemapLine is what the robots.txt of host i says of them.
func (w *Web) sitemapLine(i int) string {
	switch {
	case w.cfg.Told == 0:
		return ""
	case w.sitemapStyle(i) == sitemapUsual, w.sitemapStyle(i) == sitemapNone:
		return ""
	}
	return "Sitemap: " + w.url(place{host: int32(i), kind: sitemapFile}) + "\n"
}

// told are the places that a sitemap tells of. The files of an index share them out.
func (w *Web) told(p place) (all []place) {
	switch style := w.sitemapStyle(int(p.host)); {
	case style == sitemapNone:
		return nil
	case style == sitemapIndex && p.n == 0:
		for n := sitemapUsual; n <= sitemapText; n++ {
			all = append(all, place{host: p.host, kind: sitemapFile, n: int32(n)})
		}
		return all
	case style == sitemapIndex:
		for n := int(p.n) - 1; n < w.cfg.Told; n += int(sitemapText) {
			all = append(all, place{host: p.host, kind: toldPage, n: int32(n)})
		}
	default:
		for n := range w.cfg.Told {
			all = append(all, place{host: p.host, kind: toldPage, n: int32(n)})
		}
	}
	return append(all, place{host: p.host, kind: page})
}

// sitemap answers with one.
func (w *Web) sitemap(a *Answer, p place) {
	style := w.sitemapStyleOf(p)
	a.Header[0], a.Gzip = "Content-Type: application/xml", false
	root, item := "urlset", "url"
	switch style {
	case sitemapNone:
		a.Status = 404
		return
	case sitemapText:
		a.Header[0] = "Content-Type: text/plain"
		for _, to := range w.told(p) {
			a.Body = append(a.Body, w.url(to)+"\n"...)
		}
		return
	case sitemapIndex:
		root, item = "sitemapindex", "sitemap"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n", root)
	for i, to := range w.told(p) {
		fmt.Fprintf(&b, "<%s><loc>%s</loc><lastmod>2024-%02d-01</lastmod></%[1]s>\n", item, strings.ReplaceAll(w.url(to), "&", "&amp;"), i%12+1)
	}
	switch style {
	case sitemapBroken:
		b.WriteString("<url><loc>" + w.url(place{host: p.host, kind: page}) + "decoy/half-a-u")
	default:
		fmt.Fprintf(&b, "</%s>\n", root)
	}
	a.Body = b.Bytes()
	if style == sitemapGzip {
		a.Header[0] = "Content-Type: application/octet-stream"
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err := z.Write(a.Body)
		if closed := z.Close(); err != nil || closed != nil {
			panic("webtest: memory that takes no bytes")
		}
		a.Body = packed.Bytes()
	}
}

// asksSitemap reports whether a crawler under p that comes to a host asks for its sitemaps:
// once robots.txt is there, or known not to be.
func (w *Web) asksSitemap(host int32, p Policy) bool {
	i := int(host)
	if !p.Sitemaps || !p.Robots || w.cfg.Told == 0 || w.Dead(i) {
		return false
	}
	switch w.robots(i) {
	case robotsClosed:
		return false
	case robotsShy:
		return w.fails(place{host: host, kind: robotsTxt}) <= p.Retries
	}
	return true
}
