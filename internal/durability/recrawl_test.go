package durability_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/webtest"
)

// checkVisits checks the records of a job whose last visit is finished: each visit has every URL
// exactly once, and nothing has changed.
func (w *world) checkVisits(disk *storetest.FS) error {
	b, err := disk.ReadFile("/job/pages.jsonl")
	if err != nil {
		return err
	}
	visits, err := byVisit(b)
	if err != nil {
		return err
	}
	for n := range len(visits) {
		seen := make(map[string]bool)
		for _, r := range visits[n+1] {
			if seen[r.URL] {
				return fmt.Errorf("visit %d has %s twice", n+1, r.URL)
			}
			seen[r.URL] = true
			if r.Change != "" && r.Change != weft.ChangeUnchanged {
				return fmt.Errorf("visit %d: %s is %s", n+1, r.URL, r.Change)
			}
		}
		if len(seen) != len(w.truth) {
			return fmt.Errorf("visit %d has %d URLs, expected %d", n+1, len(seen), len(w.truth))
		}
	}
	s, err := store.Open("/job", store.Options{FS: disk, Outputs: []string{"pages.jsonl", "links.jsonl"}})
	if err != nil {
		return err
	}
	defer s.Close()
	counts, err := s.Counts()
	if err != nil || counts.Pending != 0 || counts.Done+counts.Refused != len(w.truth) {
		return fmt.Errorf("counts %+v, %w", counts, err)
	}
	return nil
}

// TestRecrawlBrokenOff drains, cancels or kills a recrawl at random times and resumes it until it
// finishes. Each URL has exactly one record per visit.
func TestRecrawlBrokenOff(t *testing.T) {
	w := brokenOffWorld(t)
	for _, heads := range []int{1, long.Or(16, 64)} {
		t.Run(fmt.Sprintf("heads=%d", heads), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(heads), 6))
			disk, clock, server := storetest.New(), aiotest.NewClock(), webtest.NewServer(w.web, nil)
			if sum, err := w.crawl(disk, weft.Options{}, schedule{clock: clock, server: server}); err != nil || !sum.Finished {
				t.Fatalf("summary %+v, error %v", sum, err)
			}
			for run := 1; ; run++ {
				l := schedule{clock: clock, server: server}
				after := time.Duration(rng.ExpFloat64() * float64(2*time.Second))
				switch run % 3 {
				case 0:
					l.drain = after
				case 1:
					l.killed(&disk, after)
				case 2:
					l.stop = after
				}
				if run == long.Or(8, 20) { // the last one is undisturbed
					l = schedule{clock: clock, server: server}
				}
				sum, err := w.crawl(disk, weft.Options{Rerun: weft.Rerun{Update: true}}, l, keep(heads))
				if err != nil {
					t.Fatalf("run %d: %v", run, err)
				}
				if l.last == nil && sum.Visit != 2 {
					t.Fatalf("run %d: %+v", run, sum)
				}
				if sum.Finished && l.last == nil {
					t.Logf("%d runs", run)
					break
				}
			}
			if err := w.checkVisits(disk); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRecrawlCrash crashes the machine before disk operations of a recrawl, from its very start,
// and loses any part of what was not synced. The resumed recrawl has each URL exactly once.
func TestRecrawlCrash(t *testing.T) {
	w := crashWorld(t)
	crawled, clock := storetest.New(), aiotest.NewClock()
	if _, err := w.crawl(crawled, few, schedule{clock: clock}); err != nil {
		t.Fatal(err)
	}
	update := few
	update.Rerun.Update = true
	begin := clock.Now().Sub(aiotest.Epoch)
	w.crashAgain(t, crawled, update, begin, 40, long.Or(3, 1), func(disk *storetest.FS, _ weft.Summary) error {
		return w.checkVisits(disk)
	})
}

func byVisit(pages []byte) (map[int][]weft.Record, error) {
	visits := make(map[int][]weft.Record)
	for line := range bytes.Lines(pages) {
		var r weft.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		visits[max(1, r.Visit)] = append(visits[max(1, r.Visit)], r)
	}
	return visits, nil
}
