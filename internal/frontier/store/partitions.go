package store

import (
	"context"
	"encoding/binary"
	"maps"
	"time"

	"github.com/weftcrawl/weft/internal/fields"
	"github.com/weftcrawl/weft/internal/frontier"
)

// PartitionState is the stage of a partition in a store.
type PartitionState uint8

// The states. A partition without one has nothing in the store.
const (
	Importing PartitionState = iota + 1 // in part: it is worth nothing
	Owned
	Left     // whole like Owned, and given away: it no longer changes
	Dropping // a part of it is gone
)

// Partition is a store's content of a partition.
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
	for e, err := range each(&s.table, []byte{keyPartition}, []byte{keyPartition + 1}, func(key, value []byte) (e entry, ok bool, err error) {
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

// Export reports the state of a partition to a journal: the rules and the state of each origin,
// then its pending URLs, then those that are done or refused; and counts of variants. It calls
// flush after each piece of at most some thousand entries or a megabyte, and ends at its error.
func (s *Store) Export(number int, to frontier.Journal, flush func() error) error {
	return s.table.eachListed(number, func(listed []byte) error {
		if listed[0] == keyVariants {
			return s.table.exportVariants(listed, to)
		}
		o, err := s.table.listedOrigin(listed)
		if err != nil {
			return err
		}
		if !o.Rules.IsZero() {
			to.Rules(o.Name, o.Rules)
		}
		to.Origin(o.OriginState)
		if err := s.table.exportURLs(o.Name, to, flush); err != nil {
			return err
		}
		return flush()
	})
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
	err := s.table.eachListed(number, func(listed []byte) error {
		if listed[0] == keyVariants {
			return nil
		}
		o, err := s.table.listedOrigin(listed)
		if err != nil {
			return err
		}
		piece.pending, piece.tried = 0, 0
		if err := s.table.exportURLs(o.Name, &piece, flush); err != nil {
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

// settlePiece is the number of origins, or fingerprints, that Settle passes on at once.
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

// Drop removes everything that the store has of a partition, and then its state. It commits many
// batches, so its memory is bounded; after an interruption, or that of an import, another call
// continues. Nothing of the partition may change meanwhile. After each batch, fn is called with the
// fingerprints of the URLs in it. Drop returns the errors of Commit, of fn and of ctx.
func (s *Store) Drop(ctx context.Context, number int, fn func(seen [][16]byte) error) error {
	d := drop{store: s, ctx: ctx, fn: fn, batch: s.Begin()}
	d.batch.SetPartition(number, Dropping)
	if err := d.commit(); err != nil {
		return err
	}
	err := s.table.eachListed(number, func(listed []byte) error {
		if err := d.listed(listed); err != nil {
			return err
		}
		// Its entries go before, or with it.
		d.batch.delete(append(partitionKey(keyListed, number), listed...))
		return d.commitFull()
	})
	if err != nil {
		return err
	}
	d.batch.delete(partitionKey(keyPartition, number))
	d.batch.delete(epochKey(number))
	return d.commit()
}

// drop is the removal of a partition, in batches.
type drop struct {
	store *Store
	ctx   context.Context
	fn    func(seen [][16]byte) error
	batch *Batch
	seen  [][16]byte // removed in batch
}

// commit commits the batch and begins another.
func (d *drop) commit() error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	err := d.store.Commit(d.batch)
	if err == nil && len(d.seen) > 0 {
		err = d.fn(d.seen)
	}
	d.batch, d.seen = d.store.Begin(), nil
	return err
}

// commitFull is commit, if the batch is large enough.
func (d *drop) commitFull() error {
	if d.batch.Size() < d.store.recrawlBatch {
		return nil
	}
	return d.commit()
}

// listed removes what a listed key leads to.
func (d *drop) listed(key []byte) error {
	if key[0] == keyVariants {
		variants, _, err := cutVariants(key)
		if err != nil {
			return d.store.table.check(key, err)
		}
		d.batch.delete(appendKey(nil, keyVariants, variants))
		return nil
	}
	o, err := d.store.table.listedOrigin(key)
	if err != nil {
		return err
	}
	if err := d.urls(o.Name); err != nil {
		return err
	}
	d.batch.delete(originKey(o.Name, originRules))
	d.batch.delete(originKey(o.Name, originState))
	return nil
}

// urls removes the URLs of an origin.
func (d *drop) urls(origin string) error {
	t := &d.store.table
	for _, r := range rangesOf(origin) {
		for c, err := range t.chunks(r[0], r[1]) {
			if err != nil {
				return err
			}
			for key, value := range c.entries {
				u, err := urlOf(key, value)
				if err != nil {
					return t.check(key, err)
				}
				d.batch.delete(key)
				fp := u.Fingerprint()
				d.batch.delete(appendKey(nil, keySeen, fp))
				d.seen = append(d.seen, fp)
			}
			if err := d.commitFull(); err != nil {
				return err
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
