package frontier_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
)

// refused is the failure to connect to a server.
var refused = frontier.Result{Failure: "connect", Reason: "connection refused", Unreached: true}

// TestAsksForAYear: an origin that asks to be left alone for a year is asked after an hour, unless
// the crawl waits for less.
func TestAsksForAYear(t *testing.T) {
	for giveUp, given := range map[time.Duration]int{30 * time.Minute: 1, 2 * time.Hour: 0} {
		f := frontier.New(frontier.Config{GiveUp: giveUp})
		f.Add(parsed(t, "http://a.example/1"))
		f.Add(parsed(t, "http://a.example/2"))
		f.Done(at(0), f.Lease(at(0), 1)[0], frontier.Result{Overload: true, Status: 503, RetryAfter: 365 * 24 * time.Hour})
		if all := f.Refused().GivenUp; len(all) != given {
			t.Errorf("a crawl that waits for %v gives up %v", giveUp, all)
		}
		if next, ok := f.Next(); given == 0 && (!ok || next != at(time.Hour)) {
			t.Errorf("the next request is at %v, %v", next, ok)
		}
	}
}

// TestPortsTakeTurns crawls random hosts with many ports, of which some never respond, some are out
// of reach for a while and some respond always. Whatever happens, every URL ends, those of an
// origin that responds in the end are fetched, and as many URLs are leased as the host may have.
func TestPortsTakeTurns(t *testing.T) {
	for seed := range uint64(200) {
		rand := rand.New(rand.NewPCG(seed, 16))
		f := frontier.New(frontier.Config{PerHost: 1 + rand.IntN(9), Robots: rand.IntN(2) == 0, RobotsTries: 3})
		const urls = 4
		ports := 1 + rand.IntN(30)
		down := make([]time.Duration, ports) // up to a time after the first response; -1: for ever
		met := make([]bool, ports)
		added, done := 0, 0
		for i := range ports {
			down[i] = time.Duration(rand.IntN(4)-1) * 20 * time.Minute
			for n := range urls {
				f.Add(parsed(t, fmt.Sprintf("http://a.example:%d/%d", 80+i, n)))
			}
			if down[i] >= 0 {
				added += urls
			}
		}
		var leases []frontier.URL
		for now, steps := time.Duration(0), 0; !f.View().Over(); steps++ {
			if steps > 20_000 {
				t.Fatalf("seed %d: no end: %+v", seed, f.View().Stats())
			}
			leases = append(leases, f.Lease(at(now), rand.IntN(9))...)
			f.Refused()
			if next, ok := f.Next(); len(leases) == 0 && ok {
				now = max(now, next.Sub(epoch))
			} else if len(leases) == 0 && !f.View().Over() {
				t.Fatalf("seed %d: nothing will ever happen: %+v", seed, f.View().Stats())
			}
			if len(leases) == 0 {
				continue
			}
			now += time.Duration(rand.IntN(2000)) * time.Millisecond
			n := rand.IntN(len(leases))
			u := leases[n]
			leases = append(leases[:n], leases[n+1:]...)
			i := int(u.URL.EffectivePort()) - 80
			ok := !met[i] && down[i] >= 0 || met[i] && now > down[i]
			switch {
			case u.Robots && ok:
				f.Robots().Set(at(now), u, robots.Rules{}, frontier.Result{})
			case u.Robots:
				f.Robots().Failed(at(now), u, refused, "connect", "refused", false)
			case ok:
				f.Done(at(now), u, frontier.Result{Took: time.Millisecond})
				done++
			case f.View().Outlasts(at(now), u, refused):
				f.Postpone(at(now), u, refused, at(now))
			case u.Tries < 2:
				f.Retry(at(now), u, refused, at(now+time.Second))
			default:
				f.Done(at(now), u, refused)
			}
			met[i] = met[i] || ok
		}
		if done != added {
			t.Errorf("seed %d: %d URLs were fetched, expected %d of %d ports", seed, done, added, ports)
		}
	}
}

// TestDownHostIsNotHammered: of a host with many origins, none of which responds, one is tried a
// second; each has its own chance.
func TestDownHostIsNotHammered(t *testing.T) {
	const ports = 100
	f := frontier.New(frontier.Config{})
	for i := range ports {
		f.Add(parsed(t, fmt.Sprintf("http://a.example:%d/", 1000+i)))
	}
	tried := make(map[string]int)
	now, asked := time.Duration(0), 0
	for ; !f.View().Over(); asked++ {
		next, ok := f.Next()
		if !ok {
			t.Fatalf("nothing will ever happen: %+v", f.View().Stats())
		}
		now = max(now, next.Sub(epoch))
		leases := f.Lease(at(now), 9)
		f.Refused()
		if asked > 5 && len(leases) > 1 {
			t.Fatalf("%v: %d at once", now, len(leases))
		}
		for _, u := range leases {
			tried[u.URL.String()]++
			f.Retry(at(now), u, refused, at(now+time.Second))
		}
	}
	if len(tried) != ports || now < time.Minute || now > 10*time.Minute {
		t.Errorf("%d of %d origins tried, in %v", len(tried), ports, now)
	}
}

// TestTroubleOutlivesTheProcess: how long an origin has been in trouble counts on after a restart,
// without the time between; its pause is no longer than it would be, though the clock was set back.
func TestTroubleOutlivesTheProcess(t *testing.T) {
	l := newJournal(t)
	cfg := frontier.Config{GiveUp: time.Hour}
	f := frontier.New(cfg)
	f.SetJournal(l)
	add(t, f, "a/1 a/2")
	f.Done(at(0), f.Lease(at(0), 1)[0], frontier.Result{Took: time.Second})
	now := time.Duration(0)
	for now < 40*time.Minute {
		next, _ := f.Next()
		now = max(now, next.Sub(epoch))
		u := f.Lease(at(now), 1)[0]
		if !f.View().Outlasts(at(now), u, refused) {
			t.Fatalf("%v: the URL does not wait", now)
		}
		f.Postpone(at(now), u, refused, at(now))
	}
	f.NoteOrigins()
	for _, note := range l.notes {
		note.apply(&l.durable)
	}
	state := l.origins["http://a.example"]
	for _, start := range []time.Duration{now + 24*time.Hour, -24 * time.Hour} {
		r := frontier.Restore(cfg)
		r.Origin(at(start), state, robots.Rules{})
		info, _ := r.Frontier().View().Origin(at(start), "http://a.example")
		lasted := at(start).Sub(info.Trouble.Since)
		if lasted != now {
			t.Errorf("restored at %v: in trouble for %v, expected %v", start, lasted, now)
		}
		if held := info.Next.Sub(at(start)); held > 5*time.Minute {
			t.Errorf("restored at %v: it waits %v", start, held)
		}
	}
}

// TestClockSetBack: whatever a process with another clock has recorded, nothing waits for longer
// than its own longest pause.
func TestClockSetBack(t *testing.T) {
	far := at(1000 * time.Hour)
	for name, c := range map[string]struct {
		state frontier.OriginState
		most  time.Duration
	}{
		"back-off": {frontier.OriginState{BackOffEnd: far, Strikes: 1, Overload: true}, time.Hour},
		"delay":    {frontier.OriginState{Asked: far}, 0},
		"parked":   {frontier.OriginState{Trouble: frontier.TroubleState{Since: far, Failures: 5, Until: far}}, 5 * time.Minute},
		"robots.txt that failed": {
			frontier.OriginState{Robots: frontier.RobotsState{Tries: 2, Until: far}}, 5 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := frontier.Restore(frontier.Config{Robots: true, RobotsTries: 3})
			c.state.Name = "http://a.example"
			r.Origin(at(0), c.state, robots.Rules{})
			f := r.Frontier()
			add(t, f, "a/1")
			if next, ok := f.Next(); !ok || next.After(at(c.most)) {
				t.Errorf("due at %v, %t, expected after %v at most", next.Sub(epoch), ok, c.most)
			}
		})
	}
}
