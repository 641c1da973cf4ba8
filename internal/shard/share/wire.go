package share

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/internal/fields"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// wireVersion is that of encoded messages.
const wireVersion = 1

var errMessage = errors.New("share: not what Encode has written")

// Encode returns a message as bytes.
func Encode(m *Message) []byte {
	e := encoder{wireVersion}
	e.owner(m.From)
	e.owner(m.To)
	e.number(uint64(m.Delay))
	e.number(uint64(len(m.Asks)))
	for i := range m.Asks {
		a := &m.Asks[i]
		e.about(byte(a.Kind), a.Addr, a.Number, a.Epoch)
	}
	e.number(uint64(len(m.Replies)))
	for i := range m.Replies {
		r := &m.Replies[i]
		e.about(byte(r.Verdict), r.Addr, r.Number, r.Epoch)
	}
	e.number(uint64(len(m.Needs)))
	for _, t := range m.Needs {
		e.table(t)
	}
	e.number(uint64(len(m.Declared)))
	for i := range m.Declared {
		d := &m.Declared[i]
		e.table(d.Table)
		e.number(uint64(len(d.Held)))
		for _, h := range d.Held {
			e.addr(h.Addr)
			e.number(h.Number)
		}
	}
	return e
}

type encoder []byte

// about appends what is said of an address, in an ask or a reply.
func (e *encoder) about(what byte, a netip.Addr, number, epoch uint64) {
	*e = append(*e, what)
	e.addr(a)
	e.number(number)
	e.number(epoch)
}

func (e *encoder) number(n uint64) { *e = binary.AppendUvarint(*e, n) }

func (e *encoder) owner(o ownership.Owner) {
	e.number(uint64(len(o.ID)))
	*e = append(*e, o.ID...)
	e.number(o.Incarnation)
}

// addr writes an address: 4 bytes or 16, and the zone.
func (e *encoder) addr(a netip.Addr) {
	b := a.AsSlice()
	*e = append(append(*e, byte(len(b))), b...)
	if len(b) == 16 {
		e.number(uint64(len(a.Zone())))
		*e = append(*e, a.Zone()...)
	}
}

func (e *encoder) table(t Table) {
	e.number(uint64(t.Part))
	e.number(t.Epoch)
}

// Decode is the reverse of Encode.
func Decode(data []byte) (*Message, error) {
	d := decoder{fields.Reader{Rest: data}}
	if d.Byte() != wireVersion {
		return nil, errMessage
	}
	m := &Message{From: d.owner(), To: d.owner(), Delay: max(0, time.Duration(d.Uvarint()))}
	for range d.count(8) {
		m.Asks = append(m.Asks, Ask{Kind(d.below(byte(kinds))), d.addr(), d.Uvarint(), d.Uvarint()})
	}
	for range d.count(8) {
		m.Replies = append(m.Replies, Reply{Verdict(d.below(byte(verdicts))), d.addr(), d.Uvarint(), d.Uvarint()})
	}
	for range d.count(2) {
		m.Needs = append(m.Needs, d.table())
	}
	for range d.count(3) {
		one := Declaration{Table: d.table()}
		for range d.count(6) {
			one.Held = append(one.Held, Held{d.addr(), d.Uvarint()})
		}
		m.Declared = append(m.Declared, one)
	}
	if d.Bad || len(d.Rest) > 0 {
		return nil, errMessage
	}
	return m, nil
}

type decoder struct{ fields.Reader }

// count reads how many values follow, each of which takes so many bytes or more.
func (d *decoder) count(least int) int {
	n := d.Uvarint()
	if n > uint64(len(d.Rest)/least) {
		d.Fail()
		return 0
	}
	return int(n)
}

func (d *decoder) below(n byte) byte {
	b := d.Byte()
	if b >= n {
		d.Fail()
		return 0
	}
	return b
}

func (d *decoder) owner() ownership.Owner {
	return ownership.Owner{ID: d.Text(), Incarnation: d.Uvarint()}
}

func (d *decoder) addr() netip.Addr {
	n := int(d.Byte())
	a, ok := netip.AddrFromSlice(d.Bytes(n))
	if !ok {
		d.Fail()
		return a
	}
	if n == 16 {
		if zone := d.Text(); zone != "" {
			a = a.WithZone(zone)
		}
	}
	return a
}

// mostParts bounds the numbers of partitions.
const mostParts = 1 << 31

func (d *decoder) table() Table {
	part := d.Uvarint()
	if part >= mostParts {
		d.Fail()
	}
	return Table{int(part % mostParts), d.Uvarint()}
}
