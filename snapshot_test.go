package weft_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestListWhileCrawlEnds: the lists of a running crawl are those of one moment, and are whole even if
// the crawl ends meanwhile; nothing stays of them.
func TestListWhileCrawlEnds(t *testing.T) {
	site := newHeld(t)
	r := start(t, weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Retries: -1})
	r.inspect()
	r.await("held", func(s weft.Status) bool { return s.InFlight == 1 && s.Pending == 0 && s.Done == 8 })
	done := weft.URLFilter{State: weft.URLDone}
	r.await("saved", func(weft.Status) bool { return len(collect(t, r.job.URLs(t.Context(), done))) == 8 })
	var all []string
	for u, err := range r.job.URLs(t.Context(), weft.URLFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, strings.TrimPrefix(u.URL, site.URL)+" "+string(u.State)); len(all) == 1 {
			for h, err := range r.job.Hosts(t.Context()) {
				if site.release(); err != nil || h.InFlight != 1 || h.Done != 8 {
					t.Errorf("%+v, %v", h, err)
				}
			}
			<-r.done
		}
	}
	const want = "/held leased, / done, /a done, /b done, /broken failed, /busy done, /moved done, /private refused, /skipped done, /target done"
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(r.dir, "state/looks/*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
