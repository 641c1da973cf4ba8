package engine

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
)

const (
	// A failure that can only be this machine's counts once nothing has come for quietOwn; one that
	// may be the server's, once nothing has for quietOthers, or twice as long as is usual, and so many
	// hosts are lost. Such a request was sent since, give or take usualTime: of one whose response was
	// due before, the server is to blame.
	quietOwn    = time.Second
	quietOthers = 15 * time.Second
	usualTime   = time.Second
	manyHosts   = 5

	// mostUsual bounds the gap between responses that counts as usual: an outage was none.
	mostUsual = 30 * time.Second

	// firstProbe is the pause before the first fetch in an outage, and between the first two; it
	// doubles up to lastProbe.
	firstProbe = time.Second
	lastProbe  = time.Minute

	// firstPatience bounds an outage of a job that has seen nothing of the Internet yet: the same
	// command tries again, or this machine cannot reach the Internet at all.
	firstPatience = 30 * time.Second
)

// outage is a failure of this machine's own network, as the outcomes tell it from that of some
// servers: nothing responds any more. Then a fetch is tried now and then, and no failure counts. If
// it lasts for too long, failures count again until the next response.
//
// Owner: the coordinator's loop.
type outage struct {
	clock    *clock
	heard    *fetch.Heard
	frontier *frontier.Frontier
	progress *progress
	giveUp   time.Duration // the longest that it waits for; 0: any time
	resumed  bool          // an earlier run has begun the job

	down  bool
	began time.Time
	probe time.Time     // no fetch starts before
	pause time.Duration // from the next one to the one after it
	why   string

	responded time.Time           // of a server's last bytes, or refusal; zero: none in this run
	gap       time.Duration       // that is usual between responses: the longest lately
	far       bool                // a server with a public address has, or a proxy
	lost      map[string]struct{} // hosts since then, at most manyHosts
	spent     bool                // it has lasted for too long
}

// sense takes in what outcomes say of the network. An error ends the crawl: there is no proxy of
// its name.
func (o *outage) sense(batch []*fetch.Outcome) error {
	now := o.clock.loop.Now()
	if heard := o.heard.At(); heard.After(o.responded) {
		o.respond(heard, false)
	}
	for _, out := range batch {
		switch out.Network {
		case fetch.NetworkUp:
			o.respond(now, isFar(out))
		case fetch.NetworkLost, fetch.NetworkDown:
			if out.NoProxy && o.neverResponded() {
				return fmt.Errorf("the proxy %w", out.Err)
			}
			if !o.down && !o.spent && o.provesOutage(now, out) {
				o.down, o.began, o.pause, o.probe, o.why = true, now, firstProbe, now.Add(firstProbe), out.Lost
			}
		}
	}
	if patience := o.patience(); o.down && patience > 0 && now.Sub(o.began) >= patience {
		o.down, o.spent = false, true
	}
	return nil
}

// respond takes in that something has come, from the Internet or not: the network is up.
func (o *outage) respond(at time.Time, far bool) {
	gap := o.gap - o.gap/16
	if !o.responded.IsZero() {
		gap = max(gap, min(at.Sub(o.responded), mostUsual))
	}
	o.responded, o.gap, o.far = at, gap, o.far || far
	o.down, o.spent, o.lost = false, false, nil
}

// isFar reports whether a response came from the Internet.
func isFar(out *fetch.Outcome) bool {
	a := &out.Result
	return a.Took > 0 && (!a.Addr.IsValid() || guard.IsPublic(a.Addr))
}

// patience returns the time that an outage may last; 0: any.
func (o *outage) patience() time.Duration {
	give := o.giveUp
	if o.begins() && !o.far && (give == 0 || give > firstPatience) {
		return firstPatience
	}
	return give
}

// begins reports whether no earlier run has brought anything, or no server has responded in any.
func (o *outage) begins() bool {
	return !o.resumed || o.neverResponded()
}

// neverResponded reports whether no server has responded in any run of the visit.
func (o *outage) neverResponded() bool {
	return o.responded.IsZero() && !o.progress.hasResponses()
}

// provesOutage reports whether a failure shows that the network is down. That of a server that has
// never responded shows little, once others have: a crawl may end with hosts that are all dead.
// That of a request that was due already when others responded shows nothing.
func (o *outage) provesOutage(now time.Time, out *fetch.Outcome) bool {
	own, quiet := out.Network == fetch.NetworkDown, now.Sub(o.responded)
	telling := o.neverResponded() || o.frontier.View().Responded(out.URL.URL)
	switch {
	case own && quiet < quietOwn, !own && (quiet < max(quietOthers, 2*o.gap) || !telling):
		return false
	case !own && out.Began.Before(o.responded.Add(-usualTime)):
		return false
	case own && telling:
		return true
	}
	if o.lost == nil {
		o.lost = make(map[string]struct{})
	}
	o.lost[out.URL.URL.Hostname()] = struct{}{}
	return len(o.lost) >= manyHosts
}

// excuses reports whether an outcome is a failure that does not count.
func (o *outage) excuses(out *fetch.Outcome) bool {
	return o.down && out.Network >= fetch.NetworkStalled
}

// limit returns how many of n fetches may start.
func (o *outage) limit(now time.Time, n int) int {
	switch {
	case !o.down:
		return n
	case now.Before(o.probe):
		return 0
	}
	return min(n, 1)
}

// probed takes in that a fetch has started in an outage. What is in flight may hang for long, so
// the next one does not wait for it.
func (o *outage) probed(now time.Time) {
	o.probe = now.Add(o.pause)
	o.pause = min(2*o.pause, lastProbe)
}

// words says why no fetch starts.
func (o *outage) words() string {
	wait := max(0, o.probe.Sub(o.clock.loop.Now())).Round(time.Second)
	return fmt.Sprintf("%s; trying again in %v", o.why, wait)
}
