package http1

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// How long what was learnt about a name is believed, and about how many.
const (
	keepFound   = 5 * time.Minute
	keepMissing = 30 * time.Second // there is no such name
	keepFailed  = 5 * time.Second  // the look-up failed
	maxNames    = 16_384
)

// names looks up host names off the loop, each once at a time, and remembers the
// answers for a while. It belongs to a client.
type names struct {
	resolver  *net.Resolver // nil: the loop's network
	overrides []Override
	known     map[string]*name
	order     []*name // those in known, in the order in which they came
}

type name struct {
	host    string
	addrs   []netip.Addr
	err     error
	until   time.Time
	looking bool    // some task is at it
	waiting aio.Lot // for that
}

// resolve returns where to connect for a host and port, the preferred first.
func (ns *names) resolve(t *aio.Task, host string, port uint16) ([]netip.AddrPort, error) {
	for i := range ns.overrides {
		if to, ok := ns.overrides[i].resolve(host, port); ok {
			return []netip.AddrPort{to}, nil
		}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(addr, port)}, nil
	}
	addrs, err := ns.lookup(t, host)
	to := make([]netip.AddrPort, len(addrs))
	for i, addr := range addrs {
		to[i] = netip.AddrPortFrom(addr, port)
	}
	return to, err
}

func (ns *names) lookup(t *aio.Task, host string) ([]netip.Addr, error) {
	for {
		n := ns.known[host]
		if n == nil {
			n = ns.add(host)
		}
		switch {
		case n.looking:
			// If the task that is at it gives up, the first of those that wait goes on.
			if err := n.waiting.Park(t, "a look-up by another task"); err != nil {
				return nil, err
			}
		case t.Loop().Now().Before(n.until):
			return n.addrs, n.err
		default:
			if err := ns.ask(t, n); err != nil {
				return nil, err
			}
		}
	}
}

// ask looks n up and notes the answer. An error is that of a task that was cancelled
// meanwhile.
func (ns *names) ask(t *aio.Task, n *name) error {
	n.looking = true
	defer func() {
		n.looking = false
		n.waiting.UnparkAll(nil)
	}()
	addrs, err := ns.query(t, n.host)
	if errors.Is(err, aio.ErrCanceled) {
		return err
	}
	keep := keepFound
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		keep = keepMissing
	case err != nil:
		keep = keepFailed
	}
	n.addrs, n.err, n.until = addrs, err, t.Loop().Now().Add(keep)
	return nil
}

func (ns *names) query(t *aio.Task, host string) ([]netip.Addr, error) {
	if ns.resolver == nil {
		return aio.Lookup(t, host)
	}
	addrs, err := aio.Offload(t, func(ctx context.Context) ([]netip.Addr, error) {
		return ns.resolver.LookupNetIP(ctx, "ip", host)
	})
	var dns *net.DNSError
	if ns.resolver.Dial != nil && errors.As(err, &dns) {
		// It names the server that the system would have asked, whomever Dial asks.
		unnamed := *dns
		unnamed.Server = ""
		err = &unnamed
	}
	return addrs, err
}

// add makes room for host and puts it in.
func (ns *names) add(host string) *name {
	if len(ns.order) >= maxNames {
		delete(ns.known, ns.order[0].host)
		ns.order = ns.order[1:]
	}
	n := &name{host: host}
	ns.known[host] = n
	ns.order = append(ns.order, n)
	return n
}
