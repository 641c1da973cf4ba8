package engine

import (
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// open widens the scope by u, here and in every fetch loop, before any of them can have a lease
// that comes of it. It reports whether that changed the scope.
func (d *Coordinator) open(u weburl.URL) bool {
	if !d.bounds.Open(u) {
		return false
	}
	d.widen([]weburl.URL{u})
	if d.cfg.Job != nil {
		d.cfg.Job.SetScope(d.committer.open.state, u)
		d.changed()
	}
	return true
}

// widen passes URLs that widen the scope to the fetch loops.
func (d *Coordinator) widen(by []weburl.URL) {
	for _, f := range d.loops {
		f.Widen(by)
	}
}

// trust passes seeds that were given one by one to the fetch loops, before any lease that they
// lead to.
func (d *Coordinator) trust(seeds []weburl.URL) {
	for _, f := range d.loops {
		f.Trust(seeds)
	}
}

// openNetwork lets links lead to a private network, here and in every fetch loop; the job remembers
// it.
func (d *Coordinator) openNetwork(n guard.Network) {
	if !d.networks.Open(n) {
		return
	}
	d.permit([]guard.Network{n})
	if d.cfg.Job != nil {
		d.cfg.Job.SetNetwork(d.committer.open.state, n)
		d.changed()
	}
}

// recallNetworks opens the networks that were open in the job's last run.
func (d *Coordinator) recallNetworks(open []guard.Network) {
	for _, n := range open {
		d.networks.Open(n)
	}
	d.permit(open)
}

func (d *Coordinator) permit(open []guard.Network) {
	for _, f := range d.loops {
		f.Permit(open)
	}
}
