package view

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// longestWay bounds Why.Way.
const longestWay = 10

// explainer gathers the facts about a URL that its Why is made of.
type explainer struct {
	view    *View
	plan    job.Plan
	history job.History
	bounds  *scope.Bounds // as they are now
	now     time.Time
	clock   job.Clock
	url     weburl.URL
	entry   store.Entry        // zero: never seen
	host    inspect.HostStatus // zero: unknown
	known   bool               // host was found
	rules   robots.Rules
	state   frontier.OriginInfo
	why     inspect.Why
}

// Why explains what has become of a URL, and why, without its referrers.
func (v *View) Why(ctx context.Context, u weburl.URL) (inspect.Why, error) {
	q := &explainer{view: v, url: u, now: time.Now()}
	for _, ask := range []func(context.Context) error{q.find, q.draw, q.origin, q.askBounds, q.askHost, q.askLimits} {
		if err := ask(ctx); err != nil {
			return inspect.Why{}, err
		}
	}
	q.robots()
	q.tries()
	return q.why, q.next(ctx)
}

func (q *explainer) say(at time.Time, what, format string, args ...any) {
	q.why.Steps = append(q.why.Steps, inspect.Step{At: at, What: what, Text: fmt.Sprintf(format, args...)})
}

// find reads the saved state of the URL.
func (q *explainer) find(ctx context.Context) (err error) {
	if q.plan, q.history, err = q.view.saved(); err != nil {
		return err
	}
	if q.clock, err = q.view.Clock(ctx); err != nil {
		return err
	}
	canon, err := weburl.ParseRules(q.plan.Canon)
	if err != nil {
		return err
	}
	// A URL that the canonical rules change may be there too, as the target of a redirect.
	seen, err := q.look()
	if under := canon.Identity(q.url); err == nil && !seen && under != q.url {
		q.url = under
		seen, err = q.look()
	}
	if err != nil {
		return err
	}
	if !seen {
		q.why.URLStatus = inspect.URLStatus{URL: q.url.String(), State: inspect.URLUnseen}
		return nil
	}
	leased, _, err := ask(ctx, q.view, func(d *engine.Coordinator) bool { return d.Frontier().IsLeased(q.url) })
	q.why.URLStatus = urlStatus(q.entry, leased, q.clock)
	return err
}

// look reads the entry of the URL in the store.
func (q *explainer) look() (seen bool, err error) {
	q.entry, seen, err = q.view.Job.Store.Find(q.url)
	if err == nil && q.entry.State == store.Dropped { // or it moved during the look-up
		q.entry, seen, err = q.view.Job.Store.Find(q.url)
	}
	return seen, err
}

// draw reads where the crawl may go.
func (q *explainer) draw(context.Context) error {
	rules, err := q.plan.Rules()
	if err != nil {
		return fmt.Errorf("%w: plan: %w", store.ErrDamaged, err)
	}
	q.bounds = scope.New(rules)
	for u, err := range q.view.Job.Scope() {
		if err != nil {
			return err
		}
		q.bounds.Open(u)
	}
	return nil
}

// origin explains where the URL came from.
func (q *explainer) origin(context.Context) error {
	switch {
	case q.why.State == inspect.URLUnseen:
		q.say(time.Time{}, "unseen", "%s", q.absence())
		meant, err := q.meant()
		if meant != "" {
			q.say(time.Time{}, "meant", "the crawl knows %s", meant)
		}
		return err
	case q.why.State == inspect.URLDropped: // nothing else is kept of it
		q.say(time.Time{}, "found", "%s from a seed", linksAway(q.why.Depth))
		return nil
	case q.why.From == "":
		q.say(time.Time{}, "seed", "%s", q.plan.Origin(q.url.String()))
		q.posted()
		return nil
	}
	parent, err := q.parent(q.why.From)
	if err != nil {
		return err
	}
	what, where := "found", "on"
	switch {
	case q.why.Depth == 0 && q.why.Hops == 0:
		q.say(parent.At, "seed", "in place of %s, which did not answer: the seed was given without a scheme", q.why.From)
		return nil
	case q.why.Hops > 0:
		what, where = "redirected", "from"
	case parent.AsSitemap:
		where = "in the sitemap"
	case q.why.AsSitemap:
		where = "as a sitemap of the host of"
	}
	q.posted()
	at := parent.At
	if known := q.why.Known; known != nil && q.history.Summary.Visit > 1 && at.After(known.FirstAt) {
		at = time.Time{} // the parent was visited again since, and its earlier visit is not kept
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

// posted says what the URL is sent.
func (q *explainer) posted() {
	all, err := seed.PostsOf(q.plan.Posts)
	if err != nil {
		return // the plan is checked when the job opens
	}
	if p, _ := all.Of(q.url); p != nil {
		q.say(time.Time{}, "POST", "%d bytes of %s: %s", len(p.Body), p.ContentType(), frontier.Brief(string(p.Body)))
	}
}

// absence says why nothing is known of the URL. Links that a rule refuses are not kept, so whether
// a page links to it is unknown then.
func (q *explainer) absence() string {
	const aLink = 1 // from a seed; the real number is unknown
	rule, refused := map[string]string{
		scope.ReasonScope:   "it is outside the scope",
		scope.ReasonPort:    "its port is blocked",
		scope.ReasonDepth:   "no links are followed",
		scope.ReasonExclude: "it is excluded",
		scope.ReasonInclude: "it is not included",
		scope.ReasonLogout:  "it may log out, and the crawl is logged in",
		scope.ReasonTooLong: "it looks like a trap",
		scope.ReasonTooDeep: "it looks like a trap",
		scope.ReasonRepeats: "it looks like a trap",
	}[q.bounds.Refuses(q.url, aLink)]
	if refused && !q.checked(aLink) {
		return "links that are not followed are not kept, and a link to it is not followed: " + rule
	}
	text := "no page that was read is known to link to it"
	for _, silent := range []struct{ reason, links string }{
		{scope.ReasonNoFollow, "links of pages that say nofollow"},
		{scope.ReasonDuplicate, "links of pages that are duplicates"},
		{scope.ReasonRel, "links with rel=nofollow"},
		{scope.ReasonDropped, "links that a hook dropped"},
		{scope.ReasonTooMany, "the last links of pages with too many"},
		{scope.ReasonBroken, "URLs in sitemaps that are broken"},
		{scope.ReasonUnclosed, "links that pages hide in an unclosed tag, comment, script or the like"},
	} {
		if n := q.history.Summary.NotFollowed[silent.reason] + q.history.NotFollowed[silent.reason]; n > 0 {
			text += fmt.Sprintf("; not kept: %s (%d)", silent.links, n)
		}
	}
	return text
}

// checked reports whether links to the URL, at a depth, are checked.
func (q *explainer) checked(depth int) bool {
	switch q.bounds.Refuses(q.url, depth) {
	case scope.ReasonScope, scope.ReasonDepth, scope.ReasonInclude:
		return q.plan.External && q.bounds.Forbids(q.url) == ""
	}
	return false
}

// treated says what becomes of links to a URL out of scope.
func (q *explainer) treated() string {
	if q.plan.External {
		return "only checked"
	}
	return "not followed"
}

// parent returns the status of a URL that led to another; zero if it is unknown.
func (q *explainer) parent(href string) (inspect.URLStatus, error) {
	u, err := weburl.Parse(href)
	if err != nil {
		return inspect.URLStatus{}, nil // the crawl did not fetch it
	}
	e, found, err := q.view.Job.Store.Find(u)
	if err != nil || !found {
		return inspect.URLStatus{}, err
	}
	return urlStatus(e, false, q.clock), nil
}

// askBounds applies scope, depth, traps and expressions.
func (q *explainer) askBounds(context.Context) error {
	b := q.bounds
	seed := q.why.State != inspect.URLUnseen && q.why.Depth == 0
	switch inside := b.Inside(q.url); {
	case q.why.Role != "":
		q.say(time.Time{}, "role", "%s", q.roleWords())
	case q.why.AsSitemap:
		q.say(time.Time{}, "scope", "%s: does not apply to sitemaps", b.Scope)
	case seed:
		q.say(time.Time{}, "scope", "%s: does not apply to seeds and the targets of their redirects", b.Scope)
	case inside:
		q.say(time.Time{}, "scope", "%s: inside", b.Scope)
	case q.why.State == inspect.URLUnseen:
		q.say(time.Time{}, "scope", "%s: outside, links to it are %s", b.Scope, q.treated())
	default:
		q.say(time.Time{}, "scope", "%s: outside, but a hook followed it", b.Scope)
	}
	if b.BlocksPort(q.url) {
		q.say(time.Time{}, "port", "%d is blocked, as browsers block it; a seed could have it", q.url.EffectivePort())
	}
	switch {
	case b.Depth == 0 || seed || q.why.Role != "":
	case q.why.State == inspect.URLUnseen:
		q.say(time.Time{}, "depth", "at most %s from a seed are followed; others are not kept", linksAway(max(0, b.Depth)))
	default:
		q.say(time.Time{}, "depth", "%d of at most %d", q.why.Depth, max(0, b.Depth))
	}
	if b.LoggedIn && scope.LogsOut(q.url) {
		q.say(time.Time{}, "logout", "it may log out; a crawl that is logged in follows no such link")
	}
	if trap := b.Traps.Words(q.url); trap != "" && !seed {
		if q.why.State != inspect.URLUnseen {
			trap += "; a hook followed it all the same"
		}
		q.say(time.Time{}, "trap", "%s", trap)
	}
	return q.expressions(seed)
}

// roleWords says why a URL beyond the bounds was requested, and how.
func (q *explainer) roleWords() string {
	switch past := q.entry.URL.Past; {
	case q.why.Role == record.RoleAsset:
		return "asset beyond the scope: a page needs it; of what it leads to, only what style sheets need is fetched"
	case len(past) > 1:
		return "external link, checked with HEAD, then with GET; nothing there is followed"
	case q.why.State == inspect.URLDone || q.why.State == inspect.URLFailed:
		return "external link, checked with HEAD; nothing there is followed"
	}
	return "external link, which is only checked"
}

// askLimits says which limits keep a new URL out.
func (q *explainer) askLimits(context.Context) error {
	if q.why.State != inspect.URLUnseen {
		return nil
	}
	if q.state.Capped {
		q.say(time.Time{}, "limit", "its host reached its limit of %d URLs", q.plan.LimitPerHost)
	}
	if err := q.askTraps(); err != nil {
		return err
	}
	key, ok := frontier.VariantKey(q.url)
	if !ok || q.plan.MaxVariants == 0 {
		return nil
	}
	n, err := q.view.Job.Store.VariantsOf(key)
	if n >= q.plan.MaxVariants {
		q.say(time.Time{}, "limit", "%s", q.fullPath())
	}
	return err
}

// askTraps says whether URLs like a new one are refused.
func (q *explainer) askTraps() error {
	shape := shapes.Name(q.url)
	for name, err := range q.view.Job.Traps(shape) {
		if err != nil {
			return err
		}
		if name == shape {
			q.say(time.Time{}, "trap", "%s", engine.TrapWords(frontier.Brief(shape), q.plan.MaxAlike))
		}
		break // in their order, itself is the first with this prefix
	}
	return nil
}

// fullPath says that the path of the URL reached MaxVariants.
func (q *explainer) fullPath() string {
	return fmt.Sprintf("its path reached its limit of %d URLs that differ only after the first ; or ?", q.plan.MaxVariants)
}

// expressions says which of the user's expressions match.
func (q *explainer) expressions(seed bool) error {
	for _, list := range []struct {
		what, none string
		all        []string
		asked      bool
	}{
		{"exclude", "", q.plan.Exclude, !seed},
		{"exclude", "", q.plan.Late, true},
		{"include", "none matches, links to it are not followed", q.plan.Include, !seed && q.why.Role == ""},
	} {
		if !list.asked || len(list.all) == 0 {
			continue
		}
		i, err := matching(list.all, q.url.Canonical().String())
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

// askHost reads the state of the URL's host.
func (q *explainer) askHost(ctx context.Context) error {
	h, found, err := q.view.Job.Store.Origin(q.url.Origin())
	if err != nil || !found {
		return err
	}
	now, err := q.view.Origins(ctx, []string{h.Name})
	if err != nil {
		return err
	}
	q.known, q.rules, q.state = true, h.Rules, savedInfo(h)
	if len(now) > 0 {
		q.state = now[0]
	}
	dateInfo(q.clock, &q.state)
	q.host = hostStatus(q.now, q.plan, q.state, h.Rules)
	if q.state.Asking {
		return q.askRobotsRedirect(ctx)
	}
	return nil
}

// askRobotsRedirect reads where redirects of the host's robots.txt lead, and why it waits there.
func (q *explainer) askRobotsRedirect(ctx context.Context) error {
	type redirect struct {
		at    weburl.URL
		host  frontier.OriginInfo
		waits bool
	}
	e, _, err := ask(ctx, q.view, func(d *engine.Coordinator) (e redirect) {
		e.at, e.host, e.waits = d.Frontier().RobotsRedirect(d.Clock().Job, q.url.Origin())
		return e
	})
	if err != nil || !e.waits {
		return err
	}
	dateInfo(q.clock, &e.host)
	q.host.Waits = "its robots.txt redirects to " + frontier.Brief(e.at.String()) + ", which is requested at its turn"
	_, what, until := waitsFor(q.now, e.host)
	if what == "" && e.host.Full {
		what = "all of its concurrent requests are in flight"
	}
	if what != "" {
		q.host.Waits += "; the host there waits: " + what
		q.host.WaitsUntil = until
	}
	return nil
}

// robots explains what the host's robots.txt says.
func (q *explainer) robots() {
	var read time.Time
	if until := q.state.Robots.Until; q.host.Robots == "known" && q.state.Robots.Tries == 0 && !until.IsZero() {
		read = until.Add(-robots.CacheFor)
	}
	v := q.rules.Test(q.url.RequestTarget())
	delay, _ := q.rules.CrawlDelay()
	switch {
	case q.plan.NoRobots:
		q.say(time.Time{}, "robots", "not requested")
	case q.known && q.host.Robots == "unknown" && q.state.Robots.Reason != "":
		q.say(time.Time{}, "robots", "robots.txt of %s could not be read yet: %s", q.url.Origin(), q.state.Robots.Reason)
	case !q.known || q.host.Robots == "unknown":
		q.say(time.Time{}, "robots", "robots.txt of %s is not known yet", q.url.Origin())
	case q.host.Robots == "asked" && !q.state.Robots.Have:
		q.say(time.Time{}, "robots", "robots.txt of %s is being fetched", q.url.Origin())
	case q.host.Robots == "unreachable":
		q.say(time.Time{}, "robots", "robots.txt of %s is unreachable, so nothing is allowed: %s: %s", q.url.Origin(), q.state.Robots.Kind, q.state.Robots.Reason)
	case !v.Allowed:
		q.say(read, "robots", "disallowed by line %d: %s", v.Line, v.Rule)
	case delay > frontier.MaxCrawlDelay:
		q.say(read, "robots", "a Crawl-delay of %v; at most %v is obeyed", delay, frontier.MaxCrawlDelay)
	case v.Line > 0:
		q.say(read, "robots", "allowed by line %d: %s", v.Line, v.Rule)
	default:
		q.say(read, "robots", "allowed, as no rule matches")
	}
}

// tries explains how each try ended, after what earlier visits found.
func (q *explainer) tries() {
	q.visits()
	for i, try := range q.entry.URL.Past {
		text := ""
		if q.why.Role == record.RoleExternal && i == 0 {
			text = " HEAD"
		}
		if try.Status != 0 {
			text += fmt.Sprintf(" status %d", try.Status)
		}
		if try.Kind != "" {
			text += " " + try.Kind
		}
		if try.Reason != "" {
			between := ": "
			if try.Kind == "" && record.IsRedirect(try.Status) {
				between = ", leads to "
			} else if try.Kind == "" {
				between = ", "
			}
			text += between + try.Reason
		}
		q.say(try.At, "try", "%d:%s", i+1, text)
	}
	q.unrendered()
}

// unrendered says why a page was not rendered that the crawl could have had rendered.
func (q *explainer) unrendered() {
	past, known := q.entry.URL.Past, q.entry.URL.Known
	if q.plan.Rendering != "auto" || q.why.Role != "" || len(past) == 0 || known == nil || !record.IsHTML(known.Type) {
		return
	}
	if last := past[len(past)-1]; last.Status >= 200 && last.Status < 300 && !strings.Contains(last.Reason, "rendered (") {
		why := "it shows its text or links without scripts"
		if last.Status == http.StatusNoContent || last.Status == http.StatusResetContent {
			why = "it has no document"
		}
		q.say(last.At, "rendering", "auto: not rendered, as %s", why)
	}
}

// visits explains what the visits of the job know of the URL, if there are several.
func (q *explainer) visits() {
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

// rests says when a URL is asked again that is gone for long.
func (q *explainer) rests() {
	if v := q.why.Known; v != nil && v.GoneSince > 0 && q.entry.State == store.Done && q.why.From != "" {
		if next := job.NextAsked(v.GoneSince, v.Visit); next > max(1, q.history.Summary.Visit)+1 {
			q.say(time.Time{}, "next", "gone since visit %d: asked again at visit %d, or when a new page links to it", v.GoneSince, next)
		}
	}
}

// next says where the URL stands, and what comes next.
func (q *explainer) next(ctx context.Context) error {
	switch q.why.State {
	case inspect.URLUnseen:
	case inspect.URLDone:
		q.say(q.why.At, "done", "its record is in %s", job.PagesFile)
		q.rests()
	case inspect.URLFailed:
		q.say(q.why.At, "failed", "its record is in %s", job.PagesFile)
	case inspect.URLRefused:
		q.say(q.why.At, "refused", "%s: %s", q.why.ErrorKind, q.why.Error)
	case inspect.URLDropped:
		if q.entry.Drop == frontier.DropVariants {
			q.say(time.Time{}, "dropped", "%s", q.fullPath())
		} else {
			q.say(time.Time{}, "dropped", "its host reached its limit of %d URLs", q.plan.LimitPerHost)
		}
	case inspect.URLLeased:
		q.say(time.Time{}, "next", "try %d is in flight", q.why.Tries+1)
	default:
		s, err := q.view.Status(ctx)
		if err != nil {
			return err
		}
		q.say(q.due(), "next", "try %d%s", q.why.Tries+1, q.waits(s))
	}
	return nil
}

// due returns the earliest time of the next try; zero: now.
func (q *explainer) due() time.Time {
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
func (q *explainer) waits(s inspect.Status) string {
	var reasons []string
	switch s.State {
	case inspect.JobRunning, inspect.JobStarting:
	case inspect.JobPaused:
		reasons = append(reasons, "the crawl is paused: "+strings.Join(s.Reasons, ", "))
	case inspect.JobEnding:
		reasons = append(reasons, "the crawl is ending; the next run resumes")
	default:
		text := string(s.State)
		if s.State == inspect.JobStopped {
			text += " by the limit " + strings.Join(s.Reasons, ", ")
		}
		reasons = append(reasons, fmt.Sprintf("the crawl is not running (%s)", text))
	}
	if q.why.NotBefore.After(q.now) {
		reasons = append(reasons, "it is too soon after the last try")
	}
	if q.host.Waits != "" {
		reasons = append(reasons, "its host waits: "+q.host.Waits)
	}
	if q.state.Full {
		reasons = append(reasons, "all concurrent requests to its host are in flight")
	}
	if q.host.Pending > 1 {
		reasons = append(reasons, fmt.Sprintf("%d URLs of its host are waiting", q.host.Pending))
	}
	if len(reasons) == 0 {
		return ", at its turn"
	}
	return "; " + strings.Join(reasons, "; ")
}
