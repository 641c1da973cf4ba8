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
	"github.com/weftcrawl/weft/frontier/store/storetest"
)

// TestSlowDiskHoldsFetchingBack: while a commit does not come to its end no more URLs are
// begun than a short while brings, and all of them when it does.
func TestSlowDiskHoldsFetchingBack(t *testing.T) {
	const pages = 3000
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			<-time.After(2 * time.Millisecond) // so that they are not all there before anything is behind
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
	var begun atomic.Bool // after what New syncs
	var once sync.Once
	disk.Before(func(op storetest.Op, path string) error {
		if op == storetest.Sync && strings.HasSuffix(path, "pages.jsonl") && begun.Load() {
			once.Do(func() {
				close(stuck)
				<-release
			})
		}
		return nil
	})
	o := weft.Options{Seeds: []string{s.URL + "/"}, Job: "/job", Concurrency: 4, Hooks: weft.Hooks{OnRecord: func(*weft.Record) { fetched.Add(1) }}}
	c, err := weft.New(weft.OnFiles(weft.WithHeads(o, 2*pages), disk)) // or it would wait for URLs from the disk
	if err != nil {
		t.Fatal(err)
	}
	begun.Store(true)
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
	for still := 0; still < 25; still++ { // half a second in which nothing is under way
		<-tick.C
		if c.Stats().InFlight > 0 {
			still = 0
		}
	}
	if n := fetched.Load(); n == 0 || n >= pages {
		t.Errorf("%d of %d pages were fetched while the disk stood still", n, pages)
	}
	close(release)
	if sum := <-ended; sum.Recorded() != pages+1 || !sum.Finished {
		t.Errorf("%d URLs in the end", sum.Recorded())
	}
}
