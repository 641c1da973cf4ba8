//go:build linux

package lab

import (
	"context"
	"net"

	"golang.org/x/sys/unix"
)

// address is a host as socket(2) and connect(2) take it: its family, IPv4 or IPv6, and its address
// and port.
type address struct {
	family   int
	sockaddr unix.Sockaddr
	err      error // the reason for which there is none
}

// addresses caches look-ups by host and port.
type addresses map[string]address

// resolve returns the address of a host and port. The kernel knows no names, so a name must be
// resolved before a socket can connect. Doing that without blocking is a topic of its own; here the
// standard library does it, once per host, and blocks. If a name has several addresses, resolve
// uses the first IPv4 address, or else the first one.
func (a addresses) resolve(ctx context.Context, host string) (address, error) {
	found, ok := a[host]
	if !ok {
		found = lookUp(ctx, host)
		a[host] = found
	}
	return found, found.err
}

func lookUp(ctx context.Context, host string) address {
	name, service, err := net.SplitHostPort(host)
	if err != nil {
		return address{err: err}
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return address{err: err}
	}
	if ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", name); err == nil {
		return address{family: unix.AF_INET, sockaddr: &unix.SockaddrInet4{Port: port, Addr: ips[0].Unmap().As4()}}
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip6", name)
	if err != nil {
		return address{err: err}
	}
	return address{family: unix.AF_INET6, sockaddr: &unix.SockaddrInet6{Port: port, Addr: ips[0].As16()}}
}
