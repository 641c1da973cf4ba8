package httpclient_test

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
	"github.com/weftcrawl/weft/httpclient"
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
		opt    httpclient.Options
		server func(s *site)
		host   string
		kind   httpclient.Kind
		after  time.Duration
		says   string
		wire   bool // it is about the bytes of HTTP/1.1
	}{
		{"connecting", httpclient.Options{}, func(*site) {}, "hole.example", httpclient.KindDialTimeout, 10 * time.Second,
			"no connection to 192.0.2.2:80 within 10s (dial timeout)", false},
		{"connecting, set", httpclient.Options{DialTimeout: 1500 * time.Millisecond}, func(*site) {}, "hole.example", httpclient.KindDialTimeout, 1500 * time.Millisecond,
			"no connection to 192.0.2.2:80 within 1.5s (dial timeout)", false},
		{"connecting, none", httpclient.Options{DialTimeout: -1}, func(*site) {}, "hole.example", httpclient.KindTimeout, 30 * time.Second,
			"no connection to 192.0.2.2:80 within 30s" + whole, false},
		{"connecting, several addresses", httpclient.Options{}, func(*site) {}, "holes.example", httpclient.KindDialTimeout, 10 * time.Second,
			"no connection to 192.0.2.2:80 and 1 more within 10s (dial timeout)", false},
		{"resolving", httpclient.Options{DialTimeout: latency}, func(*site) {}, "www.example", httpclient.KindDialTimeout, latency,
			`no address of "www.example" within 10ms (dial timeout)`, false},
		{"the whole is less", httpclient.Options{Timeout: time.Second}, func(*site) {}, "hole.example", httpclient.KindTimeout, time.Second,
			"no connection to 192.0.2.2:80 within 1s" + whole, false},
		{"the first byte", httpclient.Options{FirstByteTimeout: 3 * time.Second}, func(s *site) { s.ignore("/") },
			"www.example", httpclient.KindFirstByteTimeout, connected + 3*time.Second, "no response within 3s (first-byte timeout)", false},
		{"the first byte, none", httpclient.Options{}, func(s *site) { s.ignore("/") }, "www.example", httpclient.KindTimeout, 30 * time.Second,
			"no response within 30s" + whole, false},
		{"the first byte came", httpclient.Options{FirstByteTimeout: 3 * time.Second, IdleTimeout: 5 * time.Second},
			func(s *site) { s.serve("/", "HTTP/1.1 2").ended() }, "www.example", httpclient.KindIdleTimeout, connected + 2*latency + 5*time.Second,
			"nothing more of the response within 5s (idle timeout)", true},
		{"idle", httpclient.Options{}, func(s *site) { drip(s.accept(), 1, time.Second) },
			"www.example", httpclient.KindIdleTimeout, connected + 2*latency + time.Second + 15*time.Second,
			"nothing more of the response within 15s (idle timeout)", false},
		{"idle, none", httpclient.Options{IdleTimeout: -1}, func(s *site) { drip(s.accept(), 1, time.Second) },
			"www.example", httpclient.KindTimeout, 30 * time.Second, "response incomplete within 30s" + whole, false},
		{"slow but not idle", httpclient.Options{}, func(s *site) { drip(s.accept(), 100, time.Second) },
			"www.example", httpclient.KindTimeout, 30 * time.Second, "response incomplete within 30s" + whole, false},
		{"too slow", httpclient.Options{MinRate: 100}, func(s *site) { drip(s.accept(), 100, time.Second) },
			"www.example", httpclient.KindTooSlow, connected + 2*latency + 10*time.Second,
			"response slower than 100 bytes a second, only 53 within 10s (minimum rate)", true},
		// 10,000 bytes satisfy 500 bytes a second for 20 s, and no longer.
		{"too slow later", httpclient.Options{MinRate: 500, IdleTimeout: -1}, func(s *site) {
			head := "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
			s.serve("/", head+strings.Repeat("x", 10_000-len(head))).ended()
		}, "www.example", httpclient.KindTooSlow, connected + 2*latency + 20*time.Second,
			"response slower than 500 bytes a second, only 10000 within 20s (minimum rate)", true},
		{"fast enough", httpclient.Options{MinRate: 500, IdleTimeout: -1}, func(s *site) {
			p := s.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
			for p.send(strings.Repeat("x", 600)) {
				s.until(now(s.task) + time.Second)
			}
		}, "www.example", httpclient.KindTimeout, 30 * time.Second, "response incomplete within 30s" + whole, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			over := playBoth
			if c.wire {
				over = play
			}
			over(t, c.opt, c.server, func(b *browser) {
				_, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: c.host, Target: "/"})
				expectKind(t, err, c.kind)
				if got := now(b.task); got != c.after {
					t.Errorf("%v after %v, want %v", err, got, c.after)
				}
				if want := string(c.kind) + ": " + c.says; err.Error() != want {
					t.Errorf("says %q, want %q", err, want)
				}
				if e := err.(*httpclient.Error); !e.Temporary() || !errors.Is(err, aio.ErrTimeout) || e.Timing.Total != c.after {
					t.Errorf("%v: temporary %v, %+v", err, e.Temporary(), e.Timing)
				}
			})
		})
	}
}

// TestFirstByteTimeoutOfRequest: a request has less time for the first byte than others, not more.
func TestFirstByteTimeoutOfRequest(t *testing.T) {
	for own, after := range map[time.Duration]time.Duration{2 * time.Second: 2 * time.Second, 9 * time.Second: 3 * time.Second} {
		playBoth(t, httpclient.Options{FirstByteTimeout: 3 * time.Second}, func(s *site) { s.ignore("/") }, func(b *browser) {
			_, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/", FirstByteTimeout: own})
			expectKind(t, err, httpclient.KindFirstByteTimeout)
			if got := now(b.task).Truncate(time.Second); got != after {
				t.Errorf("%v after %v, want %v", err, got, after)
			}
		})
	}
}

// A request that the server does not read times out.
func TestTimeoutOfTheRequest(t *testing.T) {
	// More than the network holds.
	long := httpclient.Header{{Name: "X-Long", Value: strings.Repeat("x", 1<<20)}}
	play(t, httpclient.Options{Timeout: 5 * time.Second}, func(s *site) {
		s.accept()
		s.until(time.Minute)
	}, func(b *browser) {
		_, err := b.do(httpclient.Request{Target: "/", Header: long})
		expectKind(t, err, httpclient.KindTimeout)
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
	by := func(play func(*testing.T, httpclient.Options, func(*site), func(*browser)), server func(s *site), opt httpclient.Options, req httpclient.Request) func(t *testing.T) error {
		return func(t *testing.T) (err error) {
			play(t, opt, server, func(b *browser) { _, err = b.client.Do(b.task, req) })
			return err
		}
	}
	over := func(server func(s *site), opt httpclient.Options, req httpclient.Request) func(t *testing.T) error {
		return by(playBoth, server, opt, req)
	}
	www := httpclient.Request{Scheme: "http", Host: "www.example", Target: "/"}
	at := func(host string) httpclient.Request {
		return httpclient.Request{Scheme: "http", Host: host, Target: "/"}
	}
	nobody := func(*site) {}
	sends := func(response string) func(s *site) { return func(s *site) { s.serve("/", response) } }
	silent := func(s *site) { s.ignore("/") }
	stalls := func(s *site) { s.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").ended() }
	zipped := func(body string) string { return response("Content-Encoding: gzip\r\n", body) }
	kinds := map[httpclient.Kind]func(t *testing.T) error{
		httpclient.KindScheme: over(nobody, httpclient.Options{}, httpclient.Request{Scheme: "gopher", Host: "www.example", Target: "/"}),
		httpclient.KindDNS:    over(nobody, httpclient.Options{}, at("nobody.example")),
		httpclient.KindBlocked: over(nobody, httpclient.Options{}, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/",
			Allow: func(netip.AddrPort) error { return errors.New("no") }}),
		httpclient.KindConnect:          over(nobody, httpclient.Options{}, at("www.example:81")),
		httpclient.KindProxy:            over(nobody, through(t, "http://www.example:81"), www),
		httpclient.KindDialTimeout:      over(nobody, httpclient.Options{}, at("hole.example")),
		httpclient.KindFirstByteTimeout: over(silent, httpclient.Options{FirstByteTimeout: time.Second}, www),
		httpclient.KindIdleTimeout:      over(stalls, httpclient.Options{}, www),
		httpclient.KindTooSlow:          over(stalls, httpclient.Options{MinRate: 1000}, www),
		httpclient.KindTimeout:          over(silent, httpclient.Options{}, www),
		httpclient.KindEarlyEnd:         over(func(s *site) { s.accept().close() }, httpclient.Options{}, www),
		httpclient.KindProtocol:         by(play, sends("220 mail.example ESMTP\r\n"), httpclient.Options{}, www),
		httpclient.KindTooLarge:         over(sends(ok("hello")), httpclient.Options{MaxBody: 4}, www),
		httpclient.KindEncoding:         over(sends(zipped("hello")), httpclient.Options{}, www),
		httpclient.KindBomb:             over(sends(zipped(zip(t, strings.Repeat("x", 1000)))), httpclient.Options{MaxBody: 999}, www),
		httpclient.KindReset: over(func(s *site) {
			s.until(25 * time.Millisecond) // the client is not connected yet
			s.ln.Close()
		}, httpclient.Options{}, at("192.0.2.1")),
		httpclient.KindTLS: func(t *testing.T) (err error) {
			playTLS(t, nil, func(v *tlsSite) { _, _ = v.handshake() }, func(b *browser) { _, err = b.getTLS("other.example", "/") })
			return err
		},
		httpclient.KindTLSTimeout: func(t *testing.T) (err error) {
			playTLS(t, func(opt *httpclient.Options, _ *tls.Config) { opt.TLSTimeout = time.Second },
				func(v *tlsSite) { v.accept(); v.until(time.Minute) },
				func(b *browser) { _, err = b.getTLS("www.example", "/") })
			return err
		},
		httpclient.KindCanceled: func(t *testing.T) (err error) {
			playBoth(t, httpclient.Options{}, nobody, func(b *browser) {
				_ = b.task.Timeout(time.Second, func(task *aio.Task) error {
					_, err = b.client.Do(task, at("hole.example"))
					return err
				})
			})
			return err
		},
		httpclient.KindResource: func(t *testing.T) (err error) {
			aiotest.CheckLeaks(t)
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: fullNet{aiotest.NewNet(aiotest.NetOptions{})}})
			_ = loop.Run(t.Context(), func(task *aio.Task) error {
				c := httpclient.NewClient(task.Loop(), httpclient.Options{})
				defer c.Close()
				_, err = c.Do(task, at("192.0.2.1"))
				return nil
			})
			return err
		},
	}
	for _, kind := range httpclient.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			happens, ok := kinds[kind]
			if !ok {
				t.Fatal("the test does not know how it happens")
			}
			expectKind(t, happens(t), kind)
		})
	}
	if list := httpclient.Kinds(); len(kinds) != len(list) || len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list) {
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
		kind httpclient.Kind
		text string // part of it
	}{
		{"IPv4", map[string]error{a4: syscall.EADDRNOTAVAIL}, httpclient.KindResource, "192.0.2.1:80: connect: cannot assign requested address"},
		{"IPv6", map[string]error{a6: syscall.EADDRNOTAVAIL}, httpclient.KindConnect, "[2001:db8::1]:80: connect: cannot assign"},
		{"IPv6 twice", map[string]error{a6: syscall.EADDRNOTAVAIL, b6: syscall.EADDRNOTAVAIL}, httpclient.KindConnect, "address; ["},
		{"both", map[string]error{a6: syscall.EADDRNOTAVAIL, a4: syscall.EADDRNOTAVAIL}, httpclient.KindResource, "address; "},
		{"IPv6, and IPv4 refuses", map[string]error{a6: syscall.EADDRNOTAVAIL, a4: syscall.ECONNREFUSED}, httpclient.KindConnect, "192.0.2.1:80: connect: connection refused"},
		{"IPv4, and another refuses", map[string]error{a4: syscall.EADDRNOTAVAIL, b4: syscall.ECONNREFUSED}, httpclient.KindConnect, "; "},
		{"no descriptor", map[string]error{a6: syscall.EADDRNOTAVAIL, a4: syscall.EMFILE}, httpclient.KindResource, "too many open files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{})
			n.Host("www.example", slices.Sorted(maps.Keys(c.why))...)
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: failingNet{n, c.why}})
			err := loop.Run(t.Context(), func(task *aio.Task) error {
				client := httpclient.NewClient(task.Loop(), httpclient.Options{})
				defer client.Close()
				_, err := client.Do(task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/"})
				return err
			})
			expectKind(t, err, c.kind)
			if err != nil && (!strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%q, want one line with %q", err, c.text)
			}
		})
	}
}
