package webtest

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// Web is a synthetic web. It never changes.
type Web struct {
	cfg       Config
	port      string // in URLs: empty or ":8080"
	draws     draws
	addresses addresses
}

// New returns the web of a configuration. The error reports an invalid one.
func New(cfg Config) (*Web, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	w := &Web{cfg: cfg, draws: draws{cfg.Seed}}
	if cfg.Port != 80 {
		w.port = ":" + strconv.Itoa(cfg.Port)
	}
	w.addresses = newAddresses(&w.cfg, w.draws)
	return w, nil
}

// Config returns the configuration, with its defaults.
func (w *Web) Config() Config { return w.cfg }

// Hosts returns the number of hosts, including dead ones.
func (w *Web) Hosts() int { return w.cfg.Hosts }

// Name returns the name of host i, from 0: its number and that of its domain, as in
// h000013.s000012.test.
func (w *Web) Name(i int) string {
	if w.cfg.Host != "" {
		return w.cfg.Host
	}
	b := numbered(make([]byte, 0, 32), 'h', i)
	return string(w.appendSite(append(b, '.'), i))
}

// siblings is the number of hosts in a domain with several, except the domain of blogs.
const siblings = 4

// Site returns the registrable domain of host i.
func (w *Web) Site(i int) string { return string(w.appendSite(nil, i)) }

// siteOf returns the number of the domain of host i: the number of a host, or, for blogs, the
// number of hosts.
func (w *Web) siteOf(i int) int {
	if w.draws.has(saltBlog, resource{host: int32(i)}, w.cfg.Rates.Blogs) {
		return w.cfg.Hosts
	}
	if block := i / siblings; w.draws.has(saltSite, resource{host: int32(block)}, w.cfg.Rates.Siblings) {
		return block * siblings
	}
	return i
}

func (w *Web) appendSite(b []byte, i int) []byte {
	b = append(numbered(b, 's', w.siteOf(i)), '.')
	return append(b, w.cfg.Domain...)
}

// numbered appends a letter and a number with at least six digits.
func numbered(b []byte, letter byte, n int) []byte {
	b = append(b, letter)
	for least := 100_000; least > 1 && n < least; least /= 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// Index is the inverse of Name, ignoring case.
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
func (w *Web) Home(i int) string { return w.url(resource{host: int32(i), kind: page}) }

// Pages returns the number of pages of host i.
func (w *Web) Pages(i int) int {
	if i == 0 {
		return w.cfg.Pages
	}
	// Pareto distribution with exponent 1.5, whose mean is three times its minimum, cut off at
	// MostPages.
	d := w.draws.dice(saltPages, resource{host: int32(i)})
	n := float64(w.cfg.Pages) / 3 * math.Pow(1-d.unit(), -1/1.5)
	return max(1, int(min(n, float64(w.cfg.MostPages))))
}

// Dead reports whether host i has no address.
func (w *Web) Dead(i int) bool {
	return i > 0 && w.draws.has(saltDead, resource{host: int32(i)}, w.cfg.Rates.DeadHost)
}

// Addr returns the address of host i; false if it is dead.
func (w *Web) Addr(i int) (netip.Addr, bool) {
	if w.Dead(i) {
		return netip.Addr{}, false
	}
	return w.addresses.at(w.addresses.number(i)), true
}

// Resolve returns the address of a host name, ignoring case; false if there is none.
func (w *Web) Resolve(name string) (netip.Addr, bool) {
	if i, ok := w.Index(name); ok {
		return w.Addr(i)
	}
	return netip.Addr{}, false
}

// Authority returns host i as in URLs and Host fields: its name, and the port if it is not 80.
func (w *Web) Authority(i int) string {
	switch {
	case w.refusing(i):
		return w.Name(i) + ":" + strconv.Itoa(w.cfg.RefusingPort)
	case w.mute(i):
		return w.Name(i) + ":" + strconv.Itoa(w.cfg.MutePort)
	}
	return w.Name(i) + w.port
}

// refusing reports whether host i refuses connections.
func (w *Web) refusing(i int) bool {
	return i > 0 && w.draws.has(saltRefusing, resource{host: int32(i)}, w.cfg.Rates.Refusing)
}

// mute reports whether connections to host i never complete.
func (w *Web) mute(i int) bool {
	return i > 0 && !w.refusing(i) && w.draws.has(saltMute, resource{host: int32(i)}, w.cfg.Rates.Mute)
}

// away reports whether host i is unreachable.
func (w *Web) away(i int) bool { return w.Dead(i) || w.refusing(i) || w.mute(i) }

// Traps returns the number of reachable hosts with an endless calendar.
func (w *Web) Traps() (n int) {
	for i := range w.Hosts() {
		if w.trap(i) && !w.away(i) {
			n++
		}
	}
	return n
}

// trap reports whether host i has an endless calendar.
func (w *Web) trap(i int) bool {
	return w.cfg.Traps || w.draws.has(saltTrap, resource{host: int32(i)}, w.cfg.Rates.Trap)
}

// offspring calls yield with the hosts below host i in the tree of hosts. Hosts below one that
// cannot be crawled move up.
func (w *Web) offspring(i int, yield func(child int)) {
	for c := 3*i + 1; c <= 3*i+3 && c < w.cfg.Hosts; c++ {
		yield(c)
		if w.away(c) || w.robots(c) == robotsClosed || w.robots(c) == robotsNamed {
			w.offspring(c, yield)
		}
	}
}

func (w *Web) url(p resource) string {
	return "http://" + w.Authority(int(p.host)) + w.target(p)
}
