package fetch

import (
	digest "hash"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// followed is the kinds of links that a crawl follows: to pages, style sheets and manifests, not to
// the other resources of a page.
var followed = links.KindsOf(links.KindPage, links.KindFrame, links.KindRedirect, links.KindCanonical, links.KindAlternate,
	links.KindFeed, links.KindNext, links.KindPrev, links.KindRelated, links.KindStyle, links.KindManifest)

// sketched is the kinds of links that tell a page from others like it, with its text.
var sketched = links.KindsOf(links.KindFrame, links.KindImage, links.KindMedia, links.KindEmbed)

const (
	// maxLinks bounds the links of a page, each mention counted. Each costs memory here and time at
	// the coordinator; people do not write more.
	maxLinks = 100_000

	// maxLinkText bounds their text, in bytes: each link's own and that of the page, which goes
	// with it. With <base> a page of a megabyte can be gigabytes of links.
	maxLinkText = 32 << 20

	// maxGrowth bounds the text of a page's links by that of the page, beyond minLinkText: with
	// <base> a short page can be megabytes of links, which take time from other sites. Links of
	// real pages, which are relative to a path of usual length, are not four times as long as
	// their elements.
	minLinkText = 256 << 10
	maxGrowth   = 16
)

// mostLinkText returns how much text the links of a page of n bytes may have.
func mostLinkText(n int) int { return min(maxLinkText, minLinkText+maxGrowth*n) }

// collector collects the links of one page.
type collector struct {
	cfg     *Config
	to      *outlinks
	pages   *interleaver
	x       *extractors
	out     *Outcome
	page    *Page
	follow  bool           // links of an error page are reported, not followed
	plain   bool           // a link to where another one has led adds nothing but its number
	showAll bool           // to OnPage
	added   bool           // by OnPage
	forgot  bool           // its links: see forget
	depth   int            // of the URLs that the links lead to
	rank    int8           // the same
	n       int            // links
	text    int            // of them, as maxLinkText counts
	own     int            // of this, without that of the page
	most    int            // of own
	byHook  int            // followed because OnLink says so
	wanted  []frontier.URL // by OnLink
	data    string         // for the next link, of OnPage
	again   []frontier.URL // by OnLink, but sent lately, perhaps for this page
	number  uint32         // of the page
	entries digest.Hash64  // of a sitemap's entries, to recognize a change at a later visit; nil: none
	line    []byte         // an entry, as it is hashed
}

// link takes in a link, and reports whether to read on.
func (c *collector) link(l links.Link) bool {
	r := c.out.Record
	c.n++
	c.own += len(l.URL.String())
	c.text += len(l.URL.String()) + len(r.URL)
	if c.n > maxLinks || c.text > maxLinkText || c.own > c.most {
		c.out.Cut(scope.ReasonTooMany)
		return false
	}
	if !c.pages.proceed(l.URL) {
		return false
	}
	if c.showAll {
		c.page.Links = append(c.page.Links, l)
	}
	if !c.follow {
		return true
	}
	plain := c.plain && l.Kind == links.KindPage && !l.NoFollow
	if plain && c.x.places.Has(l.URL) {
		r.Links++ // as is true of most links of long pages
		return true
	}
	to := c.cfg.Canon.Apply(l.URL)
	if c.added {
		to = c.cfg.Canon.Identity(l.URL) // a page cannot name a POST, a hook can
	}
	if c.cfg.KeepLinks {
		c.out.Lines = append(c.out.Lines, linkLine(r, l, to)...)
	}
	var v Verdict
	if c.cfg.Hooks.OnLink != nil {
		v = c.cfg.Hooks.OnLink(c.out.URL.URL, l)
	}
	if v.Decision == ByScope && !c.cfg.wanted().Has(l.Kind) {
		return true
	}
	role, reason := c.judge(l, to, v)
	switch {
	case reason == unwanted:
	case reason != "":
		c.out.Drop(reason)
	default:
		if plain && role == frontier.RolePage {
			c.x.places.Add(l.URL)
		}
		c.add(l.URL, to, v, role)
		c.probe(to)
	}
	return true
}

// headerLink takes in a link of the header, and whether it names the page itself.
func (c *collector) headerLink(l links.Link) bool {
	if r := c.out.Record; l.Kind == links.KindCanonical && r.Canonical == "" {
		r.Canonical = c.cfg.canonical(l.URL)
	}
	return c.link(l)
}

// canonical returns the URL that a page names as its own as its record has it; "" for one that no
// record could have.
func (c *Config) canonical(u weburl.URL) string {
	if to := c.Canon.Apply(u).Canonical().String(); len(to) <= scope.MaxURL {
		return to
	}
	return ""
}

// unwanted is the reason of a link that does not count: its kind is not followed.
const unwanted = "-"

// judge returns the role of the URL that a link leads to, or why it is not requested.
func (c *collector) judge(l links.Link, to weburl.URL, v Verdict) (role frontier.Role, reason string) {
	switch {
	case v.Decision == Drop && v.Reason != "":
		return 0, v.Reason
	case v.Decision == Drop:
		return 0, scope.ReasonDropped
	case len(to.String()) > scope.MaxURL:
		return 0, scope.ReasonTooLong
	case v.Decision == Follow && c.to.bounds.BlocksPort(to):
		return 0, scope.ReasonPort
	case v.Decision == Follow:
		return frontier.RolePage, ""
	case l.NoFollow && !c.cfg.NoRobots:
		reason = scope.ReasonRel
	default:
		reason = c.to.bounds.Refuses(to, c.depth)
	}
	switch role, ok := c.cfg.within(l.Kind); {
	case !ok && reason != scope.ReasonScope, c.out.URL.Role == frontier.RoleAsset && !assets.Has(l.Kind):
		return 0, unwanted
	case reason == "":
		return role, ""
	case l.Tag == sitemapTag:
		return 0, reason
	}
	return c.to.beyond(&c.out.URL, to, assets.Has(l.Kind), reason)
}

// recentBeyond is added to the depth of URLs that are not followed, for the memory of recent URLs:
// so the same one is sent again when it is followed.
const recentBeyond = 1 << 30

// add has a URL requested that a link leads to, which spells it as ref does.
func (c *collector) add(ref, to weburl.URL, v Verdict, role frontier.Role) {
	r := c.out.Record
	list := &c.out.Links
	depth, rank := 0, c.rank // a URL found again, no matter where
	if c.cfg.Scope.Depth > 0 {
		depth = c.depth
	}
	if role.Beyond() {
		depth += recentBeyond
		if rank = 0; c.out.URL.Role == frontier.RoleAsset {
			rank = c.out.URL.Rank - 1
		}
	}
	u, added := to, true
	if to.Post() != "" { // which the memory of recent URLs would take for a GET
		c.to.refer(c.out, to)
	} else {
		var fingerprint [16]byte
		u, fingerprint, added = c.x.recent.Add(to, depth)
		if c.cfg.Job && !c.x.recent.Met(c.number) {
			c.out.Targets.Add(fingerprint)
		}
	}
	if v.Decision == Follow {
		c.byHook++
		list = &c.wanted
		if !added {
			list, added = &c.again, true
		}
	}
	r.Links++
	c.to.reach.mention(c.out.URL.URL, to)
	if added {
		priority := int8(max(-128, min(127, v.Priority)))
		*list = append(*list, frontier.URL{URL: u, Written: written(ref, to), From: r.URL, Data: c.data, Depth: c.depth, Priority: priority, Rank: rank, Role: role})
	}
}

// probe has https asked of the host of a link by http: at its root, so that the seen set lets each
// host pass once.
func (c *collector) probe(to weburl.URL) {
	if !c.cfg.Check.Beyond || !c.cfg.Check.HTTPS || to.Scheme() != "http" || to.Port() != "" {
		return
	}
	root, err := weburl.Parse("https://" + to.Host() + "/")
	if err != nil || c.to.bounds.Forbids(root) != "" {
		return
	}
	if u, _, added := c.x.recent.Add(root, recentBeyond); added {
		c.out.Links = append(c.out.Links, frontier.URL{URL: u, From: c.out.Record.URL, Depth: c.depth, Rank: probeRank, Role: frontier.RoleExternal})
	}
}

// forget withdraws the links to follow, except links that OnLink follows by any mention. With a
// nofollow, assets stay, and the others may be checked.
func (c *collector) forget(reason string) {
	c.forgot = true
	kept := c.out.Links[:0]
	for _, u := range c.out.Links {
		if RoleOf(&u) == record.RoleProbe { // its link does not count
			c.x.recent.Forget(u.URL)
			continue
		}
		if reason == scope.ReasonNoFollow && u.Role != frontier.RolePage {
			kept = append(kept, u)
			continue
		}
		c.x.recent.Forget(u.URL)
		if role, refused := c.to.beyond(&c.out.URL, u.URL, false, reason); refused == "" {
			u.Role, u.Rank = role, 0
			kept = append(kept, u)
		}
	}
	c.out.Links = kept
	c.wanted = append(c.wanted, c.again...)
	if c.cfg.Scope.Assets == scope.AssetsNone && !c.cfg.Check.Beyond {
		// Else most are requested all the same.
		c.out.Targets = nil
		for _, u := range c.wanted {
			c.to.refer(c.out, u.URL)
		}
	}
	for range c.out.Record.Links - c.byHook - len(kept) {
		c.out.Drop(reason)
	}
	c.out.Record.Links = c.byHook + len(kept)
}

func linkLine(on *record.Record, l links.Link, to weburl.URL) []byte {
	return record.Link{
		From: on.URL, To: to.Canonical().String(), Tag: l.Tag, Attr: l.Attr, Rel: l.Rel, Kind: l.Kind.String(), Text: l.Text,
		Fragment: l.URL.Fragment(), Line: l.Line, Column: l.Column, Visit: on.Visit,
	}.JSONLine()
}
