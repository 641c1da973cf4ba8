package cluster

import (
	"testing"

	"github.com/weftcrawl/weft/cluster/changelog"
	"github.com/weftcrawl/weft/frontier/store"
)

// TestDue: what the last commit has ended waits for the next, unless somebody waits for it.
func TestDue(t *testing.T) {
	t.Parallel()
	const f, l, e = changelog.Found, changelog.Links, changelog.Ended
	for _, c := range []struct {
		kinds  []byte // of the messages from 1 on
		wanted uint64
		due    int
	}{
		{nil, 0, 0},
		{[]byte{l, f}, 0, 2},
		{[]byte{l, f, e, e}, 0, 2},
		{[]byte{e, e}, 0, 0},
		{[]byte{e, e, f, e}, 0, 3},
		{[]byte{l, f, e, e}, 2, 2},
		{[]byte{l, f, e, e}, 3, 4},
		{[]byte{e}, 7, 1},
	} {
		o := new(outbox)
		o.wanted.Store(c.wanted)
		var all []store.Message
		for i, kind := range c.kinds {
			all = append(all, store.Message{ID: uint64(i + 1), Kind: kind})
		}
		if due := o.due(all); due != c.due {
			t.Errorf("%q, wanted %d: %d are due, expected %d", c.kinds, c.wanted, due, c.due)
		}
	}
}
