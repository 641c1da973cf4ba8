package httpclient

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/weftcrawl/weft/guard"
)

// permit returns the addresses of a host that req may be sent to. If there are none, the error is
// of KindBlocked and describes the first address. An Override for the host itself is the user's
// choice; an Override for every host acts like a proxy, so the host is judged by its name.
func (c *Client) permit(req *Request, host string, port uint16, to []netip.AddrPort) ([]netip.AddrPort, error) {
	if req.Allow == nil {
		return to, nil
	}
	for i := range c.opt.Resolve {
		o := &c.opt.Resolve[i]
		if _, ok := o.resolve(host, port); !ok {
			continue
		}
		if o.Host == "*" {
			return to, permitLiteral(req, host, port)
		}
		return to, nil
	}
	var refused error
	allowed := make([]netip.AddrPort, 0, len(to))
	for _, addr := range to {
		err := req.Allow(addr)
		if err == nil {
			allowed = append(allowed, addr)
		} else if refused == nil {
			refused = blocked(host, addr, err)
		}
	}
	if len(allowed) == 0 && refused != nil {
		return nil, refused
	}
	return allowed, nil
}

// lookup is the judgement of a look-up on the address that a connection leads to.
type lookup struct {
	judged  bool // Request.Allow applies: no Override names the address, and no proxy found it
	private bool // judged, and none of the addresses is public
}

// lookup returns what a look-up of a host returned.
func (c *Client) lookup(host string, port uint16, to []netip.AddrPort) lookup {
	for i := range c.opt.Resolve {
		if _, ok := c.opt.Resolve[i].resolve(host, port); ok {
			return lookup{}
		}
	}
	public := func(a netip.AddrPort) bool { return guard.IsPublic(a.Addr()) }
	return lookup{judged: true, private: !slices.ContainsFunc(to, public)}
}

// permitThrough judges the host of a request that goes through a proxy, over any connection.
func (c *Client) permitThrough(req *Request) error {
	host, port, bad := req.server()
	if bad != nil {
		return bad
	}
	return permitLiteral(req, host, port)
}

// permitLiteral judges a host whose address is found elsewhere, by a proxy or an Override for
// every host: only an address, or a name that can mean only one, can be judged.
func permitLiteral(req *Request, host string, port uint16) error {
	addr, ok := guard.Literal(host)
	if !ok || req.Allow == nil {
		return nil
	}
	to := netip.AddrPortFrom(addr, port)
	if err := req.Allow(to); err != nil {
		return blocked(host, to, err)
	}
	return nil
}

// blocked returns the error of a host with an address that req may not be sent to.
func blocked(host string, to netip.AddrPort, why error) error {
	if addr, err := netip.ParseAddr(host); err == nil && addr == to.Addr() {
		return &Error{Kind: KindBlocked, Err: why}
	}
	return &Error{Kind: KindBlocked, Err: fmt.Errorf("%.255s: %w", host, why)}
}
