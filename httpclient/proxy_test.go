package httpclient_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
)

// through returns options that send all requests through a proxy.
func through(t *testing.T, proxy string) httpclient.Options {
	t.Helper()
	p, err := httpclient.ParseProxy(proxy)
	if err != nil {
		t.Fatal(err)
	}
	return httpclient.Options{Proxy: func(string, string) *httpclient.Proxy { return p }}
}

func TestParseProxy(t *testing.T) {
	for s, want := range map[string]string{
		"http://proxy.example:3128":                             "http://proxy.example:3128",
		"proxy.example:3128":                                    "http://proxy.example:3128",
		"HTTP://192.0.2.1/":                                     "http://192.0.2.1:80",
		"socks5://[2001:db8::1]":                                "socks5://[2001:db8::1]:1080",
		"socks5h://me:secret@proxy.example":                     "socks5h://proxy.example:1080 me secret",
		"http://me:s%40cret@proxy.example":                      "http://proxy.example:80 me s@cret",
		"http://me@proxy.example":                               "http://proxy.example:80 me ",
		"https://me:secret@proxy.example":                       `scheme "https", expected http, socks5 or socks5h`,
		"http://me:secret@":                                     "expected host and port, as in http://proxy.example:3128",
		"http://proxy.example/path":                             "expected host and port, as in http://proxy.example:3128",
		"http://me:secret@proxy.example:0":                      `port "0", expected 1 to 65535`,
		"http://me:secret@proxy.example:x":                      "invalid URL, expected one such as http://proxy.example:3128",
		"http://me:%0d%0asecret@proxy.example":                  "user and password, expected no control characters",
		"socks5://" + strings.Repeat("s", 256) + ":x@p.example": "user and password, expected both, of at most 255 bytes each",
		"socks5://secret@p.example":                             "user and password, expected both, of at most 255 bytes each",
		"":                                                      "expected host and port, as in http://proxy.example:3128",
	} {
		p, err := httpclient.ParseProxy(s)
		got := fmt.Sprint(err)
		if err == nil {
			got = p.String()
			if p.User != "" {
				got += " " + p.User + " " + p.Password
			}
			if text := fmt.Sprintf("%v %+v %#v %v %#v", p, p, p, *p, *p); strings.Contains(text, "cret") {
				t.Errorf("%s prints as %s", s, text)
			}
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", s, got, want)
		}
	}
}

// TestForwarded checks that a proxy gets the http requests of all hosts over one connection, and
// that only the proxy gets its user and password.
func TestForwarded(t *testing.T) {
	opt := through(t, "http://me:pw@other.example:80")
	opt.UserAgent = "weft-test/1"
	opt.Auth = []httpclient.Credential{{Scheme: "http", Host: "b.test:8080", Token: "tok"}}
	opt.Cookies = cookies.New()
	play(t, opt,
		func(s *site) {
			p := s.accept()
			got := p.request("http://a.test/x/y?z")
			want := "GET http://a.test/x/y?z HTTP/1.1\r\nHost: a.test\r\nUser-Agent: weft-test/1\r\nAccept: */*\r\n" +
				"Accept-Encoding: gzip, deflate, br, zstd\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n"
			if got != want {
				t.Errorf("request %q, want %q", got, want)
			}
			p.send(response("Set-Cookie: n=v\r\n", "a"))
			if got := field(p.request("http://b.test:8080/"), "Authorization"); got != "Authorization: Bearer tok" {
				t.Errorf("of b: %q", got)
			}
			p.send("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
			if got := field(p.request("http://a.test/"), "Cookie"); got != "" {
				t.Errorf("out of its path: %q", got)
			}
			p.send(ok("a"))
			if got := field(p.request("http://a.test/x/"), "Cookie"); got != "Cookie: n=v" {
				t.Errorf("in its path: %q", got)
			}
			p.send(ok("a"))
		},
		func(b *browser) {
			for i, host := range []string{"a.test", "b.test:8080", "a.test", "a.test"} {
				target := []string{"/x/y?z", "/", "/", "/x/"}[i]
				res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: host, Target: target})
				if err != nil {
					t.Fatal(err)
				}
				if res.Status != []int{200, 502, 200, 200}[i] || res.Reused != (i > 0) || res.Addr.IsValid() {
					t.Errorf("%s: status %d, reused %v, from %v", host, res.Status, res.Reused, res.Addr)
				}
				res.Close()
			}
		})
}

// TestProxyAuthorization: the field Proxy-Authorization is for the proxy alone: hosts do not see
// it, neither without a proxy nor through a tunnel, and it takes precedence over user and password.
func TestProxyAuthorization(t *testing.T) {
	secret := httpclient.Header{{Name: "Proxy-Authorization", Value: "Bearer tok"}}
	const name = "Proxy-Authorization"
	play(t, httpclient.Options{Header: secret},
		func(s *site) {
			p := s.accept()
			if got := field(p.request("/"), name); got != "" {
				t.Errorf("a host got %q", got)
			}
			p.send(ok("a"))
		}, func(b *browser) { b.reads("/", "a") })
	opt := through(t, "http://me:pw@other.example:80")
	opt.Header = secret
	play(t, opt, func(s *site) {
		p := s.accept()
		if got := field(p.request("http://a.test/"), name); got != name+": Bearer tok" {
			t.Errorf("the proxy got %q", got)
		}
		p.send(ok("a"))
	}, func(b *browser) {
		res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "a.test", Target: "/"})
		if err != nil {
			t.Fatal(err)
		}
		res.Close()
	})
	playTLS(t, func(opt *httpclient.Options, _ *tls.Config) {
		opt.Proxy, opt.Header = through(t, "http://other.example:443").Proxy, secret
	}, func(v *tlsSite) {
		p := v.accept()
		if got := field(p.request("www.example:443"), name); got != name+": Bearer tok" {
			t.Errorf("the proxy got %q", got)
		}
		p.send("HTTP/1.1 200 OK\r\n\r\n")
		c := v.over(p)
		if req, err := http.ReadRequest(c.in); err != nil || req.Header.Get(name) != "" {
			t.Errorf("behind the tunnel: %v, %v", req, err)
		}
		_, _ = c.Write([]byte(ok("one")))
	}, func(b *browser) { b.readsTLS("/1", "one") })
}

// TestTunnel checks that https requests use a tunnel, that the CONNECT response may arrive in any
// pieces, that the tunnel is kept for its origin alone, and that the proxy does not see inside.
func TestTunnel(t *testing.T) {
	playTLS(t, func(opt *httpclient.Options, _ *tls.Config) {
		opt.Proxy = through(t, "http://me:pw@other.example:443").Proxy
		opt.UserAgent = "weft-test/1"
		opt.Auth = []httpclient.Credential{{Scheme: "https", Host: "www.example", Token: "tok"}}
	},
		func(v *tlsSite) {
			p := v.accept()
			want := "CONNECT www.example:443 HTTP/1.1\r\nHost: www.example:443\r\nUser-Agent: weft-test/1\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n"
			if got := p.request("www.example:443"); got != want {
				t.Errorf("request %q, want %q", got, want)
			}
			for _, c := range "HTTP/1.0 200 Connection established\nVia: x\r\nContent-Length: 7\r\n\r\n" {
				p.send(string(c))
				v.until(now(v.task) + time.Millisecond)
			}
			c := v.over(p)
			c.serve("/1", ok("one"))
			c.serve("/2", ok("two"))
			if got := v.accept().request("other.example:443"); !strings.Contains(got, "Basic bWU6cHc=") {
				t.Errorf("for another origin: %q", got)
			}
		},
		func(b *browser) {
			first := b.readsTLS("/1", "one")
			second := b.readsTLS("/2", "two")
			if first.TLS == nil || first.Addr.IsValid() || !second.Reused {
				t.Errorf("TLS %v, from %v; the second reused %v", first.TLS, first.Addr, second.Reused)
			}
			_, err := b.getTLS("other.example", "/")
			expectKind(t, err, httpclient.KindProxy)
		})
}

// over does the server's part of the handshake inside a tunnel.
func (v *tlsSite) over(p *peer) *tlsPeer {
	v.t.Helper()
	l := &line{Conn: aio.NewNetConn(v.task, p.conn)}
	c := tls.Server(l, v.config)
	if err := c.Handshake(); err != nil {
		v.t.Fatal("server: handshake: ", err)
	}
	return &tlsPeer{Conn: c, t: v.t, line: l, in: bufio.NewReader(c)}
}

// TestTunnelRefused checks that anything a proxy does instead of opening a tunnel is an error of
// kind proxy that says what happened and whether it is temporary.
func TestTunnelRefused(t *testing.T) {
	for _, c := range []struct {
		name, proxy, response string
		close                 bool
		kind                  httpclient.Kind
		temporary             bool
		text                  string // part of it
	}{
		{"no password", "http://www.example", "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 9\r\n\r\npassword!", false, httpclient.KindProxy, false,
			"http://www.example:80: CONNECT secure.test:443: status 407, it requires user and password"},
		{"wrong password", "http://me:secret@www.example", "HTTP/1.1 407 No\r\n\r\n", false, httpclient.KindProxy, false, "status 407, it rejects the user and password"},
		{"not allowed", "http://www.example", "HTTP/1.1 403 Forbidden\r\n\r\n", false, httpclient.KindProxy, false, "status 403"},
		{"no such host", "http://www.example", "HTTP/1.1 502 Bad Gateway\r\n\r\n", false, httpclient.KindProxy, true, "status 502"},
		{"a redirect", "http://www.example", "HTTP/1.1 302 Found\r\nLocation: https://login.test/\r\n\r\n", false, httpclient.KindProxy, false, "status 302"},
		{"closes", "http://www.example", "", true, httpclient.KindProxy, true, "ended without a response"},
		{"closes in the head", "http://www.example", "HTTP/1.1 200 OK\r\nVia: ", true, httpclient.KindProxy, true, "ended without a response"},
		{"speaks something else", "http://www.example", "SSH-2.0-OpenSSH\r\n", false, httpclient.KindProxy, true, `response begins with "S"`},
		{"speaks first", "http://www.example", "HTTP/1.1 200 OK\r\n\r\n\x16\x03\x01", false, httpclient.KindProxy, true, "bytes after the response"},
		{"endless head", "http://www.example", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 80<<10), false, httpclient.KindProxy, true, "header over 65536 bytes"},
		{"endless interim responses", "http://www.example", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100), false, httpclient.KindProxy, true, "interim"},
		{"says nothing", "http://www.example", "", false, httpclient.KindDialTimeout, true, "no connection through the proxy http://www.example:80 within 10s"},
		{"stops in the head", "http://www.example", "HTTP/1.1 200 OK\r\nVia: ", false, httpclient.KindDialTimeout, true, "no connection through the proxy"},
		{"nobody there", "http://www.example:81", "", false, httpclient.KindProxy, true, "http://www.example:81: "},
		{"no such proxy", "http://nobody.example", "", false, httpclient.KindProxy, true, "http://nobody.example:80: "},
		{"hole", "http://hole.example", "", false, httpclient.KindDialTimeout, true, "no connection through the proxy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			meets := c.response != "" || c.close || c.name == "says nothing"
			play(t, through(t, c.proxy),
				func(s *site) {
					if !meets {
						return
					}
					p := s.accept()
					p.request("secure.test:443")
					p.send(c.response)
					if c.close {
						p.close()
						return
					}
					p.ended()
				},
				func(b *browser) {
					_, err := b.client.Do(b.task, httpclient.Request{Scheme: "https", Host: "secure.test", Target: "/"})
					var e *httpclient.Error
					expectKind(t, err, c.kind)
					if !errors.As(err, &e) || e.Temporary() != c.temporary || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "secret") {
						t.Errorf("%v, temporary %v; want one with %q", err, e.Temporary(), c.text)
					}
				})
		})
	}
}

// TestForwardRefused checks that a proxy that demands a password is not taken for a server that
// does.
func TestForwardRefused(t *testing.T) {
	play(t, through(t, "http://www.example"),
		func(s *site) {
			s.serve("http://a.test/", "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno").ended()
			s.serve("http://a.test/", "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno").ended()
		},
		func(b *browser) {
			for range 2 {
				res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "a.test", Target: "/"})
				var e *httpclient.Error
				expectKind(t, err, httpclient.KindProxy)
				if !errors.As(err, &e) || e.Temporary() || res == nil || res.Status != 407 || res.Body != nil {
					t.Errorf("%v, response %v", err, res)
				}
			}
		})
}

// TestSOCKS checks what a SOCKS proxy is asked, and the handling of its replies, however they are
// cut.
func TestSOCKS(t *testing.T) {
	const (
		noAuth  = "\x05\x01\x00"
		hello   = "\x05\x02\x00\x02"
		login   = "\x01\x02me\x06secret"
		byName  = "\x05\x01\x00\x03\x06a.test\x00\x50"
		granted = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	)
	socks := "socks5h://other.example:80"
	for _, c := range []struct {
		name, proxy string
		host        string
		steps       []string // expected, reply, and so on in turn
		kind        httpclient.Kind
		temporary   bool
		text        string
	}{
		{"by name", socks, "a.test", []string{noAuth, "\x05\x00", byName, granted}, "", false, ""},
		{"bound to a name", socks, "a.test", []string{noAuth, "\x05\x00", byName, "\x05\x00\x00\x03\x05b.com\x00\x00"}, "", false, ""},
		{"bound to IPv6", socks, "a.test", []string{noAuth, "\x05\x00", byName, "\x05\x00\x00\x04" + strings.Repeat("x", 18)}, "", false, ""},
		{"by address", socks, "192.0.2.9:81", []string{noAuth, "\x05\x00", "\x05\x01\x00\x01\xc0\x00\x02\x09\x00\x51", granted}, "", false, ""},
		{"by IPv6", socks, "[2001:db8::1]", []string{noAuth, "\x05\x00", "\x05\x01\x00\x04\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01\x00\x50", granted}, "", false, ""},
		{"looked up here", "socks5://other.example:80", "www.example", []string{noAuth, "\x05\x00", "\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50", granted}, "", false, ""},
		{"password", "socks5h://me:secret@other.example:80", "a.test", []string{hello, "\x05\x02", login, "\x01\x00", byName, granted}, "", false, ""},
		{"password not wanted", "socks5h://me:secret@other.example:80", "a.test", []string{hello, "\x05\x00", byName, granted}, "", false, ""},
		{"wrong password", "socks5h://me:secret@other.example:80", "a.test", []string{hello, "\x05\x02", login, "\x01\x01"}, httpclient.KindProxy, false, "authentication failed"},
		{"wants a password", socks, "a.test", []string{noAuth, "\x05\xff"}, httpclient.KindProxy, false, "no acceptable authentication methods"},
		{"not allowed", socks, "a.test", []string{noAuth, "\x05\x00", byName, "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"}, httpclient.KindProxy, false, "SOCKS to a.test:80: connection not allowed by ruleset"},
		{"host unreachable", socks, "a.test", []string{noAuth, "\x05\x00", byName, "\x05\x04\x00\x01\x00\x00\x00\x00\x00\x00"}, httpclient.KindProxy, true, "SOCKS to a.test:80: host unreachable"},
		{"refused", socks, "a.test", []string{noAuth, "\x05\x00", byName, "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00"}, httpclient.KindProxy, true, "SOCKS to a.test:80: connection refused"},
		{"SOCKS 4", socks, "a.test", []string{noAuth, "\x04\x00"}, httpclient.KindProxy, true, "unexpected protocol version 4"},
		{"HTTP", socks, "a.test", []string{noAuth, "HTTP/1.1 400 Bad Request\r\n\r\n"}, httpclient.KindProxy, true, "unexpected protocol version 72"},
		{"ends", socks, "a.test", []string{noAuth, ""}, httpclient.KindProxy, true, "ended without a response"},
		{"ends in the response", socks, "a.test", []string{noAuth, "\x05\x00", byName, "\x05\x00\x00"}, httpclient.KindProxy, true, "ended without a response"},
		{"unknown host", "socks5://other.example:80", "nobody.example", nil, httpclient.KindDNS, false, "nobody.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, through(t, c.proxy),
				func(s *site) {
					if c.steps == nil {
						return
					}
					p := s.accept()
					for i := 0; i < len(c.steps); i += 2 {
						got := make([]byte, len(c.steps[i]))
						for n := 0; n < len(got); {
							b, err := p.reader.Peek(p.task)
							if err != nil {
								t.Fatal(err)
							}
							b = b[:min(len(b), len(got)-n)]
							n += copy(got[n:], b)
							p.reader.Discard(len(b))
						}
						if string(got) != c.steps[i] {
							t.Fatalf("step %d: %q, want %q", i, got, c.steps[i])
						}
						for _, b := range []byte(c.steps[i+1]) {
							p.send(string([]byte{b}))
							s.until(now(s.task) + time.Millisecond)
						}
					}
					if c.kind != "" {
						p.close()
						return
					}
					p.serve("/", ok("one"))
					p.serve("/", ok("two"))
				},
				func(b *browser) {
					for _, want := range []string{"one", "two"} {
						res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: c.host, Target: "/"})
						if c.kind != "" {
							var e *httpclient.Error
							expectKind(t, err, c.kind)
							if !errors.As(err, &e) || e.Temporary() != c.temporary || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "secret") {
								t.Errorf("%v, temporary %v; want one with %q", err, e.Temporary(), c.text)
							}
							return
						}
						if err != nil {
							t.Fatal(err)
						}
						if string(res.Body) != want || res.Reused != (want == "two") || res.Addr.IsValid() != strings.HasPrefix(c.proxy, "socks5:") {
							t.Errorf("%q, reused %v, from %v", res.Body, res.Reused, res.Addr)
						}
						res.Close()
					}
				})
		})
	}
}

// TestSOCKSTriesAddresses checks that for a host looked up here, the next address is tried when
// the proxy cannot reach one.
func TestSOCKSTriesAddresses(t *testing.T) {
	play(t, through(t, "socks5://other.example:80"),
		func(s *site) {
			for i, reply := range []string{"\x04", "\x00"} {
				p := s.accept()
				for _, step := range []struct{ want, response string }{
					{"\x05\x01\x00", "\x05\x00"},
					{"\x05\x01\x00\x01\xc0\x00\x02" + string(rune(2+i)) + "\x00\x50", "\x05" + reply + "\x00\x01\x00\x00\x00\x00\x00\x00"},
				} {
					b, err := p.reader.Peek(p.task)
					if err != nil || string(b) != step.want {
						t.Fatalf("%q, %v, want %q", b, err, step.want)
					}
					p.reader.Discard(len(b))
					p.send(step.response)
				}
				if i == 1 {
					p.serve("/", ok("x"))
				}
			}
		},
		func(b *browser) {
			res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "holes.example", Target: "/"})
			if err != nil {
				t.Fatal(err)
			}
			if res.Addr.String() != "192.0.2.3:80" {
				t.Errorf("from %v, want the second address", res.Addr)
			}
			res.Close()
		})
}
