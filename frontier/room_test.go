package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/frontier"
)

// TestPendingURLsKeepWithinMemory: however many hosts there are, and however long their URLs,
// what waits in memory is bounded; each host's URLs come in their order all the same, each once,
// and hosts in turn.
func TestPendingURLsKeepWithinMemory(t *testing.T) {
	const room = 100_000
	for _, c := range []struct {
		name        string
		hosts, urls int
		length      int // of each
		refills     int // at most
	}{
		{"one host", 1, 20_000, 0, 100},
		{"some hosts", 40, 500, 0, 20_000 / 8},
		{"many hosts", 5000, 4, 0, 20_000}, // of which there is not room for one URL of each
		{"long URLs", 200, 10, 8000, 2000},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLedger(t)
			f := frontier.New(frontier.Config{PerHost: 1, Delay: time.Second, Heads: 512, InMemory: room})
			f.Tell(l)
			long := strings.Repeat("x", c.length)
			longest := 1000 + c.length // of a URL, and what is around it
			for i := range c.hosts * c.urls {
				f.Add(u(t, fmt.Sprintf("h%04d/%d/%s", i%c.hosts, i/c.hosts, long)))
				if f.InMemory() > room+longest {
					t.Fatalf("%d bytes in memory after %d URLs, expected at most %d", f.InMemory(), i+1, room)
				}
			}
			if all := c.hosts * c.urls * 200; all > room && f.InMemory() < room/3 {
				t.Errorf("%d bytes in memory, expected the room for %d to be used", f.InMemory(), room)
			}
			next := make(map[string]int) // by host
			refills := 0
			for now := time.Duration(0); !f.Over(); {
				for _, lease := range f.Lease(at(now), 64) {
					host := lease.URL.Host()
					if want := fmt.Sprintf("/%d/%s", next[host], long); lease.URL.Path() != want {
						t.Fatalf("%s has %.20s leased, expected %.20s", host, lease.URL.Path(), want)
					}
					next[host]++
					f.Done(at(now), lease, frontier.Answer{})
				}
				if wants := f.Wants(); len(wants) > 0 {
					f.NoteHosts()
					l.commit()
					for _, w := range wants {
						urls, more := l.read(w)
						f.Refill(at(now), w.Host, urls, more)
						refills++
					}
				} else if when, ok := f.Next(); ok {
					now = max(now, when.Sub(epoch))
				}
				// A refill brings each of 1,000 hosts one URL, that it is leased with.
				if most := room + 512*200 + 1000*longest; f.InMemory() > most {
					t.Fatalf("%d bytes in memory, expected at most %d", f.InMemory(), most)
				}
			}
			if got := f.Stats().Done; got != c.hosts*c.urls || f.InMemory() != 0 {
				t.Errorf("%d URLs are done, expected %d; they take %d bytes, expected 0", got, c.hosts*c.urls, f.InMemory())
			}
			if refills > c.refills {
				t.Errorf("%d refills of %d URLs, expected at most %d", refills, c.hosts*c.urls, c.refills)
			}
		})
	}
}
