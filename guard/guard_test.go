package guard_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/guard"
)

func TestClassify(t *testing.T) {
	for addr, want := range map[string]guard.Class{
		// The first and the last address of each block, and their neighbours.
		"0.0.0.0": guard.Unspecified, "0.255.255.255": guard.Unspecified, "1.0.0.0": guard.Public, "9.255.255.255": guard.Public,
		"10.0.0.0": guard.Private, "10.255.255.255": guard.Private, "11.0.0.0": guard.Public,
		"100.63.255.255": guard.Public, "100.64.0.0": guard.Shared, "100.127.255.255": guard.Shared, "100.128.0.0": guard.Public,
		"126.255.255.255": guard.Public, "127.0.0.1": guard.Loopback, "127.255.255.255": guard.Loopback, "128.0.0.0": guard.Public,
		"169.253.255.255": guard.Public, "169.254.0.0": guard.LinkLocal, "169.254.255.255": guard.LinkLocal, "169.255.0.0": guard.Public,
		"172.15.255.255": guard.Public, "172.16.0.0": guard.Private, "172.31.255.255": guard.Private, "172.32.0.0": guard.Public,
		"192.0.0.1": guard.Reserved, "192.0.1.0": guard.Public, "192.0.2.1": guard.Documentation, "192.88.99.1": guard.Reserved,
		"192.167.255.255": guard.Public, "192.168.0.0": guard.Private, "192.168.255.255": guard.Private, "192.169.0.0": guard.Public,
		"198.17.255.255": guard.Public, "198.18.0.0": guard.Benchmarking, "198.19.255.255": guard.Benchmarking, "198.20.0.0": guard.Public,
		"198.51.100.7": guard.Documentation, "203.0.113.7": guard.Documentation,
		"223.255.255.255": guard.Public, "224.0.0.1": guard.Multicast, "239.255.255.255": guard.Multicast,
		"240.0.0.0": guard.Reserved, "255.255.255.254": guard.Reserved, "255.255.255.255": guard.Broadcast,
		"8.8.8.8": guard.Public, "93.184.215.14": guard.Public,

		"169.254.169.254": guard.Metadata, "169.254.170.2": guard.Metadata, "100.100.100.200": guard.Metadata,
		"168.63.129.16": guard.Metadata, "192.0.0.192": guard.Metadata, "fd00:ec2::254": guard.Metadata, "fd20:ce::254": guard.Metadata,
		"168.63.129.17": guard.Public, "169.254.169.253": guard.LinkLocal, "fd00:ec2::255": guard.Private,

		"::": guard.Unspecified, "::1": guard.Loopback, "::2": guard.Tunnel, "::7f00:1": guard.Tunnel, "::1:0:0": guard.Reserved,
		"::ffff:0:7f00:1": guard.Tunnel, "100::1": guard.Reserved, "2001::1": guard.Tunnel, "2001:1::1": guard.Reserved, "2001:200::1": guard.Public,
		"2001:db8::1": guard.Documentation, "2001:db9::1": guard.Public, "2002:7f00:1::1": guard.Tunnel, "2606:4700::1111": guard.Public,
		"3fff::1": guard.Documentation, "3fff:1000::1": guard.Public, "4000::1": guard.Reserved, "5f00::1": guard.Reserved,
		"fbff::1": guard.Reserved, "fc00::1": guard.Private, "fdff::1": guard.Private, "fe00::1": guard.Reserved,
		"fe80::1": guard.LinkLocal, "fe80::1%eth0": guard.LinkLocal, "febf::1": guard.LinkLocal, "fec0::1": guard.Private, "ff02::1": guard.Multicast,

		// IPv4 addresses written as IPv6.
		"::ffff:127.0.0.1": guard.Loopback, "::ffff:10.1.2.3": guard.Private, "::ffff:8.8.8.8": guard.Public,
		"64:ff9b::169.254.169.254": guard.Metadata, "64:ff9b::127.0.0.1": guard.Loopback, "64:ff9b::8.8.8.8": guard.Public,
		"64:ff9b:1::808:808": guard.Private,
	} {
		class, prefix := guard.Classify(netip.MustParseAddr(addr))
		if class != want || prefix.IsValid() != (class != guard.Public) {
			t.Errorf("%s: %s (%s), expected %s", addr, class, prefix, want)
		}
	}
	if class, _ := guard.Classify(netip.Addr{}); class != guard.Reserved {
		t.Errorf("no address: %s", class)
	}
}

// TestNetworks checks which addresses a seed opens for links, and which stay closed.
func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		seed        string
		open, stays []string
	}{
		{"8.8.8.8:80", []string{"8.8.4.4:1"}, []string{"10.0.0.1:80", "127.0.0.1:80"}},
		{"10.1.2.3:80", []string{"10.255.0.1:9200", "[::ffff:10.0.0.1]:1", "[64:ff9b::a00:1]:1"},
			[]string{"192.168.0.1:80", "172.16.0.1:80", "127.0.0.1:80", "[::1]:80", "0.0.0.0:80", "169.254.169.254:80", "100.100.100.200:80", "[fd00::1]:80"}},
		{"[fd12::1]:80", []string{"[fdff::1]:1"}, []string{"[fd00:ec2::254]:80", "[::1]:80", "10.0.0.1:80", "[fe80::1]:80"}},
		{"127.0.0.1:8080", []string{"127.9.9.9:8080", "[::1]:8080", "0.0.0.0:8080", "[::ffff:127.0.0.1]:8080"}, []string{"127.0.0.1:9200", "127.0.0.1:80", "10.0.0.1:8080"}},
		{"[::1]:443", []string{"127.0.0.1:80", "127.0.0.1:443"}, []string{"127.0.0.1:8443"}},
		{"0.0.0.0:8080", []string{"127.0.0.1:8080"}, []string{"127.0.0.1:80"}},
		{"169.254.3.4:80", []string{"169.254.9.9:1"}, []string{"169.254.169.254:80", "169.254.170.2:80"}},
		{"169.254.169.254:80", []string{"169.254.169.254:80"}, []string{"169.254.1.1:80", "[fd00:ec2::254]:80"}},
	} {
		var g guard.Guard
		n := guard.NetworkOf(netip.MustParseAddrPort(c.seed))
		if g.Open(n) != (n != guard.Network{}) || g.Open(n) {
			t.Errorf("%s: opened twice, or not", c.seed)
		}
		for _, addr := range c.open {
			if err := g.Judge(netip.MustParseAddrPort(addr)); err != nil {
				t.Errorf("from %s to %s: %v", c.seed, addr, err)
			}
		}
		for _, addr := range c.stays {
			if g.Judge(netip.MustParseAddrPort(addr)) == nil {
				t.Errorf("from %s to %s: allowed", c.seed, addr)
			}
		}
		if n != (guard.Network{}) {
			if again, err := guard.ParseNetwork(n.String()); err != nil || again != n {
				t.Errorf("%s: read again as %s, %v", n, again, err)
			}
		}
	}
	for _, s := range []string{"", "10.0.0.0", "10.0.0.0/99", "127.0.0.0/8:", "127.0.0.0/8:x", "127.0.0.0/8:65536", "::1"} {
		if n, err := guard.ParseNetwork(s); err == nil {
			t.Errorf("%q: read as %s", s, n)
		}
	}
}

func TestJudgeSaysWhy(t *testing.T) {
	var g guard.Guard
	for addr, want := range map[string]string{
		"127.0.0.1:80":            "127.0.0.1 is loopback (127.0.0.0/8)",
		"[::ffff:10.0.0.1]:80":    "::ffff:10.0.0.1 is private, as 10.0.0.1 is (10.0.0.0/8)",
		"[64:ff9b::a9fe:a9fe]:80": "64:ff9b::a9fe:a9fe is metadata, as 169.254.169.254 is (169.254.169.254/32)",
		"[fe80::1%x]:80":          "fe80::1%x is link-local (fe80::/10)",
	} {
		if err := g.Judge(netip.MustParseAddrPort(addr)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", addr, err, want)
		}
	}
}

// TestAllow checks who may go where and who opens networks, for each level of trust.
func TestAllow(t *testing.T) {
	private, public := netip.MustParseAddrPort("10.0.0.1:80"), netip.MustParseAddrPort("8.8.8.8:80")
	var opened []guard.Network
	g := guard.Guard{OnOpen: func(n guard.Network) { opened = append(opened, n) }}
	if g.Allow(guard.Listed) != nil {
		t.Error("a listed host is judged")
	}
	if linked := g.Allow(guard.Linked); linked(private) == nil || linked(public) != nil {
		t.Errorf("linked: private %v, public %v", linked(private), linked(public))
	}
	if g.Allow(guard.Given) != nil {
		t.Error("a given host is judged")
	}
	g.Answered(guard.Linked, private, true)
	g.Answered(guard.Listed, private, true)
	g.Answered(guard.Given, public, false)
	g.Answered(guard.Given, private, false) // the name has a public address, too
	if len(opened) != 0 {
		t.Errorf("opened %v, expected nothing", opened)
	}
	g.Answered(guard.Given, private, true)
	g.Answered(guard.Given, private, true)
	if want := guard.NetworkOf(private); len(opened) != 1 || opened[0] != want {
		t.Errorf("opened %v, expected %v", opened, want)
	}
	if err := g.Allow(guard.Linked)(netip.MustParseAddrPort("10.2.3.4:80")); err != nil {
		t.Errorf("linked, in a network that a given host opened: %v", err)
	}
	all := guard.Guard{AllowAll: true}
	if all.Allow(guard.Linked) != nil {
		t.Error("AllowAll: links are judged")
	}
}

// TestLink checks that a page on this machine opens the ports of this machine that it links to.
func TestLink(t *testing.T) {
	for _, c := range []struct {
		page, target string
		port         int
		opens        bool
	}{
		{"127.0.0.1", "localhost", 9200, true}, {"127.0.0.1", "10.0.0.1", 9200, false}, {"10.0.0.1", "127.0.0.1", 9200, false},
		{"site.example", "127.0.0.1", 9200, false}, {"127.0.0.1", "site.example", 80, false},
	} {
		opened := 0
		g := guard.Guard{OnOpen: func(guard.Network) { opened++ }}
		for range 2 {
			g.Link(guard.NetworkIn(c.page, 80), guard.NetworkIn(c.target, c.port))
		}
		if (opened == 1) != c.opens || opened > 1 {
			t.Errorf("%s to %s:%d: opened %d times, expected %v", c.page, c.target, c.port, opened, c.opens)
		}
	}
}

func TestLiteral(t *testing.T) {
	for host, want := range map[string]string{
		"localhost": "127.0.0.1", "LOCALHOST.": "127.0.0.1", "a.b.localhost": "127.0.0.1", "10.0.0.1": "10.0.0.1", "[::1]": "::1", "::1": "::1",
		"localhost.example": "", "notlocalhost": "", "example.org": "", "": "", "[": "",
	} {
		addr, ok := guard.Literal(host)
		if ok != (want != "") || ok && addr.String() != want {
			t.Errorf("%q: %v %v, expected %q", host, addr, ok, want)
		}
	}
}

// FuzzClassify checks that all spellings of an address have the same class, that the network of
// an address contains it once opened, and that ParseNetwork reads what String writes.
func FuzzClassify(f *testing.F) {
	for _, addr := range []string{"0.0.0.0", "10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "fe80::1%eth0", "2001:db8::1", "1.1.1.1"} {
		f.Add(addr, uint16(80))
	}
	f.Fuzz(func(t *testing.T, s string, port uint16) {
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return
		}
		class, prefix := guard.Classify(addr)
		others := []netip.Addr{addr.WithZone("")}
		if addr.Is6() && !addr.Is4In6() {
			others = append(others, addr.WithZone("z"))
		}
		if a := addr.Unmap(); a.Is4() {
			b := a.As16()
			translated := netip.MustParseAddr("64:ff9b::").As16()
			copy(translated[12:], b[12:])
			others = append(others, a, netip.AddrFrom16(b), netip.AddrFrom16(translated))
		}
		for _, other := range others {
			if c, p := guard.Classify(other); c != class || p != prefix {
				t.Errorf("%s is %s (%s), and %s is %s (%s)", addr, class, prefix, other, c, p)
			}
		}
		if class == guard.Public && (addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified()) {
			t.Errorf("%s is public", addr)
		}
		var g guard.Guard
		at := netip.AddrPortFrom(addr, port)
		err = g.Judge(at)
		if (err == nil) != (class == guard.Public) || err != nil && !strings.Contains(err.Error(), string(class)) {
			t.Errorf("%s is %s: %v", at, class, err)
		}
		n := guard.NetworkOf(at)
		g.Open(n)
		if err := g.Judge(at); err != nil {
			t.Errorf("%s has opened its network: %v", at, err)
		}
		if class != guard.Public {
			if again, err := guard.ParseNetwork(n.String()); err != nil || again != n {
				t.Errorf("%s: read again as %s, %v", n, again, err)
			}
		}
	})
}
