package httpclient_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/httpclient"
)

// do sends a request to www.example.
func (b *browser) do(req httpclient.Request) (*httpclient.Response, error) {
	req.Scheme, req.Host = "http", "www.example"
	return b.send(req)
}

func TestHead(t *testing.T) {
	playBoth(t, httpclient.Options{}, func(s *site) {
		p := s.accept()
		if got := p.request("/1"); !strings.HasPrefix(got, "HEAD /1 HTTP/1.1\r\n") {
			t.Errorf("request %q, want HEAD", got)
		}
		p.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\nContent-Encoding: compress\r\n\r\n")
		p.serve("/2", ok("two")) // over the same connection
		p.serve("/3", ok("a body all the same"))
		p.ended()
		s.serve("/4", ok("four"))
	}, func(b *browser) {
		res, err := b.do(httpclient.Request{Method: "HEAD", Target: "/1"})
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != 200 || len(res.Body) != 0 || res.Encoding != "" || res.Header.Get("Content-Length") != "99999999" {
			t.Errorf("got %+v", res)
		}
		res.Close()
		b.reads("/2", "two")
		if res, err = b.do(httpclient.Request{Method: "HEAD", Target: "/3"}); err != nil || len(res.Body) != 0 {
			t.Errorf("got %+v, %v", res, err)
		}
		b.reads("/4", "four")
	})
}

func TestRequestFields(t *testing.T) {
	const own = "User-Agent: weft-test/1\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"
	for _, c := range []struct {
		name          string
		client, fresh httpclient.Header // Options.Header, Request.Header
		want          string            // after the request line
	}{
		{"none", nil, nil, "Host: www.example\r\n" + own},
		{"of the client", httpclient.Header{{"X-A", "1"}, {"X-A", "2"}}, nil, "Host: www.example\r\n" + own + "X-A: 1\r\nX-A: 2\r\n"},
		{"of the request", nil, httpclient.Header{{"Cookie", "a=b"}}, "Host: www.example\r\n" + own + "Cookie: a=b\r\n"},
		{"the client's replaces its own", httpclient.Header{{"accept", "text/html"}}, nil,
			"Host: www.example\r\nUser-Agent: weft-test/1\r\nAccept-Encoding: gzip, deflate, br, zstd\r\naccept: text/html\r\n"},
		{"the request's replaces both", httpclient.Header{{"X-A", "1"}, {"X-B", "1"}}, httpclient.Header{{"x-a", "2"}, {"USER-AGENT", "other"}},
			"Host: www.example\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nX-B: 1\r\nx-a: 2\r\nUSER-AGENT: other\r\n"},
		{"an empty value takes it away", httpclient.Header{{"Accept", ""}}, httpclient.Header{{"User-Agent", ""}},
			"Host: www.example\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"},
		{"the client's host", httpclient.Header{{"Host", "virtual.example"}}, nil, "Host: virtual.example\r\n" + own},
		{"the request's host", httpclient.Header{{"Host", "virtual.example"}}, httpclient.Header{{"host", "other.example"}}, "Host: other.example\r\n" + own},
	} {
		t.Run(c.name, func(t *testing.T) {
			playBoth(t, httpclient.Options{UserAgent: "weft-test/1", Header: c.client}, func(s *site) {
				p := s.accept()
				if got, want := p.request("/"), s.fields("GET / HTTP/1.1\r\n"+c.want+"\r\n"); got != want {
					t.Errorf("got  %q\nwant %q", got, want)
				}
				p.send(ok("x"))
			}, func(b *browser) {
				if _, err := b.do(httpclient.Request{Target: "/", Header: c.fresh}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestFieldsThatAreNotSent(t *testing.T) {
	for _, f := range []httpclient.Field{
		{"", "1"}, {"X A", "1"}, {"X-A:", "1"}, {"X-A", "1\r\nX-B: 2"}, {"X-A", "1\x00"}, {"X-A", " 1"}, {"X-A", "1\x7f"}, {"X-Ä", "1"},
		{"content-length", "5"}, {"Transfer-Encoding", "chunked"}, {"Connection", "close"}, {"Upgrade", "h2c"}, {"Expect", "100-continue"},
	} {
		if err := (httpclient.Header{f}).Check(); err == nil {
			t.Errorf("%q passes", f)
		}
		play(t, httpclient.Options{Header: httpclient.Header{f}}, func(*site) {}, func(b *browser) { b.fails("/", httpclient.KindScheme) })
	}
	play(t, httpclient.Options{UserAgent: "weft\r\nX-B: 2"}, func(*site) {}, func(b *browser) { b.fails("/", httpclient.KindScheme) })
	if err := (httpclient.Header{{"Cookie", "a=b; c=\"d e\""}, {"X-Latin", "\xe9"}, {"X-Tab", "a\tb"}, {"Accept", ""}}).Check(); err != nil {
		t.Error(err)
	}
}

// raw returns a response as received.
func raw(r *httpclient.Response) string {
	return r.RawHead + string(bytes.Join(r.AppendRaw(nil), nil))
}

// TestRaw checks the parts of a response other than its body, kept as received.
func TestRaw(t *testing.T) {
	interim := "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
	first := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\nX-A:  b\r\n\r\n"
	zipped := zip(t, "hello")
	first += fmt.Sprintf("%x;ext=1\r\n%s\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n", len(zipped), zipped)
	second := "HTTP/1.0 404 No\nContent-Length: 2\n\nno"
	third := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk("x"), 1000) + "0\r\n\r\n"
	play(t, httpclient.Options{KeepRaw: true}, func(s *site) {
		p := s.accept()
		p.serve("/1", interim+first)
		p.serve("/3", third)
		p.serve("/2", second+"bytes beyond it")
	}, func(b *browser) {
		res, err := b.get("/1")
		if err != nil {
			t.Fatal(err)
		}
		if raw(res) != first || res.RawLen() != len(first) || string(res.Body) != "hello" || res.Encoding != "gzip" || res.Wire != int64(len(interim+first)) {
			t.Errorf("raw %q, want %q; body %q, wire %d", raw(res), first, res.Body, res.Wire)
		}
		if got, want := fmt.Sprint(res.Trailer), "[{X-Sum 1} {x-sum 2}]"; got != want {
			t.Errorf("trailer %s, want %s", got, want)
		}
		res.Close()
		if res, err = b.get("/3"); err != nil || raw(res) != third || len(res.AppendRaw(nil)) != 1 {
			t.Errorf("raw %q, want %q (%v)", raw(res), third, err)
		}
		res.Close()
		if res, err = b.get("/2"); err != nil || raw(res) != second {
			t.Errorf("raw %q, want %q (%v)", raw(res), second, err)
		}
	})
}

func TestRawIsNotKeptByDefault(t *testing.T) {
	play(t, httpclient.Options{}, func(s *site) { s.serve("/", ok("x")) }, func(b *browser) {
		if res, err := b.get("/"); err != nil || res.RawLen() != len(res.RawHead) {
			t.Errorf("%d bytes, %v", res.RawLen(), err)
		}
	})
}

// A response that fails in its body is returned as far as it arrived.
func TestPartOfAResponse(t *testing.T) {
	head := "HTTP/1.1 203 Half\r\nContent-Length: 10\r\nContent-Encoding: gzip\r\n\r\n"
	for _, c := range []struct {
		name, response string
		kind           httpclient.Kind
		head           bool // came
	}{
		{"the end in the body", head + "hello", httpclient.KindEarlyEnd, true},
		{"not decoded", head + "helloworld", httpclient.KindEncoding, true},
		{"too large", "HTTP/1.1 203 Half\r\nContent-Length: 1000\r\n\r\n", httpclient.KindTooLarge, true},
		{"the end in the head", "HTTP/1.1 203 Half\r\nContent-", httpclient.KindEarlyEnd, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, httpclient.Options{KeepRaw: true, MaxBody: 100}, func(s *site) {
				s.serve("/", c.response).close()
			}, func(b *browser) {
				res, err := b.get("/")
				expectKind(t, err, c.kind)
				server := netip.MustParseAddrPort("192.0.2.1:80")
				var e *httpclient.Error
				if errors.As(err, &e); e.Wire != int64(len(c.response)) || e.Addr != server || e.Timing.FirstByte != 2*latency {
					t.Errorf("error with %d bytes, from %v, %+v", e.Wire, e.Addr, e.Timing)
				}
				if !c.head {
					if res != nil {
						t.Errorf("got %+v, want none", res)
					}
					return
				}
				if res == nil || res.Status != 203 || res.Body != nil || raw(res) != c.response ||
					res.Wire != int64(len(c.response)) || res.Addr != server || res.Timing != e.Timing {
					t.Errorf("got %+v", res)
				}
				res.Close()
			})
		})
	}
}

func TestTiming(t *testing.T) {
	playBoth(t, httpclient.Options{}, func(s *site) {
		p := s.accept()
		for range 2 {
			p.request("/")
			s.until(now(s.task) + time.Second)
			p.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
			s.until(now(s.task) + 3*time.Second)
			p.send("hello")
		}
		p.close()
		s.serve("/", ok("again"))
	}, func(b *browser) {
		answered := time.Second + 2*latency
		want := []httpclient.Timing{
			{DNS: 2 * latency, Connect: 2 * latency, FirstByte: answered, Total: 4*latency + answered + 3*time.Second},
			{FirstByte: answered, Total: answered + 3*time.Second},
			// The address is cached.
			{Connect: 2 * latency, FirstByte: 2 * latency, Total: 4 * latency},
		}
		for i, want := range want {
			res, err := b.get("/")
			if err != nil {
				t.Fatal(err)
			}
			if res.Timing != want || res.Reused != (i == 1) || res.Addr != netip.MustParseAddrPort("192.0.2.1:80") || res.TLS != nil {
				t.Errorf("%d: %+v, reused %v, from %v, want %+v", i, res.Timing, res.Reused, res.Addr, want)
			}
			b.until(now(b.task) + time.Second)
		}
	})
}
