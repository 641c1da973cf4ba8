package guard

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Guard judges the addresses to which the links of a crawl lead: public ones are allowed, and those
// of the networks that were opened. The zero Guard is ready. Owner: one loop. A Guard must not be
// copied after its first use.
type Guard struct {
	AllowAll bool          // links may lead to any address
	OnOpen   func(Network) // called for each network that a response or a link opens; nil: nothing

	open  map[Network]bool
	judge func(netip.AddrPort) error // a method value, made once
}

// Trust is the source of a URL's host.
type Trust uint8

// The levels of trust.
const (
	// Linked hosts were found on a page: their addresses are judged.
	Linked Trust = iota
	// Listed hosts come from a list of seeds and may have any address. They open no network:
	// the owner of one name in a million must not open the user's network by where it resolves to.
	Listed
	// Given hosts were named by the user one by one. They may have any address, and each opens
	// the network that it answers from for links: see Answered.
	Given
)

// Allow returns the function that judges the addresses of a host; nil allows all of them.
func (g *Guard) Allow(trust Trust) func(netip.AddrPort) error {
	if trust != Linked || g.AllowAll {
		return nil
	}
	if g.judge == nil {
		g.judge = g.Judge
	}
	return g.judge
}

// Answered takes in that a host answered from an address. A Given host opens the network of that
// address, unless a look-up of the host returned a public address too: then private says false,
// and the host is a public one, whose owner must not choose which network it opens.
func (g *Guard) Answered(trust Trust, from netip.AddrPort, private bool) {
	if trust == Given && private {
		g.openFor(NetworkOf(from))
	}
}

// Link opens the network of the address that a link's target is written with, if the page is
// written with an address too and both are on this machine: such a page is not public.
func (g *Guard) Link(page, target Network) {
	if page.Local() && target.Local() {
		g.openFor(target)
	}
}

func (g *Guard) openFor(n Network) {
	if g.Open(n) && g.OnOpen != nil {
		g.OnOpen(n)
	}
}

// Judge returns nil if a link may lead to an address; otherwise an error that names the address,
// its class and its block.
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

// Open opens a network and reports whether it was closed before. It does not call OnOpen. The
// zero Network stays closed.
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

// Network is a set of addresses that a seed opens: a block of the table, one port of this
// machine, or one metadata address. There are few of them. The zero Network is empty.
type Network struct {
	prefix netip.Prefix // 127.0.0.0/8 stands for all addresses of this machine
	port   uint16       // 0: any
}

// NetworkOf returns the network of an address; the zero Network for a public address.
func NetworkOf(at netip.AddrPort) Network {
	class, prefix := Classify(at.Addr())
	if class == Public {
		return Network{}
	}
	return network(at, class, prefix)
}

// NetworkIn returns the network of the address that a URL is written with, given its host and
// port: see Literal. It is zero if the host is a name or a public address.
func NetworkIn(host string, port int) Network {
	addr, ok := Literal(host)
	if !ok {
		return Network{}
	}
	return NetworkOf(netip.AddrPortFrom(addr, uint16(port)))
}

// machine stands for all addresses of this machine.
var machine = netip.MustParsePrefix("127.0.0.0/8")

// network returns the network of an address that is not public. On this machine a port
// identifies a service, whatever the address; 443 counts as 80.
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

// Local reports whether n is on this machine.
func (n Network) Local() bool { return n.prefix == machine }

// String returns PREFIX or PREFIX:PORT, the form that ParseNetwork reads.
func (n Network) String() string {
	if n.port == 0 {
		return n.prefix.String()
	}
	return n.prefix.String() + ":" + strconv.Itoa(int(n.port))
}

// ParseNetwork parses the form that String returns.
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

// Literal returns the address that the host of a URL means regardless of any resolver: an IP
// literal's own address, and 127.0.0.1 for localhost and names below it (RFC 6761, section 6.3).
// An IPv6 literal may have brackets. ok is false for all other names.
func Literal(host string) (addr netip.Addr, ok bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		host = strings.TrimSuffix(inner, "]")
	}
	if host == "" || host[len(host)-1] > '9' && strings.IndexByte(host, ':') < 0 {
		return addr, false // most hosts are names: do not build an error for them
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}
