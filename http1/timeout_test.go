package http1_test

import (
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/http1"
)

// drip sends n bytes of a response, one after each pause, as long as the client takes them.
func drip(p *peer, n int, pause time.Duration) {
	p.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
	for range n {
		p.until(now(p.task) + pause)
		if !p.send("x") {
			break
		}
	}
	p.ended()
}

func TestEachTimeHasItsLimit(t *testing.T) {
	const connected = 4 * latency // a look-up, a connection
	const whole = " (timeout of the whole fetch)"
	for _, c := range []struct {
		name   string
		opt    http1.Options
		server func(s *site)
		host   string
		kind   http1.Kind
		after  time.Duration
		says   string
	}{
		{"connecting", http1.Options{}, func(*site) {}, "hole.example", http1.KindDialTimeout, 10 * time.Second,
			"no connection to 192.0.2.2:80 within 10s (dial timeout)"},
		{"connecting, set", http1.Options{DialTimeout: 1500 * time.Millisecond}, func(*site) {}, "hole.example", http1.KindDialTimeout, 1500 * time.Millisecond,
			"no connection to 192.0.2.2:80 within 1.5s (dial timeout)"},
		{"connecting, none", http1.Options{DialTimeout: -1}, func(*site) {}, "hole.example", http1.KindTimeout, 30 * time.Second,
			"no connection to 192.0.2.2:80 within 30s" + whole},
		{"connecting, several addresses", http1.Options{}, func(*site) {}, "holes.example", http1.KindDialTimeout, 10 * time.Second,
			"no connection to 192.0.2.2:80 and 1 more within 10s (dial timeout)"},
		{"resolving", http1.Options{DialTimeout: latency}, func(*site) {}, "www.example", http1.KindDialTimeout, latency,
			`no address of "www.example" within 10ms (dial timeout)`},
		{"the whole is less", http1.Options{Timeout: time.Second}, func(*site) {}, "hole.example", http1.KindTimeout, time.Second,
			"no connection to 192.0.2.2:80 within 1s" + whole},
		{"the first byte", http1.Options{FirstByteTimeout: 3 * time.Second}, func(s *site) { s.ignore("/") },
			"www.example", http1.KindFirstByteTimeout, connected + 3*time.Second, "no response within 3s (first-byte timeout)"},
		{"the first byte, none", http1.Options{}, func(s *site) { s.ignore("/") }, "www.example", http1.KindTimeout, 30 * time.Second,
			"no response within 30s" + whole},
		{"the first byte came", http1.Options{FirstByteTimeout: 3 * time.Second, IdleTimeout: 5 * time.Second},
			func(s *site) { s.serve("/", "HTTP/1.1 2").ended() }, "www.example", http1.KindIdleTimeout, connected + 2*latency + 5*time.Second,
			"nothing more of the response within 5s (idle timeout)"},
		{"idle", http1.Options{}, func(s *site) { drip(s.accept(), 1, time.Second) },
			"www.example", http1.KindIdleTimeout, connected + 2*latency + time.Second + 15*time.Second,
			"nothing more of the response within 15s (idle timeout)"},
		{"idle, none", http1.Options{IdleTimeout: -1}, func(s *site) { drip(s.accept(), 1, time.Second) },
			"www.example", http1.KindTimeout, 30 * time.Second, "response incomplete within 30s" + whole},
		{"slow but not idle", http1.Options{}, func(s *site) { drip(s.accept(), 100, time.Second) },
			"www.example", http1.KindTimeout, 30 * time.Second, "response incomplete within 30s" + whole},
		{"too slow", http1.Options{MinRate: 100}, func(s *site) { drip(s.accept(), 100, time.Second) },
			"www.example", http1.KindTooSlow, connected + 2*latency + 10*time.Second,
			"response slower than 100 bytes a second, only 53 within 10s (minimum rate)"},
		// 10,000 bytes satisfy 500 bytes a second for 20 s, and no longer.
		{"too slow later", http1.Options{MinRate: 500, IdleTimeout: -1}, func(s *site) {
			head := "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
			s.serve("/", head+strings.Repeat("x", 10_000-len(head))).ended()
		}, "www.example", http1.KindTooSlow, connected + 2*latency + 20*time.Second,
			"response slower than 500 bytes a second, only 10000 within 20s (minimum rate)"},
		{"fast enough", http1.Options{MinRate: 500, IdleTimeout: -1}, func(s *site) {
			p := s.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
			for p.send(strings.Repeat("x", 600)) {
				s.until(now(s.task) + time.Second)
			}
		}, "www.example", http1.KindTimeout, 30 * time.Second, "response incomplete within 30s" + whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, c.opt, c.server, func(b *browser) {
				_, err := b.client.Do(b.task, http1.Request{Scheme: "http", Host: c.host, Target: "/"})
				expectKind(t, err, c.kind)
				if got := now(b.task); got != c.after {
					t.Errorf("%v after %v, want %v", err, got, c.after)
				}
				if want := string(c.kind) + ": " + c.says; err.Error() != want {
					t.Errorf("says %q, want %q", err, want)
				}
				if e := err.(*http1.Error); !e.Temporary() || !errors.Is(err, aio.ErrTimeout) || e.Timing.Total != c.after {
					t.Errorf("%v: temporary %v, %+v", err, e.Temporary(), e.Timing)
				}
			})
		})
	}
}

// A request that the server does not read times out.
func TestTimeoutOfTheRequest(t *testing.T) {
	// More than the network holds.
	long := http1.Header{{Name: "X-Long", Value: strings.Repeat("x", 1<<20)}}
	play(t, http1.Options{Timeout: 5 * time.Second}, func(s *site) {
		s.accept()
		s.until(time.Minute)
	}, func(b *browser) {
		_, err := b.do(http1.Request{Target: "/", Header: long})
		expectKind(t, err, http1.KindTimeout)
		if want := "timeout: request not sent within 5s (timeout of the whole fetch)"; err.Error() != want || now(b.task) != 5*time.Second {
			t.Errorf("after %v: %q, want %q", now(b.task), err, want)
		}
	})
}

// fullNet has no descriptors left.
type fullNet struct{ *aiotest.Net }

func (fullNet) Connect(*aio.Task, net.Addr) (aio.Conn, error) { return nil, syscall.EMFILE }

// TestEveryKind provokes every kind of error.
func TestEveryKind(t *testing.T) {
	over := func(server func(s *site), opt http1.Options, req http1.Request) func(t *testing.T) error {
		return func(t *testing.T) (err error) {
			play(t, opt, server, func(b *browser) { _, err = b.client.Do(b.task, req) })
			return err
		}
	}
	www := http1.Request{Scheme: "http", Host: "www.example", Target: "/"}
	at := func(host string) http1.Request { return http1.Request{Scheme: "http", Host: host, Target: "/"} }
	nobody := func(*site) {}
	sends := func(response string) func(s *site) { return func(s *site) { s.serve("/", response) } }
	silent := func(s *site) { s.ignore("/") }
	stalls := func(s *site) { s.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").ended() }
	zipped := func(body string) string { return response("Content-Encoding: gzip\r\n", body) }
	kinds := map[http1.Kind]func(t *testing.T) error{
		http1.KindScheme: over(nobody, http1.Options{}, http1.Request{Scheme: "gopher", Host: "www.example", Target: "/"}),
		http1.KindDNS:    over(nobody, http1.Options{}, at("nobody.example")),
		http1.KindBlocked: over(nobody, http1.Options{}, http1.Request{Scheme: "http", Host: "www.example", Target: "/",
			Allow: func(netip.AddrPort) error { return errors.New("no") }}),
		http1.KindConnect:          over(nobody, http1.Options{}, at("www.example:81")),
		http1.KindProxy:            over(nobody, through(t, "http://www.example:81"), www),
		http1.KindDialTimeout:      over(nobody, http1.Options{}, at("hole.example")),
		http1.KindFirstByteTimeout: over(silent, http1.Options{FirstByteTimeout: time.Second}, www),
		http1.KindIdleTimeout:      over(stalls, http1.Options{}, www),
		http1.KindTooSlow:          over(stalls, http1.Options{MinRate: 1000}, www),
		http1.KindTimeout:          over(silent, http1.Options{}, www),
		http1.KindEarlyEnd:         over(func(s *site) { s.accept().close() }, http1.Options{}, www),
		http1.KindProtocol:         over(sends("220 mail.example ESMTP\r\n"), http1.Options{}, www),
		http1.KindTooLarge:         over(sends(ok("hello")), http1.Options{MaxBody: 4}, www),
		http1.KindEncoding:         over(sends(zipped("hello")), http1.Options{}, www),
		http1.KindBomb:             over(sends(zipped(zip(t, strings.Repeat("x", 1000)))), http1.Options{MaxBody: 999}, www),
		http1.KindReset: over(func(s *site) {
			s.until(25 * time.Millisecond) // the client is not connected yet
			s.ln.Close()
		}, http1.Options{}, at("192.0.2.1")),
		http1.KindTLS: func(t *testing.T) (err error) {
			playTLS(t, nil, func(v *tlsSite) { _, _ = v.handshake() }, func(b *browser) { _, err = b.getTLS("other.example", "/") })
			return err
		},
		http1.KindTLSTimeout: func(t *testing.T) (err error) {
			playTLS(t, func(opt *http1.Options, _ *tls.Config) { opt.TLSTimeout = time.Second },
				func(v *tlsSite) { v.accept(); v.until(time.Minute) },
				func(b *browser) { _, err = b.getTLS("www.example", "/") })
			return err
		},
		http1.KindCanceled: func(t *testing.T) (err error) {
			play(t, http1.Options{}, nobody, func(b *browser) {
				_ = b.task.Timeout(time.Second, func(task *aio.Task) error {
					_, err = b.client.Do(task, at("hole.example"))
					return err
				})
			})
			return err
		},
		http1.KindResource: func(t *testing.T) (err error) {
			aiotest.CheckLeaks(t)
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: fullNet{aiotest.NewNet(aiotest.NetOptions{})}})
			_ = loop.Run(t.Context(), func(task *aio.Task) error {
				c := http1.NewClient(task.Loop(), http1.Options{})
				defer c.Close()
				_, err = c.Do(task, at("192.0.2.1"))
				return nil
			})
			return err
		},
	}
	for _, kind := range http1.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			happens, ok := kinds[kind]
			if !ok {
				t.Fatal("the test does not know how it happens")
			}
			expectKind(t, happens(t), kind)
		})
	}
	if list := http1.Kinds(); len(kinds) != len(list) || len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list) {
		t.Errorf("the list %q is not the %d kinds there are", list, len(kinds))
	}
}

// failingNet connects to no address, each for a reason of its own.
type failingNet struct {
	*aiotest.Net
	why map[string]error // by address
}

func (n failingNet) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	return nil, os.NewSyscallError("connect", n.why[to.(*net.TCPAddr).IP.String()])
}

// TestNoAddressHere checks that a missing local address means a lack of ports, which is temporary,
// or of IPv6, which is not.
func TestNoAddressHere(t *testing.T) {
	const a4, b4, a6, b6 = "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"
	for _, c := range []struct {
		name string
		why  map[string]error
		kind http1.Kind
		text string // part of it
	}{
		{"IPv4", map[string]error{a4: syscall.EADDRNOTAVAIL}, http1.KindResource, "192.0.2.1:80: connect: cannot assign requested address"},
		{"IPv6", map[string]error{a6: syscall.EADDRNOTAVAIL}, http1.KindConnect, "[2001:db8::1]:80: connect: cannot assign"},
		{"IPv6 twice", map[string]error{a6: syscall.EADDRNOTAVAIL, b6: syscall.EADDRNOTAVAIL}, http1.KindConnect, "address; ["},
		{"both", map[string]error{a6: syscall.EADDRNOTAVAIL, a4: syscall.EADDRNOTAVAIL}, http1.KindResource, "address; "},
		{"IPv6, and IPv4 refuses", map[string]error{a6: syscall.EADDRNOTAVAIL, a4: syscall.ECONNREFUSED}, http1.KindConnect, "192.0.2.1:80: connect: connection refused"},
		{"IPv4, and another refuses", map[string]error{a4: syscall.EADDRNOTAVAIL, b4: syscall.ECONNREFUSED}, http1.KindConnect, "; "},
		{"no descriptor", map[string]error{a6: syscall.EADDRNOTAVAIL, a4: syscall.EMFILE}, http1.KindResource, "too many open files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{})
			n.Host("www.example", slices.Sorted(maps.Keys(c.why))...)
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: failingNet{n, c.why}})
			err := loop.Run(t.Context(), func(task *aio.Task) error {
				client := http1.NewClient(task.Loop(), http1.Options{})
				defer client.Close()
				_, err := client.Do(task, http1.Request{Scheme: "http", Host: "www.example", Target: "/"})
				return err
			})
			expectKind(t, err, c.kind)
			if err != nil && (!strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%q, want one line with %q", err, c.text)
			}
		})
	}
}
