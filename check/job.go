package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// Job checks the pages and links of a job, by its last visit, and requests nothing; the job may be
// running. Links are read from the bodies that the job has kept; without any, each URL that fails
// is reported with the pages that link to it. The report on a job that has more to crawl is about a
// part.
func Job(ctx context.Context, dir string, o Options) (*Report, error) {
	o.ofJob(ctx, dir)
	j, err := newSite(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	return j.check(dir)
}

// check checks the job in dir.
func (j *site) check(dir string) (*Report, error) {
	defer j.bodies.Close()
	t := j.targets
	j.ended(t.last(j.record))
	if !j.bodies.Any() {
		j.fail(j.referrers(dir))
	}
	if j.siteMaps > 0 {
		j.fail(t.last(j.listed))
	}
	j.duplicates()
	report, err := j.end()
	if err != nil {
		t.close()
		return nil, err
	}
	report.Began, report.Ended = t.began, t.ended
	report.Totals.NoBodies = len(t.all) > 0 && !j.bodies.Any()
	if j.siteMaps == 0 && j.options.Rules.needSitemaps() {
		report.maps = "no sitemap was read" + behind(j.options.Hints.Sitemaps)
	}
	report.pages = j.rows
	report.close = append(report.close, t.close)
	return report, nil
}

// site is the check of a job.
type site struct {
	*analysis
	targets  *targets
	bodies   *results.Bodies
	siteMaps int // that were read
}

// newSite opens a job. Its targets and bodies are to be closed.
func newSite(ctx context.Context, dir string, o Options) (*site, error) {
	t, err := openTargets(ctx, dir, o.Canon, o.Accept)
	if err != nil {
		return nil, err
	}
	b, err := results.OpenBodies(dir)
	if err == nil {
		err = t.openOwn()
	}
	if err != nil {
		t.close()
		return nil, err
	}
	s := &site{analysis: newAnalysis(ctx, dir, o), targets: t, bodies: b}
	s.look = func(u weburl.URL) (outcome, error) { return t.look(t.keyOf(u), o.Accept) }
	s.count = s.countFinding
	return s, nil
}

// countFinding notes a finding for the row of its page.
func (s *site) countFinding(f *Finding) {
	u, err := weburl.Parse(f.Page)
	if err != nil {
		return
	}
	n := s.targets.find(s.targets.keyOf(u))
	switch {
	case n == nil:
	case f.Level == Error:
		n.errors++
	case f.Level == Warning:
		n.warnings++
	default:
		n.notes++
	}
}

// record takes in the last record of a URL: what became of it, and the links of its body.
func (s *site) record(n *target, r *record.Record) error {
	if err := s.next(); err != nil {
		return err
	}
	o, err := s.targets.look(n.key, s.options.Accept)
	if err != nil {
		return err
	}
	if n.flags&isProbe == 0 && !isMissingGuess(r) {
		s.requested(r, &o)
	}
	s.fromRobots(r, &o)
	if n.flags&isSeed != 0 {
		s.given(r, &o)
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return nil
	}
	if n.flags&isPage != 0 {
		s.page(n, r)
	}
	if reads := links.Reads(r.Type()) || r.Sitemap != "" || r.Links > 0; !reads || !r.IsFetched() || !s.bodies.Any() {
		return s.err
	}
	return s.read(n, u, r)
}

// given reports a seed that is not ok. Where it redirects is no matter of a link.
func (s *site) given(r *record.Record, o *outcome) {
	if o.verdict != OK && !s.ignores(r.URL) {
		s.verdict(o, Finding{Page: r.URL, URL: r.URL, Status: o.status, ErrorKind: o.kind, Error: o.err, Redirects: o.chain})
	}
}

// read reads the body of a record.
func (s *site) read(n *target, u weburl.URL, r *record.Record) error {
	if n.flags&isExternal != 0 {
		if s.options.ExternalFragments && r.IsPage() {
			s.fail(s.anchors(s.bodies, n, u, r))
		}
		return s.err
	}
	received, err := s.bodies.Response(r)
	if errors.Is(err, results.ErrNoBody) {
		return s.err
	}
	if err != nil {
		s.report.Totals.Unread++
		return s.err
	}
	if r.Sitemap != "" {
		s.sitemap(u, r, &received)
		return s.err
	}
	d := &document{name: r.URL, url: u, key: n.key, visited: s.visited(n)}
	defer s.open(r.URL)()
	found := func(l links.Link) bool {
		s.link(d, &l)
		return s.err == nil
	}
	if !links.Reads(r.Type()) { // all that it has is in the header
		headerLinks(u, received.Header, found)
		n.out = uint32(d.links)
		return s.err
	}
	text, encoding := charset.UTF8(r.Type(), received.Body)
	facts := s.reader.Read(links.Document{Base: u, ContentType: r.Type(), Body: text, Charset: encoding}, received.Header, found)
	n.flags |= isRead
	if n.flags&isPage != 0 {
		if r.Rendered == nil {
			s.scripts(r.URL, appshell.Judge(text))
		}
	}
	n.out = uint32(d.links)
	s.report.Totals.Pages++
	if s.options.Rules.Has(MissingFragment) && received.Whole && !facts.Cut { // else it may have more
		s.fail(s.joins.has(joinAnchor, n.key, facts.Anchors))
	}
	if n.flags&isPage != 0 {
		s.facts(n, r, &facts)
	}
	return s.err
}

// visited notes which pages link to which.
func (s *site) visited(from *target) func(weburl.URL, *links.Link, *outcome) {
	return func(to weburl.URL, l *links.Link, o *outcome) {
		n := s.targets.find(s.targets.keyOf(to))
		if n == nil || n == from {
			return
		}
		n.in++
		n.flags |= isLinked
		if end := s.targets.find(o.end); end != nil && end != from {
			end.flags |= isLinked
		}
	}
}

// page checks what the record of a page says.
func (s *site) page(n *target, r *record.Record) {
	t := &s.report.Totals
	t.Depths[max(r.Depth, 0)]++
	count(t.Times, int64(r.TotalMS))
	count(t.Sizes, int64(r.BodyBytes))
	f := Finding{Page: r.URL}
	if r.Depth > s.options.Depth {
		f.Rule, f.Message = Deep, fmt.Sprintf("%d links from the start", r.Depth)
		s.found(f)
	}
	if r.TotalMS > float64(s.options.SlowMS) {
		f.Rule, f.Message = Slow, fmt.Sprintf("took %.1f s", r.TotalMS/1000)
		s.found(f)
	}
	if int64(r.BodyBytes) > s.options.HugeBytes {
		f.Rule, f.Message = Huge, fmt.Sprintf("%.1f MB", float64(r.BodyBytes)/1e6)
		s.found(f)
	}
	s.rendered(r)
	if !s.bodies.Any() { // else these are known of what the page says of itself
		s.duplicate(r)
		s.scripts(r.URL, appshell.Reason(r.NeedsScripts))
	}
}

// rendered reports what went wrong when a browser rendered a page.
func (s *site) rendered(r *record.Record) {
	if r.Rendered == nil {
		return
	}
	if r.Rendered.Error != "" {
		s.found(Finding{Rule: ScriptError, Page: r.URL, Message: "the page could not be rendered: " + r.Rendered.Error})
	}
	for _, message := range r.Rendered.Errors {
		s.found(Finding{Rule: ScriptError, Page: r.URL, Message: message})
	}
	for _, request := range r.Rendered.Failed { // what was refused is no fault of the page
		url, reason, _ := strings.Cut(request, " ")
		s.found(Finding{Rule: FailedRequest, Page: r.URL, URL: url, Message: reason})
	}
}

// duplicate reports a page that is the duplicate of another.
func (s *site) duplicate(r *record.Record) {
	f := Finding{Rule: DuplicateContent, Page: r.URL, URL: r.DuplicateOf, Message: "the same content as this page"}
	if f.URL == "" {
		f.URL, f.Message = r.NearDuplicateOf, "nearly the same text as this page"
	}
	if f.URL != "" {
		s.found(f)
	}
}

// facts checks what a page says of itself.
func (s *site) facts(n *target, r *record.Record, facts *Facts) {
	f := Finding{Page: r.URL}
	noIndex := facts.NoIndex || slices.Contains(r.Robots, "noindex")
	switch {
	case facts.Title == "":
		f.Rule, f.Message = MissingTitle, "no title"
		s.found(f)
	case !noIndex:
		n.title = Anchor(facts.Title)
	}
	if facts.Description != "" && !noIndex {
		n.description = Anchor(facts.Description)
	}
	if c := facts.Canonical; !c.IsZero() && s.targets.keyOf(c) != n.key {
		f.Rule, f.Message = CanonicalElsewhere, "the canonical URL is "+c.String()
		s.found(f)
		n.title, n.description = 0, 0 // the other page stands for this one
	} else if !noIndex {
		s.duplicate(r)
	}
	if noIndex {
		n.flags |= isNoIndex
	}
	for _, i := range facts.Images {
		s.found(Finding{Rule: ImageAlt, Page: r.URL, Line: i.Line, Column: i.Column, Tag: "img", URL: i.Source, Message: "no alt attribute"})
	}
	if !s.options.Rules.Has(HreflangNoReturn) {
		return
	}
	var has []uint64
	for _, other := range facts.Alternates {
		o, err := s.look(other.URL) // a redirect leads back as well as a link
		s.fail(err)
		if o.end == n.key {
			continue
		}
		has = append(has, short(o.end))
		s.fail(s.joins.mention(joinReturn, o.end, short(n.key), &Finding{Rule: HreflangNoReturn, Page: r.URL, Tag: "link", Attr: "hreflang", URL: other.URL.String(),
			Message: "does not link back with hreflang (" + other.Language + ")"}))
	}
	s.fail(s.joins.has(joinReturn, n.key, has))
}

// listed checks a page against sitemaps and links, when all are known.
func (s *site) listed(n *target, r *record.Record) error {
	if n.flags&isPage == 0 {
		return s.err
	}
	f := Finding{Page: r.URL}
	if n.flags&(inSitemap|isNoIndex) == inSitemap|isNoIndex {
		f.Rule, f.Message = NoindexInSitemap, "noindex, and in the sitemap"
		s.found(f)
	}
	ofRobots, _ := isOfRobots(r)
	switch {
	case s.report.Part != "" || ofRobots: // nobody knows what links to a page, or lists it
	case n.flags&inSitemap != 0 && n.flags&isLinked == 0 && r.Depth > 0:
		f.Rule, f.Message = Orphan, "in the sitemap, and no page links to it"
		s.found(f)
	case n.flags&(inSitemap|isNoIndex) == 0:
		f.Rule, f.Message = NotInSitemap, "in no sitemap"
		s.found(f)
	}
	return s.err
}

// duplicates reports pages with the same title or description, and linked pages with noindex.
func (s *site) duplicates() {
	t := s.targets
	for _, of := range []struct {
		rule string
		hash func(*target) uint64
	}{{DuplicateTitle, func(n *target) uint64 { return n.title }}, {DuplicateDescription, func(n *target) uint64 { return n.description }}} {
		if !s.options.Rules.Has(of.rule) {
			continue
		}
		times := make(map[uint64]int32)
		for i := range t.all {
			if h := of.hash(&t.all[i]); h != 0 {
				times[h]++
			}
		}
		var all []uint32 // the pages that are alike, those with one title together
		first := make(map[uint64]uint32)
		for i := range t.all {
			if h := of.hash(&t.all[i]); h != 0 && times[h] > 1 {
				if _, ok := first[h]; !ok {
					first[h] = uint32(i)
				}
				all = append(all, uint32(i))
			}
		}
		slices.SortStableFunc(all, func(a, b uint32) int {
			return cmp.Compare(first[of.hash(&t.all[a])], first[of.hash(&t.all[b])])
		})
		for len(all) > 0 {
			n := times[of.hash(&t.all[all[0]])]
			s.alike(of.rule, all[:n])
			all = all[n:]
		}
	}
	for i := range t.all {
		if n := &t.all[i]; n.flags&(isNoIndex|isLinked) == isNoIndex|isLinked {
			s.about(n, NoindexLinked, func(*record.Record) string { return fmt.Sprintf("noindex, and %s here", leads(n.in)) })
		}
	}
}

// leads is "1 link leads".
func leads(links uint32) string {
	if links == 1 {
		return "1 link leads"
	}
	return fmt.Sprintf("%d links lead", links)
}

// mostOthers bounds the others that a finding names.
const mostOthers = 3

// alike reports pages that have the same title or description: each with the first of the others.
func (s *site) alike(rule string, all []uint32) {
	var named []string // the first pages
	for _, i := range all[:min(len(all), mostOthers+1)] {
		r, err := s.targets.record(&s.targets.all[i])
		if err != nil {
			s.fail(err)
			return
		}
		named = append(named, r.URL)
	}
	for i, at := range all {
		r, err := s.targets.record(&s.targets.all[at])
		if err != nil {
			s.fail(err)
			return
		}
		f := Finding{Rule: rule, Page: r.URL, Same: len(all), subject: named[0], Message: fmt.Sprintf("%d pages have this description", len(all))}
		if rule == DuplicateTitle {
			f.Message = fmt.Sprintf("%d pages have this title: %s", len(all), r.Title)
		}
		for j, other := range named {
			if j != i && len(f.Others) < mostOthers {
				f.Others = append(f.Others, other)
			}
		}
		s.found(f)
	}
}

// about adds a finding about a page.
func (s *site) about(n *target, rule string, message func(*record.Record) string) {
	if !s.options.Rules.Has(rule) {
		return
	}
	r, err := s.targets.record(n)
	if err != nil {
		s.fail(err)
		return
	}
	s.found(Finding{Rule: rule, Page: r.URL, Message: message(&r)})
}

// rows yields the rows of the report.
func (s *site) rows(yield func(PageRow, error) bool) {
	err := s.targets.last(func(n *target, r *record.Record) error {
		row, err := s.targets.row(n, r, s.options.Accept)
		if err != nil {
			return err
		}
		if !yield(row, nil) {
			return errStopped
		}
		return nil
	})
	if err != nil && err != errStopped {
		yield(PageRow{}, err)
	}
}
