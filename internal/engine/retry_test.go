package engine_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// newMended returns a site on which much fails until mended is set.
func newMended(t *testing.T) (s *httptest.Server, mended *atomic.Bool) {
	mended = new(atomic.Bool)
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch path := r.URL.Path; {
		case path == "/":
			fmt.Fprint(w, crawltest.Links("/well", "/down", "/broken", "/lost", "/cut"))
		case path == "/lost", path == "/robots.txt":
			http.NotFound(w, r)
		case mended.Load() && path == "/down":
			fmt.Fprint(w, crawltest.Links("/new"))
		case mended.Load(), path == "/well":
			fmt.Fprint(w, crawltest.Links("/"))
		case path == "/cut":
			panic(http.ErrAbortHandler)
		case path == "/down":
			w.WriteHeader(http.StatusGatewayTimeout)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	return s, mended
}

// outcomes returns what each record of a job says, in lines in the order of the URLs.
func outcomes(t *testing.T, job, site string) string {
	t.Helper()
	var lines []string
	for _, r := range crawltest.Visits(t, job)[1] {
		lines = append(lines, fmt.Sprintf("%s %d%s\n", strings.TrimPrefix(r.URL, site), r.Status, r.ErrorKind))
	}
	slices.SortStableFunc(lines, func(x, y string) int {
		return strings.Compare(strings.Fields(x)[0], strings.Fields(y)[0])
	})
	return strings.Join(lines, "")
}

// TestRetryFailed checks that a job asks again for what its user selects, that the summary counts
// the last record of each URL, and that the job goes on from there.
func TestRetryFailed(t *testing.T) {
	s, mended := newMended(t)
	job := filepath.Join(t.TempDir(), "job")
	first := crawltest.CrawlOnce(t, weft.Options{Seeds: []string{s.URL}, Job: job})
	if first.Failed != 1 || len(first.Broken) != 4 || first.Recorded() != 6 {
		t.Fatalf("first: %+v", first)
	}
	mended.Store(true)
	retried := crawltest.CrawlOnce(t, weft.Options{Job: job, Rerun: weft.Rerun{RetryFailed: weft.MayPass}})
	if got, want := outcomes(t, job, s.URL), `/ 200
/broken 500
/broken 200
/cut 0early-end
/cut 200
/down 504
/down 200
/lost 404
/new 200
/well 200
`; got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	if !retried.Finished || retried.Recorded() != 7 || retried.Failed != 0 || retried.FirstError != "" || retried.Pages != 6 ||
		fmt.Sprint(retried.Statuses[200].URLs, retried.Statuses[404].URLs, len(retried.Statuses), len(retried.Errors)) != "6 1 2 0" ||
		len(retried.Broken) != 1 || retried.Runs != 2 || retried.Visit != 1 || retried.Bytes <= first.Bytes {
		t.Errorf("retried: %+v", retried)
	}
	var warned []string
	o := weft.Options{Job: job, Rerun: weft.Rerun{RetryFailed: weft.MayPass}}
	o.Hooks.OnWarning = func(err error) { warned = append(warned, err.Error()) }
	if again := crawltest.CrawlOnce(t, o); again.Recorded() != 7 || !again.Finished || len(warned) != 1 || !strings.Contains(warned[0], "nothing is asked again") {
		t.Errorf("nothing to retry: %+v, %q", again, warned)
	}
	lost := crawltest.CrawlOnce(t, weft.Options{Job: job, Rerun: weft.Rerun{RetryFailed: func(r *weft.Record) bool { return r.Status == 404 }}})
	if lost.Recorded() != 7 || lost.Statuses[404].URLs != 1 || len(lost.Broken) != 1 {
		t.Errorf("the lost one: %+v", lost)
	}
	if got := strings.Count(outcomes(t, job, s.URL), "/lost"); got != 2 {
		t.Errorf("the lost one has %d records", got)
	}
}

// TestRetryStopped checks that a retry of a job that is not finished keeps what waits, within the
// limit of the host.
func TestRetryStopped(t *testing.T) {
	s, mended := newMended(t)
	job := filepath.Join(t.TempDir(), "job")
	crawltest.CrawlOnce(t, weft.Options{Seeds: []string{s.URL}, Job: job, Limits: weft.Limits{LimitPerHost: 6, Limit: 3}, Pace: weft.Pace{Concurrency: 1}})
	mended.Store(true)
	got := crawltest.CrawlOnce(t, weft.Options{Job: job, Rerun: weft.Rerun{RetryFailed: weft.MayPass}})
	if !got.Finished || got.Recorded() != 6 || got.Failed != 0 || got.Statuses[200].URLs != 5 || got.OverLimit != 1 {
		t.Errorf("%+v\n%s", got, outcomes(t, job, s.URL))
	}
}

// TestRetrySeed checks that a job without a fetched seed can be retried, and does not start anew.
func TestRetrySeed(t *testing.T) {
	s, mended := newMended(t)
	job := filepath.Join(t.TempDir(), "job")
	if got := crawltest.CrawlOnce(t, weft.Options{Seeds: []string{s.URL + "/down"}, Job: job}); got.SeedsFetched != 0 {
		t.Fatalf("%+v", got)
	}
	mended.Store(true)
	got := crawltest.CrawlOnce(t, weft.Options{Job: job, Rerun: weft.Rerun{RetryFailed: weft.MayPass}})
	if all := outcomes(t, job, s.URL); got.SeedsFetched != 1 || got.Runs != 2 || !strings.Contains(all, "/down 504\n/down 200\n") {
		t.Errorf("%+v\n%s", got, all)
	}
}
