package store

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/frontier"
)

// format is the version of everything on disk: keys, values, the canonical form of URLs, and their
// fingerprints.
const format = 5

// The first byte of a key is its kind. The package comment has the layout of the rest.
const (
	keySeen     = 'f' // fingerprint → queue key and, if dropped as a variant, that
	keyPending  = 'p' // origin, 0, queue key → pending URL
	keyEntry    = 'u' // URL, and '#' if it is beyond the bounds → outcome: done or refused
	keyOrigin   = 'h' // name, 0, rest of the origin, originRules or originState → robots.txt or state
	keyRedirect = 'k' // fingerprint → fewest redirects to the URL, and its own target
	keyVariants = 'x' // frontier.VariantKey → number of its URLs taken
	keyNearer   = 'w' // URL → another way to it, with its depth
	keyNote     = 'n' // name → note of the caller's
	keyOutput   = 'o' // name → committed bytes
	keyCounts   = 'c' // → counts of URLs
	keyNext     = 'q' // → next Seq
	keyVersion  = 'v' // → format
	keyMark     = 'm' // number of the last batch → nothing

	// Only in the job of a node of a cluster.
	keyOutbox    = 'b' // number → message
	keyListed    = 'i' // partition, key of the host or the variants → nothing
	keyPartition = 's' // partition → its state; and 'e' → its epoch
)

// A key of a pending URL sorts as the queue of its origin does. An origin contains no byte 0, so
// keys of different origins do not interleave.
func appendPendingKey(b []byte, origin string, p frontier.QueueKey) []byte {
	b = append(b, keyPending)
	b = append(b, origin...)
	return appendQueueKey(append(b, 0), p)
}

// The last byte of a key of an origin; one scan reads both.
const (
	originRules = 0
	originState = 1
)

// A key of an origin starts with its name, so that all schemes and ports of a name are adjacent.
func originKey(origin string, part byte) []byte {
	name, rest := cutName(origin)
	b := append(nameKey(name), rest...)
	return append(b, part)
}

// nameKey is the prefix of the keys of all origins with a name.
func nameKey(name string) []byte { return append(textKey(keyOrigin, name), 0) }

// cutName splits an origin into its name and the rest. The name is empty for an opaque origin,
// "null".
func cutName(origin string) (name, rest string) {
	name = frontier.Hostname(origin)
	scheme, after, ok := strings.Cut(origin, sep)
	if !ok {
		return "", origin
	}
	return name, scheme + sep + after[len(name):]
}

const sep = "://"

// originOf returns the origin and the name in a key of an origin.
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

// firstUntried precedes all URLs that were never tried.
var firstUntried = frontier.QueueKey{Kept: true, Priority: math.MaxInt8, Rank: math.MaxInt8}

// pendingEnd returns the end of the keys of an origin, exclusive.
func pendingEnd(origin string) []byte { return append(append([]byte{keyPending}, origin...), 1) }

// appendQueueKey appends a queue key so that the encoding preserves its order.
func appendQueueKey(b []byte, p frontier.QueueKey) []byte {
	b = append(b, classOf(p))
	if p.ByDepth {
		b = appendOrdered(b, uint64(p.Depth))
	}
	b = append(b, 0x7f^byte(p.Priority)) // 127 is 0, −128 is 255: the higher comes first
	if !p.ByDepth {
		b = appendOrdered(b, uint64(p.Depth))
	}
	b = append(b, 0x7f^byte(p.Rank))
	return appendOrdered(b, p.Seq)
}

// appendOrdered appends the length of a number and its bytes, big-endian, which preserves order.
func appendOrdered(b []byte, n uint64) []byte {
	size := (bits.Len64(n) + 7) / 8
	b = append(b, byte(size))
	return append(b, binary.BigEndian.AppendUint64(nil, n)[8-size:]...)
}

// Tried URLs come first, then kept ones; those whose depth comes before their priority are last.
const (
	classTried = iota
	classKept
	classLast
	classByDepth
)

func classOf(p frontier.QueueKey) byte {
	switch {
	case p.Tried:
		return classTried
	case p.Kept:
		return classKept
	case p.ByDepth:
		return classByDepth
	}
	return classLast
}

func appendKey(b []byte, kind byte, fp [16]byte) []byte {
	return append(append(b, kind), fp[:]...)
}

func appendEntryKey(b []byte, u *frontier.URL) []byte {
	b = append(append(b, keyEntry), u.URL.String()...)
	if u.Role.Beyond() {
		b = append(b, '#') // which no canonical URL has
	}
	return b
}

// markKey is the mark of a batch. Each batch replaces the mark of the previous one: two marks mean
// that batches between them are lost while later ones are not.
func markKey(batch uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keyMark}, batch)
}

func textKey(kind byte, name string) []byte {
	return append([]byte{kind}, name...)
}

// printable returns a key for error messages.
func printable(key []byte) string {
	s := string(key)
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// listedOrigin is the listed key of an origin.
func listedOrigin(origin string) []byte {
	key := originKey(origin, originState)
	return key[:len(key)-1]
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

func partitionKey(kind byte, number int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, uint32(number))
}

func epochKey(number int) []byte { return append(partitionKey(keyPartition, number), 'e') }

// prefixEnd returns the first key after all keys with a prefix.
func prefixEnd(prefix []byte) []byte {
	end := slices.Clone(prefix)
	end[len(end)-1]++ // no name ends with byte 255, which UTF-8 lacks
	return end
}

// behind returns the first key of a kind that may follow another key, of any kind or none.
func behind(kind byte, after string) []byte {
	if end := []byte{kind + 1}; after >= string(end) {
		return end
	}
	if after < string(kind) {
		return []byte{kind}
	}
	return append([]byte(after), 0)
}
