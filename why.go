package weft

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Why is what has become of a URL, and each decision about it. Those of a scope, an
// expression or a robots.txt are as the rules are now.
type Why struct {
	URLStatus
	Way   []string `json:"way,omitempty"` // from a seed on, the URLs that led to it; at most 10, the last ones
	Steps []Step   `json:"steps"`
}

// Step is one decision about a URL, or one thing that has happened to it.
type Step struct {
	At   time.Time `json:"at,omitzero"` // zero: it is not known, or has no time
	What string    `json:"what"`        // seed, found, redirected, unseen; scope, depth, include, exclude, trap, limit, robots; visit; try; done, failed, refused, dropped, next
	Text string    `json:"text"`
}

// longestWay bounds Why.Way.
const longestWay = 10

// inquiry gathers what there is to say about a URL.
type inquiry struct {
	view    *view
	plan    plan
	history history
	bounds  bounds // as they are now
	now     time.Time
	url     weburl.URL
	entry   store.Entry // zero: it was never seen
	host    HostStatus  // zero: unknown
	known   bool        // host is
	rules   robots.Rules
	state   frontier.HostInfo
	why     Why
}

// why tells what has become of a URL.
func (v *view) why(ctx context.Context, text string) (Why, error) {
	u, err := ParseSeed(text)
	if err != nil {
		return Why{}, err
	}
	q := &inquiry{view: v, url: u, now: time.Now()}
	for _, ask := range []func(context.Context) error{q.find, q.draw, q.origin, q.askBounds, q.askHost, q.askLimits} {
		if err := ask(ctx); err != nil {
			return Why{}, err
		}
	}
	q.robots()
	q.tries()
	return q.why, q.next(ctx)
}

func (q *inquiry) say(at time.Time, what, format string, args ...any) {
	q.why.Steps = append(q.why.Steps, Step{at, what, fmt.Sprintf(format, args...)})
}

// find reads what is saved of the URL.
func (q *inquiry) find(ctx context.Context) (err error) {
	if q.plan, q.history, err = q.view.saved(); err != nil {
		return err
	}
	canon, err := weburl.ParseRules(q.plan.Canon)
	if err != nil {
		return err
	}
	// What the rules change is seen too, where a redirect led to it.
	seen, err := q.look()
	if under := canon.Apply(q.url); err == nil && !seen && under != q.url {
		q.url = under
		seen, err = q.look()
	}
	if err != nil {
		return err
	}
	if !seen {
		q.why.URLStatus = URLStatus{URL: q.url.String(), State: URLUnseen}
		return nil
	}
	leased, _, err := look(ctx, q.view, func(d *desk) bool { return d.frontier.View().IsLeased(q.url) })
	q.why.URLStatus = newURLStatus(q.entry, leased)
	return err
}

// look reads the entry of the URL.
func (q *inquiry) look() (seen bool, err error) {
	q.entry, seen, err = q.view.job.store.Find(q.url)
	if err == nil && q.entry.State == store.Dropped { // or it moved while it was looked for
		q.entry, seen, err = q.view.job.store.Find(q.url)
	}
	return seen, err
}

// draw reads where the crawl may go.
func (q *inquiry) draw(context.Context) error {
	var c config
	if err := q.plan.apply(&c); err != nil {
		return fmt.Errorf("%w: plan: %w", store.ErrDamaged, err)
	}
	q.bounds = newBounds(&c)
	for n, err := range q.view.job.store.Notes(noteScope) {
		if err != nil {
			return err
		}
		if u, err := weburl.Parse(n.Name[len(noteScope):]); err == nil {
			q.bounds.open(u)
		}
	}
	return nil
}

// origin tells where the URL came from.
func (q *inquiry) origin(context.Context) error {
	switch {
	case q.why.State == URLUnseen:
		q.say(time.Time{}, "unseen", "%s", q.absence())
		return nil
	case q.why.State == URLDropped: // of which no more is kept
		q.say(time.Time{}, "found", "%s from a seed", linksAway(q.why.Depth))
		return nil
	case q.why.From == "":
		q.say(time.Time{}, "seed", "%s", q.plan.seed(q.url))
		return nil
	}
	parent, err := q.parent(q.why.From)
	if err != nil {
		return err
	}
	what, where := "found", "on"
	switch {
	case q.why.Hops > 0:
		what, where = "redirected", "from"
	case parent.Sitemap:
		where = "in the sitemap"
	case q.why.Sitemap:
		where = "as a sitemap of the host of"
	}
	at := parent.At
	if known := q.why.Known; known != nil && q.history.Summary.Visit > 1 && at.After(known.FirstAt) {
		at = time.Time{} // the parent has been visited again since, and when before is not kept
	}
	q.say(at, what, "%s %s, %s from a seed", where, q.why.From, linksAway(q.why.Depth))
	for from := q.why.From; from != "" && len(q.why.Way) < longestWay && !slices.Contains(q.why.Way, from); {
		q.why.Way = append(q.why.Way, from)
		parent, err := q.parent(from)
		if err != nil {
			return err
		}
		from = parent.From
	}
	slices.Reverse(q.why.Way)
	return nil
}

// absence says why nothing is known of the URL. Whether a page leads to it is not, where a
// rule refuses it.
func (q *inquiry) absence() string {
	const aLink = 1 // from a seed; how many it would be is not known
	rule, refused := map[string]string{
		reasonScope:   "it is outside the scope",
		reasonDepth:   "no links are followed",
		reasonExclude: "it is excluded",
		reasonInclude: "it is not included",
		reasonTooLong: "it is taken for a trap",
		reasonTooDeep: "it is taken for a trap",
		reasonRepeats: "it is taken for a trap",
	}[q.bounds.refuses(q.url, aLink)]
	if refused {
		return "links that are not followed are not kept; not taken in: " + rule
	}
	text := "no page that was read leads to it, as far as is known"
	for _, silent := range []struct{ reason, links string }{
		{reasonNoFollow, "links of pages that say nofollow"},
		{reasonDuplicate, "links of pages that are duplicates"},
		{reasonRel, "links with rel=nofollow"},
		{reasonDropped, "links that a hook has dropped"},
		{reasonTooMany, "the last links of pages with too many"},
		{reasonBroken, "URLs in sitemaps that are broken"},
	} {
		if n := q.history.Summary.NotFollowed[silent.reason] + q.history.NotFollowed[silent.reason]; n > 0 {
			text += fmt.Sprintf("; %s, of which there were %d, are not kept", silent.links, n)
		}
	}
	return text
}

// parent returns the status of a URL that led to another; zero if it is not known.
func (q *inquiry) parent(href string) (URLStatus, error) {
	u, err := weburl.Parse(href)
	if err != nil {
		return URLStatus{}, nil // it is not one the crawl has fetched
	}
	e, found, err := q.view.job.store.Find(u)
	if err != nil || !found {
		return URLStatus{}, err
	}
	return newURLStatus(e, false), nil
}

// linksAway is a depth in words.
func linksAway(n int) string {
	if n == 1 {
		return "1 link"
	}
	return fmt.Sprintf("%d links", n)
}

// seed says how a seed came to be one.
func (p plan) seed(u weburl.URL) string {
	switch s := u.String(); {
	case slices.Contains(p.Added, s):
		return "added while the crawl ran"
	case slices.Contains(p.Seeds, s):
		return "given"
	}
	return "in the list of seeds"
}

// askBounds tells what scope, depth and expressions say now.
func (q *inquiry) askBounds(context.Context) error {
	b := &q.bounds
	seed := q.why.State != URLUnseen && q.why.Depth == 0
	switch inside := b.inside(q.url); {
	case q.why.Sitemap:
		q.say(time.Time{}, "scope", "%s: not asked of sitemaps", b.scope)
	case seed:
		q.say(time.Time{}, "scope", "%s: not asked of seeds, and of what they redirect to", b.scope)
	case inside:
		q.say(time.Time{}, "scope", "%s: inside", b.scope)
	case q.why.State == URLUnseen:
		q.say(time.Time{}, "scope", "%s: outside, a link to it is not followed", b.scope)
	default:
		q.say(time.Time{}, "scope", "%s: outside, and followed all the same, as a hook has said", b.scope)
	}
	switch {
	case b.depth == 0 || seed:
	case q.why.State == URLUnseen:
		q.say(time.Time{}, "depth", "at most %s from a seed are followed, what is further is not kept", linksAway(max(0, b.depth)))
	default:
		q.say(time.Time{}, "depth", "%d of at most %d", q.why.Depth, max(0, b.depth))
	}
	if trap := b.traps.inWords(q.url); trap != "" && !seed {
		if q.why.State != URLUnseen {
			trap += "; followed all the same, as a hook has said"
		}
		q.say(time.Time{}, "trap", "%s", trap)
	}
	return q.expressions(seed)
}

// askLimits tells which limits of numbers have been reached that are in the way of a new URL.
func (q *inquiry) askLimits(context.Context) error {
	if q.why.State != URLUnseen {
		return nil
	}
	if q.state.Capped {
		q.say(time.Time{}, "limit", "its host has had its limit of %d URLs", q.plan.LimitPerHost)
	}
	key, ok := frontier.VariantKey(q.url)
	if !ok || q.plan.MaxVariants == 0 {
		return nil
	}
	n, err := q.view.job.store.VariantsOf(key)
	if n >= q.plan.MaxVariants {
		q.say(time.Time{}, "limit", "%s", q.fullPath())
	}
	return err
}

// fullPath says that the path of the URL has had its variants.
func (q *inquiry) fullPath() string {
	return fmt.Sprintf("its path has had its limit of %d URLs that differ only behind the first ; or ?", q.plan.MaxVariants)
}

// expressions tells which of the user's match.
func (q *inquiry) expressions(seed bool) error {
	for _, list := range []struct {
		what, none string
		all        []string
		asked      bool
	}{
		{"exclude", "", q.plan.Exclude, !seed},
		{"exclude", "", q.plan.Late, true},
		{"include", "none matches, a link to it is not followed", q.plan.Include, !seed},
	} {
		if !list.asked || len(list.all) == 0 {
			continue
		}
		i, err := matching(list.all, q.url.String())
		switch {
		case err != nil:
			return fmt.Errorf("%w: plan: %w", store.ErrDamaged, err)
		case i >= 0:
			q.say(time.Time{}, list.what, "%s matches", list.all[i])
		case list.none != "":
			q.say(time.Time{}, list.what, "%s", list.none)
		}
	}
	return nil
}

// matching returns the first expression that matches; −1: none does.
func matching(expressions []string, s string) (int, error) {
	for i, text := range expressions {
		re, err := regexp.Compile(text)
		if err != nil {
			return -1, err
		}
		if re.MatchString(s) {
			return i, nil
		}
	}
	return -1, nil
}

// askHost reads what is known of the URL's host.
func (q *inquiry) askHost(ctx context.Context) error {
	h, found, err := q.view.job.store.Host(q.url.Origin())
	if err != nil || !found {
		return err
	}
	infos, err := q.view.infos(ctx, []store.Host{h})
	if err != nil {
		return err
	}
	q.known, q.rules, q.state = true, h.Rules, infos[0]
	q.host = newHostStatus(q.now, q.plan, infos[0], h.Rules)
	if q.state.Asking {
		return q.askErrand(ctx)
	}
	return nil
}

// askErrand reads where redirects have led to of the robots.txt of the URL's host, and what that waits
// for there.
func (q *inquiry) askErrand(ctx context.Context) error {
	type errand struct {
		at    weburl.URL
		host  frontier.HostInfo
		waits bool
	}
	e, _, err := look(ctx, q.view, func(d *desk) (e errand) {
		e.at, e.host, e.waits = d.frontier.View().RobotsRedirect(d.loop.Now(), q.url.Origin())
		return e
	})
	if err != nil || !e.waits {
		return err
	}
	q.host.Waits = "its robots.txt is asked for at " + frontier.Brief(e.at.String()) + ", where redirects lead, when its turn comes"
	what, until := waitsFor(q.now, e.host)
	if what == "" && e.host.Full {
		what = "as many requests as there may be at once are under way"
	}
	if what != "" {
		q.host.Waits += "; the host there waits: " + what
		q.host.WaitsUntil = until
	}
	return nil
}

// robots tells what the host's robots.txt says.
func (q *inquiry) robots() {
	var read time.Time
	if until := q.state.Robots.Until; q.host.Robots == "known" && q.state.Robots.Tries == 0 && !until.IsZero() {
		read = until.Add(-robots.CacheFor)
	}
	v := q.rules.Test(q.url.RequestTarget())
	delay, _ := q.rules.CrawlDelay()
	switch {
	case q.plan.NoRobots:
		q.say(time.Time{}, "robots", "not asked for")
	case !q.known || q.host.Robots == "unknown":
		q.say(time.Time{}, "robots", "robots.txt of %s is not known yet", q.url.Origin())
	case q.host.Robots == "asked" && !q.state.Robots.Have:
		q.say(time.Time{}, "robots", "robots.txt of %s is being asked for", q.url.Origin())
	case q.host.Robots == "unreachable":
		q.say(time.Time{}, "robots", "robots.txt of %s cannot be had, so nothing is allowed: %s: %s", q.url.Origin(), q.state.Robots.Kind, q.state.Robots.Reason)
	case !v.Allowed:
		q.say(read, "robots", "disallowed by line %d: %s", v.Line, v.Rule)
	case delay > frontier.MaxCrawlDelay:
		q.say(read, "robots", "a Crawl-delay of %v, longer than the %v that are obeyed", delay, frontier.MaxCrawlDelay)
	case v.Line > 0:
		q.say(read, "robots", "allowed by line %d: %s", v.Line, v.Rule)
	default:
		q.say(read, "robots", "allowed, as no line is about it")
	}
}

// tries tells how each has ended, and before that what earlier visits have found.
func (q *inquiry) tries() {
	q.visits()
	for i, try := range q.entry.URL.Past {
		text := ""
		if try.Status != 0 {
			text = fmt.Sprintf(" status %d", try.Status)
		}
		if try.Kind != "" {
			text += " " + try.Kind
		}
		switch {
		case isRedirect(try.Status) && try.Reason != "" && try.Kind == "":
			text += ", leads to " + try.Reason
		case try.Reason != "" && try.Kind == "":
			text += ", " + try.Reason
		case try.Reason != "":
			text += ": " + try.Reason
		}
		q.say(try.At, "try", "%d:%s", i+1, text)
	}
}

// visits tells what is known of the URL from the visits of the job, if there are several.
func (q *inquiry) visits() {
	v := q.why.Known
	if v == nil || q.history.Summary.Visit <= 1 {
		return
	}
	found := cmp.Or(string(v.Change), "first seen")
	text := fmt.Sprintf("%d: %s, status %d", v.Visit, found, v.Status)
	if !v.ChangedAt.Equal(v.At) {
		text += ", as since " + v.ChangedAt.UTC().Format(time.RFC3339)
	}
	switch {
	case v.ETag != "":
		text += ", ETag " + v.ETag
	case v.LastModified != "":
		text += ", Last-Modified " + v.LastModified
	}
	q.say(v.At, "visit", "%s", text)
}

// next tells where it stands, and what is to come.
func (q *inquiry) next(ctx context.Context) error {
	switch q.why.State {
	case URLUnseen:
	case URLDone:
		q.say(q.why.At, "done", "its record is in %s", pagesFile)
	case URLFailed:
		q.say(q.why.At, "failed", "its record is in %s", pagesFile)
	case URLRefused:
		q.say(q.why.At, "refused", "%s: %s", q.why.ErrorKind, q.why.Error)
	case URLDropped:
		if q.entry.Drop == frontier.DropVariants {
			q.say(time.Time{}, "dropped", "%s", q.fullPath())
		} else {
			q.say(time.Time{}, "dropped", "its host has had its limit of %d URLs", q.plan.LimitPerHost)
		}
	case URLLeased:
		q.say(time.Time{}, "next", "try %d is under way", q.why.Tries+1)
	default:
		s, err := q.view.status(ctx)
		if err != nil {
			return err
		}
		q.say(q.due(), "next", "try %d%s", q.why.Tries+1, q.waits(s))
	}
	return nil
}

// due is when the next try is at the earliest; zero: now.
func (q *inquiry) due() time.Time {
	at := q.why.NotBefore
	if q.host.WaitsUntil.After(at) {
		at = q.host.WaitsUntil
	}
	if at.After(q.now) {
		return at
	}
	return time.Time{}
}

// waits says what a pending URL waits for.
func (q *inquiry) waits(s Status) string {
	var reasons []string
	switch s.State {
	case JobRunning, JobStarting:
	case JobPaused:
		reasons = append(reasons, "the crawl is paused: "+strings.Join(s.Reasons, ", "))
	case JobEnding:
		reasons = append(reasons, "the crawl ends, the next run goes on")
	default:
		text := string(s.State)
		if s.State == JobStopped {
			text += " by the limit " + strings.Join(s.Reasons, ", ")
		}
		reasons = append(reasons, fmt.Sprintf("the crawl does not run (%s)", text))
	}
	if q.why.NotBefore.After(q.now) {
		reasons = append(reasons, "not sooner after the last")
	}
	if q.host.Waits != "" {
		reasons = append(reasons, "its host waits: "+q.host.Waits)
	}
	if q.state.Full {
		reasons = append(reasons, "as many requests to its host as there may be at once are under way")
	}
	if q.host.Pending > 1 {
		reasons = append(reasons, fmt.Sprintf("%d URLs of its host wait", q.host.Pending))
	}
	if len(reasons) == 0 {
		return ", when its turn comes"
	}
	return "; " + strings.Join(reasons, "; ")
}
