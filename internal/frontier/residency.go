package frontier

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"time"
	"unsafe"

	"github.com/weftcrawl/weft/internal/frontier/names"
	"github.com/weftcrawl/weft/internal/frontier/seen"
	"github.com/weftcrawl/weft/weburl"
)

const (
	// Memory of hosts and origins, in bytes, besides their names: with the tables that
	// find them.
	costOfHost   = int(unsafe.Sizeof(host{})) + 80
	costOfOrigin = int(unsafe.Sizeof(origin{})) + 80

	// spareBytes is the memory that hosts which time will free may take in any case.
	spareBytes = 1 << 20

	// maxVain is the most origins looked at in a row whose hosts may not be evicted yet.
	maxVain = 64

	// lookAgain is the time after which a host is looked at again that may not be evicted yet.
	lookAgain = time.Second

	// usualBatch is the largest batch, in URLs, for which the memory of the look-up is kept.
	usualBatch = 4096
)

// residency is the part of a frontier that decides which hosts are in memory, or resident, and
// which were evicted. A host is idle when nothing of it is pending, leased or wanted. It leaves
// with all its origins, and comes back with all of them: they share a pace and LimitPerHost. Hosts
// with something pending: see dormant. Hosts of others: see ownership.
type residency struct {
	cfg        *Config
	epoch      *epoch
	journal    *journal
	agenda     *agenda
	politeness *politeness

	names   *names.Index[host] // resident hosts
	origins int                // resident
	bytes   int                // that these take, without groups, troubles and URLs
	evicted int                // origins that are not resident, dormant ones included
	idle    evictionLine       // hosts that had nothing left to do

	gone  *seen.Set           // names of evicted hosts, by nameKey; beyond its limit, some
	seeds [2]maphash.Seed     // of nameKey
	asked map[string]struct{} // names of the last batch that were looked up if need be
	batch lookup

	dormant   dormant
	ownership ownership

	spare   int    // bytes beyond twice HostBytes: see crowded
	waits   moment // a delay counts from here at least if another process has evicted the host
	steered bool   // PerHost was changed
}

func newResidency(cfg *Config, e *epoch, j *journal, a *agenda, p *politeness) *residency {
	return &residency{
		cfg: cfg, epoch: e, journal: j, agenda: a, politeness: p,
		names: names.New((*host).name), gone: seen.New(max(1, cfg.HostBytes/8)),
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, waits: never,
		ownership: newOwnership(cfg),
		spare:     spareBytes,
	}
}

// origin returns the resident origin with a name; nil if there is none.
func (r *residency) origin(name string) *origin {
	h := r.names.Find(Hostname(name))
	switch {
	case h == nil:
		return nil
	case h.own.name == name:
		return &h.own
	case h.origins == nil:
		return nil
	}
	return h.origins.known[name]
}

// each yields every resident origin, in no order.
func (r *residency) each(yield func(*origin) bool) {
	for h := range r.names.All {
		for o := range h.each {
			if !yield(o) {
				return
			}
		}
	}
}

// all returns every resident origin by name, so that a crawl on a virtual clock is the same every
// time.
func (r *residency) all() []*origin {
	return slices.SortedFunc(r.each, byName)
}

// added takes in an origin that is resident from now on.
func (r *residency) added(o *origin) {
	r.origins++
	r.bytes += bytesOf(o)
}

// removed updates the state after a host has left memory.
func (r *residency) removed(h *host) {
	name := h.name()
	delete(r.asked, name) // a later Add has not looked it up
	r.names.Remove(name, h)
	if domain := weburl.RegistrableDomain(name); domain != "" {
		r.names.Remove(domain, h)
	}
	for o := range h.each {
		r.bytes -= bytesOf(o)
		r.origins--
	}
	r.gone.Add(r.nameKey(name))
}

// bytesOf returns what an origin takes in memory, without its robots.txt, its trouble and its URLs.
func bytesOf(o *origin) int {
	n := costOfOrigin + len(o.name)
	if o == &o.host.own {
		n = costOfHost + len(o.name)
	}
	return n
}

// nameKey returns a fingerprint of a name. The Web chooses the name, and cannot know the seeds.
func (r *residency) nameKey(name string) (key fingerprint) {
	for half, seed := range r.seeds {
		binary.BigEndian.PutUint64(key[8*half:], maphash.String(seed, name))
	}
	return key
}

// lookedUp reports whether the origins of a name that were evicted, if any, are back.
func (r *residency) lookedUp(name string) bool {
	if r.evicted == 0 || r.names.Find(name) != nil {
		return true
	}
	_, asked := r.asked[name]
	return asked
}

// missing returns the names of a batch that may be of evicted hosts.
func (r *residency) missing(hostnames func(yield func(string) bool)) []string {
	if r.asked == nil || len(r.asked) > usualBatch {
		r.asked = make(map[string]struct{})
	}
	clear(r.asked)
	var missing []string
	for name := range hostnames {
		if _, again := r.asked[name]; again {
			continue
		}
		r.asked[name] = struct{}{}
		if r.names.Find(name) == nil && r.mayBeEvicted(name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

func (r *residency) mayBeEvicted(name string) bool {
	found, final := r.gone.Has(r.nameKey(name))
	return found || !final
}

const (
	notAnyMore evictability = iota // it leaves the line
	notYet
	evictable
)
