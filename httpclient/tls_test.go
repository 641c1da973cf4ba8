package httpclient_test

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/webtest"
)

// certificate returns a certificate for names, and the pool that trusts it. It is valid for a day
// from the start of virtual time.
func certificate(t *testing.T, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: aiotest.Epoch, NotAfter: aiotest.Epoch.Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// tlsSite is the server's side of TLS.
type tlsSite struct {
	*site
	config *tls.Config
	keys   bytes.Buffer // the connections' secrets, as lines of a key log
}

// tlsPeer is the server's end of a TLS connection.
type tlsPeer struct {
	*tls.Conn
	t    *testing.T
	line *line
	in   *bufio.Reader
}

// line is the connection under TLS.
type line struct {
	net.Conn
	ended bool // the client has ended the connection, not only TLS
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.ended = l.ended || err == io.EOF
	return n, err
}

// playTLS is play over TLS, with a server at port 443 whose certificate for www.example the client
// trusts unless change alters that.
func playTLS(t *testing.T, change func(opt *httpclient.Options, config *tls.Config), server func(v *tlsSite), client func(b *browser)) {
	t.Helper()
	cert, pool := certificate(t, "www.example")
	opt := httpclient.Options{RootCAs: pool}
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	if change != nil {
		change(&opt, config)
	}
	network := aiotest.NewNet(aiotest.NetOptions{Latency: latency})
	network.Host("www.example", "192.0.2.1")
	network.Host("other.example", "192.0.2.1")
	network.Run(t, func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":443")
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			g.Go("server", func(task *aio.Task) error {
				v := &tlsSite{site: &site{t: t, task: task, ln: ln}, config: config}
				config.Time = task.Loop().Now
				config.KeyLogWriter = &v.keys
				defer v.close()
				server(v)
				return nil
			})
			c := httpclient.NewClient(task.Loop(), opt)
			defer c.Close()
			client(&browser{t: t, task: task, client: c})
			return nil
		})
	})
}

// handshake accepts a connection and does the server's part of the handshake.
func (v *tlsSite) handshake() (*tlsPeer, error) {
	l := &line{Conn: aio.NewNetConn(v.task, v.accept().conn)}
	c := tls.Server(l, v.config)
	return &tlsPeer{Conn: c, t: v.t, line: l, in: bufio.NewReader(c)}, c.Handshake()
}

func (v *tlsSite) admit() *tlsPeer {
	v.t.Helper()
	s, err := v.handshake()
	if err != nil {
		v.t.Fatal("server: handshake: ", err)
	}
	return s
}

// serve responds to one request.
func (s *tlsPeer) serve(target, response string) {
	s.t.Helper()
	req, err := http.ReadRequest(s.in)
	if err != nil {
		s.t.Fatalf("server: waits for a request for %s: %v", target, err)
	}
	if req.URL.RequestURI() != target {
		s.t.Fatalf("server: request for %s, want one for %s", req.URL, target)
	}
	if _, err := s.Write([]byte(response)); err != nil {
		s.t.Fatal("server: ", err)
	}
}

func (b *browser) getTLS(host, target string) (*httpclient.Response, error) {
	return b.client.Do(b.task, httpclient.Request{Scheme: "https", Host: host, Target: target})
}

// readsTLS fetches a body over TLS.
func (b *browser) readsTLS(target, body string) *httpclient.Response {
	b.t.Helper()
	res, err := b.getTLS("www.example", target)
	if err != nil {
		b.t.Fatalf("GET %s: %v", target, err)
	}
	if string(res.Body) != body {
		b.t.Errorf("GET %s: body %.100q, want %.100q", target, res.Body, body)
	}
	res.Close()
	return res
}

// TestNeedlessCertificates: certificates count as held until the response is closed, from the
// handshake on. A connection with many is not kept, and its session is not resumed.
func TestNeedlessCertificates(t *testing.T) {
	needless, err := webtest.Needless(200 << 10)
	if err != nil {
		t.Fatal(err)
	}
	more, err := needless.GetCertificate(new(tls.ClientHelloInfo))
	if err != nil {
		t.Fatal(err)
	}
	meter := budget.New(1 << 20) // a quarter of what they take
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		playTLS(t, func(opt *httpclient.Options, config *tls.Config) {
			opt.Meter = meter
			config.MaxVersion = version
			own := &config.Certificates[0]
			own.Certificate = append(own.Certificate, more.Certificate...)
		}, func(v *tlsSite) {
			for _, target := range []string{"/1", "/2"} {
				c := v.admit()
				if meter.Held() < 1<<20 {
					t.Errorf("%d bytes are held after a handshake, want at least 1 MiB", meter.Held())
				}
				c.serve(target, ok("a page"))
				c.Close()
			}
		}, func(b *browser) {
			for _, target := range []string{"/1", "/2"} {
				res, err := b.getTLS("www.example", target)
				if err != nil {
					t.Fatal(err)
				}
				if res.Reused || res.TLS.DidResume || meter.Held() < 1<<20 {
					t.Errorf("reused %v, resumed %v, %d bytes are held", res.Reused, res.TLS.DidResume, meter.Held())
				}
				res.Close()
				if meter.Held() != 0 {
					t.Errorf("%d bytes are held after the response", meter.Held())
				}
			}
		})
	}
}

// TestSessionsAreBounded: sessions take as much memory as they may, and the least recently used are
// forgotten first; so are idle connections.
func TestSessionsAreBounded(t *testing.T) {
	for _, room := range []int{1, 24 << 10, 1 << 20} {
		remembered := room > 1<<10
		playTLS(t, func(opt *httpclient.Options, config *tls.Config) {
			opt.MaxSessionBytes, opt.MaxIdleBytes = room, 1
		}, func(v *tlsSite) {
			for _, target := range []string{"/1", "/2", "/3"} {
				c := v.admit()
				c.serve(target, ok("a page"))
				c.Close()
			}
		}, func(b *browser) {
			for _, target := range []string{"/1", "/2", "/3"} {
				res := b.readsTLS(target, "a page")
				if res.Reused || res.TLS.DidResume != (remembered && target != "/1") {
					t.Errorf("room for %d bytes, %s: reused %v, resumed %v", room, target, res.Reused, res.TLS.DidResume)
				}
			}
		})
	}
}

// A second request uses the first connection, although a TLS 1.3 server sends unrequested tickets;
// a second connection resumes the session of the first.
func TestTLSKeepsConnectionsAndSessions(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			long := strings.Repeat("a long page. ", 20_000)
			playTLS(t, func(_ *httpclient.Options, config *tls.Config) { config.MaxVersion = version }, func(v *tlsSite) {
				c := v.admit()
				c.serve("/1", ok("one"))
				c.serve("/2", ok(long))
				v.until(time.Second)
				c.Close()
				c = v.admit()
				c.serve("/3", "HTTP/1.1 200 OK\r\n\r\nto the end")
				c.Close()
			}, func(b *browser) {
				first := b.readsTLS("/1", "one")
				if first.Reused || first.Timing.TLS == 0 || first.TLS.Version != version || first.TLS.DidResume ||
					len(first.TLS.PeerCertificates) == 0 || first.TLS.NegotiatedProtocol != "" {
					t.Errorf("first: reused %v, %v, TLS %+v", first.Reused, first.Timing, first.TLS)
				}
				second := b.readsTLS("/2", long)
				if !second.Reused || second.Timing.TLS != 0 || second.TLS != first.TLS {
					t.Errorf("second: reused %v, %v", second.Reused, second.Timing)
				}
				b.until(2 * time.Second)
				third := b.readsTLS("/3", "to the end")
				if third.Reused || !third.TLS.DidResume || len(third.TLS.PeerCertificates) == 0 {
					t.Errorf("third: reused %v, resumed %v", third.Reused, third.TLS.DidResume)
				}
			})
		})
	}
}

// A ticket may arrive at any time; one that arrives while the connection is kept does not end it.
func TestTLSTicketWhileKept(t *testing.T) {
	for _, unrequested := range []struct {
		name    string
		kind    byte // of the record's content (RFC 8446, section 5.1)
		content string
		kept    bool
	}{
		// A lifetime, an age to add, a nonce, the ticket, no extensions (section 4.6.1).
		{"ticket", 22, "\x04\x00\x00\x12" + "\x00\x00\x0e\x10" + "\x00\x00\x00\x00" + "\x01\x07" + "\x00\x04abcd" + "\x00\x00", true},
		{"new keys, and ours wanted", 22, "\x18\x00\x00\x01\x01", true}, // section 4.6.3
		{"bytes", 23, ok("forged"), false},
		{"close-notify", 21, "\x01\x00", false},
	} {
		t.Run(unrequested.name, func(t *testing.T) {
			playTLS(t, func(_ *httpclient.Options, config *tls.Config) { config.MinVersion = tls.VersionTLS13 }, func(v *tlsSite) {
				c := v.admit()
				if suite := c.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
					t.Skipf("this machine prefers %s, the test's own records are AES-128-GCM", tls.CipherSuiteName(suite))
				}
				c.serve("/1", ok("one"))
				v.until(time.Second)
				secret := serverSecret(v.keys.String())
				sealed := sealer(t, secret, 2) // after a ticket and the response
				if _, err := c.NetConn().Write(sealed(unrequested.kind, unrequested.content)); err != nil {
					t.Error(err)
				}
				if !unrequested.kept {
					v.admit().serve("/2", ok("two"))
					return
				}
				if strings.HasPrefix(unrequested.content, "\x18") {
					sealed = sealer(t, expandLabel(t, secret, "traffic upd", sha256.Size), 0)
				}
				if _, err := http.ReadRequest(c.in); err != nil {
					t.Fatal("server: ", err)
				}
				if _, err := c.NetConn().Write(sealed(23, ok("two"))); err != nil {
					t.Error(err)
				}
			}, func(b *browser) {
				b.readsTLS("/1", "one")
				b.until(2 * time.Second)
				if res := b.readsTLS("/2", "two"); res.Reused != unrequested.kept {
					t.Errorf("reused %v, want %v", res.Reused, unrequested.kept)
				}
			})
		})
	}
}

// serverSecret returns the secret that the server's keys after the handshake derive from.
func serverSecret(keyLog string) (secret []byte) {
	for line := range strings.Lines(keyLog) {
		if f := strings.Fields(line); f[0] == "SERVER_TRAFFIC_SECRET_0" {
			secret, _ = hex.DecodeString(f[2])
		}
	}
	return secret
}

// expandLabel is HKDF-Expand-Label of RFC 8446, section 7.1, without a context.
func expandLabel(t *testing.T, secret []byte, label string, size int) []byte {
	t.Helper()
	label = "tls13 " + label
	info := string([]byte{0, byte(size), byte(len(label))}) + label + "\x00"
	key, err := hkdf.Expand(sha256.New, secret, info, size)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sealer returns a function that makes TLS 1.3 records as the owner of a secret does, with
// AES-128-GCM, from the n-th on (RFC 8446, sections 5.2, 5.3 and 7.3).
func sealer(t *testing.T, secret []byte, n uint64) func(kind byte, content string) []byte {
	t.Helper()
	block, err := aes.NewCipher(expandLabel(t, secret, "key", 16))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	iv := expandLabel(t, secret, "iv", 12)
	return func(kind byte, content string) []byte {
		nonce := bytes.Clone(iv)
		for i, b := range binary.BigEndian.AppendUint64(nil, n) {
			nonce[4+i] ^= b
		}
		n++
		plain := append([]byte(content), kind)
		head := binary.BigEndian.AppendUint16([]byte{23, 3, 3}, uint16(len(plain)+aead.Overhead()))
		return aead.Seal(head, nonce, plain, head)
	}
}

func TestTLSFailures(t *testing.T) {
	shake := func(v *tlsSite) { _, _ = v.handshake() }
	for _, c := range []struct {
		name      string
		change    func(opt *httpclient.Options, config *tls.Config)
		server    func(v *tlsSite)
		host      string
		kind      httpclient.Kind
		temporary bool
		says      string
	}{
		{"unknown authority", func(opt *httpclient.Options, _ *tls.Config) { opt.RootCAs = x509.NewCertPool() }, shake,
			"www.example", httpclient.KindTLS, false, "certificate not accepted: it is self-signed"},
		{"another name", nil, shake, "other.example", httpclient.KindTLS, false, "it is for www.example, not for other.example"},
		{"old TLS only", func(_ *httpclient.Options, config *tls.Config) { config.MaxVersion = tls.VersionTLS11 }, shake,
			"www.example", httpclient.KindTLS, false, "protocol version"},
		{"not TLS", nil, func(v *tlsSite) { v.accept().send("HTTP/1.1 400 Bad Request\r\n\r\n") },
			"www.example", httpclient.KindTLS, false, "the server speaks plain HTTP on this port, expected TLS"},
		{"another protocol", nil, func(v *tlsSite) { v.accept().send("SSH-2.0-OpenSSH_9.2\r\n") },
			"www.example", httpclient.KindTLS, false, `tls: the server does not speak TLS on this port: its first bytes are "SSH-2"`},
		{"an old version", nil, func(v *tlsSite) {
			v.accept().send("\x16\x03\x02\x00\x2a\x02\x00\x00\x26\x03\x02" + strings.Repeat("r", 32) + "\x00\x00\x2f\x00")
		},
			"www.example", httpclient.KindTLS, false, "tls: the server speaks TLS 1.1, expected TLS 1.2 or 1.3"},
		{"an alert", nil, func(v *tlsSite) { v.accept().send("\x15\x03\x03\x00\x02\x02\x70") },
			"www.example", httpclient.KindTLS, false, "tls: the server sends an alert: unrecognized name"},
		{"the end", nil, func(v *tlsSite) { v.accept().close() }, "www.example", httpclient.KindEarlyEnd, true,
			"early-end: the connection ended during the TLS handshake"},
		{"the end after an alert that is ignored", nil, func(v *tlsSite) { p := v.accept(); p.send("\x15\x03\x03\x00\x02\x01\x70"); p.close() },
			"www.example", httpclient.KindEarlyEnd, true, "early-end: the connection ended during the TLS handshake"},
		{"the end within a message", nil, func(v *tlsSite) { p := v.accept(); p.send("\x16\x03\x03\x00\x7a\x02"); p.close() },
			"www.example", httpclient.KindEarlyEnd, true, "early-end: the connection ended during the TLS handshake"},
		{"silence", nil, func(v *tlsSite) { v.accept(); v.until(time.Minute) }, "www.example", httpclient.KindTLSTimeout, true,
			"tls-timeout: TLS handshake not done within 10s (TLS timeout)"},
		{"a broken record", nil, func(v *tlsSite) {
			c := v.admit()
			c.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
			_, _ = c.NetConn().Write([]byte("\x17\x03\x03\x00\x20" + strings.Repeat("x", 32)))
		}, "www.example", httpclient.KindTLS, false, "bad record MAC"},
		{"an end within a record", nil, func(v *tlsSite) {
			c := v.admit()
			c.serve("/", "HTTP/1.1 200 OK\r\n\r\nhalf")
			_, _ = c.NetConn().Write([]byte("\x17\x03\x03\x00\x20xxx"))
			c.NetConn().Close()
		}, "www.example", httpclient.KindEarlyEnd, true, "within a TLS record"},
		{"the end in a body", nil, func(v *tlsSite) {
			c := v.admit()
			c.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
			c.Close()
		}, "www.example", httpclient.KindEarlyEnd, true, "4 bytes before"},
		// As from a server that asks for a certificate.
		{"an alert for a response", nil, func(v *tlsSite) {
			v.config.ClientAuth = tls.RequireAnyClientCert
			_, _ = v.handshake()
		}, "www.example", httpclient.KindTLS, false, "certificate required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			playTLS(t, c.change, c.server, func(b *browser) {
				_, err := b.getTLS(c.host, "/")
				expectKind(t, err, c.kind)
				e := err.(*httpclient.Error)
				if e.Temporary() != c.temporary || !strings.Contains(e.Error(), c.says) {
					t.Errorf("%v, temporary %v, want %q, %v", err, e.Temporary(), c.says, c.temporary)
				}
				if e.Addr.String() != "192.0.2.1:443" || e.Timing.DNS == 0 || e.Timing.Connect == 0 || e.Timing.TLS == 0 {
					t.Errorf("address %v, %+v: not where it failed", e.Addr, e.Timing)
				}
				if c.kind == httpclient.KindTLSTimeout && e.Timing.TLS != 10*time.Second {
					t.Errorf("gave up after %v, want 10 s", e.Timing.TLS)
				}
			})
		})
	}
}

// A body that ends with its connection is complete if TLS has ended before: anybody can end TCP. A
// body with a length needs no close_notify.
func TestTLSEnd(t *testing.T) {
	cut := func(c *tlsPeer) { c.NetConn().Close() } // between two records
	notify := func(c *tlsPeer) { c.Close() }
	late := func(c *tlsPeer) { // TCP ends after TLS
		_ = c.CloseWrite()
		if b, err := c.in.ReadByte(); err != io.EOF {
			t.Errorf("server: got %q, %v, want the end", b, err)
		}
	}
	const head = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, response string
		end            func(c *tlsPeer)
		whole          bool
	}{
		{"to the end, with close_notify", head + "\r\nto the end", notify, true},
		{"to the end, with close_notify and no end of TCP", head + "\r\nto the end", late, true},
		{"to the end, cut", head + "\r\nto the end", cut, false},
		{"nothing to the end, cut", head + "\r\n", cut, false},
		{"of a length", head + "Content-Length: 10\r\n\r\nto the end", cut, true},
		{"less than its length", head + "Content-Length: 11\r\n\r\nto the end", cut, false},
		{"chunked", head + "Transfer-Encoding: chunked\r\n\r\na\r\nto the end\r\n0\r\n\r\n", cut, true},
		{"chunked, without the last chunk", head + "Transfer-Encoding: chunked\r\n\r\na\r\nto the end\r\n", cut, false},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(c.name+", "+tls.VersionName(version), func(t *testing.T) {
				playTLS(t, func(_ *httpclient.Options, config *tls.Config) { config.MaxVersion = version }, func(v *tlsSite) {
					s := v.admit()
					s.serve("/", c.response)
					c.end(s)
				}, func(b *browser) {
					if c.whole {
						b.readsTLS("/", "to the end")
						return
					}
					res, err := b.getTLS("www.example", "/")
					expectKind(t, err, httpclient.KindEarlyEnd)
					if res == nil || res.Status != 200 || res.Body != nil {
						t.Errorf("%+v beside the error", res)
					}
				})
			})
		}
	}
}

// A connection that a response ends is closed with a close_notify.
func TestTLSCloseNotify(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, response := range map[string]string{
		"close":                  response("Connection: close\r\n", "hello"),
		"bytes after a response": ok("hello") + "more",
		"a response that is cut": "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\nhello" + long,
	} {
		t.Run(name, func(t *testing.T) {
			playTLS(t, nil, func(v *tlsSite) {
				s := v.admit()
				s.serve("/", response)
				if b, err := s.in.ReadByte(); err != io.EOF || s.line.ended {
					t.Errorf("server: got %q, %v, end of TCP %v, want a close_notify", b, err, s.line.ended)
				}
			}, func(b *browser) {
				res, err := b.client.Do(b.task, httpclient.Request{Scheme: "https", Host: "www.example", Target: "/", MaxBody: 5, Cut: true})
				if err != nil || string(res.Body) != "hello" {
					t.Errorf("got %+v, %v", res, err)
				}
				res.Close()
			})
		})
	}
}

func TestInsecure(t *testing.T) {
	playTLS(t, func(opt *httpclient.Options, _ *tls.Config) { *opt = httpclient.Options{Insecure: true} },
		func(v *tlsSite) { v.admit().serve("/", ok("unsafe")) },
		func(b *browser) { b.readsTLS("/", "unsafe") })
}

// An exchange over TLS that is cancelled at any moment leaves nothing behind: playTLS checks that.
func TestTLSCancelledAtAnyMoment(t *testing.T) {
	const done = 8 * latency // look-up, connection, handshake, exchange
	for at := latency / 2; at < done+latency; at += latency {
		t.Run(at.String(), func(t *testing.T) {
			playTLS(t, nil, func(v *tlsSite) {
				_ = v.task.Deadline(aiotest.Epoch.Add(time.Second), func(task *aio.Task) error {
					c, err := v.ln.Accept(task)
					if err != nil {
						return err
					}
					defer c.Close()
					tc := tls.Server(aio.NewNetConn(task, c), v.config)
					if _, err := http.ReadRequest(bufio.NewReader(tc)); err != nil {
						return err
					}
					_, err = tc.Write([]byte(ok("whole")))
					_ = c.WaitReadable(task)
					return err
				})
			}, func(b *browser) {
				err := b.task.Deadline(aiotest.Epoch.Add(at), func(task *aio.Task) error {
					_, err := b.client.Do(task, httpclient.Request{Scheme: "https", Host: "www.example", Target: "/"})
					if err != nil {
						expectKind(t, err, httpclient.KindCanceled)
					}
					return err
				})
				if got := err == nil; got != (at > done) {
					t.Errorf("cancelled after %v: %v", at, err)
				}
			})
		})
	}
}

// everywhere resolves all names to one address.
type everywhere struct{ addr netip.Addr }

func (r everywhere) Lookup(*aio.Task, string) ([]netip.Addr, error) { return []netip.Addr{r.addr}, nil }

// TestSilentServersGiveUpTheirTurn: as many handshakes as may be under way, with servers that say
// nothing, delay others by a second at most.
func TestSilentServersGiveUpTheirTurn(t *testing.T) {
	const silent = 128
	playTLS(t, func(opt *httpclient.Options, _ *tls.Config) {
		opt.Resolver = everywhere{netip.MustParseAddr("192.0.2.1")}
	}, func(v *tlsSite) {
		for range silent {
			v.accept()
		}
		v.admit().serve("/", ok("a page"))
		v.until(time.Minute)
	}, func(b *browser) {
		_ = b.task.Group(func(g *aio.Group) error {
			for i := range silent {
				g.Go("silent", func(task *aio.Task) error {
					_, err := b.client.Do(task, httpclient.Request{Scheme: "https", Host: fmt.Sprintf("h%d.example", i), Target: "/"})
					expectKind(t, err, httpclient.KindTLSTimeout)
					return nil
				})
			}
			if err := b.task.Sleep(100 * time.Millisecond); err != nil {
				return err
			}
			began := b.task.Loop().Now()
			res := b.readsTLS("/", "a page")
			if took := b.task.Loop().Now().Sub(began); took < time.Second/2 || took > 2*time.Second {
				t.Errorf("it took %v, want a second", took)
			}
			if res.Timing.TLS > time.Second/2 {
				t.Errorf("its own handshake took %v: waiting is not the server's time", res.Timing.TLS)
			}
			return nil
		})
	})
}
