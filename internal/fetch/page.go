package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/sniff"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Bodies of more than shortBody bytes are read in turn: at most readQuota bytes in a turn of the
// loop, and one body more. Shorter ones do not wait for them. Bodies of more than longPage bytes
// are hashed and decoded off the loop, and read in parts.
const (
	readQuota = 1 << 20 // a few milliseconds' work
	shortBody = 64 << 10
	longPage  = 512 << 10
)

// pageReader reads responses, and delivers their pages.
// Owner: one loop.
type pageReader struct {
	cfg       *Config
	outlinks  *outlinks
	originals originals
	items     itemFinder

	quota *aio.Quota
	lines lines
	pages interleaver
	short *extractors // of pages that are read in one go
	long  *extractors // of long ones, which are read in parts; nil: none yet
	known map[sitemapKey]knownSitemap

	renders renders
}

// read reads a response to a request of a time, then delivers its page.
func (p *pageReader) read(t *aio.Task, l *Lease, at time.Time, out *Outcome, res *httpclient.Response) error {
	page, err := p.readInTurn(t, out, res)
	if err != nil {
		return err
	}
	if page != nil && page.why != "" {
		if err := p.readRendered(t, l, at, out, res, page); err != nil || out.Postpone || out.SignedOut != "" {
			return err
		}
	}
	if err := p.items.find(t, out, page); err != nil {
		return err
	}
	err = p.deliver(t, out, page)
	if err == nil && page != nil && len(page.added) > 0 {
		t.OnLoop(func() { p.followAdded(out, page.added) })
	}
	return err
}

// newCollector returns a collector of links that are followed.
func (p *pageReader) newCollector(x *extractors, out *Outcome) collector {
	x.pages++
	x.places.Clear()
	return collector{
		cfg: p.cfg, to: p.outlinks, pages: &p.pages, x: x, out: out, follow: true, number: x.pages, depth: out.URL.Depth + 1, most: maxLinkText,
		plain: p.cfg.Hooks.OnLink == nil && !p.cfg.KeepLinks && out.URL.Role == frontier.RolePage,
	}
}

// followAdded follows what OnPage has added, like links of the page that no nofollow is about.
func (p *pageReader) followAdded(out *Outcome, added []addition) {
	c := p.newCollector(p.short, out)
	c.added, c.plain = true, false // another page may be in the middle of its links
	p.giveData(out.Links, added)
	for _, a := range added {
		c.data = a.data
		c.text += len(a.data)
		if !c.link(a.link) {
			break
		}
	}
	out.Links = append(out.Links, c.wanted...)
	if c.n >= bigOutcome {
		hold := p.lines.outcomes.Open(out.URL.Prompt)
		hold.Set(c.text + c.n*linkCost)
		out.Holds = append(out.Holds, &hold)
	}
}

// giveData gives links of a page the data that OnPage has added them with.
func (p *pageReader) giveData(links []frontier.URL, added []addition) {
	data := make(map[weburl.URL]string)
	for _, a := range added {
		to := p.cfg.Canon.Identity(a.link.URL)
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

// readInTurn reads a response when it is its turn, and memory allows: see lines. What reading
// makes counts before.
func (p *pageReader) readInTurn(t *aio.Task, out *Outcome, res *httpclient.Response) (page *Page, err error) {
	n, zipped := len(res.Body), p.cfg.Sitemaps && isGzip(res.Body)
	long := n > longPage
	if n > shortBody && !long || zipped {
		if err := p.quota.Take(t); err != nil {
			return nil, err
		}
		p.quota.Spend(n)
	}
	if long {
		if err := p.pages.offLoop(t, func() { out.content = sha256.Sum256(res.Body) }); err != nil {
			return nil, err
		}
	}
	var text charset.Undecoded
	reads := false
	t.OnLoop(func() {
		if page, reads = p.look(out, res); !reads {
			p.cfg.compare(out, res)
		} else if !long {
			text = prepare(out.Record, res.Body)
		}
	})
	if !reads {
		return page, nil
	}
	if long {
		if err := p.pages.offLoop(t, func() { text = prepare(out.Record, res.Body) }); err != nil {
			return nil, err
		}
	}
	return page, p.readText(t, out, res, page, &text)
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
func (p *pageReader) readText(t *aio.Task, out *Outcome, res *httpclient.Response, page *Page, text *charset.Undecoded) error {
	before, zipped := text.Room, p.cfg.Sitemaps && isGzip(res.Body)
	switch {
	case zipped:
		before += unpacked(res.Body, p.cfg.HTTP.MaxBody)
	case p.cfg.Sitemaps && (IsSitemap(out.URL) || text.Room > 0):
		before += transcoded(res.Body)
	}
	if err := res.Make(t, before); err != nil {
		return err
	}
	long := len(res.Body) > longPage && text.Encoding != nil || (len(res.Body) > shortBody || zipped) && p.mayBeSitemap(out, res)
	done, err := p.lines.wait(t, out, long)
	if err != nil {
		return err
	}
	var made int
	err = p.pages.read(t, long, func() {
		made = p.collect(out, res, page, text)
		if page == nil || page.why == "" {
			p.cfg.compare(out, res)
		}
	})
	res.Keep(made - before)
	p.lines.weigh(out, res, page)
	done()
	return err
}

// readRendered reads a page as a browser renders it. If that fails, the page counts as it was
// received.
func (p *pageReader) readRendered(t *aio.Task, l *Lease, requested time.Time, out *Outcome, res *httpclient.Response, page *Page) error {
	p.renders.leave(l, out.Result, res)
	out.URL.Responded = true
	began := p.renders.clock.loop.Wall()
	doc, err := p.renders.render(t, out, page)
	p.renders.back(res, len(doc.text))
	if errors.Is(err, ErrDrained) {
		out.Postpone, out.Broken = true, true
		return nil
	}
	if err != nil && (errors.Is(err, aio.ErrCanceled) || render.KindOf(err) == render.KindStart) {
		return err
	}
	if err == nil {
		why := ""
		t.OnLoop(func() { why = p.cfg.signedOutBy(out.URL.URL, doc.Document, doc.text) })
		if p.cfg.signOut(out, why) {
			return nil
		}
	}
	r := &record.Rendered{Reason: page.why, Cached: doc.cached}
	out.Record.Rendered = r
	received := out.content // which the archive needs
	defer func() { out.content = received }()
	body, base, targets := page.Text, out.URL.URL, []string(nil)
	if err != nil {
		r.Error, r.ErrorKind, r.MS = frontier.Brief(err.Error()), string(render.KindOf(err)), p.renders.clock.loop.Wall().Sub(began).Milliseconds()
	} else if at := takeDocument(r, doc.Document, base, p.cfg.Session); !p.renders.learn(out, page, doc) {
		r.AsReceived, r.URL = record.RenderedSame, ""
	} else {
		page.rendered = doc.text
		page.pictures = pictures{requested, p.renders.clock.loop.Wall(), doc.Screenshot, doc.PDF}
		body, base, targets = doc.text, at, doc.Targets
		out.content = sha256.Sum256(body)
		r.SHA256 = hex.EncodeToString(out.content[:])
		page.Text, r.Bytes = body, len(body)
		p.renders.archive(out, requested, body)
	}
	long := len(body) > longPage
	done, err := p.lines.wait(t, out, long)
	if err != nil {
		return err
	}
	forgotten := false // the links of the page are
	err = p.pages.read(t, long, func() {
		c := p.newCollector(p.extractors(), out)
		c.page, c.showAll, c.most = page, p.cfg.Hooks.OnPage != nil, mostLinkText(len(body))
		out.Read = true
		p.extract(&c, res, body, base)
		p.cfg.compare(out, res)
		forgotten = c.forgot
	})
	if err == nil && len(targets) > 0 && !forgotten {
		t.OnLoop(func() { p.followTargets(out, targets, base) })
	}
	p.lines.weigh(out, res, page)
	done()
	return err
}

// followTargets follows the URLs that scripts have led to.
func (p *pageReader) followTargets(out *Outcome, targets []string, base weburl.URL) {
	c := p.newCollector(p.short, out)
	for _, target := range targets {
		to, err := base.Resolve(target)
		if err == nil && to.IsHTTP() && !c.link(links.Link{Raw: target, URL: to, Tag: "script", Attr: "location", Kind: links.KindPage}) {
			break
		}
	}
	out.Links = append(out.Links, c.wanted...)
}

// deliver does with a page what takes time: it keeps the body and pictures, in folders that the
// outcome has then, and calls the user's hook.
func (p *pageReader) deliver(t *aio.Task, out *Outcome, page *Page) error {
	if page == nil || p.cfg.KeepBody == nil && p.cfg.Hooks.OnPage == nil && !page.pictures.any() {
		return nil
	}
	type kept struct {
		folders  []string
		captures []*capture.Capture
	}
	all, err := aio.Offload(t, func(ctx context.Context) (all kept, err error) {
		if all.folders, err = p.keepBodies(page); err != nil {
			return all, err
		}
		if page.pictures.any() {
			var folders []string
			if folders, all.captures, err = p.renders.keepPictures(page); err != nil {
				return all, err
			}
			all.folders = append(all.folders, folders...)
		}
		if p.cfg.Hooks.OnPage != nil && !page.redirect {
			if err := p.cfg.Hooks.OnPage(ctx, page); err != nil {
				return all, fmt.Errorf("OnPage of %.128s: %w", page.Record.URL, err)
			}
		}
		return all, nil
	})
	out.Folders, out.Pictures = all.folders, all.captures
	p.renders.hold(out)
	return err
}

// keepBodies keeps the body of a page, and its rendered document.
func (p *pageReader) keepBodies(page *Page) (folders []string, err error) {
	if p.cfg.KeepBody == nil || page.checked {
		return nil, nil
	}
	keep := func(hash string, body []byte) {
		if len(body) > 0 && err == nil {
			var folder string
			folder, err = p.cfg.KeepBody(hash, body)
			folders = append(folders, folder)
		}
	}
	keep(page.Record.SHA256, page.Body)
	if r := page.Record.Rendered; r != nil {
		keep(r.SHA256, page.rendered)
	}
	return folders, err
}

// look fills the record from a response, as far as that needs no text, and returns the page to
// deliver, or nil, and whether to read the text. It runs on the loop's stack. A long body is
// hashed.
func (p *pageReader) look(out *Outcome, res *httpclient.Response) (page *Page, reads bool) {
	r, u := out.Record, out.URL
	if u.Role == frontier.RoleExternal {
		return p.lookBeyond(out, res), false
	}
	if n := len(res.Body); n > 0 {
		if n <= longPage {
			out.content = sha256.Sum256(res.Body)
		}
		r.SHA256 = hex.EncodeToString(out.content[:])
	}
	r.SniffedType = sniff.Type(r.ContentType, res.Header.Get("X-Content-Type-Options"), res.Body)
	if p.cfg.KeepBody != nil || p.cfg.Hooks.OnPage != nil || p.cfg.Extract != nil || p.cfg.Render != nil {
		page = &Page{Record: r, Header: res.Header, Body: res.Body, Text: res.Body, Addr: res.Addr, Data: dataOf(&u), url: u.URL}
	}
	if location := res.Header.Get("Location"); record.IsRedirect(res.Status) && location != "" {
		p.outlinks.redirect(out, location)
		if p.cfg.KeepBody == nil {
			return nil, false
		}
		page.redirect = true
		return page, false
	}
	if p.cfg.Hooks.OnPage == nil && p.cfg.Render == nil && sameBody(u.Known, out.content, r) && sameLinks(u.Known, res) {
		out.text.Hash = u.Known.Text
		p.originals.judge(out, !IsSitemap(u))
		return page, false // its links were found when they were new
	}
	return page, true
}

// collect finds the links of a response, and returns how many bytes of text it has made.
func (p *pageReader) collect(out *Outcome, res *httpclient.Response, page *Page, text *charset.Undecoded) (made int) {
	showAll := p.cfg.Hooks.OnPage != nil
	body := res.Body
	if text.Encoding != nil {
		out.Record.Charset = text.Encoding.Name()
		if p.pages.apart(func() { body = text.Text() }); p.pages.page.err != nil {
			return 0
		}
	}
	if text.Room > 0 {
		made = cap(body)
	}
	if page != nil {
		page.Text = body
		page.items = p.cfg.Extract != nil && out.Record.IsPage() && !out.URL.Role.Beyond() && p.cfg.Extract.Wants(out.URL.URL)
	}
	if res.Status < 200 || res.Status >= 300 && !showAll {
		return made
	}
	if page != nil {
		if p.cfg.Render.judge(out, page, body); page.why != "" {
			return made
		}
	}
	c := p.newCollector(p.extractors(), out)
	c.follow = res.Status < 300 && (out.URL.Role != frontier.RoleAsset || isStyle(out.Record.Type()) || p.cfg.KeepLinks && links.IsScript(out.Record.Type()))
	c.page, c.showAll, c.most = page, showAll, mostLinkText(len(body))
	out.Read = c.follow
	if c.follow && !out.URL.Role.Beyond() && p.mayBeSitemap(out, res) && p.sitemap(&c, res) {
		p.originals.judge(out, false)
		return made
	}
	p.extract(&c, res, body, out.URL.URL)
	return made
}

// extractors returns those that the page is read with which is being read.
func (p *pageReader) extractors() *extractors {
	if !p.pages.page.long {
		return p.short
	}
	if p.long == nil {
		p.long = newExtractors(p.cfg, 1)
	}
	return p.long
}

// extract finds links, title, directives and, where it is of use, the text of a page.
// Relative references are resolved against base.
func (p *pageReader) extract(c *collector, res *httpclient.Response, body []byte, base weburl.URL) {
	out, r := c.out, c.out.Record
	links.Header(out.URL.URL, res.Header.Values("Link"), c.headerLink)
	links.RefreshHeader(out.URL.URL, res.Header.Values("Refresh"), c.link)
	var found links.Page
	doc := links.Document{Base: base, ContentType: r.Type(), Body: body, Charset: r.Charset}
	if p.pages.page.long {
		doc.Pause = p.pages.pause
	}
	if p.cfg.Near || p.cfg.Job { // to recognize near duplicates, or a change at a later visit
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
	p.originals.judge(out, true)
	r.Title, r.Description, r.H1, r.Words = found.Title, found.Description, found.H1, out.text.Words
	if r.IsPage() && !found.Canonical.IsZero() { // it comes before that of the header
		r.Canonical = p.cfg.canonical(found.Canonical)
	}
	if found.Scripted && r.IsPage() && p.cfg.Render == nil && out.URL.Role == frontier.RolePage && looksShort(p.cfg, out, c.n) {
		r.NeedsScripts = string(appshell.Judge(body))
	}
	if found.Cut {
		out.Cut(scope.ReasonTooMany)
	}
	if found.Hidden {
		out.Cut(scope.ReasonUnclosed)
	}
	found.Add(links.RobotsTag(res.Header.Values("X-Robots-Tag"), p.cfg.HTTP.UserAgent))
	r.Robots = found.All()
	if found.NoFollow && !p.cfg.NoRobots {
		c.forget(scope.ReasonNoFollow)
	}
	if r.Pruned {
		c.forget(scope.ReasonDuplicate)
	}
	out.Links = append(out.Links, c.wanted...)
}

// The most of a page that may look empty without its scripts, when those of its words that are not
// furniture are counted, and its links. Others are not judged, which would cost a look at them.
const (
	fewWords = 250
	fewLinks = 200 // a shop's menu has a hundred
)

// looksShort reports whether a page may be an app shell: see package appshell.
func looksShort(cfg *Config, out *Outcome, links int) bool {
	return links < fewLinks && (out.text.Words < fewWords || !cfg.Near && !cfg.Job)
}

// lookBeyond is look for a link that is checked: only what a redirect leads to matters.
func (p *pageReader) lookBeyond(out *Outcome, res *httpclient.Response) *Page {
	r := out.Record
	if location := res.Header.Get("Location"); record.IsRedirect(res.Status) && location != "" {
		p.outlinks.redirect(out, location)
		return nil
	}
	if p.cfg.Hooks.OnPage == nil {
		return nil
	}
	return &Page{Record: r, Header: res.Header, Body: res.Body, Text: res.Body, Addr: res.Addr, url: out.URL.URL, checked: true}
}
