package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
)

// TestOriginsInLineForRules checks that no more than 1,000 origins wait in line for room for their
// rules, which keeps them in memory, and that every URL ends all the same.
func TestOriginsInLineForRules(t *testing.T) {
	const hosts, large = 3000, 1000
	f := frontier.New(frontier.Config{PerHost: 1, Delay: time.Second, Robots: true, RobotsTries: 1, RulesBytes: 100 * large})
	for i := range hosts {
		f.Add(u(t, fmt.Sprintf("h%04d/page", i)))
	}
	most, done := 0, 0
	for now := time.Duration(0); !f.View().Over(); {
		for _, lease := range f.Lease(at(now), 20) {
			if lease.Robots {
				rules := robots.Parse([]byte("User-agent: *\nDisallow: /" + lease.URL.Host() + strings.Repeat("x", large)))
				f.Robots().Set(at(now), lease, rules.Agent("weft"), frontier.Result{})
				continue
			}
			done++
			f.Done(at(now), lease, frontier.Result{})
		}
		most = max(most, f.Starved())
		if when, ok := f.Next(); ok {
			now = max(now, when.Sub(epoch))
		}
	}
	if most > 1000 || done != hosts {
		t.Errorf("%d origins were in line, expected 1,000 at most; %d of %d URLs are done", most, done, hosts)
	}
	t.Logf("%d origins were in line", most)
}

// TestRulesKeepWithinMemory checks that the rules of many hosts keep within their share of memory,
// that what a host disallows is refused and its Crawl-delay kept all the same, and that every URL
// ends.
func TestRulesKeepWithinMemory(t *testing.T) {
	const hosts, urls, large = 300, 6, 10_000
	for _, room := range []int{1, 3 * large, 30 * large, 0} {
		t.Run(fmt.Sprint(room, " bytes"), func(t *testing.T) {
			f := frontier.New(frontier.Config{PerHost: 1, Delay: time.Second, Robots: true, RobotsTries: 1, RulesBytes: room})
			for i := range hosts * urls {
				f.Add(u(t, fmt.Sprintf("h%03d/%d", i%hosts, i/hosts)))
			}
			rules := func(host string) robots.Rules {
				// They take about 10,000 bytes; every second URL is disallowed.
				return robots.Parse([]byte("User-agent: *\nCrawl-delay: 7\nDisallow: /*1$\nDisallow: /*3$\nDisallow: /*5$\nDisallow: /" + host + strings.Repeat("x", large))).Agent("weft")
			}
			asked, done, refused, last := 0, 0, 0, make(map[string]time.Duration)
			for now := time.Duration(0); !f.View().Over(); {
				for _, lease := range f.Lease(at(now), 20) {
					host := lease.URL.Host()
					if before, ok := last[host]; ok && now-before < 7*time.Second {
						t.Fatalf("%s: lease of %s after %v, want 7 s", host, lease.URL.Path(), now-before)
					}
					last[host] = now
					if lease.Robots {
						asked++
						f.Robots().Set(at(now), lease, rules(host), frontier.Result{})
						continue
					}
					if strings.ContainsAny(lease.URL.Path(), "135") {
						t.Errorf("%s is leased, expected it to be refused", lease.URL)
					}
					done++
					f.Done(at(now), lease, frontier.Result{})
				}
				refused += len(f.Refused().URLs)
				if held := f.RulesHeld(); room > 0 && held > max(room, 2*large) {
					t.Fatalf("rules hold %d bytes, expected at most %d", held, room)
				}
				if when, ok := f.Next(); ok {
					now = max(now, when.Sub(epoch))
				}
			}
			t.Logf("%d hosts were asked %d times for their rules", hosts, asked)
			if done != hosts*urls/2 || refused != hosts*urls/2 {
				t.Errorf("%d URLs are done and %d refused, expected half of %d each", done, refused, hosts*urls)
			}
			if most := map[bool]int{true: hosts, false: hosts * (urls + 1)}[room == 0]; asked > most {
				t.Errorf("asked %d times for rules, expected at most %d", asked, most)
			}
		})
	}
}
