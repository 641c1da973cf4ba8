package weft_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/tuning"
)

// TestSlowDiskLimitsFetching checks that only a limited number of URLs is fetched while a commit is
// stuck, and that all of them are fetched once it completes.
func TestSlowDiskLimitsFetching(t *testing.T) {
	t.Parallel() // it mostly waits
	const pages = 1500
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			<-time.After(2 * time.Millisecond) // or all pages would be done before the disk falls behind
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range pages {
			fmt.Fprintf(w, "<a href=/%d>", i)
		}
	}))
	defer s.Close()
	var fetched atomic.Int32
	stuck, release := make(chan struct{}), make(chan struct{})
	disk := storetest.New()
	var running atomic.Bool // set after New, which syncs too
	var once sync.Once
	disk.Before(func(op storetest.Op, path string) error {
		if op == storetest.Sync && strings.HasSuffix(path, "pages.jsonl") && running.Load() {
			once.Do(func() {
				close(stuck)
				<-release
			})
		}
		return nil
	})
	o := weft.Options{Seeds: []string{s.URL + "/"}, Job: "/job", Concurrency: 4, Hooks: weft.Hooks{OnRecord: func(*weft.Record) { fetched.Add(1) }}}
	o.Tuning = &tuning.Options{Files: disk, Heads: 2 * pages}
	c, err := weft.New(o) // all in memory, or it would wait for the stuck disk
	if err != nil {
		t.Fatal(err)
	}
	running.Store(true)
	ended := make(chan weft.Summary)
	go func() {
		sum, err := c.Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		ended <- sum
	}()
	<-stuck
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for still := 0; still < 25; still++ { // until nothing is in flight for half a second
		<-tick.C
		if c.Stats().InFlight > 0 {
			still = 0
		}
	}
	if n := fetched.Load(); n == 0 || n >= pages {
		t.Errorf("%d of %d pages were fetched while the disk was stuck", n, pages)
	}
	close(release)
	if sum := <-ended; sum.Recorded() != pages+1 || !sum.Finished {
		t.Errorf("%d URLs at the end, finished %t", sum.Recorded(), sum.Finished)
	}
}
