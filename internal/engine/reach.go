package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/weburl"
)

// open widens the scope by u, here and in every fetch loop, before any of them can have a lease
// that comes of it. It reports whether that changed the scope.
func (d *Coordinator) open(u weburl.URL) bool {
	if !d.bounds.Open(u) {
		return false
	}
	if d.cfg.Job != nil {
		d.cfg.Job.SetScope(d.committer.open.state, u)
		d.changed()
	}
	return true
}

// openTarget widens the scope by the target of a seed's redirect. Servers choose how many hosts
// they redirect to: beyond the share of the scope, none is opened.
func (d *Coordinator) openTarget(u weburl.URL) bool {
	if share := d.cfg.Shares.Scope; d.bounds.Bytes() > share && !d.bounds.Inside(u) {
		if hook := d.cfg.OnWarning; !d.warned.scope && hook != nil {
			hook(fmt.Errorf("the hosts that redirects of seeds lead to take more than %s, their share of the memory budget; links on further ones are not followed",
				humanize.IBytes(uint64(share))))
		}
		d.warned.scope = true
		return false
	}
	return d.open(u)
}

// recallScope opens what was open in the job's last run.
func (d *Coordinator) recallScope(j *job.Job) error {
	for u, err := range j.Scope() {
		if err != nil {
			return err
		}
		d.bounds.Open(u)
	}
	return nil
}

// trust passes seeds that were given one by one to the fetch loops, before any lease that they
// lead to.
func (d *Coordinator) trust(seeds []weburl.URL) {
	for _, f := range d.loops {
		f.Trust(seeds)
	}
}

// maxKnown bounds the origins of a list of seeds to which the user's secrets are sent.
const maxKnown = 1 << 16

// know lets the user's secrets go to the origin of a seed of the list.
func (d *Coordinator) know(u weburl.URL) {
	origins := d.seeds.origins
	if !d.cfg.Fetch.HTTP.NeedsTrusted() || origins[u.Origin()] || len(origins) > maxKnown {
		return
	}
	if origins == nil {
		origins = make(map[string]bool)
		d.seeds.origins = origins
	}
	origins[u.Origin()] = true
	if len(origins) > maxKnown {
		d.warn(fmt.Errorf("the fields Authorization and Cookie are sent to the first %d origins of the list of seeds only", maxKnown))
		return
	}
	for _, f := range d.loops {
		f.Know([]weburl.URL{u})
	}
}

// warnOfCredentials warns of credentials that no request can use.
func (d *Coordinator) warnOfCredentials() {
	if d.cfg.SeedSeq != nil {
		return // any host may come
	}
	seeds := d.canonicalSeeds()
	for _, c := range d.cfg.Fetch.HTTP.Auth {
		if slices.ContainsFunc(seeds, func(u weburl.URL) bool { return strings.EqualFold(u.Host(), c.Host) }) {
			continue
		}
		if c.Scheme == "" {
			d.warn(fmt.Errorf("%v is never sent: no seed is at %s; to send it there, write https://%s", c, c.Host, c.Host))
		} else if u, err := weburl.Parse(c.Scheme + "://" + c.Host + "/"); err == nil && !d.bounds.Reaches(u) {
			d.warn(fmt.Errorf("%v is not sent unless a seed redirects there: %s is out of scope", c, u))
		}
	}
}

// warn reports a problem that does not end the crawl.
func (d *Coordinator) warn(err error) {
	if hook := d.cfg.OnWarning; hook != nil {
		hook(err)
	}
}

// openNetwork lets links lead to a private network, here and in every fetch loop; the job remembers
// it.
func (d *Coordinator) openNetwork(n guard.Network) {
	if d.acceptNetwork(n) && d.committer.log != nil {
		d.committer.log.Open(n.String())
		d.changed()
	}
}

// acceptNetwork does so for what any node has opened. It reports whether that is new.
func (d *Coordinator) acceptNetwork(n guard.Network) bool {
	if !d.networks.Open(n) {
		return false
	}
	d.permit([]guard.Network{n})
	if d.cfg.Job != nil {
		d.cfg.Job.SetNetwork(d.committer.open.state, n)
		d.changed()
	}
	return true
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
