package robots

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unsafe"
)

const (
	// fewRules is the number of rules up to which they are compared one by one, without an index.
	fewRules = 64

	// maxCompared bounds the rules with wildcards that are compared with one target in full. A file
	// written for people has a handful whose rarest letters occur in the same target.
	maxCompared = 500
)

// An index finds the rules that may match a target, so that a test takes time for these and for the
// length of the target, not for all rules: a page has tens of thousands of links, and a robots.txt
// tens of thousands of rules.
//
// A pattern without a wildcard but a final one is a prefix, and the prefixes of a target are found
// by one binary search. Of a pattern with wildcards, one gram must occur in the target; the pattern
// is compared only if it does.
type index struct {
	rules    []rule
	prefixes []prefix
	wild     []variant       // in order of precedence
	grams    map[uint32]span // of order
	order    []int32         // indexes of wild, by gram
	lengths  [maxGram + 1]bool
	forms    variant // normalTarget, if a rule has two forms
}

// A variant is a rule in the form that is compared with a target in some form: its number, and two
// bits for the forms of the target. An Allow rule has one variant, a Disallow rule one or two: see
// rule.matches.
type variant int32

const (
	literalTarget variant = 1 << iota
	normalTarget
)

func (v variant) rule() int      { return int(v >> 2) }
func (v variant) forms() variant { return v & (literalTarget | normalTarget) }

// pattern returns the pattern of a variant.
func (x *index) pattern(v variant) string {
	if v&literalTarget == 0 {
		return x.rules[v.rule()].normal
	}
	return x.rules[v.rule()].literal
}

// A prefix is a variant whose pattern has no wildcard but at the end.
type prefix struct {
	variant
	length  int32 // of the pattern, without what is at its end
	shorter int32 // the longest of the others that this one begins with; -1: none
}

func (x *index) text(p prefix) string { return x.pattern(p.variant)[:p.length] }

// whole reports whether the target is to be the prefix, as in "/a$", but not in "/a*$".
func (x *index) whole(p prefix) bool { return x.pattern(p.variant)[p.length:] == "$" }

// A span is a part of index.order.
type span struct{ from, to int32 }

// newIndex returns the index of rules in order of precedence; nil for few.
func newIndex(rules []rule) *index {
	if len(rules) <= fewRules {
		return nil
	}
	x := &index{rules: rules}
	known := make(map[string]variant) // the forms of patterns that stand before
	for i := range rules {
		r, v := &rules[i], variant(i)<<2
		switch {
		case r.allow:
			x.add(v|literalTarget, known)
		case r.literal == r.normal:
			x.add(v|literalTarget|normalTarget, known)
		default:
			x.forms = normalTarget
			x.add(v|literalTarget, known)
			x.add(v|normalTarget, known)
		}
	}
	x.sortPrefixes()
	x.sortGrams()
	return x
}

// sortGrams gives each variant with wildcards its gram: the rarest of the file.
func (x *index) sortGrams() {
	if len(x.wild) == 0 {
		return
	}
	counts := new(gramCounts)
	for _, v := range x.wild {
		pattern := x.pattern(v)
		for gram := range grams(pattern, gramLength(pattern)) {
			*counts.at(gram)++
		}
	}
	chosen := make([]uint32, len(x.wild))
	x.order = make([]int32, len(x.wild))
	for i, v := range x.wild {
		pattern, least := x.pattern(v), int32(math.MaxInt32)
		length := gramLength(pattern)
		for gram := range grams(pattern, length) {
			if n := *counts.at(gram); n < least {
				least, chosen[i] = n, gram
			}
		}
		x.lengths[length] = true
		x.order[i] = int32(i)
	}
	slices.SortFunc(x.order, func(a, b int32) int { return cmp.Or(cmp.Compare(chosen[a], chosen[b]), cmp.Compare(a, b)) })
	x.grams = make(map[uint32]span)
	for i, at := range x.order {
		s, known := x.grams[chosen[at]]
		if !known {
			s.from = int32(i)
		}
		s.to = int32(i) + 1
		x.grams[chosen[at]] = s
	}
	x.wild = slices.Clip(x.wild)
}

// add adds a variant, unless it never decides: an empty pattern matches nothing, and one that
// stands before has matched.
func (x *index) add(v variant, known map[string]variant) {
	pattern := x.pattern(v)
	if pattern == "" || v.forms()&^known[pattern] == 0 {
		return
	}
	known[pattern] |= v.forms()
	text := strings.TrimSuffix(strings.TrimSuffix(pattern, "$"), "*")
	if strings.Contains(text, "*") {
		x.wild = append(x.wild, v)
	} else {
		x.prefixes = append(x.prefixes, prefix{variant: v, length: int32(len(text))})
	}
}

// sortPrefixes sorts prefixes, and links each to the longest that it begins with.
func (x *index) sortPrefixes() {
	slices.SortFunc(x.prefixes, func(a, b prefix) int {
		return cmp.Or(strings.Compare(x.text(a), x.text(b)), cmp.Compare(a.variant, b.variant))
	})
	x.prefixes = slices.Clip(x.prefixes)
	last := int32(-1)
	for i := range x.prefixes {
		for last >= 0 && !strings.HasPrefix(x.text(x.prefixes[i]), x.text(x.prefixes[last])) {
			last = x.prefixes[last].shorter
		}
		x.prefixes[i].shorter = last
		last = int32(i)
	}
}

// size returns the approximate size of an index in memory, in bytes.
func (x *index) size() int {
	if x == nil {
		return 0
	}
	const gram = 24 // with the room that a map leaves
	return int(unsafe.Sizeof(*x)) + cap(x.prefixes)*int(unsafe.Sizeof(prefix{})) + 4*cap(x.wild) + 4*cap(x.order) + gram*len(x.grams)
}

// search returns the first rule that matches a target in both forms, len(x.rules) if none does. It
// may take too long to decide.
func (x *index) search(literal, normal string) (first int, decided bool) {
	first, decided = x.first(literal, literalTarget, len(x.rules))
	if decided && (normal != literal || x.forms != 0) {
		first, decided = x.first(normal, normalTarget, first)
	}
	return first, decided
}

// first returns the first rule before a limit that matches a target of a form; else the limit.
func (x *index) first(target string, form variant, limit int) (first int, decided bool) {
	limit = x.firstPrefix(target, form, limit)
	if len(x.wild) == 0 || x.wild[0].rule() >= limit {
		return limit, true
	}
	var room [64]uint64
	marks := room[:]
	if words := (len(x.wild) + 63) / 64; words > len(room) {
		marks = make([]uint64, words)
	}
	x.mark(target, marks)
	compared := 0
	for word, set := range marks {
		for ; set != 0; set &= set - 1 {
			v := x.wild[word*64+bits.TrailingZeros64(set)]
			switch {
			case v.rule() >= limit:
				return limit, true
			case v.forms()&form == 0:
			case compared == maxCompared:
				return 0, false
			case match(x.pattern(v), target):
				return v.rule(), true
			default:
				compared++
			}
		}
	}
	return limit, true
}

// firstPrefix is first, of prefixes only. The longest prefix of a target stands before it in order,
// and whatever stands between begins with that prefix.
func (x *index) firstPrefix(target string, form variant, limit int) int {
	after, _ := slices.BinarySearchFunc(x.prefixes, target, func(p prefix, target string) int {
		if x.text(p) <= target {
			return -1
		}
		return 1
	})
	at := int32(after) - 1
	for at >= 0 && !strings.HasPrefix(target, x.text(x.prefixes[at])) {
		at = x.prefixes[at].shorter
	}
	for ; at >= 0; at = x.prefixes[at].shorter {
		p := x.prefixes[at]
		if p.forms()&form != 0 && (int(p.length) == len(target) || !x.whole(p)) {
			limit = min(limit, p.rule())
		}
	}
	return limit
}
