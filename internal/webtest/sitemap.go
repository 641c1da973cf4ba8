package webtest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// sitemapStyle is the choice of a host's sitemaps, and of their names in robots.txt.
type sitemapStyle uint8

const (
	sitemapIndex  sitemapStyle = iota // robots.txt names an index with a sitemap of each other style
	sitemapUsual                      // at /sitemap.xml, not named
	sitemapGzip                       // named, in gzip, with a generic content type
	sitemapBroken                     // named, cut off
	sitemapText                       // named, one URL per line
	sitemapNone                       // 404 at /sitemap.xml
	sitemapStyles
)

// sitemapStyle draws the style of host i. A host without robots.txt cannot name a sitemap.
func (w *Web) sitemapStyle(i int) sitemapStyle {
	d := w.draws.dice(saltSitemap, resource{host: int32(i)})
	switch style := sitemapStyle(d.roll(int(sitemapStyles))); {
	case i == 0:
		return sitemapIndex
	case w.robots(i) == robotsNone && style != sitemapNone:
		return sitemapUsual
	default:
		return style
	}
}

// sitemapStyleOf returns the style of one file: the n-th file of an index has the n-th style.
func (w *Web) sitemapStyleOf(p resource) sitemapStyle {
	if p.n > 0 {
		return sitemapStyle(p.n)
	}
	return w.sitemapStyle(int(p.host))
}

// hasSitemap reports whether a file exists, or crawlers request it anyway.
func (w *Web) hasSitemap(p resource) bool {
	last := int32(0)
	if w.sitemapStyle(int(p.host)) == sitemapIndex {
		last = int32(sitemapText)
	}
	return w.cfg.Listed > 0 && p.n <= last
}

// sitemapTarget returns the target of a sitemap.
func (w *Web) sitemapTarget(p resource) string {
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

// listed returns the resources that a sitemap lists. The files of an index divide them among
// themselves.
func (w *Web) listed(p resource) (all []resource) {
	switch style := w.sitemapStyle(int(p.host)); {
	case style == sitemapNone:
		return nil
	case style == sitemapIndex && p.n == 0:
		for n := sitemapUsual; n <= sitemapText; n++ {
			all = append(all, resource{host: p.host, kind: sitemapFile, n: int32(n)})
		}
		return all
	case style == sitemapIndex:
		for n := int(p.n) - 1; n < w.cfg.Listed; n += int(sitemapText) {
			all = append(all, resource{host: p.host, kind: listedPage, n: int32(n)})
		}
	default:
		for n := range w.cfg.Listed {
			all = append(all, resource{host: p.host, kind: listedPage, n: int32(n)})
		}
	}
	return append(all, resource{host: p.host, kind: page})
}

// sitemap fills in a sitemap.
func (w *Web) sitemap(a *Response, p resource) {
	style := w.sitemapStyleOf(p)
	a.Header[0], a.Gzip = "Content-Type: application/xml", false
	root, item := "urlset", "url"
	switch style {
	case sitemapNone:
		a.Status = 404
		return
	case sitemapText:
		a.Header[0] = "Content-Type: text/plain"
		for _, to := range w.listed(p) {
			a.Body = append(a.Body, w.url(to)+"\n"...)
		}
		return
	case sitemapIndex:
		root, item = "sitemapindex", "sitemap"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n", root)
	for i, to := range w.listed(p) {
		fmt.Fprintf(&b, "<%s><loc>%s</loc><lastmod>2024-%02d-01</lastmod></%[1]s>\n", item, strings.ReplaceAll(w.url(to), "&", "&amp;"), i%12+1)
	}
	switch style {
	case sitemapBroken:
		b.WriteString("<url><loc>" + w.url(resource{host: p.host, kind: page}) + "decoy/half-a-u")
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
			panic("webtest: a write to memory failed")
		}
		a.Body = packed.Bytes()
	}
}

// sitemapLine returns the Sitemap line in the robots.txt of host i, if any.
func (w *Web) sitemapLine(i int) string {
	switch {
	case w.cfg.Listed == 0:
		return ""
	case w.sitemapStyle(i) == sitemapUsual, w.sitemapStyle(i) == sitemapNone:
		return ""
	}
	return "Sitemap: " + w.url(resource{host: int32(i), kind: sitemapFile}) + "\n"
}
