package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/record"
)

const (
	// commitAfter is how long the first change of a batch waits for others. A crawl that is killed
	// loses the work of that time and of one commit.
	commitAfter = 50 * time.Millisecond

	commitSize = 1 << 20 // bytes: a batch of that size waits for no others

	// While a commit runs, and work of holdAfter or of a batch's share of memory waits for the
	// next, no fetch starts: a slow disk makes a slow crawl, not a big memory.
	holdAfter = 100 * time.Millisecond
)

// batch is what the coordinator has done since the last commit began. It is saved as a whole or
// not at all, but for the stream: what Output was given cannot be taken back.
type batch struct {
	state  *store.Batch // nil: there is no job
	stream []byte       // for Output, once the batch is sealed
	refs   []byte       // entries of package refs, to be packed
	since  time.Time    // of its first change; zero: there is none

	holds []*budget.Hold                   // memory of the big outcomes whose URLs it has, until it is committed
	after []func(posted uint64, err error) // called when it is committed, or has failed to be
}

// committer is how the coordinator saves its work: batch after batch, in order, off the loop. All
// outputs of a crawl go through it.
// Owner: the coordinator's loop; write runs off it, on a batch that is sealed.
type committer struct {
	job     *job.Job // nil: nothing is kept
	archive archive
	refs    *refs.Writer   // used by write
	stream  *record.Stream // nil: there is no Output
	output  *store.PatientWriter
	log     *changelog.Log       // what goes to other nodes with the open batch; nil: the crawl is whole
	most    int                  // bytes: a larger open batch holds the crawl up
	gathers func() time.Duration // how long the open batch waits for more

	open      batch
	planned   bool               // the plan has changed since the last batch
	sealed    int                // batches so far: the number of the open one
	committed int                // of these
	requests  []frontier.Request // to be read from the store after the next commit
	dirty     aio.Event          // open has a change
	hurry     aio.Event          // that waits for no others
	line      []byte             // scratch of record
	began     time.Time          // of the commit that runs; zero: none does
	saved     job.History        // of the last batch that was committed
	waiting   []func()           // called when the commit that runs has ended: see receiveLinks
	failure   error              // of the first commit or look-up that failed: nothing is committed after it
}

// begin opens the first batch of a job, or the next. Its refusals get their date by a function.
func (c *committer) begin(f *frontier.Frontier, date func(time.Time) time.Time) {
	c.open.state = c.job.Store.Begin()
	c.open.state.DateBy(date)
	if c.log == nil {
		f.SetJournal(c.open.state)
		return
	}
	c.log.Begin(c.open.state)
	f.SetJournal(c.log)
}

// openRefs goes on where the last run has stopped.
func openRefs(j *job.Job) (*refs.Writer, error) {
	size, err := j.Store.Committed(job.ReferrersFile)
	return refs.NewWriter(size, refs.MaxSize), err
}

// record adds a record to the open batch.
func (c *committer) record(r *record.Record) {
	if c.job == nil && c.stream == nil {
		return
	}
	c.line = r.AppendLine(c.line[:0])
	if c.job != nil {
		c.open.state.Append(job.PagesFile, c.line)
	}
	if c.stream != nil {
		c.stream.Add(r, c.line)
	}
}

// keep adds lines for links.jsonl and items.jsonl, what the page leads to, and the folder of a body to sync.
func (c *committer) keep(out *fetch.Outcome) {
	if len(out.Lines) > 0 {
		c.open.state.Append(job.LinksFile, out.Lines)
	}
	if len(out.ItemLines) > 0 {
		c.open.state.Append(job.ItemsFile, out.ItemLines)
	}
	if out.Read && (len(out.Targets) > 0 || out.Again) {
		c.open.refs = refs.Append(c.open.refs, out.Record.URL, leadsBy(out.Record), out.Again, out.Targets)
	}
	if out.Folder != "" {
		c.open.state.SyncDir(out.Folder)
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

// place adds what an outcome has for the archive, and the place to its record, if it has one.
func (c *committer) place(out *fetch.Outcome, now time.Time) {
	if out.Capture != nil && !out.Retry {
		c.archive.place(c.open.state, out.Capture, out.Record, now)
	}
}

// hold keeps the memory of an outcome until its batch is committed. Without a job its links are in
// the frontier by now, or gone.
func (c *committer) hold(holds []*budget.Hold) {
	if c.job == nil {
		release(holds)
		return
	}
	c.open.holds = append(c.open.holds, holds...)
}

// changed says that the open batch has a change.
func (c *committer) changed(now time.Time) {
	if c.open.since.IsZero() {
		c.open.since = now
		c.dirty.Set()
	}
	if c.size() >= commitSize {
		c.hurry.Set()
	}
}

// size is that of the open batch, in bytes.
func (c *committer) size() int {
	n := 0
	if c.stream != nil {
		n += c.stream.Len()
	}
	if c.job != nil {
		n += c.open.state.Size() + len(c.open.refs)
	}
	if c.log != nil {
		n += c.log.Size()
	}
	return n
}

// full reports whether no more links of sitemaps have room in the open batch until the commit that
// runs has ended.
func (c *committer) full() bool { return !c.began.IsZero() && c.size() >= c.most }

// behind reports whether so much waits to be saved that no fetch is to start. Big outcomes, of
// which as much waits as they hold, do not count: they have a bound of their own.
func (c *committer) behind(now time.Time, big int64) bool {
	return !c.began.IsZero() && !c.open.since.IsZero() &&
		(c.size() >= c.most+int(big) || now.Sub(c.open.since) >= holdAfter)
}

// gather waits for a batch that is worth a commit. An empty one means that the crawl is over.
func (c *committer) gather(t *aio.Task) error {
	if err := c.dirty.Wait(t); err != nil {
		return err
	}
	if c.open.since.IsZero() || c.job == nil { // the reader of a stream need not wait
		return nil
	}
	err := t.Deadline(c.open.since.Add(c.gathers()), c.hurry.Wait)
	var late *aio.TimeoutError
	if errors.As(err, &late) {
		return nil
	}
	return err
}

// changed says that the open batch has a change.
func (d *Coordinator) changed() { d.committer.changed(d.loop.Now()) }

// commitAll is the task that commits batch after batch until the crawl is over. If it is broken
// off, it saves what was done all the same.
func (d *Coordinator) commitAll(t *aio.Task) error {
	c := &d.committer
	for {
		if err := c.gather(t); err != nil {
			c.abandon()
			d.ending.broken = true
			return errors.Join(err, t.Shield(d.commit))
		}
		if c.open.since.IsZero() {
			return nil
		}
		if err := d.commit(t); err != nil {
			return err
		}
	}
}

// abandon ends all waiting for space on the disk.
func (c *committer) abandon() {
	if c.job != nil {
		c.job.Store.Abandon()
	}
	if c.output != nil {
		c.output.Abandon()
	}
}

// commit saves the open batch, then answers the frontier's requests. If the batch cannot be saved,
// the crawl ends in good order; that is no error here.
func (d *Coordinator) commit(t *aio.Task) error {
	c := &d.committer
	sealed := d.seal()
	c.began = d.loop.Now()
	failure := c.failure
	done, err := aio.Offload(t, func(ctx context.Context) (committed, error) {
		if failure != nil {
			return committed{err: failure}, nil
		}
		return c.write(ctx, sealed), nil
	})
	c.began = time.Time{}
	release(sealed.holds)
	for _, fn := range c.waiting {
		d.loop.CallSoon(fn)
	}
	c.waiting = nil
	if err != nil {
		return err
	}
	if done.saved {
		c.saved = sealed.history
		c.committed++
		d.frontier.Saved()
	}
	d.tellCommitted(sealed.since, sealed.after, done.err)
	if done.err != nil {
		c.failure = done.err
		d.fail(done.err)
		return nil
	}
	d.refill(sealed, done)
	d.Dispatch()
	return nil
}

// refill hands the frontier what was read for it.
func (d *Coordinator) refill(sealed sealed, done committed) {
	c := &d.committer
	for _, page := range done.pages {
		d.frontier.Provide(d.clock.now(), page)
	}
	if rest := sealed.requests[len(done.pages):]; len(rest) > 0 && !d.ending.over.IsSet() {
		c.requests = slices.Concat(rest, c.requests)
		d.changed()
		c.hurry.Set()
	}
}

// sealed is a batch that takes no more changes, and the reads that follow its commit.
type sealed struct {
	batch
	history  job.History
	requests []frontier.Request
}

// seal takes the open batch and opens the next.
func (d *Coordinator) seal() sealed {
	c := &d.committer
	d.frontier.NoteOrigins()
	if c.log != nil {
		c.log.Seal()
	}
	if c.planned {
		c.planned = false
		c.job.SetPlan(c.open.state)
	}
	s := sealed{c.open, d.history(), c.requests}
	c.sealed++
	c.open, c.requests = batch{}, nil
	if c.stream != nil {
		s.stream = c.stream.Take()
	}
	if s.state != nil {
		c.begin(d.frontier, d.clock.date)
	}
	if !d.ending.over.IsSet() {
		c.dirty.Clear()
		c.hurry.Clear()
	}
	return s
}

// committed is what became of a batch.
type committed struct {
	saved bool
	pages []frontier.Page // for each request, from the first on
	size  int             // of these, in bytes
	err   error
}

// costOfURL is the memory of a URL read from the store, without its text.
const costOfURL = int(unsafe.Sizeof(frontier.URL{}))

// write saves a batch and reads what is wanted. It runs off the loops.
//
// The stream comes first: after a crash its reader has a record twice rather than never, and what
// it could not take is not done.
func (c *committer) write(ctx context.Context, b sealed) (done committed) {
	if len(b.stream) > 0 {
		defer c.output.AbandonWith(ctx)()
		if _, err := c.output.Write(b.stream); err != nil {
			return committed{err: fmt.Errorf("output: %w", err)}
		}
	}
	if b.state == nil {
		return committed{saved: true}
	}
	defer c.job.Store.AbandonWith(ctx)()
	c.job.SetHistory(b.state, b.history)
	if len(b.refs) > 0 {
		b.state.Append(job.ReferrersFile, c.refs.Pack(b.refs))
	}
	if err := c.job.Store.Commit(b.state); err != nil {
		return committed{err: err}
	}
	done.saved = true
	for _, r := range b.requests {
		if done.size >= c.most { // the others wait for the next commit
			break
		}
		page, err := c.job.Store.Read(r)
		if err != nil {
			done.err = err
			return done
		}
		done.pages = append(done.pages, page)
		for i := range page.URLs {
			done.size += len(page.URLs[i].URL.String()) + len(page.URLs[i].From) + len(page.URLs[i].Written) + len(page.URLs[i].Data) + costOfURL
		}
	}
	return done
}
