package refs

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Page is a page that leads to a target, and Referrers are those of one.
type (
	Page      = record.Referrer
	Referrers = record.Referrers
)

// Of returns the referrers of URLs of the job in dir, most pages of each at most. A job that
// predates the file has none.
func Of(dir string, targets []weburl.URL, most int) ([]Referrers, error) {
	keys := make([]Key, len(targets))
	for i, u := range targets {
		keys[i] = KeyOf(u)
	}
	all := make([]Referrers, len(targets))
	f, err := regular.Open(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cut, err := Each(f, keys, func(target int, p Page) {
		r := &all[target]
		if r.Total++; len(r.Pages) < most {
			r.Pages = append(r.Pages, p)
		}
	})
	for i := range all {
		all[i].Cut = cut
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Name(), err)
	}
	return all, err
}

// mostAgain is the number of pages with several entries that are looked at in one pass over the
// file.
const mostAgain = 1 << 20

// Each calls found for every page that leads to one of the targets, once for each of these, in the
// order of the pages' visits; cut says that the file reached its bound.
//
// The file is read once. If pages have several entries, of which the last counts, it is read twice
// for every mostAgain of these, and the order is that of the passes. A block that is not whole yet
// ends it. What is damaged is passed over, as far as the lengths of blocks can be read, and is the
// error; no pass follows.
func Each(file io.ReadSeeker, targets []Key, found func(target int, p Page)) (cut bool, err error) {
	return each(file, targets, mostAgain, found)
}

// each is Each, with another mostAgain.
func each(file io.ReadSeeker, targets []Key, most int, found func(target int, p Page)) (cut bool, err error) {
	again, _ := countAgain(file) // a pass finds what is wrong, too
	s := search{file: file, parts: 1 + again/most, wanted: newWanted(targets), found: found}
	for ; s.part < s.parts && err == nil; s.part++ {
		// What is damaged may ask for any number of passes.
		if again > 0 {
			s.findLast()
		}
		cut, err = s.pass()
	}
	return cut, err
}

// search is a search for the pages that lead to targets.
type search struct {
	file   io.ReadSeeker
	parts  int // passes over the file, each for its part of the pages
	part   int
	last   map[uint64]int // ordinal of the last entry of a page that may have several, by its hash
	wanted wanted
	found  func(target int, p Page)
}

// hashOf tells pages apart.
func hashOf(page []byte) uint64 {
	sum := sha256.Sum256(page)
	return binary.BigEndian.Uint64(sum[:])
}

// findLast finds the last entries of those pages of the part that may have several.
func (s *search) findLast() {
	s.last = make(map[uint64]int)
	_, _ = entries(s.file, func(i int, e *entry) {
		if !e.again {
			return
		}
		if h := hashOf(e.page); int(h%uint64(s.parts)) == s.part {
			s.last[h] = i
		}
	})
}

// pass reports what is found on the pages of the part.
func (s *search) pass() (cut bool, err error) {
	return entries(s.file, func(i int, e *entry) {
		met := s.wanted.in(e.targets, i)
		if len(met) == 0 {
			return
		}
		if s.last != nil {
			h := hashOf(e.page)
			if last, several := s.last[h]; several && last != i || int(h%uint64(s.parts)) != s.part {
				return
			}
		}
		p := Page{URL: string(e.page), By: e.kind}
		for _, target := range met {
			s.found(target, p)
		}
	})
}

// wanted are the targets of a search: 32 bytes each, as there may be as many as a job has URLs.
type wanted struct {
	order  []wantedKey // by key
	begins []uint32    // in order, by the first bits of a key: most keys are in none
	shift  int
	entry  []uint64 // by index: 1 + ordinal of the last entry with the target
	met    []int    // indexes, of the last entry
}

// wantedKey is the key of a target and its index.
type wantedKey struct {
	key Key
	at  uint32
}

func newWanted(targets []Key) wanted {
	w := wanted{order: make([]wantedKey, len(targets)), entry: make([]uint64, len(targets))}
	bits := 6
	for 1<<bits < len(targets) {
		bits++
	}
	w.begins, w.shift = make([]uint32, 1<<bits+1), 64-bits
	for i, k := range targets {
		w.order[i] = wantedKey{k, uint32(i)}
		w.begins[k>>w.shift+1]++
	}
	slices.SortFunc(w.order, func(a, b wantedKey) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	for i := range len(w.begins) - 1 {
		w.begins[i+1] += w.begins[i]
	}
	return w
}

// in returns the indexes of the wanted ones of the targets of an entry, each once.
func (w *wanted) in(keys Targets, ordinal int) []int {
	w.met = w.met[:0]
	for ; len(keys) > 0; keys = keys[keySize:] {
		k := Key(binary.BigEndian.Uint64(keys))
		begin := w.order[w.begins[k>>w.shift]:w.begins[k>>w.shift+1]] // hostile URLs make it long
		i, _ := slices.BinarySearchFunc(begin, k, func(one wantedKey, k Key) int { return cmp.Compare(one.key, k) })
		for ; i < len(begin) && begin[i].key == k; i++ {
			if at := begin[i].at; w.entry[at] != uint64(ordinal+1) {
				w.entry[at] = uint64(ordinal + 1)
				w.met = append(w.met, int(at))
			}
		}
	}
	return w.met
}

// countAgain returns how many entries may replace earlier ones.
func countAgain(file io.ReadSeeker) (n int, err error) {
	_, err = blocks(file, func(_ *bufio.Reader, _, again int) (skip bool, err error) {
		n += again
		return true, nil
	})
	return n, err
}

// Entries calls take for the entries of a file, in their order. Their targets are valid until it
// returns.
func Entries(file io.ReadSeeker, take func(page string, targets Targets)) (cut bool, err error) {
	return entries(file, func(_ int, e *entry) { take(string(e.page), e.targets) })
}

// entries calls take for the entries of a file, with their ordinals. A damaged block ends with what
// is wrong in it; the first is the error.
func entries(file io.ReadSeeker, take func(i int, e *entry)) (cut bool, err error) {
	var packed, text []byte
	var damage error
	i := 0
	cut, err = blocks(file, func(r *bufio.Reader, size, again int) (skip bool, err error) {
		packed = slices.Grow(packed[:0], size)[:size]
		if _, err := io.ReadFull(r, packed); err != nil {
			return false, err
		}
		n, err := s2.DecodedLen(packed)
		if err == nil && n > maxDecoded {
			err = errBlock
		}
		if err == nil {
			text, err = s2.Decode(text[:cap(text)], packed)
		}
		for rest := text; len(rest) > 0 && err == nil; i++ {
			var e entry
			if e, rest, err = next(rest); err != nil {
				break
			}
			if e.again {
				again--
			}
			take(i, &e)
		}
		if again != 0 && err == nil {
			err = errBlock
		}
		damage = cmp.Or(damage, err)
		return false, nil
	})
	return cut, cmp.Or(damage, err)
}

// maxDecoded bounds the entries of a block that is read: those of a Writer, whose last entry may be
// as long as an entry can be.
const maxDecoded = 2 * maxBlock

var errBlock = errors.New("malformed block")

// blocks calls take for the blocks of a file, with their lengths and the number of their entries
// that may replace earlier ones; take reads the block, or reports that it is to be skipped.
func blocks(file io.ReadSeeker, take func(r *bufio.Reader, size, again int) (skip bool, err error)) (cut bool, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		size, err := binary.ReadUvarint(r)
		if err == nil && size == 0 {
			return true, nil
		}
		var again uint64
		if err == nil {
			again, err = binary.ReadUvarint(r)
		}
		if err == nil && (size > uint64(s2.MaxEncodedLen(maxDecoded)) || again > maxDecoded) {
			err = errBlock
		}
		skip := false
		if err == nil {
			skip, err = take(r, int(size), int(again))
		}
		if err == nil && skip {
			_, err = r.Discard(int(size))
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // a batch is being written
			return false, nil
		case err != nil:
			return false, err
		}
	}
}
