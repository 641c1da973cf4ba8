package engine

import (
	"time"
	"unsafe"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/record"
)

// batch is the work of the coordinator since the last commit began. It is saved as a whole or
// not at all, but for the stream: what Output was given cannot be taken back.
type batch struct {
	state  *store.Batch // nil: there is no job
	stream []byte       // for Output, once the batch is sealed
	refs   []byte       // entries of package refs, to be packed
	plan   bool         // the job's plan has changed
	since  time.Time    // of its first change; zero: there is none

	holds []*budget.Hold                   // memory of its big outcomes, until it is committed
	after []func(posted uint64, err error) // called when it is committed, or has failed to be
	reads []frontier.Request               // to be read from the store once it is committed
}

// empty reports whether there is no change.
func (b *batch) empty() bool { return b.since.IsZero() }

// size is that of its part for the job, in bytes.
func (b *batch) size() int {
	if b.state == nil {
		return 0
	}
	return b.state.Size() + len(b.refs)
}

// keep adds lines for links.jsonl and items.jsonl, what the page leads to, and the folder of a body
// to sync. There is a job.
func (b *batch) keep(out *fetch.Outcome) {
	if len(out.Lines) > 0 {
		b.state.Append(job.LinksFile, out.Lines)
	}
	if len(out.ItemLines) > 0 {
		b.state.Append(job.ItemsFile, out.ItemLines)
	}
	if out.Read && (len(out.Targets) > 0 || out.Again) {
		b.refs = refs.Append(b.refs, out.Record.URL, leadsBy(out.Record), out.Again, out.Targets)
	}
	for _, folder := range out.Folders {
		b.state.SyncDir(folder)
	}
}

// leadsBy returns how the page of a record leads to its targets.
func leadsBy(r *record.Record) refs.Kind {
	switch {
	case r.Redirect != "":
		return refs.Redirect
	case r.Sitemap != "":
		return refs.Sitemap
	}
	return refs.Links
}

// hold keeps the memory of an outcome until the batch is committed. Without a job its links are in
// the frontier by now, or gone.
func (b *batch) hold(holds []*budget.Hold) {
	b.holds = append(b.holds, holds...)
	if b.state == nil {
		b.release()
	}
}

// release frees the memory that its big outcomes hold.
func (b *batch) release() {
	for _, hold := range b.holds {
		hold.Release()
	}
	b.holds = nil
}

// sealed is a batch that takes no more changes.
type sealed struct {
	batch
	history job.History
}

// save writes a batch to the job, whose entries of package refs go through w.
func (b *sealed) save(j *job.Job, w *refs.Writer) error {
	j.SetHistory(b.state, b.history)
	if len(b.refs) > 0 {
		b.state.Append(job.ReferrersFile, w.Pack(b.refs))
	}
	return j.Store.Commit(b.state)
}

// costOfURL is the memory of a URL read from the store, without its text.
const costOfURL = int(unsafe.Sizeof(frontier.URL{}))

// answer reads what is wanted, up to a number of bytes, which the last page may exceed: for each
// request a page, from the first on.
func (b *sealed) answer(s *store.Store, most int) (pages []frontier.Page, err error) {
	size := 0
	for _, r := range b.reads {
		if size >= most { // the others wait for the next commit
			break
		}
		page, err := s.Read(r)
		if err != nil {
			return pages, err
		}
		pages = append(pages, page)
		for i := range page.URLs {
			u := &page.URLs[i]
			size += len(u.URL.String()) + len(u.From) + len(u.Written) + len(u.Data) + costOfURL
		}
	}
	return pages, nil
}
