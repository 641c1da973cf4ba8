package httpclient_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

// request returns the stream of the next request and its path; 0: there is none.
func (p *h2Peer) request() (id uint32, path string) {
	if p.ReadMetaHeaders == nil {
		p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	}
	for {
		switch f, err := p.ReadFrame(); f := f.(type) {
		case *http2.MetaHeadersFrame:
			return f.StreamID, f.PseudoValue("path")
		default:
			if err != nil {
				return 0, ""
			}
		}
	}
}

// fetchAll fetches /0 to /n-1, so many at once, each sent once unless its server cannot have taken
// it, and counts how they end: by the kind of error, "" for success.
func fetchAll(t *testing.T, s *scripted, n, atOnce int) map[httpclient.Kind]int {
	t.Helper()
	kinds := make(map[httpclient.Kind]int)
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		next := 0
		return task.Group(func(g *aio.Group) error {
			for range atOnce {
				g.Go("get", func(task *aio.Task) error {
					for next < n {
						req := s.get()
						req.Target, req.Once = fmt.Sprintf("/%d", next), true
						next++
						res, err := c.Do(task, req)
						var failed *httpclient.Error
						switch {
						case errors.As(err, &failed):
							kinds[failed.Kind]++
						case err != nil:
							return err
						default:
							kinds[""]++
							res.Close()
						}
					}
					return nil
				})
			}
			return nil
		})
	})
	return kinds
}

// TestHTTP2FaultOfOne: a response that is wrong ends its connection, and no request but its own
// fails with it, however many are under way and however many responses are wrong. Few are sent in
// vain.
func TestHTTP2FaultOfOne(t *testing.T) {
	for name, wrong := range map[string]func(p *h2Peer, id uint32){
		"fields that cannot be decoded": func(p *h2Peer, id uint32) {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0xff, 0}, EndHeaders: true})
		},
		"fields beyond the limit": func(p *h2Peer, id uint32) {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x88}})
			for range 5 {
				p.WriteContinuation(id, false, make([]byte, 16<<10))
			}
		},
		"a frame that is too long": func(p *h2Peer, id uint32) {
			p.head(id, false, ":status", "200")
			p.WriteData(id, true, make([]byte, 16<<10+1))
		},
	} {
		for _, test := range []struct{ requests, every, atOnce int }{
			{20, 4, 20}, {200, 4, 16}, {200, 2, 200}, {100, 1, 50},
		} {
			t.Run(fmt.Sprintf("%s, 1 of %d of %d, %d at once", name, test.every, test.requests, test.atOnce), func(t *testing.T) {
				var sent atomic.Int64
				s := newScripted(t, func(p *h2Peer) {
					for id, path := p.request(); id > 0; id, path = p.request() {
						var n int
						fmt.Sscanf(path, "/%d", &n)
						if sent.Add(1); n%test.every == 0 { // the first of all, too
							wrong(p, id)
							for id > 0 {
								if id, _ = p.request(); id > 0 {
									sent.Add(1)
								}
							}
							return
						}
						p.answer(id)
					}
				})
				kinds := fetchAll(t, s, test.requests, test.atOnce)
				bad := test.requests / test.every
				if kinds[""] != test.requests-bad || kinds[httpclient.KindProtocol]+kinds[httpclient.KindTooLarge] != bad {
					t.Errorf("%v, expected %d faults and else success", kinds, bad)
				}
				if n := int(sent.Load()); n > 3*test.requests+test.atOnce {
					t.Errorf("%d requests sent for %d", n, test.requests)
				}
			})
		}
	}
}

// TestHTTP2FaultOfNobody: a server that breaks a rule of the connection, for no response, is asked
// again over another if it has answered something over this one. Else it does not speak HTTP/2.
func TestHTTP2FaultOfNobody(t *testing.T) {
	for name, answers := range map[string]int{"after a response": 1, "at once": 0} {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t, func(p *h2Peer) {
				for n := 0; ; n++ {
					id, _ := p.request()
					if id == 0 {
						return
					}
					if p.n == 1 && n == answers || answers == 0 {
						p.WriteRawFrame(http2.FramePing, 0, 0, make([]byte, 9))
					} else {
						p.answer(id)
					}
				}
			})
			onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
				for range 3 {
					res, err := c.Do(task, s.get())
					if answers == 0 {
						expectKind(t, err, httpclient.KindProtocol)
					} else if err != nil {
						t.Error(err)
					}
					if res != nil {
						res.Close()
					}
				}
				return nil
			})
		})
	}
}

// calming is a server that asks for calm when a connection has more than a number of requests under
// way. It answers one when all that was sent with it has come.
func calming(t *testing.T, most int, calm func(p *h2Peer, ids []uint32) (over bool)) (s *scripted, calmed *atomic.Int64) {
	calmed = new(atomic.Int64)
	return newScripted(t, func(p *h2Peer) {
		var waiting []uint32
		for {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.HeadersFrame:
				waiting = append(waiting, f.StreamID)
				p.WritePing(false, [8]byte{})
				if len(waiting) <= most {
					break
				}
				calmed.Add(1)
				if calm(p, waiting) {
					return
				}
				waiting = waiting[:most]
			case *http2.PingFrame:
				if len(waiting) > 0 {
					p.answer(waiting[0])
					waiting = waiting[1:]
				}
			}
		}
	}), calmed
}

// TestHTTP2Calm: a server that asks for calm gets fewer requests at once from then on, and each
// that has met this says so: its caller decides when to come back.
func TestHTTP2Calm(t *testing.T) {
	const requests, most = 120, 10
	for name, calm := range map[string]func(p *h2Peer, ids []uint32) bool{
		"GOAWAY before them": func(p *h2Peer, ids []uint32) bool {
			p.WriteGoAway(ids[0]-1, http2.ErrCodeEnhanceYourCalm, []byte("too many"))
			return true
		},
		"GOAWAY after them": func(p *h2Peer, ids []uint32) bool {
			p.WriteGoAway(ids[len(ids)-1], http2.ErrCodeEnhanceYourCalm, nil)
			return true
		},
		"RST_STREAM": func(p *h2Peer, ids []uint32) bool {
			p.WriteRSTStream(ids[len(ids)-1], http2.ErrCodeEnhanceYourCalm)
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, calmed := calming(t, most, calm)
			again := 0
			onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
				return task.Group(func(g *aio.Group) error {
					for range requests {
						g.Go("get", func(task *aio.Task) error {
							for {
								req := s.get()
								req.Once = true
								res, err := c.Do(task, req)
								var failed *httpclient.Error
								switch {
								case err == nil:
									res.Close()
									return nil
								case !errors.As(err, &failed) || !failed.Overloaded() || failed.Alone() || !strings.Contains(err.Error(), "ENHANCE_YOUR_CALM"):
									return fmt.Errorf("%w, expected one that asks for calm", err)
								}
								again++
							}
						})
					}
					return nil
				})
			})
			if n := s.opened.Load(); calmed.Load() == 0 || n > 4*6 || again > 3*requests {
				// They are 120, 60, 30, 15, over 6 connections at first.
				t.Errorf("it asked for calm %d times, over %d connections, and %d requests were sent in vain", calmed.Load(), n, again)
			}
		})
	}
}

// TestHTTP2CalmAlone: a request that alone makes its server ask for calm says that it was alone,
// and whether the server has looked at it.
func TestHTTP2CalmAlone(t *testing.T) {
	for last, unsent := range map[uint32]bool{0: true, 1: false} {
		s, _ := calming(t, 0, func(p *h2Peer, ids []uint32) bool {
			p.WriteGoAway(last, http2.ErrCodeEnhanceYourCalm, nil)
			return true
		})
		onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
			_, err := c.Do(task, s.get())
			var failed *httpclient.Error
			if !errors.As(err, &failed) || !failed.Overloaded() || !failed.Alone() || failed.Unsent() != unsent {
				t.Errorf("%+v, expected overloaded, alone, unsent %t", failed, unsent)
			}
			return nil
		})
		if n := s.opened.Load(); n != 1 {
			t.Errorf("%d connections, expected one until the caller comes back", n)
		}
	}
}

// TestHTTP2RefusesAll: a server that refuses everything is overloaded, and cannot have taken the
// request.
func TestHTTP2RefusesAll(t *testing.T) {
	s := newScripted(t, func(p *h2Peer) {
		for id := p.next(); id > 0; id = p.next() {
			p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}
	})
	onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
		req := s.get()
		req.Method, req.Body = "POST", []byte("a=b")
		_, err := c.Do(task, req)
		var failed *httpclient.Error
		if !errors.As(err, &failed) || !failed.Overloaded() || !failed.Unsent() {
			t.Errorf("%+v, expected overloaded and unsent", failed)
		}
		return nil
	})
}

// TestHTTP2BarredFresh: a request that is sent over no kept connection waits all the same where its
// server refuses it and allows none from then on, and does not connect again and again.
func TestHTTP2BarredFresh(t *testing.T) {
	for name, change := range map[string]func(req *httpclient.Request){
		"a later try": func(req *httpclient.Request) { req.Fresh = true },
		"a POST":      func(req *httpclient.Request) { req.Method, req.Body = "POST", []byte("a=b") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t, func(p *h2Peer) {
				p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
				for id := p.next(); id > 0; id = p.next() {
					p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
				}
			})
			briefly := http2Only
			briefly.Timeout = time.Second
			onLoop(t, briefly, func(task *aio.Task, c *httpclient.Client) error {
				req := s.get()
				change(&req)
				_, err := c.Do(task, req)
				var failed *httpclient.Error
				if !errors.As(err, &failed) || failed.Kind != httpclient.KindTimeout {
					t.Errorf("%v, expected a timeout", err)
				}
				return nil
			})
			if n := s.opened.Load(); n != 1 {
				t.Errorf("%d connections, expected one", n)
			}
		})
	}
}

// TestHTTP2BarredUnkept: where connections are not kept, a request that is refused by a server that
// allows none comes back ever more slowly.
func TestHTTP2BarredUnkept(t *testing.T) {
	s := newScripted(t, func(p *h2Peer) {
		p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		for id := p.next(); id > 0; id = p.next() {
			p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}
	})
	briefly := http2Only
	briefly.Timeout, briefly.MaxIdle = time.Second, -1
	onLoop(t, briefly, func(task *aio.Task, c *httpclient.Client) error {
		_, err := c.Do(task, s.get())
		var failed *httpclient.Error
		if !errors.As(err, &failed) || failed.Kind != httpclient.KindTimeout {
			t.Errorf("%v, expected a timeout", err)
		}
		return nil
	})
	if n := s.opened.Load(); n > 8 {
		t.Errorf("%d connections, expected at most 8 in a second", n)
	}
}

// TestHTTP2BarredForLong: a server that allows no requests over HTTP/2 for five seconds gets them
// over HTTP/1.1, if it speaks that; else they wait for five seconds more. It is not asked twice.
func TestHTTP2BarredForLong(t *testing.T) {
	const pages = 4
	for name, test := range map[string]struct {
		protocols []string
		hangs     bool          // rather than object, when it is asked for HTTP/1.1
		then      bool          // by DoThen
		at        time.Duration // all pages are there
	}{
		"it speaks HTTP/1.1":         {protocols: []string{"h2", "http/1.1"}, at: 6 * time.Second},
		"it speaks HTTP/1.1, DoThen": {protocols: []string{"h2", "http/1.1"}, then: true, at: 6 * time.Second},
		"it does not":                {protocols: []string{"h2"}, at: 9 * time.Second},
		"it does not, DoThen":        {protocols: []string{"h2"}, then: true, at: 9 * time.Second},
		"it does not, and hangs":     {protocols: []string{"h2"}, hangs: true, at: 13 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			playTLS(t, func(_ *httpclient.Options, config *tls.Config) {
				config.NextProtos = test.protocols
				config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
					for _, p := range hello.SupportedProtos {
						if slices.Contains(test.protocols, p) {
							return nil, nil
						}
					}
					return nil, errors.New("no protocol in common") // Go lets HTTP/1.1 pass
				}
			}, func(v *tlsSite) {
				old := v.admit()
				w := http2.NewFramer(old, old)
				io.ReadFull(old, make([]byte, len(http2.ClientPreface)))
				w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
				for refused := false; !refused; {
					f, err := w.ReadFrame()
					if err != nil {
						v.t.Fatal(err)
					}
					if _, refused = f.(*http2.HeadersFrame); refused {
						w.WriteRSTStream(f.Header().StreamID, http2.ErrCodeRefusedStream)
					}
				}
				if test.hangs {
					v.accept()
				}
				var s *tlsPeer
				var err error
				if !test.hangs {
					s, err = v.handshake()
				}
				if len(test.protocols) == 2 {
					if err != nil {
						v.t.Fatal(err)
					}
					for n := range pages {
						s.serve(fmt.Sprintf("/%d", n), ok("a page"))
					}
					v.until(20 * time.Second)
					return
				}
				if err == nil && !test.hangs {
					v.t.Fatal("a connection without a protocol in common")
				}
				s = v.admit()
				w = http2.NewFramer(s, s)
				io.ReadFull(s, make([]byte, len(http2.ClientPreface)))
				w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
				for n := 0; n < pages; {
					f, err := w.ReadFrame()
					if err != nil {
						v.t.Fatal(err)
					}
					if f, is := f.(*http2.HeadersFrame); is {
						if f.StreamID == 1 {
							w.WriteRSTStream(1, http2.ErrCodeRefusedStream)
							v.until(test.at - time.Second)
							w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
							continue
						}
						w.WriteHeaders(http2.HeadersFrameParam{StreamID: f.StreamID, BlockFragment: []byte("\x88"), EndHeaders: true})
						w.WriteData(f.StreamID, true, []byte("a page"))
						n++
					}
				}
				v.until(20 * time.Second)
			}, func(b *browser) {
				b.then = test.then
				for n := range pages {
					res, err := b.send(httpclient.Request{Scheme: "https", Host: "www.example", Target: fmt.Sprintf("/%d", n)})
					if err != nil || string(res.Body) != "a page" {
						b.t.Fatalf("page %d: %v, %+v", n, err, res)
					}
					res.Close()
				}
				if at := now(b.task); at > test.at {
					b.t.Errorf("the pages were there at %v, expected %v at most", at, test.at)
				}
			})
		})
	}
}

// TestHTTP2OddButLegal: what few servers do, and RFC 9113 allows, costs no request and no
// connection.
func TestHTTP2OddButLegal(t *testing.T) {
	body := func(p *h2Peer, id uint32) { p.WriteData(id, true, fmt.Appendf(nil, "%d.%d", p.n, id)) }
	pieces := func(p *h2Peer, id uint32, flags http2.Flags, block []byte) { // a byte each
		p.WriteRawFrame(http2.FrameHeaders, flags, id, block[:1])
		for i := 1; i < len(block); i++ {
			p.WriteContinuation(id, i == len(block)-1, block[i:i+1])
		}
	}
	for name, answer := range map[string]func(p *h2Peer, id uint32){
		"unknown frames, flags and settings": func(p *h2Peer, id uint32) {
			p.WriteRawFrame(0xa, 0, 0, []byte("\x00\x00h2=\":443\"")) // ALTSVC
			p.WriteRawFrame(0xc, 0, 0, []byte("\x00\x00"))            // ORIGIN
			p.WriteRawFrame(0xf0, 0xff, id, []byte("grease"))
			p.WriteRawFrame(0xf1, 0, id+1000, nil)
			p.WriteSettings(http2.Setting{ID: 0x0a0a, Val: 1<<32 - 1}, http2.Setting{ID: 0x8, Val: 1}, http2.Setting{ID: 0x9, Val: 1})
			p.head(id, false, ":status", "200")
			p.WriteRawFrame(http2.FrameData, 0xf6&^http2.FlagDataPadded, id, []byte("1."))
			p.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, id, fmt.Append(nil, id))
		},
		"the reserved bit of a stream's number": func(p *h2Peer, id uint32) {
			p.AllowIllegalWrites = true
			p.head(id, false, ":status", "200")
			p.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, id|1<<31, fmt.Appendf(nil, "%d.%d", p.n, id))
		},
		"padding, and priorities": func(p *h2Peer, id uint32) {
			p.WritePriority(id+100, http2.PriorityParam{StreamDep: id, Weight: 255})
			p.WriteHeaders(http2.HeadersFrameParam{
				StreamID: id, BlockFragment: []byte("\x88"), EndHeaders: true, PadLength: 255,
				Priority: http2.PriorityParam{StreamDep: 0, Exclusive: true, Weight: 1},
			})
			p.WriteDataPadded(id, false, nil, make([]byte, 255))
			p.WriteDataPadded(id, true, fmt.Appendf(nil, "%d.%d", p.n, id), make([]byte, 255))
		},
		"fields byte by byte": func(p *h2Peer, id uint32) {
			pieces(p, id, 0, []byte("\x88\x00\x01a\x01b\x00\x01c\x01d"))
			body(p, id)
		},
		"a body byte by byte, and empty frames between": func(p *h2Peer, id uint32) {
			p.head(id, false, ":status", "200")
			for _, b := range fmt.Appendf(nil, "%d.%d", p.n, id) {
				p.WriteData(id, false, []byte{b})
				p.WriteData(id, false, nil)
			}
			p.WriteData(id, true, nil)
		},
		"interim responses and a trailer": func(p *h2Peer, id uint32) {
			p.head(id, false, ":status", "103", "link", "</a.css>; rel=preload")
			p.head(id, false, ":status", "100")
			p.head(id, false, ":status", "200", "trailer", "checksum")
			p.WriteData(id, false, fmt.Appendf(nil, "%d.%d", p.n, id))
			p.head(id, true, "checksum", "1")
		},
		"a reset of what has ended": func(p *h2Peer, id uint32) {
			p.answer(id)
			p.WriteRSTStream(id, http2.ErrCodeNo)
			p.WriteWindowUpdate(id, 1000)
			p.WritePriority(id, http2.PriorityParam{})
		},
		"settings that change each time": func(p *h2Peer, id uint32) {
			p.WriteSettings(
				http2.Setting{ID: http2.SettingHeaderTableSize, Val: id % 3 * 4096}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: id % 2 << 30},
				http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1<<24 - 1}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1},
				http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100}, http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 1 << 20},
			)
			p.answer(id)
		},
		"a table of another size in each block": func(p *h2Peer, id uint32) {
			p.hpack.SetMaxDynamicTableSize(id % 2 * 100)
			p.hpack.SetMaxDynamicTableSize(id % 3 * 1000)
			p.head(id, false, ":status", "200", "server", "odd", "x-id", fmt.Sprint(id))
			body(p, id)
		},
		"all the credit at once": func(p *h2Peer, id uint32) {
			if id == 1 {
				p.WriteWindowUpdate(0, 1<<31-1-65535)
			}
			p.WriteWindowUpdate(id, 1<<31-1-65535)
			p.answer(id)
		},
		"pings among the frames": func(p *h2Peer, id uint32) {
			p.WritePing(false, [8]byte{1})
			p.head(id, false, ":status", "200")
			p.WritePing(true, [8]byte{2}) // of which there was none
			body(p, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t, func(p *h2Peer) {
				for id := p.next(); id > 0; id = p.next() {
					answer(p, id)
				}
			})
			onLoop(t, http2Only, func(task *aio.Task, c *httpclient.Client) error {
				for n := range 8 {
					res, err := c.Do(task, s.get())
					if err != nil {
						return fmt.Errorf("request %d: %w", n, err)
					}
					if want := fmt.Sprintf("1.%d", 2*n+1); string(res.Body) != want {
						t.Errorf("request %d: body %q, expected %q", n, res.Body, want)
					}
					res.Close()
				}
				return nil
			})
		})
	}
}

// TestHTTP2ShutsDown: a server that announces its end, with no number yet, and then says which
// request was its last (RFC 9113, section 6.8), loses none.
func TestHTTP2ShutsDown(t *testing.T) {
	s := newScripted(t, func(p *h2Peer) {
		first := p.next()
		p.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
		p.WriteGoAway(first, http2.ErrCodeNo, nil)
		p.answer(first)
	})
	if kinds := fetchAll(t, s, 20, 5); kinds[""] != 20 {
		t.Errorf("%v, expected success", kinds)
	}
}
