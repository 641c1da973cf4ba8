package guard

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Guard is which addresses the links of a crawl may lead to: the public ones, and those
// of the networks that were opened. The zero Guard is ready. Owner: one loop.
type Guard struct {
	open map[Network]bool
}

// Judge returns nil if a link may lead to an address, else an error that names it, its
// class and its block.
func (g *Guard) Judge(to netip.AddrPort) error {
	class, prefix := Classify(to.Addr())
	if class == Public || len(g.open) > 0 && g.open[network(to, class, prefix)] {
		return nil
	}
	as := ""
	if a := plain(to.Addr()); a != to.Addr() && a.Is4() {
		as = ", as " + a.String() + " is"
	}
	return fmt.Errorf("%s is %s%s (%s)", to.Addr(), class, as, prefix)
}

// Open opens a network, and reports whether it was closed. The zero Network is none.
func (g *Guard) Open(n Network) bool {
	if n == (Network{}) || g.open[n] {
		return false
	}
	if g.open == nil {
		g.open = make(map[Network]bool)
	}
	g.open[n] = true
	return true
}

// Network is what a seed opens. There are few: a block of the table each, a port, or an
// address of metadata. The zero Network is none.
type Network struct {
	prefix netip.Prefix // of this machine: 127.0.0.0/8, which stands for all of its addresses
	port   uint16       // 0: any
}

// NetworkOf returns the network of an address; zero for a public one, which has none.
func NetworkOf(at netip.AddrPort) Network {
	class, prefix := Classify(at.Addr())
	if class == Public {
		return Network{}
	}
	return network(at, class, prefix)
}

// NetworkIn returns the network of the address that is written in a URL, in its host and
// port: see Literal. It is zero if there is none, or a public one.
func NetworkIn(host string, port int) Network {
	addr, ok := Literal(host)
	if !ok {
		return Network{}
	}
	return NetworkOf(netip.AddrPortFrom(addr, uint16(port)))
}

// machine stands for all addresses of this machine.
var machine = netip.MustParsePrefix("127.0.0.0/8")

// network returns the network of an address that is not public. On this machine a service
// is its port, whatever the address; http and https on their own are one.
func network(at netip.AddrPort, class Class, prefix netip.Prefix) Network {
	switch class {
	case Loopback, Unspecified:
		if at.Port() == 443 {
			return Network{machine, 80}
		}
		return Network{machine, at.Port()}
	}
	return Network{prefix, 0}
}

// Local reports whether n is of this machine.
func (n Network) Local() bool { return n.prefix == machine }

// String is what ParseNetwork reads: PREFIX, or PREFIX:PORT.
func (n Network) String() string {
	if n.port == 0 {
		return n.prefix.String()
	}
	return n.prefix.String() + ":" + strconv.Itoa(int(n.port))
}

// ParseNetwork reads a network from what String returns.
func ParseNetwork(s string) (n Network, err error) {
	bits := strings.IndexByte(s, '/') + 1
	if i := strings.IndexByte(s[bits:], ':'); i >= 0 {
		port, err := strconv.ParseUint(s[bits+i+1:], 10, 16)
		if err != nil {
			return n, fmt.Errorf("network %.64q: expected a port at its end", s)
		}
		n.port, s = uint16(port), s[:bits+i]
	}
	if n.prefix, err = netip.ParsePrefix(s); err != nil {
		return n, fmt.Errorf("network %.64q: expected PREFIX or PREFIX:PORT", s)
	}
	return n, nil
}

// Literal returns the address that a host of a URL can only mean, whoever resolves it:
// that of a literal, and 127.0.0.1 for localhost and names below it (RFC 6761, section
// 6.3). IPv6 may stand in brackets. ok is false for other names.
func Literal(host string) (addr netip.Addr, ok bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		host = strings.TrimSuffix(inner, "]")
	}
	if host == "" || host[len(host)-1] > '9' && strings.IndexByte(host, ':') < 0 {
		return addr, false // a name, like most: an error would be made for nothing
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}
