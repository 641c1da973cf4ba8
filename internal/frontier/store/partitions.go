package store

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/fields"
	"github.com/weftcrawl/weft/internal/frontier"
)

// PartitionState is how far a store has a partition.
type PartitionState uint8

// The states. A partition without one has nothing in the store.
const (
	Importing PartitionState = iota + 1 // in part: it is worth nothing
	Owned
	Left     // whole like Owned, and given away: it no longer changes
	Dropping // a part of it is gone
)

// Partition is what a store has of a partition.
type Partition struct {
	State PartitionState
	Epoch uint64 // see SetEpoch; 0: none was set
}

// Whole reports whether the store has all of the partition, as of its epoch.
func (p Partition) Whole() bool { return p.State == Owned || p.State == Left }

// SetPartition records the state of a partition.
func (b *Batch) SetPartition(number int, s PartitionState) {
	b.set(partitionKey(keyPartition, number), []byte{byte(s)})
}

// SetEpoch records a number that the caller raises whenever a store gets the partition. Of several
// stores that have a partition whole, the one with the highest number has its last state. Drop
// removes the number.
func (b *Batch) SetEpoch(number int, epoch uint64) {
	b.set(epochKey(number), binary.AppendUvarint(nil, epoch))
}

// Partitions returns all partitions that have a state.
func (s *Store) Partitions() (map[int]Partition, error) {
	all := make(map[int]Partition)
	type entry struct {
		number int
		Partition
	}
	for e, err := range each(s, []byte{keyPartition}, []byte{keyPartition + 1}, func(key, value []byte) (e entry, ok bool, err error) {
		switch d := (decoder{Reader: fields.Reader{Rest: value}}); len(key) {
		case 5:
			e.State = PartitionState(d.Byte())
			if err = d.end(); err == nil && (e.State == 0 || e.State > Dropping) {
				err = errValue
			}
		case 6:
			e.Epoch = d.Uvarint()
			err = d.end()
		default:
			return e, false, errValue
		}
		e.number = int(binary.BigEndian.Uint32(key[1:]))
		return e, true, err
	}) {
		if err != nil {
			return nil, err
		}
		p := all[e.number] // its state comes before its epoch
		p.State, p.Epoch = max(p.State, e.State), max(p.Epoch, e.Epoch)
		all[e.number] = p
	}
	maps.DeleteFunc(all, func(_ int, p Partition) bool { return p.State == 0 })
	return all, nil
}

// Import returns an empty batch for changes that another store has had: see Export. A URL that ends
// in it counts as seen, even if it was never pending here.
func (s *Store) Import() *Batch {
	b := s.Begin()
	b.others = true
	return b
}

// seenElsewhere adds a URL that has ended to the seen set, if another store has had it as pending.
func (b *Batch) seenElsewhere(u frontier.URL) {
	if b.others {
		b.putSeen(u)
	}
}

// list lists a key of an origin under its partition.
func (b *Batch) list(origin string, key []byte) {
	if of := b.store.partition; of != nil {
		b.set(append(partitionKey(keyListed, of(frontier.Hostname(origin))), key...), nil)
	}
}

// Export reports the state of a partition to a journal: the rules and the state of each origin,
// then its pending URLs, then those that are done or refused; and counts of variants. It calls
// flush after each piece of at most some thousand entries or a megabyte, and ends at its error.
func (s *Store) Export(number int, to frontier.Journal, flush func() error) error {
	return s.eachListed(number, func(listed []byte) error {
		if listed[0] == keyVariants {
			return s.exportVariants(listed, to)
		}
		o, err := s.listedOrigin(listed)
		if err != nil {
			return err
		}
		if !o.Rules.IsZero() {
			to.Rules(o.Name, o.Rules)
		}
		to.Origin(o.OriginState)
		if err := s.exportURLs(o.Name, to, flush); err != nil {
			return err
		}
		return flush()
	})
}

// listedOrigin is the listed key of an origin.
func listedOrigin(origin string) []byte {
	key := originKey(origin, originState)
	return key[:len(key)-1]
}

// listedOrigin returns the origin of a listed key.
func (s *Store) listedOrigin(listed []byte) (o Origin, err error) {
	name, _, ok := originOf(append(listed, originState))
	if !ok {
		return o, s.check(listed, errValue)
	}
	o, _, err = s.Origin(name)
	o.Name = name
	return o, err
}

// Settle ends the import of a partition. What was imported may be of several moments: it makes the
// state of each origin agree with its pending URLs. It calls fn with the origins, and with the
// fingerprints of all URLs, in pieces, and ends at its error: see frontier.Frontier.Adopt.
func (s *Store) Settle(number int, fn func([]frontier.OriginState, [][16]byte) error) error {
	b, piece := s.Begin(), settling{}
	flush := func() error {
		if len(piece.seen) < settlePiece && len(piece.origins) < settlePiece {
			return nil
		}
		origins, seen := piece.origins, piece.seen
		piece.origins, piece.seen = nil, nil
		return fn(origins, seen)
	}
	err := s.eachListed(number, func(listed []byte) error {
		if listed[0] == keyVariants {
			return nil
		}
		o, err := s.listedOrigin(listed)
		if err != nil {
			return err
		}
		piece.pending, piece.tried = 0, 0
		if err := s.exportURLs(o.Name, &piece, flush); err != nil {
			return err
		}
		if o.Pending != piece.pending || o.Tried != piece.tried {
			o.Pending, o.Tried = piece.pending, piece.tried
			b.Origin(o.OriginState)
		}
		if b.Size() >= s.recrawlBatch {
			if err := s.Commit(b); err != nil {
				return err
			}
			b = s.Begin()
		}
		piece.origins = append(piece.origins, o.OriginState)
		return flush()
	})
	if err == nil {
		err = s.Commit(b)
	}
	if err == nil {
		err = fn(piece.origins, piece.seen)
	}
	return err
}

// settlePiece is how many origins, or fingerprints, Settle passes on at once.
const settlePiece = 4096

// settling is a journal that counts the URLs of an origin.
type settling struct {
	frontier.Journal // nothing else is reported
	pending, tried   int
	origins          []frontier.OriginState
	seen             [][16]byte
}

func (p *settling) Pending(u frontier.URL) {
	p.pending++
	if u.Tries > 0 {
		p.tried++
	}
	p.Done(u)
}

func (p *settling) Done(u frontier.URL) { p.seen = append(p.seen, u.Fingerprint()) }

func (p *settling) Refused(r frontier.Refusal, _ time.Time) { p.Done(r.URL) }

// exportURLs reports the URLs of an origin.
func (s *Store) exportURLs(origin string, to frontier.Journal, flush func() error) error {
	for _, r := range rangesOf(origin) {
		for c, err := range s.chunks(r[0], r[1]) {
			if err != nil {
				return err
			}
			for key, value := range c.entries {
				if err := s.check(key, report(key, value, to)); err != nil {
					return err
				}
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// report reports the entry of a URL to a journal.
func report(key, value []byte, to frontier.Journal) error {
	if key[0] == keyPending {
		u, err := decodePending(key, value)
		if err == nil {
			to.Pending(u)
		}
		return err
	}
	e, err := decodeEntry(value)
	switch {
	case err != nil:
	case e.State == Done:
		to.Done(e.URL)
	default:
		to.Refused(frontier.Refusal{URL: e.URL, Kind: e.Kind, Reason: e.Reason}, e.At)
	}
	return err
}

func (s *Store) exportVariants(listed []byte, to frontier.Journal) error {
	key, origin, err := cutVariants(listed)
	if err != nil {
		return s.check(listed, err)
	}
	n, err := s.VariantsOf(key)
	if err == nil && n > 0 {
		to.Variants(origin, key, n)
	}
	return err
}

// cutVariants splits the listed key of a count of variants.
func cutVariants(listed []byte) (key [16]byte, origin string, err error) {
	if len(listed) < 1+len(key) {
		return key, "", errValue
	}
	return [16]byte(listed[1:]), string(listed[1+len(key):]), nil
}

// rangesOf returns the ranges of keys that have the URLs of an origin: pending, then ended.
func rangesOf(origin string) [2][2][]byte {
	pending := append(append([]byte{keyPending}, origin...), 0)
	ended := append(append([]byte{keyEntry}, origin...), '/')
	return [2][2][]byte{{pending, prefixEnd(pending)}, {ended, prefixEnd(ended)}}
}

// Drop removes everything that the store has of a partition, and then its state. It commits many
// batches, so its memory is bounded; after an interruption, or that of an import, another call
// continues. Nothing of the partition may change meanwhile. After each batch, fn is called with the
// fingerprints of the URLs in it. Drop returns the errors of Commit, of fn and of ctx.
func (s *Store) Drop(ctx context.Context, number int, fn func(seen [][16]byte) error) error {
	b, seen := s.Begin(), [][16]byte(nil)
	b.SetPartition(number, Dropping)
	commit := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.Commit(b)
		if err == nil && len(seen) > 0 {
			err = fn(seen)
		}
		b, seen = s.Begin(), nil
		return err
	}
	if err := commit(); err != nil {
		return err
	}
	err := s.eachListed(number, func(listed []byte) error {
		if listed[0] == keyVariants {
			key, _, err := cutVariants(listed)
			if err != nil {
				return s.check(listed, err)
			}
			b.delete(appendKey(nil, keyVariants, key))
		} else if err := s.dropOrigin(listed, &b, &seen, commit); err != nil {
			return err
		}
		b.delete(append(partitionKey(keyListed, number), listed...)) // what it leads to goes before, or with it
		if b.Size() >= s.recrawlBatch {
			return commit()
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.delete(partitionKey(keyPartition, number))
	b.delete(epochKey(number))
	return commit()
}

// dropOrigin removes an origin, given its listed key.
func (s *Store) dropOrigin(listed []byte, b **Batch, seen *[][16]byte, commit func() error) error {
	o, err := s.listedOrigin(listed)
	if err != nil {
		return err
	}
	if err := s.dropURLs(o.Name, b, seen, commit); err != nil {
		return err
	}
	(*b).delete(originKey(o.Name, originRules))
	(*b).delete(originKey(o.Name, originState))
	return nil
}

func (s *Store) dropURLs(origin string, b **Batch, seen *[][16]byte, commit func() error) error {
	for _, r := range rangesOf(origin) {
		for c, err := range s.chunks(r[0], r[1]) {
			if err != nil {
				return err
			}
			for key, value := range c.entries {
				u, err := urlOf(key, value)
				if err != nil {
					return s.check(key, err)
				}
				(*b).delete(key)
				fp := u.Fingerprint()
				(*b).delete(appendKey(nil, keySeen, fp))
				*seen = append(*seen, fp)
			}
			if (*b).Size() >= s.recrawlBatch {
				if err := commit(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// urlOf returns the URL of an entry.
func urlOf(key, value []byte) (frontier.URL, error) {
	if key[0] == keyPending {
		return decodePending(key, value)
	}
	e, err := decodeEntry(value)
	return e.URL, err
}

// eachListed calls fn with the keys that are listed under a partition, up to its first error.
func (s *Store) eachListed(number int, fn func(key []byte) error) error {
	prefix := partitionKey(keyListed, number)
	for key, err := range each(s, prefix, partitionKey(keyListed, number+1), func(key, _ []byte) ([]byte, bool, error) {
		if len(key) < len(prefix)+1 {
			return nil, false, errValue
		}
		return slices.Clone(key[len(prefix):]), true, nil
	}) {
		if err == nil {
			err = fn(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func partitionKey(kind byte, number int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, uint32(number))
}

func epochKey(number int) []byte { return append(partitionKey(keyPartition, number), 'e') }
