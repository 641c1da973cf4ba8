package store

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// State is where a URL stands.
type State uint8

const (
	Pending State = iota + 1 // leased ones too: a lease is in nobody's memory but the frontier's
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

// Entry is what the store knows of a URL.
type Entry struct {
	URL   frontier.URL // of a dropped one only URL, Priority, Depth, Rank and Seq
	State State

	// Of a refused one, when and why: see frontier.Refusal.
	At           time.Time
	Kind, Reason string

	Drop frontier.Drop // of a dropped one: why
}

// Host is what the store knows of a host.
type Host = frontier.StoredHost

// Redirect is what frontier.Journal's Redirected was told last.
type Redirect struct {
	Fingerprint [16]byte
	Fewest      int
	Target      *frontier.URL // nil: none
}

// Variants is what frontier.Journal's Variants was told last.
type Variants struct {
	Key [16]byte
	N   int
}

// Restore brings a new frontier to where the last committed group has left it. The
// pending URLs stay where they are: see Pending.
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
	for h, err := range s.Hosts() {
		if err != nil {
			return err
		}
		whole = to.Host(now, h.HostState, h.Rules) && whole
	}
	if !whole {
		for h, err := range s.Hosts() {
			if err != nil {
				return err
			}
			to.Beside(h.HostState, h.Rules)
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
	to.Seq(s.NextSeq())
	return nil
}

// Counts returns what the frontier counted: Pending, with leased ones, Done, Refused,
// OverLimit, OverVariants and Duplicates.
func (s *Store) Counts() (frontier.Stats, error) {
	key := []byte{keyCounts}
	value, err := s.get(key)
	if err != nil || value == nil {
		return frontier.Stats{}, err
	}
	counts, err := decodeCounts(value)
	return counts, s.check(key, err)
}

// NextSeq returns a number larger than every committed URL's Seq.
func (s *Store) NextSeq() uint64 { return s.next.Load() }

// Get returns a note; nil: there is none of that name.
func (s *Store) Get(name string) ([]byte, error) { return s.get(textKey(keyNote, name)) }

// Note is a note of the caller's: see Group.Set.
type Note struct {
	Name  string
	Value []byte
}

// Notes yields the notes whose names begin with a prefix, by name.
func (s *Store) Notes(prefix string) iter.Seq2[Note, error] {
	from := textKey(keyNote, prefix)
	return each(s, from, behind(from), func(key, value []byte) (Note, bool, error) {
		return Note{string(key[1:]), slices.Clone(value)}, true, nil
	})
}

// Seen yields the fingerprints of all URLs.
func (s *Store) Seen() iter.Seq2[[16]byte, error] {
	return each(s, []byte{keySeen}, []byte{keySeen + 1}, func(key, _ []byte) (fp [16]byte, ok bool, err error) {
		if len(key) != 1+len(fp) {
			return fp, false, errValue
		}
		return [16]byte(key[1:]), true, nil
	})
}

// Known reports which of these fingerprints, in ascending order, are those of URLs that were
// seen. It looks them up in one go.
func (s *Store) Known(fingerprints [][16]byte) ([]bool, error) {
	const size = 17
	all, keys := make([]byte, 0, size*len(fingerprints)), make([][]byte, len(fingerprints))
	for i, fp := range fingerprints {
		all = appendKey(all, keySeen, fp)
		keys[i] = all[i*size : (i+1)*size]
	}
	return read(s, func() ([]bool, error) { return s.engine.has(keys) })
}

// Hosts yields the hosts that the frontier has told of, by name: those of one by scheme and port.
func (s *Store) Hosts() iter.Seq2[Host, error] {
	return s.hosts([]byte{keyHost}, []byte{keyHost + 1})
}

// Host returns one of them, named by its origin.
func (s *Store) Host(name string) (h Host, found bool, err error) {
	for h, err := range s.hosts(hostKey(name, ofRules), behind(hostKey(name, ofState))) {
		return h, err == nil, err
	}
	return Host{}, false, nil
}

// Named returns the hosts by http and https with these host names, of whatever port: it looks for them in one go.
func (s *Store) Named(names []string) ([]Host, error) {
	ranges := make([][2][]byte, len(names))
	for i, name := range slices.Sorted(slices.Values(names)) {
		ranges[i] = [2][]byte{nameKey(name), behind(nameKey(name))}
	}
	return read(s, func() (hosts []Host, err error) {
		decode := hostDecoder()
		visited := s.engine.visitAll(ranges, func(key, value []byte) bool {
			h, ok, bad := decode(key, value)
			if ok && asked(h.Name) {
				hosts = append(hosts, h)
			}
			err = s.check(key, bad)
			return err == nil
		})
		return hosts, cmp.Or(err, visited)
	})
}

// lookedAt is how many hosts one call of Dormant looks at, at most: those of a million that are done
// with are not to hold up a commit.
const lookedAt = 50_000

// Dormant answers a request to revive hosts. It reads the hosts from one on in order, and
// then all of those that have a name of these.
func (s *Store) Dormant(r frontier.Request) (hosts []Host, last string, err error) {
	var names []string
	from := []byte{keyHost}
	if r.Cursor != "" {
		from = append(hostKey(r.Cursor, ofState), 0)
	}
	for c, looked := new(chunk), 0; ; from = c.behind() {
		if c, err = s.chunk(from, []byte{keyHost + 1}, c, min(2*r.N, chunkEntries)); err != nil {
			return nil, "", err
		}
		for key, value := range c.entries {
			if len(names) == r.N {
				hosts, err = s.Named(names)
				return hosts, last, err
			}
			end := len(key) - 1
			if key[end] != ofState {
				continue
			}
			origin, name, ok := originOf(key)
			wanted, bad := dormant(value, r.Tried)
			switch last = origin; {
			case !ok || bad:
				return nil, "", s.check(key, errValue)
			case wanted && asked(origin) && (len(names) == 0 || name != names[len(names)-1]):
				names = append(names, name)
			}
		}
		if !c.more {
			last = ""
		}
		if looked += len(c.ends) / 2; looked >= lookedAt || !c.more {
			hosts, err = s.Named(names)
			return hosts, last, err
		}
	}
}

// dormant reports from the state of a host whether something of it is pending, or to be tried again.
func dormant(state []byte, tried bool) (wanted, bad bool) {
	d := decoder{b: state}
	n := d.int()
	if again := d.int(); tried {
		n = again
	}
	return n > 0, d.bad
}

// asked reports whether a host is one that the store is asked for by name; others are always in memory.
func asked(origin string) bool { return strings.HasPrefix(origin, "http") }

func (s *Store) hosts(from, to []byte) iter.Seq2[Host, error] {
	return each(s, from, to, hostDecoder())
}

// hostDecoder decodes the entries of hosts, of which each may be two, in order.
func hostDecoder() func(key, value []byte) (h Host, ok bool, err error) {
	var rules robots.Rules // of the host whose state comes next
	return func(key, value []byte) (h Host, ok bool, err error) {
		origin, _, named := originOf(key)
		switch of := key[len(key)-1]; {
		case !named:
			return Host{}, false, errValue
		case of == ofRules:
			rules = robots.Rules{}
			return Host{}, false, rules.UnmarshalBinary(value)
		case of == ofState:
			h.HostState, err = decodeHost(origin, value)
			h.Rules, rules = rules, robots.Rules{}
			return h, true, err
		default:
			return Host{}, false, errValue
		}
	}
}

// Redirects yields what Restore needs of them.
func (s *Store) Redirects() iter.Seq2[Redirect, error] {
	return each(s, []byte{keyRedirect}, []byte{keyRedirect + 1}, func(key, value []byte) (Redirect, bool, error) {
		r, err := decodeRedirect(key[1:], value)
		return r, true, err
	})
}

// Variants yields what Restore needs of them.
func (s *Store) Variants() iter.Seq2[Variants, error] {
	return each(s, []byte{keyVariants}, []byte{keyVariants + 1}, func(key, value []byte) (v Variants, ok bool, err error) {
		if len(key) != 1+len(v.Key) {
			return v, false, errValue
		}
		n, err := decodeNumber(value)
		return Variants{[16]byte(key[1:]), int(min(n, math.MaxInt))}, true, err
	})
}

// VariantsOf returns how many URLs the frontier last told of that were taken of those with a
// frontier.VariantKey; 0: of none.
func (s *Store) VariantsOf(key [16]byte) (int, error) {
	n, err := s.number(appendKey(nil, keyVariants, key))
	return int(min(n, math.MaxInt)), err
}

// Pending returns the pending URLs of a host that come after a place, in order: n at
// most. more reports whether there are others behind them.
func (s *Store) Pending(host string, after frontier.QueueKey, n int) (urls []frontier.URL, more bool, err error) {
	from := append(appendPendingKey(nil, host, after), 0)
	for c := new(chunk); ; from = c.behind() {
		if c, err = s.chunk(from, pendingEnd(host), c, n+1-len(urls)); err != nil {
			return nil, false, err
		}
		for key, value := range c.entries {
			if len(urls) == n {
				return urls, true, nil
			}
			u, err := decodePending(key, value)
			if err != nil {
				return nil, false, s.check(key, err)
			}
			urls = append(urls, u)
		}
		if !c.more {
			return urls, false, nil
		}
	}
}

// URLs yields the URLs in a state. Pending ones come by host, and each host's in the order
// of its queue; those that are done or refused come by URL. Of dropped ones only
// fingerprints are kept: there are none.
func (s *Store) URLs(state State) iter.Seq2[Entry, error] {
	if state == Pending {
		return each(s, []byte{keyPending}, []byte{keyPending + 1}, func(key, value []byte) (Entry, bool, error) {
			u, ok, err := pendingEntry(key, value)
			return Entry{URL: u, State: Pending}, ok, err
		})
	}
	return each(s, []byte{keyEntry}, []byte{keyEntry + 1}, func(_, value []byte) (Entry, bool, error) {
		e, err := decodeEntry(value)
		return e, e.State == state, err
	})
}

func pendingEntry(key, value []byte) (frontier.URL, bool, error) {
	u, err := decodePending(key, value)
	return u, true, err
}

// Find returns what is known of a URL; found is false if it was never seen.
func (s *Store) Find(u weburl.URL) (e Entry, found bool, err error) {
	u = u.Canonical()
	entry, seen := textKey(keyEntry, u.String()), appendKey(nil, keySeen, u.Fingerprint())
	for last := (frontier.QueueKey{}); ; {
		value, err := s.get(entry)
		if err != nil {
			return Entry{}, false, err
		}
		if value != nil {
			e, err := decodeEntry(value)
			return e, err == nil, s.check(entry, err)
		}
		if value, err = s.get(seen); err != nil || value == nil {
			return Entry{}, false, err
		}
		place, why, err := decodeSeen(value)
		if err != nil {
			return Entry{}, false, s.check(seen, err)
		}
		pending := appendPendingKey(nil, u.Origin(), place)
		if value, err = s.get(pending); err != nil {
			return Entry{}, false, err
		}
		if value != nil {
			at, err := decodePending(pending, value)
			return Entry{State: Pending, URL: at}, err == nil, s.check(pending, err)
		}
		if place == last { // else it may have ended or moved since its entry was read
			at := frontier.URL{URL: u, Priority: place.Priority, Depth: place.Depth, Rank: place.Rank, Seq: place.Seq}
			return Entry{State: Dropped, URL: at, Drop: why}, true, nil
		}
		last = place
	}
}

// check turns an error of decoding the value of a key into one of the store.
func (s *Store) check(key []byte, err error) error {
	if err == nil {
		return nil
	}
	return &DamageError{s.state, fmt.Errorf("key %q: %w", readable(key), err)}
}

func (s *Store) get(key []byte) ([]byte, error) {
	return read(s, func() ([]byte, error) { return s.engine.get(key) })
}

// number returns a value that is a number; 0: there is none.
func (s *Store) number(key []byte) (uint64, error) {
	value, err := s.get(key)
	if err != nil || value == nil {
		return 0, err
	}
	n, err := decodeNumber(value)
	return n, s.check(key, err)
}

// read asks the engine.
func read[T any](s *Store, ask func() (T, error)) (T, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	answer := make(chan T, 1) // which an ask that never ends does not touch
	err := s.failure.run(func() error {
		a, err := ask()
		answer <- a
		return err
	})
	if err != nil {
		var none T
		return none, s.unreadable(err)
	}
	return <-answer, nil
}

// unreadable is the error of a read.
func (s *Store) unreadable(err error) error {
	if failed := s.failure.get(); failed != nil {
		return failed
	}
	return damage(s.state, err)
}

const (
	// A scan reads so much at a time, so that whoever looks at each entry for long holds
	// up no compaction.
	chunkEntries = 4096
	chunkBytes   = 1 << 20
)

// chunk is entries in order.
type chunk struct {
	bytes []byte // key, value, key, value, …
	ends  []int  // in bytes
	more  bool   // there may be others behind
}

// behind returns the first key that may come after those of a chunk that is not empty.
func (c *chunk) behind() []byte {
	start, n := 0, len(c.ends)
	if n > 2 {
		start = c.ends[n-3]
	}
	return append(slices.Clone(c.bytes[start:c.ends[n-2]]), 0)
}

// chunk reads the entries from a key on, at most n. It makes room for as much as the one
// before took.
func (s *Store) chunk(from, to []byte, before *chunk, n int) (*chunk, error) {
	return read(s, func() (*chunk, error) {
		c := &chunk{bytes: make([]byte, 0, len(before.bytes)), ends: make([]int, 0, len(before.ends))}
		err := s.engine.visit(from, to, func(key, value []byte) bool {
			c.bytes = append(append(c.bytes, key...), value...)
			c.ends = append(c.ends, len(c.bytes)-len(value), len(c.bytes))
			c.more = len(c.ends) >= 2*n || len(c.bytes) >= chunkBytes
			return !c.more
		})
		return c, err
	})
}

// entries yields keys and values.
func (c *chunk) entries(yield func(key, value []byte) bool) {
	start := 0
	for i := 0; i < len(c.ends); i += 2 {
		key, value := c.bytes[start:c.ends[i]], c.bytes[c.ends[i]:c.ends[i+1]]
		if !yield(key, value) {
			return
		}
		start = c.ends[i+1]
	}
}

// chunks yields the entries from a key on, up to another and without it. The next chunk
// is read while one is looked at.
func (s *Store) chunks(from, to []byte) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		type answer struct {
			*chunk
			err error
		}
		next := make(chan answer, 1) // so that the one that nobody waits for ends
		c, err := s.chunk(from, to, new(chunk), chunkEntries)
		for {
			if err != nil {
				yield(nil, err)
				return
			}
			if before := c; c.more {
				go func() {
					c, err := s.chunk(before.behind(), to, before, chunkEntries)
					next <- answer{c, err}
				}()
			}
			if !yield(c, nil) || !c.more {
				return
			}
			a := <-next
			c, err = a.chunk, a.err
		}
	}
}

// each yields what decode makes of the entries from a key on, up to another and without
// it: those for which ok is true. Their bytes are lent to decode for the call.
func each[T any](s *Store, from, to []byte, decode func(key, value []byte) (v T, ok bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for c, err := range s.chunks(from, to) {
			if err != nil {
				yield(none, err)
				return
			}
			for key, value := range c.entries {
				v, ok, err := decode(key, value)
				if err != nil {
					yield(none, s.check(key, err))
					return
				}
				if ok && !yield(v, nil) {
					return
				}
			}
		}
	}
}

// behind returns the first key that does not begin with a prefix and comes after those
// that do.
func behind(prefix []byte) []byte {
	end := slices.Clone(prefix)
	end[len(end)-1]++ // no name ends with the byte 255: it is none of UTF-8
	return end
}
