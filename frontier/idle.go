package frontier

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"unsafe"

	"github.com/weftcrawl/weft/frontier/seen"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

const (
	// What hosts take in memory, in bytes, beside their names: with the tables in which they
	// are found.
	costOfServer = int(unsafe.Sizeof(server{})) + 80
	costOfOrigin = int(unsafe.Sizeof(host{})) + 80
	costOfGroup  = int(unsafe.Sizeof(group{})) + 120

	// maxVain is how many servers are looked at in a row that may not leave yet.
	maxVain = 64

	// usualBatch is how many URLs a batch has for whose look-up memory is kept.
	usualBatch = 4096
)

// idle is what is known of servers that may leave memory, and of those that have left it. A server
// is idle when nothing of it is pending, leased or wanted, no delay of it is under way, it is not dead,
// and the ledger holds for good what it was told of it last. It leaves with all its hosts, and
// comes back with all of them: they share a pace and LimitPerHost. Those with something pending: see dormant.
type idle struct {
	line  leavers // servers that had nothing left to do
	notes uint32  // NoteHosts that were called
	saved uint32  // of these, what is Saved
	bytes int     // what the hosts in memory take, without groups
	left  int     // hosts that are not in memory, those with something pending too

	gone    *seen.Set           // the names of servers that have left, by nameKey; beyond its limit, some of them
	seeds   [2]maphash.Seed     // of nameKey
	asked   map[string]struct{} // the names of which Doubts has told which are in doubt
	empty   int                 // groups without a server in memory
	sweep   int                 // so many are looked at next
	waits   moment              // from which the delay of one counts at least that a process before has left
	steered bool                // SetPerHost was called
}

// HostBytes is about how much memory the hosts take: their names and groups too, not what their
// robots.txt say.
func (f *Frontier) HostBytes() int {
	return f.idle.bytes + costOfGroup*(len(f.addresses)+len(f.domains)) + f.idle.gone.Bytes()
}

// Left is how many hosts are not in memory, as they had nothing left to do.
func (f *Frontier) Left() int { return f.idle.left }

// overfull reports whether hosts take more than HostBytes.
func (f *Frontier) overfull() bool { return f.cfg.HostBytes > 0 && f.HostBytes() > f.cfg.HostBytes }

// mayLeave reports whether an origin is one that the ledger is asked for by the name of its server.
func mayLeave(origin string) bool {
	return strings.HasPrefix(origin, "http://") || strings.HasPrefix(origin, "https://")
}

// quiet reports whether nothing of s is left to do.
func (s *server) quiet() bool {
	if s.busy > 0 || s.resolve == addressAsked || s.hasTurn() || s.origins != nil && (s.origins.due.Len() > 0 || s.origins.errands != nil) {
		return false
	}
	for h := range s.each {
		if h.pending > 0 || h.leased > 0 || h.retry != nil || h.disk != nil || h.starved || h.robots.waits() || !mayLeave(h.name) {
			return false
		}
	}
	return true
}

// each yields the hosts of s, in no order.
func (s *server) each(yield func(*host) bool) {
	if s.origins == nil {
		yield(&s.own)
		return
	}
	for _, h := range s.origins.known {
		if !yield(h) {
			return
		}
	}
}

// rests puts s among those that may leave, if nothing of it is left to do, or all of that can wait in
// the ledger.
func (f *Frontier) rests(s *server) {
	switch {
	case f.cfg.HostBytes <= 0:
	case s.quiet():
		if !s.resting {
			s.resting = true
			f.idle.line.push(s)
		}
	case !s.dozing && s.mayDoze():
		s.dozing = true
		f.dormant.line.push(s)
	}
}

// settled reports whether s, which is quiet or may doze, may leave now: what is known of it is in the
// ledger for good, and time changes nothing of it but the age of its robots.txt and, if it is quiet, what
// is left of its hold. Why a server is dead is not in the ledger.
func (f *Frontier) settled(s *server) bool {
	if s.noted > f.idle.saved || s.last != never && s.last+f.delay(s) > f.now || s.deadAt(f.now) {
		return false
	}
	if s.pace.hold > f.now && !s.quiet() { // its turn would come round in vain, and late when it is free
		return false
	}
	first := int32(0)
	for h := range s.each {
		if h.dirty {
			return false
		}
		first += h.answered
	}
	return first == s.first // else a lease counts that nobody else knows of: its URL was refused later, or postponed
}

// makeRoom has servers leave memory as long as hosts take more than they may: those that have been idle for
// longest, then those that have waited there for longest with something pending. It is called before
// a batch of URLs is looked at, so that a server is there, or not, until all of these are added.
func (f *Frontier) makeRoom() {
	if f.cfg.HostBytes <= 0 {
		return
	}
	most := f.cfg.HostBytes - f.turnover()
	if f.doubts.open { // then servers stay
		return
	}
	i, d := &f.idle, &f.dormant
	for vain := 0; f.HostBytes() > most && !i.line.empty() && vain < maxVain; {
		switch s, again := i.line.pop(); {
		case s.away:
		case !s.quiet():
			s.resting = false // until it is again
			f.rests(s)
		case !again && f.settled(s):
			f.leaveMemory(s)
		default:
			if !again {
				vain++
			}
			i.line.push(s)
		}
	}
	for vain := 0; f.HostBytes() > most && !d.line.empty() && vain < maxVain; {
		switch s, again := d.line.pop(); {
		case s.away:
		case !s.mayDoze():
			s.dozing = false
		case !again && (!s.owed || s.heldBack() || s.quiet()) && f.settled(s):
			f.leaveMemory(s)
		default:
			if !again {
				vain++
			}
			d.line.push(s)
		}
	}
	f.dropGroups()
}

// leaveMemory drops s, of which the ledger knows all.
func (f *Frontier) leaveMemory(s *server) {
	f.withdraw(s)
	s.away = true
	name := s.name()
	delete(f.idle.asked, name) // who adds to it now has not asked
	if f.dormant.gone != nil {
		f.dormant.gone[name] = struct{}{}
	}
	f.names.Remove(name, s)
	if domain := weburl.RegistrableDomain(name); domain != "" {
		f.names.Remove(domain, s)
	}
	f.leaveGroup(s, s.domain())
	f.leaveGroup(s, s.address)
	s.enterCell(nil)
	delete(f.shut, s)
	for h := range s.each {
		f.idle.bytes -= costOfHost(h)
		f.hosts--
		f.idle.left++
		f.lay(h)
	}
	f.idle.gone.Add(f.idle.nameKey(name))
}

// dropGroups drops groups without a server in memory, when there are many, and no delay
// of theirs is under way.
func (f *Frontier) dropGroups() {
	i := &f.idle
	if i.empty <= i.sweep {
		return
	}
	over := func(g *group) bool { return g.servers == 0 && f.freeAt(g) <= f.now }
	before := len(f.addresses) + len(f.domains)
	for addr, g := range f.addresses {
		if over(g) {
			delete(f.addresses, addr)
		}
	}
	for domain, g := range f.domains {
		if over(g) {
			delete(f.domains, domain)
		}
	}
	i.empty -= before - len(f.addresses) - len(f.domains)
	i.sweep = 2*i.empty + maxVain + (len(f.addresses)+len(f.domains))/4
}

// costOfHost is what a host takes, without what its robots.txt says.
func costOfHost(h *host) int {
	if h == &h.server.own {
		return costOfServer + len(h.name)
	}
	return costOfOrigin + len(h.name)
}

// nameKey is a fingerprint of a name. The Web chooses it, and cannot know the seeds.
func (i *idle) nameKey(name string) (key [16]byte) {
	for half, seed := range i.seeds {
		binary.BigEndian.PutUint64(key[8*half:], maphash.String(seed, name))
	}
	return key
}

// missing returns those of the servers of a batch's URLs that may have left memory, by name. Of
// a URL that was seen, and is no seed, the host is not needed.
func (f *Frontier) missing(b *batch) []string {
	i := &f.idle
	if i.asked == nil || len(i.asked) > usualBatch {
		i.asked = make(map[string]struct{})
	}
	clear(i.asked)
	var names []string
	for n, u := range b.urls {
		if n >= b.seeds || !f.surelySeen(b.prints[n]) {
			name := u.Hostname()
			if _, again := i.asked[name]; again {
				continue
			}
			i.asked[name] = struct{}{}
			if f.names.Find(name) == nil && f.mayHaveLeft(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (f *Frontier) mayHaveLeft(name string) bool {
	found, final := f.idle.gone.Has(f.idle.nameKey(name))
	return found || !final
}

// Return says what is known of a host that is not in memory: of each that the ledger has under
// the names that Doubts returned, before Settle. It is as it was, but that its address is not
// known, nor how many leases its address and domain bear.
func (f *Frontier) Return(s HostState, r robots.Rules) {
	if f.find(s.Name) == nil { // else its turn has come since
		f.comeBack(s, r)
	}
}

// RestoreBeside says again what is known of a host that RestoreHost has left out. It is needed if
// another of its name is in memory.
func (f *Frontier) RestoreBeside(s HostState, r robots.Rules) {
	if f.names.Find(Hostname(s.Name)) == nil || f.find(s.Name) != nil {
		return
	}
	h, _ := f.recall(s, r)
	h.last = f.now
	f.idle.left--
	f.wake(h, s)
}

// dispensable reports whether a host that is restored can stay in the ledger.
func (f *Frontier) dispensable(s HostState) bool {
	return f.overfull() && mayLeave(s.Name) && f.names.Find(Hostname(s.Name)) == nil
}
