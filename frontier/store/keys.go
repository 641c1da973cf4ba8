package store

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"github.com/weftcrawl/weft/frontier"
)

// format is the version of everything that is written: keys, values, the canonical
// form of URLs, their fingerprints.
const format = 5

// The first byte of a key says what it is of.
const (
	keySeen     = 'f' // fingerprint of a URL → its place; of one that was dropped as a variant, and that
	keyPending  = 'p' // host, 0, place → a pending URL
	keyEntry    = 'u' // URL → how it ended: done or refused
	keyHost     = 'h' // name of a host, 0, the rest of its origin, 0 → its robots.txt; and 1 → its state
	keyRedirect = 'k' // fingerprint → the fewest redirects to a URL, and the target of its own
	keyVariants = 'x' // frontier.VariantKey → how many of its URLs were taken
	keyNote     = 'n' // name → a note of the caller's
	keyOutput   = 'o' // name → committed bytes
	keyCounts   = 'c' // → counts of URLs
	keyNext     = 'q' // → the next Seq
	keyVersion  = 'v' // → format
	keyMark     = 'm' // number of the last group → nothing
)

// A key of pending URLs orders a host's URLs as its queue does. A host is an origin,
// which has no byte 0, so no host's keys lie among those of another.
func appendPendingKey(b []byte, host string, p frontier.QueueKey) []byte {
	b = append(b, keyPending)
	b = append(b, host...)
	return appendPlace(append(b, 0), p)
}

// What a key of a host ends with: so both are read at once.
const (
	ofRules = 0
	ofState = 1
)

// A key of a host begins with its name, so that those of one name, by http and by https and of
// whatever port, are found together.
func hostKey(origin string, of byte) []byte {
	name, rest := cutName(origin)
	b := append(nameKey(name), rest...)
	return append(b, of)
}

// nameKey is what the keys of all hosts of a name begin with.
func nameKey(name string) []byte { return append(textKey(keyHost, name), 0) }

// cutName takes the name out of an origin; it is empty if that has none, as "null".
func cutName(origin string) (name, rest string) {
	name = frontier.Hostname(origin)
	scheme, after, ok := strings.Cut(origin, sep)
	if !ok {
		return "", origin
	}
	return name, scheme + sep + after[len(name):]
}

const sep = "://"

// originOf is the origin that a key of a host is of, and its name.
func originOf(key []byte) (origin, name string, ok bool) {
	if len(key) < 2 {
		return "", "", false
	}
	name, rest, ok := strings.Cut(string(key[1:len(key)-1]), "\x00")
	if scheme, port, has := strings.Cut(rest, sep); has {
		return scheme + sep + name + port, name, ok
	}
	return rest, name, ok && name == ""
}

// firstUntried is the place before all URLs that were not tried.
var firstUntried = frontier.QueueKey{Kept: true, Priority: math.MaxInt8, Rank: math.MaxInt8}

// pendingEnd returns what is behind the last key of a host.
func pendingEnd(host string) []byte { return append(append([]byte{keyPending}, host...), 1) }

// appendPlace appends a place so that the order of the bytes is that of the places.
func appendPlace(b []byte, p frontier.QueueKey) []byte {
	b = append(b, standing(p))
	b = append(b, 0x7f^byte(p.Priority)) // 127 is 0, −128 is 255: the higher comes first
	b = appendOrdered(b, uint64(p.Depth))
	b = append(b, 0x7f^byte(p.Rank))
	return appendOrdered(b, p.Seq)
}

// appendOrdered appends the length of a number and its bytes, the highest first.
func appendOrdered(b []byte, n uint64) []byte {
	size := (bits.Len64(n) + 7) / 8
	b = append(b, byte(size))
	return append(b, binary.BigEndian.AppendUint64(nil, n)[8-size:]...)
}

// What was tried comes first, then what is kept.
const (
	standsTried = iota
	standsKept
	standsLast
)

func standing(p frontier.QueueKey) byte {
	switch {
	case p.Tried:
		return standsTried
	case p.Kept:
		return standsKept
	}
	return standsLast
}

func (d *decoder) place() frontier.QueueKey {
	stands := d.byte()
	if stands > standsLast {
		d.fail()
	}
	return frontier.QueueKey{Tried: stands == standsTried, Kept: stands == standsKept, Priority: int8(0x7f ^ d.byte()), Depth: int(d.ordered()), Rank: int8(0x7f ^ d.byte()), Seq: d.ordered()}
}

func (d *decoder) ordered() uint64 {
	size := int(d.byte())
	if size > 8 || size > len(d.b) || size > 0 && d.b[0] == 0 {
		d.fail()
		return 0
	}
	var n uint64
	for _, c := range d.b[:size] {
		n = n<<8 | uint64(c)
	}
	d.b = d.b[size:]
	return n
}

// decodeSeen reads the place of a URL; and, if it is not pending there and has not ended, why
// it was dropped.
func decodeSeen(b []byte) (frontier.QueueKey, frontier.Drop, error) {
	d := decoder{b: b}
	p, why := d.place(), frontier.DropHost
	if len(d.b) > 0 {
		why = frontier.Drop(d.byte())
	}
	return p, why, d.end()
}

func decodePlace(b []byte) (frontier.QueueKey, error) {
	d := decoder{b: b}
	p := d.place()
	return p, d.end()
}

// decodePending reads an entry of a pending URL, whose key says where it stands.
func decodePending(key, value []byte) (frontier.URL, error) {
	host, place, ok := bytes.Cut(key[1:], []byte{0})
	if !ok {
		return frontier.URL{}, errValue
	}
	p, err := decodePlace(place)
	if err != nil {
		return frontier.URL{}, err
	}
	d := decoder{b: value}
	u := d.pending(string(host), p)
	u.Known = d.known()
	return u, d.end()
}

func appendKey(b []byte, kind byte, fp [16]byte) []byte {
	return append(append(b, kind), fp[:]...)
}

// A mark says how many groups there were. Each group removes the mark of the one before:
// where there are two, groups between them are missing, though later ones are not.
func markKey(group uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keyMark}, group)
}

func textKey(kind byte, name string) []byte {
	return append([]byte{kind}, name...)
}

// readable is a key as errors name it.
func readable(key []byte) string {
	s := string(key)
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}
