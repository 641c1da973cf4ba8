package shapes

import "math/bits"

// Table is a crawl's knowledge of its shapes. Owner: the coordinator.
type Table struct {
	most     int // alike pages in a row
	shapes   []entry
	sketches []uint32 // the latest, by a hash of shape and sketch; 0: none
	traps    map[Shape]struct{}
	size     int // bytes
	now      uint32
}

// entry is a shape. The zero entry is free.
type entry struct {
	shape  Shape
	used   uint32 // Table.now when it was last watched
	pages  uint32 // watched
	alike  uint32 // in a row, but for a few: see Judge
	fresh  uint32 // judged that were not alike, but for the first
	found  uint32 // URLs of this window, on pages that are alike
	judged uint8  // pages of this window
	recent uint8  // of the last eight judged, those that were alike, as bits
	grows  bool   // it did in the last window
}

const (
	entryBytes  = 32
	sketchBytes = 4
	ways        = 4 // entries where a shape may be; the least recently used one makes room

	// A page costs a second look at its text to sketch it, so most sites are spared: none of a
	// shape's first pages is sketched; then so many that all forms of a calendar's months
	// are known, then one in sampling.
	unwatched = 32
	watched   = 64
	sampling  = 32

	stale    = 16  // alike pages in a row from which a shape may feed others
	window   = 128 // judged pages over which growth is measured
	maxTraps = 10_000

	// A page with something new takes outweighs alike pages off the count, so a shape of which one
	// page in four is new is no trap, however long; and it adds earns to those that its shape may
	// have. No shape may have more than patience times as many as one that brings nothing.
	outweighs = 3
	earns     = 12
	patience  = 8
)

// NewTable returns a table of so many bytes, in which a shape is a trap with so many alike pages in
// a row. It takes no memory before it is used.
func NewTable(size, most int) *Table {
	return &Table{size: size, most: most, traps: make(map[Shape]struct{})}
}

// powerOfTwo returns the largest power of two that is at most n, and at least 1.
func powerOfTwo(n int) int { return 1 << max(0, bits.Len(uint(max(0, n)))-1) }

// Watch counts a page that is about to be fetched, and reports whether to sketch it.
func (t *Table) Watch(s Shape) bool {
	if t.shapes == nil {
		t.shapes = make([]entry, ways*powerOfTwo(t.size/2/entryBytes/ways))
	}
	t.now++
	e := t.entry(s)
	if e.shape != s {
		*e = entry{shape: s}
	}
	e.used = t.now
	e.pages++
	return e.pages > unwatched && (e.pages <= watched || e.recent != 0 || e.pages%sampling == 0)
}

// entry returns where a shape is, or where there is room for it.
func (t *Table) entry(s Shape) *entry {
	at := int(uint64(s) % uint64(len(t.shapes)/ways) * ways)
	oldest := &t.shapes[at]
	for i := range ways {
		e := &t.shapes[at+i]
		if e.shape == s {
			return e
		}
		if t.now-e.used > t.now-oldest.used || e.shape == 0 {
			oldest = e
		}
	}
	return oldest
}

// find returns the entry of a shape, or nil.
func (t *Table) find(s Shape) *entry {
	if t.shapes == nil {
		return nil
	}
	if e := t.entry(s); e.shape == s {
		return e
	}
	return nil
}

// Judge takes in the sketch of a page, and reports whether that makes its shape a trap.
func (t *Table) Judge(s Shape, sketch uint64) (trap bool) {
	e := t.find(s)
	if e == nil {
		return false
	}
	e.recent <<= 1
	if !t.seen(s, sketch) {
		e.alike -= min(e.alike, outweighs)
		if e.pages > watched { // before, each form of a calendar's months is new once
			e.fresh++
		}
	} else {
		e.recent |= 1
		e.alike++
	}
	if e.alike < stale {
		e.judged, e.found, e.grows = 0, 0, false
		return false
	}
	if e.judged++; e.judged == window {
		e.grows = e.found >= window*3/4
		e.judged, e.found = 0, 0
	}
	if !e.grows || int(e.alike) < t.budget(e) || t.IsTrap(s) || len(t.traps) == maxTraps {
		return false
	}
	t.Close(s)
	return true
}

// budget returns how many alike pages make a shape a trap.
func (t *Table) budget(e *entry) int { return min(t.most+earns*int(e.fresh), patience*t.most) }

// seen reports whether the shape has had a sketch, and remembers it.
func (t *Table) seen(s Shape, sketch uint64) bool {
	if t.sketches == nil {
		t.sketches = make([]uint32, powerOfTwo(t.size/2/sketchBytes))
	}
	hi, lo := bits.Mul64(uint64(s)^sketch, 0x9e3779b97f4a7c15)
	mixed := hi ^ lo
	slot, tag := &t.sketches[mixed%uint64(len(t.sketches))], max(1, uint32(mixed>>32))
	seen := *slot == tag
	*slot = tag
	return seen
}

// Stale reports whether the latest pages of a shape were alike: then the URLs found on them count
// as growth.
func (t *Table) Stale(s Shape) bool {
	e := t.find(s)
	return e != nil && e.alike >= stale
}

// Found takes in a new URL of a shape, found on a page of a stale one.
func (t *Table) Found(s Shape) {
	if e := t.find(s); e != nil {
		e.found++
	}
}

// Close makes a shape a trap.
func (t *Table) Close(s Shape) { t.traps[s] = struct{}{} }

// IsTrap reports whether a shape is a trap.
func (t *Table) IsTrap(s Shape) bool {
	_, is := t.traps[s]
	return is
}

// Bytes returns the memory of the table without its traps.
func (t *Table) Bytes() int { return entryBytes*len(t.shapes) + sketchBytes*len(t.sketches) }

// Traps returns how many there are.
func (t *Table) Traps() int { return len(t.traps) }
