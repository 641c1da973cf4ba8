package httpclient_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

func TestKeepAlive(t *testing.T) {
	play(t, httpclient.Options{}, func(s *site) {
		p := s.accept()
		p.serve("/1", ok("one"))
		p.serve("/2", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n")
		p.serve("/3", "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n")
		p.serve("/4", ok("four"))
		p.ended()
	}, func(b *browser) {
		b.reads("/1", "one")
		b.reads("/2", "two")
		b.until(time.Minute)
		b.reads("/3", "")
		b.reads("/4", "four")
	})
}

// A kept connection serves only the host it leads to, and one request at a time.
func TestConnectionsAreNotShared(t *testing.T) {
	play(t, httpclient.Options{}, func(s *site) {
		www := s.serve("/1", ok("1"))
		other := s.serve("/", ok("other"))
		www.request("/2")
		second := s.serve("/3", ok("3"))
		www.send(ok("2"))
		www.ended()
		other.ended()
		second.ended()
	}, func(b *browser) {
		b.reads("/1", "1")
		res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "other.example", Target: "/"})
		if err != nil {
			t.Fatal(err)
		}
		res.Close()
		err = b.task.Group(func(g *aio.Group) error {
			g.Go("2", func(task *aio.Task) error {
				(&browser{t, task, b.client, b.then}).reads("/2", "2")
				return nil
			})
			g.Go("3", func(task *aio.Task) error {
				(&browser{t, task, b.client, b.then}).reads("/3", "3")
				return nil
			})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// After these responses the connection is not used again.
func TestConnectionIsNotKept(t *testing.T) {
	for _, c := range []struct{ name, response string }{
		{"connection close", response("Connection: close\r\n", "hello")},
		{"http/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{"more than the length", ok("hello") + " world"},
		{"another response after it", ok("hello") + ok("world")},
		{"more than the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, httpclient.Options{}, func(s *site) {
				s.serve("/1", c.response).ended()
				s.serve("/2", ok("second"))
			}, func(b *browser) {
				b.reads("/1", "hello")
				b.reads("/2", "second")
			})
		})
	}
	t.Run("read to close", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			s.serve("/1", "HTTP/1.1 200 OK\r\n\r\nhello").close()
			s.serve("/2", ok("second"))
		}, func(b *browser) {
			b.reads("/1", "hello")
			b.reads("/2", "second")
		})
	})
}

// A kept connection is closed once Allow refuses its address: the name is judged more strictly than
// when it was dialled.
func TestKeptConnectionIsJudgedAgain(t *testing.T) {
	playBoth(t, httpclient.Options{}, func(s *site) {
		s.serve("/1", ok("first")).ended()
	}, func(b *browser) {
		b.reads("/1", "first")
		refuse := func(netip.AddrPort) error { return errors.New("refused") }
		res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/2", Allow: refuse})
		var e *httpclient.Error
		if res != nil || !errors.As(err, &e) || e.Kind != httpclient.KindBlocked {
			t.Errorf("%v, %v, expected an error of kind %s", res, err, httpclient.KindBlocked)
		}
	})
}

// Bytes that arrive over an idle connection are not the response to the next request.
func TestUnrequestedResponse(t *testing.T) {
	for name, unrequested := range map[string]string{
		"a response": ok("forged"),
		"a time-out": "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"a line end": "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			play(t, httpclient.Options{}, func(s *site) {
				p := s.serve("/1", ok("first"))
				s.until(time.Second)
				p.send(unrequested)
				p.ended()
				s.serve("/2", ok("second"))
			}, func(b *browser) {
				b.reads("/1", "first")
				b.until(2 * time.Second)
				b.reads("/2", "second")
			})
		})
	}
}

// A server closes an idle connection when it likes: at closed; the client notices 10 ms later.
func TestServerClosesKeptConnection(t *testing.T) {
	const closed = 100 * time.Millisecond
	t.Run("the client knows", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			p := s.serve("/1", ok("first"))
			s.until(closed)
			p.close()
			s.serve("/2", ok("second"))
		}, func(b *browser) {
			b.reads("/1", "first")
			b.until(closed + latency)
			b.reads("/2", "second")
			// A connection and an exchange; the address is cached.
			if got, want := now(b.task), closed+latency+2*latency+2*latency; got != want {
				t.Errorf("the response came at %v, want %v: nothing is sent over a closed connection", got, want)
			}
		})
	})
	t.Run("the request crosses the end", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			p := s.serve("/1", ok("first"))
			s.until(closed)
			p.close()
			s.serve("/2", ok("second"))
		}, func(b *browser) {
			b.reads("/1", "first")
			b.until(closed + latency/2)
			b.reads("/2", "second")
		})
	})
	const tooLate = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate"
	t.Run("the request crosses a 408", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			p := s.serve("/1", ok("first"))
			s.until(closed)
			p.send(tooLate)
			s.serve("/2", ok("second"))
		}, func(b *browser) {
			b.reads("/1", "first")
			b.until(closed + latency/2)
			b.reads("/2", "second")
		})
	})
	t.Run("a 408 to the first request is its response", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) { s.serve("/1", tooLate).ended() }, func(b *browser) {
			if res, err := b.get("/1"); err != nil || res.Status != 408 {
				t.Errorf("got %+v, %v", res, err)
			}
		})
	})
	t.Run("the second try is the last", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			p := s.serve("/1", ok("first"))
			s.until(closed)
			p.close()
			p = s.accept()
			p.request("/2")
			p.close()
			s.serve("/3", ok("third"))
		}, func(b *browser) {
			b.reads("/1", "first")
			b.until(closed + latency/2)
			b.fails("/2", httpclient.KindEarlyEnd)
			b.reads("/3", "third")
		})
	})
	t.Run("the second try goes over a new connection", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			p, q := s.accept(), s.accept()
			p.serve("/1", ok("first"))
			q.serve("/1", ok("first"))
			s.until(closed)
			p.close()
			q.close()
			s.serve("/2", ok("second"))
		}, func(b *browser) {
			err := b.task.Group(func(g *aio.Group) error {
				for _, name := range []string{"one", "other"} {
					g.Go(name, func(task *aio.Task) error {
						(&browser{t, task, b.client, b.then}).reads("/1", "first")
						return nil
					})
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			b.until(closed + latency/2)
			b.reads("/2", "second")
		})
	})
	t.Run("the response has begun: no second try", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			p := s.serve("/1", ok("first"))
			p.serve("/2", "HTTP/1.1 2")
			p.close()
			s.serve("/3", ok("third"))
		}, func(b *browser) {
			b.reads("/1", "first")
			b.fails("/2", httpclient.KindEarlyEnd)
			b.reads("/3", "third")
		})
	})
	t.Run("an interim response has come: no second try", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			p := s.serve("/1", ok("first"))
			p.serve("/2", "HTTP/1.1 103 Early Hints\r\n\r\n")
			p.close()
			s.serve("/3", ok("third"))
		}, func(b *browser) {
			b.reads("/1", "first")
			b.fails("/2", httpclient.KindEarlyEnd)
			b.reads("/3", "third")
		})
	})
}

func TestMaxIdle(t *testing.T) {
	get := func(b *browser, host string) {
		t.Helper()
		res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: host, Target: "/"})
		if err != nil {
			t.Fatal(err)
		}
		res.Close()
	}
	t.Run("the one that has waited longest makes room", func(t *testing.T) {
		play(t, httpclient.Options{MaxIdle: 2}, func(s *site) {
			first := s.serve("/", ok("1"))
			second := s.serve("/", ok("2"))
			first.serve("/", ok("3")) // now second has been idle longest
			third := s.serve("/", ok("4"))
			second.ended()
			first.serve("/", ok("5"))
			third.serve("/", ok("6"))
		}, func(b *browser) {
			for _, host := range []string{"www.example", "other.example", "www.example", "192.0.2.1", "www.example", "192.0.2.1"} {
				get(b, host)
			}
		})
	})
	t.Run("of one host", func(t *testing.T) {
		play(t, httpclient.Options{MaxIdle: 1}, func(s *site) {
			p, q := s.accept(), s.accept()
			p.serve("/", ok("1"))
			q.serve("/", ok("2"))
			p.ended()
			q.serve("/", ok("3"))
		}, func(b *browser) {
			err := b.task.Group(func(g *aio.Group) error {
				for _, name := range []string{"one", "other"} {
					g.Go(name, func(task *aio.Task) error {
						get(&browser{t, task, b.client, b.then}, "www.example")
						return nil
					})
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			get(b, "www.example")
		})
	})
	t.Run("none if negative", func(t *testing.T) {
		play(t, httpclient.Options{MaxIdle: -1}, func(s *site) {
			s.serve("/", ok("1")).ended()
			s.serve("/", ok("2")).ended()
		}, func(b *browser) {
			get(b, "www.example")
			get(b, "www.example")
		})
	})
	t.Run("none after Close", func(t *testing.T) {
		play(t, httpclient.Options{}, func(s *site) {
			s.serve("/", ok("1")).ended()
			s.serve("/", ok("2")).ended()
		}, func(b *browser) {
			get(b, "www.example")
			b.client.Close()
			get(b, "www.example")
		})
	})
}

func TestKeptForAWhile(t *testing.T) {
	for _, c := range []struct {
		name   string
		opt    httpclient.Options
		closed time.Duration // after the response; 0: at once
	}{
		{"60 s", httpclient.Options{}, time.Minute},
		{"as set", httpclient.Options{KeepAlive: 7 * time.Second}, 7 * time.Second},
		{"not at all", httpclient.Options{KeepAlive: -1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, c.opt, func(s *site) {
				p := s.serve("/1", ok("first"))
				answered := now(s.task) + latency
				p.ended()
				if got := now(s.task) - latency - answered; got != c.closed {
					t.Errorf("closed %v after the response, want %v", got, c.closed)
				}
				s.serve("/2", ok("second"))
			}, func(b *browser) {
				b.reads("/1", "first")
				b.until(2 * time.Minute)
				b.reads("/2", "second")
			})
		})
	}
}

// TestLimitsOfThePool sends four requests at once to one host, then one to another; ended is how
// many connections have ended then.
func TestLimitsOfThePool(t *testing.T) {
	for _, c := range []struct {
		name  string
		opt   httpclient.Options
		ended int
	}{
		{"none", httpclient.Options{}, 0},
		{"in total", httpclient.Options{MaxIdle: 3}, 2},
		{"of memory", httpclient.Options{MaxIdleBytes: 2 << 10}, 3},
		{"per host", httpclient.Options{MaxIdlePerHost: 1}, 3},
		{"both", httpclient.Options{MaxIdle: 1, MaxIdlePerHost: 2}, 4},
		{"nothing is kept", httpclient.Options{MaxIdle: -1}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			ended := 0
			play(t, c.opt, func(s *site) {
				err := s.task.Group(func(g *aio.Group) error {
					for range 5 {
						p := s.accept()
						g.Go("connection", func(task *aio.Task) error {
							if _, err := p.reader.ReadUntil(task, []byte("\r\n\r\n"), 4096); err != nil {
								return err
							}
							if _, err := p.conn.Write(task, []byte(ok("x"))); err != nil {
								return err
							}
							_, err := p.reader.Peek(task)
							if err == nil {
								t.Error("a second request")
							}
							ended++
							return nil
						})
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}, func(b *browser) {
				err := b.task.Group(func(g *aio.Group) error {
					for range 4 {
						g.Go("reader", func(task *aio.Task) error {
							(&browser{t, task, b.client, b.then}).reads("/", "x")
							return nil
						})
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "other.example", Target: "/"}); err != nil {
					t.Fatal(err)
				}
				b.until(time.Second)
				if ended != c.ended {
					t.Errorf("%d connections have ended, want %d", ended, c.ended)
				}
			})
		})
	}
}
