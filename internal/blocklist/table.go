package blocklist

import (
	"math/bits"
	"slices"
)

// table finds the rules for a request by their keys: every request that a rule matches has one of
// the keys of the rule. Rules without a key are compared with all requests.
type table struct {
	rules   []rule
	keyless []uint32 // places in rules
	entries []entry  // in the order of their slots
	starts  []uint32 // entries[starts[i]:starts[i+1]] are those of slot i
	shift   int
}

type entry struct {
	key  key
	rule uint32 // its place in rules
}

func newTable(rules []rule) table {
	t := table{rules: slices.Clone(rules)} // without spare room
	if len(rules) == 0 {
		return t
	}
	entries := make([]entry, 0, len(rules))
	u := newUsage(rules)
	var keys []key
	for i := range rules {
		keys = rules[i].appendKeys(keys[:0], u)
		for _, k := range keys {
			entries = append(entries, entry{k, uint32(i)})
		}
		if len(keys) == 0 {
			t.keyless = append(t.keyless, uint32(i))
		}
	}
	t.sort(entries)
	return t
}

// sort fills the slots, one for each value of the upper bits of a key: about one for each entry.
func (t *table) sort(entries []entry) {
	width := bits.Len(uint(len(entries)))
	t.shift = 32 - width
	t.starts = make([]uint32, 1<<width+1)
	for _, e := range entries {
		t.starts[e.key>>t.shift]++
	}
	end := uint32(0)
	for i, n := range t.starts {
		end += n
		t.starts[i] = end // falls to the start as the slot is filled
	}
	t.entries = make([]entry, len(entries))
	for _, e := range slices.Backward(entries) {
		start := &t.starts[e.key>>t.shift]
		*start--
		t.entries[*start] = e
	}
}

// find returns a rule that matches a request, or nil.
func (t *table) find(q *query) *rule {
	if len(t.rules) == 0 {
		return nil
	}
	for _, k := range q.keys() {
		slot := k >> t.shift
		for _, e := range t.entries[t.starts[slot]:t.starts[slot+1]] {
			if e.key == k && t.rules[e.rule].matches(q) {
				return &t.rules[e.rule]
			}
		}
	}
	for _, i := range t.keyless {
		if t.rules[i].matches(q) {
			return &t.rules[i]
		}
	}
	return nil
}
