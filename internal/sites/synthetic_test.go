package sites_test

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestSyntheticWeb crawls a web of many hosts over real sockets, with redirect chains and loops,
// dead links, faults and robots.txt of every kind. With any number of workers the records match the
// ground truth, and the server's count of requests matches the recorded tries.
func TestSyntheticWeb(t *testing.T) {
	cfg := webtest.Config{Seed: 7, Hosts: long.Or(9, 30), Pages: long.Or(16, 20), SlowDelay: 50 * time.Millisecond, CrawlDelay: 20 * time.Millisecond}
	policy := webtest.Policy{
		Scope: webtest.Anywhere, Elements: []string{"a", "area", "frame", "iframe", "link", "meta", "header"},
		MaxRedirects: 10, Retries: 2, Robots: true, Agent: "weft",
	}
	for _, workers := range []int{1, 8, 256} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			t.Parallel()
			served := webtest.Start(t, cfg)
			job := filepath.Join(t.TempDir(), "job")
			c, err := weft.New(weft.Options{
				Seeds: []string{served.Web.Home(0)}, Job: job, Reach: weft.Reach{Scope: weft.ScopeAny}, Pace: weft.Pace{Concurrency: workers},
				HTTP: weft.HTTP{Timeout: time.Second, DNS: []netip.AddrPort{netip.MustParseAddrPort(served.DNS.Addr())}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := records(t, job)
			requests := served.Log.Politeness().Asked
			n := 0
			for u, fate := range served.Web.Truth(policy) {
				n++
				r, ok := got[u]
				if !ok {
					t.Errorf("%s has no record", u)
				} else if !torture.Is(r, fate) {
					t.Errorf("%s: status %d, error %q %q, expected %+v", u, r.Status, r.ErrorKind, r.Error, fate)
				}
				most := r.Tries
				if fate.Error == webtest.ErrorEarlyEnd { // a request lost with a kept connection is no try
					most *= 2
				}
				if fate.Error != webtest.ErrorDNS && (requests[u] < r.Tries || requests[u] > most) {
					t.Errorf("%s: %d requests, %d tries", u, requests[u], r.Tries)
				}
				delete(got, u)
			}
			if n < long.Or(120, 500) {
				t.Errorf("the ground truth has only %d URLs", n)
			}
			for u, r := range got {
				if r.ErrorKind != weft.KindRedirects { // beyond the limit of redirects
					t.Errorf("%s has a record, but nothing leads to it", u)
				}
			}
		})
	}
}
