package httpclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

// playWire is play over HTTP/2 by Do and by DoThen, for servers that write frame by frame.
func playWire(t *testing.T, opt httpclient.Options, server func(s *site), client func(b *browser)) {
	t.Helper()
	opt.HTTP2 = true
	t.Run("Do", func(t *testing.T) { play(t, opt, server, client) })
	t.Run("DoThen", func(t *testing.T) {
		play(t, opt, server, func(b *browser) { b.then = true; client(b) })
	})
}

// acceptWire waits for a connection of HTTP/2, over which frames are written one by one.
func (s *site) acceptWire() *wire {
	s.t.Helper()
	c, err := s.ln.Accept(s.task)
	if err != nil {
		s.t.Fatal("server: ", err)
	}
	s.peers = append(s.peers, &peer{site: s, conn: c})
	return newWire(s.task, c)
}

// head sends the head of a response of status 200.
func (w *wire) head(id uint32, end bool) {
	_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte("\x88"), EndHeaders: true, EndStream: end})
}

// on returns b in another task.
func (b *browser) on(task *aio.Task) *browser {
	other := *b
	other.task = task
	return &other
}

// together runs requests of b at once.
func (b *browser) together(n int, get func(b *browser)) {
	_ = b.task.Group(func(g *aio.Group) error {
		for range n {
			g.Go("get", func(task *aio.Task) error { get(b.on(task)); return nil })
		}
		return nil
	})
}

// TestHTTP2ReadsNothing: a request that its server does not read times out, by the limit of the
// whole fetch. Responses go on meanwhile, and later requests go over another connection.
func TestHTTP2ReadsNothing(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"one limit": 0, "and one of the first byte": 7 * time.Second} {
		t.Run(name, func(t *testing.T) { testReadsNothing(t, httpclient.Options{FirstByteTimeout: timeout}) })
	}
}

func testReadsNothing(t *testing.T, opt httpclient.Options) {
	playWire(t, opt, func(s *site) {
		w := s.acceptWire()
		_ = w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
		_ = w.WriteWindowUpdate(0, 1<<30)
		id := w.next().StreamID
		w.head(id, false)
		for n := range 10 {
			s.until(time.Duration(n+2) * time.Second)
			_ = w.WriteData(id, n == 9, make([]byte, 1000))
		}
		w = s.acceptWire()
		w.head(w.next().StreamID, true)
		s.until(60 * time.Second)
	}, func(b *browser) {
		t := b.t
		_ = b.task.Group(func(g *aio.Group) error {
			g.Go("read", func(task *aio.Task) error {
				b.on(task).reads("/", strings.Repeat("\x00", 10_000))
				if at := now(task); at > 12*time.Second {
					t.Errorf("a response that ended at 11 s was there at %v", at)
				}
				return nil
			})
			g.Go("not sent", func(task *aio.Task) error {
				until(t, task, 20*time.Second)
				b.on(task).fails("/", httpclient.KindTimeout)
				return nil
			})
			until(t, b.task, time.Second)
			b.together(2, func(b *browser) {
				_, err := b.do(httpclient.Request{Method: "POST", Target: "/", Body: make([]byte, 4<<20)})
				expectKind(t, err, httpclient.KindTimeout)
				if text := "request not sent within 30s"; !strings.Contains(err.Error(), text) {
					t.Errorf("%v, expected %s", err, text)
				}
				if at := now(b.task); at != 31*time.Second {
					t.Errorf("the time ran out at %v", at)
				}
			})
			b.reads("/", "")
			return nil
		})
	})
}

// TestHTTP2ReadsLate: a request is sent when its server reads again.
func TestHTTP2ReadsLate(t *testing.T) {
	const size = 4 << 20
	playWire(t, httpclient.Options{FirstByteTimeout: 7 * time.Second}, func(s *site) {
		w := s.acceptWire()
		_ = w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
		_ = w.WriteWindowUpdate(0, 1<<30)
		s.until(20 * time.Second)
		id := w.next().StreamID
		for got := 0; got < size; {
			f, err := w.ReadFrame()
			if err != nil {
				s.t.Fatal(err)
			}
			if data, ok := f.(*http2.DataFrame); ok {
				got += len(data.Data())
			}
		}
		s.until(25 * time.Second)
		w.head(id, true)
		for range 2 {
			w.next()
		}
	}, func(b *browser) {
		res, err := b.do(httpclient.Request{Method: "POST", Target: "/", Body: make([]byte, size)})
		if err != nil {
			b.t.Fatal(err)
		}
		res.Close()
	})
}

// TestHTTP2Stalled: a response that stalls does not hold up the others of its connection.
func TestHTTP2Stalled(t *testing.T) {
	playWire(t, httpclient.Options{IdleTimeout: time.Second}, func(s *site) {
		w := s.acceptWire()
		id := w.next().StreamID
		w.head(id, false)
		_ = w.WriteData(id, false, []byte("half"))
		for f := w.next(); f != nil; f = w.next() {
			w.head(f.StreamID, true)
		}
	}, func(b *browser) {
		_ = b.task.Group(func(g *aio.Group) error {
			g.Go("stalled", func(task *aio.Task) error {
				b.on(task).fails("/", httpclient.KindIdleTimeout)
				return nil
			})
			_ = b.task.Yield()
			for range 20 {
				b.reads("/", "")
			}
			if at := now(b.task); at > time.Second {
				b.t.Errorf("it is %v: the others waited for the one that stalled", at)
			}
			return nil
		})
	})
}

// TestHTTP2KeptByTwo: two requests that find one kept connection share it, even if frames have come
// over it meanwhile.
func TestHTTP2KeptByTwo(t *testing.T) {
	const rounds, last = 40, 130 // so that each step of a request is once the last in its turn, of 128
	playWire(t, httpclient.Options{}, func(s *site) {
		w := s.acceptWire()
		for range 2 * rounds {
			f := w.next()
			if f == nil {
				return
			}
			w.head(f.StreamID, true)
			_ = s.task.Sleep(100 * time.Millisecond) // then the connection is idle
			_ = w.WritePing(false, [8]byte{})
		}
	}, func(b *browser) {
		for n := range rounds {
			until(b.t, b.task, now(b.task)+time.Second)
			_ = b.task.Group(func(g *aio.Group) error {
				g.Go("get", func(task *aio.Task) error { b.on(task).reads("/", ""); return nil })
				for range last - n {
					_ = b.task.Checkpoint()
				}
				b.reads("/", "")
				return nil
			})
		}
	})
}

// TestHTTP2Barred: requests wait while a server allows none, over the connection that there is.
func TestHTTP2Barred(t *testing.T) {
	limit := func(n uint32) http2.Setting { return http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: n} }
	const requests = 10
	all := func(w *wire) {
		for f := w.next(); f != nil; f = w.next() {
			w.head(f.StreamID, true)
		}
	}
	for name, test := range map[string]struct {
		play   func(s *site, w *wire)
		failed int
		conns  int
	}{
		"at first": {func(s *site, w *wire) {
			_ = w.WriteSettings(limit(0))
			_ = w.WriteRSTStream(w.next().StreamID, http2.ErrCodeRefusedStream)
			s.until(10 * time.Second)
			_ = w.WriteSettings(limit(3))
			all(w)
		}, 0, 1},
		"again and again": {func(s *site, w *wire) {
			for f := w.next(); f != nil; f = w.next() {
				_ = w.WriteSettings(limit(0))
				w.head(f.StreamID, true)
				_ = s.task.Sleep(time.Second)
				_ = w.WriteSettings(limit(1))
			}
		}, 0, 1},
		"always": {func(_ *site, w *wire) {
			_ = w.WriteSettings(limit(0))
			_ = w.WriteRSTStream(w.next().StreamID, http2.ErrCodeRefusedStream)
			w.next()
		}, requests, 1},
		"until it goes away": {func(s *site, w *wire) {
			if len(s.peers) == 1 {
				_ = w.WriteSettings(limit(0))
				_ = w.WriteRSTStream(w.next().StreamID, http2.ErrCodeRefusedStream)
				_ = w.WriteGoAway(0, http2.ErrCodeNo, nil)
				return
			}
			all(w)
		}, 0, 2},
		"until the end": {func(_ *site, w *wire) {
			_ = w.WriteSettings(limit(0))
			_ = w.WriteRSTStream(w.next().StreamID, http2.ErrCodeRefusedStream)
		}, requests, 2},
	} {
		t.Run(name, func(t *testing.T) {
			conns := 0
			playWire(t, httpclient.Options{}, func(s *site) {
				for conns = range test.conns {
					test.play(s, s.acceptWire())
					s.peers[conns].close()
				}
			}, func(b *browser) {
				failed := 0
				b.together(requests, func(b *browser) {
					res, err := b.get("/")
					if res != nil {
						res.Close()
					}
					if err != nil {
						failed++
					}
				})
				if failed != test.failed || conns+1 != test.conns {
					b.t.Errorf("%d of %d requests failed, over %d connections, expected %d over %d", failed, requests, conns+1, test.failed, test.conns)
				}
			})
		})
	}
}

// TestHTTP2BarredForEver: requests that a server never allows say so, each when its own time is
// over. One that comes after the first of them goes over another connection.
func TestHTTP2BarredForEver(t *testing.T) {
	playWire(t, httpclient.Options{}, func(s *site) {
		w := s.acceptWire()
		_ = w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		_ = w.WriteRSTStream(w.next().StreamID, http2.ErrCodeRefusedStream)
		w.next()
		w = s.acceptWire()
		w.head(w.next().StreamID, true)
		s.until(60 * time.Second)
	}, func(b *browser) {
		_ = b.task.Group(func(g *aio.Group) error {
			for n := range 10 {
				g.Go("get", func(task *aio.Task) error {
					began := time.Duration(n) * time.Second
					until(b.t, task, began)
					_, err := b.on(task).get("/")
					expectKind(b.t, err, httpclient.KindTimeout)
					if text := "no request allowed by the server within 30s"; !strings.Contains(err.Error(), text) {
						b.t.Errorf("%d: %v, expected %s", n, err, text)
					}
					if took := now(task) - began; took != 30*time.Second {
						b.t.Errorf("%d: failed after %v", n, took)
					}
					return nil
				})
			}
			until(b.t, b.task, 35*time.Second)
			b.reads("/", "")
			return nil
		})
	})
}

// TestHTTP2RefusedAgain: a request is sent as often as its server refuses it while others are
// answered.
func TestHTTP2RefusedAgain(t *testing.T) {
	const refusals = 5
	playWire(t, httpclient.Options{}, func(s *site) {
		w := s.acceptWire()
		_ = w.WriteSettings()
		for n := range refusals + 1 {
			var page uint32
			for range 2 {
				f := w.next()
				if f == nil {
					return // the page was given up
				}
				if f.PseudoValue("path") == "/page" {
					page = f.StreamID
				} else {
					w.head(f.StreamID, true)
				}
			}
			if n == refusals {
				w.head(page, true)
				break
			}
			_ = w.WriteRSTStream(page, http2.ErrCodeRefusedStream)
			_ = w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
		}
		w.next()
	}, func(b *browser) {
		_ = b.task.Group(func(g *aio.Group) error {
			g.Go("others", func(task *aio.Task) error {
				for range refusals + 1 {
					b.on(task).reads("/", "")
				}
				return nil
			})
			b.reads("/page", "")
			return nil
		})
	})
}

// TestHTTP2Grows: a connection that follows one which ended with requests under way begins with as
// many at once as that had served, and has one more for each response.
func TestHTTP2Grows(t *testing.T) {
	const conns, requests = 6, 11 // of the former, as many as there are to a server
	playWire(t, httpclient.Options{}, func(s *site) {
		w := s.acceptWire()
		_ = w.WriteSettings()
		for range requests {
			w.next()
		}
		_ = w.WriteGoAway(1, http2.ErrCodeNo, nil)
		w.head(1, true)
		var wires [conns]*wire
		for i := range wires {
			wires[i] = s.acceptWire()
			_ = wires[i].WriteSettings()
			wires[i].next()
		}
		w = wires[0]
		for _, answered := range []uint32{1, 3} {
			w.head(answered, true)
			for range 2 { // in its place, and for having been answered
				if w.next() == nil {
					return // their time is over
				}
			}
		}
		for _, id := range []uint32{5, 7, 9} {
			w.head(id, true)
		}
		for _, w := range wires[1:] {
			w.head(1, true)
		}
		w.next()
	}, func(b *browser) {
		b.together(requests, func(b *browser) { b.reads("/", "") })
	})
}

// TestHTTP2AllowsMore: requests that wait for room go on when a server allows more of them.
func TestHTTP2AllowsMore(t *testing.T) {
	const conns, requests = 6, 20 // of the first, as many as there are to a server
	limit := func(n uint32) http2.Setting { return http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: n} }
	playWire(t, httpclient.Options{}, func(s *site) {
		var wires [conns]*wire
		var first [conns]uint32
		for i := range wires {
			wires[i] = s.acceptWire()
			_ = wires[i].WriteSettings(limit(1))
			first[i] = wires[i].next().StreamID
		}
		_ = s.task.Sleep(time.Second)
		w := wires[conns-1]
		_ = w.WriteSettings(limit(requests))
		for range requests - conns {
			f := w.next()
			if f == nil {
				return // their time is over
			}
			w.head(f.StreamID, true)
		}
		for i, w := range wires {
			w.head(first[i], true)
		}
		w.next()
	}, func(b *browser) {
		b.together(requests, func(b *browser) { b.reads("/", "") })
	})
}

// acknowledged waits for a connection, writes settings and frames to it, and waits until the client
// has taken them. Calls of what it returns are over at once: the client has no turn in between.
func acknowledged(task *aio.Task, ln net.Listener, write ...func(w *http2.Framer) error) (w *http2.Framer, conn *net.TCPConn, err error) {
	w, err = aio.Offload(task, func(context.Context) (*http2.Framer, error) {
		c, err := ln.Accept()
		if err != nil {
			return nil, err
		}
		conn = c.(*net.TCPConn)
		_ = conn.SetLinger(0) // Close is a reset
		_, err = io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
		w := http2.NewFramer(conn, conn)
		for _, write := range write {
			err = errors.Join(err, write(w))
		}
		for err == nil {
			var f http2.Frame
			f, err = w.ReadFrame()
			if s, ok := f.(*http2.SettingsFrame); ok && s.IsAck() {
				break
			}
		}
		return w, err
	})
	return w, conn, err
}

// TestHTTP2EndsWhileWritten: a response that has come is whole, although the connection has ended
// before it is read, and a write says so first.
func TestHTTP2EndsWhileWritten(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	req := httpclient.Request{Scheme: "http", Host: ln.Addr().String(), Target: "/"}
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("first", func(task *aio.Task) error {
				res, err := c.Do(task, req)
				if err != nil {
					t.Error(err)
					return nil
				}
				res.Close()
				return nil
			})
			w, conn, err := acknowledged(task, ln, func(w *http2.Framer) error { return w.WriteSettings() })
			if err != nil {
				return err
			}
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("\x88"), EndHeaders: true, EndStream: true})
			ln.Close()
			conn.Close()
			_, err = c.Do(task, req)
			expectKind(t, err, httpclient.KindConnect)
			return nil
		})
	})
}

// TestHTTP2BarredReset: requests that a server allows none of fail with their connection.
func TestHTTP2BarredReset(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("get", func(task *aio.Task) error {
				_, err := c.Do(task, httpclient.Request{Scheme: "http", Host: ln.Addr().String(), Target: "/"})
				expectKind(t, err, httpclient.KindReset)
				return nil
			})
			_, conn, err := acknowledged(task, ln, func(w *http2.Framer) error {
				return w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
			}, func(w *http2.Framer) error { return w.WriteRSTStream(1, http2.ErrCodeRefusedStream) })
			if err != nil {
				return err
			}
			for range 10 {
				_ = task.Yield() // until the request waits
			}
			ln.Close()
			return conn.Close()
		})
	})
}

// TestHTTP2Post: a POST is sent again if its server has said that it has not looked at it, and else
// not.
func TestHTTP2Post(t *testing.T) {
	for name, test := range map[string]struct {
		play  func(w *wire, id uint32) // to the first POST
		again bool
	}{
		"refused":           {func(w *wire, id uint32) { _ = w.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, true},
		"gone away before":  {func(w *wire, _ uint32) { _ = w.WriteGoAway(0, http2.ErrCodeNo, nil) }, true},
		"HTTP/1.1 required": {func(w *wire, id uint32) { _ = w.WriteRSTStream(id, http2.ErrCodeHTTP11Required) }, false},
		"reset":             {func(w *wire, id uint32) { _ = w.WriteRSTStream(id, http2.ErrCodeInternal) }, false},
		"gone away after":   {func(w *wire, id uint32) { _ = w.WriteGoAway(id, http2.ErrCodeNo, nil); w.conn.Close() }, false},
		"ended":             {func(w *wire, _ uint32) { w.conn.Close() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			posts := 0
			playWire(t, httpclient.Options{}, func(s *site) {
				var w *wire
				for posts = 0; ; {
					var f *http2.MetaHeadersFrame
					for f == nil {
						if w == nil || w.err != nil {
							w = s.acceptWire()
						}
						f = w.next()
					}
					if f.PseudoValue("method") == "POST" {
						if posts++; posts == 1 {
							test.play(w, f.StreamID)
							continue
						}
					}
					if w.head(f.StreamID, true); f.PseudoValue("path") == "/end" {
						w.next()
						return
					}
				}
			}, func(b *browser) {
				b.reads("/", "")
				res, err := b.do(httpclient.Request{Method: "POST", Target: "/", Body: []byte("a=b")})
				if res != nil {
					res.Close()
				}
				b.reads("/end", "")
				if want := map[bool]int{true: 2, false: 1}[test.again]; posts != want || (err == nil) != test.again {
					b.t.Errorf("%d requests and %v, expected %d", posts, err, want)
				}
			})
		})
	}
}

// TestPostOverAConnectionInUse: a POST goes over a connection that others use if something has come
// over it lately, or its server responds to a PING. From one that has gone without a word it is
// kept.
func TestPostOverAConnectionInUse(t *testing.T) {
	for name, test := range map[string]struct {
		at, until time.Duration // the POST begins and ends
		gone      bool          // the server does not respond to anything more
		pings     int
	}{
		"heard from lately": {4 * time.Second, 4*time.Second + 2*latency, false, 0},
		"silent":            {9 * time.Second, 9*time.Second + 4*latency, false, 1},
		"gone":              {9 * time.Second, 14*time.Second + 4*latency, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			playWire(t, httpclient.Options{}, func(s *site) {
				w := s.acceptWire()
				slow, at := w.next(), w
				if test.gone {
					at = s.acceptWire()
				}
				post := at.next()
				at.head(post.StreamID, true)
				s.until(20 * time.Second)
				w.head(slow.StreamID, true)
				if w.next(); post.PseudoValue("method") != "POST" || w.pings != test.pings {
					s.t.Errorf("%s, %d times PING, expected POST, %d times", post.PseudoValue("method"), w.pings, test.pings)
				}
			}, func(b *browser) {
				_ = b.task.Group(func(g *aio.Group) error {
					g.Go("slow", func(task *aio.Task) error { b.on(task).reads("/slow", ""); return nil })
					b.until(test.at)
					res, err := b.do(httpclient.Request{Method: "POST", Target: "/", Body: []byte("a=b")})
					if err != nil {
						b.t.Fatal(err)
					}
					res.Close()
					if got := now(b.task); got != test.until {
						b.t.Errorf("the response came at %v, expected %v", got, test.until)
					}
					return nil
				})
			})
		})
	}
}

// TestHTTP2Fresh: a request that must not go over a kept connection replaces it by a new one, or
// goes over one that is in use.
func TestHTTP2Fresh(t *testing.T) {
	playWire(t, httpclient.Options{}, func(s *site) {
		w := s.acceptWire()
		w.head(w.next().StreamID, true)
		if f := w.next(); f != nil {
			s.t.Error("a request over the kept connection")
		}
		w = s.acceptWire()
		first, second := w.next(), w.next()
		w.head(first.StreamID, true)
		w.head(second.StreamID, true)
		w.next()
	}, func(b *browser) {
		b.reads("/", "")
		b.together(2, func(b *browser) {
			res, err := b.send(httpclient.Request{Scheme: "http", Host: "www.example", Target: "/", Fresh: true})
			if err != nil {
				b.t.Fatal(err)
			}
			res.Close()
		})
	})
}
