package engine

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// resting are URLs that the visit does not ask, as they are gone for long. A link to one on a page
// that no earlier visit had is new, and has it asked all the same: see docs/adr/0047.
// Owner: the coordinator's loop.
type resting struct {
	clock     *clock
	admission *admission
	committer *committer
	again     *again
	visit     int

	urls map[refs.Key]weburl.URL // at most as job.Resting returns
}

// recall reads them. It runs off the loop, before anything else of the crawl does.
func (r *resting) recall(ctx context.Context, j *job.Job) (err error) {
	r.visit = j.History.Summary.Visit
	r.urls, err = j.Resting(ctx)
	return err
}

// wake has those asked that a page leads to which is new.
func (r *resting) wake(out *fetch.Outcome) {
	if len(r.urls) == 0 || out.Record == nil || out.Record.Change != record.ChangeNew {
		return
	}
	for keys := out.Targets; len(keys) > 0; keys = keys[8:] {
		k := refs.Key(binary.BigEndian.Uint64(keys))
		if u, rests := r.urls[k]; rests {
			delete(r.urls, k)
			r.ask(u)
		}
	}
}

// ask makes a URL pending, unless it has been asked since.
func (r *resting) ask(u weburl.URL) {
	r.admission.find(u, func(e store.Entry) {
		if e.State != store.Done || e.URL.Known == nil || e.URL.Known.Number == r.visit {
			return
		}
		list := slices.Values([]weburl.URL{u})
		r.admission.admit(list, list, func() { // its host may have left memory
			if r.again.wakes(e.URL) {
				r.committer.job.History.Kept.TakeBack(e.State)
				r.committer.changed()
			}
		})
	})
}
