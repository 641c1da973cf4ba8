package store

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/weftcrawl/weft/frontier"
)

// Recrawl makes every URL that is done or refused pending again, as if never tried, with its queue
// key and a summary of its last visit. With keep, URLs that have a summary come before
// all new ones. Call it for a finished job, before a frontier is restored. Hosts start with fresh
// limits and their previous pace; robots.txt stays valid as long as it would have been, and one
// that could not be fetched is requested at once. Dropped URLs stay dropped.
//
// It commits many batches, so its memory is bounded. Between two of them the store is whole, each
// URL in one state: after an interruption, another call continues. It returns the errors of Commit
// and that of ctx.
func (s *Store) Recrawl(ctx context.Context, keep bool) error {
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	counts.Duplicates = 0
	v := recrawl{store: s, keep: keep, counts: counts}
	v.begin()
	for c, err := range s.chunks([]byte{keyEntry}, []byte{keyEntry + 1}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for key, value := range c.entries {
			if err := v.requeue(key, value); err != nil {
				return err
			}
		}
	}
	return v.commit()
}

// recrawl is the state of one call of Recrawl.
type recrawl struct {
	store    *Store
	keep     bool
	counts   frontier.Stats
	batch    *Batch
	hosts    map[string]frontier.HostState // of the URLs in the batch
	from, to []byte                        // first and last key of their entries; nil if there are none
}

func (v *recrawl) begin() {
	v.batch, v.hosts, v.from = v.store.Begin(), make(map[string]frontier.HostState), nil
}

// commit saves the batch. It holds every entry between its first and its last: nothing else adds
// entries.
func (v *recrawl) commit() error {
	if v.from != nil {
		v.batch.writer.deleteRange(v.from, append(slices.Clone(v.to), 0))
	}
	for _, h := range v.hosts {
		v.batch.Host(h)
	}
	v.batch.Counts(v.counts)
	if err := v.store.Commit(v.batch); err != nil {
		return err
	}
	v.begin()
	return nil
}

// requeue makes the URL of an entry pending.
func (v *recrawl) requeue(key, value []byte) error {
	e, err := decodeEntry(value)
	if err != nil {
		return v.store.check(key, err)
	}
	name := e.URL.URL.Origin()
	h, known := v.hosts[name]
	if !known {
		was, _, err := v.store.Host(name)
		if err != nil {
			return err
		}
		h = resetHost(name, was.HostState)
	}
	h.Pending++
	v.hosts[name] = h
	v.counts.Pending++
	if e.State == Done {
		v.counts.Done--
	} else {
		v.counts.Refused--
	}
	u, was := e.URL, e.URL.QueueKey()
	u.Tries, u.NotBefore, u.Past = 0, time.Time{}, nil
	u.Kept = v.keep && u.Known != nil
	if u.QueueKey() != was {
		v.batch.putSeen(u)
	}
	v.batch.putPending(u)
	if v.from == nil {
		v.from = key
	}
	v.to = key
	if v.batch.Size() >= v.store.recrawlBatch {
		return v.commit()
	}
	return nil
}

// resetHost returns the state of a host at the start of a recrawl, or a few batches later.
func resetHost(name string, h frontier.HostState) frontier.HostState {
	h.Name, h.Tried, h.Answered, h.Capped = name, 0, 0, false
	if h.Robots.Shut {
		h.Robots = frontier.RobotsState{}
	}
	return h
}

// appendKnown appends the summary of the last visit of a URL. It is the last field of a value,
// and absent if nothing is known, as in jobs that predate recrawls.
func appendKnown(b []byte, v *frontier.Visit) []byte {
	if v == nil {
		return b
	}
	b = appendInt(b, v.Number)
	b = appendText(b, v.Change)
	b = appendTime(b, v.At)
	b = appendTime(b, v.First)
	b = appendTime(b, v.Changed)
	b = appendInt(b, v.Status)
	b = appendText(b, v.Redirect)
	b = append(b, v.Content[:]...)
	b = binary.BigEndian.AppendUint64(b, v.Text)
	b = binary.AppendVarint(b, v.Bytes)
	b = binary.AppendUvarint(b, uint64(v.Link))
	b = binary.AppendUvarint(b, uint64(v.RobotsTag))
	b = appendText(b, v.ETag)
	b = appendText(b, v.Modified)
	b = appendText(b, v.Type)
	return appendText(b, v.Title)
}

func (d *decoder) known() *frontier.Visit {
	if len(d.b) == 0 {
		return nil
	}
	v := &frontier.Visit{
		Number: d.int(), Change: d.text(), At: d.time(), First: d.time(), Changed: d.time(),
		Status: d.int(), Redirect: d.text(),
	}
	copy(v.Content[:], d.bytes(len(v.Content)))
	if text := d.bytes(8); text != nil {
		v.Text = binary.BigEndian.Uint64(text)
	}
	v.Bytes, v.Link, v.RobotsTag = d.varint(), d.hash(), d.hash()
	v.ETag, v.Modified, v.Type = d.text(), d.text(), d.text()
	if len(d.b) > 0 { // jobs that predate titles end here
		v.Title = d.text()
	}
	return v
}

// hash reads a 32-bit hash.
func (d *decoder) hash() uint32 {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.fail()
	}
	return uint32(v)
}

// bytes returns the next n bytes, valid until the value changes; nil if there are fewer.
func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}
