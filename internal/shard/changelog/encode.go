package changelog

import (
	"encoding/binary"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
)

// version is that of the format: the first byte of a block.
const version = 2

// Kinds of changes.
const (
	changePending = iota + 1
	changeRetried
	changeDone
	changeRefused
	changeVariants
	changeOverLimit
	changeRules
	changeOrigin
)

// Encoder is a journal that writes a block. The zero Encoder is not ready: see NewEncoder.
type Encoder struct {
	job, calendar time.Time // of the block
	out           []byte
	context
}

// context is the part of earlier changes that the next one may repeat.
type context struct {
	href, from, name, kind string
	seq                    uint64
}

var _ frontier.Journal = (*Encoder)(nil)

// NewEncoder begins a block at a moment: by the clock of the job, by which the frontier lives, and
// by the calendar.
func NewEncoder(job, calendar time.Time) *Encoder {
	e := &Encoder{job: job, calendar: calendar.Truncate(time.Microsecond), out: []byte{version}}
	e.out = binary.AppendVarint(e.out, e.calendar.UnixMicro())
	return e
}

// Len returns the length of the block so far, in bytes.
func (e *Encoder) Len() int { return len(e.out) }

// Block returns the block, which takes no more changes.
func (e *Encoder) Block() []byte { return e.out }

// Pending, Retried, Moved, Nearer, Done, Refused, Dropped, Variants, OverLimit, Rules, Redirected,
// Origin and Counts implement [frontier.Journal].
func (e *Encoder) Pending(u frontier.URL) {
	e.byte(changePending)
	e.url(&u)
}

func (e *Encoder) Retried(u frontier.URL, was frontier.QueueKey) {
	e.byte(changeRetried)
	e.url(&u)
	e.flags(was.Tried, was.Kept, was.ByDepth)
	e.int(int64(was.Priority))
	e.int(int64(was.Depth))
	e.int(int64(was.Rank))
	e.int(int64(was.Seq - u.Seq))
}

func (e *Encoder) Moved(u frontier.URL, was frontier.QueueKey) { e.Retried(u, was) }

func (e *Encoder) Nearer(frontier.URL, bool) {}

func (e *Encoder) Done(u frontier.URL) {
	e.byte(changeDone)
	e.url(&u)
}

func (e *Encoder) Refused(r frontier.Refusal, at time.Time) {
	e.byte(changeRefused)
	e.url(&r.URL)
	e.date(at)
	e.text(r.Kind)
	e.text(r.Reason)
}

func (e *Encoder) Dropped(frontier.URL, frontier.Drop) {}

func (e *Encoder) Variants(origin string, key [16]byte, n int) {
	e.byte(changeVariants)
	e.origin(origin)
	e.out = append(e.out, key[:]...)
	e.int(int64(n))
}

func (e *Encoder) OverLimit(origin string) {
	e.byte(changeOverLimit)
	e.origin(origin)
}

func (e *Encoder) Rules(origin string, r robots.Rules) {
	e.byte(changeRules)
	e.origin(origin)
	b, _ := r.AppendBinary(nil) // never fails
	e.text(string(b))
}

func (e *Encoder) Redirected([16]byte, int, *frontier.URL) {}

func (e *Encoder) Origin(o frontier.OriginState) {
	e.byte(changeOrigin)
	e.origin(o.Name)
	e.fields(originFields(&o))
}

func (e *Encoder) Counts(frontier.Stats) {}

func (e *Encoder) byte(b byte)      { e.out = append(e.out, b) }
func (e *Encoder) int(n int64)      { e.out = binary.AppendVarint(e.out, n) }
func (e *Encoder) uint(n uint64)    { e.out = binary.AppendUvarint(e.out, n) }
func (e *Encoder) date(t time.Time) { e.int(sinceOr(t, e.calendar)) }

// never stands for the zero time.
const never = -1 << 62

// sinceOr returns the microseconds between two times; never for the zero time.
func sinceOr(t, from time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixMicro() - from.UnixMicro()
}

func (e *Encoder) text(s string) {
	e.uint(uint64(len(s)))
	e.out = append(e.out, s...)
}

// repeat writes a text by what it shares with the one before.
func (e *Encoder) repeat(last *string, s string) {
	n := 0
	for n < min(len(s), len(*last)) && s[n] == (*last)[n] {
		n++
	}
	e.uint(uint64(n))
	e.text(s[n:])
	*last = s
}

func (e *Encoder) origin(name string) { e.repeat(&e.name, name) }

func (e *Encoder) flags(all ...bool) {
	var bits uint64
	for i, is := range all {
		if is {
			bits |= 1 << i
		}
	}
	e.uint(bits)
}

// url writes all of a URL that outlives a process.
func (e *Encoder) url(u *frontier.URL) {
	source := u.Source()
	e.repeat(&e.href, u.URL.String())
	e.int(int64(u.Seq - e.seq))
	e.seq = u.Seq
	e.flags(source != e.from, u.Kept, u.ByDepth, len(u.Past) > 0, u.Known != nil)
	if source != e.from {
		e.repeat(&e.from, source)
	}
	e.fields(urlFields(u))
	if len(u.Past) > 0 {
		e.uint(uint64(len(u.Past)))
		for i := range u.Past {
			e.fields(tryFields(&u.Past[i]))
		}
	}
	if u.Known != nil {
		e.fields(knownFields(u.Known))
	}
}

// fields writes which of the fields are not zero, and these.
func (e *Encoder) fields(all []field) {
	var bits uint64
	for i := range all {
		if !all[i].isZero() {
			bits |= 1 << i
		}
	}
	e.uint(bits)
	for i := range all {
		if bits&(1<<i) != 0 {
			e.field(&all[i])
		}
	}
}

// field writes a field that is not zero.
func (e *Encoder) field(f *field) {
	switch {
	case f.number != nil:
		e.int(int64(*f.number))
	case f.small != nil:
		e.int(int64(*f.small))
	case f.role != nil:
		e.byte(byte(*f.role))
	case f.wide != nil:
		e.int(*f.wide)
	case f.word != nil:
		e.out = append(e.out, bytesOf(*f.word)...)
	case f.hash != nil:
		e.int(int64(*f.hash))
	case f.is != nil: // the bit says it
	case f.span != nil:
		e.int(int64(*f.span))
	case f.moment != nil:
		e.int(sinceOr(*f.moment, e.job))
	case f.date != nil:
		e.date(*f.date)
	case f.text != nil:
		e.text(*f.text)
	case f.alike != nil:
		e.repeat(&e.kind, *f.alike)
	default:
		e.out = append(e.out, f.content...)
	}
}
