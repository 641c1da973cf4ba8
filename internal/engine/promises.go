package engine

import (
	"slices"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/weburl"
)

// promises add the URLs that are fetched in place of seeds whose schemes were wrong guesses.
// Owner: the coordinator's loop.
type promises struct {
	frontier  *frontier.Frontier
	reach     *reach
	admission *admission
	committer *committer
}

// add has keep add a URL once it is looked up. Until then the job has a note of it, as the URL in
// whose place it comes is done. With other nodes it comes back as a link: the note would be lost
// with the disk.
func (p *promises) add(u frontier.URL) {
	if log := p.committer.log; log != nil {
		p.reach.open(u.URL)
		log.Send(u)
		p.committer.changed()
		return
	}
	job := p.committer.job
	added, noted := false, false
	p.admission.admit(slices.Values([]weburl.URL{u.URL}), nil, func() {
		added = true
		p.keep(u)
		if noted {
			p.committer.note(func(b *store.Batch) { job.Unpromise(b, u) })
		}
	})
	if noted = !added && job != nil; noted {
		p.committer.note(func(b *store.Batch) { job.Promise(b, u) })
	}
}

// recall adds what an earlier run has promised and not added.
func (p *promises) recall(j *job.Job) {
	for _, u := range j.Promised {
		p.admission.admit(slices.Values([]weburl.URL{u.URL}), nil, func() {
			p.keep(u)
			p.committer.note(func(b *store.Batch) { j.Unpromise(b, u) })
			p.committer.changed()
		})
	}
}

// keep adds a URL.
func (p *promises) keep(u frontier.URL) {
	p.reach.open(u.URL)
	p.frontier.Add(u)
}
