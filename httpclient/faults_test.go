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

// fetchAll fetches /0 to /n-1, so many at once, each sent once unless its server cannot have taken it,
// and counts how they end: by the kind of error, "" for success.
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

// TestHTTP2FaultOfOne: a response that is wrong ends its connection, and no request but its own fails with
// it, however many are under way and however many responses are wrong. Few are sent in vain.
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

// TestHTTP2FaultOfNobody: a server that breaks a rule of the connection, for no response, is asked again over
// another if it has answered something over this one. Else it does not speak HTTP/2.
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

// calming is a server that asks for calm when a connection has more than a number of requests under way. It
// answers one when all that was sent with it has come.
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

// TestHTTP2Calm: a server that asks for calm gets fewer requests at once from then on, and each that has met
// this says so: its caller decides when to come back.
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
			if n := s.opened.Load(); calmed.Load() == 0 || n > 4*6 || again > 3*requests { // 120, 60, 30, 15, over 6 connections at first
				t.Errorf("it asked for calm %d times, over %d connections, and %d requests were sent in vain", calmed.Load(), n, again)
			}
		})
	}
}

// TestHTTP2CalmAlone: a request that alone makes its server ask for calm says that it was alone, and whether
// the server has looked at it.
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

// TestHTTP2RefusesAll: a server that refuses everything is overloaded, and cannot have taken the request.
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

// TestHTTP2BarredForLong: a server that allows no requests over HTTP/2 for five seconds gets them over
// HTTP/1.1, if it speaks that; else they wait on. It is not asked twice.
func TestHTTP2BarredForLong(t *testing.T) {
	const pages = 4
	for name, test := range map[string]struct {
		protocols []string
		at        time.Duration // all pages are there
	}{
		"it speaks HTTP/1.1": {[]string{"h2", "http/1.1"}, 6 * time.Second},
		"it does not":        {[]string{"h2"}, 13 * time.Second},
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
				s, err := v.handshake()
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
				if err == nil {
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
							v.until(12 * time.Second)
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
				for n := range pages {
					b.readsTLS(fmt.Sprintf("/%d", n), "a page")
				}
				if at := now(b.task); at > test.at {
					b.t.Errorf("the pages were there at %v, expected %v at most", at, test.at)
				}
			})
		})
	}
}
