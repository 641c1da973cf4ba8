package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/scope"
)

// Bodies of more than shortBody bytes are read in turn: at most readQuota bytes in a turn of the
// loop, and one body more. Shorter ones do not wait for them.
const (
	readQuota = 1 << 20 // a few milliseconds' work
	shortBody = 64 << 10
)

// readPage reads a response, then delivers its page.
func (f *Loop) readPage(t *aio.Task, out *Outcome, res *http1.Response) error {
	page, err := f.readInTurn(t, out, res)
	if err != nil {
		return err
	}
	out.Folder, err = f.deliver(t, page)
	return err
}

// readInTurn reads a response when it is its turn, and memory allows: see mayRead.
func (f *Loop) readInTurn(t *aio.Task, out *Outcome, res *http1.Response) (*Page, error) {
	unpacks := 0
	if f.cfg.Sitemaps && isGzip(res.Body) {
		unpacks = unpacked(res.Body, f.cfg.HTTP.MaxBody)
		if err := res.Make(t, unpacks); err != nil {
			return nil, err
		}
	}
	if n := len(res.Body); n > shortBody || unpacks > 0 {
		if err := f.reading.Take(t); err != nil {
			return nil, err
		}
		f.reading.Spend(n)
	}
	done, err := f.mayRead(t, out)
	if err != nil {
		return nil, err
	}
	var page *Page
	t.OnLoop(func() {
		page = f.read(out, res)
		f.compare(out, res)
	})
	res.Keep(-unpacks)
	f.weigh(out, res, page)
	done()
	return page, nil
}

// deliver does with a page what takes time: it keeps the body, in the folder that it returns, and
// calls the user's hook.
func (f *Loop) deliver(t *aio.Task, page *Page) (folder string, err error) {
	if page == nil {
		return "", nil
	}
	return aio.Offload(t, func(ctx context.Context) (folder string, err error) {
		if f.cfg.KeepBody != nil && len(page.Body) > 0 {
			if folder, err = f.cfg.KeepBody(page.Record.SHA256, page.Body); err != nil {
				return "", err
			}
		}
		if f.cfg.Hooks.OnPage != nil && !page.redirect {
			if err := f.cfg.Hooks.OnPage(ctx, page); err != nil {
				return "", fmt.Errorf("OnPage of %.128s: %w", page.Record.URL, err)
			}
		}
		return folder, nil
	})
}

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
	if location := res.Header.Get("Location"); record.IsRedirect(res.Status) && location != "" {
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
	c := collector{f: f, out: out, follow: res.Status < 300, page: page, showAll: showAll, depth: u.Depth + 1, most: mostLinkText(len(body))}
	if c.follow && f.cfg.Sitemaps && (IsSitemap(u) || resemblesSitemap(res)) && c.sitemap(res) {
		f.judge(out, false)
		return page
	}
	f.extract(&c, res, body)
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

// extract finds links, title, directives and, where it is of use, the text of a page.
func (f *Loop) extract(c *collector, res *http1.Response, body []byte) {
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
