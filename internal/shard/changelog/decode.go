package changelog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weftcrawl/weft/internal/fields"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// ErrMalformed is returned for bytes that no Encoder has written.
var ErrMalformed = errors.New("malformed changes")

// VersionError is returned for a block of another version of the format.
type VersionError struct{ Found byte }

func (e *VersionError) Error() string {
	return fmt.Sprintf("changes of format %d, expected %d", e.Found, version)
}

// most bounds a number that a block gives: larger than any count of a crawl, on 32 bits too.
const most = math.MaxInt32

// Replay reports the changes of a block to a journal, in order. Now is the time of the job that
// goes on with them. Before an error some were reported.
func Replay(block []byte, now time.Time, to frontier.Journal) error {
	d := decoder{Reader: fields.Reader{Rest: block}, job: now}
	if v := d.Byte(); !d.Bad && v != version {
		return &VersionError{v}
	}
	d.calendar = time.UnixMicro(d.Varint())
	for len(d.Rest) > 0 && !d.Bad {
		d.change(to)
	}
	if d.Bad {
		return ErrMalformed
	}
	return nil
}

// change reads a change and reports it, if it is valid.
func (d *decoder) change(to frontier.Journal) {
	var report func()
	switch d.Byte() {
	case changePending:
		u := d.url()
		report = func() { to.Pending(u) }
	case changeRetried:
		u := d.url()
		was := d.queueKey(u.Seq)
		report = func() { to.Retried(u, was) }
	case changeDone:
		u := d.url()
		report = func() { to.Done(u) }
	case changeRefused:
		r := frontier.Refusal{URL: d.url()}
		at := d.date()
		r.Kind, r.Reason = d.Text(), d.Text()
		report = func() { to.Refused(r, at) }
	case changeVariants:
		origin, key, n := d.origin(), [16]byte{}, 0
		copy(key[:], d.Bytes(len(key)))
		n = d.number()
		report = func() { to.Variants(origin, key, n) }
	case changeOverLimit:
		origin := d.origin()
		report = func() { to.OverLimit(origin) }
	case changeRules:
		origin, r := d.origin(), robots.Rules{}
		if r.UnmarshalBinary([]byte(d.Text())) != nil {
			d.Fail()
		}
		report = func() { to.Rules(origin, r) }
	case changeOrigin:
		o := frontier.OriginState{Name: d.origin()}
		d.fields(originFields(&o))
		report = func() { to.Origin(o) }
	default:
		d.Fail()
	}
	if !d.Bad {
		report()
	}
}

// decoder reads fields. After an invalid one it returns zeros.
type decoder struct {
	fields.Reader
	job, calendar time.Time
	context
}

func (d *decoder) within(from, to int64) int64 {
	v := d.Varint()
	if v < from || v > to {
		d.Fail()
		return 0
	}
	return v
}

func (d *decoder) small() int8 { return int8(d.within(math.MinInt8, math.MaxInt8)) }

func (d *decoder) number() int { return int(d.within(0, most)) }

// longest bounds the distance of two times, in microseconds: 100 years.
const longest = int64(100 * 365 * 24 * time.Hour / time.Microsecond)

func (d *decoder) date() time.Time { return d.time(d.calendar) }

// time reads a time by its distance from another.
func (d *decoder) time(from time.Time) time.Time {
	v := d.Varint()
	switch {
	case v == never:
		return time.Time{}
	case v < -longest || v > longest:
		d.Fail()
		return time.Time{}
	}
	return from.Add(time.Duration(v) * time.Microsecond)
}

// maxText bounds a text that repeats others: else each byte of a block could make it twice as long.
const maxText = 1 << 20

func (d *decoder) repeat(last *string) string {
	n := d.Uvarint()
	if n > uint64(len(*last)) {
		d.Fail()
		return ""
	}
	rest := d.Text()
	if int(n)+len(rest) > maxText {
		d.Fail()
		return ""
	}
	*last = (*last)[:n] + rest
	return *last
}

// origin reads the name of an origin: what weburl.URL.Origin returns.
func (d *decoder) origin() string {
	name := d.repeat(&d.name)
	if d.Bad {
		return ""
	}
	u, err := weburl.Parse(name + "/")
	if err != nil || u.Origin() != name {
		d.Fail()
	}
	return name
}

func (d *decoder) flags(n int) uint64 {
	bits := d.Uvarint()
	if bits>>n != 0 {
		d.Fail()
		return 0
	}
	return bits
}

func (d *decoder) queueKey(seq uint64) frontier.QueueKey {
	bits := d.flags(3)
	k := frontier.QueueKey{Tried: bits&1 != 0, Kept: bits&2 != 0, ByDepth: bits&4 != 0}
	k.Priority, k.Depth, k.Rank = d.small(), d.number(), d.small()
	k.Seq = seq + uint64(d.Varint())
	return k
}

// maxSeq is larger than every Seq of a frontier: its queues have 48 bits for them.
const maxSeq = 1 << 48

// url reads a URL, which is canonical: parsing does not change it.
func (d *decoder) url() frontier.URL {
	href := d.repeat(&d.href)
	d.seq += uint64(d.Varint())
	bits := d.flags(5)
	if bits&1 != 0 {
		d.repeat(&d.from)
	}
	u := frontier.URL{Kept: bits&2 != 0, ByDepth: bits&4 != 0, Seq: d.seq}
	u.SetSource(d.from)
	d.fields(urlFields(&u))
	if bits&8 != 0 {
		u.Past = d.past()
	}
	if bits&16 != 0 {
		u.Known = new(frontier.Snapshot)
		d.fields(knownFields(u.Known))
	}
	if d.Bad || d.seq >= maxSeq {
		d.Fail()
		return frontier.URL{}
	}
	var err error
	if u.URL, err = weburl.Parse(href); err != nil || !u.URL.IsHTTP() || u.URL.Canonical().String() != href {
		d.Fail()
		return frontier.URL{}
	}
	return u
}

func (d *decoder) past() []frontier.Try {
	n := d.Uvarint()
	if n == 0 || n > uint64(len(d.Rest)) {
		d.Fail()
		return nil
	}
	var past []frontier.Try
	for range n {
		var t frontier.Try
		if d.fields(tryFields(&t)); d.Bad {
			return nil
		}
		past = append(past, t)
	}
	return past
}

func (d *decoder) fields(all []field) {
	bits := d.flags(len(all))
	for i := range all {
		if bits&(1<<i) != 0 {
			d.field(&all[i])
		}
	}
}

func bytesOf(word uint64) []byte { return binary.BigEndian.AppendUint64(nil, word) }

func wordOf(b []byte) uint64 {
	if b == nil {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// field reads a field that is not zero.
func (d *decoder) field(f *field) {
	switch {
	case f.number != nil:
		*f.number = d.number()
	case f.small != nil:
		*f.small = d.small()
	case f.role != nil:
		*f.role = frontier.Role(d.Byte())
		if *f.role > frontier.RoleExternal {
			d.Fail()
		}
	case f.wide != nil:
		*f.wide = d.Varint()
	case f.word != nil:
		*f.word = wordOf(d.Bytes(8))
	case f.hash != nil:
		*f.hash = uint32(d.within(0, math.MaxUint32))
	case f.is != nil:
		*f.is = true
	case f.span != nil:
		*f.span = time.Duration(d.Varint())
	case f.moment != nil:
		*f.moment = d.time(d.job)
	case f.date != nil:
		*f.date = d.date()
	case f.text != nil:
		*f.text = d.Text()
	case f.alike != nil:
		*f.alike = d.repeat(&d.kind)
	default:
		copy(f.content, d.Bytes(len(f.content)))
	}
}
