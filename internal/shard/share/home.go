package share

import (
	"net/netip"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Home has the holders of the addresses of the partitions that a node owns. Its time is any
// monotonic one.
//
// Invariant: whoever may hold an address of a complete table is the holder of its entry.
type Home struct {
	parts      int
	tables     map[int]*table
	incomplete int // tables
	running    map[ownership.Owner]bool
	seen       uint64        // the revision of the store that this is as of
	changed    time.Duration // the last time that an address may have become free without rest
	delay      time.Duration // of addresses
	out        map[ownership.Owner][]Reply
}

// table is the addresses of a partition in one epoch, as far as they are known.
type table struct {
	epoch    uint64
	declared map[ownership.Owner]bool // nil: it is complete
	entries  map[netip.Addr]*entry
}

// entry is an address that somebody holds or waits for.
type entry struct {
	holder  ownership.Owner // zero: nobody
	number  uint64          // of its last ask
	waiting []waiter
}

// waiter is a process that waits.
type waiter struct {
	process ownership.Owner
	number  uint64 // of its last ask
	asked   time.Duration
}

// forget is the time for which a process counts as waiting after its last ask.
const forget = 3 * again

// NewHome returns the home of a node in a crawl of so many partitions.
func NewHome(parts int) *Home {
	return &Home{
		parts: parts, tables: make(map[int]*table),
		running: make(map[ownership.Owner]bool), out: make(map[ownership.Owner][]Reply),
	}
}

// Own takes in that the node owns a partition from an epoch on; first: nobody has owned it before.
func (h *Home) Own(now time.Duration, part int, epoch uint64, first bool) {
	h.Disown(part)
	t := &table{epoch: epoch, entries: make(map[netip.Addr]*entry)}
	if !first {
		t.declared = make(map[ownership.Owner]bool)
		h.incomplete++
		h.changed = now
	}
	h.tables[part] = t
}

// Disown takes in that a partition is another's.
func (h *Home) Disown(part int) {
	if t := h.tables[part]; t != nil && t.declared != nil {
		h.incomplete--
	}
	delete(h.tables, part)
}

// Whole reports whether all tables are complete.
func (h *Home) Whole() bool { return h.incomplete == 0 }

// Len returns the number of entries.
func (h *Home) Len() (n int) {
	for _, t := range h.tables {
		n += len(t.entries)
	}
	return n
}

// See takes in which processes run, as the store shows it up to a revision.
func (h *Home) See(now time.Duration, revision uint64, running []ownership.Owner) {
	ended := h.running
	h.running, h.seen = make(map[ownership.Owner]bool, len(running)), revision
	for _, p := range running {
		h.running[p] = true
		delete(ended, p)
	}
	if len(ended) > 0 {
		h.bury(now, ended)
	}
	if h.incomplete > 0 {
		for _, t := range h.tables {
			h.complete(now, t)
		}
	}
}

// bury frees what ended processes held.
func (h *Home) bury(now time.Duration, ended map[ownership.Owner]bool) {
	h.changed = now
	for _, t := range h.tables {
		for addr, e := range t.entries {
			if ended[e.holder] {
				h.free(now, t, addr, e)
			}
		}
	}
}

// complete takes in that a table is complete, if it is.
func (h *Home) complete(now time.Duration, t *table) {
	if t.declared == nil || h.seen < t.epoch {
		return
	}
	for p := range h.running {
		if !t.declared[p] {
			return
		}
	}
	t.declared = nil
	h.incomplete--
	h.changed = now
	for addr, e := range t.entries {
		if e.holder == (ownership.Owner{}) {
			h.free(now, t, addr, e)
		}
	}
}

// Needs returns, by process, the tables of which it has yet to declare what it holds.
func (h *Home) Needs() map[ownership.Owner][]Table {
	all := make(map[ownership.Owner][]Table)
	for part, t := range h.tables {
		if t.declared == nil {
			continue
		}
		for p := range h.running {
			if !t.declared[p] {
				all[p] = append(all[p], Table{part, t.epoch})
			}
		}
	}
	return all
}

// table returns the table of a partition in an epoch, or nil if the node does not own it in that
// epoch.
func (h *Home) table(part int, epoch uint64) *table {
	if t := h.tables[part]; t != nil && t.epoch == epoch {
		return t
	}
	return nil
}

// Hear takes in what a process says. What is meant for another home, or comes from a process that
// does not run, gets no reply: whoever runs asks again.
func (h *Home) Hear(now time.Duration, m *Message) {
	if !h.running[m.From] {
		return
	}
	h.delay = m.Delay
	for i := range m.Declared {
		h.declare(now, m.From, &m.Declared[i])
	}
	for i := range m.Asks {
		a := &m.Asks[i]
		if t := h.table(Partition(a.Addr, h.parts), a.Epoch); t != nil {
			h.ask(now, t, m.From, a)
		}
	}
}

// declare takes in what a process holds.
func (h *Home) declare(now time.Duration, from ownership.Owner, d *Declaration) {
	t := h.table(d.Part, d.Epoch)
	if t == nil || t.declared == nil || t.declared[from] {
		return
	}
	t.declared[from] = true
	for _, a := range d.Held {
		e := t.entry(a.Addr)
		e.holder, e.number = from, a.Number
	}
	h.complete(now, t)
}

func (t *table) entry(a netip.Addr) *entry {
	e := t.entries[a]
	if e == nil {
		e = new(entry)
		t.entries[a] = e
	}
	return e
}

// ask takes in what a process wants, or gives up.
func (h *Home) ask(now time.Duration, t *table, from ownership.Owner, a *Ask) {
	if a.Kind == Release {
		if e := t.entries[a.Addr]; e != nil {
			e.waiting = slices.DeleteFunc(e.waiting, func(w waiter) bool { return w.process == from && w.number <= a.Number })
			if e.holder == from && e.number > a.Number {
				return
			}
			if e.holder == from || e.holder == (ownership.Owner{}) {
				h.free(now, t, a.Addr, e)
			}
		}
		return
	}
	e := t.entry(a.Addr)
	if e.holder == from { // the reply was lost, or a release
		e.number = max(e.number, a.Number)
		h.grant(now, t, a.Addr, e)
		return
	}
	e.enqueue(now, from, a.Number)
	if e.holder == (ownership.Owner{}) {
		h.free(now, t, a.Addr, e)
	}
	if e.holder != from {
		h.reply(from, Reply{Denied, a.Addr, a.Number, t.epoch})
		h.yield(t, a.Addr, e)
	}
}

// enqueue has a process wait, behind those that do already.
func (e *entry) enqueue(now time.Duration, process ownership.Owner, number uint64) {
	for i := range e.waiting {
		if w := &e.waiting[i]; w.process == process {
			w.number, w.asked = max(w.number, number), now
			return
		}
	}
	e.waiting = append(e.waiting, waiter{process, number, now})
}

// free gives an address that nobody holds any more to the process that has waited longest.
func (h *Home) free(now time.Duration, t *table, addr netip.Addr, e *entry) {
	e.holder = ownership.Owner{}
	e.waiting = slices.DeleteFunc(e.waiting, func(w waiter) bool { return now-w.asked >= forget || !h.running[w.process] })
	switch {
	case len(e.waiting) == 0:
		delete(t.entries, addr)
	case t.declared == nil:
		e.holder, e.number = e.waiting[0].process, e.waiting[0].number
		e.waiting = e.waiting[1:]
		h.grant(now, t, addr, e)
	}
}

// grant tells the holder of an address that it is.
func (h *Home) grant(now time.Duration, t *table, addr netip.Addr, e *entry) {
	r := Reply{Granted, addr, e.number, t.epoch}
	if h.changed > 0 && now-h.changed < h.delay {
		r.Verdict = Waits
	}
	h.reply(e.holder, r)
	if len(e.waiting) > 0 {
		h.yield(t, addr, e)
	}
}

// yield tells the holder of an address, if there is one, that others wait.
func (h *Home) yield(t *table, addr netip.Addr, e *entry) {
	if e.holder != (ownership.Owner{}) {
		h.reply(e.holder, Reply{Yield, addr, e.number, t.epoch})
	}
}

func (h *Home) reply(to ownership.Owner, r Reply) { h.out[to] = append(h.out[to], r) }

// Replies returns what is to be sent, by process, and forgets it.
func (h *Home) Replies() map[ownership.Owner][]Reply {
	out := h.out
	if len(out) > 0 {
		h.out = make(map[ownership.Owner][]Reply)
	}
	return out
}
