package engine

import (
	"context"
	"errors"
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
	// commitAfter is the time for which the first change of a batch waits for others. A crawl that is
	// killed loses the work of that time and of one commit.
	commitAfter = 50 * time.Millisecond

	commitSize = 1 << 20 // bytes: a batch of that size waits for no others

	// While a commit runs, and work of holdAfter or of a batch's share of memory waits for the
	// next, no fetch starts: a slow disk makes a slow crawl, not a big memory.
	holdAfter = 100 * time.Millisecond
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

// committer saves the coordinator's work: batch after batch, in order, off the loop. All
// outputs of a crawl go through it.
// Owner: the coordinator's loop; write runs off it, on a batch that is sealed.
type committer struct {
	clock    *clock
	frontier *frontier.Frontier
	ending   *ending
	history  func() job.History
	// committed is called after each commit.
	committed func(since time.Time, after []func(posted uint64, err error), err error)
	dispatch  func()

	job     *job.Job // nil: nothing is kept
	archive archive
	refs    *refs.Writer         // used by write
	output  *output              // nil: there is none
	log     *changelog.Log       // changes for other nodes, in the open batch; nil: there are none
	most    int                  // bytes: a larger open batch holds the crawl up
	gathers func() time.Duration // wait of the open batch for more

	open    batch
	sealed  int          // batches so far: the number of the open one
	saved   int          // of these
	dirty   aio.Event    // open has a change
	hurry   aio.Event    // that waits for no others
	line    []byte       // scratch of record
	began   time.Time    // of the commit that runs; zero: none does
	took    record.Times // commits of this process
	lastly  time.Time    // end of the last of them; zero: there was none
	last    job.History  // of the last batch that was committed
	waiting []func()     // called when the commit that runs has ended: see receiveLinks
	failure error        // of the first commit or look-up that failed: nothing is committed after it
}

// note adds something to the open batch, if there is a job.
func (c *committer) note(add func(*store.Batch)) {
	if c.job != nil {
		add(c.open.state)
	}
}

// begin opens the first batch of a job, or the next.
func (c *committer) begin() {
	c.open.state = c.job.Store.Begin()
	c.open.state.DateBy(c.clock.date)
	if c.log == nil {
		c.frontier.SetJournal(c.open.state)
		return
	}
	c.log.Begin(c.open.state)
	c.frontier.SetJournal(c.log)
}

// resume goes on where the job's last run has stopped.
func (c *committer) resume(cfg *Config) error {
	c.begin()
	size, err := c.job.Store.Committed(job.ReferrersFile)
	if err != nil {
		return err
	}
	c.refs = refs.NewWriter(size, refs.MaxSize)
	if cfg.Fetch.Archive != nil {
		c.archive, err = openArchive(cfg, c.job)
	}
	return err
}

// record adds a record to the open batch.
func (c *committer) record(r *record.Record) {
	if c.job == nil && c.output == nil {
		return
	}
	c.line = r.AppendLine(c.line[:0])
	if c.job != nil {
		c.open.state.Append(job.PagesFile, c.line)
	}
	if c.output != nil {
		c.output.stream.Add(r, c.line)
	}
}

// keep adds lines for links.jsonl and items.jsonl, what the page leads to, and the folder of a body
// to sync.
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
	for _, folder := range out.Folders {
		c.open.state.SyncDir(folder)
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
		past := out.Capture.Past
		file, offset := c.archive.place(c.open.state, out.Capture, out.Record, now)
		if out.URL.Errand != nil && out.Exchange != nil {
			out.Exchange.Placed(file, offset, past)
		}
	}
	if out.Rendered != nil {
		r := out.Record.Rendered
		r.WARCFile, r.WARCOffset = c.archive.place(c.open.state, out.Rendered, nil, now)
	}
	for _, picture := range out.Pictures {
		c.archive.place(c.open.state, picture, nil, now)
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

// release frees the memory that big outcomes hold.
func release(holds []*budget.Hold) {
	for _, hold := range holds {
		hold.Release()
	}
}

// changed says that the open batch has a change.
func (c *committer) changed() {
	if c.open.since.IsZero() {
		c.open.since = c.clock.loop.Now()
		c.dirty.Set()
	}
	if c.size() >= commitSize {
		c.hurry.Set()
	}
}

// size is that of the open batch, in bytes.
func (c *committer) size() int {
	n := 0
	if c.output != nil {
		n += c.output.stream.Len()
	}
	if c.job != nil {
		n += c.open.state.Size() + len(c.open.refs)
	}
	if c.log != nil {
		n += c.log.Size()
	}
	return n
}

// idle reports whether there is nothing to commit, and nothing is being committed.
func (c *committer) idle() bool { return c.open.since.IsZero() && c.began.IsZero() }

// commitSoon has the open batch wait for no others.
func (c *committer) commitSoon() {
	c.changed()
	c.hurry.Set()
}

// read has what the frontier wants back in memory read after the next commit.
func (c *committer) read(requests []frontier.Request) {
	if len(requests) > 0 {
		c.open.reads = append(c.open.reads, requests...)
		c.commitSoon()
	}
}

// savePlan has the next batch save the plan, which has changed: once, however many orders it
// brings.
func (c *committer) savePlan() {
	c.open.plan = true
	c.changed()
}

// then has fn called when the open batch is committed, or has failed to be, with the last message
// of the outbox by then.
func (c *committer) then(fn func(posted uint64, err error)) {
	c.open.after = append(c.open.after, fn)
	c.changed()
}

// finish makes the open batch the last one: the history says that the crawl has ended, and how.
func (c *committer) finish() {
	if c.archive.name != "" {
		c.archive.end(c.open.state)
	}
	c.changed()
	c.dirty.Set()
	c.hurry.Set()
}

// full reports whether no more links of sitemaps have room in the open batch until the commit that
// runs has ended.
func (c *committer) full() bool { return !c.began.IsZero() && c.size() >= c.most }

// behind reports whether so much waits to be saved that no fetch is to start. Big outcomes, of
// which as much waits as they hold, do not count: they have a bound of their own.
func (c *committer) behind(big int64) bool {
	now := c.clock.loop.Now()
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

// commitAll is the task that commits batch after batch until the crawl is over. If it is broken
// off, it saves what was done all the same.
func (c *committer) commitAll(t *aio.Task) error {
	for {
		if err := c.gather(t); err != nil {
			c.abandon()
			c.ending.broken = true
			return errors.Join(err, t.Shield(c.commit))
		}
		if c.open.since.IsZero() {
			return nil
		}
		if err := c.commit(t); err != nil {
			return err
		}
	}
}

// fail ends the crawl in good order: nothing more can be saved.
func (c *committer) fail(err error) {
	if c.failure == nil {
		c.failure = err
	}
	c.ending.fail(err)
}

// abandon ends all waiting for space on the disk.
func (c *committer) abandon() {
	if c.job != nil {
		c.job.Store.Abandon()
	}
	if c.output != nil {
		c.output.writer.Abandon()
	}
}

// commit saves the open batch, then answers the frontier's requests. If the batch cannot be saved,
// the crawl ends in good order; that is no error here.
func (c *committer) commit(t *aio.Task) error {
	sealed := c.seal()
	c.began = c.clock.loop.Now()
	failure := c.failure
	done, err := aio.Offload(t, func(ctx context.Context) (committed, error) {
		if failure != nil {
			return committed{err: failure}, nil
		}
		return c.write(ctx, sealed), nil
	})
	began := c.began
	c.began = time.Time{}
	release(sealed.holds)
	for _, fn := range c.waiting {
		c.clock.loop.CallSoon(fn)
	}
	c.waiting = nil
	if err != nil {
		return err
	}
	if done.saved {
		c.last = sealed.history
		c.saved++
		c.lastly = c.clock.loop.Now()
		c.took.Add(c.lastly.Sub(began))
		c.frontier.Saved()
	}
	c.committed(sealed.since, sealed.after, done.err)
	if done.err != nil {
		c.failure = done.err
		c.ending.fail(done.err)
		return nil
	}
	c.refill(sealed, done)
	c.dispatch()
	return nil
}

// refill hands the frontier what was read for it.
func (c *committer) refill(sealed sealed, done committed) {
	for _, page := range done.pages {
		c.frontier.Provide(c.clock.now(), page)
	}
	if rest := sealed.reads[len(done.pages):]; len(rest) > 0 && !c.ending.over.IsSet() {
		c.open.reads = slices.Concat(rest, c.open.reads)
		c.commitSoon()
	}
}

// sealed is a batch that takes no more changes.
type sealed struct {
	batch
	history job.History
}

// seal takes the open batch and opens the next.
func (c *committer) seal() sealed {
	c.frontier.NoteOrigins()
	if c.log != nil {
		c.log.Seal()
	}
	if c.open.plan {
		c.job.SetPlan(c.open.state)
	}
	s := sealed{c.open, c.history()}
	c.sealed++
	c.open = batch{}
	if c.output != nil {
		s.stream = c.output.stream.Take()
	}
	if s.state != nil {
		c.begin()
	}
	if !c.ending.over.IsSet() {
		c.dirty.Clear()
		c.hurry.Clear()
	}
	return s
}

// committed is the fate of a batch.
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
		if err := c.output.write(ctx, b.stream); err != nil {
			return committed{err: err}
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
	for _, r := range b.reads {
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
