package frontier_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/weburl"
)

// wideWeb is a crawl on virtual time of many hosts with several URLs each, few of which fit in
// memory. It answers requests of the frontier at once.
type wideWeb struct {
	t     *testing.T
	cfg   frontier.Config
	f     *frontier.Frontier
	l     *journal
	rand  *rand.Rand
	now   time.Duration
	slots int
	away  []request

	left    map[string]int           // URLs of a host that are not fetched
	under   map[string]int           // leases of a host
	since   map[string]int           // by host: leases of URLs when its last was, and 0
	free    map[string]time.Duration // when the delay is over of a host, domain or address
	held    map[string]time.Duration // end of the back-off of a host
	busy    int                      // overloads among ten responses
	fetched map[weburl.URL]bool
	found   int // URLs
	dormant int // hosts, at most
	reads   int // Revive requests answered
	longest int // leases between two of a host that had something pending, at most
	late    time.Duration
}

func newWideWeb(t *testing.T, cfg frontier.Config, seed uint64, slots int) *wideWeb {
	w := &wideWeb{
		t: t, cfg: cfg, f: frontier.New(cfg), l: newJournal(t), rand: rand.New(rand.NewPCG(seed, 5)), slots: slots,
		left: make(map[string]int), under: make(map[string]int), since: make(map[string]int), free: make(map[string]time.Duration), held: make(map[string]time.Duration), fetched: make(map[weburl.URL]bool),
	}
	w.f.SetJournal(w.l)
	return w
}

// find adds URLs of a host, as a page has them.
func (w *wideWeb) find(host string, from, n int) {
	var urls []frontier.URL
	for i := range n {
		url := u(w.t, fmt.Sprintf("%s/%d", host, from+i))
		url.From = "http://from.example/"
		urls = append(urls, url)
	}
	if r, ok := w.f.Prepare(locations(urls), noURLs); ok {
		w.f.Provide(at(w.now), w.l.lookup(r))
	}
	for _, u := range urls {
		if w.f.Add(u) {
			w.found++
			if w.left[host]++; w.left[host] == 1 {
				w.since[host] = len(w.fetched)
			}
		}
	}
}

func (w *wideWeb) save() {
	w.f.NoteOrigins()
	w.l.commit()
	w.f.Saved()
}

// groupsOf returns what a host shares a delay with: itself, its domain, its address.
func groupsOf(host string) []string {
	_, domain, _ := strings.Cut(host, ".")
	return []string{host, domain, addrOf(host).String()}
}

// addrOf returns the address of a host: one host in a dozen shares it.
func addrOf(host string) netip.Addr {
	number, _, _ := strings.Cut(strings.TrimPrefix(host, "h"), ".")
	n, _ := strconv.Atoi(number)
	return netip.AddrFrom4([4]byte{10, 0, byte(n % 12), 1})
}

// turn leases and reads until neither brings anything more.
func (w *wideWeb) turn() {
	for busy := true; busy; {
		busy = w.lease() > 0
		for _, r := range w.f.Reads() {
			w.save()
			if r.Kind == frontier.Revive {
				w.f.Provide(at(w.now), w.l.dormant(r, 1+w.rand.IntN(40)))
				w.reads++
			} else {
				w.f.Provide(at(w.now), w.l.read(r))
			}
			busy = true
		}
		w.dormant = max(w.dormant, w.f.View().Dormant())
	}
}

func (w *wideWeb) lease() int {
	leases := w.f.Lease(at(w.now), w.slots-len(w.away))
	for _, lease := range leases {
		host := strings.TrimSuffix(lease.URL.Hostname(), ".example")
		if lease.Resolve {
			w.f.Addresses().Resolved(at(w.now), lease, addrOf(host))
			continue
		}
		for i, group := range groupsOf(host) {
			if delay := []time.Duration{w.cfg.Delay, w.cfg.DomainDelay, w.cfg.AddressDelay}[i]; delay > 0 && w.now < w.free[group] {
				w.t.Fatalf("%v: %s leased, the delay of %s is over at %v", w.now, short(lease), group, w.free[group])
			}
		}
		if w.now < w.held[host] {
			w.t.Fatalf("%v: %s leased, its host is backs off until %v", w.now, short(lease), w.held[host])
		}
		if w.fetched[lease.URL] {
			w.t.Fatalf("%v: %s leased twice", w.now, short(lease))
		}
		w.longest = max(w.longest, len(w.fetched)-w.since[host])
		w.fetched[lease.URL] = true
		w.since[host] = len(w.fetched)
		w.left[host]--
		w.under[host]++
		for _, group := range groupsOf(host) {
			w.free[group] = time.Hour * 10_000 // until it is answered
		}
		w.away = append(w.away, request{lease, w.now + time.Duration(20+w.rand.IntN(60))*time.Millisecond})
	}
	if w.cfg.Delay == 0 {
		w.free = make(map[string]time.Duration)
	}
	return len(leases)
}

// answer ends the request that is over first.
func (w *wideWeb) answer() {
	slices.SortFunc(w.away, func(a, b request) int { return int(a.ends - b.ends) })
	r := w.away[0]
	w.away = w.away[1:]
	w.now = max(w.now, r.ends)
	host := strings.TrimSuffix(r.url.URL.Hostname(), ".example")
	w.under[host]--
	for i, group := range groupsOf(host) {
		w.free[group] = w.now + []time.Duration{w.cfg.Delay, w.cfg.DomainDelay, w.cfg.AddressDelay}[i]
	}
	r.url.Past = append(r.url.Past, frontier.Try{At: at(w.now), Status: 200})
	a := frontier.Result{Took: 10 * time.Millisecond, Addr: addrOf(host)}
	if w.rand.IntN(10) < w.busy {
		a.Overload, a.RetryAfter = true, time.Duration(1+w.rand.IntN(60))*time.Second
		w.held[host] = max(w.held[host], w.now+a.RetryAfter)
	}
	w.f.Done(at(w.now), r.url, a)
	if w.rand.IntN(4) == 0 {
		w.save()
	}
}

// idle returns a host that could be leased from while a slot is free; empty: there is none.
func (w *wideWeb) idle() string {
	if len(w.away) == w.slots {
		return ""
	}
hosts:
	for host, n := range w.left {
		if n == 0 || w.under[host] > 0 || w.now < w.held[host] {
			continue
		}
		for i, group := range groupsOf(host) {
			if delay := []time.Duration{w.cfg.Delay, w.cfg.DomainDelay, w.cfg.AddressDelay}[i]; delay > 0 && w.now < w.free[group] {
				continue hosts
			}
		}
		return host
	}
	return ""
}

// crawl fetches everything, and checks that no slot stays free for longer than patience while a
// host could be leased from.
func (w *wideWeb) crawl(patience time.Duration) {
	waits := time.Duration(-1) // since when a host has; −1: none does
	for steps := 0; !w.f.View().Over(); steps++ {
		if steps > 200_000 {
			w.t.Fatalf("no end: %+v, %d dormant", w.f.View().Stats(), w.f.View().Dormant())
		}
		w.turn()
		if s := w.f.View().Stats(); s.Pending+s.Leased+s.Done != w.found {
			w.t.Fatalf("%+v, and %d URLs were found", s, w.found)
		}
		switch host := w.idle(); {
		case host == "":
			waits = -1
		case waits < 0:
			waits = w.now
			fallthrough
		default:
			if w.late = max(w.late, w.now-waits); patience == 0 || w.late > patience {
				w.t.Fatalf("%v: %s could be asked since %v, and %d of %d slots are free; %d are dormant", w.now, host, waits, w.slots-len(w.away), w.slots, w.f.View().Dormant())
			}
		}
		next, due := w.f.Next()
		switch {
		case w.f.View().Over():
		case len(w.away) > 0 && (!due || len(w.away) == w.slots || w.away[0].ends <= next.Sub(epoch)):
			w.answer()
		case due:
			w.now = max(w.now, next.Sub(epoch))
		default:
			w.t.Fatalf("%v: nothing will ever happen: %+v, %d dormant", w.now, w.f.View().Stats(), w.f.View().Dormant())
		}
	}
}

// TestDormantHosts crawls hosts with pending URLs, few of which are resident while the others wait
// for their turn in the store. Nothing is lost, no request comes too soon, no host starves, and no
// slot stays free while some host could use it: if the hosts that came back cannot, because their
// domain or address is busy, others follow after 2 s at most. Where hosts are crowded, those that
// time will free leave, too, and come back late: up to the time of two holds.
func TestDormantHosts(t *testing.T) {
	const slots = 8
	hosts, each := long.Or(60, 100), long.Or(6, 10)
	for _, c := range []struct {
		name     string
		cfg      frontier.Config
		domains  int
		patience time.Duration
		busy     int
		crowded  bool
	}{
		{"free", frontier.Config{PerHost: 1}, hosts, 0, 0, false},
		{"paced", frontier.Config{}, hosts, 0, 0, false},
		{"resolved", frontier.Config{PerHost: 1, Resolve: true}, hosts, 0, 0, false},
		{"delay", frontier.Config{Delay: time.Second, DomainDelay: -1, AddressDelay: -1}, hosts, 0, 0, false},
		{"domains", frontier.Config{Delay: 200 * time.Millisecond, DomainDelay: 500 * time.Millisecond, AddressDelay: -1}, hosts / 5, 3 * time.Second, 0, false},
		{"addresses", frontier.Config{Delay: 200 * time.Millisecond, DomainDelay: -1, AddressDelay: 500 * time.Millisecond, Resolve: true}, hosts, 3 * time.Second, 0, false},
		{"both", frontier.Config{Delay: 200 * time.Millisecond, DomainDelay: 700 * time.Millisecond, AddressDelay: 500 * time.Millisecond, Resolve: true}, hosts / 5, 4 * time.Second, 0, false},
		{"held", frontier.Config{}, hosts, 0, 5, false},
		{"held and crowded", frontier.Config{}, hosts, 15 * time.Second, 5, true},
		{"delay and crowded", frontier.Config{Delay: time.Second, DomainDelay: -1, AddressDelay: -1}, hosts, 15 * time.Second, 0, true},
		{"all, crowded", frontier.Config{Delay: 200 * time.Millisecond, DomainDelay: 700 * time.Millisecond, AddressDelay: 500 * time.Millisecond, Resolve: true}, hosts / 5, 2 * time.Minute, 3, true},
	} {
		for _, room := range []int{1, long.Or(7000, 12_000)} {
			t.Run(fmt.Sprintf("%s, %d bytes", c.name, room), func(t *testing.T) {
				c.cfg.Heads, c.cfg.HostBytes = 4, room
				w := newWideWeb(t, c.cfg, uint64(room), slots)
				w.busy = c.busy
				if c.crowded {
					frontier.Crowd(w.f)
				}
				for from := 0; from < each; from += 2 {
					for n := range hosts {
						w.find(fmt.Sprintf("h%d.d%d", n, n%c.domains), from, 2)
						if n%10 == 0 {
							w.save()
							if got := w.f.View().Bytes().Hosts; got > room+40_000 {
								t.Fatalf("%d bytes of hosts, expected about %d", got, room)
							}
						}
					}
				}
				w.crawl(c.patience)
				if got := w.f.View().Stats(); got.Done != hosts*each || got.Origins != hosts {
					t.Errorf("%+v, expected %d URLs of %d hosts to be done", got, hosts*each, hosts)
				}
				if w.dormant < hosts/2 {
					t.Errorf("%d hosts were dormant at most, expected most of %d", w.dormant, hosts)
				}
				if most := 5 * hosts; w.longest > most && c.patience == 0 && c.busy == 0 {
					t.Errorf("a host that had something pending was asked only after %d leases of others, expected %d at most", w.longest, most)
				}
				t.Logf("%d dormant at most, %d reads, %d leases between two of a host at most, %v late, took %v", w.dormant, w.reads, w.longest, w.late, w.now)
			})
		}
	}
}

// revival is a Revive on its way.
type revival struct {
	frontier.Request
	committed bool
	page      *frontier.Page // nil: not read yet
}

// wake brings a Revive one step further: the page may be older than the time at which it is
// provided.
func (c *durableCrawl) wake() {
	r := c.revival
	switch {
	case !r.committed:
	case r.page == nil:
		page := c.journal.dormant(r.Request, 1+c.rand.IntN(20))
		r.page = &page
	default:
		c.revival = nil
		c.f.Provide(at(c.now), *r.page)
	}
}

// noURLs yields no URL.
func noURLs(func(weburl.URL) bool) {}

// locations yields where URLs are.
func locations(urls []frontier.URL) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		for _, u := range urls {
			if !yield(u.URL) {
				return
			}
		}
	}
}
