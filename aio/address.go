package aio

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

func toSockaddr(a *net.TCPAddr) (family int, sa unix.Sockaddr, err error) {
	if ip4 := a.IP.To4(); ip4 != nil {
		return unix.AF_INET, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(ip4)}, nil
	}
	sa6 := &unix.SockaddrInet6{Port: a.Port}
	copy(sa6.Addr[:], a.IP.To16())
	if a.Zone != "" {
		if n, err := strconv.Atoi(a.Zone); err == nil {
			sa6.ZoneId = uint32(n)
		} else if ifi, err := net.InterfaceByName(a.Zone); err == nil {
			sa6.ZoneId = uint32(ifi.Index)
		} else {
			return 0, nil, fmt.Errorf("zone %q: %w", a.Zone, err)
		}
	}
	return unix.AF_INET6, sa6, nil
}

func fromSockaddr(sa unix.Sockaddr) net.Addr {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)))
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(a.Addr).Unmap()
		if a.ZoneId != 0 {
			ip = ip.WithZone(strconv.Itoa(int(a.ZoneId)))
		}
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(a.Port)))
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Name: a.Name, Net: "unix"}
	}
	return &net.UnixAddr{Net: "unix"} // an unnamed Unix socket
}

// describe names the ends of a socket, for the leak report.
func describe(fd int) string {
	if sa, err := unix.Getpeername(fd); err == nil {
		return "connected to " + fromSockaddr(sa).String()
	}
	if sa, err := unix.Getsockname(fd); err == nil {
		return "at " + fromSockaddr(sa).String()
	}
	return "no socket"
}
