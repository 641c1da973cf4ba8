package fetch

import (
	"bytes"
	"errors"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/sitemap"
	"github.com/weftcrawl/weft/weburl"
)

const (
	usualSitemap = "/sitemap.xml" // path of one that a host may have and does not name
	sitemapTag   = "sitemap"      // Tag of a link that a sitemap holds

	// MaxNested bounds the sitemaps of a host that indexes may name, in one run.
	MaxNested = 10_000
)

// HostSitemaps returns the sitemaps of the host of u, its robots.txt or a seed, by the Sitemap
// lines of file; drop takes the reason why one of them is not followed. They may be on any host,
// as robots.txt vouches for them (the protocol's "Sitemaps & Cross Submits"); the scope judges
// their entries.
func (c *Config) HostSitemaps(b *scope.Bounds, u frontier.URL, file *robots.Robots, drop func(reason string)) (all []frontier.URL) {
	if !c.Sitemaps || !b.Reaches(u.URL) || b.TooDeep(u.Depth+1) {
		return nil
	}
	named := file.Sitemaps()
	if len(named) == 0 {
		named, drop = []string{usualSitemap}, func(string) {} // a guess
	}
	for _, s := range named {
		to, as, reason := c.sitemapAt(u.URL, s)
		if reason == "" {
			reason = b.Forbids(to)
		}
		if reason != "" {
			drop(reason)
			continue
		}
		all = append(all, frontier.URL{URL: to, Written: as, From: u.URL.String(), Depth: u.Depth + 1, Rank: namedSitemap})
	}
	if file.SitemapsCut() {
		drop(scope.ReasonTooMany)
	}
	return all
}

// sitemapAt returns the sitemap that a Sitemap line of the host of u names, and how it spells it,
// or why there is none. What is no http or https URL is out of any scope.
func (c *Config) sitemapAt(u weburl.URL, named string) (to weburl.URL, as, reason string) {
	ref, err := u.Resolve(weburl.EscapeInvalid(named))
	switch {
	case len(named) > scope.MaxURL || len(ref.String()) > scope.MaxURL:
		return weburl.URL{}, "", scope.ReasonTooLong
	case err != nil || !ref.IsHTTP():
		return weburl.URL{}, "", scope.ReasonScope
	}
	to = c.Canon.Apply(ref).Canonical()
	return to, written(ref, to), ""
}

// UsualSitemap returns where the host of u may have a sitemap that it does not name.
func (c *Config) UsualSitemap(u weburl.URL) (weburl.URL, bool) {
	to, _, reason := c.sitemapAt(u, usualSitemap)
	return to, reason == ""
}

// sitemap reads a response as a sitemap: its entries count as links of the page that led to it. It
// reports whether the response is a sitemap; else it is a page.
func (p *pageReader) sitemap(c *collector, res *httpclient.Response) bool {
	u, r := c.out.URL, c.out.Record
	depthOfPage, most := c.depth, c.most
	c.most = maxLinkText // its links are absolute
	if IsSitemap(u) {
		c.depth = u.Depth
	}
	key := sitemapKeyOf(c.out, c.depth)
	if known, ok := p.known[key]; ok {
		r.Sitemap, r.Links, c.out.text.Hash = known.kind, known.links, known.hash
		c.out.Read = false
		return true
	}
	if p.cfg.Job {
		c.entries = fnv.New64a()
	}
	o := sitemap.Options{MaxSize: p.cfg.HTTP.MaxBody, MaxEntries: maxLinks, MaxURL: scope.MaxURL}
	whole := true
	doc := sitemap.Document{Base: u.URL, ContentType: r.ContentType, Body: res.Body, Cut: res.Truncated}
	p.pages.page.sitemap = c.out
	found := sitemap.Read(doc, o, func(e sitemap.Entry) bool {
		whole = c.entry(e)
		return whole
	})
	p.pages.page.sitemap = nil
	if more := found.Read - len(res.Body); more > 0 { // decompressed
		p.quota.Spend(more)
	}
	if found.Type == sitemap.Unknown {
		c.depth, c.rank, c.most = depthOfPage, 0, most
		return false
	}
	r.Sitemap = found.Type.String()
	switch {
	case errors.Is(found.Err, sitemap.ErrLimit):
		c.out.Cut(scope.ReasonTooMany)
	case found.Err != nil:
		c.out.Cut(scope.ReasonBroken)
	}
	if c.entries != nil && whole && found.Err == nil && found.Entries > 0 {
		c.out.text.Hash = max(1, c.entries.Sum64())
	}
	c.out.Links = append(c.out.Links, c.wanted...)
	p.knowSitemap(key, knownSitemap{r.Sitemap, r.Links, c.out.text.Hash}, c.out.Dropped)
	return true
}

// A site may give one sitemap many names. Its entries were sent to the coordinator when it was read
// for the first time, so a loop reads it once, as long as it is among the last maxKnown of its
// sitemaps.
const maxKnown = 1024

// sitemapKey is all that decides about the entries of a sitemap.
type sitemapKey struct {
	content  [32]byte
	place    string // the URL without what follows the last slash, for relative entries
	depth    int
	rank     int8
	priority int8
}

// knownSitemap is the fate of a sitemap.
type knownSitemap struct {
	kind  string
	links int
	hash  uint64
}

func sitemapKeyOf(out *Outcome, depth int) sitemapKey {
	u := out.URL
	place, _, _ := strings.Cut(u.URL.String(), "?")
	place = place[:strings.LastIndexByte(place, '/')+1]
	return sitemapKey{out.content, place, depth, u.Rank, u.Priority}
}

// knowSitemap remembers a sitemap, unless somebody wants to see its links each time, or some are
// not followed, which may change.
func (p *pageReader) knowSitemap(key sitemapKey, s knownSitemap, dropped []Dropped) {
	if len(dropped) > 0 || p.cfg.KeepLinks || p.cfg.Hooks.OnLink != nil || p.cfg.Hooks.OnPage != nil {
		return
	}
	if p.known == nil || len(p.known) >= maxKnown {
		p.known = make(map[sitemapKey]knownSitemap)
	}
	p.known[key] = s
}

// isGzip reports whether a body is gzip, which takes an unknown time to read as a sitemap.
func isGzip(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

// mayBeSitemap reports whether a response is to be read as a sitemap, if it is one.
func (p *pageReader) mayBeSitemap(out *Outcome, res *httpclient.Response) bool {
	return p.cfg.Sitemaps && (IsSitemap(out.URL) || resemblesSitemap(out.Record, res))
}

// resemblesSitemap reports whether a response that was not requested as a sitemap begins like one
// in XML: a seed, or the target of a link.
func resemblesSitemap(r *record.Record, res *httpclient.Response) bool {
	if record.IsHTML(r.Type()) {
		return false
	}
	const head = 4 << 10
	d := sitemap.Document{Body: res.Body[:min(head, len(res.Body))], Cut: true}
	found := sitemap.Read(d, sitemap.Options{MaxSize: head}, func(sitemap.Entry) bool { return false })
	return found.Type == sitemap.URLSet || found.Type == sitemap.Index
}

// hash adds an entry to the hash of the sitemap.
func (c *collector) hash(e sitemap.Entry) {
	b := append(c.line[:0], e.URL.String()...)
	for _, text := range [...]string{e.LastMod, e.Kind.String(), ""} {
		b = append(append(b, ' '), text...)
	}
	c.line = append(strconv.AppendFloat(b, float64(e.Priority), 'g', -1, 32), '\n')
	_, _ = c.entries.Write(c.line) // never fails
}

// entry takes in an entry of a sitemap, and reports whether to read on.
func (c *collector) entry(e sitemap.Entry) bool {
	u, r := c.out.URL, c.out.Record
	if c.entries != nil {
		c.hash(e)
	}
	if e.Kind != sitemap.Sitemap {
		c.rank = rankOf(e.Priority)
		kind := links.KindPage
		if e.Kind == sitemap.Alternate {
			kind = links.KindAlternate
		}
		return c.link(links.Link{URL: e.URL, Raw: e.URL.String(), Tag: sitemapTag, Attr: "loc", Kind: kind})
	}
	to := c.cfg.Canon.Apply(e.URL).Canonical()
	rank := int8(namedSitemap)
	if IsSitemap(u) {
		rank = u.Rank
	}
	refused := c.to.bounds.Forbids(to)
	switch {
	case rank == leastSitemap || r.Links == MaxNested:
		c.out.Cut(scope.ReasonTooMany)
		return false
	case to.Origin() != u.URL.Origin() && !c.to.bounds.Reaches(to):
		c.out.Drop(scope.ReasonScope)
		return true
	case refused != "":
		c.out.Drop(refused)
		return true
	}
	r.Links++
	c.to.reach.mention(u.URL, to)
	c.to.refer(c.out, to)
	c.out.Links = append(c.out.Links, frontier.URL{URL: to, Written: written(e.URL, to), From: r.URL, Depth: c.depth, Priority: u.Priority, Rank: rank - 1})
	return true
}
