package store

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/weftcrawl/weft/frontier"
)

// Revisit makes every URL that is done or refused pending again, as if it had never been
// tried, at its place among the others and with what is known of its last visit. With keep
// those of which something is known are kept: what is new comes behind them. It is for
// a job that is finished, before a frontier is restored. Hosts have their limits anew, and
// their pace as it was; robots.txt is believed as long as it would have been, and one that
// could not be had is asked for at once. Dropped URLs stay dropped.
//
// It commits group after group, so its memory is bounded. Between two of them the store is
// whole, each URL in one state: a Revisit that was broken off goes on when it is called
// again. Errors: those of Commit; that of ctx.
func (s *Store) Revisit(ctx context.Context, keep bool) error {
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	counts.Duplicates = 0
	v := revisit{store: s, keep: keep, counts: counts}
	v.begin()
	for c, err := range s.chunks([]byte{keyEntry}, []byte{keyEntry + 1}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for key, value := range c.entries {
			if err := v.again(key, value); err != nil {
				return err
			}
		}
	}
	return v.commit()
}

// revisit is a Revisit under way.
type revisit struct {
	store    *Store
	keep     bool
	counts   frontier.Stats
	group    *Group
	hosts    map[string]frontier.HostState // of the URLs in the group
	from, to []byte                        // the first and the last key of their entries; nil: there are none
}

func (v *revisit) begin() {
	v.group, v.hosts, v.from = v.store.Begin(), make(map[string]frontier.HostState), nil
}

// commit saves the group. All entries between its first and its last are in it: nobody else
// adds any.
func (v *revisit) commit() error {
	if v.from != nil {
		v.group.batch.deleteRange(v.from, append(slices.Clone(v.to), 0))
	}
	for _, h := range v.hosts {
		v.group.Host(h)
	}
	v.group.Counts(v.counts)
	if err := v.store.Commit(v.group); err != nil {
		return err
	}
	v.begin()
	return nil
}

// again makes the URL of an entry pending.
func (v *revisit) again(key, value []byte) error {
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
		h = anew(name, was.HostState)
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
		v.group.seen(u)
	}
	v.group.pend(u)
	if v.from == nil {
		v.from = key
	}
	v.to = key
	if v.group.Size() >= v.store.piece {
		return v.commit()
	}
	return nil
}

// anew is a host at the beginning of a visit, or some groups later.
func anew(name string, h frontier.HostState) frontier.HostState {
	h.Name, h.Tried, h.Answered, h.Capped = name, 0, 0, false
	if h.Robots.Shut {
		h.Robots = frontier.RobotsState{}
	}
	return h
}

// appendKnown appends what is known of a URL's last visit. It is the last field of a value,
// and missing where nothing is, as in jobs that were begun before there were visits.
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
	return appendText(b, v.Type)
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
	return v
}

// hash reads one of 32 bits.
func (d *decoder) hash() uint32 {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.fail()
	}
	return uint32(v)
}

// bytes returns the next n bytes, lent; nil if there are not as many.
func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}
