package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/weftcrawl/weft/internal/extsort"
)

// joins brings together what one page says of another: that it has an element of a name, or a page
// in another language. What a page has comes first in the order of the lines, then what others say
// of it. A line begins with a sort of join and the page. Behind noName it has the hashes of names
// that the page has; behind the hash of a name, the finding to report if the page has been read and
// lacks it.
type joins struct {
	lines *extsort.Sorter
	room  room
	full  bool // something of the document that is being read found no room
}

const (
	joinAnchor = 'a' // a page has an element; others mention it
	joinReturn = 'r' // a page has another as an alternate; that has it, too
)

// noName is the hash of no name: see Anchor and short.
const noName = 0

const (
	lineHead = 1 + len(key{}) + 8
	longHad  = 100_000 // names in a line
)

func newJoins(dir string, bytes int) *joins {
	return &joins{lines: extsort.New(dir), room: roomOf(bytes)}
}

func appendHead(b []byte, sort byte, of key, name uint64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, sort), of[:]...), name)
}

// has says that a page has been read, and has these names; or nothing of it, if there is no room
// for all.
func (j *joins) has(sort byte, page key, names []uint64) error {
	lines := 1 + len(names)/longHad
	if !j.room.take(lines*lineHead + 8*len(names)) {
		j.full = true
		return nil
	}
	for range lines {
		some := names[:min(len(names), longHad)]
		names = names[len(some):]
		b := appendHead(make([]byte, 0, lineHead+8*len(some)), sort, page, noName)
		for _, name := range some {
			b = binary.BigEndian.AppendUint64(b, name)
		}
		if err := j.lines.Add(b); err != nil {
			return err
		}
	}
	return nil
}

// mention says that a link leads to a name on a page. If that has been read, and has none, f is a
// finding.
func (j *joins) mention(sort byte, page key, name uint64, f *Finding) error {
	f.clip()
	text, _ := json.Marshal(f) // a struct of strings and numbers
	b := append(appendHead(nil, sort, page, name), text...)
	if !j.room.take(2 * len(b)) { // as a finding, it stands behind its key
		j.full = true
		return nil
	}
	return j.lines.Add(b)
}

func short(k key) uint64 { return max(1, binary.BigEndian.Uint64(k[:])) }

// each calls use for what is mentioned, and not had by a page that was read.
func (j *joins) each(ctx context.Context, use func(Finding)) error {
	var read []byte // sort and page
	var has []uint64
	sorted := false
	return j.lines.Each(func(l []byte) error {
		page, name, rest := l[:lineHead-8], binary.BigEndian.Uint64(l[lineHead-8:]), l[lineHead:]
		if name == noName {
			if !bytes.Equal(page, read) {
				read, has = append(read[:0], page...), has[:0]
			}
			for ; len(rest) > 0; rest = rest[8:] {
				has = append(has, binary.BigEndian.Uint64(rest))
			}
			sorted = false
			return ctx.Err()
		}
		if !bytes.Equal(page, read) {
			return ctx.Err()
		}
		if !sorted {
			slices.Sort(has)
			sorted = true
		}
		if _, found := slices.BinarySearch(has, name); !found {
			var f Finding
			if err := json.Unmarshal(rest, &f); err != nil {
				return err
			}
			use(f)
		}
		return ctx.Err()
	})
}

func (j *joins) close() error { return j.lines.Close() }
