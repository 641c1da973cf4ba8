package aio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// FallbackDelay is the time for which Dial tries one address before it also tries the next: the
// Connection Attempt Delay of RFC 8305 (Happy Eyeballs), section 5.
const FallbackDelay = 250 * time.Millisecond

// Dial connects to address on a network: "tcp", "tcp4" or "tcp6" with HOST:PORT, or "unix" with a
// path. It tries the addresses of a name as RFC 8305 describes: IPv6 and IPv4 in turn, the next
// one when one fails or has not connected after FallbackDelay; the first connection wins. The
// error names every address.
func Dial(t *Task, network, address string) (Conn, error) {
	c, err := dial(t, network, address)
	if err != nil {
		return nil, fmt.Errorf("dial %s %s: %w", network, address, err)
	}
	return c, nil
}

func dial(t *Task, network, address string) (Conn, error) {
	if network == "unix" {
		return t.loop.network.Connect(t, &net.UnixAddr{Name: address, Net: "unix"})
	}
	addrs, err := resolve(t, network, address)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 1 {
		return t.loop.network.Connect(t, addrs[0])
	}
	return connectFirst(t, addrs)
}

// Lookup returns the addresses of a host, a name or an IP address, on the loop's network, most
// preferred first. For a name that does not exist the error is a *net.DNSError with IsNotFound.
func Lookup(t *Task, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, t.Checkpoint()
	}
	ips, err := t.loop.network.Lookup(t, host)
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, 0, len(ips))
	for _, ip := range ips {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			addrs = append(addrs, addr.Unmap())
		}
	}
	return addrs, nil
}

// Connect connects to one of several addresses over TCP, as Dial does for the addresses of a name.
// The error names every address in one line; errors.As to an interface{ Unwrap() []error } yields
// the error of each.
func Connect(t *Task, addrs []netip.AddrPort) (Conn, error) {
	switch len(addrs) {
	case 0:
		return nil, errors.New("connect: no address")
	case 1:
		c, err := t.loop.network.Connect(t, net.TCPAddrFromAddrPort(addrs[0]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", addrs[0], err)
		}
		return c, nil
	}
	to := make([]*net.TCPAddr, len(addrs))
	for i, addr := range addrs {
		to[i] = net.TCPAddrFromAddrPort(addr)
	}
	return connectFirst(t, inTurn(to))
}

// DialUDP returns a socket for datagrams to and from one address. Each Write of at least one byte
// sends a datagram; each Read receives one, including empty ones, and drops what exceeds the
// buffer. Datagrams from other addresses do not arrive. Delivery is not guaranteed: if nobody
// listens at the address, a later Read or Write may return ECONNREFUSED. The system chooses a new
// local port for each socket.
func DialUDP(t *Task, to netip.AddrPort) (Conn, error) {
	c, err := t.loop.network.Connect(t, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, fmt.Errorf("dial udp %s: %w", to, err)
	}
	return c, nil
}

// Listen listens on address on a network: "tcp", "tcp4" or "tcp6" with HOST:PORT, where an empty
// HOST means all addresses and port 0 a free one; or "unix" with a path that does not exist yet.
func Listen(t *Task, network, address string) (Listener, error) {
	ln, err := listen(t, network, address)
	if err != nil {
		return nil, fmt.Errorf("listen %s %s: %w", network, address, err)
	}
	return ln, nil
}

func listen(t *Task, network, address string) (Listener, error) {
	t.check()
	if network == "unix" {
		return t.loop.network.Listen(t, &net.UnixAddr{Name: address, Net: "unix"})
	}
	if err := checkNetwork(network); err != nil {
		return nil, err
	}
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		switch network {
		case "tcp4":
			address = "0.0.0.0:" + port
		case "tcp6":
			address = "[::]:" + port
		default:
			n, err := lookupPort(t, network, port)
			if err != nil {
				return nil, err
			}
			return t.loop.network.Listen(t, &net.TCPAddr{Port: n})
		}
	}
	addrs, err := resolve(t, network, address)
	if err != nil {
		return nil, err
	}
	return t.loop.network.Listen(t, addrs[0])
}

// resolve turns HOST:PORT into addresses of the network's families, IPv6 and IPv4 in turn,
// beginning with the family of the first.
func resolve(t *Task, network, address string) ([]*net.TCPAddr, error) {
	if err := checkNetwork(network); err != nil {
		return nil, err
	}
	if ap, err := netip.ParseAddrPort(address); err == nil && familyFits(network, ap.Addr().Is4() || ap.Addr().Is4In6()) {
		return []*net.TCPAddr{net.TCPAddrFromAddrPort(ap)}, nil
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errors.New("expected HOST:PORT")
	}
	port, err := lookupPort(t, network, service)
	if err != nil {
		return nil, err
	}
	ips, err := Lookup(t, host)
	if err != nil {
		return nil, err
	}
	var addrs []*net.TCPAddr
	for _, ip := range ips {
		if familyFits(network, ip.Is4() || ip.Is4In6()) {
			addrs = append(addrs, net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(port))))
		}
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%q has no %s address", host, network)
	}
	return inTurn(addrs), nil
}

// inTurn returns addrs with the families in turn, beginning with that of the first (RFC 8305,
// section 4).
func inTurn(addrs []*net.TCPAddr) []*net.TCPAddr {
	var same, other []*net.TCPAddr
	first4 := addrs[0].IP.To4() != nil
	for _, addr := range addrs {
		if addr.IP.To4() != nil == first4 {
			same = append(same, addr)
		} else {
			other = append(other, addr)
		}
	}
	mixed := make([]*net.TCPAddr, 0, len(addrs))
	for len(same)+len(other) > 0 {
		if len(same) > 0 {
			mixed, same = append(mixed, same[0]), same[1:]
		}
		same, other = other, same
	}
	return mixed
}

func checkNetwork(network string) error {
	switch network {
	case "tcp", "tcp4", "tcp6":
		return nil
	}
	return errors.New("unknown network, expected tcp, tcp4, tcp6 or unix")
}

func familyFits(network string, is4 bool) bool {
	return network == "tcp" || is4 == (network == "tcp4")
}

func lookupPort(t *Task, network, service string) (int, error) {
	n, ok := 0, service != ""
	for _, c := range []byte(service) {
		if c < '0' || c > '9' || n > 65535 {
			ok = false
			break
		}
		n = n*10 + int(c-'0')
	}
	if ok && n <= 65535 {
		return n, nil
	}
	return Offload(t, func(ctx context.Context) (int, error) { // reads /etc/services
		return net.DefaultResolver.LookupPort(ctx, network, service)
	})
}

// maxAttempts bounds the connections that one dial tries at the same time, each with a descriptor,
// however many addresses a name has. To start another, the oldest ends: with FallbackDelay it had a
// second.
const maxAttempts = 4

// connectFirst starts a connection to each address in turn and returns the first that succeeds.
func connectFirst(t *Task, addrs []*net.TCPAddr) (Conn, error) {
	type attempt struct {
		to   *net.TCPAddr
		task *Task
		conn Conn
		err  error
	}
	var (
		results Queue[attempt]
		won     Conn
		errs    []error
		trying  []attempt // oldest first
	)
	err := t.Group(func(g *Group) error {
		for next := 0; next < len(addrs) || len(trying) > 0; {
			if next < len(addrs) {
				to := addrs[next]
				next++
				if len(trying) == maxAttempts {
					trying[0].task.Cancel()
					errs = append(errs, fmt.Errorf("%s: not connected in time", trying[0].to))
					trying = trying[1:]
				}
				trying = append(trying, attempt{to: to, task: g.Go("connect "+to.String(), func(t *Task) error {
					c, err := t.loop.network.Connect(t, to)
					switch {
					case errors.Is(err, ErrCanceled):
						return nil
					case err != nil:
						err = fmt.Errorf("%s: %w", to, err)
					}
					results.TryPut(attempt{to, t, c, err})
					return nil
				})})
			}
			var a attempt
			get := func(t *Task) (err error) {
				a, err = results.Get(t)
				return err
			}
			var err error
			if next < len(addrs) {
				err = t.Timeout(FallbackDelay, get)
			} else {
				err = get(t)
			}
			switch {
			case errors.Is(err, ErrTimeout):
				continue
			case err != nil:
				return err
			case a.err == nil:
				won = a.conn
				g.Cancel()
				return nil
			}
			trying = slices.DeleteFunc(trying, func(other attempt) bool { return other.task == a.task })
			errs = append(errs, a.err)
		}
		return nil
	})
	for { // close connections that succeeded beside the winner
		a, ok := results.TryGet()
		if !ok {
			break
		}
		if a.err == nil {
			a.conn.Close()
		}
	}
	switch {
	case won != nil:
		return won, nil
	case err != nil:
		return nil, err
	}
	return nil, &connectError{errs}
}

// connectError is the error of connecting to several addresses, all of which failed.
type connectError struct {
	errs []error // one for each address, which it names
}

func (e *connectError) Error() string {
	texts := make([]string, len(e.errs))
	for i, err := range e.errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (e *connectError) Unwrap() []error { return e.errs }
