package frontier

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/internal/frontier/seen"
)

type fingerprint = [16]byte

// seenSet is the set of URLs seen: a table in memory, and with a limit also what the table may have
// forgotten and the store does not have yet.
//
// Invariant: a fingerprint that was added is in the table, in fresh or sealed, or in the store.
type seenSet struct {
	table  *seen.Set
	fresh  map[fingerprint]struct{} // added since the last seal; only with a limit
	sealed map[fingerprint]struct{} // added before, in a batch that is not committed yet
	batch  map[fingerprint]bool     // whether each URL was seen before the batch; nil: the table knows
	asked  []fingerprint            // of these, the ones that only the store knows, in order
}

func newSeenSet(limit int) seenSet { return seenSet{table: seen.New(limit)} }

// exact reports whether the table alone can tell whether a number of further URLs were seen.
func (s *seenSet) exact(urls int) bool { return s.table.Roomy(urls) }

// reset ends a batch.
func (s *seenSet) reset() { s.batch, s.asked = nil, nil }

// look finds out which URLs of a batch only the store knows.
func (s *seenSet) look(prints []fingerprint) {
	s.batch = make(map[fingerprint]bool, len(prints))
	for _, fp := range prints {
		found, final := s.table.Has(fp)
		if !found && !final {
			found = has(s.fresh, fp) || has(s.sealed, fp)
			final = found
		}
		if _, again := s.batch[fp]; !again && !final && !found {
			s.asked = append(s.asked, fp)
		}
		s.batch[fp] = found
	}
	slices.SortFunc(s.asked, func(a, b fingerprint) int { return bytes.Compare(a[:], b[:]) })
}

// settle takes in which of the fingerprints that were asked about the store has.
func (s *seenSet) settle(found []bool) {
	for i, fp := range s.asked {
		s.batch[fp] = found[i]
		if found[i] {
			s.table.Add(fp) // what is linked to again may be so once more: cache it
		}
	}
	s.asked = nil
}

// surely reports whether a URL of the batch is known to have been seen, before settle.
func (s *seenSet) surely(fp fingerprint) bool {
	if s.batch != nil {
		return s.batch[fp]
	}
	found, _ := s.table.Has(fp)
	return found
}

// has reports whether a fingerprint was added; with a batch, one of that.
func (s *seenSet) has(fp fingerprint) bool {
	if s.batch == nil {
		found, _ := s.table.Has(fp)
		return found
	}
	found, asked := s.batch[fp]
	if !asked {
		panic(fmt.Sprintf("frontier: fingerprint %x is not of the batch given to Prepare", fp))
	}
	return found || has(s.fresh, fp)
}

// add adds a fingerprint, and reports whether it is new.
func (s *seenSet) add(fp fingerprint) bool {
	if !s.table.Limited() {
		return s.table.Add(fp)
	}
	if s.has(fp) {
		return false
	}
	s.table.Add(fp)
	if s.fresh == nil {
		s.fresh = make(map[fingerprint]struct{})
	}
	s.fresh[fp] = struct{}{}
	return true
}

// remove takes out fingerprints that the store does not have any more.
func (s *seenSet) remove(all []fingerprint) {
	for _, fp := range all {
		s.table.Remove(fp)
		delete(s.fresh, fp)
		delete(s.sealed, fp)
	}
}

// seal takes in that what was added until now is in a batch of the journal.
func (s *seenSet) seal() {
	if len(s.sealed) == 0 {
		s.fresh, s.sealed = s.sealed, s.fresh
		return
	}
	for fp := range s.fresh { // the batch before is not committed, or not yet
		s.sealed[fp] = struct{}{}
	}
	clear(s.fresh)
}

// saved takes in that the store has what was sealed.
func (s *seenSet) saved() { clear(s.sealed) }

func has(set map[fingerprint]struct{}, fp fingerprint) bool {
	_, ok := set[fp]
	return ok
}
