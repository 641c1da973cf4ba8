package lessons

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/weftcrawl/weft/internal/appshell"
)

// Shape identifies a shape: 64 bits of a hash that nobody can make collide with that of another
// host.
type Shape struct {
	id       uint64
	doubtful bool
	thin     bool // of the page at hand, not of all of the shape
}

// ShapeOf returns the shape of a page of a host.
func ShapeOf(host string, l appshell.Look) Shape {
	var room [2 * appshell.MaxSkeleton]byte
	text := append(append(append(room[:0], host...), '\n'), l.Reason...)
	sum := sha256.Sum256(append(append(text, '\n'), l.Skeleton...))
	return Shape{max(1, binary.LittleEndian.Uint64(sum[:])), l.Reason != "", l.Thin}
}

// Doubtful reports whether pages of the shape look empty without scripts.
func (s *Shape) Doubtful() bool { return s.doubtful }

// Table holds the lessons of a crawl.
type Table struct {
	mu struct {
		sync.Mutex
		shapes  []entry
		now     uint32
		fine    int // pages that are not doubtful
		samples int // of these
	}
}

// entry is a shape. The zero entry is free.
type entry struct {
	shape uint64
	used  uint32 // Table.now when it was last asked about
	since uint32 // pages since one was rendered
	lesson
}

// lesson is the knowledge of a shape.
type lesson struct {
	gains   bool  // rendering has added something
	samples uint8 // pages rendered to see, since a gain
	nothing uint8 // pages in a row without a gain
}

const (
	capacity = 4096 // shapes
	ways     = 4    // entries where a shape may be

	proof   = 3          // doubtful pages without a gain, after which others are not rendered
	mostGap = uint32(64) // pages between those that are rendered all the same

	// Pages that are not doubtful before the first sample, and the growth of each further gap.
	firstGap   = 8
	longestGap = 4096
	lapses     = 8 // pages without a gain, after which a shape counts as one that never had one

	// Samples of a crawl, by the number of pages that are not doubtful: each costs as much as some
	// hundred pages that are not rendered, the first one the start of a browser, too.
	freeThin   = 4
	sampleThin = 256
	sampleFull = 512
)

// New returns an empty table. It takes no memory before it is used.
func New() *Table { return new(Table) }

// Answer is the advice to render a page, or not to.
type Answer int

// Answers.
const (
	Usual   Answer = iota // a doubtful page is, another is not
	Learned               // the other way round, by what pages of its shape have shown
	Sample                // it is, to see what that adds
)

// Ask counts a page of a shape, and says whether to render it. runs reports whether the page has a
// script that runs; it is asked of samples.
func (t *Table) Ask(s Shape, runs func() bool) Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, e := t.entry(s)
	e.since++
	if s.doubtful {
		return e.doubt()
	}
	t.mu.fine++
	switch {
	case e.gains:
		return Learned
	case e.since < e.gap() || !t.affords(s.thin):
		return Usual
	}
	e.since = 0
	e.samples++
	if !runs() {
		return Usual
	}
	t.mu.samples++
	return Sample
}

// affords reports whether another page may be rendered as a sample.
func (t *Table) affords(thin bool) bool {
	if thin {
		return t.mu.samples < freeThin+t.mu.fine/sampleThin
	}
	return t.mu.samples < t.mu.fine/sampleFull
}

// doubt is Ask for a doubtful page.
func (e *entry) doubt() Answer {
	if !e.gains && e.nothing >= proof && e.since < min(1<<e.nothing, mostGap) {
		return Learned
	}
	e.since = 0
	return Usual
}

// gap returns the number of pages from one sample to the next.
func (e *entry) gap() uint32 {
	gap := uint32(firstGap)
	for n := e.samples; n > 0 && gap < longestGap; n-- {
		gap *= firstGap
	}
	return gap
}

// Known is the knowledge of a shape as it is saved: in place of what has the same Slot.
type Known struct {
	Slot  uint16
	Value [valueBytes]byte
}

// Learn takes in what rendering a page of a shape has added. clean says that no script and no
// request of the page has failed.
func (t *Table) Learn(s Shape, gain Gain, clean bool) Known {
	t.mu.Lock()
	defer t.mu.Unlock()
	slot, e := t.entry(s)
	switch {
	case s.doubtful && gain.Any(), !s.doubtful && gain.Much():
		e.lesson = lesson{gains: true}
	case s.doubtful && clean && e.nothing < proof*proof: // the most that matters
		e.nothing++
	case !s.doubtful && e.gains:
		if e.nothing++; e.nothing == lapses {
			e.lesson, e.since = lesson{samples: 1}, 0
		}
	}
	return e.known(slot)
}

// entry returns that of a shape, and its place, or makes one in place of that which is missed
// least.
func (t *Table) entry(s Shape) (slot int, e *entry) {
	m := &t.mu
	if m.shapes == nil {
		m.shapes = make([]entry, capacity)
	}
	m.now++
	slot = s.first()
	for i := range ways {
		e := &m.shapes[s.first()+i]
		if e.shape == s.id {
			e.used = m.now
			return s.first() + i, e
		}
		if e.missedLess(&m.shapes[slot]) {
			slot = s.first() + i
		}
	}
	m.shapes[slot] = entry{shape: s.id, used: m.now}
	return slot, &m.shapes[slot]
}

// first returns the first place where a shape may be.
func (s *Shape) first() int { return int(s.id % (capacity / ways) * ways) }

// missedLess reports whether to make room of e rather than of o: what nothing is known of goes
// first, then what was used least recently.
func (e *entry) missedLess(o *entry) bool {
	if e.isKnown() != o.isKnown() {
		return o.isKnown()
	}
	return e.used < o.used
}

func (e *entry) isKnown() bool { return e.lesson != lesson{} }

const valueBytes = 11

// known returns what is to be saved of an entry.
func (e *entry) known(slot int) (k Known) {
	k.Slot = uint16(slot)
	binary.BigEndian.PutUint64(k.Value[:], e.shape)
	if e.gains {
		k.Value[8] = 1
	}
	k.Value[9], k.Value[10] = e.samples, e.nothing
	return k
}

// Restore brings back what an earlier run has saved. What is not of such a table is ignored.
func (t *Table) Restore(k Known) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Shape{id: binary.BigEndian.Uint64(k.Value[:])}
	at := int(k.Slot)
	if at < s.first() || at >= s.first()+ways {
		return
	}
	if t.mu.shapes == nil {
		t.mu.shapes = make([]entry, capacity)
	}
	t.mu.shapes[at] = entry{shape: s.id, lesson: lesson{k.Value[8] != 0, k.Value[9], k.Value[10]}}
}
