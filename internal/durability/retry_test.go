package durability_test

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
)

// checkRetried checks the job of a finished retry: every URL has its records, twice as many if it
// was asked again, or once more if that was asked for again after the end; and the summary counts
// the last of each.
func (w *world) checkRetried(disk *storetest.FS, asked func(*weft.Record) bool, sum weft.Summary) error {
	b, err := disk.ReadFile("/job/pages.jsonl")
	if err != nil {
		return err
	}
	visits, err := byVisit(b)
	if err != nil {
		return err
	}
	records, last := make(map[string]int), make(map[string]weft.Record)
	for _, r := range visits[1] {
		records[r.URL]++
		last[r.URL] = r
	}
	counts := weft.Summary{Statuses: make(map[int]weft.Count), Errors: make(map[string]weft.Count)}
	for u := range w.truth {
		r := last[u]
		if n, again := records[u], asked(&r); n < 1 || again && n < 2 || !again && n != 1 || n > 3 {
			return fmt.Errorf("%s has %d records, asked again: %t", u, n, again)
		}
		if r.Status != 0 {
			counts.Statuses[r.Status] = weft.Count{URLs: counts.Statuses[r.Status].URLs + 1}
		}
		if r.ErrorKind != "" {
			counts.Errors[r.ErrorKind] = weft.Count{URLs: counts.Errors[r.ErrorKind].URLs + 1}
		}
	}
	for status, c := range sum.Statuses {
		if counts.Statuses[status].URLs != c.URLs {
			return fmt.Errorf("status %d of %d URLs, expected %d", status, c.URLs, counts.Statuses[status].URLs)
		}
	}
	for kind, c := range sum.Errors {
		if counts.Errors[kind].URLs != c.URLs {
			return fmt.Errorf("%s of %d URLs, expected %d", kind, c.URLs, counts.Errors[kind].URLs)
		}
	}
	if len(last) != len(w.truth) || sum.Recorded() != len(w.truth) || len(sum.Statuses) != len(counts.Statuses) || len(sum.Errors) != len(counts.Errors) {
		return fmt.Errorf("%d URLs, expected %d: %+v", len(last), len(w.truth), sum)
	}
	s, err := store.Open("/job", store.Options{FS: disk, Outputs: []string{"pages.jsonl"}})
	if err != nil {
		return err
	}
	defer s.Close()
	stored, err := s.Counts()
	if err != nil || stored.Pending != 0 || stored.Done+stored.Refused != len(w.truth) {
		return fmt.Errorf("counts %+v, %w", stored, err)
	}
	return nil
}

// TestRetryCrash crashes the machine before disk operations of a retry, from its very start, and
// loses any part of what was not synced. The same command continues, and each URL that is asked
// again is counted once.
func TestRetryCrash(t *testing.T) {
	w := crashWorld(t)
	crawled, clock := storetest.New(), aiotest.NewClock()
	if _, err := w.crawl(crawled, few, schedule{clock: clock}); err != nil {
		t.Fatal(err)
	}
	asked := func(r *weft.Record) bool { return r.ErrorKind != "" || r.Status != 200 || len(r.URL)%2 == 0 }
	retry := few
	retry.Rerun.RetryFailed = asked
	begin := clock.Now().Sub(aiotest.Epoch)
	w.crashAgain(t, crawled, retry, begin, 60, long.Or(5, 1), func(disk *storetest.FS, sum weft.Summary) error {
		return w.checkRetried(disk, asked, sum)
	}, func(c *crawl.Config) { c.Job.RetryBatch = 3 })
}
