package engine

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/guard"
)

const (
	// A failure that can only be this machine's counts once nothing has responded for quietOwn; one
	// that may be the server's, once nothing has for quietOthers, and so many hosts are lost.
	quietOwn    = time.Second
	quietOthers = 5 * time.Second
	manyHosts   = 5

	// firstProbe is the pause before the first fetch in an outage; it doubles up to lastProbe.
	firstProbe = time.Second
	lastProbe  = time.Minute

	// firstPatience bounds an outage of a job that has seen nothing of the Internet yet: the same
	// command tries again, or this machine cannot reach the Internet at all.
	firstPatience = 30 * time.Second
)

// outage is a failure of this machine's own network, as the outcomes tell it from that of some
// servers: nothing responds any more. Then one fetch at a time is tried, and no failure counts. If
// it lasts for too long, failures count again until the next response.
type outage struct {
	down  bool
	began time.Time
	probe time.Time     // no fetch starts before
	pause time.Duration // up to probe
	why   string

	responded time.Time           // last; zero: never in this run
	far       bool                // a server with a public address has, or a proxy
	lost      map[string]struct{} // hosts since then, at most manyHosts
	spent     bool                // it has lasted for too long
}

// sense takes in what outcomes say of the network.
func (d *Coordinator) sense(now time.Time, batch []*fetch.Outcome) {
	o := &d.outage
	for _, out := range batch {
		switch out.Network {
		case fetch.NetworkUp:
			*o = outage{responded: now, far: o.far || isFar(out)}
		case fetch.NetworkLost, fetch.NetworkDown:
			switch {
			case o.down && !now.Before(o.probe):
				o.pause = min(2*o.pause, lastProbe)
				o.probe = now.Add(o.pause)
			case !o.down && !o.spent && d.provesOutage(now, out):
				*o = outage{
					down: true, began: now, pause: firstProbe, probe: now.Add(firstProbe),
					why: out.Lost, responded: o.responded, far: o.far,
				}
			}
		}
	}
	if patience := d.patience(); o.down && patience > 0 && now.Sub(o.began) >= patience {
		o.down, o.spent = false, true
	}
}

// isFar reports whether a response came from the Internet.
func isFar(out *fetch.Outcome) bool {
	a := &out.Result
	return a.Took > 0 && (!a.Addr.IsValid() || guard.IsPublic(a.Addr))
}

// patience is how long an outage may last; 0: any time.
func (d *Coordinator) patience() time.Duration {
	give := d.cfg.Frontier.GiveUp
	begins := d.cfg.Job == nil || !d.cfg.Job.Resumed || d.neverResponded()
	if begins && !d.outage.far && (give == 0 || give > firstPatience) {
		return firstPatience
	}
	return give
}

// neverResponded reports whether no server has responded in any run of the visit.
func (d *Coordinator) neverResponded() bool {
	return d.outage.responded.IsZero() && len(d.progress.summary.Statuses) == 0
}

// provesOutage reports whether a failure shows that the network is down. That of a server that has
// never responded shows little, once others have: a crawl may end with hosts that are all dead.
func (d *Coordinator) provesOutage(now time.Time, out *fetch.Outcome) bool {
	o := &d.outage
	own, quiet := out.Network == fetch.NetworkDown, now.Sub(o.responded)
	telling := d.neverResponded() || d.frontier.View().Responded(out.URL.URL)
	switch {
	case own && quiet < quietOwn, !own && (quiet < quietOthers || !telling):
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
	return o.down && (out.Network == fetch.NetworkLost || out.Network == fetch.NetworkDown)
}

// limit returns how many of n fetches may start, when some are in flight.
func (o *outage) limit(now time.Time, n, inFlight int) int {
	switch {
	case !o.down:
		return n
	case inFlight > 0 || now.Before(o.probe):
		return 0
	}
	return min(n, 1)
}

// words says why no fetch starts.
func (o *outage) words(now time.Time) string {
	wait := max(0, o.probe.Sub(now)).Round(time.Second)
	return fmt.Sprintf("%s; trying again in %v", o.why, wait)
}
