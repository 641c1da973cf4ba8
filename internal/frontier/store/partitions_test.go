package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
)

// threePartitions has the hosts h0.test and h3.test in partition 0.
func threePartitions(host string) int { return int(host[1]-'0') % 3 }

// filled returns a store with random contents.
func filled(t *testing.T, fs *storetest.FS, seed uint64) *store.Store {
	t.Helper()
	s, err := store.Open("/job", store.Options{FS: fs, Outputs: outputs, Partition: threePartitions, Buffer: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{rng: rand.New(rand.NewPCG(seed, 0)), model: newModel()}
	g := p.batch(s, 400)
	for i := range 4 { // every URL has an origin
		o := frontier.OriginState{Name: fmt.Sprintf("http://h%d.test", i), Answered: i}
		for _, u := range p.pending {
			if u.URL.Origin() == o.Name {
				o.Pending++
				o.Tried += min(u.Tries, 1)
			}
		}
		g.Origin(o)
	}
	if err := s.Commit(g); err != nil {
		t.Fatal(err)
	}
	return s
}

// content returns the lines of what partitions have, and those of the seen set.
func content(t *testing.T, s *store.Store) (partitions, seen []string) {
	t.Helper()
	text, err := dumped(s)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		switch kind, _, _ := strings.Cut(line, " "); kind {
		case "seen":
			seen = append(seen, line)
		case "redirect", "note", "counts", "next":
		default:
			partitions = append(partitions, line)
		}
	}
	return partitions, seen
}

// impatient is a context that is canceled after it was asked a number of times.
type impatient struct {
	context.Context
	times int
}

func (c *impatient) Err() error {
	if c.times--; c.times < 0 {
		return context.Canceled
	}
	return nil
}

// TestMovePartitions moves all partitions of a store to another, with an interruption in the middle
// of the removal. Then one has what the other had, apart from what was dropped.
func TestMovePartitions(t *testing.T) {
	for seed := range uint64(5) {
		from := filled(t, storetest.New(), seed)
		to, err := store.Open("/job", store.Options{FS: storetest.New(), Outputs: outputs, Partition: threePartitions})
		if err != nil {
			t.Fatal(err)
		}
		want, before := content(t, from)
		if len(want) < 100 || len(before) < 100 {
			t.Fatalf("%d entries, and %d fingerprints", len(want), len(before))
		}
		for p := range 3 {
			whole := from.Begin()
			whole.SetPartition(p, store.Left)
			whole.SetEpoch(p, uint64(200+p))
			if err := from.Commit(whole); err != nil {
				t.Fatal(err)
			}
			b := to.Import()
			b.SetPartition(p, store.Owned)
			b.SetEpoch(p, uint64(300+p))
			flush := func() error {
				err := to.Commit(b)
				b = to.Import()
				return err
			}
			if err := from.Export(p, b, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			if err := flush(); err != nil {
				t.Fatal(err)
			}
			dropped := make(map[[16]byte]bool)
			drop := func(seen [][16]byte) error {
				for _, fp := range seen {
					dropped[fp] = true
				}
				return nil
			}
			if p == 0 { // it has two hosts, and takes several batches
				if err := from.Drop(&impatient{t.Context(), 2}, p, drop); !errors.Is(err, context.Canceled) {
					t.Errorf("Drop, canceled: %v", err)
				}
				if states, err := from.Partitions(); err != nil || states[p].State != store.Dropping || states[p].Whole() {
					t.Errorf("partition %d is in state %d, error %v", p, states[p], err)
				}
			}
			if err := from.Drop(t.Context(), p, drop); err != nil {
				t.Fatal(err)
			}
			if known, err := from.Known(slices.SortedFunc(maps.Keys(dropped), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })); err != nil || len(known) == 0 || slices.Contains(known, true) {
				t.Errorf("partition %d: %v of the URLs that were dropped are known, error %v", p, known, err)
			}
		}
		origins, prints := 0, 0
		for p := range 3 {
			if err := to.Settle(p, func(o []frontier.OriginState, seen [][16]byte) error {
				origins, prints = origins+len(o), prints+len(seen)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		got, moved := content(t, to)
		if origins != 4 || prints != len(moved) {
			t.Errorf("%d origins and %d fingerprints, want 4 and %d", origins, prints, len(moved))
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: moved\n%s", seed, diff(strings.Join(got, ""), strings.Join(want, "")))
		}
		left, rest := content(t, from)
		if len(left) > 0 {
			t.Errorf("seed %d: left are\n%s", seed, strings.Join(left, ""))
		}
		if all := slices.Sorted(slices.Values(slices.Concat(moved, rest))); !slices.Equal(all, slices.Sorted(slices.Values(before))) {
			t.Errorf("seed %d: %d fingerprints, of which %d were moved and %d left", seed, len(before), len(moved), len(rest))
		}
		if next := from.NextSeq(); to.NextSeq() > next || to.NextSeq() < next/2 {
			t.Errorf("the next Seq is %d, and was %d", to.NextSeq(), next)
		}
		states, err := to.Partitions()
		if want := map[int]store.Partition{0: {store.Owned, 300}, 1: {store.Owned, 301}, 2: {store.Owned, 302}}; err != nil || !maps.Equal(states, want) {
			t.Errorf("%v, error %v", states, err)
		}
		if states, err := from.Partitions(); err != nil || len(states) > 0 {
			t.Errorf("%v, error %v", states, err)
		}
	}
}

// TestSettle: an import may lack the state of an origin, or have that of another moment.
func TestSettle(t *testing.T) {
	s, err := store.Open("/job", store.Options{FS: storetest.New(), Partition: threePartitions})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{rng: rand.New(rand.NewPCG(1, 0)), model: newModel()}
	b := s.Import()
	first, second, third := p.url(0), p.url(0), p.url(3)
	b.Origin(frontier.OriginState{Name: "http://h0.test", Pending: 7, Answered: 5})
	b.Pending(first)
	b.Pending(third)
	b.Done(second)
	if err := s.Commit(b); err != nil {
		t.Fatal(err)
	}
	var origins []frontier.OriginState
	var seen [][16]byte
	if err := s.Settle(0, func(some []frontier.OriginState, prints [][16]byte) error {
		origins, seen = append(origins, some...), append(seen, prints...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []frontier.OriginState{{Name: "http://h0.test", Pending: 1, Answered: 5}, {Name: "http://h3.test", Pending: 1}}
	if !slices.Equal(origins, want) {
		t.Errorf("%+v", origins)
	}
	if prints := [][16]byte{first.Fingerprint(), second.Fingerprint(), third.Fingerprint()}; !slices.Equal(seen, prints) {
		t.Errorf("%x, want %x", seen, prints)
	}
	if known, err := s.Known([][16]byte{second.Fingerprint()}); err != nil || !known[0] {
		t.Errorf("a URL that is done is not seen: %v", err)
	}
	if o, _, err := s.Origin("http://h3.test"); err != nil || o.Pending != 1 {
		t.Errorf("%+v, error %v", o, err)
	}
}

// TestUnlisted: without partitions nothing is listed: jobs are as they were.
func TestUnlisted(t *testing.T) {
	s, err := store.Open("/job", store.Options{FS: storetest.New()})
	if err != nil {
		t.Fatal(err)
	}
	g := s.Begin()
	before := g.Size()
	g.Origin(frontier.OriginState{Name: "http://h0.test"})
	size := g.Size() - before
	with := filled(t, storetest.New(), 1).Begin()
	with.Origin(frontier.OriginState{Name: "http://h0.test"})
	if with.Size() <= size {
		t.Errorf("%d bytes with partitions, %d without", with.Size(), size)
	}
	if err := s.Commit(g); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := s.Export(0, s.Begin(), func() error { n++; return nil }); err != nil || n > 0 {
		t.Errorf("exported %d pieces, error %v", n, err)
	}
}

// TestOutbox: messages stay, in order, until they are delivered, and outlive the process.
func TestOutbox(t *testing.T) {
	fs := storetest.New()
	open := func() *store.Store {
		s, err := store.Open("/job", store.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	commit := func(fill func(b *store.Batch)) {
		t.Helper()
		b := s.Begin()
		fill(b)
		if err := s.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	texts := func(after uint64, bytes int) (all []string) {
		t.Helper()
		messages, err := s.Outbox(after, bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			all = append(all, fmt.Sprintf("%d to %d: %c%s", m.ID, m.Partition, m.Kind, m.Data))
		}
		return all
	}
	commit(func(b *store.Batch) {
		b.Post(7, 'l', []byte("one"))
		b.Post(1023, 'c', []byte("two"))
	})
	commit(func(b *store.Batch) { b.Post(7, 'l', []byte("three")) })
	if got := texts(0, 6); !slices.Equal(got, []string{"1 to 7: lone", "2 to 1023: ctwo"}) {
		t.Errorf("%q", got)
	}
	if got := texts(2, 1); !slices.Equal(got, []string{"3 to 7: lthree"}) {
		t.Errorf("%q", got)
	}
	first, err := s.Outbox(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	commit(func(b *store.Batch) { b.Delivered(first...) })
	if n, bytes := s.Waiting(); n != 2 || bytes != 8 || s.Posted() != 3 {
		t.Errorf("%d messages of %d bytes up to %d", n, bytes, s.Posted())
	}
	second, err := s.Outbox(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	commit(func(b *store.Batch) {
		b.Sent(second...)
		b.Rewrite(store.Message{ID: second[0].ID, Partition: 1023, Kind: 'l', Data: []byte("twice")})
	})
	if n, bytes := s.Waiting(); n != 1 || bytes != 5 || len(texts(0, 1000)) != 2 {
		t.Errorf("with one that was sent: %d messages of %d bytes, %q", n, bytes, texts(0, 1000))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	if n, bytes := s.Waiting(); n != 2 || bytes != 10 || s.Posted() != 3 {
		t.Errorf("after a restart: %d messages of %d bytes up to %d", n, bytes, s.Posted())
	}
	commit(func(b *store.Batch) { b.Post(3, 'l', []byte("four")) })
	if got := texts(0, 1000); !slices.Equal(got, []string{"2 to 1023: ltwice", "3 to 7: lthree", "4 to 3: lfour"}) {
		t.Errorf("%q", got)
	}
	if second, err = s.Outbox(0, 1); err != nil {
		t.Fatal(err)
	}
	commit(func(b *store.Batch) { b.Sent(second...) })
	commit(func(b *store.Batch) { b.Forget(second[0].ID) })
	if got := texts(0, 1000); !slices.Equal(got, []string{"3 to 7: lthree", "4 to 3: lfour"}) {
		t.Errorf("%q", got)
	}
	if n, bytes := s.Waiting(); n != 2 || bytes != 9 {
		t.Errorf("%d messages of %d bytes", n, bytes)
	}
}
