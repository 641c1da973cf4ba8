package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/weburl"
)

// maxOutbox bounds the messages that wait in the outbox, in bytes: while there are more, no fetch
// starts, until half of them are delivered. It is about half a minute, at 1,000 pages a second.
const maxOutbox = 32 << 20

// sharing is the crawl as one of several nodes: what is told others, and which partitions are
// theirs. A nil sharing is that of a whole crawl. Owner: the coordinator's loop.
//
// Invariant: whose a partition is changes between two batches of admission only.
type sharing struct {
	cfg       *NodeConfig
	clock     *clock
	frontier  *frontier.Frontier
	store     *store.Store
	reach     *reach
	admission *admission
	committer *committer
	again     *again
	pauses    *pauses
	ending    *ending
	stop      func(limit string)
	reading   func() bool // the list of seeds
	dispatch  func()
	maxOutbox int64 // the constant

	ended       bool   // the crawl is over everywhere
	asked       bool   // Leaving was called
	left        bool   // nothing more is to be handed over
	limited     bool   // the limit of all nodes is reached
	short       bool   // Short was called since the last Allow
	enough      int    // URLs begun at which Short is called next
	posted      uint64 // last message that Posted was given
	activity    uint64 // grows with whatever comes from other nodes
	drains      []drain
	undelivered undelivered
	addresses   *addresses
}

// drain waits until nothing of partitions, which are held, is leased.
type drain struct {
	numbers []int
	quiet   func()
}

// start makes the frontier that of a node.
func (s *sharing) start(partition func(host string) int) {
	if s == nil {
		return
	}
	log := &changelog.Log{
		Partition: partition,
		Clock:     func() (job, calendar time.Time) { return s.clock.now(), s.clock.loop.Wall() },
	}
	s.committer.log = log
	s.frontier.Partitions().SendBy(log.Send)
	s.frontier.Partitions().Hold(s.clock.now(), s.cfg.Held...)
	if s.cfg.Ask != nil {
		s.addresses = &addresses{
			clock: s.clock, frontier: s.frontier, ask: s.cfg.Ask, dispatch: s.dispatch,
			starts: func() bool { return !s.pauses.any() && !s.ending.draining },
		}
		s.addresses.start()
	}
}

// fewURLs are so few that their messages are no load for the servers, while other nodes may wait
// for them.
const fewURLs = 64

// gathers returns how long a commit waits for more.
func (s *sharing) gathers() time.Duration {
	if s == nil {
		return commitAfter
	}
	if f := s.frontier.View().Stats(); f.Pending+f.Leased <= fewURLs {
		return commitAfter
	}
	return cmp.Or(s.cfg.Gather, commitAfter)
}

// mayStart reports whether a fetch may start, as far as what is done was delivered.
func (s *sharing) mayStart() bool {
	return s == nil || !s.undelivered.overdue(s.clock.loop.Now())
}

// mayEnd reports whether the crawl is over when nothing is left to do here.
func (s *sharing) mayEnd() bool { return s == nil || s.ended }

// limitReached reports whether all nodes together may begin no more URLs.
func (s *sharing) limitReached() bool { return s != nil && s.limited }

// idle reports whether nothing is left to do here, nor to be sent from here: then only a message,
// or a partition, gives the node something to do.
func (s *sharing) idle() bool {
	waiting, _ := s.store.Waiting()
	return s.frontier.View().Over() && s.admission.empty() && !s.reading() && len(s.admission.between) == 0 &&
		len(s.drains) == 0 && s.committer.idle() && waiting == 0
}

// end ends the crawl, which is over on all nodes.
func (s *sharing) end() {
	s.ended = true
	s.dispatch()
}

// allow lets so many URLs be begun in this run, and returns how many were.
func (s *sharing) allow(most int) (begun int) {
	begun = s.frontier.Partitions().Allow(s.clock.now(), most)
	s.enough = begun + (most-begun)/2
	s.short = false
	s.dispatch()
	return begun
}

// wantMore calls Short when half of what was left is begun.
func (s *sharing) wantMore() {
	if s == nil || s.cfg.Short == nil || s.short || s.frontier.View().Stats().Pending == 0 || s.frontier.View().Begun() < s.enough {
		return
	}
	s.short = true
	s.cfg.Short()
}

// reachLimit takes in whether nothing more will be allowed. If so, the crawl ends here unless
// nothing is pending.
func (s *sharing) reachLimit(is bool) {
	s.limited = is
	s.dispatch()
}

// mayLeave reports whether the crawl may end here before it is over. A node hands its partitions
// over first, unless its own disk fails.
func (s *sharing) mayLeave() bool {
	if s == nil || s.cfg.Leaving == nil || s.left || s.ending.failure != nil {
		return true
	}
	if !s.asked {
		s.asked = true
		s.cfg.Leaving()
	}
	return false
}

// haveLeft ends the crawl here: others have what there was.
func (s *sharing) haveLeft() {
	s.left = true
	s.ending.drain()
}

// deliver takes in URLs that another node has found. When they are committed, done is called with
// the last message of the outbox by then: once that is delivered, they are as safe as the log.
func (s *sharing) deliver(urls []frontier.URL, done func(posted uint64, err error)) {
	s.activity++
	seeds := func(yield func(weburl.URL) bool) {
		for i := range urls {
			if (urls[i].From == "" || urls[i].Hops > 0 && s.again.on) && !yield(urls[i].URL) {
				return
			}
		}
	}
	s.admission.admit(urlsOf(urls), seeds, func() {
		for _, u := range urls {
			if s.frontier.Partitions().SendOn(u) || !s.frontier.Add(u) {
				s.again.received(u)
			}
		}
		s.committer.then(done)
	})
	s.dispatch()
}

// committed tells those who wait for it that a batch is committed, or has failed to be.
func (s *sharing) committed(since time.Time, after []func(uint64, error), err error) {
	if s == nil {
		return
	}
	s.limitOutbox()
	last := s.store.Posted()
	for _, fn := range after {
		fn(last, err)
	}
	if last > s.posted {
		s.posted = last
		s.undelivered.add(s.clock.loop.Now(), posting{since, last})
		if s.cfg.Posted != nil {
			s.cfg.Posted(last, since)
		}
	}
}

// limitOutbox pauses the crawl while too much waits in the outbox: what others do not take in, or
// the streams have no room for, stays on this disk, and is lost with it.
func (s *sharing) limitOutbox() {
	switch _, bytes := s.store.Waiting(); {
	case bytes > s.maxOutbox:
		s.pauses.set(PausedOutbox, true)
	case bytes <= s.maxOutbox/2:
		s.pauses.set(PausedOutbox, false)
	}
}

// delivered removes messages of the outbox that are delivered, with all before them. Those in stay
// are kept on the disk, some as others.
func (s *sharing) delivered(all, stay, as []store.Message) {
	s.committer.note(func(b *store.Batch) {
		b.Delivered(all...)
		b.Sent(stay...)
		b.Rewrite(as...)
	})
	s.committer.changed()
	for _, m := range slices.Concat(all, stay) {
		s.undelivered.deliver(m.ID)
	}
	s.dispatch()
}

// forget removes messages that were kept. It causes no batch.
func (s *sharing) forget(ids []uint64) {
	s.committer.note(func(b *store.Batch) { b.Forget(ids...) })
}

// drainPartitions leases nothing more of partitions, and calls quiet when nothing of them is
// leased.
func (s *sharing) drainPartitions(numbers []int, quiet func()) {
	s.frontier.Partitions().Hold(s.clock.now(), numbers...)
	s.drains = append(s.drains, drain{numbers, quiet})
	s.checkDrains()
}

// checkDrains calls those whose partitions are quiet by now.
func (s *sharing) checkDrains() {
	if s == nil || len(s.drains) == 0 {
		return
	}
	var quiet []func()
	s.drains = slices.DeleteFunc(s.drains, func(w drain) bool {
		is := len(s.frontier.Partitions().Quiet(w.numbers...)) == len(w.numbers)
		if is {
			quiet = append(quiet, w.quiet)
		}
		return is
	})
	for _, fn := range quiet {
		s.admission.betweenBatches(fn)
	}
}

// stay takes back that partitions are to leave. It reports false if they have left.
func (s *sharing) stay(numbers []int) bool {
	n := len(s.drains)
	s.drains = slices.DeleteFunc(s.drains, func(w drain) bool { return slices.Equal(w.numbers, numbers) })
	if len(s.drains) == n {
		return false
	}
	s.frontier.Partitions().Release(s.clock.now(), numbers...)
	s.dispatch()
	return true
}

// leave gives partitions away: nothing more of them is leased; when nothing is, their URLs go to
// others, what is known of them is committed, and they are forgotten. Then done is called with the
// last message of the outbox by then, or with an error.
func (s *sharing) leave(numbers []int, done func(posted uint64, err error)) {
	s.drainPartitions(numbers, func() {
		for _, n := range numbers {
			s.frontier.Partitions().Disown(n)
			s.committer.note(func(b *store.Batch) { b.SetPartition(n, store.Left) })
		}
		s.committer.then(func(posted uint64, err error) {
			if err != nil {
				done(0, err)
				return
			}
			s.admission.betweenBatches(func() {
				s.frontier.Partitions().Forget(numbers...)
				done(posted, nil)
				s.dispatch()
			})
		})
		s.committer.commitSoon()
	})
}

// own makes partitions ours that were imported, or of which there is nothing. They are held, and
// quiet.
func (s *sharing) own(numbers []int, done func(posted uint64, err error)) {
	s.admission.betweenBatches(func() {
		s.activity++
		for _, n := range numbers {
			s.frontier.Partitions().Own(s.clock.now(), n, s.store.NextSeq())
			s.committer.note(func(b *store.Batch) { b.SetPartition(n, store.Owned) })
		}
		s.committer.then(done)
		s.committer.commitSoon()
		s.dispatch()
	})
}

// mark records the epoch of a partition with the open batch.
func (s *sharing) mark(number int, epoch uint64, done func(posted uint64, err error)) {
	s.committer.note(func(b *store.Batch) { b.SetEpoch(number, epoch) })
	s.committer.then(done)
	s.committer.commitSoon()
}

// abandonJoin takes in that a partition is not ours after all.
func (s *sharing) abandonJoin(number int) {
	s.drains = slices.DeleteFunc(s.drains, func(w drain) bool { return slices.Equal(w.numbers, []int{number}) })
	s.frontier.Partitions().Reject(number)
	s.frontier.Partitions().Release(s.clock.now(), number)
	s.dispatch()
}

// widening is a private network that another node has opened, or a URL that has widened its scope.
type widening struct {
	network guard.Network
	url     weburl.URL // zero: a network
}

func readWidening(text string) (w widening, err error) {
	if w.network, err = guard.ParseNetwork(text); err == nil {
		return w, nil
	}
	if w.url, err = weburl.Parse(text); err != nil {
		return w, fmt.Errorf("%.100q: expected a network or a URL", text)
	}
	return w, nil
}

// widen takes in a widening of another node.
func (s *sharing) widen(w widening) {
	if w.url.IsZero() {
		s.reach.acceptNetwork(w.network)
		return
	}
	s.reach.open(w.url)
}

// release lets fetches of partitions start that were held.
func (s *sharing) release(numbers []int) {
	s.activity++
	s.frontier.Partitions().Release(s.clock.now(), numbers...)
	s.dispatch()
}

// resumed takes in that fetches may start again.
func (s *sharing) resumed() {
	if s != nil && !s.pauses.any() {
		s.addresses.askAgain()
	}
}

// tellHomes tells the homes of addresses what is wanted and what is given up.
func (s *sharing) tellHomes() {
	if s != nil {
		s.addresses.tell()
	}
}

// unsee has the frontier forget the fingerprints of URLs, and calls done then.
func (s *sharing) unsee(seen [][16]byte, done func()) {
	s.admission.betweenBatches(func() {
		s.frontier.Partitions().Unsee(seen)
		done()
	})
}
