package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/store"
)

// TestTruthOf: which folder has the last state of a partition, and which folders are wanted to be
// sure of it.
func TestTruthOf(t *testing.T) {
	folder := func(node, dir string, batches uint64, state store.PartitionState, epoch uint64) *remains {
		f := &remains{batches: batches}
		f.dir, f.was.Node, f.parts = dir, node, map[int]store.Partition{0: {State: state, Epoch: epoch}}
		return f
	}
	const none = store.PartitionState(0)
	nodes := map[string]string{"a": "A", "b": "B", "c": "C"}
	for _, test := range []struct {
		name  string
		claim claim // zero: the partition has had no owner, or the bucket is lost
		noBucket,
		lost bool
		all   []*remains
		from  string
		wants string
	}{
		{name: "its owner was killed", claim: claim{"a", 7, 5}, all: []*remains{folder("a", "a", 1, store.Owned, 7)}, from: "a"},
		{name: "its owner has left", claim: claim{"a", 7, 5}, all: []*remains{folder("a", "a", 1, store.Left, 7)}, from: "a"},
		{name: "its owner is missing", claim: claim{"b", 7, 5}, all: []*remains{folder("a", "a", 1, store.Left, 5), folder("c", "c", 1, none, 0)}, from: "a", wants: "B"},
		{name: "its owner has not started it", claim: claim{"b", 7, 5}, all: []*remains{folder("a", "a", 1, store.Left, 5), folder("b", "b", 9, store.Importing, 7)}, from: "a"},
		{name: "nor the owner before", claim: claim{"b", 9, 7}, all: []*remains{folder("a", "a", 1, store.Owned, 5), folder("b", "b", 9, store.Importing, 9)}, from: "a", wants: "C"},
		{name: "and all folders are here", claim: claim{"b", 9, 7}, all: []*remains{folder("a", "a", 1, store.Owned, 5), folder("b", "b", 9, none, 0), folder("c", "c", 9, store.Importing, 7)}, from: "a"},
		{name: "a stale folder", claim: claim{"b", 9, 7}, all: []*remains{folder("b", "b", 1, store.Owned, 9), folder("a", "a", 8, store.Owned, 5)}, from: "b"},
		{name: "a folder and its copy", claim: claim{"a", 7, 5}, all: []*remains{folder("a", "new", 3, store.Owned, 7), folder("a", "old", 2, store.Owned, 7)}, from: "new"},
		{name: "half of it is gone", claim: claim{"a", 7, 5}, all: []*remains{folder("a", "a", 3, store.Dropping, 7), folder("b", "b", 3, none, 0), folder("c", "c", 3, none, 0)}, lost: true},
		{name: "nobody has had it", all: []*remains{folder("a", "a", 3, none, 0)}},
		{name: "its first owner has not started it", claim: claim{"a", 7, 0}, all: []*remains{folder("a", "a", 3, none, 0)}},
		{name: "its first owner is missing", claim: claim{"b", 7, 0}, all: []*remains{folder("a", "a", 3, none, 0)}, lost: true, wants: "B"},
		{name: "it was restored, and not started", claim: claim{restorer + "x", 90, 0}, all: []*remains{folder("a", "a", 3, store.Owned, 7)}, from: "a", wants: "B C"},
		{name: "no bucket", noBucket: true, all: []*remains{folder("a", "a", 1, store.Left, 5), folder("b", "b", 1, store.Owned, 7)}, from: "b"},
		{name: "no bucket, and no folder has it", noBucket: true, all: []*remains{folder("a", "a", 1, store.Importing, 5)}, lost: true},
	} {
		k := known{lost: test.noBucket, claims: make(map[int]claim)}
		if !test.noBucket {
			k.nodes = nodes
		}
		if test.claim.owner != "" {
			k.claims[0] = test.claim
		}
		for range 2 { // in any order
			slices.Reverse(test.all)
			got := k.truthOf(0, test.all)
			from := ""
			if got.from != nil {
				from = got.from.dir
			}
			if wants := strings.Join(k.namesOf(got.wants), " "); from != test.from || wants != test.wants || got.lost != test.lost {
				t.Errorf("%s: from %q, wants %q, lost %v; expected from %q, wants %q, lost %v", test.name, from, wants, got.lost, test.from, test.wants, test.lost)
			}
		}
	}
}
