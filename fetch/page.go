package fetch

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/scope"
)

// read fills the record from a response and finds its links. It runs on the loop's stack. The page
// is nil if there is nothing to deliver.
func (f *Loop) read(out *Outcome, res *http1.Response) *Page {
	r, u := out.Record, out.URL
	if len(res.Body) > 0 {
		out.content = sha256.Sum256(res.Body)
		r.SHA256 = hex.EncodeToString(out.content[:])
	}
	var page *Page
	if f.cfg.KeepBody != nil || f.cfg.Hooks.OnPage != nil {
		page = &Page{Record: r, Header: res.Header, Body: res.Body, Text: res.Body}
	}
	if location := res.Header.Get("Location"); IsRedirect(res.Status) && location != "" {
		f.redirect(out, location)
		if f.cfg.KeepBody == nil {
			return nil
		}
		page.redirect = true
		return page
	}
	showAll := f.cfg.Hooks.OnPage != nil
	if !showAll && sameBody(u.Known, out.content, r) && sameLinks(u.Known, res) {
		out.text.Hash = u.Known.Text
		f.judge(out, !IsSitemap(u))
		return page // its links were found when they were new
	}
	body := f.decodeText(out, res)
	if page != nil {
		page.Text = body
	}
	if res.Status < 200 || res.Status >= 300 && !showAll {
		return page
	}
	c := collector{f: f, out: out, follow: res.Status < 300, page: page, showAll: showAll, depth: u.Depth + 1}
	if c.follow && f.cfg.Sitemaps && (IsSitemap(u) || resemblesSitemap(res)) && c.sitemap(res) {
		f.judge(out, false)
		return page
	}
	f.readPage(&c, res, body)
	return page
}

// decodeText returns the body in UTF-8, if it is of a type that has links; else as it is.
func (f *Loop) decodeText(out *Outcome, res *http1.Response) []byte {
	r := out.Record
	if !links.Reads(r.ContentType) {
		return res.Body
	}
	body, name := charset.UTF8(r.ContentType, res.Body)
	if r.Charset = name; len(body) > 0 && &body[0] != &res.Body[0] {
		res.Keep(len(body))
	}
	return body
}

// readPage finds links, title, directives and, where it is of use, the text of a page.
func (f *Loop) readPage(c *collector, res *http1.Response, body []byte) {
	out, r := c.out, c.out.Record
	links.Header(out.URL.URL, res.Header.Values("Link"), c.link)
	var found links.Page
	doc := links.Document{Base: out.URL.URL, ContentType: r.ContentType, Body: body, Charset: r.Charset}
	if f.cfg.Near || f.cfg.Job { // to recognize near duplicates, or a change at a later visit
		found, out.text = f.text.Extract(f.links, doc, c.link)
	} else {
		found = f.links.Extract(doc, c.link)
	}
	f.judge(out, true)
	r.Title = found.Title
	if found.Cut {
		out.Drop(scope.ReasonTooMany)
	}
	found.Add(links.RobotsTag(res.Header.Values("X-Robots-Tag"), f.cfg.HTTP.UserAgent))
	r.Robots = found.All()
	if found.NoFollow && !f.cfg.NoRobots {
		c.forget(scope.ReasonNoFollow)
	}
	if r.Pruned {
		c.forget(scope.ReasonDuplicate)
	}
	out.Links = append(out.Links, c.wanted...)
}
