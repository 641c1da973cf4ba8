package aiotest_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

const tick = 10 * time.Millisecond // latency of most networks here

func TestBytesArriveAfterTheLatencyAndNeverInline(t *testing.T) {
	for _, latency := range []time.Duration{0, tick} {
		t.Run(latency.String(), func(t *testing.T) {
			var sent time.Duration
			var turn uint64
			between(t, aiotest.NewNet(aiotest.NetOptions{Latency: latency}),
				func(task *aio.Task, c aio.Conn) error {
					sent, turn = elapsed(task), task.Loop().Stats().Turns
					buf := []byte("ping")
					_, err := c.Write(task, buf)
					copy(buf, "gone") // the buffer is the writer's again
					return err
				},
				func(task *aio.Task, c aio.Conn) error {
					var buf [9]byte
					n, err := c.Read(task, buf[:])
					if err != nil {
						return err
					}
					if task.Loop().Stats().Turns == turn {
						return errors.New("read in the turn of the write")
					}
					return errors.Join(
						expect("bytes", string(buf[:n]), "ping"),
						expect("under way for", elapsed(task)-sent, latency))
				})
		})
	}
}

func TestWriteWaitsWhileTheBufferIsFull(t *testing.T) {
	const size = 5000
	page := bytes.Repeat([]byte("0123456789"), 1234)
	between(t, aiotest.NewNet(aiotest.NetOptions{Latency: tick, Buffer: size}),
		func(task *aio.Task, c aio.Conn) error {
			if err := c.SetWriteDeadline(task.Loop().Now().Add(time.Second)); err != nil {
				return err
			}
			n, err := c.Write(task, page)
			if err := errors.Join(expect("written", n, size), expect("error", err, aio.ErrTimeout)); err != nil {
				return err
			}
			if err := c.SetWriteDeadline(time.Time{}); err != nil {
				return err
			}
			if _, err := c.Write(task, page[n:]); err != nil {
				return err
			}
			// The reader starts at 2 s; what it reads frees room a latency later.
			if at := elapsed(task); at < 2*time.Second+tick {
				return expect("written at", at, 2*time.Second+tick)
			}
			return c.CloseWrite()
		},
		func(task *aio.Task, c aio.Conn) error {
			if err := task.SleepUntil(aiotest.Epoch.Add(2 * time.Second)); err != nil {
				return err
			}
			got, err := io.ReadAll(aio.NewNetConn(task, c))
			if err != nil {
				return err
			}
			return expect("all bytes in order", bytes.Equal(got, page), true)
		})
}

func TestSend(t *testing.T) {
	const size = 5000
	page := bytes.Repeat([]byte("0123456789"), 1234)
	between(t, aiotest.NewNet(aiotest.NetOptions{Latency: tick, Buffer: size}),
		func(task *aio.Task, c aio.Conn) error {
			rest := page
			var failed error
			var send func()
			send = func() {
				n, err := c.Send(rest, send)
				if rest = rest[n:]; err != nil || len(rest) == 0 {
					failed = errors.Join(err, c.CloseWrite())
				}
			}
			send()
			_, busy := c.Send(rest, nil)
			err := errors.Join(expect("left", len(rest), len(page)-size), expect("a second", errors.Is(busy, aio.ErrBusy), true))
			_ = task.SleepUntil(aiotest.Epoch.Add(2 * time.Second))
			err = errors.Join(err, expect("left while nobody reads", len(rest), len(page)-size), task.Sleep(time.Second))
			return errors.Join(err, expect("left", len(rest), 0), failed)
		},
		func(task *aio.Task, c aio.Conn) error {
			_ = task.SleepUntil(aiotest.Epoch.Add(2*time.Second + tick))
			got, err := io.ReadAll(aio.NewNetConn(task, c))
			return errors.Join(err, expect("all bytes in order", bytes.Equal(got, page), true))
		})
}

func TestCloseWriteLeavesTheOtherDirectionOpen(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{Latency: tick}),
		func(task *aio.Task, c aio.Conn) error {
			if _, err := c.Write(task, []byte("question")); err != nil {
				return err
			}
			if err := errors.Join(c.CloseWrite(), c.CloseWrite()); err != nil { // twice is fine
				return err
			}
			_, err := c.Write(task, []byte("more"))
			if err := expect("write after CloseWrite", err, syscall.EPIPE); err != nil {
				return err
			}
			answer, err := io.ReadAll(aio.NewNetConn(task, c))
			return errors.Join(err, expect("answer", string(answer), "answer"))
		},
		func(task *aio.Task, c aio.Conn) error {
			question, err := io.ReadAll(aio.NewNetConn(task, c))
			if err := errors.Join(err, expect("question", string(question), "question")); err != nil {
				return err
			}
			_, err = c.Write(task, []byte("answer"))
			return err
		})
}

func TestCloseWriteEndsAWriteThatWaits(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{}), func(task *aio.Task, c aio.Conn) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("writer", func(task *aio.Task) error {
				n, err := c.Write(task, make([]byte, aiotest.DefaultBuffer+1))
				return errors.Join(expect("written", n, aiotest.DefaultBuffer), expect("write", err, syscall.EPIPE))
			})
			return errors.Join(task.Sleep(time.Millisecond), c.CloseWrite())
		})
	}, func(task *aio.Task, c aio.Conn) error { return task.Sleep(time.Second) })
}

func TestPeerOfAClosedConnection(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{Latency: tick}),
		func(task *aio.Task, c aio.Conn) error {
			if err := task.Sleep(time.Second); err != nil {
				return err
			}
			got, err := io.ReadAll(aio.NewNetConn(task, c))
			if err := errors.Join(err, expect("what was under way", string(got), "bye")); err != nil {
				return err
			}
			if _, err := c.Write(task, []byte("hello?")); err != nil {
				return err // it takes a round trip to learn that nobody listens
			}
			if err := task.Sleep(2*tick + 1); err != nil {
				return err
			}
			_, err = c.Write(task, []byte("hello?"))
			if err := expect("second write", err, syscall.EPIPE); err != nil {
				return err
			}
			_, err = c.Read(task, make([]byte, 1))
			return expect("read", err, io.EOF)
		},
		func(task *aio.Task, c aio.Conn) error {
			_, err := c.Write(task, []byte("bye"))
			return err
		})
}

func TestCloseFreesAWriterWhoWaitsForRoom(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{Latency: tick, Buffer: 100}),
		func(task *aio.Task, c aio.Conn) error {
			_, err := c.Write(task, make([]byte, 1000))
			return expect("write", err, syscall.EPIPE)
		},
		func(task *aio.Task, c aio.Conn) error { return task.Sleep(time.Second) })
}

func TestUnacceptedConnectionsAreResetWhenTheListenerCloses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration // from the moment the client is connected
	}{
		{"on the way to the backlog", 0},
		{"in the backlog", 2 * tick},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: tick})
			n.Run(t, func(task *aio.Task) error {
				ln, err := n.Listen(task, web)
				if err != nil {
					return err
				}
				defer ln.Close()
				c, err := n.Connect(task, web)
				if err != nil {
					return err
				}
				defer c.Close()
				if err := task.Sleep(tt.after); err != nil {
					return err
				}
				ln.Close()
				_, err = c.Read(task, make([]byte, 1))
				return expect("read", err, syscall.ECONNRESET)
			})
		})
	}
}

func TestDeadlines(t *testing.T) {
	read := func(task *aio.Task, c aio.Conn) error {
		_, err := c.Read(task, make([]byte, 1))
		return err
	}
	readable := func(task *aio.Task, c aio.Conn) error { return c.WaitReadable(task) }
	write := func(task *aio.Task, c aio.Conn) error {
		_, err := c.Write(task, make([]byte, 2*aiotest.DefaultBuffer))
		return err
	}
	for _, tt := range []struct {
		name string
		set  func(c aio.Conn, at time.Time) error
		wait func(task *aio.Task, c aio.Conn) error
	}{
		{"Read", aio.Conn.SetReadDeadline, read},
		{"WaitReadable", aio.Conn.SetReadDeadline, readable},
		{"Write", aio.Conn.SetWriteDeadline, write},
		{"Read, both", aio.Conn.SetDeadline, read},
		{"Write, both", aio.Conn.SetDeadline, write},
	} {
		t.Run(tt.name, func(t *testing.T) {
			between(t, aiotest.NewNet(aiotest.NetOptions{}), func(task *aio.Task, c aio.Conn) error {
				fails := func(at time.Duration) error {
					err := tt.wait(task, c)
					var ne net.Error
					if !errors.As(err, &ne) || !ne.Timeout() {
						return expect("a time-out of package net", err, aio.ErrTimeout)
					}
					return errors.Join(expect("error", err, aio.ErrTimeout), expect("after", elapsed(task), at))
				}
				set := func(at time.Duration) error { return tt.set(c, aiotest.Epoch.Add(at)) }

				if err := errors.Join(set(time.Second), fails(time.Second)); err != nil {
					return err
				}
				if err := fails(time.Second); err != nil { // it has passed for the next wait, too
					return err
				}
				if err := errors.Join(set(2*time.Second), fails(2*time.Second)); err != nil {
					return err
				}
				// Another task may change the deadline during a wait: to a later time, an earlier
				// one, or one that has passed.
				err := task.Group(func(g *aio.Group) error {
					g.Go("changes", func(task *aio.Task) error {
						return errors.Join(task.SleepUntil(aiotest.Epoch.Add(3*time.Second)), set(9*time.Second),
							task.Sleep(time.Second), set(5*time.Second))
					})
					return errors.Join(set(4*time.Second), fails(5*time.Second))
				})
				if err != nil {
					return err
				}
				err = task.Group(func(g *aio.Group) error {
					g.Go("changes", func(task *aio.Task) error {
						return errors.Join(task.SleepUntil(aiotest.Epoch.Add(6*time.Second)), set(time.Second))
					})
					return errors.Join(set(9*time.Second), fails(6*time.Second))
				})
				if err != nil {
					return err
				}
				if err := tt.set(c, time.Time{}); err != nil {
					return err
				}
				err = task.Timeout(time.Hour, func(task *aio.Task) error { return tt.wait(task, c) })
				var timeout *aio.TimeoutError
				if !errors.As(err, &timeout) {
					return expect("error without a deadline", err, timeout)
				}
				return nil
			}, func(task *aio.Task, c aio.Conn) error { return task.Sleep(2 * time.Hour) })
		})
	}
}

func TestADeadlineThatHasPassedBeatsBytesThatAreThere(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{}),
		func(task *aio.Task, c aio.Conn) error {
			if err := task.Sleep(time.Second); err != nil {
				return err
			}
			if err := c.SetReadDeadline(aiotest.Epoch.Add(time.Millisecond)); err != nil {
				return err
			}
			var buf [9]byte
			_, err := c.Read(task, buf[:])
			if err := expect("read", err, aio.ErrTimeout); err != nil {
				return err
			}
			if err := c.SetReadDeadline(time.Time{}); err != nil {
				return err
			}
			n, err := c.Read(task, buf[:])
			return errors.Join(err, expect("bytes", string(buf[:n]), "early"))
		},
		func(task *aio.Task, c aio.Conn) error {
			_, err := c.Write(task, []byte("early"))
			return err
		})
}

func TestOneTaskADirection(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{}), func(task *aio.Task, c aio.Conn) error {
		err := task.Group(func(g *aio.Group) error {
			g.Go("reader", func(task *aio.Task) error {
				_, err := c.Read(task, make([]byte, 1))
				return err
			})
			g.Go("writer", func(task *aio.Task) error { // concurrent with a reader: allowed
				_, err := c.Write(task, make([]byte, 2*aiotest.DefaultBuffer))
				return err
			})
			if err := task.Sleep(time.Millisecond); err != nil {
				return err
			}
			_, second := c.Read(task, make([]byte, 1))
			_, third := c.Write(task, []byte("x"))
			g.Cancel()
			return errors.Join(expect("second reader", second, aio.ErrBusy),
				expect("wait beside a reader", c.WaitReadable(task), aio.ErrCanceled),
				expect("second writer", third, aio.ErrBusy))
		})
		return err
	}, func(task *aio.Task, c aio.Conn) error { return task.Sleep(time.Second) })
}

func TestClosedOnThisSide(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{}), func(task *aio.Task, c aio.Conn) error {
		return task.Group(func(g *aio.Group) error {
			waits := map[string]func(task *aio.Task) error{
				"read":  func(task *aio.Task) error { _, err := c.Read(task, make([]byte, 1)); return err },
				"write": func(task *aio.Task) error { _, err := c.Write(task, make([]byte, 2*aiotest.DefaultBuffer)); return err },
			}
			for name, wait := range waits {
				g.Go(name, func(task *aio.Task) error {
					for range 2 { // the wait, and the next call
						if err := expect(name, wait(task), aio.ErrClosed); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := task.Sleep(time.Millisecond); err != nil {
				return err
			}
			return errors.Join(c.Close(), c.Close(),
				expect("CloseWrite", c.CloseWrite(), aio.ErrClosed),
				expect("WaitReadable", c.WaitReadable(task), aio.ErrClosed),
				expect("SetDeadline", c.SetDeadline(aiotest.Epoch), aio.ErrClosed))
		})
	}, func(task *aio.Task, c aio.Conn) error { return task.Sleep(time.Second) })
}

func TestACancelledWaitLosesNothing(t *testing.T) {
	between(t, aiotest.NewNet(aiotest.NetOptions{}), func(task *aio.Task, c aio.Conn) error {
		var buf [9]byte
		err := task.Timeout(time.Second, func(task *aio.Task) error {
			_, err := c.Read(task, buf[:])
			var op *net.OpError
			if !errors.As(err, &op) || op.Op != "read" || op.Addr.String() != web.String() {
				return expect("error of package net", err, op)
			}
			return err
		})
		if err := expect("read", err, aio.ErrTimeout); err != nil {
			return err
		}
		n, err := c.Read(task, buf[:])
		return errors.Join(err, expect("bytes", string(buf[:n]), "late"))
	}, func(task *aio.Task, c aio.Conn) error {
		if err := task.Sleep(2 * time.Second); err != nil {
			return err
		}
		_, err := c.Write(task, []byte("late"))
		return err
	})
}

func TestAddresses(t *testing.T) {
	var atServer [2]string
	between(t, aiotest.NewNet(aiotest.NetOptions{}),
		func(task *aio.Task, c aio.Conn) error {
			if err := c.WaitReadable(task); err != nil {
				return err
			}
			return errors.Join(
				expect("remote", c.RemoteAddr().String(), web.String()),
				expect("the server's", atServer[0], web.String()),
				expect("local", c.LocalAddr().String(), atServer[1]),
				expect("local IP", c.LocalAddr().(*net.TCPAddr).IP.String(), "10.0.0.1"))
		},
		func(task *aio.Task, c aio.Conn) error {
			atServer = [2]string{c.LocalAddr().String(), c.RemoteAddr().String()}
			return nil
		})
}
