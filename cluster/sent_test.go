package cluster

import (
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
)

// TestSentLinks: links, and what became links, stay as links until the stream has neither them nor
// anything before them, or until too much stays; other messages go.
func TestSentLinks(t *testing.T) {
	var s sentLinks
	var as []store.Message
	batch := func(last uint64, all ...store.Message) {
		s.add(sent{last: last})
		gone, stay, now := s.split(all)
		as = append(as, now...)
		if len(gone) != 1 || gone[0].Kind != changelog.Ended || len(stay) != len(all)-1 {
			t.Errorf("%d messages go, and %d stay", len(gone), len(stay))
		}
	}
	ended := store.Message{ID: 9, Kind: changelog.Ended}
	s.add(sent{became: map[uint64][]byte{3: []byte("links")}})
	batch(10, store.Message{ID: 1, Kind: changelog.Links}, ended)
	batch(20, store.Message{ID: 2, Kind: changelog.Links}, store.Message{ID: 3, Partition: 7, Kind: changelog.Found}, ended)
	if len(as) != 1 || as[0].ID != 3 || as[0].Partition != 7 || as[0].Kind != changelog.Links || string(as[0].Data) != "links" {
		t.Errorf("what became links stays as %+v", as)
	}
	for first, want := range map[uint64][]uint64{10: nil, 11: {1}, 21: {1, 2, 3}} {
		one := sentLinks{all: slices.Clone(s.all), first: first}
		if ids := one.forget(); !slices.Equal(ids, want) {
			t.Errorf("with a stream from %d on, %v are forgotten, expected %v", first, ids, want)
		}
	}
	batch(30, store.Message{ID: 4, Kind: changelog.Links, Data: make([]byte, mostSent-100)}, ended)
	if ids := s.forget(); !slices.Equal(ids, []uint64{1, 2, 3}) {
		t.Errorf("when too much stays, %v are forgotten", ids)
	}
}
