package frontier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

func TestQueueKeys(t *testing.T) {
	keys := []frontier.QueueKey{ // in order
		{Tried: true, Priority: 1, Depth: 9, Seq: 9},
		{Tried: true, Seq: 8},
		{Kept: true, Priority: 0, Depth: 9, Seq: 7},
		{Kept: true, Priority: -128, Depth: 0, Seq: 7},
		{Priority: 127, Depth: 3, Seq: 7},
		{Priority: 0, Depth: 0, Seq: 4},
		{Priority: 0, Depth: 0, Seq: 5},
		{Priority: 0, Depth: 1, Rank: 127, Seq: 6},
		{Priority: 0, Depth: 1, Seq: 3},
		{Priority: 0, Depth: 1, Rank: -1, Seq: 2},
		{Priority: -128, Depth: 0, Seq: 1},
	}
	for i, p := range keys {
		for j, q := range keys {
			if got := p.Compare(q); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%+v.Compare(%+v) = %d", p, q, got)
			}
		}
	}
	if got, want := (&frontier.URL{Tries: 2, Kept: true, Priority: 3, Depth: 4, Rank: 6, Seq: 5}).QueueKey(), (frontier.QueueKey{Tried: true, Priority: 3, Depth: 4, Rank: 6, Seq: 5}); got != want {
		t.Errorf("QueueKey() = %+v, want %+v", got, want)
	}
}

// restarted returns a frontier that has restarted with hosts, and a journal that has some URLs of
// each.
func restarted(t *testing.T, cfg frontier.Config, hosts, urls int) (*frontier.Frontier, *journal) {
	t.Helper()
	l := newJournal(t)
	f := l.restore(cfg, at(0))
	for i := range hosts * urls {
		f.Add(u(t, fmt.Sprintf("h%04d/%d", i%hosts, i/hosts)))
	}
	f.NoteOrigins()
	l.commit()
	return l.restore(cfg, at(0)), l
}

// TestFewHostsAreRefilledAtOnce checks that a crawl of many hosts that restarts does not request
// all of them at once, and neither spins nor stops while it waits for the first ones.
func TestFewHostsAreRefilledAtOnce(t *testing.T) {
	const hosts, urls, most = 2500, 3, 1000
	f, l := restarted(t, frontier.Config{Heads: 1}, hosts, urls)
	var wants []frontier.Request
	for range 3 {
		expectLease(t, f, 0, 5000, "")
		wants = append(wants, f.Reads()...)
	}
	if len(wants) != most {
		t.Fatalf("%d hosts are wanted, expected %d", len(wants), most)
	}
	expectNoNext(t, f)
	leased := make(map[string]int)
	for steps := 0; len(wants) > 0; steps++ {
		w := wants[0]
		f.NoteOrigins()
		f.Provide(at(0), l.read(w))
		for _, u := range f.Lease(at(0), 5000) {
			leased[u.URL.Origin()]++
			f.Done(at(0), u, frontier.Result{})
		}
		wants = append(wants[1:], f.Reads()...)
		if len(wants) > most {
			t.Fatalf("%d hosts are wanted, expected %d at most", len(wants), most)
		}
		if steps == 2*hosts && len(leased) < hosts {
			t.Errorf("only %d hosts had their turn", len(leased))
		}
	}
	if len(leased) != hosts || !f.View().Over() {
		t.Errorf("%d of %d hosts were asked: %+v", len(leased), hosts, f.View().Stats())
	}
}

// TestRefilledHostsAreFirst checks that a host has its turn as soon as it is refilled, before the
// hosts behind it.
func TestRefilledHostsAreFirst(t *testing.T) {
	f, l := restarted(t, frontier.Config{}, 6, 1)
	expectLease(t, f, 0, 1, "")
	wants := f.Reads() // of all: none could serve
	add(t, f, "late/1")
	expectLease(t, f, 0, 1, "late/1")
	add(t, f, "later/1")
	for _, w := range slices.Backward(wants) {
		f.NoteOrigins()
		f.Provide(at(0), l.read(w))
	}
	expectLease(t, f, 0, 9, "h0000/0 h0001/0 h0002/0 h0003/0 h0004/0 h0005/0 later/1")
}

func TestRefillThatIsNotWantedPanics(t *testing.T) {
	for _, origin := range []string{"http://x.example", "http://h0000.example", "http://a.example"} {
		t.Run(origin, func(t *testing.T) {
			f, _ := restarted(t, frontier.Config{}, 1, 1)
			add(t, f, "a/1")
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, origin) {
					t.Errorf("panic %q, want one that names the origin", r)
				}
			}()
			f.Provide(at(0), frontier.Page{Request: frontier.Request{Kind: frontier.Refill, Origin: origin}})
		})
	}
}

// TestCountsThatAreWrong checks that a crawl ends, with everything there is, if a damaged store has
// another number of URLs than it records.
func TestCountsThatAreWrong(t *testing.T) {
	for _, c := range []struct{ recorded, has int }{{5, 3}, {5, 1}, {2, 5}, {1, 9}} {
		for _, heads := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%d recorded, %d there, heads %d", c.recorded, c.has, heads), func(t *testing.T) {
				l := newJournal(t)
				for i := range c.has {
					url := u(t, fmt.Sprintf("a/%d", i))
					url.Seq = uint64(i + 1)
					if i == 0 {
						url.Tries = 1
					}
					l.put(url)
				}
				cfg := frontier.Config{Heads: heads}
				if heads == 0 {
					cfg.Limit = c.has - 1 // which is reached with the last one: one was tried before
				}
				r := frontier.Restore(cfg)
				r.Origin(at(0), frontier.OriginState{Name: "http://a.example", Pending: c.recorded}, robots.Rules{})
				r.Seq(100)
				f := r.Frontier()
				f.SetJournal(l)
				leased := 0
				for range 100 {
					for _, lease := range f.Lease(at(0), 9) {
						f.Done(at(0), lease, frontier.Result{})
						leased++
					}
					for _, w := range f.Reads() {
						f.NoteOrigins()
						f.Provide(at(0), l.read(w))
					}
				}
				if s := f.View().Stats(); leased != c.has || !f.View().Over() || s.Pending != 0 || s.Done != leased || s.LimitReached {
					t.Errorf("%d leased, %+v", leased, s)
				}
			})
		}
	}
}

// TestOriginStateRoundTrip checks that a restored origin is recorded exactly as it was.
func TestOriginStateRoundTrip(t *testing.T) {
	full := frontier.OriginState{
		Name: "http://a.example", Pending: 7, Tried: 2, Answered: 3, Capped: true,
		Asked: at(time.Second), Took: 3 * time.Second, Best: 2 * time.Second, Most: 5, BackOffEnd: at(time.Hour), Strikes: 4, Overload: true,
		Robots: frontier.RobotsState{Have: true, Until: at(3 * time.Hour), Tries: 1},
	}
	shut := frontier.OriginState{
		Name: "http://b.example:81", Most: 1,
		Robots: frontier.RobotsState{Shut: true, Until: at(time.Hour), Kind: "timeout", Reason: "no answer"},
	}
	waits := frontier.OriginState{Name: "https://c.example", Most: 1, Robots: frontier.RobotsState{Until: at(5 * time.Minute), Tries: 2}}
	// A URL without an origin has no robots.txt.
	file := frontier.OriginState{Name: "null", Pending: 1, Most: 2}
	for _, want := range []frontier.OriginState{full, shut, waits, file} {
		t.Run(want.Name, func(t *testing.T) {
			l := newJournal(t)
			r := frontier.Restore(frontier.Config{Robots: true, RobotsTries: 3})
			r.Origin(at(2*time.Second), want, robots.Rules{})
			f := r.Frontier()
			f.SetJournal(l)
			added, err := weburl.Parse(strings.Replace(want.Name, "null", "file://", 1) + "/new")
			if err != nil || !f.Add(frontier.URL{URL: added}) {
				t.Fatal(err)
			}
			want.Pending++
			want.Seed = true
			f.NoteOrigins()
			for _, note := range l.notes {
				note.apply(&l.durable)
			}
			if got := l.origins[want.Name]; got != want {
				t.Errorf("%+v\nwant %+v", got, want)
			}
		})
	}
}

// TestLimitWasReached checks that Limit counts the URLs of hosts that are restored later.
func TestLimitWasReached(t *testing.T) {
	r := frontier.Restore(frontier.Config{Limit: 2})
	f := r.Frontier()
	r.Origin(at(0), frontier.OriginState{Name: "http://a.example", Pending: 1}, robots.Rules{})
	expectNext(t, f, 0)
	r.Origin(at(0), frontier.OriginState{Name: "http://b.example", Answered: 2}, robots.Rules{})
	expectNoNext(t, f)
	if !f.View().Stopped() || !f.View().Stats().LimitReached {
		t.Errorf("the limit is not reached: %+v", f.View().Stats())
	}
}

// TestAllow: with Metered, URLs are leased as far as they are allowed, and go on when more are.
func TestAllow(t *testing.T) {
	f := frontier.New(frontier.Config{Metered: true})
	for _, text := range []string{"http://a.example/", "http://b.example/", "http://c.example/"} {
		u, err := weburl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(frontier.URL{URL: u})
	}
	for _, step := range []struct{ allow, leases, begun int }{{0, 0, 0}, {2, 2, 2}, {0, 0, 2}, {2, 0, 2}, {3, 1, 3}} {
		begun := f.Partitions().Allow(at(0), step.allow)
		if n := len(f.Lease(at(0), 10)); n != step.leases || f.View().Begun() != step.begun || begun != step.begun-step.leases {
			t.Errorf("%+v: %d leases, %d begun, %d before", step, n, f.View().Begun(), begun)
		}
	}
}
