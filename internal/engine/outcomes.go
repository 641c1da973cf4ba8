package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// outcomes takes what fetch loops report into the frontier and the open batch.
// Owner: the coordinator's loop.
type outcomes struct {
	clock     *clock
	frontier  *frontier.Frontier
	loops     *loops
	leases    *dispatcher
	outage    *outage
	admission *admission
	committer *committer
	reach     *reach
	promises  *promises
	again     *again
	resting   *resting
	traps     *traps
	refusals  *refusals
	progress  *progress
	pauses    *pauses
	fail      func(error)
	dispatch  func()
	warn      func(error)

	links        linkAdder
	duplicates   duplicateLog
	short        shortage
	maxRedirects int
	mostQueued   int // bytes of pending URLs in memory, beyond which the user is warned; 0: any number
}

// An outcome with more than partLinks links is admitted in parts, of at most partText bytes of
// URLs: a few milliseconds' work, after which everything else has its turn. A sitemap may have a
// hundred times as many.
const (
	partLinks = 1000
	partText  = 128 << 10
)

// receive takes in what the workers of a fetch loop did in one of its turns.
func (o *outcomes) receive(loop int, batch []*fetch.Outcome) {
	big := func(out *fetch.Outcome) bool { return len(out.Links) > partLinks }
	if i := slices.IndexFunc(batch, big); i >= 0 {
		o.receiveInParts(loop, batch[i])
		if batch = slices.Delete(batch, i, i+1); len(batch) > 0 {
			o.receive(loop, batch)
		}
		return
	}
	o.admit(loop, batch)
	o.dispatch()
}

// receiveInParts takes in a big outcome, part by part of its links. All but the last may be
// saved before the outcome is: after a crash, its URL is fetched again.
func (o *outcomes) receiveInParts(loop int, out *fetch.Outcome) {
	n, text := 0, 0
	for n < min(partLinks, len(out.Links)) && text < partText {
		text += len(out.Links[n].URL.String())
		n++
	}
	if n == len(out.Links) {
		o.admit(loop, []*fetch.Outcome{out})
		o.dispatch()
		return
	}
	part := out.Links[:n]
	out.Links = out.Links[n:]
	o.admission.admit(urlsOf(part), nil, func() {
		out.Added(o.links.add(part, false))
		o.committer.changed()
		o.clock.loop.CallSoon(func() { o.receiveInParts(loop, out) })
	})
}

// receiveLinks takes in links of an outcome that is to come, when the open batch has room for them.
// They may be saved before the outcome is, too.
func (o *outcomes) receiveLinks(links []frontier.URL, admitted func(added, tooMany int)) {
	if c := o.committer; c.full() {
		c.waiting = append(c.waiting, func() { o.receiveLinks(links, admitted) })
		return
	}
	o.admission.admit(urlsOf(links), nil, func() {
		admitted(o.links.add(links, false))
		o.committer.changed()
	})
	o.dispatch()
}

// admit admits outcomes as a whole.
func (o *outcomes) admit(loop int, batch []*fetch.Outcome) {
	found := func(yield func(weburl.URL) bool) {
		for _, out := range batch {
			if !leads(out, yield) {
				return
			}
		}
	}
	elsewhere := func(yield func(weburl.URL) bool) { // robots.txt that redirect, and URLs to ask again
		for _, out := range batch {
			if r := out.Robots; r != nil && r.At != nil && !yield(*r.At) {
				return
			}
			if out.Target != nil && o.again.on && !yield(out.Target.URL) {
				return
			}
		}
	}
	o.admission.admit(found, elsewhere, func() { o.take(loop, batch) })
}

// leads yields the URLs that an outcome may add to the frontier.
func leads(out *fetch.Outcome, yield func(weburl.URL) bool) bool {
	lists := [][]frontier.URL{out.Links, nil}
	if out.Robots != nil {
		lists[1] = out.Robots.Sitemaps
	}
	for _, list := range lists {
		for i := range list {
			if !yield(list[i].URL) {
				return false
			}
		}
	}
	for _, u := range []*frontier.URL{out.Target, out.Instead} {
		if u != nil && !yield(u.URL) {
			return false
		}
	}
	return true
}

// take takes outcomes into the frontier and the open batch: first what all of them found,
// then how each lease ended.
func (o *outcomes) take(loop int, batch []*fetch.Outcome) {
	for _, out := range batch {
		if !out.URL.Responded { // its worker and its slot are free
			o.loops.ended(loop, 1)
			o.leases.slots.end(out.Ticket)
		}
	}
	if err := o.outage.sense(batch); err != nil {
		o.fail(err)
	}
	o.pauses.offline(o.outage.down)
	now := o.clock.now()
	for _, out := range batch {
		if !out.URL.Resolve && out.URL.Errand == nil && o.postpones(now, out) {
			continue
		}
		o.committer.place(out, o.clock.loop.Wall())
		if out.URL.Resolve || out.URL.Errand != nil {
			continue
		}
		o.takeLinks(out)
		if out.Record != nil {
			o.committer.record(out.Record)
			o.keep(out)
			o.loops.http1.learn(out.Record, out.URL.Where())
		}
	}
	for _, out := range batch {
		o.endLease(now, out)
	}
	for _, out := range batch {
		o.committer.open.hold(out.Holds)
	}
	o.checkMemory()
	o.committer.changed()
}

// postpones reports whether an outcome leaves its URL pending without a try, and marks it so.
func (o *outcomes) postpones(now time.Time, out *fetch.Outcome) bool {
	switch {
	case out.SignedOut != "":
		out.Postpone = true
		o.signedOut(out)
	case o.outage.excuses(out):
		out.Postpone = true
	case o.frontier.View().Outlasts(now, out.URL, out.Result):
		out.Await = true
	default:
		out.Postpone = out.Crowded || out.Broken || o.short.postpones(now, out.URL.URL, out.Postpone)
	}
	return out.Postpone || out.Await
}

// takeLinks adds what an outcome leads to.
func (o *outcomes) takeLinks(out *fetch.Outcome) {
	stale, trap := o.traps.judge(out)
	if trap {
		o.refusals.renew()
	}
	out.Added(o.links.add(out.Links, stale))
	if out.Target != nil {
		o.redirect(out)
	}
	if out.Instead != nil {
		o.promises.keep(*out.Instead)
	}
	o.resting.wake(out)
}

// endLease reports the result of a lease to the frontier.
func (o *outcomes) endLease(now time.Time, out *fetch.Outcome) {
	if out.URL.Errand != nil {
		o.endErrand(now, out)
		return
	}
	if !out.Postpone && !out.Await && out.Robots == nil && !out.URL.Resolve {
		out.URL.Past = append(out.URL.Past, try(out, o.clock.loop.Wall()))
	}
	switch {
	case out.URL.Resolve:
		o.frontier.Addresses().Resolved(now, out.URL, out.Result.Addr)
	case out.Postpone:
		o.frontier.Postpone(now, out.URL, frontier.Result{}, now.Add(time.Second))
	case out.Await:
		o.frontier.Postpone(now, out.URL, out.Result, now)
	case out.Robots != nil:
		o.endRobots(now, out)
	case out.Retry:
		o.frontier.Retry(now, out.URL, out.Result, now.Add(retryWait(out)))
	default:
		o.frontier.Done(now, out.URL, out.Result)
		o.progress.count(out.Record)
		if out.Exchange != nil { // whose bytes were counted
			o.progress.received(-out.Record.Bytes)
		}
		s := &o.progress.summary
		if out.Moved && out.URL.Depth == 0 && out.Record.ErrorKind == "" {
			// Its target may be known by a link, and then is no seed.
			s.SeedsFetched++
		}
		s.BytesSaved += out.Saved
		o.progress.countDropped(out.Dropped)
	}
	o.again.leaseEnded(out)
}

// endErrand ends the lease of an errand: it waits for its next try, or its page learns that it has
// failed. What is no fault of the server is no try.
func (o *outcomes) endErrand(now time.Time, out *fetch.Outcome) {
	o.progress.received(out.Bytes)
	u, a, again := out.URL, out.Result, time.Time{}
	switch {
	case out.Postpone, o.outage.excuses(out):
		a, again = frontier.Result{}, now.Add(time.Second)
	case out.Await:
		again = now
	case out.Retry:
		again = now.Add(retryWait(out))
		u.Tries++
	case out.Failed != nil:
		errandOf(u).Refuse(out.Failed)
	}
	o.frontier.Errands().End(now, u, a, again)
}

// try returns how a try ended.
func try(out *fetch.Outcome, now time.Time) frontier.Try {
	try := out.Try
	if r := out.Record; r != nil {
		try = frontier.Try{Status: r.Status, Kind: r.ErrorKind, Reason: cmp.Or(r.Error, r.Redirect, unfollowed(out))}
	}
	try.At, try.Reason = now, frontier.Brief(try.Reason)
	return try
}

// unfollowed says how a fetched page was rendered, which one it duplicates, and why its links are
// not followed although they would be elsewhere.
func unfollowed(out *fetch.Outcome) string {
	var words []string
	if r := out.Record.Rendered; r != nil {
		words = append(words, r.Words())
	}
	if d := out.Record.DuplicateWords(); d != "" {
		words = append(words, d)
	}
	for _, d := range out.Dropped {
		switch d.Reason {
		case scope.ReasonNoFollow:
			words = append(words, "its links are not followed, as it says nofollow")
		case scope.ReasonTooMany:
			words = append(words, "its last links are not followed, as they are too many")
		case scope.ReasonBroken:
			words = append(words, "it is broken, so that not all URLs in it could be read")
		case scope.ReasonUnclosed:
			words = append(words, "it ends within a tag, a comment, a script or the like, which may hide links")
		}
	}
	return strings.Join(words, "; ")
}

// retryWait is the wait before the next try of a URL, whose last one an outcome tells of.
func retryWait(out *fetch.Outcome) time.Duration {
	if out.AtOnce {
		return 0
	}
	return max(backOff(out.URL.Tries), min(out.Result.RetryAfter, frontier.MaxRetryAfter))
}

// backOff is the wait after a number of tries, if the server asks for none.
func backOff(tries int) time.Duration { return time.Second << min(tries, 6) }

// endRobots reports the result of a host's robots.txt to the frontier.
func (o *outcomes) endRobots(now time.Time, out *fetch.Outcome) {
	r := out.Robots
	o.progress.received(r.Bytes)
	if r.At != nil {
		o.frontier.Robots().Redirected(now, out.URL, out.Result, *r.At)
		return
	}
	o.progress.summary.Robots++
	o.progress.work.Robots++
	if r.Kind == "" {
		o.frontier.Robots().Set(now, out.URL, r.Rules, out.Result)
		for _, u := range r.Sitemaps {
			o.frontier.Add(u)
		}
		o.progress.countDropped(out.Dropped)
		return
	}
	final := r.Final || fetch.IsUnanswered(r.Kind) && o.leases.isGuess(&out.URL)
	o.frontier.Robots().Failed(now, out.URL, out.Result, r.Kind, r.Reason, final)
}

// redirect adds the target of a redirect. The target of a seed counts as a seed.
func (o *outcomes) redirect(out *fetch.Outcome) {
	if out.URL.Depth == 0 && o.reach.openTarget(out.Target.URL) {
		o.progress.summary.Open(out.Target.URL.Host())
	}
	known := o.again.on && o.frontier.View().SeenAs(*out.Target)
	if !o.frontier.Redirect(out.URL, *out.Target) {
		r := out.Record
		r.ErrorKind, r.Error = record.KindRedirects, fmt.Sprintf("a redirect beyond the limit of %d", o.maxRedirects)
	} else if o.again.on {
		o.again.leadsBack(out, known)
	}
}

// keep puts what belongs to a record into the open batch.
func (o *outcomes) keep(out *fetch.Outcome) {
	o.progress.countItems(out.Items)
	if b := o.committer.open.state; b != nil {
		o.duplicates.add(b, out.Duplicate)
		saveLesson(b, out.Lesson)
		o.committer.open.keep(out)
	}
}

// checkMemory warns, once, that pending URLs exceed their share: without a job they cannot spill to
// disk.
func (o *outcomes) checkMemory() {
	if most := o.mostQueued; most > 0 && o.frontier.View().Bytes().Queued > most {
		o.mostQueued = 0
		o.warn(fmt.Errorf("queued URLs take more than %s, their share of the memory budget; with a job they would spill to disk", humanize.IBytes(uint64(most))))
	}
}
