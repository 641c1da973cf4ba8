package httpclient_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

func TestRequest(t *testing.T) {
	play(t, httpclient.Options{UserAgent: "weft-test/1"},
		func(s *site) {
			p := s.accept()
			got := p.request("/a?b=c")
			want := "GET /a?b=c HTTP/1.1\r\n" +
				"Host: www.example\r\n" +
				"User-Agent: weft-test/1\r\n" +
				"Accept: */*\r\n" +
				"Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
			if got != want {
				t.Errorf("request %q, want %q", got, want)
			}
			p.send(ok("x"))
		},
		func(b *browser) { b.reads("/a?b=c", "x") })
}

func TestResponse(t *testing.T) {
	interim := "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
	head := "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
	body := "4\r\nnot \r\n5;x=y\r\nfound\r\n0\r\nX-Sum: 1\r\n\r\n"
	play(t, httpclient.Options{},
		func(s *site) {
			p := s.accept()
			p.request("/")
			for _, c := range interim + head + body { // each byte in a segment of its own
				p.send(string(c))
				s.until(now(s.task) + time.Millisecond)
			}
		},
		func(b *browser) {
			res, err := b.get("/")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			if res.Proto != "HTTP/1.1" || res.Status != 404 || string(res.Body) != "not found" || res.Encoding != "" {
				t.Errorf("got %s, status %d, body %q, encoding %q", res.Proto, res.Status, res.Body, res.Encoding)
			}
			if string(res.RawHead) != head || res.Header.Get("x-a") != "b" {
				t.Errorf("got header %q, field %q", res.RawHead, res.Header.Get("x-a"))
			}
			if want := int64(len(interim + head + body)); res.Wire != want {
				t.Errorf("got %d bytes, want %d", res.Wire, want)
			}
		})
}

// A body of many segments, more than the network holds at once.
func TestLongBody(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 64<<10)
	playBoth(t, httpclient.Options{},
		func(s *site) { s.serve("/", ok(body)).serve("/again", "HTTP/1.1 200 OK\r\n\r\n"+body) },
		func(b *browser) {
			b.reads("/", body)
			res, err := b.get("/again")
			if err != nil {
				t.Fatal(err)
			}
			if string(res.Body) != body {
				t.Errorf("body of %d bytes, want %d", len(res.Body), len(body))
			}
		})
}

func TestLimits(t *testing.T) {
	opt := httpclient.Options{MaxHead: 200, MaxBody: 1000}
	for _, c := range []struct {
		name, response string
		kind           httpclient.Kind // "": none
	}{
		{"body of the limit", ok(strings.Repeat("x", 1000)), ""},
		{"body over the limit", ok(strings.Repeat("x", 1001)), httpclient.KindTooLarge},
		{"body without length, over the limit", "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1001), httpclient.KindTooLarge},
		{"header over the limit", response("X-A: "+strings.Repeat("x", 200)+"\r\n", ""), httpclient.KindTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			playBoth(t, opt,
				func(s *site) { s.serve("/", c.response).ended() },
				func(b *browser) {
					res, err := b.get("/")
					if c.kind != "" {
						expectKind(t, err, c.kind)
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					res.Close()
					b.client.Close()
				})
		})
	}
}

func TestNegativeLimitsAreTheDefault(t *testing.T) {
	playBoth(t, httpclient.Options{MaxHead: -1, MaxBody: -1},
		func(s *site) { s.serve("/", ok("x")) },
		func(b *browser) { b.reads("/", "x") })
}

func TestErrors(t *testing.T) {
	nobody := func(*site) {}
	get := func(host string) func(b *browser) error {
		return func(b *browser) error {
			_, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: host, Target: "/"})
			return err
		}
	}
	for _, c := range []struct {
		name      string
		server    func(s *site)
		client    func(b *browser) error
		kind      httpclient.Kind
		temporary bool
		cause     error // nil: any
	}{
		{"no such host", nobody, get("nobody.example"), httpclient.KindDNS, false, nil},
		{"nobody listens", nobody, get("www.example:81"), httpclient.KindConnect, true, syscall.ECONNREFUSED},
		{"nobody listens at an address", nobody, get("[2001:db8::1]:81"), httpclient.KindConnect, true, syscall.ECONNREFUSED},
		{"reset", func(s *site) {
			s.until(25 * time.Millisecond) // the client is not connected yet
			s.ln.Close()
		}, get("192.0.2.1"), httpclient.KindReset, true, syscall.ECONNRESET},
		{"ended before a response", func(s *site) {
			p := s.accept()
			p.request("/")
			p.close()
		}, get("www.example"), httpclient.KindEarlyEnd, true, nil},
		{"ended in the body", func(s *site) {
			s.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").close()
		}, get("www.example"), httpclient.KindEarlyEnd, true, nil},
		{"not HTTP", func(s *site) { s.serve("/", "220 mail.example ESMTP\r\n") }, get("www.example"), httpclient.KindProtocol, false, nil},
		{"empty host", nobody, get(""), httpclient.KindScheme, false, nil},
		{"host with a line", nobody, get("www.example\r\nX-A: 1"), httpclient.KindScheme, false, nil},
		{"host with an unknown port", nobody, get("www.example:http"), httpclient.KindScheme, false, nil},
		{"host with a port beyond the last", nobody, get("www.example:65536"), httpclient.KindScheme, false, nil},
		{"IPv6 without brackets", nobody, get("2001:db8::1"), httpclient.KindScheme, false, nil},
		{"ftp", nobody, func(b *browser) error {
			_, err := b.client.Do(b.task, httpclient.Request{Scheme: "ftp", Host: "www.example", Target: "/"})
			return err
		}, httpclient.KindScheme, false, nil},
		{"PUT", nobody, func(b *browser) error {
			_, err := b.client.Do(b.task, httpclient.Request{Method: "PUT", Scheme: "http", Host: "www.example", Target: "/"})
			return err
		}, httpclient.KindScheme, false, nil},
		{"field with a line", nobody, func(b *browser) error {
			_, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/",
				Header: httpclient.Header{{Name: "X-A", Value: "1\r\nX-B: 2"}}})
			return err
		}, httpclient.KindScheme, false, nil},
		{"target with a line", nobody, func(b *browser) error {
			_, err := b.get("/ HTTP/1.1\r\nX-A: 1\r\n\r\n")
			return err
		}, httpclient.KindScheme, false, nil},
		{"target without a slash", nobody, func(b *browser) error {
			_, err := b.get("")
			return err
		}, httpclient.KindScheme, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			over := playBoth
			if c.name == "not HTTP" {
				over = play
			}
			over(t, httpclient.Options{}, c.server, func(b *browser) {
				err := c.client(b)
				expectKind(t, err, c.kind)
				if got := err.(*httpclient.Error).Temporary(); got != c.temporary {
					t.Errorf("%v: Temporary() = %v", err, got)
				}
				if c.cause != nil && !errors.Is(err, c.cause) {
					t.Errorf("%v is not for %v", err, c.cause)
				}
				var dns *net.DNSError
				if c.kind == httpclient.KindDNS && !errors.As(err, &dns) {
					t.Errorf("%v has no *net.DNSError", err)
				}
			})
		})
	}
}

func TestTimeout(t *testing.T) {
	const timeout = 5 * time.Second
	opt := httpclient.Options{Timeout: timeout}
	// expect expects a request to fail at a certain time.
	expect := func(b *browser, host string, want time.Duration) {
		t.Helper()
		_, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: host, Target: "/"})
		expectKind(t, err, httpclient.KindTimeout)
		if !errors.Is(err, aio.ErrTimeout) {
			t.Errorf("%v does not match aio.ErrTimeout", err)
		}
		if got := now(b.task); got != want {
			t.Errorf("timed out at %v, want %v", got, want)
		}
	}
	t.Run("while connecting", func(t *testing.T) {
		playBoth(t, opt, func(*site) {}, func(b *browser) { expect(b, "hole.example", timeout) })
	})
	t.Run("while resolving", func(t *testing.T) {
		playOver(t, 3*time.Second, opt, func(*site) {}, func(b *browser) { expect(b, "www.example", timeout) })
	})
	t.Run("connecting counts", func(t *testing.T) {
		playOver(t, time.Second, opt, func(s *site) { s.ignore("/") },
			func(b *browser) { expect(b, "www.example", timeout) })
	})
	t.Run("no response", func(t *testing.T) {
		playBoth(t, opt, func(s *site) {
			s.ignore("/")
		}, func(b *browser) { expect(b, "www.example", timeout) })
	})
	t.Run("a response in drops", func(t *testing.T) {
		playBoth(t, opt, func(s *site) {
			p := s.serve("/", "HTTP/1.1 200 OK\r\n\r\n")
			for p.send("x") {
				s.until(now(s.task) + time.Second)
			}
		}, func(b *browser) { expect(b, "www.example", timeout) })
	})
	t.Run("each request has its own", func(t *testing.T) {
		playBoth(t, opt, func(s *site) {
			p := s.serve("/first", ok("1"))
			p.request("/")
			p.ended()
		}, func(b *browser) {
			b.reads("/first", "1")
			b.until(30 * time.Second)
			expect(b, "www.example", 30*time.Second+timeout)
		})
	})
	t.Run("a second try has the rest of the time", func(t *testing.T) {
		playBoth(t, opt, func(s *site) {
			p := s.serve("/first", ok("1"))
			s.until(100 * time.Millisecond)
			p.close()
			s.ignore("/")
		}, func(b *browser) {
			b.reads("/first", "1")
			// A connection that the server has closed looks open for 5 ms more.
			b.until(105 * time.Millisecond)
			expect(b, "www.example", 105*time.Millisecond+timeout)
		})
	})
	t.Run("30 s if none is set", func(t *testing.T) {
		playBoth(t, httpclient.Options{}, func(s *site) { s.ignore("/") },
			func(b *browser) { expect(b, "www.example", 30*time.Second) })
	})
	t.Run("none if negative", func(t *testing.T) {
		playBoth(t, httpclient.Options{Timeout: -1}, func(s *site) {
			p := s.accept()
			for range 2 {
				p.request("/")
				s.until(now(s.task) + 24*time.Hour)
				p.send(ok("at last"))
			}
		}, func(b *browser) {
			b.reads("/", "at last")
			b.reads("/", "at last")
		})
	})
}

func TestCancel(t *testing.T) {
	t.Run("in the body", func(t *testing.T) {
		playBoth(t, httpclient.Options{}, func(s *site) {
			s.serve("/", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello").ended()
			s.serve("/again", ok("whole"))
		}, func(b *browser) {
			err := b.task.Timeout(time.Second, func(task *aio.Task) error {
				_, err := b.client.Do(task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/"})
				expectKind(t, err, httpclient.KindCanceled)
				return err
			})
			if !errors.Is(err, aio.ErrTimeout) || now(b.task) != time.Second {
				t.Errorf("at %v: %v, want the time-out of its caller", now(b.task), err)
			}
			b.reads("/again", "whole") // over another connection, with another buffer
		})
	})
	t.Run("while connecting", func(t *testing.T) {
		playBoth(t, httpclient.Options{}, func(*site) {}, func(b *browser) {
			_ = b.task.Timeout(time.Second, func(task *aio.Task) error {
				_, err := b.client.Do(task, httpclient.Request{Scheme: "http", Host: "hole.example", Target: "/"})
				expectKind(t, err, httpclient.KindCanceled)
				return err
			})
		})
	})
	t.Run("before it begins, keeps the connection", func(t *testing.T) {
		playBoth(t, httpclient.Options{}, func(s *site) {
			s.serve("/", ok("1")).serve("/again", ok("2"))
		}, func(b *browser) {
			b.reads("/", "1")
			_ = b.task.Timeout(0, func(task *aio.Task) error {
				_, err := b.client.Do(task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/never"})
				expectKind(t, err, httpclient.KindCanceled)
				return err
			})
			b.reads("/again", "2")
		})
	})
}

func TestCloseGivesTheBufferBack(t *testing.T) {
	play(t, httpclient.Options{}, func(s *site) {
		p := s.accept()
		for range 4 {
			p.serve("/", ok("hello"))
		}
	}, func(b *browser) {
		get := func() *httpclient.Response {
			res, err := b.get("/")
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		first := get()
		buffer := &first.Body[0]
		first.Close()
		if first.Body != nil {
			t.Error("there is a body after Close")
		}
		second := get()
		if &second.Body[0] != buffer {
			t.Error("the buffer of a closed response was not used again")
		}
		first.Close() // a second Close: the buffer is the second response's
		third := get()
		if &third.Body[0] == buffer {
			t.Error("two responses have one buffer")
		}
		second.Close()
		third.Close()
		b.reads("/", "hello")
	})
}
