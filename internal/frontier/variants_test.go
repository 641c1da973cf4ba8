package frontier_test

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// link is a URL that a page leads to.
func link(t testing.TB, url string) frontier.URL {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return frontier.URL{URL: u, From: "http://a.example/", Depth: 1}
}

// TestVariants checks that the limit applies to URLs that differ only in their query, or in the
// parameters of their path, and neither to other paths nor to seeds.
func TestVariants(t *testing.T) {
	for _, c := range []struct {
		name, url string // with a number
		taken     int    // of 9
	}{
		{"query", "http://a.example/p?id=%d", 3},
		{"parameters", "http://a.example/p;jsessionid=%d", 3},
		{"both", "http://a.example/p;v=1?id=%d", 3},
		{"within the path", "http://a.example/map;at=%d/tile.png", 3},
		{"paths", "http://a.example/p%d", 9},
		{"paths with a query", "http://a.example/p%d?id=1", 9},
		{"hosts", "http://h%d.example/p?id=1", 9},
		{"ports", "http://a.example:80%d0/p?id=1", 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := frontier.New(frontier.Config{MaxVariants: 3})
			taken := 0
			for range 2 { // a second time they are known, and counted no more
				for i := range 9 {
					if f.Add(link(t, fmt.Sprintf(c.url, i+1))) {
						taken++
					}
				}
			}
			s := f.View().Stats()
			if taken != c.taken || s.Pending != c.taken || s.OverVariants != 9-c.taken || s.Duplicates != 9 {
				t.Errorf("%d taken, expected %d: %+v", taken, c.taken, s)
			}
		})
	}
	f := frontier.New(frontier.Config{MaxVariants: 3})
	for i := range 9 {
		seed := link(t, fmt.Sprintf("http://a.example/p?seed=%d", i))
		seed.From = ""
		if !f.Add(seed) {
			t.Errorf("seed %d is not taken", i)
		}
	}
	if !f.Add(link(t, "http://a.example/p?id=1")) {
		t.Error("seeds are counted")
	}
	if f = frontier.New(frontier.Config{}); !f.Add(link(t, "http://a.example/p?id=1")) {
		t.Error("without a limit nothing is taken")
	}
}

// TestVariantsRestart checks that the counts outlive the process, behind by less than 64 or an
// eighth, and that a path at its limit stays there.
func TestVariantsRestart(t *testing.T) {
	const limit = 1000
	cfg := frontier.Config{MaxVariants: limit}
	for _, before := range []int{10, 64, 100, 127, 500, 999, 1000} {
		l := newJournal(t)
		f := frontier.New(cfg)
		f.SetJournal(l)
		add := func(from, to int) (taken int) {
			for i := from; i < to; i++ {
				if f.Add(link(t, fmt.Sprintf("http://a.example/p?id=%d", i))) {
					taken++
				}
			}
			return taken
		}
		add(0, before)
		if n := len(l.notes) - before; n > 40 { // for each URL one, and these
			t.Errorf("%d variants: %d calls of the journal, want at most 40", before, n)
		}
		f.NoteOrigins()
		l.commit()
		f = l.restore(cfg, epoch)
		total := before + add(limit, 3*limit)
		if most := limit + max(before/8, min(before, 63)); total < limit || total > most || before == limit && total != limit {
			t.Errorf("%d of %d variants taken in all, %d of them before the restart; expected at most %d", total, limit, before, most)
		}
		f.NoteOrigins()
		l.commit()
		f = l.restore(cfg, epoch)
		if n := add(3*limit, 4*limit); n != 0 {
			t.Errorf("%d more variants of a path that was full", n)
		}
	}
}

// BenchmarkVariants measures what counting costs a URL with a query.
func BenchmarkVariants(b *testing.B) {
	for name, limit := range map[string]int{"counted": 1 << 30, "not counted": 0} {
		b.Run(name, func(b *testing.B) {
			f := frontier.New(frontier.Config{MaxVariants: limit})
			urls := make([]frontier.URL, b.N)
			for i := range urls {
				urls[i] = link(b, fmt.Sprintf("http://a.example/articles/p%d?id=%d", i/1000, i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for _, u := range urls {
				f.Add(u)
			}
		})
	}
}
