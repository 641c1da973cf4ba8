package aiotest_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func tcp(s string) *net.TCPAddr {
	addr, err := net.ResolveTCPAddr("tcp", s)
	if err != nil {
		panic(err)
	}
	return addr
}

func TestLookup(t *testing.T) {
	for _, tt := range []struct{ host, want string }{
		{"www.example", "[2001:db8::1 192.0.2.1]"},
		{"WWW.Example.", "[2001:db8::1 192.0.2.1]"},
		{"198.51.100.7", "[198.51.100.7]"},
		{"elsewhere.example", ""},
	} {
		t.Run(tt.host, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: tick})
			n.Host("www.example", "2001:db8::1", "192.0.2.1")
			n.Run(t, func(task *aio.Task) error {
				ips, err := n.Lookup(task, tt.host)
				if tt.want == "" {
					var dns *net.DNSError
					if !errors.As(err, &dns) || !dns.IsNotFound || dns.Name != tt.host {
						return expect("error", err, dns)
					}
				} else if err != nil {
					return err
				}
				var got []string
				for _, ip := range ips {
					got = append(got, ip.String())
				}
				if tt.want != "" && "["+strings.Join(got, " ")+"]" != tt.want {
					return expect("addresses", strings.Join(got, " "), tt.want)
				}
				return expect("took", elapsed(task), 2*tick)
			})
		})
	}
}

func TestConnectWithNobodyThere(t *testing.T) {
	for _, tt := range []struct {
		name  string
		to    net.Addr
		want  error
		after time.Duration
	}{
		{"TCP", web, syscall.ECONNREFUSED, 2 * tick},
		{"Unix", &net.UnixAddr{Name: "/run/none", Net: "unix"}, syscall.ENOENT, 2 * tick},
		{"blackhole", tcp("198.51.100.1:80"), syscall.ETIMEDOUT, 127 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: tick})
			n.Blackhole("198.51.100.1")
			n.Run(t, func(task *aio.Task) error {
				_, err := n.Connect(task, tt.to)
				return errors.Join(expect("error", err, tt.want), expect("after", elapsed(task), tt.after))
			})
		})
	}
}

func TestConnectTakesARoundTrip(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{Latency: tick}),
		func(task *aio.Task, c aio.Conn) error { return expect("connected", elapsed(task), 2*tick) },
		func(task *aio.Task, c aio.Conn) error { return expect("accepted", elapsed(task), 3*tick) })
}

func TestAnAbandonedConnectIsNeverAccepted(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{Latency: tick})
	n.Run(t, func(task *aio.Task) error {
		ln, err := n.Listen(task, web)
		if err != nil {
			return err
		}
		defer ln.Close()
		err = task.Timeout(2*tick-1, func(task *aio.Task) error {
			_, err := n.Connect(task, web)
			return err
		})
		if err := expect("connect", err, aio.ErrTimeout); err != nil {
			return err
		}
		err = task.Timeout(time.Hour, func(task *aio.Task) error {
			_, err := ln.Accept(task)
			return err
		})
		return expect("accept", err, aio.ErrTimeout)
	})
}

func TestListen(t *testing.T) {
	unix := func(path string) net.Addr { return &net.UnixAddr{Name: path, Net: "unix"} }
	for _, tt := range []struct {
		name    string
		on      []net.Addr
		taken   bool // the last one fails
		connect net.Addr
		reaches int // index in on; −1: nobody
	}{
		{"one address", []net.Addr{tcp("192.0.2.1:80")}, false, tcp("192.0.2.1:80"), 0},
		{"another address", []net.Addr{tcp("192.0.2.1:80")}, false, tcp("192.0.2.2:80"), -1},
		{"another port", []net.Addr{tcp("192.0.2.1:80")}, false, tcp("192.0.2.1:81"), -1},
		{"two addresses", []net.Addr{tcp("192.0.2.1:80"), tcp("192.0.2.2:80")}, false, tcp("192.0.2.2:80"), 1},
		{"IPv4 for all", []net.Addr{tcp("0.0.0.0:80")}, false, tcp("192.0.2.1:80"), 0},
		{"IPv6 for all", []net.Addr{&net.TCPAddr{Port: 80}}, false, tcp("[2001:db8::1]:80"), 0},
		{"mapped IPv4", []net.Addr{tcp("[::ffff:192.0.2.1]:80")}, false, tcp("192.0.2.1:80"), 0},
		{"Unix", []net.Addr{unix("/run/a"), unix("/run/b")}, false, unix("/run/b"), 1},
		{"same address", []net.Addr{tcp("192.0.2.1:80"), tcp("192.0.2.1:80")}, true, tcp("192.0.2.1:80"), 0},
		{"one after all", []net.Addr{tcp("0.0.0.0:80"), tcp("192.0.2.1:80")}, true, tcp("192.0.2.1:80"), 0},
		{"all after one", []net.Addr{tcp("192.0.2.1:80"), tcp("[::]:80")}, true, tcp("192.0.2.1:80"), 0},
		{"same path", []net.Addr{unix("/run/a"), unix("/run/a")}, true, unix("/run/a"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{})
			n.Run(t, func(task *aio.Task) error {
				reached := -1
				return task.Group(func(g *aio.Group) error {
					for i, addr := range tt.on {
						ln, err := n.Listen(task, addr)
						if tt.taken && i == len(tt.on)-1 {
							if err := expect("listen", err, syscall.EADDRINUSE); err != nil {
								return err
							}
							continue
						}
						if err != nil {
							return err
						}
						defer ln.Close()
						g.Go(addr.String(), func(task *aio.Task) error {
							c, err := ln.Accept(task)
							if err != nil {
								return err
							}
							reached = i
							return c.Close()
						})
					}
					c, err := n.Connect(task, tt.connect)
					if tt.reaches < 0 {
						err = expect("connect", err, syscall.ECONNREFUSED)
					} else if err == nil {
						defer c.Close()
						err = c.WaitReadable(task) // the end
					}
					g.Cancel()
					return errors.Join(err, expect("reached", reached, tt.reaches))
				})
			})
		})
	}
}

func TestListenOnAFreePort(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{})
	n.Run(t, func(task *aio.Task) error {
		var ports []int
		for range 3 {
			ln, err := n.Listen(task, &net.TCPAddr{IP: web.IP})
			if err != nil {
				return err
			}
			defer ln.Close()
			ports = append(ports, ln.Addr().(*net.TCPAddr).Port)
		}
		slices.Sort(ports)
		return errors.Join(expect("different", len(slices.Compact(ports)), 3), expect("none is 0", ports[0] > 0, true))
	})
}

func TestAListenerThatIsClosed(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{})
	n.Run(t, func(task *aio.Task) error {
		ln, err := n.Listen(task, web)
		if err != nil {
			return err
		}
		err = task.Group(func(g *aio.Group) error {
			g.Go("accepts", func(task *aio.Task) error {
				for range 2 { // the wait, and the next call
					_, err := ln.Accept(task)
					if err := expect("accept", err, aio.ErrClosed); err != nil {
						return err
					}
				}
				return nil
			})
			if err := task.Yield(); err != nil {
				return err
			}
			_, err := ln.Accept(task)
			return errors.Join(expect("second task", err, aio.ErrBusy), ln.Close(), ln.Close())
		})
		if err != nil {
			return err
		}
		again, err := n.Listen(task, web) // its address is free
		if err != nil {
			return err
		}
		return again.Close()
	})
}

func TestANetBelongsToOneLoop(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{})
	n.Host("www.example", "192.0.2.1")
	use := func(task *aio.Task) error {
		_, err := n.Lookup(task, "www.example")
		return err
	}
	n.Run(t, use)
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock()})
	err := loop.Run(context.Background(), use)
	var p *aio.PanicError
	if !errors.As(err, &p) || !strings.Contains(p.Error(), "belongs to the loop that used it first") {
		t.Errorf("used on a second loop: got %v, want a panic that says why", err)
	}
}

func TestOpenNamesWhatWasNotClosed(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{})
	fake := try(t, func(t testing.TB) {
		n.Run(t, func(task *aio.Task) error {
			ln, err := n.Listen(task, web)
			if err != nil {
				return err
			}
			c, err := n.Connect(task, web)
			if err != nil {
				return err
			}
			if _, err := ln.Accept(task); err != nil {
				return err
			}
			return c.Close()
		})
	})
	want := []string{"connection from 10.0.0.1:49152", "listener at 192.0.2.1:80"}
	if got := n.Open(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, what := range want {
		if !strings.Contains(fake.log.String(), what) {
			t.Errorf("Run does not fail the test for %q", what)
		}
	}
}

func TestNetOptionsThatMakeNoSense(t *testing.T) {
	for _, opt := range []aiotest.NetOptions{{Loss: 1}, {Loss: -0.1}, {Reset: 1.5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", opt)
				}
			}()
			aiotest.NewNet(opt)
		}()
	}
}
