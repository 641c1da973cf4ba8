package httpclient_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
)

// h2Server is a server of net/http that counts its connections.
type h2Server struct {
	*httptest.Server
	opened atomic.Int64
}

func newH2Server(t *testing.T, handler http.HandlerFunc) *h2Server {
	t.Helper()
	s := &h2Server{Server: httptest.NewUnstartedServer(handler)}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.opened.Add(1)
		}
	}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// options trust the server's certificate.
func (s *h2Server) options() httpclient.Options {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return httpclient.Options{RootCAs: roots, KeepRaw: true}
}

func (s *h2Server) get(target string) httpclient.Request {
	return httpclient.Request{Scheme: "https", Host: s.Listener.Addr().String(), Target: target}
}

// onLoop runs a client on a loop.
func onLoop(t *testing.T, opt httpclient.Options, fn func(task *aio.Task, c *httpclient.Client) error) {
	t.Helper()
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		c := httpclient.NewClient(task.Loop(), opt)
		defer c.Close()
		return fn(task, c)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHTTP2: requests to an origin share a connection, and their responses are whole.
func TestHTTP2(t *testing.T) {
	s := newH2Server(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.URL.Path, "/%d", &n)
		w.Header().Set("X-Agent", r.UserAgent())
		w.Write(bytes.Repeat([]byte{byte('a' + n%26)}, n*n*100))
	})
	opt := s.options()
	opt.UserAgent = "weft"
	onLoop(t, opt, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			for n := range 60 {
				g.Go("get", func(task *aio.Task) error {
					res, err := c.Do(task, s.get(fmt.Sprintf("/%d", n)))
					if err != nil {
						return fmt.Errorf("%d: %w", n, err)
					}
					defer res.Close()
					want := bytes.Repeat([]byte{byte('a' + n%26)}, n*n*100)
					if !bytes.Equal(res.Body, want) || res.Proto != "HTTP/2" || res.Status != 200 || res.Header.Get("X-Agent") != "weft" {
						t.Errorf("%d: %s %d, %d bytes of %d", n, res.Proto, res.Status, len(res.Body), len(want))
					}
					if !strings.HasPrefix(res.RawHead, "HTTP/1.1 200 \r\n") || !strings.HasPrefix(res.Sent, "GET /") {
						t.Errorf("%d: head %q, sent %q", n, res.RawHead, res.Sent)
					}
					return nil
				})
			}
			return nil
		})
	})
	if n := s.opened.Load(); n != 1 {
		t.Errorf("%d connections, expected 1", n)
	}
}

// scripted is a server that plays frames to each connection, by prior knowledge.
type scripted struct {
	net.Listener
	opened atomic.Int64
}

// h2Peer is a connection of a scripted server, whose requests come as the streams' numbers.
type h2Peer struct {
	*http2.Framer
	conn  net.Conn
	n     int64 // of the connection, from 1
	block bytes.Buffer
	hpack *hpack.Encoder
}

// next returns the stream of the next request; 0: there is none.
func (p *h2Peer) next() uint32 {
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return 0
		}
		if h, ok := f.(*http2.HeadersFrame); ok {
			return h.StreamID
		}
	}
}

func (p *h2Peer) head(id uint32, end bool, pairs ...string) {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		p.hpack.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block.Bytes(), EndStream: end, EndHeaders: true})
}

// answer is a whole response.
func (p *h2Peer) answer(id uint32) {
	p.head(id, false, ":status", "200")
	p.WriteData(id, true, fmt.Appendf(nil, "%d.%d", p.n, id))
}

func newScripted(t *testing.T, play func(*h2Peer), settings ...http2.Setting) *scripted {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{Listener: l}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n := s.opened.Add(1)
			all.Go(func() { playTo(t, conn, n, play, settings...) })
		}
	})
	return s
}

// playTo plays frames to the n-th connection, whose client a referee judges.
func playTo(t *testing.T, accepted net.Conn, n int64, play func(*h2Peer), settings ...http2.Setting) {
	defer accepted.Close()
	conn := judge(t, accepted)
	p := &h2Peer{Framer: http2.NewFramer(conn, conn), conn: conn, n: n}
	p.hpack = hpack.NewEncoder(&p.block)
	io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
	p.WriteSettings(settings...)
	play(p)
	// Close would reset the connection for the bytes that were not read.
	accepted.(interface{ CloseWrite() error }).CloseWrite()
	io.Copy(io.Discard, conn)
}

func (s *scripted) get() httpclient.Request {
	return httpclient.Request{Scheme: "http", Host: s.Addr().String(), Target: "/"}
}

var http2Only = httpclient.Options{HTTP2: true, Timeout: time.Minute}

// TestHTTP2Retries: a request that the server has not looked at is sent again, others are not.
func TestHTTP2Retries(t *testing.T) {
	for name, test := range map[string]struct {
		play  func(*h2Peer)
		want  string // the last body, or the kind of its error
		conns int64
	}{
		"connections of two requests": {func(p *h2Peer) {
			p.answer(p.next())
			id := p.next()
			p.WriteGoAway(id, http2.ErrCodeNo, nil)
			p.answer(id)
			p.next()
		}, "2.3", 2},
		"a stream refused": {func(p *h2Peer) {
			for id := p.next(); id > 0; id = p.next() {
				if id == 5 {
					p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
					continue
				}
				p.answer(id)
			}
		}, "1.9", 1},
		"going away for ever": {func(p *h2Peer) { p.next(); p.WriteGoAway(0, http2.ErrCodeNo, nil) }, "reset", 8},
		"a reset":             {func(p *h2Peer) { p.WriteRSTStream(p.next(), http2.ErrCodeInternal); p.next() }, "reset", 4},
		"a kept connection ended": {func(p *h2Peer) {
			p.answer(p.next())
			if p.n%2 == 1 {
				p.next() // and says nothing
			}
		}, "4.1", 4},
		"half a body": {func(p *h2Peer) {
			id := p.next()
			p.head(id, false, ":status", "200", "content-length", "5")
			p.WriteData(id, false, []byte("half"))
		}, "early-end", 4},
		"malformed": {func(p *h2Peer) {
			for id := p.next(); id > 0; id = p.next() {
				p.head(id, true, ":status", "200", "Upper", "case")
			}
		}, "protocol", 1},
		"interim responses, and then a whole one": {func(p *h2Peer) {
			for id := p.next(); id > 0; id = p.next() {
				for range 17 {
					p.head(id, false, ":status", "103")
				}
				p.head(id, false, ":status", "200")
				p.head(id, true, "trailer", "behind no head")
			}
		}, "too-large", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t, test.play)
			got := ""
			onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
				for range 4 {
					res, err := c.Do(task, s.get())
					var failed *httpclient.Error
					switch {
					case errors.As(err, &failed):
						got = string(failed.Kind)
					case err != nil:
						return err
					default:
						got = string(res.Body)
						res.Close()
					}
				}
				return nil
			})
			if n := s.opened.Load(); got != test.want || n != test.conns {
				t.Errorf("%q over %d connections, expected %q over %d", got, n, test.want, test.conns)
			}
		})
	}
}

// TestPostIsNotKept: a POST does not go over a kept connection, whose end it might meet, over
// either protocol.
func TestPostIsNotKept(t *testing.T) {
	playBoth(t, httpclient.Options{}, func(s *site) {
		p := s.serve("/", ok("x"))
		s.until(100 * time.Millisecond)
		p.close()
		s.serve("/post", ok("y"))
	}, func(b *browser) {
		b.reads("/", "x")
		b.until(105 * time.Millisecond) // the connection looks open for 5 ms more
		res, err := b.do(httpclient.Request{Method: "POST", Target: "/post", Body: []byte("a=b")})
		if err != nil || string(res.Body) != "y" {
			t.Fatalf("%+v, %v, expected y over a new connection", res, err)
		}
		res.Close()
	})
}

// TestPostIsNotRepeated: a POST that meets the end of a connection that others use is not sent
// again.
func TestPostIsNotRepeated(t *testing.T) {
	playWire(t, httpclient.Options{}, func(s *site) {
		w := s.acceptWire()
		w.head(w.next().StreamID, true)
		w.next()
		s.until(100 * time.Millisecond)
		w.conn.Close()
		w = s.acceptWire() // for the GET
		if f := w.next(); f.PseudoValue("method") != "GET" {
			s.t.Error("a POST was sent again")
		} else {
			w.head(f.StreamID, true)
		}
		w.next()
	}, func(b *browser) {
		b.reads("/", "")
		_ = b.task.Group(func(g *aio.Group) error {
			g.Go("get", func(task *aio.Task) error { b.on(task).reads("/", ""); return nil })
			b.until(105 * time.Millisecond) // the connection looks open for 5 ms more
			_, err := b.do(httpclient.Request{Method: "POST", Target: "/", Body: []byte("a=b")})
			if !errors.Is(err, httpclient.ErrStale) {
				b.t.Errorf("%v, expected an error that matches ErrStale", err)
			}
			return nil
		})
	})
}

// choice is a server that speaks HTTP/1.1, and plays frames to those who choose HTTP/2.
type choice struct {
	*h2Server
	frames atomic.Int64 // connections of HTTP/2
	plain  atomic.Int64 // requests of HTTP/1.1
}

func newChoice(t *testing.T, play func(*h2Peer)) *choice {
	t.Helper()
	s := &choice{h2Server: &h2Server{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.plain.Add(1)
		if r.URL.Path == "/frames" { // in the middle of HTTP/1.1
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				http2.NewFramer(conn, nil).WriteSettings()
				conn.Close()
			}
			return
		}
		io.WriteString(w, "plain")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
			playTo(t, conn, s.frames.Add(1), play)
		},
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// TestHTTP2Unwanted: a server that asks for HTTP/1.1 gets it from then on, one that ends
// connections does not.
func TestHTTP2Unwanted(t *testing.T) {
	for name, test := range map[string]struct {
		play   func(*h2Peer)
		failed int // requests
		frames int64
	}{
		"HTTP_1_1_REQUIRED": {func(p *h2Peer) { p.WriteRSTStream(p.next(), http2.ErrCodeHTTP11Required); p.next() }, 0, 1},
		"421":               {func(p *h2Peer) { p.head(p.next(), true, ":status", "421"); p.next() }, 0, 1},
		"closed at once":    {func(p *h2Peer) {}, 5, 5},
		"silent":            {func(p *h2Peer) { p.next(); p.WriteGoAway(1, http2.ErrCodeNo, nil) }, 5, 5},
		"closed at first": {func(p *h2Peer) {
			if id := p.next(); p.n > 1 {
				p.head(id, false, ":status", "200")
				p.WriteData(id, true, []byte("h2"))
			}
		}, 1, 5},
	} {
		t.Run(name, func(t *testing.T) {
			s := newChoice(t, test.play)
			onLoop(t, s.options(), func(task *aio.Task, c *httpclient.Client) error {
				failed := 0
				for range 5 {
					res, err := c.Do(task, s.get("/"))
					if err != nil {
						expectKind(t, err, httpclient.KindEarlyEnd)
						failed++
						continue
					}
					if want := map[bool]string{true: "h2", false: "http/1.1"}[test.failed > 0]; res.Protocol() != want {
						t.Errorf("%s: %q", res.Protocol(), res.Body)
					}
					res.Close()
				}
				if failed != test.failed || s.frames.Load() != test.frames {
					t.Errorf("%d failed, %d connections of HTTP/2", failed, s.frames.Load())
				}
				return nil
			})
		})
	}
}

// TestHTTP2Misjudged: a server that asked for HTTP/1.1 once, and does not speak it, gets HTTP/2
// again.
func TestHTTP2Misjudged(t *testing.T) {
	s := newChoice(t, func(p *h2Peer) {
		for id := p.next(); id > 0; id = p.next() {
			p.head(id, true, ":status", map[bool]string{true: "421", false: "200"}[p.n == 1])
		}
	})
	onLoop(t, s.options(), func(task *aio.Task, c *httpclient.Client) error {
		for range 2 {
			res, err := c.Do(task, s.get("/frames"))
			if err != nil {
				return err
			}
			if res.Status != 200 || res.Protocol() != "h2" {
				t.Errorf("%d over %s", res.Status, res.Protocol())
			}
			res.Close()
		}
		return nil
	})
	if s.plain.Load() != 1 || s.frames.Load() != 2 {
		t.Errorf("%d requests of HTTP/1.1, %d connections of HTTP/2", s.plain.Load(), s.frames.Load())
	}
}

// TestHTTP2Few: a server ends its connections among requests, or takes few of them. All succeed,
// each once, over as few connections as that takes, and few are sent in vain.
func TestHTTP2Few(t *testing.T) {
	const requests = 200
	for name, test := range map[string]struct {
		of       int // requests of a connection; 0: any
		atOnce   int // more are refused; 0: none is
		settings []http2.Setting
		conns    int64 // at most
		vain     int64 // at most
	}{
		"20 of a connection": {20, 0, nil, requests/20 + 5, 100},
		"1 of a connection":  {1, 0, nil, requests + 5, 100},
		"2 at once":          {0, 0, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 2}}, 6, 0},
		"2 at once, unsaid":  {0, 2, nil, 6, 100},
		"1 at once, unsaid":  {0, 1, nil, 6, 100},
	} {
		t.Run(name, func(t *testing.T) {
			var served, vain atomic.Int64
			s := newScripted(t, func(p *h2Peer) {
				var waiting []uint32
				for n := 0; ; {
					f, err := p.ReadFrame()
					if err != nil {
						return
					}
					switch f := f.(type) {
					case *http2.HeadersFrame:
						switch {
						case test.of > 0 && n >= test.of:
							vain.Add(1)
							continue
						case test.atOnce > 0 && len(waiting) == test.atOnce:
							vain.Add(1)
							p.WriteRSTStream(f.StreamID, http2.ErrCodeRefusedStream)
							continue
						}
						waiting = append(waiting, f.StreamID)
						n++
						p.WritePing(false, [8]byte{}) // what comes before its response has come at once
					case *http2.PingFrame:
						if n == test.of && len(waiting) == 1 {
							p.WriteGoAway(waiting[0], http2.ErrCodeNo, nil)
						}
						served.Add(1)
						p.answer(waiting[0])
						waiting = waiting[1:]
					}
				}
			}, test.settings...)
			onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
				return task.Group(func(g *aio.Group) error {
					for range 10 {
						g.Go("get", func(task *aio.Task) error {
							for range requests / 10 {
								req := s.get()
								req.Once = true
								res, err := c.Do(task, req)
								if err != nil {
									return err
								}
								res.Close()
							}
							return nil
						})
					}
					return nil
				})
			})
			if n := s.opened.Load(); n > test.conns || served.Load() != requests || vain.Load() > test.vain {
				t.Errorf("%d requests over %d connections, and %d in vain; expected %d over at most %d, and %d", served.Load(), n, vain.Load(), requests, test.conns, test.vain)
			}
		})
	}
}

// TestHTTP2Refuses: a server that answers one request of each connection, and refuses the others
// for ever, is not asked for ever.
func TestHTTP2Refuses(t *testing.T) {
	const requests = 100
	var got atomic.Int64
	s := newScripted(t, func(p *h2Peer) {
		for id := p.next(); id > 0; id = p.next() {
			if got.Add(1); id == 1 {
				p.answer(id)
			} else {
				p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			}
		}
	})
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			for range 10 {
				g.Go("get", func(task *aio.Task) error {
					for range requests / 10 {
						res, err := c.Do(task, s.get())
						if err != nil {
							expectKind(t, err, httpclient.KindReset)
							continue
						}
						res.Close()
					}
					return nil
				})
			}
			return nil
		})
	})
	if n := got.Load(); n > 5*requests {
		t.Errorf("%d requests were sent for %d", n, requests)
	}
}

// TestHTTP2Tunnel: streams go through a proxy in one tunnel, and a connection in use is judged for
// each request.
func TestHTTP2Tunnel(t *testing.T) {
	s := newH2Server(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) })
	var tunnels atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, err := net.Dial("tcp", r.Host)
		if err != nil || r.Method != http.MethodConnect {
			http.Error(w, "no", http.StatusBadGateway)
			return
		}
		defer to.Close()
		from, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		tunnels.Add(1)
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(to, from)
		io.Copy(from, to)
	}))
	defer proxy.Close()
	opt := s.options()
	opt.Proxy = through(t, proxy.URL).Proxy
	onLoop(t, opt, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			for n := range 20 {
				g.Go("get", func(task *aio.Task) error {
					req := s.get(fmt.Sprintf("/%d", n))
					if n == 19 {
						req.Allow = func(netip.AddrPort) error { return errors.New("no") }
					}
					res, err := c.Do(task, req)
					switch {
					case n == 19:
						expectKind(t, err, httpclient.KindBlocked)
						return nil
					case err != nil:
						return err
					case string(res.Body) != req.Target || res.Proto != "HTTP/2":
						t.Errorf("%s: %s %q", req.Target, res.Proto, res.Body)
					}
					res.Close()
					return nil
				})
			}
			return nil
		})
	})
	if n := tunnels.Load(); n != 1 {
		t.Errorf("%d tunnels, expected 1", n)
	}
}

// TestHTTP2Room: responses that together exceed the memory arrive all, over one connection, and
// hold no more than there is: the share, one beyond it, and the first windows.
func TestHTTP2Room(t *testing.T) {
	const (
		streams, body = 100, 400 << 10
		share, window = 3 << 20, 16 << 10
		growth        = 256 << 10 // of a long body
		most          = share + body + growth + streams*window
	)
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(bytes.Repeat([]byte("x"), body))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	opt := http2Only
	opt.Meter, opt.Window = budget.New(share), window
	onLoop(t, opt, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			for n := range streams {
				g.Go("get", func(task *aio.Task) error {
					res, err := c.Do(task, httpclient.Request{Scheme: "http", Host: s.Listener.Addr().String(), Target: "/"})
					if err != nil {
						return fmt.Errorf("%d: %w", n, err)
					}
					if len(res.Body) != body {
						t.Errorf("%d: %d bytes", n, len(res.Body))
					}
					res.Close()
					return nil
				})
			}
			return nil
		})
	})
	if peak := opt.Meter.Peak(); peak > most || peak < share/2 {
		t.Errorf("%d bytes held, expected at most %d", peak, most)
	}
	if held := opt.Meter.Held(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections, expected 1", n)
	}
}

// TestHTTP2Cut: a body that is too long is cut, and its connection serves others.
func TestHTTP2Cut(t *testing.T) {
	s := newScripted(t, func(p *h2Peer) {
		for id := p.next(); id > 0; id = p.next() {
			p.head(id, false, ":status", "200")
			p.WriteData(id, true, make([]byte, 10_000))
		}
	})
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		for _, cut := range []bool{true, false} {
			req := s.get()
			req.MaxBody, req.Cut = 100, cut
			res, err := c.Do(task, req)
			if !cut {
				expectKind(t, err, httpclient.KindTooLarge)
			} else if err != nil || !res.Truncated || len(res.Body) != 100 {
				t.Errorf("cut: %v, %+v", err, res)
			}
			if res != nil {
				res.Close()
			}
		}
		return nil
	})
	if n := s.opened.Load(); n != 1 {
		t.Errorf("%d connections, expected 1", n)
	}
}

// TestHTTP2Settings: requests wait until a server has said how many streams it allows, and none is
// one too many.
func TestHTTP2Settings(t *testing.T) {
	for limit, conns := range map[int]int64{5: 4, 20: 1} {
		testSettings(t, limit, conns)
	}
}

func testSettings(t *testing.T, limit int, conns int64) {
	s := newScripted(t, func(p *h2Peer) {
		var waiting []uint32
		known, open := false, 0
		for {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.SettingsFrame:
				known = known || f.IsAck()
			case *http2.HeadersFrame:
				if open++; open > limit || open > 1 && !known {
					t.Errorf("%d streams, settings known: %t", open, known)
				}
				waiting = append(waiting, f.StreamID)
			}
			if known {
				for _, id := range waiting {
					p.answer(id)
				}
				waiting, open = nil, 0
			}
		}
	}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(limit)})
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			for range 20 {
				g.Go("get", func(task *aio.Task) error {
					res, err := c.Do(task, s.get())
					if err == nil {
						res.Close()
					}
					return err
				})
			}
			return nil
		})
	})
	if n := s.opened.Load(); n > conns {
		t.Errorf("%d connections for %d streams each, expected at most %d", n, limit, conns)
	}
}

// TestHTTP2EndsByCredit: a response is whole although its server looks whether it has ended only
// while it has credit, as Apache does.
func TestHTTP2EndsByCredit(t *testing.T) {
	const length = 300_000
	s := newScripted(t, func(p *h2Peer) {
		var id uint32
		window, left := 65535, length
		for {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.SettingsFrame:
				if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
					window = int(size)
				}
			case *http2.WindowUpdateFrame:
				if f.StreamID != 0 {
					window += int(f.Increment)
				}
			case *http2.HeadersFrame:
				id = f.StreamID
				p.head(id, false, ":status", "200", "content-length", fmt.Sprint(length))
			}
			for id != 0 && window > 0 {
				n := min(window, left, 1<<14)
				if p.WriteData(id, n == 0, make([]byte, n)); n == 0 {
					return
				}
				window, left = window-n, left-n
			}
		}
	})
	opt := http2Only
	opt.IdleTimeout = 2 * time.Second
	onLoop(t, opt, func(task *aio.Task, c *httpclient.Client) error {
		res, err := c.Do(task, s.get())
		if err != nil {
			return err
		}
		defer res.Close()
		if len(res.Body) != length {
			t.Errorf("%d bytes", len(res.Body))
		}
		return nil
	})
}

// TestHTTP2Excess: of the requests of a connection, the one whose fields are too long fails. Others
// are sent again.
func TestHTTP2Excess(t *testing.T) {
	s := newScripted(t, func(p *h2Peer) {
		id := p.next()
		p.answer(id)
		if p.n > 1 {
			for id = p.next(); id > 0; id = p.next() {
				p.answer(id)
			}
			return
		}
		for range 3 {
			id = p.next()
		}
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x88}})
		for range 5 {
			p.WriteContinuation(id, false, make([]byte, 16<<10))
		}
		p.next()
	})
	kinds := make(map[httpclient.Kind]int)
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		get := func(task *aio.Task) error {
			res, err := c.Do(task, s.get())
			var failed *httpclient.Error
			switch {
			case err == nil:
				kinds[""]++
				res.Close()
			case errors.As(err, &failed):
				kinds[failed.Kind]++
			}
			return nil
		}
		_ = get(task) // the server's settings
		return task.Group(func(g *aio.Group) error {
			for range 3 {
				g.Go("get", get)
			}
			return nil
		})
	})
	if kinds[""] != 3 || kinds[httpclient.KindTooLarge] != 1 {
		t.Errorf("kinds of errors: %v", kinds)
	}
}
