package store

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/fields"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// State is the state of a URL.
type State uint8

const (
	Pending State = iota + 1 // including leased URLs: leases exist only in the frontier
	Done
	Refused
	Dropped // see frontier.Drop
)

func (s State) String() string {
	switch s {
	case Pending:
		return "pending"
	case Done:
		return "done"
	case Refused:
		return "refused"
	case Dropped:
		return "dropped"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Entry is the store's knowledge of a URL.
type Entry struct {
	URL   frontier.URL // for a dropped one only URL, Priority, Depth, Rank and Seq
	State State

	// For a refused URL, when and why: see frontier.Refusal.
	At           time.Time
	Kind, Reason string

	Drop frontier.Drop // the reason, for a dropped one
}

// Cursor returns the place of a URL that is not dropped among those that Store.URLs yields: any
// bytes.
func (e *Entry) Cursor() string {
	if e.State == Pending {
		return string(appendPendingKey(nil, e.URL.URL.Origin(), e.URL.QueueKey()))
	}
	return string(appendEntryKey(nil, &e.URL))
}

// Origin is the store's knowledge of an origin.
type Origin = frontier.StoredOrigin

// Redirect is the last call of frontier.Journal.Redirected for a URL.
type Redirect struct {
	Fingerprint [16]byte
	Fewest      int
	Target      *frontier.URL // nil if none
}

// Variants is the last call of frontier.Journal.Variants for a key.
type Variants struct {
	Key [16]byte
	N   int
}

// Restore brings a new frontier to the state of the last committed batch. Pending URLs stay in the
// store: see Pending.
func (s *Store) Restore(now time.Time, to *frontier.Restorer) error {
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	to.Reserve(counts.Pending + counts.Done + counts.Refused + counts.OverLimit + counts.OverVariants)
	to.Stats(counts)
	for fp, err := range s.Seen() {
		if err != nil {
			return err
		}
		to.Seen(fp)
	}
	whole := true
	for o, err := range s.Origins("") {
		if err != nil {
			return err
		}
		whole = to.Origin(now, o.OriginState, o.Rules) && whole
	}
	if !whole {
		for o, err := range s.Origins("") {
			if err != nil {
				return err
			}
			to.Beside(o.OriginState, o.Rules)
		}
	}
	for r, err := range s.Redirects() {
		if err != nil {
			return err
		}
		to.Redirected(r.Fingerprint, r.Fewest, r.Target)
	}
	for v, err := range s.Variants() {
		if err != nil {
			return err
		}
		to.Variants(v.Key, v.N)
	}
	for u, err := range s.table.nearer() {
		if err != nil {
			return err
		}
		to.Nearer(u)
	}
	to.Seq(s.NextSeq())
	return nil
}

// Counts returns the committed counts of the frontier: Pending, with leased URLs, Done, Refused,
// OverLimit, OverVariants and Duplicates.
func (s *Store) Counts() (frontier.Stats, error) {
	key := []byte{keyCounts}
	value, err := s.table.get(key)
	if err != nil || value == nil {
		return frontier.Stats{}, err
	}
	counts, err := decodeCounts(value)
	return counts, s.table.check(key, err)
}

// NextSeq returns a number larger than the Seq of every committed URL.
func (s *Store) NextSeq() uint64 { return s.next.Load() }

// Get returns a note, or nil.
func (s *Store) Get(name string) ([]byte, error) { return s.table.get(textKey(keyNote, name)) }

// Note is a note of the caller's: see Batch.Set.
type Note struct {
	Name  string
	Value []byte
}

// Notes yields the notes whose names have a prefix, sorted by name.
func (s *Store) Notes(prefix string) iter.Seq2[Note, error] {
	from := textKey(keyNote, prefix)
	return each(&s.table, from, prefixEnd(from), func(key, value []byte) (Note, bool, error) {
		return Note{string(key[1:]), slices.Clone(value)}, true, nil
	})
}

// Seen yields the fingerprints of all URLs.
func (s *Store) Seen() iter.Seq2[[16]byte, error] {
	return each(&s.table, []byte{keySeen}, []byte{keySeen + 1}, func(key, _ []byte) (fp [16]byte, ok bool, err error) {
		if len(key) != 1+len(fp) {
			return fp, false, errValue
		}
		return [16]byte(key[1:]), true, nil
	})
}

// Known reports which fingerprints, in ascending order, are in the seen set.
// One call looks them all up.
func (s *Store) Known(fingerprints [][16]byte) ([]bool, error) {
	const size = 17
	all, keys := make([]byte, 0, size*len(fingerprints)), make([][]byte, len(fingerprints))
	for i, fp := range fingerprints {
		all = appendKey(all, keySeen, fp)
		keys[i] = all[i*size : (i+1)*size]
	}
	return read(&s.table, func() ([]bool, error) { return s.table.engine.has(keys) })
}

// Origins yields the origins of the frontier, by name, then by scheme and port: those behind one of
// them, or all behind "".
func (s *Store) Origins(after string) iter.Seq2[Origin, error] {
	from := []byte{keyOrigin}
	if after != "" {
		from = append(originKey(after, originState), 0)
	}
	return s.table.origins(from, []byte{keyOrigin + 1})
}

// Origin returns one of them by name.
func (s *Store) Origin(name string) (o Origin, found bool, err error) {
	return s.table.origin(name)
}

// Named returns the http and https origins with these names, on any port. One call looks them
// all up.
func (s *Store) Named(names []string) ([]Origin, error) {
	ranges := make([][2][]byte, len(names))
	for i, name := range slices.Sorted(slices.Values(names)) {
		ranges[i] = [2][]byte{nameKey(name), prefixEnd(nameKey(name))}
	}
	return read(&s.table, func() (origins []Origin, err error) {
		decode := originDecoder()
		scanned := s.table.engine.scanAll(ranges, func(key, value []byte) bool {
			o, ok, bad := decode(key, value)
			if ok && byHTTP(o.Name) {
				origins = append(origins, o)
			}
			err = s.table.check(key, bad)
			return err == nil
		})
		return origins, cmp.Or(err, scanned)
	})
}

// dormantScan bounds the origins that one call of Dormant examines: a million finished origins must
// not delay a commit.
const dormantScan = 50_000

// Dormant returns the answer to a frontier.Request to revive origins. It scans the origins from one
// on in order, and then reads all origins with the names that it found.
func (s *Store) Dormant(r frontier.Request) (origins []Origin, last string, err error) {
	var names []string
	from := []byte{keyOrigin}
	if r.Cursor != "" {
		from = append(originKey(r.Cursor, originState), 0)
	}
	for c, looked := new(chunk), 0; ; from = c.after() {
		if c, err = s.table.chunk(from, []byte{keyOrigin + 1}, c, min(2*r.N, chunkEntries)); err != nil {
			return nil, "", err
		}
		for key, value := range c.entries {
			if len(names) == r.N {
				origins, err = s.Named(names)
				return origins, last, err
			}
			end := len(key) - 1
			if key[end] != originState {
				continue
			}
			origin, name, ok := originOf(key)
			wanted, bad := dormant(value, r.Tried)
			switch last = origin; {
			case !ok || bad:
				return nil, "", s.table.check(key, errValue)
			case wanted && byHTTP(origin) && (len(names) == 0 || name != names[len(names)-1]):
				names = append(names, name)
			}
		}
		if !c.more {
			last = ""
		}
		if looked += len(c.ends) / 2; looked >= dormantScan || !c.more {
			origins, err = s.Named(names)
			return origins, last, err
		}
	}
}

// dormant reports from the state of an origin whether it has URLs pending, or to retry.
func dormant(state []byte, tried bool) (wanted, bad bool) {
	d := decoder{Reader: fields.Reader{Rest: state}}
	n := d.int()
	if again := d.int(); tried {
		n = again
	}
	return n > 0, d.Bad
}

// byHTTP reports whether an origin may be looked up by name; others are always in memory.
func byHTTP(origin string) bool { return strings.HasPrefix(origin, "http") }

// Redirects yields the redirects for Restore.
func (s *Store) Redirects() iter.Seq2[Redirect, error] {
	return each(&s.table, []byte{keyRedirect}, []byte{keyRedirect + 1}, func(key, value []byte) (Redirect, bool, error) {
		r, err := decodeRedirect(key[1:], value)
		return r, true, err
	})
}

// Variants yields the counts of variants for Restore.
func (s *Store) Variants() iter.Seq2[Variants, error] {
	return each(&s.table, []byte{keyVariants}, []byte{keyVariants + 1}, func(key, value []byte) (v Variants, ok bool, err error) {
		if len(key) != 1+len(v.Key) {
			return v, false, errValue
		}
		n, err := decodeNumber(value)
		return Variants{[16]byte(key[1:]), int(min(n, math.MaxInt))}, true, err
	})
}

// VariantsOf returns the committed number of URLs taken for a frontier.VariantKey.
func (s *Store) VariantsOf(key [16]byte) (int, error) {
	return s.table.variantsOf(key)
}

// Pending returns up to n pending URLs of an origin after a queue key, in order; fewer if they are
// so long that they take chunkBytes. more reports whether others follow.
func (s *Store) Pending(origin string, after frontier.QueueKey, n int) (urls []frontier.URL, more bool, err error) {
	from := append(appendPendingKey(nil, origin, after), 0)
	for c := new(chunk); ; from = c.after() {
		if c, err = s.table.chunk(from, pendingEnd(origin), c, n+1-len(urls)); err != nil {
			return nil, false, err
		}
		for key, value := range c.entries {
			if len(urls) == n {
				return urls, true, nil
			}
			u, err := decodePending(key, value)
			if err != nil {
				return nil, false, s.table.check(key, err)
			}
			urls = append(urls, u)
		}
		if !c.more {
			return urls, false, nil
		}
		n = len(urls) // and the next chunk tells whether others follow
	}
}

// URLs yields the URLs in a state: pending ones by origin, each origin's in the order of its queue;
// done or refused ones by URL; 0: all of these, one after the other. It begins behind the cursor of
// one of them, or with the first behind "". It yields no dropped URLs: only their fingerprints are
// stored.
func (s *Store) URLs(state State, after string) iter.Seq2[Entry, error] {
	pending := each(&s.table, behind(keyPending, after), []byte{keyPending + 1}, func(key, value []byte) (Entry, bool, error) {
		u, ok, err := pendingEntry(key, value)
		return Entry{URL: u, State: Pending}, ok, err
	})
	ended := each(&s.table, behind(keyEntry, after), []byte{keyEntry + 1}, func(_, value []byte) (Entry, bool, error) {
		e, err := decodeEntry(value)
		return e, e.State == state || state == 0, err
	})
	switch state {
	case Pending:
		return pending
	case 0:
		return chained(pending, ended)
	}
	return ended
}

// chained yields the values of one, then those of the other, up to the first error.
func chained(one, other iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, some := range []iter.Seq2[Entry, error]{one, other} {
			for e, err := range some {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// URLsOf yields the URLs of an origin: pending ones in the order of its queue, then the others, by
// URL.
func (s *Store) URLsOf(origin string) iter.Seq2[Entry, error] {
	ranges := rangesOf(origin)
	pending := each(&s.table, ranges[0][0], ranges[0][1], func(key, value []byte) (Entry, bool, error) {
		u, ok, err := pendingEntry(key, value)
		return Entry{URL: u, State: Pending}, ok, err
	})
	others := each(&s.table, ranges[1][0], ranges[1][1], func(_, value []byte) (Entry, bool, error) {
		e, err := decodeEntry(value)
		return e, true, err
	})
	return chained(pending, others)
}

// Find returns the entry of a URL; found is false if it was never seen. Of one that was crawled
// after it was requested for its role, it is the entry of the crawl.
func (s *Store) Find(u weburl.URL) (e Entry, found bool, err error) {
	e, found, err = s.table.find(frontier.URL{URL: u.Identity()})
	if err == nil && !found {
		e, found, err = s.table.find(frontier.URL{URL: u.Identity(), Role: frontier.RoleExternal})
	}
	return e, found, err
}

// findPending returns those of the URLs that are pending, and all origins of their names.
func (s *Store) findPending(urls []weburl.URL) (pending []frontier.URL, origins []Origin, err error) {
	names := make(map[string]struct{})
	for _, u := range urls {
		e, found, err := s.table.find(frontier.URL{URL: u})
		if err != nil {
			return nil, nil, err
		}
		if found && e.State == Pending {
			pending = append(pending, e.URL)
			names[u.Hostname()] = struct{}{}
		}
	}
	origins, err = s.Named(slices.Collect(maps.Keys(names)))
	return pending, origins, err
}
