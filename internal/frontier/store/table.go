package store

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/weftcrawl/weft/internal/fields"
	"github.com/weftcrawl/weft/internal/frontier"
)

func (t *table) origins(from, to []byte) iter.Seq2[Origin, error] {
	return each(t, from, to, originDecoder())
}

// origin returns an origin by its name.
func (t *table) origin(name string) (o Origin, found bool, err error) {
	for o, err := range t.origins(originKey(name, originRules), prefixEnd(originKey(name, originState))) {
		return o, err == nil, err
	}
	return Origin{}, false, nil
}

// nearer yields the other ways to URLs for Restore.
func (t *table) nearer() iter.Seq2[frontier.URL, error] {
	return each(t, []byte{keyNearer}, []byte{keyNearer + 1}, func(_, value []byte) (frontier.URL, bool, error) {
		d := decoder{Reader: fields.Reader{Rest: value}}
		u := d.fullURL()
		return u, true, d.end()
	})
}

// find returns the entry of a URL within the bounds of the crawl or, if u has such a role, beyond.
func (t *table) find(u frontier.URL) (e Entry, found bool, err error) {
	entry, seen := appendEntryKey(nil, &u), appendKey(nil, keySeen, u.Fingerprint())
	for last := (frontier.QueueKey{}); ; {
		value, err := t.get(entry)
		if err != nil {
			return Entry{}, false, err
		}
		if value != nil {
			e, err := decodeEntry(value)
			return e, err == nil, t.check(entry, err)
		}
		if value, err = t.get(seen); err != nil || value == nil {
			return Entry{}, false, err
		}
		key, why, err := decodeSeen(value)
		if err != nil {
			return Entry{}, false, t.check(seen, err)
		}
		pending := appendPendingKey(nil, u.URL.Origin(), key)
		if value, err = t.get(pending); err != nil {
			return Entry{}, false, err
		}
		if value != nil {
			at, err := decodePending(pending, value)
			return Entry{State: Pending, URL: at}, err == nil, t.check(pending, err)
		}
		if key == last { // else it has ended or moved since its entry was read
			at := frontier.URL{URL: u.URL, Priority: key.Priority, Depth: key.Depth, Rank: key.Rank, Seq: key.Seq}
			return Entry{State: Dropped, URL: at, Drop: why}, true, nil
		}
		last = key
	}
}

// variantsOf returns the number of URLs taken for a frontier.VariantKey.
func (t *table) variantsOf(key [16]byte) (int, error) {
	n, err := t.number(appendKey(nil, keyVariants, key))
	return int(min(n, math.MaxInt)), err
}

// eachListed calls fn with the keys that are listed under a partition, up to its first error.
func (t *table) eachListed(number int, fn func(key []byte) error) error {
	prefix := partitionKey(keyListed, number)
	for key, err := range each(t, prefix, partitionKey(keyListed, number+1), func(key, _ []byte) ([]byte, bool, error) {
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

// listedOrigin returns the origin of a listed key.
func (t *table) listedOrigin(listed []byte) (o Origin, err error) {
	name, _, ok := originOf(append(listed, originState))
	if !ok {
		return o, t.check(listed, errValue)
	}
	o, _, err = t.origin(name)
	o.Name = name
	return o, err
}

// exportURLs reports the URLs of an origin.
func (t *table) exportURLs(origin string, to frontier.Journal, flush func() error) error {
	for _, r := range rangesOf(origin) {
		for c, err := range t.chunks(r[0], r[1]) {
			if err != nil {
				return err
			}
			for key, value := range c.entries {
				if err := t.check(key, report(key, value, to)); err != nil {
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

func (t *table) exportVariants(listed []byte, to frontier.Journal) error {
	key, origin, err := cutVariants(listed)
	if err != nil {
		return t.check(listed, err)
	}
	n, err := t.variantsOf(key)
	if err == nil && n > 0 {
		to.Variants(origin, key, n)
	}
	return err
}

// lastBatch returns the number of the last batch. There must be exactly one mark.
func (t *table) lastBatch() (uint64, error) {
	var marks []uint64
	for n, err := range each(t, []byte{keyMark}, []byte{keyMark + 1}, func(key, _ []byte) (uint64, bool, error) {
		if len(key) != 9 {
			return 0, false, errValue
		}
		return binary.BigEndian.Uint64(key[1:]), true, nil
	}) {
		if err != nil {
			return 0, err
		}
		marks = append(marks, n)
	}
	if len(marks) != 1 {
		return 0, &DamageError{t.dir, fmt.Errorf("batches are missing: the last are %d", marks)}
	}
	return marks[0], nil
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
