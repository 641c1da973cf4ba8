package engine_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestDeadHostError checks that the URL of an unreachable host gets the network error, not an error
// about robots.txt.
func TestDeadHostError(t *testing.T) {
	got, _, _ := crawltest.Web{"http://a.test/": crawltest.Links("http://a.test:81/", "http://nowhere.test/")}.Crawl(t,
		weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny}, Pace: weft.Pace{Retries: 1}})
	if r := got["http://a.test:81/"]; r.ErrorKind != "connect" {
		t.Errorf("record of a URL with a closed port: %+v", r)
	}
	if r := got["http://nowhere.test/"]; r.ErrorKind != "dns" {
		t.Errorf("record of a URL with an unknown host: %+v", r)
	}
}

// flat returns a site whose home page links to n pages.
func flat(n int) crawltest.Web {
	w := crawltest.Web{}
	var links []string
	for i := range n {
		links = append(links, fmt.Sprintf("/%d", i))
		w[fmt.Sprintf("http://a.test/%d", i)] = "a page"
	}
	w["http://a.test/"] = crawltest.Links(links...)
	return w
}

// TestPace checks the pace of a host by what the server sees.
func TestPace(t *testing.T) {
	seeds := []string{"http://a.test/"}
	t.Run("initial", func(t *testing.T) {
		if _, _, seen := flat(4).Crawl(t, weft.Options{Seeds: seeds}); seen.Most() != 2 {
			t.Errorf("%d requests at once initially, expected 2", seen.Most())
		}
	})
	t.Run("grows while the response time holds", func(t *testing.T) {
		if _, _, seen := flat(200).Crawl(t, weft.Options{Seeds: seeds}); seen.Most() < 8 || seen.Most() > 16 {
			t.Errorf("%d requests at once, expected 8 to 16", seen.Most())
		}
	})
	t.Run("per host", func(t *testing.T) {
		if _, _, seen := flat(100).Crawl(t, weft.Options{Seeds: seeds, Pace: weft.Pace{PerHost: 3}}); seen.Most() != 3 {
			t.Errorf("%d requests at once, expected 3", seen.Most())
		}
	})
	t.Run("delay", func(t *testing.T) {
		if _, _, seen := flat(10).Crawl(t, weft.Options{Seeds: seeds, Pace: weft.Pace{Delay: 2 * time.Second}}); seen.Gap() < 2*time.Second || seen.Most() != 1 {
			t.Errorf("gap %v, %d requests at once", seen.Gap(), seen.Most())
		}
	})
	t.Run("crawl-delay", func(t *testing.T) {
		w := flat(10)
		w["http://a.test/robots.txt"] = "User-agent: *\nCrawl-delay: 3\n"
		if _, _, seen := w.Crawl(t, weft.Options{Seeds: seeds, Pace: weft.Pace{Delay: time.Second}}); seen[1:].Gap() < 3*time.Second {
			t.Errorf("gap %v", seen[1:].Gap())
		}
	})
	t.Run("crawl-delay of ten minutes", func(t *testing.T) {
		w := flat(3)
		w["http://a.test/robots.txt"] = "User-agent: *\nCrawl-delay: 600\n"
		if _, sum, seen := w.Crawl(t, weft.Options{Seeds: seeds}); sum.Recorded() != 4 || seen[1:].Gap() < 10*time.Minute {
			t.Errorf("%d fetched, gap %v", sum.Recorded(), seen[1:].Gap())
		}
	})
	t.Run("crawl-delay of a day", func(t *testing.T) {
		w := flat(3)
		w["http://a.test/robots.txt"] = "User-agent: *\nCrawl-delay: 86400\n"
		got, sum, seen := w.Crawl(t, weft.Options{Seeds: seeds})
		r := got["http://a.test/"]
		if r.ErrorKind != weft.KindRobots || !strings.Contains(r.Error, "Crawl-delay of 24h0m0s") || len(seen) != 1 || sum.Elapsed > time.Minute {
			t.Errorf("record %+v, %d requests, after %v", r, len(seen), sum.Elapsed)
		}
	})
	t.Run("rate limit", func(t *testing.T) {
		_, sum, seen := flat(50).Crawl(t, weft.Options{Seeds: seeds, Pace: weft.Pace{RateLimit: 5}})
		if least := time.Duration(len(seen)-1) * time.Second / 5; sum.Elapsed < least {
			t.Errorf("%d requests in %v, expected at most 5 per second", len(seen), sum.Elapsed)
		}
	})
	t.Run("retry-after", func(t *testing.T) {
		w := flat(10)
		w["http://a.test/5"] = "503 60"
		got, _, seen := w.Crawl(t, weft.Options{Seeds: seeds, Pace: weft.Pace{PerHost: 1, Retries: 1}})
		i := slices.IndexFunc(seen, func(v crawltest.Request) bool { return strings.HasSuffix(v.URL, "/5") })
		if i < 0 || i+1 == len(seen) || seen[i+1].At.Sub(seen[i].End) < time.Minute {
			t.Errorf("the host was requested again too early: %v", seen[i:])
		}
		if r := got["http://a.test/5"]; r.Status != 503 || r.Tries != 2 || r.Links != 0 {
			t.Errorf("record %+v", r)
		}
	})
}

// TestRetryAfterForms checks that a back-off honors Retry-After in all its forms: seconds,
// fractions of a second, and dates.
func TestRetryAfterForms(t *testing.T) {
	ask := func(field string) crawltest.Requests {
		w := crawltest.Web{"http://a.test/": "503 " + field}
		_, _, seen := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Pace: weft.Pace{Retries: 1}, Reach: weft.Reach{NoRobots: true}})
		if len(seen) != 2 {
			t.Fatalf("Retry-After: %s: %d requests, expected 2", field, len(seen))
		}
		return seen
	}
	began := ask("0")[0].At // on the virtual clock
	for field, least := range map[string]time.Duration{
		began.Add(90 * time.Second).UTC().Format(http.TimeFormat):  89500 * time.Millisecond,
		began.Add(90 * time.Second).UTC().Format(time.RFC850):      89500 * time.Millisecond,
		began.Add(90 * time.Second).UTC().Format(time.ANSIC):       89500 * time.Millisecond,
		began.Add(-90 * time.Second).UTC().Format(http.TimeFormat): 0,
		"7.5": 7500 * time.Millisecond, "0.3": 300 * time.Millisecond, "-5": 0, "soon": 0, "7.": 0, "1.x": 0,
	} {
		if seen := ask(field); seen.Gap() < max(time.Second, least) || seen.Gap() > max(least, time.Second)+time.Second {
			t.Errorf("Retry-After: %s: requested again after %v, expected about %v", field, seen.Gap(), least)
		}
	}
}

// TestRetryAfterIsBounded checks that a Retry-After of any number of seconds holds up a URL for one
// hour at most.
func TestRetryAfterIsBounded(t *testing.T) {
	for _, seconds := range []string{"3601", "2147483647", "2147483648", "99999999999999999999"} {
		w := crawltest.Web{"http://a.test/": "503 " + seconds}
		got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Pace: weft.Pace{Retries: 1}, Reach: weft.Reach{NoRobots: true}})
		if r := got["http://a.test/"]; r.Status != 503 || sum.Elapsed < time.Hour || sum.Elapsed > 2*time.Hour {
			t.Errorf("Retry-After: %s: record %+v after %v", seconds, r, sum.Elapsed)
		}
	}
}

// TestPolitenessSeenByServer checks each host's smallest gap and peak concurrency in the server's
// log, over real sockets.
func TestPolitenessSeenByServer(t *testing.T) {
	aiotest.CheckLeaks(t)
	served := webtest.Start(t, webtest.Config{Seed: 3, Hosts: 12, Pages: 6, Latency: 5 * time.Millisecond, Clean: true})
	for _, c := range []struct {
		name string
		o    weft.Options
		most int
		gap  time.Duration
	}{
		{"delay", weft.Options{Pace: weft.Pace{Delay: 30 * time.Millisecond}}, 1, 30 * time.Millisecond},
		{"per host", weft.Options{Pace: weft.Pace{PerHost: 2}}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := served.Log.Len()
			c.o.Seeds, c.o.Reach.Scope, c.o.HTTP.DNS = []string{served.Web.Home(0)}, weft.ScopeAny, crawltest.NameServer(served)
			crawler, err := weft.New(c.o)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := crawler.Run(t.Context())
			if err != nil || sum.Pages < 50 {
				t.Fatalf("summary %+v, error %v", sum, err)
			}
			requests := served.Log.Requests()[before:]
			for host, m := range webtest.Judge(func(yield func(webtest.Request) bool) {
				for _, r := range requests {
					if !yield(r) {
						return
					}
				}
			}).Hosts {
				if m.MostAtOnce > c.most || m.Requests > 1 && m.SmallGap < c.gap {
					t.Errorf("%s: %d requests at once, gap %v; expected at most %d, and at least %v", host, m.MostAtOnce, m.SmallGap, c.most, c.gap)
				}
			}
		})
	}
}
