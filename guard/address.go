package guard

import "net/netip"

// Class is the purpose of an address.
type Class string

// The classes. Links on public pages may lead to Public addresses only.
const (
	Public        Class = "public"
	Private       Class = "private"    // a site: RFC 1918, unique local
	Shared        Class = "shared"     // the customers of a provider (carrier-grade NAT)
	Loopback      Class = "loopback"   // this machine
	Unspecified   Class = "this host"  // on Linux, also this machine
	LinkLocal     Class = "link-local" // one link
	Metadata      Class = "metadata"   // a cloud's service for its machines, credentials included
	Multicast     Class = "multicast"
	Broadcast     Class = "broadcast"
	Documentation Class = "documentation"
	Benchmarking  Class = "benchmarking"
	Tunnel        Class = "tunnel" // IPv6 that leads to IPv4 by obsolete means
	Reserved      Class = "reserved"
)

// block is a range of addresses of one class.
type block struct {
	prefix netip.Prefix
	class  Class
}

// blocks lists the addresses that are not public; the first block that contains an address
// decides. Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, 8190)
// and the RFCs named; for metadata, the manuals of the clouds.
var blocks = []block{
	at("169.254.169.254/32", Metadata),     // Amazon, Google, Azure, OpenStack and most others
	at("169.254.170.2/32", Metadata),       // Amazon ECS, credentials of a task
	at("169.254.170.23/32", Metadata),      // Amazon EKS, credentials of a pod
	at("169.254.42.42/32", Metadata),       // Scaleway
	at("169.254.0.23/32", Metadata),        // Tencent
	at("100.100.100.200/32", Metadata),     // Alibaba
	at("168.63.129.16/32", Metadata),       // Azure's WireServer, in a public range
	at("192.0.0.192/32", Metadata),         // Oracle, classic
	at("fd00:ec2::254/128", Metadata),      // Amazon
	at("fd00:ec2::23/128", Metadata),       // Amazon EKS
	at("fd20:ce::254/128", Metadata),       // Google
	at("fd00:c1::a9fe:a9fe/128", Metadata), // Oracle
	at("fd00:42::42/128", Metadata),        // Scaleway

	at("0.0.0.0/8", Unspecified),         // RFC 791, section 3.2; RFC 1122, section 3.2.1.3
	at("10.0.0.0/8", Private),            // RFC 1918
	at("100.64.0.0/10", Shared),          // RFC 6598
	at("127.0.0.0/8", Loopback),          // RFC 1122, section 3.2.1.3
	at("169.254.0.0/16", LinkLocal),      // RFC 3927
	at("172.16.0.0/12", Private),         // RFC 1918
	at("192.0.0.0/24", Reserved),         // RFC 6890, section 2.1
	at("192.0.2.0/24", Documentation),    // RFC 5737
	at("192.88.99.0/24", Reserved),       // relays of 6to4, RFC 7526
	at("192.168.0.0/16", Private),        // RFC 1918
	at("198.18.0.0/15", Benchmarking),    // RFC 2544
	at("198.51.100.0/24", Documentation), // RFC 5737
	at("203.0.113.0/24", Documentation),  // RFC 5737
	at("224.0.0.0/4", Multicast),         // RFC 5771
	at("255.255.255.255/32", Broadcast),  // RFC 919, section 7
	at("240.0.0.0/4", Reserved),          // RFC 1112, section 4
	at("::/128", Unspecified),            // RFC 4291, section 2.5.2
	at("::1/128", Loopback),              // RFC 4291, section 2.5.3
	at("::/96", Tunnel),                  // IPv4-compatible, RFC 4291, section 2.5.5.1
	at("::ffff:0:0:0/96", Tunnel),        // IPv4-translated, RFC 2765, section 2.1
	at("64:ff9b:1::/48", Private),        // local-use NAT64, RFC 8215
	at("2001::/32", Tunnel),              // Teredo, RFC 4380
	at("2001:db8::/32", Documentation),   // RFC 3849
	at("2001::/23", Reserved),            // for protocols, RFC 2928
	at("2002::/16", Tunnel),              // 6to4, RFC 3056
	at("3fff::/20", Documentation),       // RFC 9637
	at("fc00::/7", Private),              // unique local, RFC 4193
	at("fe80::/10", LinkLocal),           // RFC 4291, section 2.5.6
	at("fec0::/10", Private),             // site-local, RFC 3879
	at("ff00::/8", Multicast),            // RFC 4291, section 2.7
}

func at(prefix string, c Class) block { return block{netip.MustParsePrefix(prefix), c} }

var (
	everything = netip.MustParsePrefix("::/0")
	// All of IPv6 that is assigned: RFC 4291, section 2.4.
	unicast = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052, section 2.1
)

// Classify returns the class of an address and the registered block that gives it this class;
// for Public the zero Prefix. It ignores zones. The zero Addr is Reserved.
func Classify(addr netip.Addr) (Class, netip.Prefix) {
	addr = plain(addr)
	for i := range blocks {
		if b := &blocks[i]; b.prefix.Contains(addr) {
			return b.class, b.prefix
		}
	}
	if addr.Is4() || unicast.Contains(addr) {
		return Public, netip.Prefix{}
	}
	return Reserved, everything
}

// IsPublic reports whether any link may lead to an address.
func IsPublic(addr netip.Addr) bool {
	class, _ := Classify(addr)
	return class == Public
}

// plain returns an address without its zone. An IPv6 address that stands for an IPv4 address
// becomes that address: mapped (RFC 4291, section 2.5.5.2), or translated with the well-known
// prefix of NAT64, over which IPv6-only machines reach all of IPv4.
func plain(addr netip.Addr) netip.Addr {
	addr = addr.WithZone("").Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}
