package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/weburl"
)

// visited writes a finished job: origins whose URLs are done, some after several tries, refused or
// dropped. It returns the job's dump, and the one expected after Recrawl.
func visited(t *testing.T, fs *storetest.FS, hosts, urls int) (before, after string) {
	t.Helper()
	s := open(t, store.Options{FS: fs, Buffer: buffer})
	defer shut(t, s)
	was, is := newModel(), newModel()
	g := s.Begin()
	for h := range hosts {
		origin := fmt.Sprintf("http://h%d.test", h)
		state := frontier.OriginState{
			Name: origin, Answered: urls, Capped: h == 1, Asked: epoch, Took: time.Second, Most: 3, BackOffEnd: epoch.Add(time.Hour), Strikes: 1,
			Robots: frontier.RobotsState{Have: true, Until: epoch.Add(24 * time.Hour)},
		}
		again := state
		again.Answered, again.Capped, again.Pending = 0, false, urls
		if h == 2 {
			state.Robots = frontier.RobotsState{Shut: true, Until: epoch.Add(time.Hour), Tries: 3, Kind: "connect", Reason: "none"}
			again.Robots = frontier.RobotsState{}
		}
		was.origins[origin], is.origins[origin] = state, again
		for i := range urls + 1 {
			was.next++
			u := recrawledURL(t, origin, i, was.next-1)
			was.seen[u.URL.Fingerprint()] = true
			if i == urls {
				g.Dropped(u, frontier.DropHost)
				was.counts.OverLimit++
				continue
			}
			g.Pending(u)
			pending := u
			if i%3 == 0 {
				pending.Known = &frontier.Snapshot{Number: 1, At: epoch, Status: 200, ETag: `"x"`, Content: [32]byte{byte(i)}}
			}
			is.pending[u.URL.String()] = pending
			u.Known = pending.Known
			if i%4 == 0 {
				key := u.QueueKey()
				u.Tries, u.NotBefore = 1, epoch.Add(time.Minute)
				g.Retried(u, key)
			}
			u.Past = []frontier.Try{{At: epoch, Status: 200}}
			e := store.Entry{State: store.Done, URL: u}
			if i%5 == 0 {
				e = store.Entry{State: store.Refused, URL: u, At: epoch, Kind: "robots", Reason: "line 1"}
				g.Refused(frontier.Refusal{URL: u, Kind: e.Kind, Reason: e.Reason}, e.At)
				was.counts.Refused++
			} else {
				g.Done(u)
				was.counts.Done++
			}
			was.ended[u.URL.String()] = ended(e)
		}
		g.Origin(state)
	}
	was.counts.Duplicates = 7
	g.Counts(was.counts)
	g.Set("note", []byte("kept"))
	was.notes["note"], is.notes = "kept", was.notes
	commit(t, s, g)
	is.seen, is.next = was.seen, was.next
	is.counts = frontier.Stats{Pending: hosts * urls, OverLimit: hosts}
	was.check(t, s)
	return was.dump(), is.dump()
}

func recrawledURL(t *testing.T, origin string, i int, seq uint64) frontier.URL {
	t.Helper()
	u, err := weburl.Parse(fmt.Sprintf("%s/%d", origin, i))
	if err != nil {
		t.Fatal(err)
	}
	return frontier.URL{URL: u, From: origin + "/from" + strings.Repeat("x", 100), Depth: i % 7, Hops: i % 2, Priority: int8(i % 3), Seq: seq}
}

// TestRecrawl checks that all done and refused URLs are pending again, with their old queue keys
// and a snapshot of their last fetch, that hosts have their full limits again, and that nothing
// else has changed. A canceled Recrawl can be continued.
func TestRecrawl(t *testing.T) {
	fs := newFS(t)
	_, after := visited(t, fs, 4, 100)
	s := open(t, store.Options{FS: fs, Buffer: buffer})
	defer func() { shut(t, s) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Recrawl(ctx, false, false, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want context.Canceled", err)
	}
	for range 2 { // the second time there is nothing left to do
		if err := s.Recrawl(t.Context(), false, false, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := dumped(s); err != nil || got != after {
			t.Fatalf("%v\n%s", err, diff(got, after))
		}
	}
	for name := range 4 {
		u := recrawledURL(t, fmt.Sprintf("http://h%d.test", name), 4, 0)
		if e, found, err := s.Find(u.URL); err != nil || !found || e.State != store.Pending || e.URL.Tries != 0 {
			t.Errorf("%s: found %+v, %t, %v", u.URL, e, found, err)
		}
	}
}

// TestRecrawlCrash crashes the machine at many operations of a Recrawl, with none, half or all of
// the unsynced data left. Each URL is then in one state, and the next Recrawl has the same result.
func TestRecrawlCrash(t *testing.T) {
	const hosts = 4
	urls := long.Or(15, 300) // of each
	finished := newFS(t)
	before, after := visited(t, finished, hosts, urls)
	recrawl := func(each func(left *storetest.FS, op storetest.Op, path string)) {
		fs := finished.Crash(100, rand.New(rand.NewPCG(1, 1)))
		s := open(t, store.Options{FS: fs, Buffer: buffer})
		defer shut(t, s)
		if got, err := dumped(s); err != nil || got != before {
			t.Fatalf("%v\n%s", err, diff(got, before))
		}
		fs.Before(func(op storetest.Op, path string) error {
			each(fs, op, path)
			return nil
		})
		if err := s.Recrawl(t.Context(), false, false, nil); err != nil {
			t.Fatal(err)
		}
		fs.Before(nil)
	}
	var all, points storetest.Points
	recrawl(func(_ *storetest.FS, op storetest.Op, path string) { all.Next(op, path) })
	tried := storetest.Sample(all.All(), long.Or(8, 5))
	crashes, between := 0, make(map[int]bool)
	recrawl(func(fs *storetest.FS, op storetest.Op, path string) {
		if !slices.Contains(tried, points.Next(op, path)) {
			return
		}
		crashes++
		left := fs.Crash(crashes%3*50, rand.New(rand.NewPCG(uint64(crashes), 1)))
		pending, err := recrawledAfter(left, hosts*urls, after)
		if err != nil {
			t.Errorf("crash before %s %s: %v", op, path, err)
		}
		between[pending] = true
	})
	t.Logf("crashes at %d of %d operations, which left %d different numbers of pending URLs", crashes, len(all.All()), len(between))
	if crashes < 20 || len(between) < 5 {
		t.Error("too few for a Recrawl of several batches")
	}
}

// recrawledAfter checks the disk that a crash in a Recrawl has left, and the result of another
// Recrawl. It returns the number of pending URLs in between.
func recrawledAfter(left *storetest.FS, urls int, after string) (pending int, err error) {
	s, err := store.Open("/job", store.Options{FS: left, Outputs: outputs, Buffer: buffer})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	counts, err := s.Counts()
	if err != nil {
		return 0, err
	}
	ended := 0
	for state, n := range map[store.State]*int{store.Pending: &pending, store.Done: &ended, store.Refused: &ended} {
		for _, err := range s.URLs(state, "") {
			if err != nil {
				return 0, err
			}
			*n++
		}
	}
	if pending != counts.Pending || ended != counts.Done+counts.Refused || pending+ended != urls {
		return pending, fmt.Errorf("%d pending, %d ended, counts %+v", pending, ended, counts)
	}
	if err := s.Recrawl(context.Background(), false, false, nil); err != nil {
		return pending, err
	}
	got, err := dumped(s)
	if err == nil && got != after {
		err = errors.New(diff(got, after))
	}
	return pending, errors.Join(err, s.Close())
}

// BenchmarkRecrawl measures the Recrawl of a job of b.N URLs, 100 per host, on disk.
func BenchmarkRecrawl(b *testing.B) {
	const each = 100
	s, err := store.Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	g, counts := s.Begin(), frontier.Stats{}
	for i := range b.N {
		origin := fmt.Sprintf("http://h%d.test", i/each)
		u, err := weburl.Parse(fmt.Sprintf("%s/some/path/page-%d.html", origin, i%each))
		if err != nil {
			b.Fatal(err)
		}
		g.Done(frontier.URL{
			URL: u, From: origin + "/", Depth: i % 5, Seq: uint64(i + 1), Past: []frontier.Try{{At: epoch, Status: 200}},
			Known: &frontier.Snapshot{Number: 1, At: epoch, First: epoch, Changed: epoch, Status: 200, Bytes: 10_000, ETag: `"5f1-60d3b6c5"`, Modified: "Sun, 06 Nov 1994 08:49:37 GMT", Type: "text/html"},
		})
		if i%each == 0 {
			g.Origin(frontier.OriginState{Name: origin, Answered: each})
		}
		if counts.Done++; g.Size() > 1<<20 || i == b.N-1 {
			g.Counts(counts)
			if err := s.Commit(g); err != nil {
				b.Fatal(err)
			}
			g = s.Begin()
		}
	}
	b.ResetTimer()
	if err := s.Recrawl(b.Context(), false, false, nil); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
