package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/weburl"
)

// reach is the part of the Web to which links of the crawl may lead, and the user's secrets go.
// Seeds and redirects of seeds widen it. Owner: the coordinator's loop. The fetch loops share what
// bounds have open.
type reach struct {
	cfg       *Config
	loops     *loops
	committer *committer
	warn      func(error)

	bounds   *scope.Bounds
	networks guard.Guard     // each fetch loop has a copy
	origins  map[string]bool // of the list of seeds, that may have the user's secrets
	warned   bool            // of a full share
}

// open widens the scope by u, here and in every fetch loop, before any of them can have a lease
// that comes of it. It reports whether that changed the scope.
func (r *reach) open(u weburl.URL) bool {
	if !r.bounds.Open(u) {
		return false
	}
	if j := r.cfg.Job; j != nil {
		r.committer.note(func(b *store.Batch) { j.SetScope(b, u) })
		r.committer.changed()
	}
	return true
}

// openTarget widens the scope by the target of a seed's redirect, and tells other nodes. Servers
// choose how many hosts they redirect to: beyond the share of the scope, none is opened.
func (r *reach) openTarget(u weburl.URL) bool {
	if share := r.cfg.Shares.Scope; r.bounds.Bytes() > share && !r.bounds.Inside(u) {
		if !r.warned {
			r.warned = true
			r.warn(fmt.Errorf("the hosts that redirects of seeds lead to take more than %s, their share of the memory budget; links on further ones are not followed",
				humanize.IBytes(uint64(share))))
		}
		return false
	}
	if !r.open(u) {
		return false
	}
	if log := r.committer.log; log != nil {
		log.Widen(u.String())
	}
	return true
}

// recallScope opens what was open in the job's last run.
func (r *reach) recallScope() error {
	for u, err := range r.cfg.Job.Scope() {
		if err != nil {
			return err
		}
		r.bounds.Open(u)
	}
	return nil
}

// maxKnown bounds the origins of a list of seeds to which the user's secrets are sent.
const maxKnown = 1 << 16

// know lets the user's secrets go to the origin of a seed of the list.
func (r *reach) know(u weburl.URL) {
	if !r.cfg.Fetch.HTTP.NeedsTrusted() || r.origins[u.Origin()] || len(r.origins) > maxKnown {
		return
	}
	if r.origins == nil {
		r.origins = make(map[string]bool)
	}
	r.origins[u.Origin()] = true
	if len(r.origins) > maxKnown {
		r.warn(fmt.Errorf("the fields Authorization and Cookie are sent to the first %d origins of the list of seeds only", maxKnown))
		return
	}
	r.loops.know(u)
}

// warnOfCredentials warns of credentials that no request can use, if these are all seeds.
func (r *reach) warnOfCredentials(seeds []weburl.URL) {
	for _, c := range r.cfg.Fetch.HTTP.Auth {
		if slices.ContainsFunc(seeds, func(u weburl.URL) bool { return strings.EqualFold(u.Host(), c.Host) }) {
			continue
		}
		if c.Scheme == "" {
			write := "https://" + c.Host
			if i := slices.IndexFunc(seeds, func(u weburl.URL) bool { return strings.EqualFold(u.Hostname(), c.Host) }); i >= 0 {
				write = seeds[i].Host() + "=…"
			}
			r.warn(fmt.Errorf("%v is never sent: no seed is at %s; to send it there, write %s", c, c.Host, write))
		} else if u, err := weburl.Parse(c.Scheme + "://" + c.Host + "/"); err == nil && !r.bounds.Reaches(u) {
			r.warn(fmt.Errorf("%v is not sent unless a seed redirects there: %s is out of scope", c, u))
		}
	}
}

// openNetwork lets links lead to a private network, here and in every fetch loop; the job remembers
// it.
func (r *reach) openNetwork(n guard.Network) {
	if r.acceptNetwork(n) && r.committer.log != nil {
		r.committer.log.Widen(n.String())
		r.committer.changed()
	}
}

// acceptNetwork does so for what any node has opened. It reports whether that is new.
func (r *reach) acceptNetwork(n guard.Network) bool {
	if !r.networks.Open(n) {
		return false
	}
	r.loops.permit([]guard.Network{n})
	if j := r.cfg.Job; j != nil {
		r.committer.note(func(b *store.Batch) { j.SetNetwork(b, n) })
		r.committer.changed()
	}
	return true
}

// recallNetworks opens the networks that were open in the job's last run.
func (r *reach) recallNetworks() {
	open := r.cfg.Job.Networks
	for _, n := range open {
		r.networks.Open(n)
	}
	r.loops.permit(open)
}
