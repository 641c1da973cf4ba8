package engine

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// An outcome with more than slice links is admitted in slices, of at most sliceText bytes of URLs:
// a few milliseconds' work, after which everything else has its turn. A sitemap may have a hundred
// times as many.
const (
	slice     = 1000
	sliceText = 128 << 10
)

// receive takes in what the workers of a fetch loop did in one of its turns.
func (d *Coordinator) receive(loop int, batch []*fetch.Outcome) {
	big := func(out *fetch.Outcome) bool { return len(out.Links) > slice }
	if i := slices.IndexFunc(batch, big); i >= 0 {
		d.receiveInSlices(loop, batch[i])
		if batch = slices.Delete(batch, i, i+1); len(batch) > 0 {
			d.receive(loop, batch)
		}
		return
	}
	d.admitOutcomes(loop, batch)
	d.Dispatch()
}

// receiveInSlices takes in a big outcome, slice by slice of its links. All but the last may be
// saved before the outcome is: after a crash, its URL is fetched again.
func (d *Coordinator) receiveInSlices(loop int, out *fetch.Outcome) {
	n, text := 0, 0
	for n < min(slice, len(out.Links)) && text < sliceText {
		text += len(out.Links[n].URL.String())
		n++
	}
	if n == len(out.Links) {
		d.admitOutcomes(loop, []*fetch.Outcome{out})
		d.Dispatch()
		return
	}
	part := out.Links[:n]
	out.Links = out.Links[n:]
	d.admit(urlsOf(part), none, func() {
		out.Added(d.addLinks(part, false))
		d.changed()
		d.loop.CallSoon(func() { d.receiveInSlices(loop, out) })
	})
}

// receiveLinks takes in links of an outcome that is to come, when the open batch has room for them.
// They may be saved before the outcome is, too.
func (d *Coordinator) receiveLinks(links []frontier.URL, admitted func(added, tooMany int)) {
	if c := &d.committer; c.full() {
		c.waiting = append(c.waiting, func() { d.receiveLinks(links, admitted) })
		return
	}
	d.admit(urlsOf(links), none, func() {
		admitted(d.addLinks(links, false))
		d.changed()
	})
	d.Dispatch()
}

// urlsOf yields the URLs of links.
func urlsOf(links []frontier.URL) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		for i := range links {
			if !yield(links[i].URL) {
				return
			}
		}
	}
}

// admitOutcomes admits outcomes as a whole.
func (d *Coordinator) admitOutcomes(loop int, batch []*fetch.Outcome) {
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
			if out.Target != nil && d.again.on && !yield(out.Target.URL) {
				return
			}
		}
	}
	d.admit(found, elsewhere, func() { d.takeOutcomes(loop, batch) })
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

// takeOutcomes takes outcomes into the frontier and the open batch: first what all of them found,
// then how each lease ended.
func (d *Coordinator) takeOutcomes(loop int, batch []*fetch.Outcome) {
	d.free[loop] += len(batch)
	d.sense(d.loop.Now(), batch)
	now := d.clock.now()
	for _, out := range batch {
		d.slots.end(out.Ticket)
		if !out.URL.Resolve && d.postpones(now, out) {
			continue
		}
		d.committer.place(out, d.loop.Wall())
		if out.URL.Resolve {
			continue
		}
		d.takeLinks(out)
		if out.Record != nil {
			d.committer.record(out.Record)
			d.keep(out)
			d.http1.learn(out.Record, out.URL.Where())
		}
	}
	for _, out := range batch {
		d.endLease(now, out)
	}
	for _, out := range batch {
		d.committer.hold(out.Holds)
	}
	d.overMemory()
	d.changed()
}

// postpones reports whether an outcome leaves its URL pending without a try, and marks it so.
func (d *Coordinator) postpones(now time.Time, out *fetch.Outcome) bool {
	switch {
	case d.outage.excuses(out):
		out.Postpone = true
	case d.frontier.Outlasts(now, out.URL, out.Result):
		out.Await = true
	default:
		out.Postpone = out.Crowded || out.Broken || d.short.postpones(now, out.URL.URL, out.Postpone)
	}
	return out.Postpone || out.Await
}

// takeLinks adds what an outcome leads to.
func (d *Coordinator) takeLinks(out *fetch.Outcome) {
	out.Added(d.addLinks(out.Links, d.judge(out)))
	if out.Target != nil {
		d.redirect(out)
	}
	if out.Instead != nil {
		d.fallBack(*out.Instead)
	}
}

// addLinks adds links of an outcome, and returns how many were new, and how many there are too many
// of; stale says that its page has nothing new.
func (d *Coordinator) addLinks(links []frontier.URL, stale bool) (added, tooMany int) {
	for _, u := range links {
		if d.nestedTooOften(u) {
			tooMany++
		} else if d.frontier.Add(u) {
			added++
			if stale {
				d.traps.Found(shapes.Of(u.URL))
			}
		}
	}
	return added, tooMany
}

// endLease reports the result of a lease to the frontier.
func (d *Coordinator) endLease(now time.Time, out *fetch.Outcome) {
	if !out.Postpone && !out.Await && out.Robots == nil && !out.URL.Resolve {
		out.URL.Past = append(out.URL.Past, try(out, d.loop.Wall()))
	}
	switch {
	case out.URL.Resolve:
		d.frontier.Resolved(now, out.URL, out.Result.Addr)
	case out.Postpone:
		d.frontier.Postpone(now, out.URL, now.Add(time.Second))
	case out.Await:
		d.frontier.Await(now, out.URL, out.Result)
	case out.Robots != nil:
		d.endRobots(now, out)
	case out.Retry:
		pause := max(backOff(out.URL.Tries), min(out.Result.RetryAfter, frontier.MaxRetryAfter))
		if out.AtOnce {
			pause = 0
		}
		d.frontier.Retry(now, out.URL, out.Result, now.Add(pause))
	default:
		d.frontier.Done(now, out.URL, out.Result)
		d.countRecord(out.Record)
		s := &d.progress.summary
		if out.Moved && out.URL.Depth == 0 && out.Record.ErrorKind == "" { // its target may be known by a link, and then is no seed
			s.SeedsFetched++
		}
		s.BytesSaved += out.Saved
		d.countDropped(out.Dropped)
	}
	d.endAgain(out)
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

// unfollowed says which page a fetched one duplicates, and why its links are not followed although
// they would be elsewhere.
func unfollowed(out *fetch.Outcome) string {
	var words []string
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

// backOff is the wait before the next try, after a number of tries.
func backOff(tries int) time.Duration { return time.Second << min(tries, 6) }

// endRobots reports the result of a host's robots.txt to the frontier.
func (d *Coordinator) endRobots(now time.Time, out *fetch.Outcome) {
	r := out.Robots
	d.progress.summary.Bytes += r.Bytes
	if r.At != nil {
		d.frontier.RobotsAt(now, out.URL, out.Result, *r.At)
		return
	}
	d.progress.summary.Robots++
	if r.Kind == "" {
		d.frontier.SetRobots(now, out.URL, r.Rules, out.Result)
		d.addSitemaps(r.Sitemaps)
		d.countDropped(out.Dropped)
		return
	}
	final := r.Final || fetch.IsUnanswered(r.Kind) && d.isGuess(&out.URL)
	d.frontier.RobotsFailed(now, out.URL, out.Result, r.Kind, r.Reason, final)
}

// promise has fallBack add a URL once it is looked up. Until then the job has a note of it, as the
// URL in whose place it comes is done.
func (d *Coordinator) promise(u frontier.URL) {
	if d.node.cfg != nil {
		d.fallBackElsewhere(u)
		return
	}
	added, noted := false, false
	d.admit(one(u.URL), none, func() {
		added = true
		d.fallBack(u)
		if noted {
			d.cfg.Job.Unpromise(d.committer.open.state, u)
		}
	})
	if noted = !added && d.cfg.Job != nil; noted {
		d.cfg.Job.Promise(d.committer.open.state, u)
	}
}

// keepPromises adds what an earlier run has promised and not added.
func (d *Coordinator) keepPromises() {
	if d.cfg.Job == nil {
		return
	}
	for _, u := range d.cfg.Job.Promised {
		d.admit(one(u.URL), none, func() {
			d.fallBack(u)
			d.cfg.Job.Unpromise(d.committer.open.state, u)
			d.changed()
		})
	}
}

// fallBack adds the URL that is fetched in place of a seed whose scheme was a wrong guess.
func (d *Coordinator) fallBack(u frontier.URL) {
	d.open(u.URL)
	d.frontier.Add(u)
}

// redirect adds the target of a redirect. The target of a seed counts as a seed.
func (d *Coordinator) redirect(out *fetch.Outcome) {
	if out.URL.Depth == 0 && d.openTarget(out.Target.URL) {
		d.progress.summary.Open(out.Target.URL.Host())
		if log := d.committer.log; log != nil {
			log.Open(out.Target.URL.String())
		}
	}
	known := d.again.on && d.frontier.View().SeenAs(*out.Target)
	if !d.frontier.Redirect(out.URL, *out.Target) {
		r := out.Record
		r.ErrorKind, r.Error = record.KindRedirects, fmt.Sprintf("a redirect beyond the limit of %d", d.cfg.Frontier.MaxRedirects)
	} else if d.again.on {
		d.leadsBack(out, known)
	}
}

// keep puts what belongs to a record into the open batch.
func (d *Coordinator) keep(out *fetch.Outcome) {
	for i := range out.Items {
		d.progress.summary.CountItem(&out.Items[i])
	}
	if d.cfg.Job == nil {
		return
	}
	d.rememberDuplicate(out.Duplicate)
	d.committer.keep(out)
}

// refuse records the URLs that the frontier refuses to lease: by robots.txt, or by an exclusion
// that is younger than they, and counts the origins that it gives up.
func (d *Coordinator) refuse() {
	for _, g := range d.frontier.GivenUp() {
		d.progress.summary.GiveUp(record.GivenUp{Origin: g.Origin, Kind: g.Kind, Reason: g.Reason, URLs: g.Pending})
	}
	refused := d.frontier.Refused()
	if len(refused) == 0 {
		return
	}
	now := d.loop.Wall()
	for _, u := range refused {
		r := fetch.Refused(u, d.cfg.Fetch.Visit, now)
		if instead, ok := fetch.Instead(u.URL, u.Kind); ok {
			r.Error = fetch.TriedInstead(r.Error, instead)
			d.promise(instead)
		}
		if a := d.cfg.Fetch.Archive; a != nil && a.Metadata {
			d.committer.archive.place(d.committer.open.state, a.Failure(r), r, now)
		}
		d.committer.record(r)
		d.countRecord(r)
		if d.again.on {
			delete(d.again.pending, u.URL.Fingerprint())
		}
	}
	d.changed()
}

// countRecord takes a record into the summary, and calls the hooks.
func (d *Coordinator) countRecord(r *record.Record) {
	s := &d.progress.summary
	broken := len(s.Broken)
	if s.Count(r); len(s.Broken) > broken && d.cfg.Job != nil {
		d.cfg.Job.SetBroken(d.committer.open.state, s.Broken)
	}
	d.progress.rate.count(d.loop.Now(), r.Bytes)
	d.progress.growth.add(r.NewLinks)
	if hook := d.cfg.OnRecord; hook != nil {
		hook(r)
	}
	if hook := d.cfg.OnError; hook != nil && r.ErrorKind != "" {
		hook(r)
	}
}

func (d *Coordinator) countDropped(links []fetch.Dropped) {
	for _, n := range links {
		d.progress.summary.NotFollowed[n.Reason] += n.N
	}
}

func (d *Coordinator) addSitemaps(all []frontier.URL) {
	for _, u := range all {
		d.frontier.Add(u)
	}
}

// nestedTooOften reports whether u exceeds the number of sitemaps that a host's indexes may name.
// Sitemaps of an earlier run do not count.
func (d *Coordinator) nestedTooOften(u frontier.URL) bool {
	if !fetch.IsSitemap(u) || d.frontier.View().Seen(u.URL) {
		return false
	}
	return d.nested.count(u.URL.Host()) > fetch.MaxNested
}

// nested counts the sitemaps that the indexes of hosts have named in this run.
type nested struct {
	key maphash.Seed
	by  map[uint64]int // by hash of the host
}

// maxNesting is the number of hosts whose sitemaps are counted. With more, all start again.
const maxNesting = 1 << 16

func (n *nested) count(host string) int {
	if n.by == nil || len(n.by) == maxNesting {
		*n = nested{maphash.MakeSeed(), make(map[uint64]int)}
	}
	h := maphash.String(n.key, host)
	n.by[h]++
	return n.by[h]
}

// overMemory warns, once, that pending URLs exceed their share: without a job they cannot spill to
// disk.
func (d *Coordinator) overMemory() {
	share := d.cfg.Shares.Seen
	if d.cfg.Job == nil && !d.warned.memory && d.frontier.View().QueuedBytes() > share {
		d.warned.memory = true
		d.warn(fmt.Errorf("queued URLs take more than %s, their share of the memory budget; with a job they would spill to disk", humanize.IBytes(uint64(share))))
	}
}

// release frees the memory that big outcomes hold.
func release(holds []*budget.Hold) {
	for _, hold := range holds {
		hold.Release()
	}
}
