package frontier_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/weburl"
)

// TestGroups makes random operations on a frontier of hosts that share registrable domains and
// addresses, and compares it with a model that looks at every host every time: no host, domain or
// address is leased from sooner, or more at once, than it may be; as long as there are slots, none
// that may be leased from waits; nobody is overtaken twice; Next is right to the nanosecond; and
// every URL ends.
func TestGroups(t *testing.T) {
	for _, cfg := range []frontier.Config{
		{PerHost: 2, PerDomain: 3, PerAddress: 4},
		{PerHost: 9, PerDomain: 1, PerAddress: 1},
		{PerHost: 1, PerDomain: 2, PerAddress: 2, Delay: time.Second},
		{PerHost: 1, PerDomain: 2, PerAddress: 3, Delay: time.Second, DomainDelay: 300 * time.Millisecond, AddressDelay: -1},
		{PerHost: 3, PerDomain: 3, PerAddress: 1, DomainDelay: 200 * time.Millisecond, AddressDelay: 700 * time.Millisecond},
		{PerHost: 3, PerDomain: 1, PerAddress: 9, DomainDelay: 700 * time.Millisecond, AddressDelay: 200 * time.Millisecond},
	} {
		cfg.Resolve = true
		t.Run(fmt.Sprintf("delays %v %v %v, at once %d %d %d", cfg.Delay, cfg.DomainDelay, cfg.AddressDelay, cfg.PerHost, cfg.PerDomain, cfg.PerAddress), func(t *testing.T) {
			for seed := range long.Or[uint64](30, 200) {
				m := newGroupModel(t, cfg, seed)
				for range 400 {
					m.step()
				}
				m.finish()
				if t.Failed() {
					t.Fatalf("that was seed %d", seed)
				}
			}
		})
	}
}

// groupModel is a frontier, and what should be true of it.
type groupModel struct {
	t         *testing.T
	cfg       frontier.Config
	f         *frontier.Frontier
	rand      *rand.Rand
	now       time.Duration
	added     int
	ended     int
	hosts     []*groupHost // in the order in which they were added
	known     map[string]*groupHost
	domains   map[string]*load
	addresses map[netip.Addr]*load
	leases    []frontier.URL // not answered
}

// load is the number of leases of a host or a group in flight.
type load struct {
	leased int
	last   time.Duration // it was asked, or has answered; −1: never
}

func (l *load) free(per int, delay time.Duration) (at time.Duration, room bool) {
	if l.last >= 0 {
		at = l.last + max(0, delay)
	}
	return at, l.leased < per
}

type groupHost struct {
	load
	name     string
	domain   *load
	address  *load // nil: unknown
	resolved int   // 0 no, 1 asked, 2 yes
	pending  int   // never tried
	retry    []time.Duration
	hold     time.Duration
	fails    int
	dead     bool
	passed   map[*groupHost]int // leases of others while it might have been asked
}

func newGroupModel(t *testing.T, cfg frontier.Config, seed uint64) *groupModel {
	return &groupModel{
		t: t, cfg: cfg, f: frontier.New(cfg), rand: rand.New(rand.NewPCG(seed, 4)),
		known: make(map[string]*groupHost), domains: make(map[string]*load), addresses: make(map[netip.Addr]*load),
	}
}

func (m *groupModel) step() {
	switch n := m.rand.IntN(100); {
	case n < 35:
		m.add()
	case n < 60:
		m.lease(m.rand.IntN(6))
	case n < 85:
		m.answer()
	default:
		m.now += time.Duration(m.rand.IntN(5)) * 100 * time.Millisecond
	}
	m.compare()
}

func (m *groupModel) finish() {
	for steps := 0; !m.f.View().Over(); steps++ {
		m.lease(1 + m.rand.IntN(9))
		for range m.rand.IntN(4) {
			m.answer()
		}
		if next, ok := m.f.Next(); ok && (len(m.leases) == 0 || m.rand.IntN(4) == 0) {
			m.now = max(m.now, next.Sub(epoch))
		}
		m.compare()
		if steps > 20_000 {
			m.t.Fatalf("no end: %+v", m.f.View().Stats())
		}
	}
	if m.ended != m.added {
		m.t.Fatalf("%d URLs ended of %d", m.ended, m.added)
	}
}

// add adds a URL of one of a few hosts: a domain has up to three. Hosts with several ports:
// see TestPortsTakeTurns.
func (m *groupModel) add() {
	domain := fmt.Sprintf("d%d.example", m.rand.IntN(4))
	name := []string{"", "www.", "a."}[m.rand.IntN(3)] + domain
	url, err := weburl.Parse(fmt.Sprintf("http://%s/%d", name, m.added))
	if err != nil {
		m.t.Fatal(err)
	}
	if !m.f.Add(frontier.URL{URL: url.Canonical()}) {
		m.t.Fatalf("%s was not added", url)
	}
	m.added++
	s := m.known[name]
	if s == nil {
		if m.domains[domain] == nil {
			m.domains[domain] = &load{last: -1}
		}
		s = &groupHost{name: name, domain: m.domains[domain], load: load{last: -1}, passed: make(map[*groupHost]int)}
		m.known[name] = s
		m.hosts = append(m.hosts, s)
	}
	s.pending++
}

func (m *groupModel) host(u frontier.URL) *groupHost { return m.known[u.URL.Hostname()] }

func (m *groupModel) lease(n int) {
	before := len(m.leases)
	for _, u := range m.f.Lease(at(m.now), n) {
		m.leased(u)
	}
	refused := m.f.Refused().URLs
	for _, r := range refused {
		m.refused(r)
	}
	if len(m.leases)-before == n {
		return
	}
	for _, s := range m.hosts {
		if when, ok := m.due(s); ok && when <= m.now {
			m.t.Fatalf("%v: Lease(%d) gave %d, and %s is due since %v", m.now, n, len(m.leases)-before, s.name, when)
		}
	}
}

// leased checks one lease.
func (m *groupModel) leased(u frontier.URL) {
	s := m.host(u)
	when, ok := m.due(s)
	switch {
	case !ok || when > m.now:
		m.t.Fatalf("%v: %s leased; it is due: %v, at %v", m.now, u.URL, ok, when)
	case u.Resolve != (s.resolved == 0):
		m.t.Fatalf("%v: %s leased, its address is known: %d", m.now, u.URL, s.resolved)
	case s.isDead(m.now):
		m.t.Fatalf("%v: %s leased, which is dead", m.now, u.URL)
	}
	for _, other := range m.hosts {
		if when, ok := m.due(other); other == s || !ok || when > m.now {
			clear(other.passed)
		} else if other.passed[s]++; other.passed[s] > 1 {
			m.t.Fatalf("%v: %s leased, the second of its host while %s is due", m.now, u.URL, other.name)
		}
	}
	m.leases = append(m.leases, u)
	if u.Resolve {
		s.resolved = 1
		return
	}
	m.take(s, u)
	for _, l := range m.loads(s) {
		l.leased++
		l.last = m.now
	}
	for _, other := range m.hosts {
		if when, ok := m.due(other); !ok || when > m.now {
			clear(other.passed)
		}
	}
}

// isDead reports whether everything of s is refused at a time.
func (s *groupHost) isDead(at time.Duration) bool { return s.dead && at < s.hold }

// take removes a URL from those pending.
func (m *groupModel) take(s *groupHost, u frontier.URL) {
	if u.Tries == 0 {
		s.pending--
		return
	}
	i := slices.Index(s.retry, u.NotBefore.Sub(epoch))
	if i < 0 || s.retry[i] > m.now && !s.isDead(m.now) {
		m.t.Fatalf("%v: %s before its time", m.now, u.URL)
	}
	s.retry = slices.Delete(s.retry, i, i+1)
}

func (m *groupModel) refused(r frontier.Refusal) {
	s := m.host(r.URL)
	if !s.isDead(m.now) || r.Kind != "connect" {
		m.t.Fatalf("%v: %s refused: %s: %s", m.now, r.URL.URL, r.Kind, r.Reason)
	}
	m.take(s, r.URL)
	m.ended++
}

func (m *groupModel) loads(s *groupHost) []*load {
	all := []*load{&s.load, s.domain}
	if s.address != nil {
		all = append(all, s.address)
	}
	return all
}

// due returns the time at which something of s is leased or refused; ok is false if time does not
// help.
func (m *groupModel) due(s *groupHost) (when time.Duration, ok bool) {
	switch {
	case s.pending > 0, len(s.retry) > 0 && s.isDead(m.now):
	case len(s.retry) > 0:
		when = slices.Min(s.retry)
	default:
		return 0, false
	}
	when = max(when, 0)
	if s.dead && max(when, m.now) < s.hold {
		return when, true
	}
	if s.resolved < 2 {
		return 0, s.resolved == 0
	}
	perHost := m.cfg.PerHost
	if s.fails >= 3 {
		perHost = 1
	}
	orDelay := func(d time.Duration) time.Duration {
		if d == 0 {
			return m.cfg.Delay
		}
		return d
	}
	own, room := s.free(perHost, m.cfg.Delay)
	domain, domainRoom := s.domain.free(m.cfg.PerDomain, orDelay(m.cfg.DomainDelay))
	when, ok = max(when, own, domain, s.hold), room && domainRoom
	if s.address != nil {
		address, room := s.address.free(m.cfg.PerAddress, orDelay(m.cfg.AddressDelay))
		when, ok = max(when, address), ok && room
	}
	return when, ok
}

// answer answers one of the leases.
func (m *groupModel) answer() {
	if len(m.leases) == 0 {
		return
	}
	i := m.rand.IntN(len(m.leases))
	u := m.leases[i]
	m.leases = slices.Delete(m.leases, i, i+1)
	s := m.host(u)
	for _, other := range m.hosts { // the time of whoever shares something with s may have changed
		clear(other.passed)
	}
	addr := netip.AddrFrom4([4]byte{10, 0, 0, byte(m.rand.IntN(3))})
	if u.Resolve {
		s.resolved = 2
		if m.rand.IntN(8) == 0 {
			addr = netip.Addr{}
		}
		m.f.Addresses().Resolved(at(m.now), u, addr)
		m.move(s, addr)
		return
	}
	for _, l := range m.loads(s) {
		l.leased--
		l.last = m.now
	}
	a := frontier.Result{Total: time.Duration(m.rand.IntN(1100)) * time.Millisecond}
	switch n := m.rand.IntN(40); {
	case n < 1:
		a.Addr = addr
	case n < 20 && s.name == "d0.example" || n < 6:
		a.Failure, a.Reason = "connect", "connection refused"
	default:
		a.Took = time.Millisecond
	}
	switch {
	case a.Failure == "":
		s.fails, s.dead, s.hold = 0, false, 0
	case m.now >= s.hold:
		s.fails = min(s.fails+1, 8)
		if s.fails >= 3 {
			s.hold = m.now + time.Second<<(s.fails-3)
		}
		if s.fails == 8 {
			s.dead, s.hold = true, m.now+time.Hour
		}
	}
	if a.Failure != "" || m.rand.IntN(10) == 0 {
		again := m.now + time.Duration(m.rand.IntN(20))*100*time.Millisecond
		s.retry = append(s.retry, again)
		m.f.Retry(at(m.now), u, a, at(again))
	} else {
		m.f.Done(at(m.now), u, a)
		m.ended++
	}
	m.move(s, a.Addr)
}

// move brings s to another address, with what is in flight.
func (m *groupModel) move(s *groupHost, addr netip.Addr) {
	if !addr.IsValid() {
		return
	}
	to := m.addresses[addr]
	if to == nil {
		to = &load{last: -1}
		m.addresses[addr] = to
	}
	if to == s.address {
		return
	}
	if s.address != nil {
		s.address.leased -= s.leased
	}
	to.leased += s.leased
	to.last = max(to.last, s.last)
	s.address = to
}

// compare checks what a frontier says about itself.
func (m *groupModel) compare() {
	var earliest time.Duration
	known := false
	for _, s := range m.hosts {
		if when, ok := m.due(s); ok && (!known || when < earliest) {
			earliest, known = when, true
		}
	}
	next, ok := m.f.Next()
	if ok != known || ok && max(m.now, next.Sub(epoch)) != max(m.now, earliest) {
		m.t.Fatalf("%v: Next() = %v, %v, want %v, %v", m.now, next.Sub(epoch), ok, earliest, known)
	}
}

// TestWaitsFor checks what is reported of a host that waits for its group: which, and for how long.
func TestWaitsFor(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   frontier.Config
		asked string
		by    frontier.Blocker
		next  time.Duration
		full  bool
	}{
		{name: "another of its domain", cfg: frontier.Config{Delay: 3 * time.Second}, asked: "http://b.one.example/", by: frontier.BlockedByDomain, next: 3 * time.Second},
		{name: "another at its address", cfg: frontier.Config{Delay: 3 * time.Second}, asked: "http://two.example/", by: frontier.BlockedByAddress, next: 3 * time.Second},
		{name: "as many as there may be at its address", cfg: frontier.Config{PerAddress: 1}, asked: "http://two.example/", by: frontier.BlockedByAddress},
		{name: "its own delay", cfg: frontier.Config{Delay: 3 * time.Second}, asked: "http://a.one.example/1", next: 3 * time.Second, full: true},
		{name: "as many of its own as there may be", cfg: frontier.Config{PerHost: 1}, asked: "http://a.one.example/1", full: true},
		{name: "a longer one of its address", cfg: frontier.Config{AddressDelay: 3 * time.Second}, asked: "http://a.one.example/1", by: frontier.BlockedByAddress, next: 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Resolve = true
			f := frontier.New(c.cfg)
			for _, url := range []string{c.asked, "http://a.one.example/2"} {
				u := parsed(t, url)
				f.Add(u)
				f.Locate(u.URL, netip.MustParseAddr("192.0.2.1"))
			}
			if leases := f.Lease(at(0), 1); len(leases) != 1 || leases[0].URL.String() != c.asked {
				t.Fatalf("leased %v", leases)
			}
			info, _ := f.View().Origin(at(0), "http://a.one.example")
			if info.WaitsFor != c.by || info.Next.Sub(at(0)) != c.next || info.Full != c.full {
				t.Errorf("waits for %d for %v, full %t, expected %d, %v, %t", info.WaitsFor, info.Next.Sub(at(0)), info.Full, c.by, c.next, c.full)
			}
		})
	}
}

// TestAddressesAreForgotten checks that a host that answers from another address each time leaves
// no address behind, except those whose delay is running.
func TestAddressesAreForgotten(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second} {
		f := frontier.New(frontier.Config{Resolve: true, Delay: delay})
		f.Add(parsed(t, "http://a.example/"))
		f.Addresses().Resolved(at(0), f.Lease(at(0), 1)[0], netip.MustParseAddr("2001:db8::"))
		before, now := f.View().Bytes().Hosts, at(0)
		for i := range 5000 {
			f.Add(parsed(t, fmt.Sprintf("http://a.example/%d", i)))
			leases := f.Lease(now, 1)
			if len(leases) != 1 {
				t.Fatalf("%v: leased %v", now.Sub(at(0)), leases)
			}
			f.Done(now, leases[0], frontier.Result{Addr: netip.AddrFrom16([16]byte{0x20, 1, byte(i >> 8), byte(i)})})
			now = now.Add(delay)
		}
		if grown := f.View().Bytes().Hosts - before; grown > 64<<10 {
			t.Errorf("delay %v: 5,000 addresses have left %d bytes", delay, grown)
		}
	}
}
