package weft

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	digest "hash"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/links"
)

// read fills the record from an answer and finds the links in it. It runs on the
// loop's stack. The page is nil if there is nothing to keep.
func (f *fetcher) read(out *outcome, res *http1.Response) *Page {
	r, u := out.record, out.url
	if len(res.Body) > 0 {
		out.content = sha256.Sum256(res.Body)
		r.SHA256 = hex.EncodeToString(out.content[:])
	}
	var page *Page
	if f.cfg.KeepBodies || f.cfg.Hooks.OnPage != nil {
		page = &Page{Record: r, Header: res.Header, Body: res.Body, text: res.Body}
	}
	location := res.Header.Get("Location")
	if isRedirect(res.Status) && location != "" {
		f.redirect(out, location)
		if !f.cfg.KeepBodies {
			return nil
		}
		page.redirect = true
		return page
	}
	collect := f.cfg.Hooks.OnPage != nil
	if !collect && sameBody(u.Known, out.content, r) && sameLinks(u.Known, res) {
		out.text.Hash = u.Known.Text
		f.judge(out, !isSitemap(u))
		return page // its links were found when they were new
	}
	body := res.Body
	if links.Reads(r.ContentType) {
		if body, r.Charset = charset.UTF8(r.ContentType, res.Body); len(body) > 0 && &body[0] != &res.Body[0] {
			res.Keep(len(body))
		}
	}
	if page != nil {
		page.text = body
	}
	if res.Status < 200 || res.Status >= 300 && !collect {
		return page
	}
	s := sighting{f: f, out: out, follow: res.Status < 300, page: page, collect: collect, depth: u.Depth + 1}
	if s.follow && f.cfg.Sitemaps && (isSitemap(u) || resemblesSitemap(res)) && s.sitemap(res) {
		f.judge(out, false)
		return page
	}
	links.Header(u.URL, res.Header.Values("Link"), s.link)
	var said links.Page
	doc := links.Document{Base: u.URL, ContentType: r.ContentType, Body: body, Charset: r.Charset}
	if f.cfg.Duplicates == DuplicatesNear || f.desk.job != nil { // to tell what is nearly the same; or changed, at a later visit
		said, out.text = f.text.Extract(f.links, doc, s.link)
	} else {
		said = f.links.Extract(doc, s.link)
	}
	f.judge(out, true)
	r.Title = said.Title
	if said.Cut {
		out.drop(reasonTooMany)
	}
	said.Add(links.RobotsTag(res.Header.Values("X-Robots-Tag"), f.cfg.UserAgent))
	r.Robots = said.All()
	if said.NoFollow && !f.cfg.NoRobots {
		s.forget(reasonNoFollow)
	}
	if r.Pruned {
		s.forget(reasonDuplicate)
	}
	out.links = append(out.links, s.wanted...)
	return page
}

// followed is what a crawl follows: what leads to pages, and style sheets; not the rest of
// what pages are made of.
var followed = links.KindsOf(links.KindPage, links.KindFrame, links.KindRedirect, links.KindCanonical, links.KindAlternate,
	links.KindFeed, links.KindNext, links.KindPrev, links.KindRelated, links.KindStyle)

// extraction says what is read of a page: all of its links, or only those that are followed.
func (c *config) extraction() links.Options {
	if c.KeepLinks || c.Hooks.OnLink != nil || c.Hooks.OnPage != nil {
		return links.Options{Agent: c.UserAgent}
	}
	return links.Options{Kinds: followed, Bare: true, Agent: c.UserAgent}
}

// sighting is what becomes of the links of one page.
type sighting struct {
	f       *fetcher
	out     *outcome
	page    *Page
	follow  bool           // an error page's links are told, not followed
	collect bool           // into page
	depth   int            // of what they lead to
	rank    int8           // the same
	n       int            // links
	text    int            // of them, as maxLinkText has it
	asked   int            // of them, those that OnLink has followed
	wanted  []frontier.URL // by it
	again   []frontier.URL // by it, but sent lately, perhaps for this page
	told    digest.Hash64  // of a sitemap's entries, to tell at a later visit whether it has changed; nil: there is none
}

// forget takes back the links to follow, but for those that OnLink wants, be it by another mention.
func (s *sighting) forget(reason string) {
	for _, u := range s.out.links {
		s.f.recent.Forget(u.URL)
	}
	s.out.links = nil
	s.wanted = append(s.wanted, s.again...)
	for range s.out.record.Links - s.asked {
		s.out.drop(reason)
	}
	s.out.record.Links = s.asked
}

// recentURLs is how many URLs a fetch loop remembers of those that it has sent the desk.
const recentURLs = 1 << 12

// maxLinks bounds how many links of a page are looked at, mentions counted: each costs
// memory here and time at the desk, and more are no work of people.
const maxLinks = 100_000

// maxLinkText bounds their text, in bytes: of each its own and that of the page, which goes with
// it. By <base> a page of a megabyte can be gigabytes of links.
const maxLinkText = 32 << 20

// maxURL bounds a URL that is followed, in bytes, whatever MaxURLLength and a hook say. Of pages
// that want one so long there are next to none: servers read 8 KiB. What one host can make a
// crawl remember is then bounded too.
const maxURL = 16 << 10

func (s *sighting) link(l links.Link) bool {
	f, r := s.f, s.out.record
	s.n++
	s.text += len(l.URL.String()) + len(r.URL)
	if s.n > maxLinks || s.text > maxLinkText {
		s.out.drop(reasonTooMany)
		return false
	}
	if s.collect {
		s.page.Links = append(s.page.Links, l)
	}
	if !s.follow {
		return true
	}
	if f.cfg.KeepLinks {
		s.out.lines = append(s.out.lines, linkLine(r.URL, l)...)
	}
	to := l.URL
	if f.cfg.Canon != 0 {
		to = f.cfg.Canon.Apply(to)
	}
	var v Verdict
	if f.cfg.Hooks.OnLink != nil {
		v = f.cfg.Hooks.OnLink(s.out.url.URL, l)
	}
	reason := ""
	switch {
	case v.Decision == Drop:
		if reason = v.Reason; reason == "" {
			reason = reasonDropped
		}
	case v.Decision == ByScope && !followed.Has(l.Kind) || l.Kind == links.KindHint:
		return true
	case len(to.String()) > maxURL:
		reason = reasonTooLong
	case v.Decision == ByScope && l.NoFollow && !f.cfg.NoRobots:
		reason = reasonRel
	case v.Decision == ByScope:
		reason = f.bounds.refuses(to, s.depth)
	}
	if reason != "" {
		s.out.drop(reason)
		return true
	}
	list := &s.out.links
	u, _, added := f.recent.Add(to)
	if v.Decision == Follow {
		s.asked++
		list = &s.wanted
		if !added {
			list, added = &s.again, true
		}
	}
	r.Links++
	f.mention(s.out.url.URL, to)
	if added {
		*list = append(*list, frontier.URL{URL: u, From: r.URL, Depth: s.depth, Priority: int8(max(-128, min(127, v.Priority))), Rank: s.rank})
	}
	return true
}

func (out *outcome) drop(reason string) {
	for i := range out.dropped {
		if out.dropped[i].reason == reason {
			out.dropped[i].n++
			return
		}
	}
	out.dropped = append(out.dropped, dropped{reason, 1})
}

func linkLine(from string, l links.Link) []byte {
	return jsonLine(LinkRecord{From: from, To: l.URL.String(), Tag: l.Tag, Attr: l.Attr, Rel: l.Rel, Kind: l.Kind.String(), Text: l.Text})
}

// redirect notes where an answer leads. A seed's redirect is followed out of the
// scope, which the desk widens by it, but into no trap. A nofollow in the head of the answer is
// about links of a page, and a redirect is none.
func (f *fetcher) redirect(out *outcome, location string) {
	to, err := out.url.URL.Resolve(location)
	if err != nil {
		out.record.ErrorKind, out.record.Error = KindLocation, err.Error()
		return
	}
	out.record.Redirect = to.String()
	asItStands := to.Canonical()
	to = f.cfg.Canon.Apply(to)
	switch {
	case !to.IsHTTP():
		out.record.ErrorKind, out.record.Error = KindLocation, fmt.Sprintf("leads to scheme %.64q, expected http or https", to.Scheme())
		return
	case len(to.String()) > maxURL:
		out.drop(reasonTooLong)
		return
	case to == out.url.URL && asItStands != to:
		to = asItStands // the rules make one page of two that lead one to the other
	}
	reason := f.bounds.refusesTarget(to, out.url.Depth)
	if isSitemap(out.url) {
		reason = f.bounds.refusesSitemap(to)
	}
	if reason != "" {
		out.drop(reason)
		return
	}
	f.mention(out.url.URL, to)
	out.target = &frontier.URL{URL: to, From: out.record.URL, Depth: out.url.Depth, Priority: out.url.Priority, Rank: out.url.Rank}
}
