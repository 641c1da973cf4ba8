package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/fields"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Values are sequences of fields: integers as varints, strings after their length, a bool as a
// byte. There are no field numbers: another layout is another version of the format.

// errValue is the error of a decoder for bytes that no encoder wrote.
var errValue = errors.New("malformed value")

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendInt(b []byte, n int) []byte { return binary.AppendVarint(b, int64(n)) }

// appendTime appends a time in microseconds, the zero time, which is frequent, as 0. The
// microsecond of 1970 that this costs is no time of a crawl.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	return binary.AppendVarint(b, t.UnixMicro())
}

// appendHref appends an absolute URL, without its origin if that is the known one, as for most
// links.
func appendHref(b []byte, origin, href string) []byte {
	rest, same := strings.CutPrefix(href, origin)
	b = appendBool(b, same)
	return appendText(b, rest)
}

// decoder reads fields. After an invalid field it returns zeros, and end an error.
type decoder struct{ fields.Reader }

// end returns an error unless all bytes were read and valid.
func (d *decoder) end() error {
	if d.Bad || len(d.Rest) > 0 {
		return errValue
	}
	return nil
}

func (d *decoder) int() int {
	v := d.Varint()
	if v < math.MinInt || v > math.MaxInt {
		d.Fail()
	}
	return int(v)
}

func (d *decoder) duration() time.Duration { return time.Duration(d.Varint()) }

func (d *decoder) time() time.Time {
	v := d.Varint()
	if v == 0 {
		return time.Time{}
	}
	return time.UnixMicro(v)
}

func (d *decoder) bool() bool {
	v := d.Byte()
	if v > 1 {
		d.Fail()
	}
	return v == 1
}

func (d *decoder) href(origin string) string {
	same := d.bool()
	rest := d.Text()
	if same {
		return origin + rest
	}
	return rest
}

// url reads a canonical URL: parsing it must not change it.
func (d *decoder) url(origin string) weburl.URL {
	href := d.href(origin)
	if d.Bad {
		return weburl.URL{}
	}
	u, err := weburl.Parse(href)
	if err != nil || u.String() != href {
		d.Fail()
		return weburl.URL{}
	}
	return u
}

func (d *decoder) int8() int8 {
	v := d.Varint()
	if v < math.MinInt8 || v > math.MaxInt8 {
		d.Fail()
	}
	return int8(v)
}

// appendPending appends what the key of a pending URL lacks, except Known, the last field of a
// value: see appendKnown.
func appendPending(b []byte, origin string, u frontier.URL) []byte {
	b = appendHref(b, origin, u.URL.String())
	b = appendHref(b, origin, u.Source())
	b = appendInt(b, u.Hops+int(u.Role)<<roleShift)
	b = appendInt(b, u.Tries)
	b = appendTime(b, u.NotBefore)
	return appendPast(b, u.Past)
}

func (d *decoder) pending(origin string, p frontier.QueueKey) frontier.URL {
	u := frontier.URL{
		URL: d.url(origin), From: d.href(origin), Hops: d.int(), Tries: d.int(), NotBefore: d.time(), Past: d.past(),
		Priority: p.Priority, Depth: p.Depth, Rank: p.Rank, Kept: p.Kept, ByDepth: p.ByDepth, Seq: p.Seq,
	}
	u.SetSource(u.From)
	role := u.Hops >> roleShift
	if u.Hops &= 1<<roleShift - 1; role < 0 || role > int(frontier.RoleExternal) {
		d.Fail()
	}
	u.Role = frontier.Role(role)
	return u
}

// roleShift is the distance of a URL's role from its hops, in one number: so a page, as most
// are, is as in jobs that predate roles.
const roleShift = 16

// appendURL appends all of a URL.
func appendURL(b []byte, u frontier.URL) []byte {
	origin := u.URL.Origin()
	b = appendText(b, origin)
	b = binary.AppendVarint(b, int64(u.Priority))
	b = appendInt(b, u.Depth)
	b = binary.AppendVarint(b, int64(u.Rank))
	b = binary.AppendUvarint(b, u.Seq)
	return appendPending(b, origin, u)
}

func (d *decoder) fullURL() frontier.URL {
	origin := d.Text()
	p := frontier.QueueKey{Priority: d.int8(), Depth: d.int(), Rank: d.int8(), Seq: d.Uvarint()}
	return d.pending(origin, p)
}

func appendPast(b []byte, past []frontier.Try) []byte {
	b = binary.AppendUvarint(b, uint64(len(past)))
	for _, t := range past {
		b = appendTime(b, t.At)
		b = appendInt(b, t.Status)
		b = appendText(b, t.Kind)
		b = appendText(b, t.Reason)
	}
	return b
}

func (d *decoder) past() []frontier.Try {
	n := d.Uvarint()
	if n > uint64(len(d.Rest)) { // a try takes at least four bytes
		d.Fail()
		return nil
	}
	var past []frontier.Try
	for range n {
		past = append(past, frontier.Try{At: d.time(), Status: d.int(), Kind: d.Text(), Reason: d.Text()})
		if d.Bad {
			return nil
		}
	}
	return past
}

// States of an entry under a URL; part of the format.
const (
	entryDone    = 1
	entryRefused = 2
)

func appendDone(b []byte, u frontier.URL) []byte {
	return appendKnown(appendURL(append(b, entryDone), u), u.Known)
}

func appendRefused(b []byte, r frontier.Refusal, at time.Time) []byte {
	b = appendURL(append(b, entryRefused), r.URL)
	b = appendTime(b, at)
	b = appendText(b, r.Kind)
	b = appendText(b, r.Reason)
	return appendKnown(b, r.URL.Known)
}

func decodeEntry(value []byte) (Entry, error) {
	d := decoder{Reader: fields.Reader{Rest: value}}
	var e Entry
	switch d.Byte() {
	case entryDone:
		e = Entry{State: Done, URL: d.fullURL()}
	case entryRefused:
		e = Entry{State: Refused, URL: d.fullURL(), At: d.time(), Kind: d.Text(), Reason: d.Text()}
	default:
		d.Fail()
	}
	e.URL.Known = d.known()
	return e, d.end()
}

func appendOrigin(b []byte, o frontier.OriginState) []byte {
	b = appendInt(b, o.Pending)
	b = appendInt(b, o.Tried)
	b = appendInt(b, o.Answered)
	b = appendBool(b, o.Capped)
	b = appendTime(b, o.Asked)
	b = appendInt(b, int(o.Took))
	b = appendInt(b, int(o.Best))
	b = appendInt(b, o.Most)
	b = appendTime(b, o.BackOffEnd)
	b = appendInt(b, o.Strikes)
	b = appendBool(b, o.Overload)
	b = appendBool(b, o.Robots.Have)
	b = appendBool(b, o.Robots.Shut)
	b = appendTime(b, o.Robots.Until)
	b = appendInt(b, o.Robots.Tries)
	b = appendText(b, o.Robots.Kind)
	b = appendText(b, o.Robots.Reason)
	b = appendBool(b, o.Seed)
	b = appendInt(b, o.Trouble.Failures)
	b = appendBool(b, o.Trouble.GivenUp)
	b = appendBool(b, o.Responded)
	b = appendTime(b, o.Trouble.Since)
	b = appendTime(b, o.Trouble.Until)
	b = appendText(b, o.Trouble.Kind)
	b = appendText(b, o.Trouble.Reason)
	if o.Levels != (frontier.LevelState{}) || o.Errors > 0 {
		b = appendBool(appendInt(b, o.Levels.Least), o.Levels.Joint)
	}
	if o.Errors > 0 {
		b = appendInt(b, o.Errors)
	}
	return b
}

func decodeOrigin(name string, value []byte) (frontier.OriginState, error) {
	d := decoder{Reader: fields.Reader{Rest: value}}
	o := frontier.OriginState{Name: name}
	o.Pending, o.Tried, o.Answered, o.Capped = d.int(), d.int(), d.int(), d.bool()
	o.Asked, o.Took, o.Best, o.Most = d.time(), d.duration(), d.duration(), d.int()
	o.BackOffEnd, o.Strikes, o.Overload = d.time(), d.int(), d.bool()
	o.Robots.Have, o.Robots.Shut, o.Robots.Until = d.bool(), d.bool(), d.time()
	o.Robots.Tries, o.Robots.Kind, o.Robots.Reason = d.int(), d.Text(), d.Text()
	if len(d.Rest) > 0 { // jobs that predate marked seeds end here
		o.Seed = d.bool()
	}
	if len(d.Rest) > 0 { // jobs that predate parked hosts end here
		o.Trouble.Failures, o.Trouble.GivenUp = d.int(), d.bool()
	}
	if len(d.Rest) > 0 {
		o.Responded, o.Trouble.Since, o.Trouble.Until = d.bool(), d.time(), d.time()
		o.Trouble.Kind, o.Trouble.Reason = d.Text(), d.Text()
		if len(d.Rest) > 0 {
			o.Levels.Least, o.Levels.Joint = d.int(), d.bool()
		}
		if len(d.Rest) > 0 { // jobs that predate counts of errors end here
			o.Errors = d.int()
		}
		return o, d.end()
	}
	// In older jobs a parked host held back all of its origins.
	o.Responded = o.Robots.Have || o.Took > 0
	if o.Trouble.Failures > 0 {
		o.Trouble.Since, o.Trouble.Until, o.BackOffEnd = o.Asked, o.BackOffEnd, time.Time{}
	}
	return o, d.end()
}

func appendRedirect(b []byte, fewest int, target *frontier.URL) []byte {
	b = appendInt(b, fewest)
	b = appendBool(b, target != nil)
	if target != nil {
		b = appendURL(b, *target)
	}
	return b
}

func decodeRedirect(fp, value []byte) (Redirect, error) {
	if len(fp) != 16 {
		return Redirect{}, errValue
	}
	d := decoder{Reader: fields.Reader{Rest: value}}
	r := Redirect{Fingerprint: [16]byte(fp), Fewest: d.int()}
	if d.bool() {
		target := d.fullURL()
		r.Target = &target
	}
	return r, d.end()
}

func appendCounts(b []byte, s frontier.Stats) []byte {
	for _, n := range []int{
		s.Pending + s.Leased, s.Done, s.Refused, s.OverLimit, s.OverVariants, s.Duplicates,
	} {
		b = appendInt(b, n)
	}
	return b
}

func decodeCounts(value []byte) (frontier.Stats, error) {
	d := decoder{Reader: fields.Reader{Rest: value}}
	s := frontier.Stats{
		Pending: d.int(), Done: d.int(), Refused: d.int(),
		OverLimit: d.int(), OverVariants: d.int(), Duplicates: d.int(),
	}
	return s, d.end()
}

func decodeNumber(value []byte) (uint64, error) {
	d := decoder{Reader: fields.Reader{Rest: value}}
	n := d.Uvarint()
	return n, d.end()
}

// appendKnown appends the snapshot of a URL. It is the last field of a value,
// and absent if nothing is known, as in jobs that predate recrawls.
func appendKnown(b []byte, known *frontier.Snapshot) []byte {
	if known == nil {
		return b
	}
	b = appendInt(b, known.Number)
	b = appendText(b, known.Change)
	b = appendTime(b, known.At)
	b = appendTime(b, known.First)
	b = appendTime(b, known.Changed)
	b = appendInt(b, known.Status)
	b = appendText(b, known.Redirect)
	b = append(b, known.Content[:]...)
	b = binary.BigEndian.AppendUint64(b, known.Text)
	b = binary.AppendVarint(b, known.Bytes)
	b = binary.AppendUvarint(b, uint64(known.Link))
	b = binary.AppendUvarint(b, uint64(known.RobotsTag))
	b = appendText(b, known.ETag)
	b = appendText(b, known.Modified)
	b = appendText(b, known.Type)
	b = appendText(b, known.Title)
	a, c := &known.About, &known.Capture
	if *a == (frontier.About{}) && known.Gone == 0 && c.At.IsZero() {
		return b
	}
	if b = appendTime(b, c.At); !c.At.IsZero() {
		b = append(b, c.Payload[:]...)
	}
	if *a == (frontier.About{}) && known.Gone == 0 {
		return b
	}
	for _, text := range []string{a.Description, a.H1, a.Canonical, a.Indexability} {
		b = appendText(b, text)
	}
	return appendInt(appendInt(b, a.Words), known.Gone)
}

func (d *decoder) known() *frontier.Snapshot {
	if len(d.Rest) == 0 {
		return nil
	}
	known := &frontier.Snapshot{
		Number: d.int(), Change: d.Text(), At: d.time(), First: d.time(), Changed: d.time(),
		Status: d.int(), Redirect: d.Text(),
	}
	copy(known.Content[:], d.Bytes(len(known.Content)))
	if text := d.Bytes(8); text != nil {
		known.Text = binary.BigEndian.Uint64(text)
	}
	known.Bytes, known.Link, known.RobotsTag = d.Varint(), d.hash(), d.hash()
	known.ETag, known.Modified, known.Type = d.Text(), d.Text(), d.Text()
	if len(d.Rest) > 0 { // jobs that predate titles end here
		known.Title = d.Text()
	}
	if len(d.Rest) > 0 { // there is an archive, or what follows
		if at := d.time(); !at.IsZero() {
			known.Capture.At = at.UTC()
			copy(known.Capture.Payload[:], d.Bytes(len(known.Capture.Payload)))
		}
	}
	if len(d.Rest) > 0 { // it is a page, or gone
		known.About = frontier.About{Description: d.Text(), H1: d.Text(), Canonical: d.Text(), Indexability: d.Text(), Words: d.int()}
		known.Gone = d.int()
	}
	return known
}

// hash reads a 32-bit hash.
func (d *decoder) hash() uint32 {
	v := d.Uvarint()
	if v > math.MaxUint32 {
		d.Fail()
	}
	return uint32(v)
}

// originDecoder decodes the entries of origins, up to two for each, in order.
func originDecoder() func(key, value []byte) (o Origin, ok bool, err error) {
	var rules robots.Rules // of the origin whose state follows
	return func(key, value []byte) (o Origin, ok bool, err error) {
		origin, _, named := originOf(key)
		switch of := key[len(key)-1]; {
		case !named:
			return Origin{}, false, errValue
		case of == originRules:
			rules = robots.Rules{}
			return Origin{}, false, rules.UnmarshalBinary(value)
		case of == originState:
			o.OriginState, err = decodeOrigin(origin, value)
			o.Rules, rules = rules, robots.Rules{}
			return o, true, err
		default:
			return Origin{}, false, errValue
		}
	}
}

func pendingEntry(key, value []byte) (frontier.URL, bool, error) {
	u, err := decodePending(key, value)
	return u, true, err
}

func (d *decoder) queueKey() frontier.QueueKey {
	class := d.Byte()
	if class > classByDepth {
		d.Fail()
	}
	p := frontier.QueueKey{
		Tried: class == classTried, Kept: class == classKept, ByDepth: class == classByDepth,
	}
	if p.ByDepth {
		p.Depth = int(d.ordered())
	}
	p.Priority = int8(0x7f ^ d.Byte())
	if !p.ByDepth {
		p.Depth = int(d.ordered())
	}
	p.Rank, p.Seq = int8(0x7f^d.Byte()), d.ordered()
	return p
}

func (d *decoder) ordered() uint64 {
	size := int(d.Byte())
	if size > 8 || size > len(d.Rest) || size > 0 && d.Rest[0] == 0 {
		d.Fail()
		return 0
	}
	var n uint64
	for _, c := range d.Rest[:size] {
		n = n<<8 | uint64(c)
	}
	d.Rest = d.Rest[size:]
	return n
}

// decodeSeen decodes the queue key of a URL, and why it was dropped, which counts if it is neither
// pending nor done.
func decodeSeen(b []byte) (frontier.QueueKey, frontier.Drop, error) {
	d := decoder{Reader: fields.Reader{Rest: b}}
	p, why := d.queueKey(), frontier.DropHost
	if len(d.Rest) > 0 {
		why = frontier.Drop(d.Byte())
	}
	return p, why, d.end()
}

func decodeQueueKey(b []byte) (frontier.QueueKey, error) {
	d := decoder{Reader: fields.Reader{Rest: b}}
	p := d.queueKey()
	return p, d.end()
}

// decodePending decodes the entry of a pending URL; its key holds the queue key.
func decodePending(key, value []byte) (frontier.URL, error) {
	origin, rest, ok := bytes.Cut(key[1:], []byte{0})
	if !ok {
		return frontier.URL{}, errValue
	}
	p, err := decodeQueueKey(rest)
	if err != nil {
		return frontier.URL{}, err
	}
	d := decoder{Reader: fields.Reader{Rest: value}}
	u := d.pending(string(origin), p)
	u.Known = d.known()
	return u, d.end()
}
