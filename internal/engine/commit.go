package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
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

// changed says that the open batch has a change.
func (c *committer) changed() {
	if c.open.empty() {
		c.open.since = c.clock.loop.Now()
		c.dirty.Set()
	}
	if c.size() >= commitSize {
		c.hurry.Set()
	}
}

// size is that of the open batch, in bytes.
func (c *committer) size() int {
	n := c.open.size()
	if c.output != nil {
		n += c.output.stream.Len()
	}
	if c.log != nil {
		n += c.log.Size()
	}
	return n
}

// idle reports whether there is nothing to commit, and nothing is being committed.
func (c *committer) idle() bool { return c.open.empty() && c.began.IsZero() }

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
	return !c.began.IsZero() && !c.open.empty() &&
		(c.size() >= c.most+int(big) || now.Sub(c.open.since) >= holdAfter)
}

// gather waits for a batch that is worth a commit. An empty one means that the crawl is over.
func (c *committer) gather(t *aio.Task) error {
	if err := c.dirty.Wait(t); err != nil {
		return err
	}
	if c.open.empty() || c.job == nil { // the reader of a stream need not wait
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
		if c.open.empty() {
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
	sealed.release()
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
	err   error
}

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
	if err := b.save(c.job, c.refs); err != nil {
		return committed{err: err}
	}
	pages, err := b.answer(c.job.Store, c.most)
	return committed{true, pages, err}
}
