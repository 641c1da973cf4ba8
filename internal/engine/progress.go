package engine

import (
	"time"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
)

// progress is the work that the crawl has done so far, in all runs of the visit.
// Owner: the coordinator's loop.
type progress struct {
	clock     *clock
	committer *committer
	hooks     *Hooks

	summary record.Summary // Elapsed is that of the runs before this one
	started time.Time      // this run
	rate    rate
	growth  growth
	ended   bool        // the summary is whole
	work    record.Work // of this process
}

// resume continues from what earlier runs have come to.
func (p *progress) resume(s record.Summary) {
	s.Stopped, s.Interrupted, s.Finished = "", false, false
	p.summary = s
}

func (p *progress) start() {
	p.started = p.clock.loop.Now()
	if p.summary.Started.IsZero() {
		p.summary.Started = p.clock.loop.Wall()
	}
}

// elapsed is the time of all runs.
func (p *progress) elapsed() time.Duration {
	if p.ended {
		return p.summary.Elapsed
	}
	return p.summary.Elapsed + p.clock.loop.Now().Sub(p.started)
}

// stoppedBy takes in that a limit ends the crawl. The first one counts.
func (p *progress) stoppedBy(limit string) {
	if p.summary.Stopped == "" {
		p.summary.Stopped = limit
	}
}

// count takes in a record, and calls the hooks.
func (p *progress) count(r *record.Record) {
	broken := len(p.summary.Broken)
	if p.summary.Count(r); len(p.summary.Broken) > broken {
		p.keepBroken()
	}
	p.work.Count(r)
	p.rate.count(p.clock.loop.Now(), 1, r.Bytes)
	p.growth.add(r.NewLinks)
	if hook := p.hooks.OnRecord; hook != nil {
		hook(r)
	}
	if hook := p.hooks.OnError; hook != nil && r.ErrorKind != "" {
		hook(r)
	}
}

// received counts bytes that are of no record.
func (p *progress) received(n int64) {
	p.summary.Bytes += n
	p.work.Bytes += n
	p.rate.count(p.clock.loop.Now(), 0, n)
}

// discount takes a record back: its URL is asked again.
func (p *progress) discount(r *record.Record) {
	broken := len(p.summary.Broken)
	if p.summary.Discount(r, false); len(p.summary.Broken) < broken {
		p.keepBroken()
	}
}

// keepBroken has the job remember the broken URLs that the summary names.
func (p *progress) keepBroken() {
	p.committer.note(func(b *store.Batch) { p.committer.job.SetBroken(b, p.summary.Broken) })
}

// countDropped takes in links that are not followed.
func (p *progress) countDropped(links []fetch.Dropped) {
	for _, n := range links {
		p.summary.NotFollowed[n.Reason] += n.N
	}
}

// countItems takes in items of a page.
func (p *progress) countItems(items []record.Item) {
	for i := range items {
		p.summary.CountItem(&items[i])
	}
}

// kept is the finished URLs that the visit does not ask.
func (p *progress) kept() job.Kept {
	if j := p.committer.job; j != nil {
		return j.History.Kept
	}
	return job.Kept{}
}

// hasResponses reports whether a server has responded in any run.
func (p *progress) hasResponses() bool { return len(p.summary.Statuses) > 0 }
