package weft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

const (
	// commitAfter is how long the first change of a group waits for others. A crawl that
	// is killed loses the work of that time and of one commit.
	commitAfter = 50 * time.Millisecond

	commitSize = 1 << 20 // bytes: such a group waits for no others

	// While a commit is under way, and work of holdAfter or shares.group bytes waits for the
	// next, no URL is begun: a slow disk makes a slow crawl, not a big memory.
	holdAfter = 100 * time.Millisecond
)

// group is what the desk has done since the last commit was begun. All of it is saved or
// nothing, but for the stream: what that was given cannot be taken back.
type group struct {
	state  *store.Batch // nil: there is no job
	stream []byte       // for Output, when the group is sealed
	since  time.Time    // of its first change; zero: there is none

	holds []*budget.Hold // of the big outcomes whose URLs it has, until it is committed: see weigh
}

// ledger is how the desk saves its work: group after group, off the loop, in order.
type ledger struct {
	open    group
	wants   []frontier.Want // to be read from the store after the next commit
	rouse   *frontier.Rouse // the same; nil: no hosts are
	dirty   aio.Event       // open has a change
	hurry   aio.Event       // which waits for no others
	began   time.Time       // of the commit under way; zero: there is none
	saved   history         // of the last group that was committed
	failure error           // of the first that was not, or of a look-up: nothing is sealed after it and committed
}

// note says that the open group has a change.
func (d *desk) note() {
	l := &d.ledger
	if l.open.since.IsZero() {
		l.open.since = d.loop.Now()
		l.dirty.Set()
	}
	if d.unsaved() >= commitSize {
		l.hurry.Set()
	}
}

// unsaved is how many bytes the open group has.
func (d *desk) unsaved() int {
	n := 0
	if d.output != nil {
		n += d.output.batch.Len()
	}
	if d.job != nil {
		n += d.ledger.open.state.Size()
	}
	return n
}

// want has the store asked for what the frontier wants to have in memory.
func (d *desk) want(wants []frontier.Want) {
	if len(wants) == 0 {
		return
	}
	d.ledger.wants = append(d.ledger.wants, wants...)
	d.note()
	d.ledger.hurry.Set()
}

// rouse has the store asked for the dormant hosts that the frontier wants to have in memory.
func (d *desk) rouse() {
	if r, ok := d.frontier.Rouse(); ok {
		d.ledger.rouse = &r
		d.note()
		d.ledger.hurry.Set()
	}
}

// behind reports whether so much waits to be saved that no more is to be begun.
func (d *desk) behind() bool {
	l := &d.ledger
	return !l.began.IsZero() && !l.open.since.IsZero() &&
		(d.unsaved() >= d.shares.group || d.loop.Now().Sub(l.open.since) >= holdAfter)
}

// save is the task that commits group after group until the crawl is over. If that is
// broken off, what was done is saved all the same.
func (d *desk) save(t *aio.Task) error {
	for {
		if err := d.gather(t); err != nil {
			if d.job != nil {
				d.job.store.Abandon() // nobody waits for room on the disk any more
			}
			d.broken = true
			return errors.Join(err, t.Shield(d.commit))
		}
		if d.ledger.open.since.IsZero() {
			return nil
		}
		if err := d.commit(t); err != nil {
			return err
		}
	}
}

// gather waits for a group that is worth a commit. An empty one says that the crawl is
// over.
func (d *desk) gather(t *aio.Task) error {
	l := &d.ledger
	if err := l.dirty.Wait(t); err != nil {
		return err
	}
	if l.open.since.IsZero() || d.job == nil { // a stream's reader need not wait
		return nil
	}
	err := t.Deadline(l.open.since.Add(commitAfter), l.hurry.Wait)
	var late *aio.TimeoutError
	if errors.As(err, &late) {
		return nil
	}
	return err
}

// commit saves the open group, then reads what the frontier wants. That a group cannot be
// saved ends the crawl in good order, and is no error here.
func (d *desk) commit(t *aio.Task) error {
	l := &d.ledger
	g, h, wants, rouse := d.seal()
	l.began = d.loop.Now()
	failure := l.failure
	done, err := aio.Offload(t, func(ctx context.Context) (committed, error) {
		if failure != nil {
			return committed{err: failure}, nil
		}
		return d.put(ctx, g, h, wants, rouse), nil
	})
	l.began = time.Time{}
	release(g.holds)
	if err != nil {
		return err
	}
	if done.saved {
		l.saved = h
		d.frontier.Saved()
	}
	if done.err != nil {
		l.failure = done.err
		d.fail(done.err)
		return nil
	}
	if rouse != nil {
		d.frontier.Roused(d.loop.Now(), done.roused.each, done.roused.last)
	}
	for i, heads := range done.heads {
		d.frontier.Refill(d.loop.Now(), wants[i].Host, heads.urls, heads.more)
	}
	if rest := wants[len(done.heads):]; len(rest) > 0 && !d.over.IsSet() {
		l.wants = slices.Concat(rest, l.wants)
		d.note()
		l.hurry.Set()
	}
	d.dispatch()
	return nil
}

// seal takes the open group, and what is to be read, and begins another.
func (d *desk) seal() (group, history, []frontier.Want, *frontier.Rouse) {
	l := &d.ledger
	d.frontier.NoteHosts()
	g, wants, rouse := l.open, l.wants, l.rouse
	h := d.history()
	l.open, l.wants, l.rouse = group{}, nil, nil
	if d.output != nil {
		g.stream = d.output.take()
	}
	if g.state != nil {
		l.open.state = d.job.store.Begin()
		d.frontier.Tell(l.open.state)
	}
	if !d.over.IsSet() {
		l.dirty.Clear()
		l.hurry.Clear()
	}
	return g, h, wants, rouse
}

// committed is what has become of a group.
type committed struct {
	saved  bool
	heads  []heads // one for each want, from the first on
	size   int     // of these, in bytes
	roused roused
	err    error
}

// costOfURL is what a URL that was read takes beside its text.
const costOfURL = int(unsafe.Sizeof(frontier.URL{}))

// heads answer a want.
type heads struct {
	urls []frontier.URL
	more bool
}

// roused are hosts that answer a Rouse.
type roused struct {
	hosts []store.Host
	last  string
}

func (r roused) each(yield func(frontier.HostState, robots.Rules) bool) {
	for _, h := range r.hosts {
		if !yield(h.HostState, h.Rules) {
			return
		}
	}
}

// put saves a group and reads what is wanted. It runs off the loops.
//
// The stream comes first: after a crash its reader has a record twice rather than never;
// and what it could not take is not done.
func (d *desk) put(ctx context.Context, g group, h history, wants []frontier.Want, rouse *frontier.Rouse) (done committed) {
	if len(g.stream) > 0 {
		if _, err := d.cfg.Output.Write(g.stream); err != nil {
			return committed{err: fmt.Errorf("output: %w", err)}
		}
	}
	if g.state == nil {
		return committed{saved: true}
	}
	defer context.AfterFunc(ctx, d.job.store.Abandon)()
	g.state.Set(noteHistory, h.encode())
	if err := d.job.store.Commit(g.state); err != nil {
		return committed{err: err}
	}
	done.saved = true
	for _, w := range wants {
		if done.size >= d.shares.group { // the others wait for the next commit
			break
		}
		urls, more, err := d.job.store.Pending(w.Host, w.After, w.N)
		if err != nil {
			done.err = err
			return done
		}
		done.heads = append(done.heads, heads{urls, more})
		for i := range urls {
			done.size += len(urls[i].URL.String()) + len(urls[i].From) + costOfURL
		}
	}
	if rouse != nil {
		done.roused.hosts, done.roused.last, done.err = d.job.store.Dormant(*rouse)
	}
	return done
}

// history is what a job remembers of its runs, beside its URLs.
type history struct {
	Summary Summary   `json:"summary"`
	List    list      `json:"list"`
	Hosts   int       `json:"hosts"`
	Ended   time.Time `json:"ended,omitzero"`    // the last run; zero while it goes on, or was killed
	Turning bool      `json:"turning,omitempty"` // a visit begins: URLs that have ended become pending

	NotFollowed map[string]int `json:"not_followed,omitempty"` // at visits before this one, as Summary has it
}

// list is how much of SeedSeq was read, and what it was: a job that goes on reads it again.
type list struct {
	Seeds  int    `json:"seeds"`
	Sum    uint64 `json:"sum"`    // of all these
	Listed bool   `json:"listed"` // there are no others
}

// add takes in the next seed.
func (l *list) add(u weburl.URL) {
	l.Seeds++
	l.Sum = hash(fmt.Sprintf("%x %s", l.Sum, u))
}

// hash is FNV-1a, 64 bits.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (h history) encode() []byte {
	b, err := json.Marshal(h)
	if err != nil {
		panic("weft: a history that is no JSON: " + err.Error()) // no field of it can cause it
	}
	return b
}
