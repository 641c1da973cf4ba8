package sqlitefile

import "encoding/binary"

// tree is a b-tree that grows from entries in order. Its levels are the pages that still take
// cells, the leaf first; every other page is written.
//
// Between two pages stands a divider, in the page above. Of an index it is an entry, which is in no
// leaf; of a table it is the largest rowid of the page on its left.
type tree struct {
	pages  *pages
	index  bool
	levels []*level
	cell   []byte
	last   int64 // rowid
}

// level is a page in its making. A page that divides its entries with the next keeps one more cell
// than fits: that becomes the divider as soon as another follows, so no page stays empty.
type level struct {
	kind  byte   // of the page
	cells []byte // one behind the other
	ends  []int  // of each, in cells
	right uint32 // page, of interior pages: behind all cells
}

// Kinds of pages.
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

func (l *level) interior() bool { return l.kind == interiorIndex || l.kind == interiorTable }

// header is the size of the page's header.
func (l *level) header() int {
	if l.interior() {
		return 12
	}
	return 8
}

// size returns the bytes that the page needs.
func (l *level) size() int { return l.header() + len(l.cells) + 2*len(l.ends) }

func (l *level) add(cell ...[]byte) {
	for _, part := range cell {
		l.cells = append(l.cells, part...)
	}
	l.ends = append(l.ends, len(l.cells))
}

func (l *level) at(i int) []byte {
	if i == 0 {
		return l.cells[:l.ends[0]]
	}
	return l.cells[l.ends[i-1]:l.ends[i]]
}

// write writes the page behind a number of bytes.
func (l *level) write(page []byte, from int) {
	top := pageSize
	for i := range l.ends {
		cell := l.at(i)
		top -= len(cell)
		copy(page[top:], cell)
		binary.BigEndian.PutUint16(page[from+l.header()+2*i:], uint16(top))
	}
	page = page[from:]
	page[0] = l.kind
	binary.BigEndian.PutUint16(page[3:], uint16(len(l.ends)))
	binary.BigEndian.PutUint16(page[5:], uint16(top))
	if l.interior() {
		binary.BigEndian.PutUint32(page[8:], l.right)
	}
}

// level returns a level of the tree, which it makes.
func (t *tree) level(i int) *level {
	if i == len(t.levels) {
		kind := byte(leafTable)
		switch {
		case t.index && i == 0:
			kind = leafIndex
		case t.index:
			kind = interiorIndex
		case i > 0:
			kind = interiorTable
		}
		t.levels = append(t.levels, &level{kind: kind})
	}
	return t.levels[i]
}

// addRow adds a row to a table, with a rowid larger than all before.
func (t *tree) addRow(rowid int64, payload []byte) error {
	t.cell = appendVarint(t.cell[:0], uint64(len(payload)))
	t.cell = appendVarint(t.cell, uint64(rowid))
	if err := t.fill(payload, pageSize-35); err != nil {
		return err
	}
	leaf := t.level(0)
	if leaf.size()+len(t.cell)+2 > pageSize {
		page, err := t.put(leaf)
		if err == nil {
			err = t.divide(1, page, appendVarint(nil, uint64(t.last)))
		}
		if err != nil {
			return err
		}
		leaf.cells, leaf.ends = leaf.cells[:0], leaf.ends[:0]
	}
	leaf.add(t.cell)
	t.last = rowid
	return nil
}

// addKey adds an entry to an index, larger than all before.
func (t *tree) addKey(payload []byte) error {
	t.cell = appendVarint(t.cell[:0], uint64(len(payload)))
	if err := t.fill(payload, (pageSize-12)*64/255-23); err != nil {
		return err
	}
	leaf := t.level(0)
	if leaf.size() > pageSize {
		if err := t.split(0, len(leaf.ends)-1); err != nil {
			return err
		}
	}
	leaf.add(t.cell)
	return nil
}

// fill appends a payload to the cell: all of it up to a limit; of a longer one the part that fills
// the last page of its chain best, and the number of the first.
func (t *tree) fill(payload []byte, most int) error {
	local := len(payload)
	if local > most {
		const least = (pageSize-12)*32/255 - 23
		if local = least + (len(payload)-least)%(pageSize-4); local > most {
			local = least
		}
	}
	t.cell = append(t.cell, payload[:local]...)
	if local == len(payload) {
		return nil
	}
	first, err := t.pages.overflow(payload[local:])
	t.cell = binary.BigEndian.AppendUint32(t.cell, first)
	return err
}

// divide adds a page and the divider on its right to a level.
func (t *tree) divide(i int, left uint32, divider []byte) error {
	l := t.level(i)
	if l.size() > pageSize {
		if err := t.split(i, len(l.ends)-1); err != nil {
			return err
		}
	}
	l.add(binary.BigEndian.AppendUint32(nil, left), divider)
	return nil
}

// split writes the cells of a level before the one at a place, which becomes a divider of the level
// above. Those behind it stay.
func (t *tree) split(i, at int) error {
	l := t.levels[i]
	divider := l.at(at)
	page := level{kind: l.kind, cells: l.cells, ends: l.ends[:at]}
	if l.interior() {
		page.right = binary.BigEndian.Uint32(divider)
		divider = divider[4:]
	}
	number, err := t.put(&page)
	if err == nil {
		err = t.divide(i+1, number, divider)
	}
	if err != nil {
		return err
	}
	rest := level{kind: l.kind}
	for at++; at < len(l.ends); at++ {
		rest.add(l.at(at))
	}
	l.cells, l.ends = append(l.cells[:0], rest.cells...), append(l.ends[:0], rest.ends...)
	return nil
}

// put writes a page.
func (t *tree) put(l *level) (uint32, error) {
	var page [pageSize]byte
	l.write(page[:], 0)
	return t.pages.append(page[:])
}

// root writes all pages but the root, which it returns.
func (t *tree) root() (*level, error) {
	child := uint32(0)
	for i := 0; ; i++ {
		l := t.level(i)
		if l.size() > pageSize {
			if err := t.split(i, len(l.ends)-2); err != nil {
				return nil, err
			}
		}
		if l.right = child; i == len(t.levels)-1 {
			return l, nil
		}
		var err error
		if child, err = t.put(l); err != nil {
			return nil, err
		}
	}
}

// end writes what is left of the tree and returns its root.
func (t *tree) end() (uint32, error) {
	l, err := t.root()
	if err != nil {
		return 0, err
	}
	return t.put(l)
}
