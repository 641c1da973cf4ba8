package blocklist

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// key is a hash of something that a rule and a request have in common: a domain of the host, a
// domain of the page, or a gram, gramSize bytes of the URL in lower case.
type key uint32

// gramSize is small enough for most patterns, and large enough to tell words apart.
const gramSize = 4

func gramKey(s string) key {
	return (key(s[0]) | key(s[1])<<8 | key(s[2])<<16 | key(s[3])<<24).mixed()
}

// mixed spreads the lower bits of k over the upper ones, by which a table sorts. No two keys become
// one, as the factor is odd.
func (k key) mixed() key { return k * 0x9E3779B1 }

// Domains hash from their end, so that all domains of a host take one walk (FNV-1a).
const (
	ofHost key = 2166136261
	ofPage key = ^ofHost
)

// domainKeys yields the keys of a host and the domains that it is in, the shortest first.
func domainKeys(host string, k key) iter.Seq[key] {
	return func(yield func(key) bool) {
		for i := len(host) - 1; i >= 0; i-- {
			k = (k ^ key(host[i])) * 16777619
			if (i == 0 || host[i-1] == '.') && !yield(k.mixed()) {
				return
			}
		}
	}
}

func domainKey(host string, of key) (last key) {
	for k := range domainKeys(host, of) {
		last = k
	}
	return last
}

// keys returns the keys that a request can share with a rule, each once if they are many: a page
// can repeat what many rules have in common.
func (q *query) keys() []key {
	if q.known.keys != nil {
		return q.known.keys
	}
	keys := make([]key, 0, len(q.lower)+32)
	keys = slices.AppendSeq(keys, domainKeys(q.lower[q.hostAt:q.hostEnd], ofHost))
	keys = slices.AppendSeq(keys, domainKeys(q.page.Hostname(), ofPage))
	for i := range len(q.lower) - gramSize + 1 {
		keys = append(keys, gramKey(q.lower[i:]))
	}
	if len(keys) > 256 {
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	q.known.keys = keys
	return keys
}

// candidates yields the keys that every request has which the pattern of a rule matches.
func (r *rule) candidates() iter.Seq[key] {
	return func(yield func(key) bool) {
		pattern := lower(r.pattern)
		if host, ok := r.wholeHost(pattern); ok && !yield(domainKey(host, ofHost)) {
			return
		}
		for literal := range strings.FieldsFuncSeq(pattern, func(c rune) bool { return c == '*' || c == '^' }) {
			for i := range len(literal) - gramSize + 1 {
				if !yield(gramKey(literal[i:])) {
					return
				}
			}
		}
	}
}

// wholeHost returns the host that a pattern begins with, if the host of a URL that it matches must
// end there.
func (r *rule) wholeHost(pattern string) (host string, ok bool) {
	if r.anchors&(atDomain|atHost) == 0 {
		return "", false
	}
	end := hostEnd(pattern)
	host = pattern[:end]
	for i := range len(host) {
		if !isHostByte(host[i]) {
			return "", false // such as an IPv6 address
		}
	}
	return host, host != "" && end < len(pattern) && pattern[end] != '*'
}

// usage counts the rules that have a key. Keys that agree in their upper bits share a count.
type usage struct {
	counts []uint32
	shift  int
}

// commonText has the grams that are in most URLs, and so make bad keys.
const commonText = "https://www. http://www. .com/ .net/ .org/"

// common is a count that is above the number of rules.
const common = 2 * MaxRules

func newUsage(rules []rule) usage {
	width := max(14, 4+bits.Len(uint(len(rules)))) // the grams of commonText take few of the counts
	u := usage{make([]uint32, 1<<width), 32 - width}
	for i := range len(commonText) - gramSize + 1 {
		*u.count(gramKey(commonText[i:])) = common
	}
	for i := range rules {
		for k := range rules[i].candidates() {
			*u.count(k)++
		}
	}
	return u
}

func (u *usage) count(k key) *uint32 { return &u.counts[k>>u.shift] }

// appendKeys appends the keys under which a rule is found: the rarest candidate, or if all are
// common, the domains of the pages that it is for. None if there are none.
func (r *rule) appendKeys(keys []key, u usage) []key {
	best, count := key(0), uint32(common)
	for k := range r.candidates() {
		if n := *u.count(k); n < count {
			best, count = k, n
		}
	}
	if count < common {
		return append(keys, best)
	}
	if r.domains == nil || !r.domains.included {
		return keys
	}
	for _, d := range r.domains.sorted {
		if !d.excluded {
			keys = append(keys, domainKey(d.name, ofPage))
		}
	}
	return keys
}
