package httpclient

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/weftcrawl/weft/aio"
)

// names finds the addresses of a host. It belongs to a client.
type names struct {
	overrides []Override
	resolver  Resolver
}

// resolve returns the addresses of a host with port, most preferred first.
func (ns *names) resolve(t *aio.Task, host string, port uint16) ([]netip.AddrPort, error) {
	if to, fixed := ns.fixed(host, port); fixed {
		return []netip.AddrPort{to}, nil
	}
	addrs, err := ns.resolver.Lookup(t, host)
	to := make([]netip.AddrPort, len(addrs))
	for i, addr := range addrs {
		to[i] = netip.AddrPortFrom(addr, port)
	}
	return to, err
}

// fixed returns the address of a host and port that need no resolver.
func (ns *names) fixed(host string, port uint16) (to netip.AddrPort, ok bool) {
	for i := range ns.overrides {
		if to, ok := ns.overrides[i].resolve(host, port); ok {
			return to, true
		}
	}
	addr, err := netip.ParseAddr(host)
	return netip.AddrPortFrom(addr, port), err == nil
}

// prefer moves Prefer to the front of the permitted addresses of req's host. If it is pinned and
// permitted, it counts as one of them.
func (c *Client) prefer(req *Request, host string, port uint16, to []netip.AddrPort) []netip.AddrPort {
	first := netip.AddrPortFrom(req.Prefer, port)
	i := slices.IndexFunc(to, func(a netip.AddrPort) bool { return a.Addr().Unmap() == req.Prefer })
	if i < 0 {
		if _, fixed := c.names.fixed(host, port); fixed || len(to) == 0 || !req.Pinned || !req.Prefer.IsValid() {
			return to
		}
		if _, err := c.permit(req, host, port, []netip.AddrPort{first}); err != nil {
			return to
		}
		i, to = len(to), append(to, first)
	}
	to[0], to[i] = to[i], to[0]
	return to
}

// Lookup returns the addresses that a request to a host, HOST or HOST:PORT, would connect to, most
// preferred first; none if it would go through a proxy.
//
// The error is an *Error, of kind dns or dial-timeout, or Do's error for a request that cannot be
// sent.
func (c *Client) Lookup(t *aio.Task, scheme, host string) ([]netip.AddrPort, error) {
	req := Request{Scheme: scheme, Host: host}
	name, port, bad := req.server()
	if bad != nil {
		return nil, bad
	}
	if c.via(&req) != nil {
		return nil, nil
	}
	var to []netip.AddrPort
	look := func(t *aio.Task) (err error) {
		to, err = c.names.resolve(t, name, port)
		return err
	}
	var err error
	if c.opt.DialTimeout > 0 {
		err = t.Timeout(c.opt.DialTimeout, look)
	} else {
		err = look(t)
	}
	if err != nil {
		return nil, limit{kind: KindDialTimeout, span: c.opt.DialTimeout}.classify(err, KindDNS, func() string { return fmt.Sprintf("no address of %.64q", name) })
	}
	return to, nil
}
