package dns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Options configure a Resolver. The zero value is the default.
type Options struct {
	// Servers replace those of resolv.conf, in this order.
	Servers []netip.AddrPort

	// MaxNames limits the names that are kept, of NameBytes each. A name with many addresses
	// counts as several. 0 or negative: 65,536.
	MaxNames   int
	MaxLookups int // at once; 0 or negative: 256

	// Files. Empty: /etc/resolv.conf and /etc/hosts; no files on a loop whose network is not the
	// system's.
	Conf, Hosts string

	Files *Files // shared with other resolvers; nil: of this one alone
}

// NameBytes is the memory of a name with a few addresses, in bytes.
const NameBytes = 208

// Resolver resolves names. It belongs to its loop.
//
// On a loop whose network is not the system's, and without Options.Servers, that network resolves
// the names.
type Resolver struct {
	loop    *aio.Loop
	foreign bool // the loop's network resolves names
	files   files
	cache   cache
	slots   *aio.Semaphore
	turn    int // look-ups started, for the option rotate
	// Servers that were silent or unreachable, and until when they are asked last.
	sick   map[netip.AddrPort]time.Time
	ip6    bool              // there is a route to IPv6,
	routed time.Time         // when the route is checked again
	buf    [maxDatagram]byte // filled and read in one step of a task
}

// sickness is the time for which a server that was silent or unreachable is asked last.
const sickness = 30 * time.Second

// New returns a resolver for tasks of l.
func New(l *aio.Loop, opt Options) *Resolver {
	if opt.MaxNames <= 0 {
		opt.MaxNames = 65_536
	}
	if opt.MaxLookups <= 0 {
		opt.MaxLookups = 256
	}
	if l.Network() == nil {
		if opt.Conf == "" {
			opt.Conf = "/etc/resolv.conf"
		}
		if opt.Hosts == "" {
			opt.Hosts = "/etc/hosts"
		}
	}
	if opt.Files == nil {
		opt.Files = new(Files)
	}
	return &Resolver{
		loop:    l,
		foreign: l.Network() != nil && len(opt.Servers) == 0,
		files:   files{conf: opt.Conf, hosts: opt.Hosts, servers: slices.Clone(opt.Servers), shared: opt.Files},
		cache:   newCache(opt.MaxNames, l.Now()),
		slots:   aio.NewSemaphore(opt.MaxLookups),
		sick:    make(map[netip.AddrPort]time.Time),
	}
}

// Lookup returns the addresses of a host, a name or an IP address, most preferred first.
//
// Errors: a *net.DNSError, with IsNotFound if the name or its addresses do not exist (Err tells
// which), otherwise with IsTemporary; ErrCanceled of package aio; the system's error if it has no
// descriptor or memory for a question.
func (r *Resolver) Lookup(t *aio.Task, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	name := strings.ToLower(host)
	if r.foreign {
		return r.cache.get(t, name, r.foreignNames)
	}
	s, changed, err := r.files.current(t)
	if err != nil {
		return nil, err
	}
	if changed { // the answers may be another network's, or have been in the hosts file
		r.cache.forget()
		clear(r.sick)
	}
	bare := strings.TrimSuffix(name, ".")
	switch special := topLabel(bare); {
	case !valid(bare), special == "invalid", special == "onion":
		return nil, notFound(host, "", noSuchHost)
	case special == "localhost":
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	return r.cache.get(t, name, func(t *aio.Task, name string) (answer, error) {
		if s.hosts.has(bare) {
			addrs, err := aio.Offload(t, func(context.Context) ([]netip.Addr, error) { return addrsIn(r.files.hosts, bare) })
			if err != nil || len(addrs) > 0 {
				return answer{addrs: addrs, keep: maxKeep}, err
			}
		}
		return r.resolve(t, name, s.conf)
	})
}

// The life of answers of a network without TTLs.
const (
	keepForeign        = 5 * time.Minute
	keepForeignMissing = 30 * time.Second
)

func (r *Resolver) foreignNames(t *aio.Task, name string) (answer, error) {
	addrs, err := aio.Lookup(t, name)
	var missing *net.DNSError
	switch {
	case err == nil:
		return answer{addrs: addrs, keep: keepForeign}, nil
	case errors.As(err, &missing) && missing.IsNotFound:
		return answer{err: err, keep: keepForeignMissing}, nil
	case errors.As(err, &missing):
		return answer{err: err, keep: keepFailure}, nil
	}
	return answer{}, err
}

// resolve tries a name as it is and with the domains of the search list. An error is not a
// server's answer: the task was cancelled, or this machine lacks a resource.
func (r *Resolver) resolve(t *aio.Task, name string, conf *conf) (answer, error) {
	if err := r.slots.Acquire(t); err != nil {
		return answer{}, err
	}
	defer r.slots.Release()
	r.turn++
	var last answer
	for i, absolute := range conf.names(name) {
		a, err := r.query(t, absolute, conf)
		if err != nil || a.err == nil {
			return a, err
		}
		if i == 0 || a.outweighs(last) {
			last = a
		}
		// The servers are gone: they will not answer for the next name either.
		if a.failure().IsTimeout {
			break
		}
	}
	last.err = last.failure().forName(name)
	return last, nil
}

// query asks the servers for the addresses of an absolute name, one after the other, until one has
// answered.
func (r *Resolver) query(t *aio.Task, name string, conf *conf) (answer, error) {
	qs := newQuestions(name)
	for range conf.attempts {
		for _, server := range r.order(conf) {
			if err := r.ask(t, server, conf, qs); err != nil {
				return answer{}, err
			}
			if settled(qs) {
				a := qs.answer(name)
				a.addrs = r.prefer(t, qs[1].addrs, qs[0].addrs)
				return a, nil
			}
		}
	}
	return qs.answer(name), nil
}

// order returns the servers in the order in which to ask them.
func (r *Resolver) order(conf *conf) []netip.AddrPort {
	first := 0
	if conf.rotate {
		first = r.turn % len(conf.servers)
	}
	servers := slices.Concat(conf.servers[first:], conf.servers[:first])
	now := r.loop.Now()
	isSick := func(server netip.AddrPort) int {
		if r.sick[server].After(now) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(servers, func(a, b netip.AddrPort) int { return isSick(a) - isSick(b) })
	return servers
}

// prefer returns addresses of both families, IPv6 first if there is a route to it: the rule of RFC
// 6724 (section 6) that decides most cases. Connecting a datagram socket sends nothing, and finds
// out; a route to one address stands for routes to all.
func (r *Resolver) prefer(t *aio.Task, ip6, ip4 []netip.Addr) []netip.Addr {
	if now := r.loop.Now(); len(ip6) > 0 && len(ip4) > 0 && !now.Before(r.routed) {
		c, err := aio.DialUDP(t, netip.AddrPortFrom(ip6[0], 53))
		if err == nil {
			c.Close()
		}
		r.ip6, r.routed = err == nil, now.Add(recheck)
	}
	if r.ip6 {
		return slices.Concat(ip6, ip4)
	}
	return slices.Concat(ip4, ip6)
}
