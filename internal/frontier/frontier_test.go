package frontier_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// epoch is the time at which the crawls of these tests begin.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a time after epoch.
func at(d time.Duration) time.Time { return epoch.Add(d) }

// u returns a URL to fetch: u("a/1") is http://a.example/1.
func u(t *testing.T, short string) frontier.URL {
	t.Helper()
	host, path, _ := strings.Cut(short, "/")
	parsed, err := weburl.Parse("http://" + host + ".example/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return frontier.URL{URL: parsed.Canonical()}
}

// short is the inverse of u.
func short(u frontier.URL) string {
	return strings.TrimSuffix(u.URL.Hostname(), ".example") + u.URL.Path()
}

func shorts(urls []frontier.URL) string {
	var all []string
	for _, u := range urls {
		all = append(all, short(u))
	}
	return strings.Join(all, " ")
}

// with returns a frontier that has the URLs, separated by spaces.
func with(t *testing.T, cfg frontier.Config, urls string) *frontier.Frontier {
	t.Helper()
	f := frontier.New(cfg)
	add(t, f, urls)
	return f
}

func add(t *testing.T, f *frontier.Frontier, urls string) {
	t.Helper()
	for _, s := range strings.Fields(urls) {
		f.Add(u(t, s))
	}
}

func expectLease(t *testing.T, f *frontier.Frontier, now time.Duration, max int, want string) []frontier.URL {
	t.Helper()
	leases := f.Lease(at(now), max)
	if got := shorts(leases); got != want {
		t.Errorf("Lease(%v, %d) = %q, want %q", now, max, got, want)
	}
	return leases
}

func expectNext(t *testing.T, f *frontier.Frontier, want time.Duration) {
	t.Helper()
	if next, ok := f.Next(); !ok || !next.Equal(at(want)) {
		t.Errorf("Next() = %v, %v, want %v after the beginning", next, ok, want)
	}
}

func expectNoNext(t *testing.T, f *frontier.Frontier) {
	t.Helper()
	if next, ok := f.Next(); ok {
		t.Errorf("Next() = %v, want none", next.Sub(epoch))
	}
}

func TestEachURLOnce(t *testing.T) {
	f := frontier.New(frontier.Config{})
	for _, c := range []struct {
		url string
		new bool
	}{
		{"a/1", true},
		{"a/1", false},
		{"b/1", true},
		{"a/2", true},
		{"a/1", false},
	} {
		if got := f.Add(u(t, c.url)); got != c.new {
			t.Errorf("Add(%s) = %v, want %v", c.url, got, c.new)
		}
	}
	leases := expectLease(t, f, 0, 10, "a/1 b/1 a/2")
	add(t, f, "a/1") // leased
	f.Done(at(0), leases[0], frontier.Result{})
	add(t, f, "a/1") // done
	f.Retry(at(0), leases[1], frontier.Result{}, at(time.Second))
	add(t, f, "b/1") // to be tried again
	expectLease(t, f, 0, 10, "")
	if got := f.View().Stats().Duplicates; got != 5 {
		t.Errorf("%d duplicates, want 5", got)
	}
}

// Two ways to one target meet: who came first is fetched, the other is a duplicate.
func TestRedirectsShareTheSeenSet(t *testing.T) {
	f := with(t, frontier.Config{MaxRedirects: 5}, "a/old a/older")
	for _, from := range f.Lease(at(0), 2) {
		target := u(t, "a/new")
		target.From = from.URL.String()
		if !f.Redirect(from, target) {
			t.Errorf("the redirect of %s is not followed", from.URL)
		}
		f.Done(at(0), from, frontier.Result{})
	}
	leases := expectLease(t, f, 0, 10, "a/new")
	if got, want := leases[0].From, "http://a.example/old"; got != want {
		t.Errorf("the target comes from %q, want %q", got, want)
	}
	if leases[0].Hops != 1 {
		t.Errorf("%d redirects led there, want 1", leases[0].Hops)
	}
}

// A chain of redirects is followed as far as MaxRedirects. When a link to the middle of
// it turns up later, it is followed from there: the order of arrival does not matter.
func TestRedirectChain(t *testing.T) {
	f := with(t, frontier.Config{MaxRedirects: 3}, "a/0")
	step := func(want string, followed bool) {
		t.Helper()
		from := expectLease(t, f, 0, 1, want)[0]
		if got := f.Redirect(from, u(t, fmt.Sprintf("a/%d", from.Hops+1))); got != followed {
			t.Errorf("redirect of %s followed: %v, want %v", want, got, followed)
		}
		f.Done(at(0), from, frontier.Result{})
	}
	step("a/0", true)
	step("a/1", true)
	step("a/2", true)
	step("a/3", false)
	expectLease(t, f, 0, 1, "")
	f.Add(u(t, "a/2")) // a link
	leases := expectLease(t, f, 0, 1, "a/4")
	if leases[0].Hops != 2 {
		t.Errorf("%d redirects led to a/4, want 2", leases[0].Hops)
	}
	f.Done(at(0), leases[0], frontier.Result{})
	f.Add(u(t, "a/1")) // one step further away: nothing new
	f.Add(u(t, "a/2"))
	if !f.View().Over() {
		t.Errorf("not over: %+v", f.View().Stats())
	}
}

func TestHostIsFirstInFirstOut(t *testing.T) {
	f := frontier.New(frontier.Config{PerHost: 1000})
	const n = 1000 // many: the queue is moved when half of it is gone
	next := 0
	for i := range n {
		add(t, f, fmt.Sprintf("a/%d", i))
		if i%3 == 0 {
			expectLease(t, f, 0, 1, fmt.Sprintf("a/%d", next))
			next++
		}
	}
	for ; next < n; next++ {
		expectLease(t, f, 0, 1, fmt.Sprintf("a/%d", next))
	}
	expectLease(t, f, 0, 1, "")
}

func TestHostsTakeTurns(t *testing.T) {
	t.Run("no delay", func(t *testing.T) {
		f := with(t, frontier.Config{PerHost: 3}, "a/1 a/2 a/3 b/1 c/1 c/2")
		expectLease(t, f, 0, 2, "a/1 b/1")
		expectLease(t, f, 0, 10, "c/1 a/2 c/2 a/3")
	})
	t.Run("adding to a host does not cost it its turn", func(t *testing.T) {
		f := with(t, frontier.Config{}, "a/1 b/1 a/2")
		expectLease(t, f, 0, 10, "a/1 b/1 a/2")
	})
	t.Run("a host whose retry is due is not behind one that is always due", func(t *testing.T) {
		f := with(t, frontier.Config{}, "b/1 a/1 a/2 a/3 a/4")
		b := expectLease(t, f, 0, 1, "b/1")
		f.Retry(at(0), b[0], frontier.Result{}, at(time.Second))
		expectLease(t, f, 0, 1, "a/1")
		expectLease(t, f, time.Second, 2, "a/2 b/1")
	})
	t.Run("a new host is not before one that is due", func(t *testing.T) {
		f := with(t, frontier.Config{Delay: time.Second}, "a/1 a/2")
		f.Done(at(0), expectLease(t, f, 0, 1, "a/1")[0], frontier.Result{})
		expectLease(t, f, time.Second, 0, "") // the coordinator had no free worker
		add(t, f, "b/1 c/1")
		expectLease(t, f, 2*time.Second, 1, "a/2")
	})
	t.Run("an answer does not cost a host its turn", func(t *testing.T) {
		f := with(t, frontier.Config{}, "a/1 a/2 b/1 b/2")
		leases := expectLease(t, f, 0, 2, "a/1 b/1")
		f.Done(at(time.Second), leases[0], frontier.Result{})
		expectLease(t, f, time.Second, 2, "a/2 b/2")
	})
}

func TestDelay(t *testing.T) {
	delay := frontier.Config{Delay: 2 * time.Second}
	t.Run("counts from the end of the response", func(t *testing.T) {
		f := with(t, delay, "a/1 a/2")
		a := expectLease(t, f, 0, 10, "a/1")
		f.Done(at(1500*time.Millisecond), a[0], frontier.Result{})
		expectNext(t, f, 3500*time.Millisecond)
		expectLease(t, f, 3499*time.Millisecond, 10, "")
		expectLease(t, f, 3500*time.Millisecond, 10, "a/2")
	})
	t.Run("is kept while a response is awaited", func(t *testing.T) {
		f := with(t, frontier.Config{Delay: 2 * time.Second, PerHost: 2}, "a/1 a/2 a/3")
		a := expectLease(t, f, 0, 10, "a/1")
		expectNext(t, f, 2*time.Second)
		expectLease(t, f, 2*time.Second, 10, "a/2")
		f.Done(at(3*time.Second), a[0], frontier.Result{})
		expectNext(t, f, 5*time.Second)
		expectLease(t, f, 5*time.Second, 10, "a/3")
	})
	t.Run("one at a time", func(t *testing.T) {
		f := with(t, delay, "a/1 a/2")
		expectLease(t, f, 0, 10, "a/1")
		expectLease(t, f, time.Hour, 10, "")
		expectNoNext(t, f)
	})
	t.Run("counts after a failure too", func(t *testing.T) {
		f := with(t, delay, "a/1 a/2")
		a := expectLease(t, f, 0, 10, "a/1")
		f.Retry(at(time.Second), a[0], frontier.Result{}, at(time.Second))
		expectLease(t, f, 2999*time.Millisecond, 10, "")
		expectLease(t, f, 3*time.Second, 10, "a/1")
	})
	t.Run("does not concern other hosts", func(t *testing.T) {
		f := with(t, delay, "a/1 a/2 b/1")
		expectLease(t, f, 0, 10, "a/1 b/1")
	})
	t.Run("holds for what is added later", func(t *testing.T) {
		f := with(t, delay, "a/1")
		f.Done(at(0), expectLease(t, f, 0, 10, "a/1")[0], frontier.Result{})
		expectNoNext(t, f)
		add(t, f, "a/2")
		expectNext(t, f, 2*time.Second)
	})
}

func TestPerHost(t *testing.T) {
	f := with(t, frontier.Config{PerHost: 2}, "a/1 a/2 a/3 a/4 b/1")
	leases := expectLease(t, f, 0, 10, "a/1 b/1 a/2")
	expectLease(t, f, time.Hour, 10, "")
	expectNoNext(t, f) // no time helps, only an answer
	f.Done(at(time.Hour), leases[0], frontier.Result{})
	expectNext(t, f, time.Hour)
	expectLease(t, f, time.Hour, 10, "a/3")
	f.Retry(at(time.Hour), leases[2], frontier.Result{}, at(time.Hour))
	expectLease(t, f, time.Hour, 10, "a/2")
}

func TestRetry(t *testing.T) {
	t.Run("not before its time", func(t *testing.T) {
		f := with(t, frontier.Config{}, "a/1")
		a := expectLease(t, f, 0, 10, "a/1")
		f.Retry(at(time.Second), a[0], frontier.Result{}, at(5*time.Second))
		expectNext(t, f, 5*time.Second)
		expectLease(t, f, 4999*time.Millisecond, 10, "")
		expectLease(t, f, 5*time.Second, 10, "a/1")
	})
	t.Run("counts tries", func(t *testing.T) {
		f := with(t, frontier.Config{}, "a/1")
		for tries := range 3 {
			a := expectLease(t, f, 0, 10, "a/1")
			if a[0].Tries != tries {
				t.Errorf("lease says %d tries, want %d", a[0].Tries, tries)
			}
			f.Retry(at(0), a[0], frontier.Result{}, at(0))
		}
	})
	t.Run("does not hold up what was not tried", func(t *testing.T) {
		f := with(t, frontier.Config{}, "a/1 a/2")
		f.Retry(at(0), expectLease(t, f, 0, 1, "a/1")[0], frontier.Result{}, at(time.Hour))
		expectLease(t, f, 0, 10, "a/2")
	})
	t.Run("comes before what was not tried", func(t *testing.T) {
		f := with(t, frontier.Config{}, "a/1 a/2")
		f.Retry(at(0), expectLease(t, f, 0, 1, "a/1")[0], frontier.Result{}, at(time.Second))
		expectLease(t, f, time.Second, 10, "a/1 a/2")
	})
	t.Run("the earliest first, at one time in order", func(t *testing.T) {
		f := with(t, frontier.Config{PerHost: 6}, "a/1 a/2 a/3 a/4 a/5 a/6")
		for i, lease := range f.Lease(at(0), 6) {
			when := at(2 * time.Second)
			if i == 4 {
				when = at(time.Second)
			}
			f.Retry(at(0), lease, frontier.Result{}, when)
		}
		expectLease(t, f, 3*time.Second, 10, "a/5 a/1 a/2 a/3 a/4 a/6")
	})
	t.Run("a new URL need not wait for it", func(t *testing.T) {
		f := with(t, frontier.Config{}, "a/1")
		f.Retry(at(0), expectLease(t, f, 0, 10, "a/1")[0], frontier.Result{}, at(time.Hour))
		add(t, f, "a/2")
		expectNext(t, f, 0)
		expectLease(t, f, 0, 10, "a/2")
		expectNext(t, f, time.Hour)
	})
}

func TestCounts(t *testing.T) {
	f := frontier.New(frontier.Config{})
	expect := func(after string, over bool, want frontier.Stats) {
		t.Helper()
		if got := f.View().Stats(); got != want {
			t.Errorf("after %s: %+v, want %+v", after, got, want)
		}
		if f.View().Over() != over {
			t.Errorf("after %s: Over() = %v", after, !over)
		}
	}
	expect("nothing", true, frontier.Stats{})
	add(t, f, "a/1 b/1 a/1")
	expect("Add", false, frontier.Stats{Pending: 2, Origins: 2, Duplicates: 1})
	leases := f.Lease(at(0), 10)
	expect("Lease", false, frontier.Stats{Leased: 2, Origins: 2, Duplicates: 1})
	f.Done(at(0), leases[0], frontier.Result{})
	expect("Done", false, frontier.Stats{Leased: 1, Done: 1, Origins: 2, Duplicates: 1})
	f.Retry(at(0), leases[1], frontier.Result{}, at(time.Hour))
	expect("Retry", false, frontier.Stats{Pending: 1, Done: 1, Origins: 2, Duplicates: 1})
	f.Done(at(time.Hour), f.Lease(at(time.Hour), 10)[0], frontier.Result{})
	expect("the last Done", true, frontier.Stats{Done: 2, Origins: 2, Duplicates: 1})
}

func TestAnswerForWhatIsNotLeasedPanics(t *testing.T) {
	answers := map[string]func(*frontier.Frontier, frontier.URL){
		"Done":  func(f *frontier.Frontier, u frontier.URL) { f.Done(at(0), u, frontier.Result{}) },
		"Retry": func(f *frontier.Frontier, u frontier.URL) { f.Retry(at(0), u, frontier.Result{}, at(0)) },
	}
	// In every case a/1 is leased: it is the URL that must be leased, not just its host.
	for _, url := range []string{"x/never-added", "a/never-added", "a/pending", "a/done"} {
		for _, name := range slices.Sorted(maps.Keys(answers)) {
			t.Run(name+" "+url, func(t *testing.T) {
				f := with(t, frontier.Config{}, "a/1 a/done a/pending")
				f.Done(at(0), expectLease(t, f, 0, 2, "a/1 a/done")[1], frontier.Result{})
				before := f.View().Stats()
				func() {
					defer func() {
						if r := fmt.Sprint(recover()); !strings.Contains(r, u(t, url).URL.String()) {
							t.Errorf("panic %q, want one that names the URL", r)
						}
					}()
					answers[name](f, u(t, url))
				}()
				if after := f.View().Stats(); after != before {
					t.Errorf("counts were %+v and are %+v", before, after)
				}
			})
		}
	}
}
