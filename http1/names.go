package http1

import (
	"net/netip"

	"github.com/weftcrawl/weft/aio"
)

// names knows where to connect for a host. It belongs to a client.
type names struct {
	overrides []Override
	resolver  Resolver
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
	addrs, err := ns.resolver.Lookup(t, host)
	to := make([]netip.AddrPort, len(addrs))
	for i, addr := range addrs {
		to[i] = netip.AddrPortFrom(addr, port)
	}
	return to, err
}
