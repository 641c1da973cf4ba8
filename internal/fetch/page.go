package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/sniff"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Bodies of more than shortBody bytes are read in turn: at most readQuota bytes in a turn of the
// loop, and one body more. Shorter ones do not wait for them. Bodies of more than longPage bytes
// are hashed and decoded off the loop, and read in slices.
const (
	readQuota = 1 << 20 // a few milliseconds' work
	shortBody = 64 << 10
	longPage  = 512 << 10
)

// readPage reads a response, then delivers its page.
func (f *Loop) readPage(t *aio.Task, out *Outcome, res *httpclient.Response) error {
	page, err := f.readInTurn(t, out, res)
	if err != nil {
		return err
	}
	if err := f.findItems(t, out, page); err != nil {
		return err
	}
	out.Folder, err = f.deliver(t, page)
	if err == nil && page != nil && len(page.added) > 0 {
		t.OnLoop(func() { f.followAdded(out, page.added) })
	}
	return err
}

// followAdded follows what OnPage has added, like links of the page that no nofollow is about.
func (f *Loop) followAdded(out *Outcome, added []addition) {
	c := f.newCollector(f.short, out)
	c.added, c.plain = true, false // another page may be in the middle of its links
	f.giveData(out.Links, added)
	for _, a := range added {
		c.data = a.data
		c.text += len(a.data)
		if !c.link(a.link) {
			break
		}
	}
	out.Links = append(out.Links, c.wanted...)
	if c.n >= bigOutcome {
		hold := f.shared.Outcomes.Open(out.URL.Prompt)
		hold.Set(c.text + c.n*linkCost)
		out.Holds = append(out.Holds, &hold)
	}
}

// giveData gives links of a page the data that OnPage has added them with.
func (f *Loop) giveData(links []frontier.URL, added []addition) {
	data := make(map[weburl.URL]string)
	for _, a := range added {
		to := f.cfg.Canon.Identity(a.link.URL)
		if _, known := data[to]; !known && a.data != "" {
			data[to] = a.data
		}
	}
	if len(data) == 0 {
		return
	}
	for i := range links {
		links[i].Data = data[links[i].URL]
	}
}

// readInTurn reads a response when it is its turn, and memory allows: see mayRead. What reading
// makes counts before.
func (f *Loop) readInTurn(t *aio.Task, out *Outcome, res *httpclient.Response) (page *Page, err error) {
	n, zipped := len(res.Body), f.cfg.Sitemaps && isGzip(res.Body)
	long := n > longPage
	if n > shortBody && !long || zipped {
		if err := f.reading.Take(t); err != nil {
			return nil, err
		}
		f.reading.Spend(n)
	}
	if long {
		if err := f.offLoop(t, func() { out.content = sha256.Sum256(res.Body) }); err != nil {
			return nil, err
		}
	}
	var text charset.Undecoded
	reads := false
	t.OnLoop(func() {
		if page, reads = f.look(out, res); !reads {
			f.compare(out, res)
		} else if !long {
			text = prepare(out.Record, res.Body)
		}
	})
	if !reads {
		return page, nil
	}
	if long {
		if err := f.offLoop(t, func() { text = prepare(out.Record, res.Body) }); err != nil {
			return nil, err
		}
	}
	return page, f.readText(t, out, res, page, &text)
}

// prepare returns the text of a body, not decoded yet; without an encoding if it is of a type that
// has no links.
func prepare(r *record.Record, body []byte) (text charset.Undecoded) {
	if links.Reads(r.Type()) {
		text = charset.Prepare(r.Type(), body)
	}
	return text
}

// readText reads the text of a response.
func (f *Loop) readText(t *aio.Task, out *Outcome, res *httpclient.Response, page *Page, text *charset.Undecoded) error {
	before, zipped := text.Room, f.cfg.Sitemaps && isGzip(res.Body)
	switch {
	case zipped:
		before += unpacked(res.Body, f.cfg.HTTP.MaxBody)
	case f.cfg.Sitemaps && (IsSitemap(out.URL) || text.Room > 0):
		before += transcoded(res.Body)
	}
	if err := res.Make(t, before); err != nil {
		return err
	}
	long := len(res.Body) > longPage && text.Encoding != nil || (len(res.Body) > shortBody || zipped) && f.mayBeSitemap(out, res)
	done, err := f.mayRead(t, out, long)
	if err != nil {
		return err
	}
	var made int
	err = f.inSlices(t, long, func() {
		made = f.read(out, res, page, text)
		f.compare(out, res)
	})
	res.Keep(made - before)
	f.weigh(out, res, page)
	done()
	return err
}

// deliver does with a page what takes time: it keeps the body, in the folder that it returns, and
// calls the user's hook.
func (f *Loop) deliver(t *aio.Task, page *Page) (folder string, err error) {
	if page == nil || f.cfg.KeepBody == nil && f.cfg.Hooks.OnPage == nil {
		return "", nil
	}
	return aio.Offload(t, func(ctx context.Context) (folder string, err error) {
		if f.cfg.KeepBody != nil && len(page.Body) > 0 && !page.checked {
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

// look fills the record from a response, as far as that needs no text, and returns the page to
// deliver, or nil, and whether to read the text. It runs on the loop's stack. A long body is
// hashed.
func (f *Loop) look(out *Outcome, res *httpclient.Response) (page *Page, reads bool) {
	r, u := out.Record, out.URL
	if u.Role == frontier.RoleExternal {
		return f.lookBeyond(out, res), false
	}
	if n := len(res.Body); n > 0 {
		if n <= longPage {
			out.content = sha256.Sum256(res.Body)
		}
		r.SHA256 = hex.EncodeToString(out.content[:])
	}
	r.SniffedType = sniff.Type(r.ContentType, res.Header.Get("X-Content-Type-Options"), res.Body)
	if f.cfg.KeepBody != nil || f.cfg.Hooks.OnPage != nil || f.cfg.Extract != nil {
		page = &Page{Record: r, Header: res.Header, Body: res.Body, Text: res.Body, Data: dataOf(&u), url: u.URL}
	}
	if location := res.Header.Get("Location"); record.IsRedirect(res.Status) && location != "" {
		f.redirect(out, location)
		if f.cfg.KeepBody == nil {
			return nil, false
		}
		page.redirect = true
		return page, false
	}
	if f.cfg.Hooks.OnPage == nil && sameBody(u.Known, out.content, r) && sameLinks(u.Known, res) {
		out.text.Hash = u.Known.Text
		f.judge(out, !IsSitemap(u))
		return page, false // its links were found when they were new
	}
	return page, true
}

// read finds the links of a response, and returns how many bytes of text it has made.
func (f *Loop) read(out *Outcome, res *httpclient.Response, page *Page, text *charset.Undecoded) (made int) {
	showAll := f.cfg.Hooks.OnPage != nil
	body := res.Body
	if text.Encoding != nil {
		out.Record.Charset = text.Encoding.Name()
		if f.apart(func() { body = text.Text() }); f.slices.err != nil {
			return 0
		}
	}
	if text.Room > 0 {
		made = cap(body)
	}
	if page != nil {
		page.Text = body
		page.items = f.cfg.Extract != nil && out.Record.IsPage() && !out.URL.Role.Beyond() && f.cfg.Extract.Wants(out.URL.URL)
	}
	if res.Status < 200 || res.Status >= 300 && !showAll {
		return made
	}
	c := f.newCollector(f.extractors(), out)
	c.follow = res.Status < 300 && (out.URL.Role != frontier.RoleAsset || isStyle(out.Record))
	c.page, c.showAll, c.most = page, showAll, mostLinkText(len(body))
	out.Read = c.follow
	if c.follow && !out.URL.Role.Beyond() && f.mayBeSitemap(out, res) && c.sitemap(res) {
		f.judge(out, false)
		return made
	}
	f.extract(&c, res, body)
	return made
}

// extract finds links, title, directives and, where it is of use, the text of a page.
func (f *Loop) extract(c *collector, res *httpclient.Response, body []byte) {
	out, r := c.out, c.out.Record
	links.Header(out.URL.URL, res.Header.Values("Link"), c.link)
	links.RefreshHeader(out.URL.URL, res.Header.Values("Refresh"), c.link)
	var found links.Page
	doc := links.Document{Base: out.URL.URL, ContentType: r.Type(), Body: body, Charset: r.Charset}
	if f.slices.long {
		doc.Pause = f.pause
	}
	if f.cfg.Near || f.cfg.Job { // to recognize near duplicates, or a change at a later visit
		found, out.text = c.x.text.Extract(c.x.links, doc, c.link)
	} else {
		found = c.x.links.Extract(doc, c.link)
	}
	if c.page != nil {
		c.page.base = found.Base
	}
	if out.watched && r.IsPage() {
		out.Sketch = c.x.text.Sketch(c.x.pieces, doc)
	}
	f.judge(out, true)
	r.Title = found.Title
	if found.Cut {
		out.Cut(scope.ReasonTooMany)
	}
	if found.Hidden {
		out.Cut(scope.ReasonUnclosed)
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
