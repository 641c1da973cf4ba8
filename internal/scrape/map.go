package scrape

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/internal/unseen"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/sitemap"
	"github.com/weftcrawl/weft/weburl"
)

// MapAsk names a site, and the URLs of it that a caller wants. The zero value of each field
// but URL is its default.
type MapAsk struct {
	URL        string // of a page of the site, with or without a scheme
	Subdomains bool   // with the other hosts of its registrable domain
	NoSitemaps bool   // the links of the page alone
	NoLinks    bool   // the sitemaps alone
	Search     string // words, each of which the URL or the text of its link has
	Limit      int    // URLs; 0: 5,000, at most 100,000
	Timeout    time.Duration
	MaxAge     time.Duration // a Map of the same call is used that is not older; 0: none
}

// Map lists URLs of a site, as far as they are known without a crawl.
type Map struct {
	URL      string // of the page
	URLs     []MapURL
	Sitemaps []string // that were read
	// Cut is the reason for which there may be more; or empty.
	Cut      string
	Problems []*Error // the page, or a sitemap, that was not read
}

// MapURL is a URL of a site.
type MapURL struct {
	URL      string
	Text     string // of a link to it
	Modified string // as a sitemap has it
}

// Limits of a Map.
const (
	usualURLs    = 5000
	mostURLs     = 100_000
	mostSitemaps = 100
	mostBytes    = 100 << 20 // of all sitemaps of a Map
	deepest      = 5         // indexes of indexes
	mostWords    = 32
)

// mapping is a Map that is being made.
type mapping struct {
	Map
	s     *Scraper
	ask   MapAsk
	hosts map[string]bool // of the page, and where it redirects to
	site  string          // the registrable domain
	words []string
	known map[string]int // places in URLs
	found bool           // a URL that the search does not want
	o     weft.FetchOptions
	bytes int // of sitemaps

	call    context.Context // of the response that holds the map
	taken   int             // bytes of it
	crowded bool            // others have left no room for more
}

// Map lists the URLs of a site: those in its sitemaps, and those that a page links to. Its error is
// an *Error: nothing could be read. The response of ctx holds it: see [share.Hold].
func (s *Scraper) Map(ctx context.Context, a MapAsk) (*Map, error) {
	ctx, cancel := s.within(ctx, a.Timeout)
	defer cancel()
	given, wrong := s.target(a.URL)
	if wrong != nil {
		return nil, wrong
	}
	m := &mapping{
		s: s, ask: a, hosts: map[string]bool{bare(given.URL): true}, site: weburl.Site(given.URL.Hostname()),
		call: ctx, words: strings.Fields(strings.ToLower(a.Search)), known: make(map[string]int), o: weft.FetchOptions{HTTP: s.HTTP},
	}
	m.URL, m.o.HTTP.Cookies = given.URL.String(), newJar()
	m.ask.Limit = min(cmp.Or(max(a.Limit, 0), usualURLs), mostURLs)
	if len(m.words) > mostWords {
		return nil, &Error{Kind: KindMistake, URL: m.URL, Detail: fmt.Sprintf("search of %d words, expected at most %d", len(m.words), mostWords)}
	}
	key := fmt.Sprintf("%s %t %t %t %q %d", given.URL, a.Subdomains, a.NoSitemaps, a.NoLinks, m.words, m.ask.Limit)
	if given.Credential != nil {
		key = ""
	}
	if known, ok := s.maps.find(key, a.MaxAge); ok {
		if err := share.Hold(ctx, known.size()); err != nil {
			return nil, problemOf(m.URL, err)
		}
		return known, nil
	}
	var page *Error
	if !a.NoLinks {
		page = m.page(ctx, given)
	}
	if !a.NoSitemaps && (page == nil || page.Kind != KindBlocked && page.Kind != KindCanceled && page.Kind != KindBusy) {
		m.sitemaps(ctx, given)
	}
	if ctx.Err() != nil && m.Cut == "" {
		m.Cut = "the time of the call is over"
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, problemOf(m.URL, ctx.Err())
	case len(m.known) == 0 && m.crowded:
		return nil, problemOf(m.URL, share.ErrFull)
	case len(m.known) == 0 && !m.found && page != nil:
		return nil, page
	case len(m.known) == 0 && !m.found && len(m.Problems) > 0:
		return nil, m.Problems[0]
	}
	if !m.crowded {
		s.maps.keep(key, &m.Map, m.size())
	}
	return &m.Map, nil
}

// size estimates the memory of a map, in bytes, as take counts it.
func (m *Map) size() int {
	n := 4 << 10
	for _, u := range m.URLs {
		n += mapURL + len(u.URL) + len(u.Text) + len(u.Modified)
	}
	return n
}

// bare is a host without www.
func bare(u weburl.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }

// page takes in a page and what it links to.
func (m *mapping) page(ctx context.Context, given weft.Seed) *Error {
	o := m.o
	o.HTTP.MaxBody = m.s.MaxBody
	wrong := m.s.fetch(ctx, given.URL, func() error {
		p, err := weft.Fetch(ctx, m.ask.URL, o)
		if err == nil {
			err = m.readPage(ctx, p)
		}
		return err
	})
	if wrong != nil {
		m.Problems = append(m.Problems, wrong)
	}
	return wrong
}

// readPage takes in a page that was received.
func (m *mapping) readPage(ctx context.Context, p *weft.Page) error {
	u, err := weburl.Parse(p.URL)
	if err != nil {
		return err
	}
	if weburl.Site(u.Hostname()) == m.site {
		m.hosts[bare(u)] = true
	}
	m.URL = p.URL
	if p.Status >= 400 {
		m.Problems = append(m.Problems, &Error{Kind: KindPart, URL: p.URL, Detail: fmt.Sprintf("the page has the status %d", p.Status)})
		return nil
	}
	m.add(u, "", "")
	if !record.IsHTML(p.Type()) || m.s.reading.enter(ctx) != nil {
		return nil
	}
	defer m.s.reading.leave()
	d := links.Document{Base: u, ContentType: p.Type(), Body: seen(u, p.Text())}
	links.NewExtractor(links.Options{Kinds: links.KindsOf(links.KindPage, links.KindFrame, links.KindNext, links.KindPrev, links.KindCanonical)}).Extract(d, func(l links.Link) bool {
		return m.add(l.URL, l.Text, "")
	})
	return nil
}

// add takes in a URL, and reports whether there is room for more.
func (m *mapping) add(u weburl.URL, text, modified string) bool {
	if !u.IsHTTP() || !m.hosts[bare(u)] && (!m.ask.Subdomains || weburl.Site(u.Hostname()) != m.site) {
		return true
	}
	url := u.Identity().String()
	text, _ = unseen.Characters(text)
	if at, ok := m.known[url]; ok {
		was := &m.URLs[at]
		was.Text, was.Modified = cmp.Or(was.Text, text), cmp.Or(was.Modified, modified)
		return true
	}
	if len(m.words) > 0 {
		in := strings.ToLower(url + " " + text)
		if slices.ContainsFunc(m.words, func(w string) bool { return !strings.Contains(in, w) }) {
			m.found = true
			return true
		}
	}
	if len(m.URLs) == m.ask.Limit {
		m.Cut = fmt.Sprintf("the limit of %d URLs", m.ask.Limit)
		return false
	}
	if !m.take(mapURL + len(url) + len(text) + len(modified)) {
		return false
	}
	m.known[url] = len(m.URLs)
	m.URLs = append(m.URLs, MapURL{URL: url, Text: text, Modified: modified})
	return true
}

// mapURL is the memory of a URL of a Map beside its texts, in bytes, also in an answer.
const mapURL = 200

// take takes memory for what is known, and reports whether there is room.
func (m *mapping) take(n int) bool {
	switch {
	case m.taken+n > m.s.MaxMap:
		m.Cut = fmt.Sprintf("the limit of %d MiB of URLs", m.s.MaxMap>>20)
		return false
	case share.Hold(m.call, n) != nil:
		m.Cut, m.crowded = "other responses take all memory for them: try again later", true
		return false
	}
	m.taken += n
	return true
}

// listed is a sitemap to read.
type listed struct {
	url   weburl.URL
	depth int
}

// sitemaps takes in the sitemaps of the site.
func (m *mapping) sitemaps(ctx context.Context, given weft.Seed) {
	var found []weburl.URL
	named := false
	wrong := m.s.fetch(ctx, given.URL, func() (err error) {
		found, named, err = weft.FindSitemaps(ctx, cmp.Or(m.URL, m.ask.URL), m.o)
		if len(found) > 0 && ctx.Err() == nil {
			err = nil // there are more than robots.MaxSitemaps
		}
		return err
	})
	if wrong != nil {
		m.Problems = append(m.Problems, wrong)
		return
	}
	if len(found) == robots.MaxSitemaps {
		m.Cut = "robots.txt names too many sitemaps"
	}
	var queue []listed
	asked := make(map[string]bool)
	push := func(u weburl.URL, depth int) {
		if url := u.Identity().String(); !asked[url] && len(asked) < 10*mostSitemaps && m.take(mapURL+len(url)) {
			asked[url] = true
			queue = append(queue, listed{u, depth})
		}
	}
	for _, u := range found {
		push(u, 0)
	}
	for read := 0; len(queue) > 0; read++ {
		next := queue[0]
		queue = queue[1:]
		switch {
		case ctx.Err() != nil:
			return
		case read == mostSitemaps:
			m.Cut = fmt.Sprintf("the limit of %d sitemaps", mostSitemaps)
			return
		case m.bytes >= mostBytes:
			m.Cut = fmt.Sprintf("the limit of %d bytes of sitemaps", mostBytes)
			return
		}
		if !m.sitemap(ctx, next, named, func(u weburl.URL) { push(u, next.depth+1) }) {
			return
		}
	}
}

// sitemap takes in a sitemap, and reports whether there is room for more.
func (m *mapping) sitemap(ctx context.Context, from listed, named bool, nested func(weburl.URL)) bool {
	o := m.o
	o.HTTP.MaxBody = m.s.MaxBody
	more := true
	wrong := m.s.fetch(ctx, from.url, func() error {
		if _, wrong := m.s.target(from.url.String()); wrong != nil {
			return wrong
		}
		p, err := weft.Fetch(ctx, from.url.String(), o)
		if err == nil {
			err = m.readSitemap(ctx, p, from, named, nested, &more)
		}
		return err
	})
	if wrong != nil {
		m.problem(wrong)
	}
	return more
}

// readSitemap takes in a sitemap that was received.
func (m *mapping) readSitemap(ctx context.Context, p *weft.Page, from listed, named bool, nested func(weburl.URL), more *bool) error {
	if p.Status < 200 || p.Status > 299 {
		if !named && from.depth == 0 {
			return nil // nobody has said that it is there
		}
		return &Error{Kind: KindPart, URL: p.URL, Detail: fmt.Sprintf("the sitemap has the status %d", p.Status)}
	}
	if m.s.reading.enter(ctx) != nil {
		*more = false
		return nil
	}
	defer m.s.reading.leave()
	m.bytes += len(p.Body)
	base, err := weburl.Parse(p.URL)
	if err != nil {
		return nil
	}
	r := sitemap.Read(sitemap.Document{Base: base, ContentType: p.ContentType, Body: p.Body}, sitemap.Options{}, func(e sitemap.Entry) bool {
		switch {
		case e.Kind == sitemap.Sitemap && from.depth < deepest:
			nested(e.URL)
		case e.Kind == sitemap.Page:
			*more = m.add(e.URL, "", e.LastMod) && ctx.Err() == nil
		}
		return *more
	})
	m.bytes += r.Read
	switch {
	case errors.Is(r.Err, sitemap.ErrFormat):
		if named || from.depth > 0 {
			m.problem(&Error{Kind: KindPart, URL: p.URL, Detail: r.Err.Error()})
		}
		return nil
	case r.Err != nil:
		m.problem(&Error{Kind: KindPart, URL: p.URL, Detail: r.Err.Error()})
	}
	m.Sitemaps = append(m.Sitemaps, p.URL)
	return nil
}

// problem notes one of the first problems.
func (m *mapping) problem(e *Error) {
	const most = 20
	if len(m.Problems) < most {
		m.Problems = append(m.Problems, e)
	}
}
