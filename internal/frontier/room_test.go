package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/robots"
)

// TestPendingURLsKeepWithinMemory checks that queues keep within their share of memory, however
// many hosts there are and however long their URLs, while each host's URLs come in order, each
// once, and hosts in turn.
func TestPendingURLsKeepWithinMemory(t *testing.T) {
	const room = 100_000
	size := long.Or(6000, 20_000) // URLs; about 500 have room
	for _, c := range []struct {
		name        string
		hosts, urls int
		length      int // of each
		refills     int // at most
	}{
		{"one host", 1, size, 0, size / 200},
		{"some hosts", 40, size / 40, 0, size / 8},
		{"many hosts", long.Or(1500, 5000), 4, 0, 20_000}, // no room for one URL per host
		{"long URLs", long.Or(60, 200), 10, 8000, long.Or(600, 2000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newJournal(t)
			f := frontier.New(frontier.Config{PerHost: 1, Delay: time.Second, Heads: 512, InMemory: room})
			f.SetJournal(l)
			long := strings.Repeat("x", c.length)
			longest := 1000 + c.length // of a URL, and what is around it
			for i := range c.hosts * c.urls {
				f.Add(u(t, fmt.Sprintf("h%04d/%d/%s", i%c.hosts, i/c.hosts, long)))
				if f.View().Bytes().Queued > room+longest {
					t.Fatalf("%d bytes in memory after %d URLs, expected at most %d", f.View().Bytes().Queued, i+1, room)
				}
			}
			if all := c.hosts * c.urls * 200; all > room && f.View().Bytes().Queued < room/3 {
				t.Errorf("%d bytes in memory, expected the room for %d to be used", f.View().Bytes().Queued, room)
			}
			next := make(map[string]int) // by host
			refills := 0
			for now := time.Duration(0); !f.View().Over(); {
				for _, lease := range f.Lease(at(now), 64) {
					host := lease.URL.Host()
					if want := fmt.Sprintf("/%d/%s", next[host], long); lease.URL.Path() != want {
						t.Fatalf("%s has %.20s leased, expected %.20s", host, lease.URL.Path(), want)
					}
					next[host]++
					f.Done(at(now), lease, frontier.Result{})
				}
				if wants := f.Reads(); len(wants) > 0 {
					f.NoteOrigins()
					l.commit()
					for _, w := range wants {
						f.Provide(at(now), l.read(w))
						refills++
					}
				} else if when, ok := f.Next(); ok {
					now = max(now, when.Sub(epoch))
				}
				// A refill brings each of 1,000 hosts one URL, that it is leased with.
				if most := room + 512*200 + 1000*longest; f.View().Bytes().Queued > most {
					t.Fatalf("%d bytes in memory, expected at most %d", f.View().Bytes().Queued, most)
				}
			}
			if got := f.View().Stats().Done; got != c.hosts*c.urls || f.View().Bytes().Queued != 0 {
				t.Errorf("%d URLs are done, expected %d; they take %d bytes, expected 0", got, c.hosts*c.urls, f.View().Bytes().Queued)
			}
			if refills > c.refills {
				t.Errorf("%d refills of %d URLs, expected at most %d", refills, c.hosts*c.urls, c.refills)
			}
		})
	}
}

// TestMoreHostsThanWants checks that Lease returns when more hosts whose robots.txt is needed want
// a refill than may at once, and that all are leased from in the end.
func TestMoreHostsThanWants(t *testing.T) {
	const n = 1500
	r := frontier.Restore(frontier.Config{Robots: true, Heads: 512})
	f := r.Frontier()
	r.Seq(n + 1)
	urls := make(map[string]frontier.URL, n)
	for i := range n {
		name := fmt.Sprintf("http://h%d.s%d.example", i, i)
		urls[name] = frontier.URL{URL: parsed(t, name+"/").URL, Depth: 1, Seq: uint64(i + 1)}
		r.Origin(epoch, frontier.OriginState{Name: name, Pending: 1}, robots.Rules{})
	}
	done := make(map[string]bool)
	for now, turns := epoch.Add(time.Hour), 0; len(done) < n; turns++ {
		if turns > 10*n {
			t.Fatalf("%d of %d hosts are done, expected all", len(done), n)
		}
		now = now.Add(time.Second)
		for _, u := range f.Lease(now, 100) {
			if u.Robots {
				f.Robots().Set(now, u, robots.Rules{}, frontier.Result{})
			} else {
				f.Done(now, u, frontier.Result{})
				done[u.URL.Origin()] = true
			}
		}
		for _, r := range f.Reads() {
			f.Provide(now, frontier.Page{Request: r, URLs: []frontier.URL{urls[r.Origin]}})
		}
	}
}

// TestManyChains checks that the middles of chains of redirects are remembered up to a number.
func TestManyChains(t *testing.T) {
	f := frontier.New(frontier.Config{MaxRedirects: 10})
	const n, most = 18_000, 17_000
	for i := range n {
		now := at(time.Duration(i) * time.Second)
		f.Add(frontier.URL{URL: parsed(t, fmt.Sprintf("http://a.example/%d", i)).URL, From: "http://a.example/"})
		for hop := range 2 {
			u := f.Lease(now, 1)[0]
			f.Redirect(u, frontier.URL{URL: parsed(t, fmt.Sprintf("http://a.example/%d/%d", i, hop)).URL, From: u.URL.String()})
			f.Done(now, u, frontier.Result{})
		}
		f.Done(now, f.Lease(now, 1)[0], frontier.Result{})
	}
	if got := f.Hops(); got > most || got < 1000 {
		t.Errorf("%d redirects are remembered of %d chains", got, n)
	}
}
