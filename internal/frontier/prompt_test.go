package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// TestPrompt: a host is prompt from its fourth page in a row on that came within a second. It is
// prompt no more when a page takes longer, or when it has had leases for a second of which none has
// ended.
func TestPrompt(t *testing.T) {
	f := with(t, frontier.Config{PerHost: 2}, "")
	for i := range 100 {
		f.Add(u(t, fmt.Sprintf("a/%d", i)))
	}
	now := time.Duration(0)
	var inFlight []frontier.URL
	done := func(took time.Duration) {
		f.Done(at(now), inFlight[0], frontier.Result{Total: took})
		inFlight = inFlight[1:]
	}
	expect := func(when string, n int) {
		t.Helper()
		add(t, f, "b/"+when)
		all := f.Lease(at(now), 100)
		prompt := 0
		for _, u := range all {
			if u.Prompt {
				prompt++
			}
			if u.URL.Hostname() == "a.example" {
				inFlight = append(inFlight, u)
			} else {
				f.Done(at(now), u, frontier.Result{})
			}
		}
		if prompt != n {
			t.Errorf("%s: %d prompt leases, expected %d", when, prompt, n)
		}
	}
	expect("new", 0)
	for range 3 {
		done(time.Second)
		expect("learning", 0)
	}
	done(time.Second)
	expect("prompt", 1)
	done(0)
	expect("unknown", 1)
	now += time.Second
	done(time.Second)
	expect("still", 1)
	now += time.Second + 1
	if leases := f.LeasePrompt(at(now), 100); len(leases) > 0 {
		t.Errorf("%s leased, its host is busy", shorts(leases))
	}
	f.Retry(at(now), inFlight[1], frontier.Result{}, at(now))
	inFlight = inFlight[:1]
	if leases := f.LeasePrompt(at(now), 1); len(leases) != 1 {
		t.Errorf("%d leases after one has ended, expected one", len(leases))
	} else {
		inFlight = append(inFlight, leases...)
	}
	done(time.Second + 1)
	expect("slow", 0)
	if next, ok := f.NextPrompt(); ok {
		t.Errorf("NextPrompt() = %v without a prompt host", next)
	}
}

// TestStalls: a host that was prompt is not, once it has ended no lease for a second, although it
// may have more.
func TestStalls(t *testing.T) {
	f := frontier.New(frontier.Config{PerHost: 100})
	for i := range 100 {
		f.Add(u(t, fmt.Sprintf("a/%d", i)))
	}
	for range 4 {
		lease := f.Lease(epoch, 1)
		f.Done(epoch, lease[0], frontier.Result{Total: 1})
	}
	if !f.View().Reserves(epoch) || f.View().Reserves(at(time.Hour)) {
		t.Error("expected a reserve just after a prompt page, and none an hour later")
	}
	for i, now := range []time.Duration{0, time.Second, time.Second + 1, 2 * time.Second} {
		want := 5
		if now > time.Second {
			want = 0
		}
		if n := len(f.LeasePrompt(at(now), 5)); n != want {
			t.Errorf("%d: %d leases of a prompt host after %v, expected %d", i, n, now, want)
		}
	}
	if n := len(f.Lease(at(3*time.Second), 5)); n != 5 {
		t.Errorf("%d leases of a host that stalls, expected 5 among those of all", n)
	}
}
