package aiotest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// NetOptions configure the quality of a Net. The zero value is a perfect network: no latency, no
// losses.
type NetOptions struct {
	// Seed determines all random events: the same program with the same seed sees the same
	// network.
	Seed uint64

	// Latency is the one-way transit time of a segment; Jitter adds up to that much, drawn anew
	// for each. Bytes still arrive in order.
	Latency, Jitter time.Duration

	// Loss is the probability, from 0 to below 1, that a segment is lost. As in TCP it then
	// arrives later: it is sent again after a time-out that doubles.
	Loss float64

	// Reset is the probability that a segment of a stream, or its end, breaks the connection: both
	// ends get ECONNRESET.
	Reset float64

	// Buffer is the number of bytes that one direction holds, in transit or not yet read. A writer
	// of more waits. 0: DefaultBuffer.
	Buffer int
}

// DefaultBuffer is the Buffer of zero NetOptions.
const DefaultBuffer = 64 << 10

const (
	segmentSize = 1460 // bytes of a stream that travel together
	// Before a segment is sent again: Linux's, plus a round trip.
	minTimeout = 200 * time.Millisecond
	maxTimeout = 120 * time.Second // Linux's
	synTimeout = time.Second       // RFC 6298, section 2
	// Linux's tcp_syn_retries plus the first attempt: gives up after 127 s.
	synTries  = 7
	firstPort = 49152 // RFC 6335: dynamic ports
)

// The addresses that connections come from.
var (
	client4 = netip.MustParseAddr("10.0.0.1")
	client6 = netip.MustParseAddr("fd00::1")
)

// Net is an in-memory network: a host that has every address, and names for some of them. It
// belongs to the loop that uses it first; time is that loop's, and nothing arrives in the turn in
// which it was sent.
type Net struct {
	opt       NetOptions
	rand      *rand.Rand
	loop      *aio.Loop
	hosts     map[string][]net.IP
	black     map[netip.Addr]bool
	listeners map[endpoint]*listener
	answers   map[netip.AddrPort]Answer
	port      uint16         // the most recently assigned dynamic port
	open      map[any]string // descriptors that users have not closed
}

var _ aio.Network = (*Net)(nil)

// endpoint is an address to listen on. The zero ip means every address.
type endpoint struct {
	ip   netip.Addr
	port uint16
	path string // of a Unix socket
}

// NewNet returns a network without names and listeners.
func NewNet(opt NetOptions) *Net {
	for _, p := range []float64{opt.Loss, opt.Reset} {
		if !(p >= 0 && p < 1) {
			panic(fmt.Sprintf("aiotest: probability %v, expected 0 to below 1", p))
		}
	}
	if opt.Buffer == 0 {
		opt.Buffer = DefaultBuffer
	}
	return &Net{
		opt:       opt,
		rand:      rand.New(rand.NewPCG(opt.Seed, 0)),
		hosts:     make(map[string][]net.IP),
		black:     make(map[netip.Addr]bool),
		listeners: make(map[endpoint]*listener),
		answers:   make(map[netip.AddrPort]Answer),
		port:      firstPort - 1,
		open:      make(map[any]string),
	}
}

// Host assigns addresses to name, most preferred first, replacing earlier ones.
func (n *Net) Host(name string, ips ...string) {
	addrs := make([]net.IP, len(ips))
	for i, ip := range ips {
		addrs[i] = netip.MustParseAddr(ip).AsSlice()
	}
	n.hosts[canonical(name)] = addrs
}

// Blackhole makes ip swallow connection attempts: Connect gives up with ETIMEDOUT after 127 s, as
// on Linux.
func (n *Net) Blackhole(ip string) { n.black[netip.MustParseAddr(ip).Unmap()] = true }

// Open returns, sorted, what was connected, accepted or listened on and not closed.
func (n *Net) Open() []string {
	var open []string
	for _, what := range n.open {
		open = append(open, what)
	}
	slices.Sort(open)
	return open
}

// Lookup returns the addresses that Host assigned, after a round trip. Other names fail with a
// *net.DNSError.
func (n *Net) Lookup(task *aio.Task, host string) ([]net.IP, error) {
	n.bind(task)
	if err := task.Checkpoint(); err != nil {
		return nil, err
	}
	if err := task.Sleep(n.latency() + n.latency()); err != nil {
		return nil, err
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return []net.IP{ip.AsSlice()}, nil
	}
	ips := n.hosts[canonical(host)]
	if len(ips) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "aiotest", IsNotFound: true}
	}
	return slices.Clone(ips), nil
}

// syn returns how long after the first attempt the successful one is made, or how long the client
// tries if none succeeds.
func (n *Net) syn(to endpoint) (delay time.Duration, arrives bool) {
	timeout := synTimeout
	for range synTries {
		if !n.black[to.ip] && !n.happens(n.opt.Loss) {
			return delay, true
		}
		delay += timeout
		timeout *= 2
	}
	return delay, false
}

// Listen opens a listener on a *net.TCPAddr or *net.UnixAddr. Port 0 is a free port; an
// unspecified IP is every IP, of both families. Error: EADDRINUSE.
func (n *Net) Listen(task *aio.Task, on net.Addr) (aio.Listener, error) {
	n.bind(task)
	at, err := endpointOf(on)
	if err != nil {
		return nil, err
	}
	if tcp, ok := on.(*net.TCPAddr); ok {
		if at.port == 0 {
			for at.port = n.nextPort(); n.taken(at); {
				at.port = n.nextPort()
			}
		}
		ip := tcp.IP
		if len(ip) == 0 {
			ip = net.IPv6unspecified
		}
		on = &net.TCPAddr{IP: ip, Port: int(at.port), Zone: tcp.Zone}
	}
	if n.taken(at) {
		return nil, os.NewSyscallError("bind", syscall.EADDRINUSE)
	}
	ln := &listener{net: n, at: at, addr: on}
	n.listeners[at] = ln
	n.open[ln] = fmt.Sprintf("listener at %v", on)
	return ln, nil
}

// taken reports whether a listener at p would get connections meant for another.
func (n *Net) taken(p endpoint) bool {
	for q := range n.listeners {
		if q.path == p.path && q.port == p.port && (q.ip == p.ip || !q.ip.IsValid() || !p.ip.IsValid()) {
			return true
		}
	}
	return false
}

// listener returns the listener that accepts connections to p, or nil.
func (n *Net) listener(p endpoint) *listener {
	if ln := n.listeners[p]; ln != nil {
		return ln
	}
	return n.listeners[endpoint{port: p.port, path: p.path}]
}

func (n *Net) bind(task *aio.Task) {
	switch n.loop {
	case task.Loop():
	case nil:
		n.loop = task.Loop()
	default:
		panic("aiotest: a Net belongs to the loop that used it first: make one for each loop")
	}
}

func (n *Net) nextPort() uint16 {
	if n.port++; n.port < firstPort { // the last one was 65535
		n.port = firstPort
	}
	return n.port
}

// Random events are drawn in the order in which segments are sent.

func (n *Net) happens(probability float64) bool {
	return probability > 0 && n.rand.Float64() < probability
}

func (n *Net) latency() time.Duration {
	if n.opt.Jitter <= 0 {
		return n.opt.Latency
	}
	return n.opt.Latency + time.Duration(n.rand.Int64N(int64(n.opt.Jitter)+1))
}

// losses returns how much later a segment arrives because copies of it are lost.
func (n *Net) losses() (delay time.Duration) {
	timeout := minTimeout + 2*(n.opt.Latency+n.opt.Jitter)
	for n.happens(n.opt.Loss) {
		delay += timeout
		timeout = min(2*timeout, maxTimeout)
	}
	return delay
}

// endpointOf returns the endpoint that an address denotes.
func endpointOf(addr net.Addr) (endpoint, error) {
	switch a := addr.(type) {
	case *net.TCPAddr:
		ip, _ := netip.AddrFromSlice(a.IP)
		if ip = ip.Unmap(); ip.IsUnspecified() {
			ip = netip.Addr{}
		}
		return endpoint{ip: ip, port: uint16(a.Port)}, nil
	case *net.UnixAddr:
		return endpoint{path: a.Name}, nil
	}
	return endpoint{}, fmt.Errorf("aiotest: network %q is not supported, expected tcp, unix or, to connect to, udp", addr.Network())
}

// canonical returns the form under which a name is stored.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
