package http1

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/weftcrawl/weft/aio"
)

// names knows where to connect for a host. It belongs to a client.
type names struct {
	overrides []Override
	resolver  Resolver
}

// resolve returns where to connect for a host and port, the preferred first. A pin that is valid is
// an address of the host, too.
func (ns *names) resolve(t *aio.Task, host string, port uint16, pin netip.Addr) ([]netip.AddrPort, error) {
	for i := range ns.overrides {
		if to, ok := ns.overrides[i].resolve(host, port); ok {
			return []netip.AddrPort{to}, nil
		}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(addr, port)}, nil
	}
	addrs, err := ns.resolver.Lookup(t, host)
	if len(addrs) > 0 && pin.IsValid() && !slices.Contains(addrs, pin) {
		addrs = append(slices.Clip(addrs), pin)
	}
	to := make([]netip.AddrPort, len(addrs))
	for i, addr := range addrs {
		to[i] = netip.AddrPortFrom(addr, port)
	}
	return to, err
}

// Lookup returns where a request to a host, HOST or HOST:PORT, would connect, the
// preferred first; none if it would go through a proxy.
//
// The error is an *Error, of kind dns or dial-timeout, or that of Do for a request that cannot
// be sent.
func (c *Client) Lookup(t *aio.Task, scheme, host string) ([]netip.AddrPort, error) {
	req := Request{Scheme: scheme, Host: host}
	name, port, bad := req.server()
	if bad != nil {
		return nil, bad
	}
	if c.place(&req).via != nil {
		return nil, nil
	}
	var to []netip.AddrPort
	look := func(t *aio.Task) (err error) {
		to, err = c.names.resolve(t, name, port, netip.Addr{})
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
