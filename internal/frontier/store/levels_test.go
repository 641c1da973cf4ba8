package store_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/weburl"
)

// TestNearer restarts a crawl to a depth between the response to a seed that redirects to a pending
// page, which so is as near as the seed, and the next level. The page moves all the same, and its
// host keeps step.
func TestNearer(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store) {
		cfg := frontier.Config{Levels: true, PerHost: 4, MaxRedirects: 5}
		at := func(u string, from string, depth int) frontier.URL {
			parsed, err := weburl.Parse(u)
			if err != nil {
				t.Fatal(err)
			}
			return frontier.URL{URL: parsed.Canonical(), From: from, Depth: depth}
		}
		now := time.Now()
		begin := func() (*frontier.Frontier, *store.Batch) {
			r := frontier.Restore(cfg)
			if err := s.Restore(now, r); err != nil {
				t.Fatal(err)
			}
			g := s.Begin()
			r.Frontier().SetJournal(g)
			return r.Frontier(), g
		}
		f, g := begin()
		f.Add(at("http://a.test/", "", 0))
		f.Add(at("http://a.test/r", "", 0))
		leases := f.Lease(now, 2)
		const page = "http://b.test/page"
		f.Add(at(page, "http://a.test/", 1))
		f.Done(now, leases[0], frontier.Result{})
		f.Redirect(leases[1], at(page, "http://a.test/r", 0))
		f.Done(now, leases[1], frontier.Result{})
		f.NoteOrigins()
		commit(t, s, g)

		f, g = begin()
		for range 5 {
			if leases = f.Lease(now, 1); len(leases) > 0 {
				break
			}
			requests := f.Reads()
			f.NoteOrigins()
			commit(t, s, g)
			f.Saved()
			g = s.Begin()
			f.SetJournal(g)
			for _, r := range requests {
				p, err := s.Read(r)
				if err != nil {
					t.Fatal(err)
				}
				f.Provide(now, p)
			}
		}
		if len(leases) != 1 || leases[0].URL.String() != page || leases[0].Depth != 0 || leases[0].From != "http://a.test/r" {
			t.Fatalf("leased %+v, expected %s at depth 0", leases, page)
		}
		f.Done(now, leases[0], frontier.Result{})
		f.NoteOrigins()
		commit(t, s, g)
		e, found, err := s.Find(leases[0].URL)
		if err != nil || !found || e.State != store.Done || e.URL.Depth != 0 {
			t.Errorf("it is stored as %+v, %v, %v", e, found, err)
		}
		o, _, err := s.Origin("http://b.test")
		if err != nil || !o.Levels.Joint || o.Pending != 0 {
			t.Errorf("its host is stored as %+v, %v", o.OriginState, err)
		}
	})
}
