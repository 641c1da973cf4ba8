package webtest

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// Web is a synthetic web. It never changes.
type Web struct {
	cfg    Config
	port   string // as it stands in URLs: empty or ":8080"
	shared int    // addresses that hosts share
}

// perAddress is how many hosts share an address, in the mean.
const perAddress = 200

// New returns the web that is drawn from cfg. The error says what is wrong with it.
func New(cfg Config) (*Web, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	w := &Web{cfg: cfg}
	if cfg.Port != 80 {
		w.port = ":" + strconv.Itoa(cfg.Port)
	}
	w.shared = 1 + int(float64(cfg.Hosts)*cfg.Rates.Shared/perAddress)
	return w, nil
}

// Config returns the configuration, with its defaults.
func (w *Web) Config() Config { return w.cfg }

// Hosts returns how many hosts there are, dead ones included.
func (w *Web) Hosts() int { return w.cfg.Hosts }

// Name returns the name of host i, from 0: its own number and that of its domain, as
// in h000013.s000012.test.
func (w *Web) Name(i int) string {
	if w.cfg.Host != "" {
		return w.cfg.Host
	}
	b := numbered(make([]byte, 0, 32), 'h', i)
	return string(w.appendSite(append(b, '.'), i))
}

// siblings is how many hosts a domain has that has several, but for that of blogs.
const siblings = 4

// Site returns the registrable domain of host i.
func (w *Web) Site(i int) string { return string(w.appendSite(nil, i)) }

// siteOf returns the number of the domain of host i: that of a host, or, of blogs, the one
// after those.
func (w *Web) siteOf(i int) int {
	if w.has(saltBlog, place{host: int32(i)}, w.cfg.Rates.Blogs) {
		return w.cfg.Hosts
	}
	if block := i / siblings; w.has(saltSite, place{host: int32(block)}, w.cfg.Rates.Siblings) {
		return block * siblings
	}
	return i
}

func (w *Web) appendSite(b []byte, i int) []byte {
	b = append(numbered(b, 's', w.siteOf(i)), '.')
	return append(b, w.cfg.Domain...)
}

// numbered appends a letter and a number of six digits, or more.
func numbered(b []byte, letter byte, n int) []byte {
	b = append(b, letter)
	for least := 100_000; least > 1 && n < least; least /= 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// Index is the inverse of Name, in any case of letters.
func (w *Web) Index(name string) (int, bool) {
	if w.cfg.Host != "" {
		return 0, strings.EqualFold(name, w.cfg.Host)
	}
	number, _, _ := strings.Cut(name, ".")
	i, err := strconv.Atoi(strings.TrimLeft(number, "hH"))
	if err != nil || i < 0 || i >= w.cfg.Hosts || !strings.EqualFold(name, w.Name(i)) {
		return 0, false
	}
	return i, true
}

// Home returns the URL of the home page of host i.
func (w *Web) Home(i int) string { return w.url(place{host: int32(i), kind: page}) }

// Pages returns how many pages host i has.
func (w *Web) Pages(i int) int {
	if i == 0 {
		return w.cfg.Pages
	}
	// Pareto with exponent 1.5, whose mean is three times its least; the tail is cut
	// at a thousand times the mean.
	d := w.dice(saltPages, place{host: int32(i)})
	n := float64(w.cfg.Pages) / 3 * math.Pow(1-d.unit(), -1/1.5)
	return max(1, int(min(n, 1000*float64(w.cfg.Pages), maxPages)))
}

// Dead reports whether host i has no address.
func (w *Web) Dead(i int) bool {
	return i > 0 && w.has(saltDead, place{host: int32(i)}, w.cfg.Rates.DeadHost)
}

// Addr returns the address of host i; false if it is dead.
func (w *Web) Addr(i int) (netip.Addr, bool) {
	if w.Dead(i) {
		return netip.Addr{}, false
	}
	return w.address(w.addressOf(i)), true
}

// addressOf returns the number of the address of host i: its own, that of the hoster after the
// hosts', or one of those that are shared after that.
func (w *Web) addressOf(i int) int {
	switch h := (place{host: int32(i)}); {
	case w.has(saltHosted, h, w.cfg.Rates.Hosted):
		return w.cfg.Hosts
	case w.has(saltShared, h, w.cfg.Rates.Shared):
		return w.cfg.Hosts + 1 + int(w.dice(saltAddr, h)%dice(w.shared))
	}
	return i
}

// address returns the address of a number: in 127.0.0.0/8, and none in 127.0.0.0/16, where
// systems keep services of their own.
func (w *Web) address(n int) netip.Addr {
	at := 1<<16 + n
	switch {
	case n == w.cfg.Hosts:
		at = 199 << 16
	case n > w.cfg.Hosts:
		at = 200<<16 + n - w.cfg.Hosts - 1
	}
	return netip.AddrFrom4([4]byte{127, byte(at >> 16), byte(at >> 8), byte(at)})
}

// Resolve returns the address of a host name, in any case of letters; false if there is none.
func (w *Web) Resolve(name string) (netip.Addr, bool) {
	if i, ok := w.Index(name); ok {
		return w.Addr(i)
	}
	return netip.Addr{}, false
}

// Authority returns what stands for host i in URLs and Host fields: its name, and
// the port if it is not 80.
func (w *Web) Authority(i int) string {
	switch {
	case w.refusing(i):
		return w.Name(i) + ":" + strconv.Itoa(w.cfg.RefusingPort)
	case w.mute(i):
		return w.Name(i) + ":" + strconv.Itoa(w.cfg.MutePort)
	}
	return w.Name(i) + w.port
}

// refusing reports whether host i has an address where nobody listens.
func (w *Web) refusing(i int) bool {
	return i > 0 && w.has(saltRefusing, place{host: int32(i)}, w.cfg.Rates.Refusing)
}

// mute reports whether host i has an address where connections come to nothing.
func (w *Web) mute(i int) bool {
	return i > 0 && !w.refusing(i) && w.has(saltMute, place{host: int32(i)}, w.cfg.Rates.Mute)
}

// away reports whether nothing is to be had of host i.
func (w *Web) away(i int) bool { return w.Dead(i) || w.refusing(i) || w.mute(i) }

// Traps returns how many hosts that live have a calendar without end.
func (w *Web) Traps() (n int) {
	for i := range w.Hosts() {
		if w.trap(i) && !w.away(i) {
			n++
		}
	}
	return n
}

// trap reports whether host i has a calendar without end.
func (w *Web) trap(i int) bool {
	return w.cfg.Traps || w.has(saltTrap, place{host: int32(i)}, w.cfg.Rates.Trap)
}

func (w *Web) url(p place) string {
	return "http://" + w.Authority(int(p.host)) + w.target(p)
}

// locate finds the place for the Host field and the target of a request.
func (w *Web) locate(host, target string) (place, bool) {
	name, _, _ := strings.Cut(host, ":")
	i, ok := w.Index(name)
	if !ok || w.away(i) {
		return place{}, false
	}
	return w.parse(i, target), true
}

// offspring calls yield with the hosts below host i in the tree of hosts. What is
// below a host that cannot be crawled moves up.
func (w *Web) offspring(i int, yield func(child int)) {
	for c := 3*i + 1; c <= 3*i+3 && c < w.cfg.Hosts; c++ {
		yield(c)
		if w.away(c) || w.robots(c) == robotsClosed || w.robots(c) == robotsNamed {
			w.offspring(c, yield)
		}
	}
}

// dice are a source of chance: a state of SplitMix64 (Steele, Lea, Flood 2014).
type dice uint64

// Salts keep the draws about one place apart.
const (
	saltPages uint64 = iota
	saltDead
	saltShared
	saltAddr
	saltSite
	saltRobots
	saltDelayed
	saltLinks
	saltLook
	saltFlaky
	saltSlow
	saltCharset
	saltBase
	saltChain
	saltLatency
	saltFraming
	saltHosted
	saltBlog
	saltSlowHost
	saltRefusing
	saltMute
	saltTrap
	saltSitemap
)

// dice returns the source for one question about one place.
func (w *Web) dice(salt uint64, p place) dice {
	d := dice(w.cfg.Seed)
	d = d.next() ^ dice(salt<<32|uint64(uint32(p.host)))
	d = d.next() ^ dice(uint64(p.kind)<<56^uint64(uint32(p.n))<<16^uint64(uint32(p.sub)))
	return d.next()
}

func (d *dice) next() dice {
	*d += 0x9e3779b97f4a7c15
	z := *d
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// roll returns a number from 0 to below n.
func (d *dice) roll(n int) int { return int(d.next() % dice(n)) }

// skewed is roll, the smaller the likelier: few are linked to by many.
func (d *dice) skewed(n int) int {
	u := d.unit()
	return int(u * u * float64(n))
}

// unit returns a number from 0 to below 1.
func (d *dice) unit() float64 { return float64(d.next()>>11) / (1 << 53) }

// has draws whether a place has something.
func (w *Web) has(salt uint64, p place, rate float64) bool {
	d := w.dice(salt, p)
	return d.unit() < rate
}
