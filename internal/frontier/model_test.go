package frontier_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// TestModel makes random operations on a frontier and compares what it does with a
// model that looks at every URL every time.
func TestModel(t *testing.T) {
	for _, cfg := range []frontier.Config{
		{PerHost: 1000},
		{Delay: time.Second, PerHost: 1000},
		{PerHost: 1},
		{Delay: time.Second, PerHost: 1},
		{Delay: 300 * time.Millisecond, PerHost: 2},
	} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprintf("delay %v, per host %d, seed %d", cfg.Delay, cfg.PerHost, seed), func(t *testing.T) {
				m := newModel(t, cfg, seed)
				for range 800 {
					m.step()
				}
				m.finish()
			})
		}
	}
}

// model is a frontier, and what should be true of it.
type model struct {
	t      *testing.T
	cfg    frontier.Config
	f      *frontier.Frontier
	rand   *rand.Rand
	now    time.Duration
	urls   map[string]*modelURL
	hosts  map[string]*modelHost
	order  int // of becoming pending
	dups   int
	leases []frontier.URL // not answered
}

type modelURL struct {
	name  string
	host  *modelHost
	state string // pending, leased, done
	order int    // of becoming pending
	tries int
	at    time.Duration // if tries > 0: not before
}

type modelHost struct {
	name   string
	free   time.Duration // its delay is over
	leased int
	passed map[string]int // leases of others since this one was due
}

func newModel(t *testing.T, cfg frontier.Config, seed uint64) *model {
	return &model{
		t: t, cfg: cfg, f: frontier.New(cfg), rand: rand.New(rand.NewPCG(seed, 0)),
		urls: make(map[string]*modelURL), hosts: make(map[string]*modelHost),
	}
}

func (m *model) step() {
	switch n := m.rand.IntN(100); {
	case n < 30:
		m.add(fmt.Sprintf("%c/%d", 'a'+m.rand.IntN(6), m.rand.IntN(100)))
	case n < 55:
		m.lease(m.rand.IntN(5))
	case n < 75:
		m.answer(false)
	case n < 80:
		m.answer(true)
	default:
		m.now += time.Duration(m.rand.IntN(5)) * 100 * time.Millisecond
	}
	m.compare()
}

// finish continues without new URLs until the crawl is over.
func (m *model) finish() {
	for !m.f.View().Over() {
		m.lease(10)
		for len(m.leases) > 0 {
			m.answer(false)
		}
		if next, ok := m.f.Next(); ok {
			m.now = max(m.now, next.Sub(epoch))
		}
		m.compare()
	}
	for name, u := range m.urls {
		if u.state != "done" {
			m.t.Errorf("the crawl is over, and %s is %s", name, u.state)
		}
	}
}

func (m *model) add(name string) {
	known := m.urls[name] != nil
	if m.f.Add(u(m.t, name)) == known {
		m.t.Fatalf("%v: Add(%s) = %v", m.now, name, known)
	}
	if known {
		m.dups++
		return
	}
	hostName, _, _ := strings.Cut(name, "/")
	if m.hosts[hostName] == nil {
		m.hosts[hostName] = &modelHost{name: hostName, passed: make(map[string]int)}
	}
	m.order++
	m.urls[name] = &modelURL{name: name, host: m.hosts[hostName], state: "pending", order: m.order}
}

func (m *model) lease(n int) {
	got := m.f.Lease(at(m.now), n)
	if len(got) > n {
		m.t.Fatalf("%v: Lease(%d) gave %d", m.now, n, len(got))
	}
	for _, lease := range got {
		m.leased(lease)
	}
	if len(got) == n {
		return
	}
	for _, h := range m.hosts {
		if when, ok := m.due(h); ok && when <= m.now {
			m.t.Fatalf("%v: Lease(%d) gave %q, and host %s is due since %v", m.now, n, shorts(got), h.name, when)
		}
	}
}

// leased checks one lease.
func (m *model) leased(lease frontier.URL) {
	name := short(lease)
	u := m.urls[name]
	h := u.host
	switch {
	case u.state != "pending":
		m.t.Fatalf("%v: %s leased, which is %s", m.now, name, u.state)
	case lease.Tries != u.tries:
		m.t.Fatalf("%v: %s leased with %d tries, want %d", m.now, name, lease.Tries, u.tries)
	case m.now < h.free:
		m.t.Fatalf("%v: %s leased, its host's delay is over at %v", m.now, name, h.free)
	case m.cfg.PerHost > 0 && h.leased == m.cfg.PerHost:
		m.t.Fatalf("%v: %s leased, its host has %d leases", m.now, name, h.leased)
	}
	if first := m.first(h); first != u {
		m.t.Fatalf("%v: %s leased, it is the turn of %s", m.now, name, first.name)
	}
	for _, other := range m.hosts {
		if when, ok := m.due(other); other == h || !ok || when > m.now {
			clear(other.passed)
		} else if other.passed[h.name]++; other.passed[h.name] > 1 {
			m.t.Fatalf("%v: %s leased, the second of its host while %s is due", m.now, name, other.name)
		}
	}
	u.state = "leased"
	h.leased++
	h.free = m.now + m.cfg.Delay
	m.leases = append(m.leases, lease)
}

// first returns the URL of h that is to be leased next: a retry whose time has come,
// the earliest first, else what was added first. Nil if there is none.
func (m *model) first(h *modelHost) *modelURL {
	var best *modelURL
	for _, u := range m.urls {
		if u.host != h || u.state != "pending" || u.tries > 0 && u.at > m.now {
			continue
		}
		switch {
		case best == nil,
			u.tries > 0 && best.tries == 0,
			u.tries > 0 && (u.at < best.at || u.at == best.at && u.order < best.order),
			u.tries == 0 && best.tries == 0 && u.order < best.order:
			best = u
		}
	}
	return best
}

// due returns when h may be asked next; ok is false if that depends on an answer or
// a new URL.
func (m *model) due(h *modelHost) (when time.Duration, ok bool) {
	if m.cfg.PerHost > 0 && h.leased >= m.cfg.PerHost {
		return 0, false
	}
	for _, u := range m.urls {
		if u.host == h && u.state == "pending" {
			if t := max(u.at, h.free); !ok || t < when {
				when, ok = t, true
			}
		}
	}
	return when, ok
}

// answer answers one of the leases.
func (m *model) answer(retry bool) {
	if len(m.leases) == 0 {
		return
	}
	i := m.rand.IntN(len(m.leases))
	lease := m.leases[i]
	m.leases = slices.Delete(m.leases, i, i+1)
	u := m.urls[short(lease)]
	u.host.leased--
	u.host.free = m.now + m.cfg.Delay
	if m.cfg.Delay > 0 {
		clear(u.host.passed) // not due any more
	}
	if !retry {
		m.f.Done(at(m.now), lease, frontier.Result{})
		u.state = "done"
		return
	}
	m.order++
	u.state, u.order, u.at = "pending", m.order, m.now+time.Duration(m.rand.IntN(20))*100*time.Millisecond
	u.tries++
	m.f.Retry(at(m.now), lease, frontier.Result{}, at(u.at))
}

// compare checks what a frontier says about itself.
func (m *model) compare() {
	want := frontier.Stats{Origins: len(m.hosts), Duplicates: m.dups}
	for _, u := range m.urls {
		switch u.state {
		case "pending":
			want.Pending++
		case "leased":
			want.Leased++
		case "done":
			want.Done++
		}
	}
	if got := m.f.View().Stats(); got != want {
		m.t.Fatalf("%v: %+v, want %+v", m.now, got, want)
	}
	if got, want := m.f.View().Over(), want.Pending+want.Leased == 0; got != want {
		m.t.Fatalf("%v: Over() = %v", m.now, got)
	}
	var earliest time.Duration
	known := false
	for _, h := range m.hosts {
		if when, ok := m.due(h); ok && (!known || when < earliest) {
			earliest, known = when, true
		}
	}
	next, ok := m.f.Next()
	// A due lease counts as due now, however long it has been due.
	if ok != known || ok && max(m.now, next.Sub(epoch)) != max(m.now, earliest) {
		m.t.Fatalf("%v: Next() = %v, %v, want %v, %v", m.now, next.Sub(epoch), ok, earliest, known)
	}
}
