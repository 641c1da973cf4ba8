package aio_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

const (
	dialLatency   = 20 * time.Millisecond // one way
	dialRoundTrip = 2 * dialLatency
)

func TestDialTriesTheAddressesAsHappyEyeballsDoes(t *testing.T) {
	const (
		a6, b6, c6 = "2001:db8::a", "2001:db8::b", "2001:db8::c"
		a4, b4     = "192.0.2.1", "192.0.2.2"
	)
	for _, tt := range []struct {
		name    string
		network string
		host    []string // addresses
		black   []string // addresses that do not respond
		listens []string // addresses that listen; the rest refuse
		want    string   // the address dialled
		after   time.Duration
	}{
		{"the first answers", "tcp", []string{a6, a4}, nil, []string{a6, a4}, a6, dialRoundTrip},
		{"IPv6 does not answer", "tcp", []string{a6, a4}, []string{a6}, []string{a4}, a4, aio.FallbackDelay + dialRoundTrip},
		{"IPv6 refuses", "tcp", []string{a6, a4}, nil, []string{a4}, a4, 2 * dialRoundTrip},
		{"families in turn", "tcp", []string{a6, b6, c6, a4, b4}, []string{a6, b6, c6, a4}, []string{b4}, b4,
			3*aio.FallbackDelay + dialRoundTrip}, // a6 a4 b6 b4
		{"IPv4 comes first", "tcp", []string{a4, b4, a6}, []string{a4, b4}, []string{a6}, a6, aio.FallbackDelay + dialRoundTrip},
		{"a refusal does not wait for those before", "tcp", []string{a6, a4, b6}, []string{a6}, []string{b6}, b6,
			aio.FallbackDelay + 2*dialRoundTrip},
		{"IPv4 only", "tcp4", []string{a6, a4}, nil, []string{a6, a4}, a4, dialRoundTrip},
		{"IPv6 only", "tcp6", []string{a4, a6}, nil, []string{a6, a4}, a6, dialRoundTrip},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: dialLatency})
			n.Host("www.example", tt.host...)
			for _, ip := range tt.black {
				n.Blackhole(ip)
			}
			n.Run(t, func(task *aio.Task) error {
				for _, ip := range tt.listens {
					ln, err := aio.Listen(task, "tcp", net.JoinHostPort(ip, "80"))
					if err != nil {
						return err
					}
					defer ln.Close()
				}
				c, err := aio.Dial(task, tt.network, "www.example:80")
				if err != nil {
					return err
				}
				defer c.Close()
				expect(t, "connected to", c.RemoteAddr().(*net.TCPAddr).IP.String(), tt.want)
				// The look-up comes first.
				expect(t, "connected after", now(task), dialRoundTrip+tt.after)
				return nil
			})
		})
	}
}

// Lookup and Connect are the halves of Dial.
func TestLookupThenConnect(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{Latency: dialLatency})
	n.Host("www.example", "2001:db8::a", "2001:db8::b", "192.0.2.1")
	n.Blackhole("2001:db8::a")
	n.Blackhole("2001:db8::b")
	n.Run(t, func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", "192.0.2.1:80")
		if err != nil {
			return err
		}
		defer ln.Close()
		addrs, err := aio.Lookup(task, "www.example")
		if err != nil {
			return err
		}
		expect(t, "addresses", fmt.Sprint(addrs), "[2001:db8::a 2001:db8::b 192.0.2.1]")
		expect(t, "looked up after", now(task), dialRoundTrip)
		var to []netip.AddrPort
		for _, addr := range addrs {
			to = append(to, netip.AddrPortFrom(addr, 80))
		}
		c, err := aio.Connect(task, to)
		if err != nil {
			return err
		}
		c.Close()
		expect(t, "connected to", c.RemoteAddr().String(), "192.0.2.1:80")
		// Families in turn.
		expect(t, "connected after", now(task), 2*dialRoundTrip+aio.FallbackDelay)

		literal, err := aio.Lookup(task, "2001:db8::1")
		expect(t, "a literal", fmt.Sprint(literal, err), "[2001:db8::1] <nil>")
		var dns *net.DNSError
		if _, err := aio.Lookup(task, "nobody.example"); !errors.As(err, &dns) || !dns.IsNotFound {
			t.Errorf("unknown name: %v, want one that is not found", err)
		}
		for _, tt := range []struct {
			to   []netip.AddrPort
			says string
		}{
			{nil, "no address"},
			{[]netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:81")}, "192.0.2.1:81: connect: connection refused"},
			{[]netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:81"), netip.MustParseAddrPort("192.0.2.2:81")},
				"192.0.2.1:81: connect: connection refused; 192.0.2.2:81: connect: connection refused"},
		} {
			if _, err := aio.Connect(task, tt.to); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Connect to %v: %v, want %q", tt.to, err, tt.says)
			}
		}
		return nil
	})
}

func TestDialErrors(t *testing.T) {
	for _, tt := range []struct {
		name             string
		network, address string
		is               error
		says             []string
		after            time.Duration
	}{
		{"one address refuses", "tcp", "192.0.2.1:80", syscall.ECONNREFUSED,
			[]string{"dial tcp 192.0.2.1:80: connect: connection refused"}, dialRoundTrip},
		{"all addresses fail", "tcp", "www.example:80", syscall.ECONNREFUSED,
			[]string{"dial tcp www.example:80: ", "[2001:db8::a]:80: connect: connection refused",
				"192.0.2.1:80: connect: connection refused"}, 3 * dialRoundTrip},
		{"some refuse, the last does not answer", "tcp", "half.example:80", syscall.ETIMEDOUT,
			[]string{"[2001:db8::a]:80: connect: connection refused",
				"[2001:db8::bad]:80: connect: connection timed out"}, 2*dialRoundTrip + 127*time.Second},
		{"the first does not answer, the rest refuse", "tcp", "other.example:80", syscall.ETIMEDOUT,
			[]string{"[2001:db8::bad]:80: connect: connection timed out",
				"[2001:db8::a]:80: connect: connection refused"}, dialRoundTrip + 127*time.Second},
		{"unknown name", "tcp", "elsewhere.example:80", nil,
			[]string{"dial tcp elsewhere.example:80: lookup elsewhere.example", "no such host"}, dialRoundTrip},
		{"no address of the family", "tcp6", "four.example:80", nil,
			[]string{`dial tcp6 four.example:80: "four.example" has no tcp6 address`}, dialRoundTrip},
		{"literal of the other family", "tcp4", "[2001:db8::a]:80", nil, []string{"has no tcp4 address"}, 0},
		{"no port", "tcp", "www.example", nil, []string{"dial tcp www.example: expected HOST:PORT"}, 0},
		{"port too large", "tcp", "192.0.2.1:65536", nil, []string{"invalid port"}, 0},
		{"unknown network", "udp", "192.0.2.1:80", nil, []string{"dial udp 192.0.2.1:80: unknown network"}, 0},
		{"no such socket", "unix", "/run/none", syscall.ENOENT, []string{"dial unix /run/none: connect: no such file"}, dialRoundTrip},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: dialLatency})
			n.Host("www.example", "2001:db8::a", "192.0.2.1")
			n.Host("half.example", "2001:db8::a", "2001:db8::bad")
			n.Host("other.example", "2001:db8::bad", "2001:db8::a")
			n.Host("four.example", "192.0.2.1")
			n.Blackhole("2001:db8::bad")
			n.Run(t, func(task *aio.Task) error {
				c, err := aio.Dial(task, tt.network, tt.address)
				if err == nil {
					return fmt.Errorf("connected to %v, want an error", c.RemoteAddr())
				}
				for _, what := range tt.says {
					if !strings.Contains(err.Error(), what) {
						t.Errorf("got %q, want %q in it", err, what)
					}
				}
				if tt.is != nil {
					expectIs(t, "Dial", err, tt.is)
				}
				if errors.Is(err, aio.ErrCanceled) {
					t.Errorf("%v matches ErrCanceled", err)
				}
				expect(t, "failed after", now(task), tt.after)
				return nil
			})
		})
	}
}

// stubbornNet connects to some addresses after a delay, even if the task was cancelled meanwhile:
// like a connection that is made in the very turn in which another one wins.
type stubbornNet struct {
	*aiotest.Net
	delay map[string]time.Duration
}

func (n stubbornNet) Connect(task *aio.Task, to net.Addr) (c aio.Conn, err error) {
	err = task.Shield(func(task *aio.Task) error {
		if err := task.Sleep(n.delay[to.(*net.TCPAddr).IP.String()]); err != nil {
			return err
		}
		c, err = n.Net.Connect(task, to)
		return err
	})
	return c, err
}

func TestDialClosesTheLosersOfItsRace(t *testing.T) {
	n := stubbornNet{aiotest.NewNet(aiotest.NetOptions{Latency: dialLatency}), map[string]time.Duration{
		"192.0.2.1": time.Second,
		"192.0.2.2": time.Second - aio.FallbackDelay, // connects at the same time
		"192.0.2.3": 2 * time.Second,                 // connects after another has won
	}}
	n.Host("www.example", "192.0.2.1", "192.0.2.2", "192.0.2.3")
	err := runWith(t, aio.Options{Network: n}, func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		defer ln.Close()
		c, err := aio.Dial(task, "tcp", "www.example:80")
		if err != nil {
			return err
		}
		open := []string{"connection to " + c.RemoteAddr().String(), "listener at [::]:80"}
		if got := n.Open(); !slices.Equal(got, open) {
			t.Errorf("open after Dial: %q, want %q", got, open)
		}
		c.Close()
		for range 3 { // all three connected, and all three have ended
			c, err := ln.Accept(task)
			if err != nil {
				return err
			}
			if n, err := c.Read(task, make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("read %d bytes of %v, want the end", n, c.RemoteAddr())
			}
			c.Close()
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Cancelled at any moment, Dial either gives up at once or has connected: nothing is left.
func TestDialCancelledAtAnyMoment(t *testing.T) {
	const (
		step = 5 * time.Millisecond
		done = dialRoundTrip + aio.FallbackDelay + dialRoundTrip // look-up, patience, connection
	)
	cancelAt := func(at time.Duration, turns int) (connected bool) {
		n := aiotest.NewNet(aiotest.NetOptions{Latency: dialLatency})
		n.Host("www.example", "2001:db8::bad", "192.0.2.1")
		n.Blackhole("2001:db8::bad")
		n.Run(t, func(task *aio.Task) error {
			ln, err := aio.Listen(task, "tcp", "192.0.2.1:80")
			if err != nil {
				return err
			}
			defer ln.Close()
			return task.Group(func(g *aio.Group) error {
				dialler := g.Go("dialler", func(task *aio.Task) error {
					c, err := aio.Dial(task, "tcp", "www.example:80")
					if err != nil {
						return err
					}
					connected = true
					return c.Close()
				})
				if err := task.Sleep(at); err != nil {
					return err
				}
				for range turns {
					_ = task.Yield()
				}
				dialler.Cancel()
				if err := dialler.Await(task); !connected && !errors.Is(err, aio.ErrCanceled) {
					t.Errorf("cancelled after %v: got %v, want ErrCanceled", at, err)
				}
				expect(t, "ended", now(task), at)
				expect(t, "tasks left", len(task.Loop().Tasks()), 1)
				return nil
			})
		})
		return connected
	}
	for at := time.Duration(0); at < done+3*step; at += step {
		if connected := cancelAt(at, 0); at != done && connected != (at > done) {
			t.Errorf("cancelled after %v: connected: %v", at, connected)
		}
	}
	for turns := range 8 { // at the very moment: whichever comes first wins
		cancelAt(done, turns)
	}
}

func TestTimeoutAroundDial(t *testing.T) {
	for _, tt := range []struct {
		name    string
		address string
		timeout time.Duration
	}{
		{"one address", "192.0.2.66:80", time.Second},
		{"several", "www.example:80", time.Second},
		{"before the second begins", "www.example:80", 100 * time.Millisecond},
		{"when the second begins", "www.example:80", dialRoundTrip + aio.FallbackDelay},
		{"during the look-up", "www.example:80", dialLatency},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: dialLatency})
			n.Host("www.example", "2001:db8::bad", "192.0.2.66")
			n.Blackhole("2001:db8::bad")
			n.Blackhole("192.0.2.66")
			n.Run(t, func(task *aio.Task) error {
				err := task.Timeout(tt.timeout, func(task *aio.Task) error {
					_, err := aio.Dial(task, "tcp", tt.address)
					return err
				})
				var timeout *aio.TimeoutError
				if !errors.As(err, &timeout) || timeout.After != tt.timeout || now(task) != tt.timeout {
					return fmt.Errorf("after %v: got %v, want a time-out after %v", now(task), err, tt.timeout)
				}
				if errors.Is(err, aio.ErrCanceled) {
					return fmt.Errorf("%v matches ErrCanceled", err)
				}
				if !strings.Contains(err.Error(), "dial tcp "+tt.address) {
					return fmt.Errorf("%v does not say what was dialled", err)
				}
				return nil
			})
		})
	}
}

func TestListenAddresses(t *testing.T) {
	for _, tt := range []struct {
		network, address string
		want             string // the listener's
		fails            string
	}{
		{"tcp", ":80", "[::]:80", ""},
		{"tcp4", ":80", "0.0.0.0:80", ""},
		{"tcp6", ":80", "[::]:80", ""},
		{"tcp", ":http", "[::]:80", ""},
		{"tcp", "192.0.2.1:80", "192.0.2.1:80", ""},
		{"tcp", "www.example:80", "[2001:db8::a]:80", ""},
		{"tcp4", "www.example:80", "192.0.2.1:80", ""},
		{"unix", "/run/weft", "/run/weft", ""},
		{"tcp", "192.0.2.9:80", "", "listen tcp 192.0.2.9:80: bind: address already in use"},
		{"tcp", "80", "", "listen tcp 80: expected HOST:PORT"},
		{"udp", ":80", "", "listen udp :80: unknown network"},
	} {
		t.Run(tt.network+" "+tt.address, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{})
			n.Host("www.example", "2001:db8::a", "192.0.2.1")
			n.Run(t, func(task *aio.Task) error {
				if tt.fails != "" {
					taken, err := aio.Listen(task, "tcp", "192.0.2.9:80")
					if err != nil {
						return err
					}
					defer taken.Close()
				}
				ln, err := aio.Listen(task, tt.network, tt.address)
				if err != nil {
					if tt.fails == "" || !strings.Contains(err.Error(), tt.fails) {
						t.Errorf("got %v, want %q", err, tt.fails)
					}
					return nil
				}
				defer ln.Close()
				if tt.fails != "" || ln.Addr().String() != tt.want {
					t.Errorf("listens at %v, want %s%s", ln.Addr(), tt.want, tt.fails)
				}
				return nil
			})
		})
	}
}

// countingNet counts the connections that are tried at the same time.
type countingNet struct {
	*aiotest.Net
	now, most int
}

func (n *countingNet) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	n.now++
	n.most = max(n.most, n.now)
	defer func() { n.now-- }()
	return n.Net.Connect(task, to)
}

// TestDialBoundsItsAttempts checks that a name with many silent addresses takes few descriptors,
// and that its last address is tried all the same.
func TestDialBoundsItsAttempts(t *testing.T) {
	n := &countingNet{Net: aiotest.NewNet(aiotest.NetOptions{Latency: dialLatency})}
	var addrs []netip.AddrPort
	for i := range 20 {
		addr := netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)})
		addrs = append(addrs, netip.AddrPortFrom(addr, 80))
		n.Blackhole(addr.String())
	}
	addrs = append(addrs, netip.MustParseAddrPort("192.0.2.100:80"))
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n})
	err := loop.Run(t.Context(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", "192.0.2.100:80")
		if err != nil {
			return err
		}
		defer ln.Close()
		c, err := aio.Connect(task, addrs)
		if err != nil {
			return err
		}
		defer c.Close()
		expect(t, "connected after", now(task), 20*aio.FallbackDelay+dialRoundTrip)
		return nil
	})
	expect(t, "Run", err, nil)
	expect(t, "attempts at the same time", n.most, 4)
	expect(t, "attempts left", n.now, 0)
}
