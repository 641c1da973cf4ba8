package engine

import (
	"regexp"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// refusals are the pending URLs that are not requested when their turn comes: by robots.txt, by an
// exclusion that is younger than they, or as part of a trap. Each has a record.
// Owner: the coordinator's loop.
type refusals struct {
	clock     *clock
	frontier  *frontier.Frontier
	traps     *traps
	promises  *promises
	again     *again
	committer *committer
	progress  *progress
	fetch     *fetch.Config

	exclusions []*regexp.Regexp // younger than pending URLs
	maxAlike   int
}

// renew has the frontier judge pending URLs anew.
func (r *refusals) renew() { r.frontier.RefuseBy(r.judge) }

// recall has the frontier judge pending URLs, if an earlier run has left anything to judge them by.
func (r *refusals) recall() {
	if len(r.exclusions) > 0 || r.traps.any() {
		r.renew()
	}
}

// exclude refuses all URLs that an expression matches.
func (r *refusals) exclude(re *regexp.Regexp) {
	r.exclusions = append(r.exclusions, re)
	r.renew()
}

// judge judges a pending URL whose turn has come, by what the crawl has learnt since it was found.
func (r *refusals) judge(u *frontier.URL) (kind, reason string) {
	if kind, reason := r.excluded(u.URL); kind != "" {
		return kind, reason
	}
	if r.traps.takes(u) {
		return record.KindNothingNew, frontier.Brief(TrapWords(shapes.Name(u.URL), r.maxAlike))
	}
	return "", ""
}

// excluded judges a pending URL by the exclusions that are younger than it.
func (r *refusals) excluded(u weburl.URL) (kind, reason string) {
	s := u.Canonical().String()
	for _, re := range r.exclusions {
		if re.MatchString(s) {
			return record.KindExcluded, re.String()
		}
	}
	return "", ""
}

// record records the URLs that the frontier refuses to lease, and counts the origins that it gives
// up.
func (r *refusals) record() {
	refused := r.frontier.Refused()
	for _, g := range refused.GivenUp {
		r.progress.summary.GiveUp(record.GivenUp{Origin: g.Origin, Kind: g.Kind, Reason: g.Reason, URLs: g.Pending})
	}
	if len(refused.URLs) == 0 {
		return
	}
	now := r.clock.loop.Wall()
	for _, u := range refused.URLs {
		rec := fetch.Refused(u, r.fetch.Visit, now)
		if instead, ok := fetch.Instead(u.URL, u.Kind); ok {
			rec.Error = fetch.TriedInstead(rec.Error, instead.URL)
			r.promises.add(instead)
		}
		if a := r.fetch.Archive; a != nil && a.Metadata {
			r.committer.archive.place(r.committer.open.state, a.Failure(rec), rec, now)
		}
		r.committer.record(rec)
		r.progress.count(rec)
		r.again.refused(u.URL.URL)
	}
	r.committer.changed()
}
