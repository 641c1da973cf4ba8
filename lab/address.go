//go:build linux

package lab

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// A hostAddress is where connect(2) is to connect a socket to.
type hostAddress struct {
	family int // of the socket: AF_INET or AF_INET6
	to     unix.Sockaddr
	err    error // it has none
}

// lookUp finds the addresses of the hosts of URLs, by host and port. It is called before the
// fetching begins: the resolver blocks, and on one thread all would stand still until it answers.
func lookUp(ctx context.Context, urls []string) map[string]hostAddress {
	addrs := make(map[string]hostAddress)
	for _, rawURL := range urls {
		target, err := ParseTarget(rawURL)
		if err != nil {
			continue // who fetches it will see
		}
		if _, known := addrs[target.Host]; !known {
			addrs[target.Host] = lookUpHost(ctx, target.Host)
		}
	}
	return addrs
}

func lookUpHost(ctx context.Context, host string) hostAddress {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return hostAddress{err: err}
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return hostAddress{err: fmt.Errorf("lab: %s: port %q, expected a number up to 65535", host, port)}
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return hostAddress{err: err}
	}
	// Only one of them is tried: of IPv4, if there is one, which more servers listen on.
	ip := ips[max(0, slices.IndexFunc(ips, func(ip netip.Addr) bool { return ip.Unmap().Is4() }))].Unmap()
	if ip.Is4() {
		return hostAddress{family: unix.AF_INET, to: &unix.SockaddrInet4{Port: int(number), Addr: ip.As4()}}
	}
	return hostAddress{family: unix.AF_INET6, to: &unix.SockaddrInet6{Port: int(number), Addr: ip.As16()}}
}
