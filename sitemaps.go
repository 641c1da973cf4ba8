package weft

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/sitemap"
	"github.com/weftcrawl/weft/weburl"
)

// A sitemap is a URL like others, but for its rank: so it is leased, guarded, tried again and
// saved like them. Of what is equally deep, sitemaps come first, those that robots.txt names
// before those of an index; then pages, by the priority that a sitemap gives them.
const (
	namedSitemap = math.MaxInt8              // of robots.txt; one less for each index above it
	maxIndexes   = 5                         // above a sitemap
	leastSitemap = namedSitemap - maxIndexes // of the ranks of sitemaps
	rankSpan     = 10                        // between the ranks of priority 0 and 1
	usualSitemap = "/sitemap.xml"            // where a host may have one that it does not name
	maxNested    = 10_000                    // sitemaps of a host that indexes name, in one run
	sitemapTag   = "sitemap"                 // of a link that one tells of
)

func isSitemap(u frontier.URL) bool { return u.Rank >= leastSitemap }

// rankOf is the rank of a page whose sitemap gives it a priority; 0 of most.
func rankOf(priority float32) int8 {
	return int8(math.Round(float64(priority-sitemap.DefaultPriority) * rankSpan))
}

// sitemaps are those of the host of u, its robots.txt or a seed, by the Sitemap lines of file; drop
// is told why one of these is not followed. They may be elsewhere, as robots.txt vouches for them
// (the protocol's "Sitemaps & Cross Submits"); what they tell of is judged by the scope.
func (c *config) sitemaps(b *bounds, u frontier.URL, file *robots.Robots, drop func(reason string)) (all []frontier.URL) {
	if !c.Sitemaps || !b.reaches(u.URL) || b.tooDeep(u.Depth+1) {
		return nil
	}
	named := file.Sitemaps()
	if len(named) == 0 {
		named, drop = []string{usualSitemap}, func(string) {} // which nobody has told of
	}
	for _, s := range named {
		to, reason := c.sitemapAt(u.URL, s)
		if reason == "" {
			reason = b.refusesSitemap(to)
		}
		if reason != "" {
			drop(reason)
			continue
		}
		all = append(all, frontier.URL{URL: to, From: u.URL.String(), Depth: u.Depth + 1, Rank: namedSitemap})
	}
	if file.SitemapsCut() {
		drop(reasonTooMany)
	}
	return all
}

// usualSitemaps are those of the host of a seed of which no robots.txt is asked.
func (d *desk) usualSitemaps(seed weburl.URL) []frontier.URL {
	return d.cfg.sitemaps(&d.bounds, frontier.URL{URL: seed}, new(robots.Robots), nil)
}

// sitemapAt is the sitemap that the host of u has, by the value of a Sitemap line; or why that leads
// to none: what is no URL of http or https is out of any scope.
func (c *config) sitemapAt(u weburl.URL, named string) (to weburl.URL, reason string) {
	to, err := u.Resolve(named)
	switch {
	case len(named) > maxURL || len(to.String()) > maxURL:
		return weburl.URL{}, reasonTooLong
	case err != nil || !to.IsHTTP():
		return weburl.URL{}, reasonScope
	}
	return c.Canon.Apply(to).Canonical(), ""
}

// sitemaps are those that the robots.txt which a lease was for names.
func (f *fetcher) sitemaps(out *outcome, file *robots.Robots) []frontier.URL {
	all := f.cfg.sitemaps(&f.bounds, out.url, file, out.drop)
	for _, u := range all {
		f.mention(out.url.URL, u.URL)
	}
	return all
}

// sitemap reads an answer as a sitemap: what it tells of is linked as if by what led to it. It reports
// whether it is one; else it is a page.
func (s *sighting) sitemap(res *http1.Response) bool {
	f, u, r := s.f, s.out.url, s.out.record
	page := s.depth
	if isSitemap(u) {
		s.depth = u.Depth
	}
	if f.desk.job != nil {
		s.told = fnv.New64a()
	}
	o := sitemap.Options{MaxSize: f.cfg.MaxBody, MaxEntries: maxLinks, MaxURL: maxURL}
	whole := true
	said := sitemap.Read(sitemap.Document{Base: u.URL, ContentType: r.ContentType, Body: res.Body, Cut: res.Truncated}, o, func(e sitemap.Entry) bool {
		whole = s.entry(e)
		return whole
	})
	if more := said.Read - len(res.Body); more > 0 { // of gzip
		f.reading.Spend(more)
	}
	if said.Type == sitemap.Unknown {
		s.depth, s.rank = page, 0
		return false
	}
	r.Sitemap = said.Type.String()
	switch {
	case errors.Is(said.Err, sitemap.ErrLimit):
		s.out.drop(reasonTooMany)
	case said.Err != nil:
		s.out.drop(reasonBroken)
	}
	if s.told != nil && whole && said.Err == nil && said.Entries > 0 {
		s.out.text.Hash = max(1, s.told.Sum64())
	}
	s.out.links = append(s.out.links, s.wanted...)
	return true
}

// isGzip reports whether a body is of gzip: how long it takes to read it as a sitemap is not known.
func isGzip(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

// resemblesSitemap reports whether an answer begins like a sitemap in XML, though it was not asked
// for as one: a seed, or what a page links.
func resemblesSitemap(res *http1.Response) bool {
	if isHTML(res.Header.Get("Content-Type")) {
		return false
	}
	const head = 4 << 10
	d := sitemap.Document{Body: res.Body[:min(head, len(res.Body))], Cut: true}
	said := sitemap.Read(d, sitemap.Options{MaxSize: head}, func(sitemap.Entry) bool { return false })
	return said.Type == sitemap.URLSet || said.Type == sitemap.Index
}

// entry takes in what a sitemap tells of.
func (s *sighting) entry(e sitemap.Entry) bool {
	u, r := s.out.url, s.out.record
	if s.told != nil {
		_, _ = fmt.Fprintln(s.told, e.URL, e.LastMod, e.Kind, e.Priority)
	}
	if e.Kind != sitemap.Sitemap {
		s.rank = rankOf(e.Priority)
		kind := links.KindPage
		if e.Kind == sitemap.Alternate {
			kind = links.KindAlternate
		}
		return s.link(links.Link{URL: e.URL, Raw: e.URL.String(), Tag: sitemapTag, Attr: "loc", Kind: kind})
	}
	to := s.f.cfg.Canon.Apply(e.URL).Canonical()
	rank := int8(namedSitemap)
	if isSitemap(u) {
		rank = u.Rank
	}
	refused := s.f.bounds.refusesSitemap(to)
	switch {
	case rank == leastSitemap || r.Links == maxNested:
		s.out.drop(reasonTooMany)
		return false
	case to.Origin() != u.URL.Origin() && !s.f.bounds.reaches(to):
		s.out.drop(reasonScope)
		return true
	case refused != "":
		s.out.drop(refused)
		return true
	}
	r.Links++
	s.f.mention(u.URL, to)
	s.out.links = append(s.out.links, frontier.URL{URL: to, From: r.URL, Depth: s.depth, Priority: u.Priority, Rank: rank - 1})
	return true
}

func (d *desk) addSitemaps(all []frontier.URL) {
	for _, u := range all {
		d.frontier.Add(u)
	}
}

// nests reports whether a URL is to be added: a host's indexes may name so many sitemaps. Those of
// a run before do not count.
func (d *desk) nests(u frontier.URL) bool {
	if !isSitemap(u) || d.frontier.View().Seen(u.URL) {
		return true
	}
	if d.nested == nil {
		d.nested = make(map[string]int)
	}
	d.nested[u.URL.Host()]++
	return d.nested[u.URL.Host()] <= maxNested
}
