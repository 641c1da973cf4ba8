package aio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"golang.org/x/sys/unix"
)

// transport is a kind of socket that connection tests use.
type transport struct {
	network string
	// address returns an address to listen on.
	address func(t *testing.T) string
}

var (
	tcp4       = transport{"tcp4", func(*testing.T) string { return "127.0.0.1:0" }}
	tcp6       = transport{"tcp6", ipv6Loopback}
	unixStream = transport{"unix", func(t *testing.T) string { return filepath.Join(t.TempDir(), "s") }}
)

var transports = []transport{tcp4, tcp6, unixStream}

func ipv6Loopback(t *testing.T) string {
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	ln.Close()
	return "[::1]:0"
}

// onTransports runs main with each selector and each kind of socket.
func onTransports(t *testing.T, main func(t *testing.T, task *aio.Task, tr transport) error) {
	t.Helper()
	for _, tr := range transports {
		t.Run(tr.network, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error { return main(t, task, tr) })
		})
	}
}

// connect returns the two ends of a connection, both on the loop.
func connect(t *testing.T, task *aio.Task, tr transport) (client, server aio.Conn) {
	t.Helper()
	ln, err := aio.Listen(task, tr.network, tr.address(t))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if client, err = aio.Dial(task, tr.network, ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(task); err != nil {
		t.Fatal(err)
	}
	return client, server
}

// connectPeer returns a connection of the loop and its other end, a blocking one: whatever the
// test does there is done when the call returns, without a turn of the loop.
func connectPeer(t *testing.T, task *aio.Task, tr transport) (aio.Conn, net.Conn) {
	t.Helper()
	ln, err := net.Listen(tr.network, tr.address(t))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := aio.Dial(task, tr.network, ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c, peer
}

// noise returns n bytes without a pattern that could hide a lost or doubled piece.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint64(n) | 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// readAll reads c to its end.
func readAll(task *aio.Task, c aio.Conn) ([]byte, error) {
	return aio.NewReader(task.Loop(), c).ReadAll(task, 1<<30)
}

// readN reads exactly n bytes of c, through a buffer larger than that.
func readN(task *aio.Task, c aio.Conn, n int) ([]byte, error) {
	var all []byte
	p := make([]byte, n+1)
	for len(all) < n {
		m, err := c.Read(task, p[:n+1-len(all)])
		if err != nil {
			return all, err
		}
		all = append(all, p[:m]...)
	}
	return all, nil
}

// fill writes to c until c takes no more at once, and returns how much it took.
func fill(t *testing.T, task *aio.Task, c aio.Conn) int {
	t.Helper()
	p, total := noise(64<<10), 0
	for {
		if err := c.SetWriteDeadline(task.Loop().Now().Add(5 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Write(task, p)
		total += n
		if errors.Is(err, aio.ErrTimeout) {
			_ = c.SetWriteDeadline(time.Time{})
			return total
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// waitsFor reports what the named task waits for.
func waitsFor(task *aio.Task, name string) string {
	for _, info := range task.Loop().Tasks() {
		if info.Name == name && info.State == "parked" {
			return info.Waits
		}
	}
	return ""
}

func TestEcho(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		for _, size := range []int{1, 1000, 1 << 20} {
			client, server := connect(t, task, tr)
			defer client.Close()
			err := task.Group(func(g *aio.Group) error {
				g.Go("server", func(task *aio.Task) error {
					defer server.Close()
					p := make([]byte, 4096)
					for {
						n, err := server.Read(task, p)
						if err == io.EOF {
							return nil
						}
						if err != nil {
							return err
						}
						if _, err := server.Write(task, p[:n]); err != nil {
							return err
						}
					}
				})
				sent := noise(size)
				g.Go("sender", func(task *aio.Task) error {
					n, err := client.Write(task, sent)
					expect(t, "bytes written", n, size)
					if err != nil {
						return err
					}
					return client.CloseWrite()
				})
				got, err := readAll(task, client)
				if !bytes.Equal(got, sent) {
					t.Errorf("%d bytes came back changed: %d of them", size, len(got))
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func TestManyConnections(t *testing.T) {
	const n = 100
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		served := 0
		err = task.Group(func(g *aio.Group) error {
			g.Go("listener", func(task *aio.Task) error {
				for range n {
					c, err := ln.Accept(task)
					if err != nil {
						return err
					}
					g.Go("server", func(task *aio.Task) error {
						defer c.Close()
						b, err := readAll(task, c)
						if err != nil {
							return err
						}
						served++
						_, err = c.Write(task, b)
						return err
					})
				}
				return ln.Close()
			})
			for i := range n {
				g.Go("client", func(task *aio.Task) error {
					c, err := aio.Dial(task, "tcp", ln.Addr().String())
					if err != nil {
						return err
					}
					defer c.Close()
					text := fmt.Sprintf("request %d", i)
					if _, err := c.Write(task, []byte(text)); err != nil {
						return err
					}
					if err := c.CloseWrite(); err != nil {
						return err
					}
					got, err := readAll(task, c)
					expect(t, "answer", string(got), text)
					return err
				})
			}
			return nil
		})
		expect(t, "connections served", served, n)
		expect(t, "descriptors left", task.Loop().Stats().Descriptors, 0)
		return err
	})
}

func TestHalfClose(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer c.Close()
		defer peer.Close()
		if _, err := c.Write(task, []byte("question")); err != nil {
			return err
		}
		if err := c.CloseWrite(); err != nil {
			return err
		}
		got, err := io.ReadAll(peer)
		expect(t, "the peer got", string(got), "question")
		expectIs(t, "then", err, nil)
		if _, err := peer.Write([]byte("answer")); err != nil {
			return err
		}
		peer.Close()
		got, err = readAll(task, c)
		expect(t, "got", string(got), "answer")
		expectIs(t, "then", err, nil)
		_, err = c.Read(task, make([]byte, 1))
		expect(t, "the end stays", err, io.EOF)
		_, err = c.Write(task, []byte("more"))
		expectIs(t, "Write after CloseWrite", err, syscall.EPIPE)
		return nil
	})
}

// A peer that has half-closed can still receive, at length.
func TestWriteToHalfClosedPeer(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		client, server := connect(t, task, tr)
		defer client.Close()
		if err := client.CloseWrite(); err != nil {
			return err
		}
		got, err := readAll(task, server)
		expect(t, "the server got", len(got), 0)
		expectIs(t, "then", err, nil)
		return task.Group(func(g *aio.Group) error {
			sent := noise(1 << 20)
			g.Go("server", func(task *aio.Task) error {
				defer server.Close()
				_, err := server.Write(task, sent)
				return err
			})
			got, err := readAll(task, client)
			expect(t, "all came through", bytes.Equal(got, sent), true)
			return err
		})
	})
}

func TestWriteWaitsForSlowPeer(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		client, server := connect(t, task, tr)
		defer client.Close()
		sent := noise(16 << 20) // more than any socket buffer
		return task.Group(func(g *aio.Group) error {
			wrote := false
			g.Go("writer", func(task *aio.Task) error {
				defer server.Close()
				_, err := server.Write(task, sent)
				wrote = true
				return err
			})
			settle(task)
			if err := task.Sleep(5 * time.Millisecond); err != nil {
				return err
			}
			expect(t, "Write has returned though nobody read", wrote, false)
			expect(t, "the writer waits for", waitsFor(task, "writer"), "the peer to take bytes")
			got, err := readAll(task, client)
			expect(t, "all came through", bytes.Equal(got, sent), true)
			return err
		})
	})
}

// Send takes what the peer takes without a wait, and tells once when the peer takes more; not after
// Close.
func TestSend(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		client, server := connect(t, task, tr)
		defer client.Close()
		sent := noise(16 << 20) // more than any socket buffer
		rest, calls := sent, 0
		var send func()
		send = func() {
			n, err := server.Send(rest, func() { calls++; send() })
			expectIs(t, "Send", err, nil)
			if rest = rest[n:]; len(rest) == 0 {
				server.Close()
			}
		}
		send()
		if len(rest) == 0 || len(rest) == len(sent) {
			t.Errorf("a Send that had to wait has taken %d bytes of %d", len(sent)-len(rest), len(sent))
		}
		_, err := server.Send(rest, nil)
		expectIs(t, "Send during another", err, aio.ErrBusy)
		_, err = server.Write(task, rest)
		expectIs(t, "Write during Send", err, aio.ErrBusy)
		_ = task.Sleep(time.Millisecond)
		expect(t, "told though nobody has read", calls, 0)
		got, err := readAll(task, client)
		expect(t, "all came through", bytes.Equal(got, sent), true)
		_, again := server.Send(sent, nil)
		expectIs(t, "Send after Close", again, aio.ErrClosed)

		one, two := connect(t, task, tr)
		defer two.Close()
		_, _ = one.Send(sent, func() { t.Error("told after Close") })
		one.Close()
		return errors.Join(err, task.Sleep(time.Millisecond))
	})
}

// The peer gets exactly what Write reports as written.
func TestWriteCanceled(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		client, server := connect(t, task, tr)
		defer client.Close()
		sent := noise(16 << 20)
		var n int
		err := task.Timeout(5*time.Millisecond, func(task *aio.Task) (err error) {
			n, err = server.Write(task, sent)
			return err
		})
		expectIs(t, "Write", err, aio.ErrTimeout)
		if n == 0 || n >= len(sent) {
			t.Errorf("a Write that had to wait has written %d bytes of %d", n, len(sent))
		}
		server.Close()
		got, err := readAll(task, client)
		expect(t, "what was written came through", bytes.Equal(got, sent[:n]), true)
		return err
	})
}

func TestReadCanceledLosesNothing(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer c.Close()
		defer peer.Close()
		read := func(task *aio.Task) error { _, err := c.Read(task, make([]byte, 9)); return err }
		expectIs(t, "Read", task.Timeout(time.Millisecond, read), aio.ErrTimeout)
		if _, err := peer.Write([]byte("late")); err != nil {
			return err
		}
		got, err := readN(task, c, 4)
		expect(t, "the next Read got", string(got), "late")
		return err
	})
}

func TestEmptyReadAndWrite(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer c.Close()
		defer peer.Close()
		for _, p := range [][]byte{nil, {}} {
			n, err := c.Read(task, p)
			expect(t, "bytes read", n, 0)
			expectIs(t, "Read", err, nil)
			n, err = c.Write(task, p)
			expect(t, "bytes written", n, 0)
			expectIs(t, "Write", err, nil)
		}
		return nil
	})
}

func TestWaitReadableOfConn(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer c.Close()
		return task.Group(func(g *aio.Group) error {
			waited := false
			g.Go("reader", func(task *aio.Task) error {
				err := c.WaitReadable(task)
				waited = true
				return err
			})
			if err := task.Sleep(time.Millisecond); err != nil {
				return err
			}
			expect(t, "returned before there was anything", waited, false)
			if _, err := peer.Write([]byte("x")); err != nil {
				return err
			}
			for !waited {
				if err := task.Sleep(10 * time.Microsecond); err != nil {
					return err
				}
			}
			expectIs(t, "again, with the byte unread", c.WaitReadable(task), nil)
			got, err := readN(task, c, 1)
			expect(t, "read", string(got), "x")
			if err != nil {
				return err
			}
			peer.Close()
			expectIs(t, "at the end of the stream", c.WaitReadable(task), nil)
			c.Close()
			expectIs(t, "after Close", c.WaitReadable(task), aio.ErrClosed)
			return nil
		})
	})
}

// A new connection holds no buffer while it waits for its first byte: that is the purpose of
// WaitReadable.
func TestWaitReadableOfFreshConnWaits(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		client, server := connect(t, task, tr)
		defer client.Close()
		defer server.Close()
		for _, c := range []aio.Conn{client, server} {
			expectIs(t, "WaitReadable with nothing to read", task.Timeout(2*time.Millisecond, c.WaitReadable), aio.ErrTimeout)
		}
		return nil
	})
}

func TestDeadlines(t *testing.T) {
	const soon = 2 * time.Millisecond
	past, never := time.Unix(1, 0), time.Time{}
	read := func(task *aio.Task, c aio.Conn) error { _, err := c.Read(task, make([]byte, 1)); return err }
	tests := []struct {
		name string
		test func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn)
	}{
		{"in the past", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			expectIs(t, "set", c.SetReadDeadline(past), nil)
			err := read(task, c)
			expectIs(t, "Read", err, aio.ErrTimeout)
			expect(t, "error", err.Error(), fmt.Sprintf("read tcp %v: deadline exceeded", c.RemoteAddr()))
			expectIs(t, "set", c.SetWriteDeadline(past), nil)
			_, err = c.Write(task, []byte("x"))
			expectIs(t, "Write", err, aio.ErrTimeout)
		}},
		{"in the past, with bytes there", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			_, _ = peer.Write([]byte("x"))
			expectIs(t, "WaitReadable", c.WaitReadable(task), nil)
			expectIs(t, "set", c.SetReadDeadline(past), nil)
			expectIs(t, "Read", read(task, c), aio.ErrTimeout)
			expectIs(t, "clear", c.SetReadDeadline(never), nil)
			expectIs(t, "Read once it is cleared", read(task, c), nil)
		}},
		{"in the future", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			at := task.Loop().Now().Add(soon)
			expectIs(t, "set", c.SetDeadline(at), nil)
			expectIs(t, "Read", read(task, c), aio.ErrTimeout)
			if now := task.Loop().Now(); now.Before(at) {
				t.Errorf("the deadline passed %v early", at.Sub(now))
			}
			_, err := c.Write(task, []byte("x"))
			expectIs(t, "Write", err, aio.ErrTimeout)
			expectIs(t, "it stays", read(task, c), os.ErrDeadlineExceeded)
		}},
		{"one direction leaves the other alone", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			expectIs(t, "set", c.SetReadDeadline(past), nil)
			_, err := c.Write(task, []byte("x"))
			expectIs(t, "Write", err, nil)
		}},
		{"is that of a net.Error", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			expectIs(t, "set", c.SetReadDeadline(past), nil)
			var ne net.Error
			if err := read(task, c); !errors.As(err, &ne) || !ne.Timeout() {
				t.Errorf("%v is no net.Error that is a time-out", err)
			}
		}},
		{"extended while a task waits", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			first := task.Loop().Now().Add(soon)
			second := first.Add(3 * soon)
			expectIs(t, "set", c.SetReadDeadline(first), nil)
			task.Loop().CallSoon(func() { _ = c.SetReadDeadline(second) })
			expectIs(t, "Read", read(task, c), aio.ErrTimeout)
			if now := task.Loop().Now(); now.Before(second) {
				t.Errorf("the extended deadline passed %v early", second.Sub(now))
			}
		}},
		{"brought forward while a task waits", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			expectIs(t, "set", c.SetReadDeadline(task.Loop().Now().Add(time.Hour)), nil)
			task.Loop().CallSoon(func() { _ = c.SetReadDeadline(task.Loop().Now().Add(soon)) })
			expectIs(t, "Read", read(task, c), aio.ErrTimeout)
		}},
		{"moved into the past while a task waits", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			task.Loop().CallSoon(func() { _ = c.SetReadDeadline(past) })
			expectIs(t, "Read", read(task, c), aio.ErrTimeout)
			task.Loop().CallSoon(func() { _ = c.SetReadDeadline(past) })
			expectIs(t, "clear", c.SetReadDeadline(never), nil)
			expectIs(t, "WaitReadable", c.WaitReadable(task), aio.ErrTimeout)
		}},
		{"cleared while a task waits", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			expectIs(t, "set", c.SetReadDeadline(task.Loop().Now().Add(soon)), nil)
			task.Loop().CallSoon(func() { _ = c.SetReadDeadline(never) })
			task.Loop().CallLater(3*soon, func() { _, _ = peer.Write([]byte("x")) })
			expectIs(t, "Read", read(task, c), nil)
		}},
		{"passed and taken back in one turn", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			task.Loop().CallSoon(func() {
				_ = c.SetReadDeadline(past)
				_ = c.SetReadDeadline(never)
			})
			task.Loop().CallLater(soon, func() { _, _ = peer.Write([]byte("x")) })
			expectIs(t, "Read", read(task, c), nil)
		}},
		{"of a Write that waits", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			expectIs(t, "set", c.SetWriteDeadline(task.Loop().Now().Add(soon)), nil)
			sent := noise(16 << 20)
			n, err := c.Write(task, sent)
			expectIs(t, "Write", err, aio.ErrTimeout)
			c.Close()
			got, _ := io.ReadAll(peer)
			expect(t, "what was written came through", bytes.Equal(got, sent[:n]), true)
		}},
		{"after Close", func(t *testing.T, task *aio.Task, c aio.Conn, peer net.Conn) {
			c.Close()
			expectIs(t, "SetDeadline", c.SetDeadline(never), aio.ErrClosed)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				c, peer := connectPeer(t, task, tcp4)
				defer c.Close()
				defer peer.Close()
				tt.test(t, task, c, peer)
				return nil
			})
		})
	}
}

// Bytes arrive and the deadline passes while another task holds the loop. The waiter learns of
// both at once, and gets the bytes: what came in time is not thrown away because the loop was
// busy.
func TestDataWinsOverDeadline(t *testing.T) {
	waits := []struct {
		name string
		wait func(task *aio.Task, c aio.Conn) error
	}{
		{"Read", func(task *aio.Task, c aio.Conn) error {
			got, err := readN(task, c, 4)
			if err == nil && string(got) != "data" {
				err = fmt.Errorf("got %q", got)
			}
			return err
		}},
		{"WaitReadable", func(task *aio.Task, c aio.Conn) error { return c.WaitReadable(task) }},
	}
	for _, w := range waits {
		t.Run(w.name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				// A Unix socket delivers within write(2).
				c, peer := connectPeer(t, task, unixStream)
				defer c.Close()
				defer peer.Close()
				return task.Group(func(g *aio.Group) error {
					at := task.Loop().Now().Add(50 * time.Millisecond)
					expectIs(t, "set", c.SetReadDeadline(at), nil)
					g.Go("reader", func(task *aio.Task) error { return w.wait(task, c) })
					if err := task.Yield(); err != nil {
						return err
					}
					if _, err := peer.Write([]byte("data")); err != nil {
						return err
					}
					for !time.Now().After(at) {
						continue
					}
					return nil
				})
			})
		})
	}
}

func TestWriteWinsOverDeadline(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		c, peer := connectPeer(t, task, unixStream)
		defer c.Close()
		defer peer.Close()
		queued := fill(t, task, c)
		return task.Group(func(g *aio.Group) error {
			at := task.Loop().Now().Add(50 * time.Millisecond)
			expectIs(t, "set", c.SetWriteDeadline(at), nil)
			g.Go("writer", func(task *aio.Task) error { _, err := c.Write(task, []byte("more")); return err })
			if err := task.Yield(); err != nil {
				return err
			}
			if _, err := io.CopyN(io.Discard, peer, int64(queued)); err != nil {
				return err
			}
			for !time.Now().After(at) {
				continue
			}
			return nil
		})
	})
}

func TestCloseWakesWhoWaits(t *testing.T) {
	tests := []struct {
		name string
		wait func(task *aio.Task, c aio.Conn) error
	}{
		{"Read", func(task *aio.Task, c aio.Conn) error { _, err := c.Read(task, make([]byte, 1)); return err }},
		{"WaitReadable", func(task *aio.Task, c aio.Conn) error { return c.WaitReadable(task) }},
		{"Write", func(task *aio.Task, c aio.Conn) error { _, err := c.Write(task, noise(16<<20)); return err }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
				c, peer := connectPeer(t, task, tr)
				defer peer.Close()
				return task.Group(func(g *aio.Group) error {
					g.Go("waits", func(task *aio.Task) error {
						expectIs(t, tt.name, tt.wait(task, c), aio.ErrClosed)
						return nil
					})
					if err := task.Sleep(time.Millisecond); err != nil {
						return err
					}
					return c.Close()
				})
			})
		})
	}
}

func TestUseAfterClose(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer peer.Close()
		expectIs(t, "Close", c.Close(), nil)
		expectIs(t, "second Close", c.Close(), nil)
		_, err := c.Read(task, make([]byte, 1))
		expectIs(t, "Read", err, aio.ErrClosed)
		_, err = c.Write(task, []byte("x"))
		expectIs(t, "Write", err, aio.ErrClosed)
		_, err = c.Write(task, nil)
		expectIs(t, "empty Write", err, aio.ErrClosed)
		expectIs(t, "CloseWrite", c.CloseWrite(), aio.ErrClosed)
		_ = c.LocalAddr() // nil if nobody asked before; no panic
		_, err = peer.Read(make([]byte, 1))
		expect(t, "the peer sees", err, io.EOF)
		return nil
	})
}

func TestOneTaskADirection(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer c.Close()
		defer peer.Close()
		fill(t, task, c)
		return task.Group(func(g *aio.Group) error {
			g.Go("reader", func(task *aio.Task) error { _, err := c.Read(task, make([]byte, 1)); return err })
			g.Go("writer", func(task *aio.Task) error { _, err := c.Write(task, []byte("x")); return err })
			if err := task.Yield(); err != nil {
				return err
			}
			_, err := c.Read(task, make([]byte, 1))
			expectIs(t, "second Read", err, aio.ErrBusy)
			expectIs(t, "WaitReadable beside a Read", c.WaitReadable(task), aio.ErrBusy)
			_, err = c.Write(task, []byte("x"))
			expectIs(t, "second Write", err, aio.ErrBusy)
			expect(t, "the reader still waits for", waitsFor(task, "reader"), "bytes to read")
			expect(t, "the writer still waits for", waitsFor(task, "writer"), "the peer to take bytes")
			g.Cancel()
			return nil
		})
	})
}

func TestConnectionRefused(t *testing.T) {
	for _, tr := range []transport{tcp4, tcp6} {
		t.Run(tr.network, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				ln, err := net.Listen(tr.network, tr.address(t))
				if err != nil {
					return err
				}
				ln.Close() // now nobody listens there
				_, err = aio.Dial(task, tr.network, ln.Addr().String())
				expectIs(t, "Dial", err, syscall.ECONNREFUSED)
				if err != nil && !strings.Contains(err.Error(), ln.Addr().String()) {
					t.Errorf("error %q does not name the address", err)
				}
				expect(t, "descriptors left", task.Loop().Stats().Descriptors, 0)
				return nil
			})
		})
	}
}

// reset ends a connection with an RST instead of a FIN.
func reset(t *testing.T, peer net.Conn) {
	t.Helper()
	if err := peer.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	peer.Close()
}

func TestConnectionReset(t *testing.T) {
	t.Run("while reading", func(t *testing.T) {
		onSelectors(t, func(t *testing.T, task *aio.Task) error {
			c, peer := connectPeer(t, task, tcp4)
			defer c.Close()
			task.Loop().CallLater(time.Millisecond, func() { reset(t, peer) })
			_, err := c.Read(task, make([]byte, 1))
			expectIs(t, "Read", err, syscall.ECONNRESET)
			return nil
		})
	})
	t.Run("before reading", func(t *testing.T) {
		onSelectors(t, func(t *testing.T, task *aio.Task) error {
			c, peer := connectPeer(t, task, tcp4)
			defer c.Close()
			reset(t, peer)
			_, err := c.Read(task, make([]byte, 1))
			expectIs(t, "Read", err, syscall.ECONNRESET)
			return nil
		})
	})
	t.Run("while writing", func(t *testing.T) {
		onSelectors(t, func(t *testing.T, task *aio.Task) error {
			c, peer := connectPeer(t, task, tcp4)
			defer c.Close()
			task.Loop().CallLater(time.Millisecond, func() { reset(t, peer) })
			_, err := c.Write(task, noise(64<<20))
			if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
				t.Errorf("Write: got %v, want ECONNRESET or EPIPE", err)
			}
			return nil
		})
	})
}

// The peer's bytes and its end arrive as one event. A short read means that there is no more, but
// not that no end follows: an edge-triggered selector sends no second event.
func TestEndThatArrivesWithTheLastBytes(t *testing.T) {
	const text = "the last bytes"
	sizes := []int{1, len(text) - 1, len(text), len(text) + 1, 32 << 10}
	when := []struct {
		name string
		peer func(task *aio.Task, send func()) error
	}{
		{"before the first read", func(task *aio.Task, send func()) error { send(); return task.Sleep(time.Millisecond) }},
		{"unseen by the selector", func(task *aio.Task, send func()) error { send(); return nil }},
		{"while a read waits", func(task *aio.Task, send func()) error { task.Loop().CallLater(time.Millisecond, send); return nil }},
	}
	for _, w := range when {
		t.Run(w.name, func(t *testing.T) {
			onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
				for _, size := range sizes {
					c, peer := connectPeer(t, task, tr)
					defer c.Close()
					send := func() {
						_, _ = peer.Write([]byte(text))
						peer.Close()
					}
					if err := w.peer(task, send); err != nil {
						return err
					}
					var got []byte
					p := make([]byte, size)
					for {
						n, err := c.Read(task, p)
						got = append(got, p[:n]...)
						if err == io.EOF {
							break
						}
						if err != nil {
							return fmt.Errorf("after %q: %w", got, err)
						}
					}
					expect(t, fmt.Sprintf("in reads of %d bytes", size), string(got), text)
				}
				return nil
			})
		})
	}
}

// The same for a connection whose peer has come, sent and gone before Accept.
func TestAcceptOfPeerThatIsGone(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		ln, err := aio.Listen(task, tr.network, tr.address(t))
		if err != nil {
			return err
		}
		defer ln.Close()
		peer, err := net.Dial(ln.Addr().Network(), ln.Addr().String())
		if err != nil {
			return err
		}
		_, _ = peer.Write([]byte("hello"))
		peer.Close()
		c, err := ln.Accept(task)
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.RemoteAddr() // the peer has gone
		got, err := readAll(task, c)
		expect(t, "got", string(got), "hello")
		return err
	})
}

// A short read does not always mean that a socket is empty: the kernel stops before urgent data of
// TCP, and after a message that carried descriptors.
func TestShortReadWithMoreBehindIt(t *testing.T) {
	urgent := func(t *testing.T, peer net.Conn) {
		t.Helper()
		raw, err := peer.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if e := raw.Control(func(fd uintptr) { err = unix.Send(int(fd), []byte("!"), unix.MSG_OOB) }); e != nil || err != nil {
			t.Skipf("no urgent data here: %v", errors.Join(e, err))
		}
	}
	tests := []struct {
		name string
		tr   transport
		send func(t *testing.T, peer net.Conn)
	}{
		{"TCP urgent data", tcp4, func(t *testing.T, peer net.Conn) {
			_, _ = peer.Write([]byte("before "))
			urgent(t, peer)
			_, _ = peer.Write([]byte("after"))
		}},
		{"Unix urgent data", unixStream, func(t *testing.T, peer net.Conn) {
			_, _ = peer.Write([]byte("before "))
			urgent(t, peer)
			_, _ = peer.Write([]byte("after"))
		}},
		{"descriptors", unixStream, func(t *testing.T, peer net.Conn) {
			if _, _, err := peer.(*net.UnixConn).WriteMsgUnix([]byte("before "), unix.UnixRights(0), nil); err != nil {
				t.Fatal(err)
			}
			_, _ = peer.Write([]byte("after"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				for _, seen := range []bool{false, true} {
					c, peer := connectPeer(t, task, tt.tr)
					defer c.Close()
					defer peer.Close()
					tt.send(t, peer)
					if seen { // by the selector, before the first read
						if err := c.WaitReadable(task); err != nil {
							return err
						}
					}
					_ = c.SetReadDeadline(task.Loop().Now().Add(time.Second))
					got, err := readN(task, c, len("before after"))
					expect(t, fmt.Sprintf("got (event seen: %v)", seen), string(got), "before after")
					expectIs(t, "error", err, nil)
				}
				return nil
			})
		})
	}
}

// Pieces of all sizes, read with buffers of all sizes: whatever readiness is reported and whatever
// each read returns, no byte is lost, and no read waits in vain.
func TestPiecesOfAllSizes(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer c.Close()
		sent := noise(200_000)
		go func() {
			defer peer.Close()
			for rest, n := sent, 1; len(rest) > 0; n = n*5%997 + 1 {
				k := min(n, len(rest))
				if _, err := peer.Write(rest[:k]); err != nil {
					t.Errorf("the peer: %v", err)
					return
				}
				rest = rest[k:]
			}
		}()
		var got []byte
		p := make([]byte, 1000)
		for n := 1; ; n = n*7%991 + 1 {
			k, err := c.Read(task, p[:n])
			got = append(got, p[:k]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		expect(t, "all came through", bytes.Equal(got, sent), true)
		return nil
	})
}

// Two connections play ping-pong, a byte at a time: every byte is a new edge for an empty socket.
func TestPingPong(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		client, server := connect(t, task, tr)
		const rounds = 2000
		play := func(c aio.Conn, serves bool) func(task *aio.Task) error {
			return func(task *aio.Task) error {
				defer c.Close()
				p := make([]byte, 64)
				for i := range rounds {
					if serves || i > 0 {
						if _, err := c.Write(task, []byte{byte(i)}); err != nil {
							return err
						}
					}
					if n, err := c.Read(task, p); err != nil || n != 1 {
						return fmt.Errorf("round %d: read %d bytes: %w", i, n, err)
					}
				}
				if !serves {
					_, err := c.Write(task, []byte{0})
					return err
				}
				return nil
			}
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("client", play(client, true))
			g.Go("server", play(server, false))
			return nil
		})
	})
}

func TestConnAddresses(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		ln, err := aio.Listen(task, tr.network, tr.address(t))
		if err != nil {
			return err
		}
		defer ln.Close()
		client, err := aio.Dial(task, tr.network, ln.Addr().String())
		if err != nil {
			return err
		}
		defer client.Close()
		server, err := ln.Accept(task)
		if err != nil {
			return err
		}
		defer server.Close()
		expect(t, "the client's remote address", client.RemoteAddr().String(), ln.Addr().String())
		expect(t, "the server's local address", server.LocalAddr().String(), ln.Addr().String())
		expect(t, "the client's local address", client.LocalAddr().String(), server.RemoteAddr().String())
		return nil
	})
}

func TestErrorsNameTheConnection(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		c, peer := connectPeer(t, task, tcp4)
		defer c.Close()
		reset(t, peer)
		_, err := c.Read(task, make([]byte, 1))
		var op *net.OpError
		if !errors.As(err, &op) {
			t.Fatalf("got %v, want a net.OpError", err)
		}
		expect(t, "operation", op.Op, "read")
		expect(t, "peer", op.Addr.String(), peer.LocalAddr().String())
		return nil
	})
}

func TestNoDelay(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		client, server := connect(t, task, tcp4)
		defer client.Close()
		defer server.Close()
		for _, c := range []aio.Conn{client, server} {
			v, err := unix.GetsockoptInt(descriptorOf(t, c), unix.IPPROTO_TCP, unix.TCP_NODELAY)
			expectIs(t, "getsockopt", err, nil)
			expect(t, "TCP_NODELAY", v, 1)
		}
		return nil
	})
}

// descriptorOf finds the descriptor of a TCP connection by its local port.
func descriptorOf(t *testing.T, c aio.Conn) int {
	t.Helper()
	for fd := range 1024 {
		sa, err := unix.Getsockname(fd)
		if err != nil {
			continue
		}
		if _, err := unix.Getpeername(fd); err != nil {
			continue // a listener
		}
		if sa4, ok := sa.(*unix.SockaddrInet4); ok && sa4.Port == c.LocalAddr().(*net.TCPAddr).Port {
			return fd
		}
	}
	t.Fatal("no descriptor has the address of the connection")
	return -1
}

func TestListenAndAcceptErrors(t *testing.T) {
	t.Run("Accept of a closed listener", func(t *testing.T) {
		onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
			ln, err := aio.Listen(task, tr.network, tr.address(t))
			if err != nil {
				return err
			}
			expectIs(t, "Close", ln.Close(), nil)
			expectIs(t, "second Close", ln.Close(), nil)
			_, err = ln.Accept(task)
			expectIs(t, "Accept", err, aio.ErrClosed)
			return nil
		})
	})
	t.Run("Close wakes Accept", func(t *testing.T) {
		onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
			ln, err := aio.Listen(task, tr.network, tr.address(t))
			if err != nil {
				return err
			}
			task.Loop().CallLater(time.Millisecond, func() { _ = ln.Close() })
			_, err = ln.Accept(task)
			expectIs(t, "Accept", err, aio.ErrClosed)
			return nil
		})
	})
	t.Run("two that Accept", func(t *testing.T) {
		onSelectors(t, func(t *testing.T, task *aio.Task) error {
			ln, err := aio.Listen(task, "tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer ln.Close()
			return task.Group(func(g *aio.Group) error {
				g.Go("first", func(task *aio.Task) error { _, err := ln.Accept(task); return err })
				if err := task.Yield(); err != nil {
					return err
				}
				_, err := ln.Accept(task)
				expectIs(t, "second Accept", err, aio.ErrBusy)
				g.Cancel()
				return nil
			})
		})
	})
	t.Run("address in use", func(t *testing.T) {
		onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
			ln, err := aio.Listen(task, tr.network, tr.address(t))
			if err != nil {
				return err
			}
			defer ln.Close()
			_, err = aio.Listen(task, tr.network, ln.Addr().String())
			expectIs(t, "second Listen", err, syscall.EADDRINUSE)
			expect(t, "descriptors", task.Loop().Stats().Descriptors, 1)
			return nil
		})
	})
	t.Run("bad addresses", func(t *testing.T) {
		onSelectors(t, func(t *testing.T, task *aio.Task) error {
			for _, bad := range [][2]string{
				{"udp", "127.0.0.1:0"}, {"", "127.0.0.1:0"}, {"tcp", "127.0.0.1"}, {"tcp", ""}, {"tcp", "127.0.0.1:99999"},
				{"tcp", "127.0.0.1:-1"}, {"tcp6", "127.0.0.1:0"}, {"tcp4", "[::1]:0"}, {"tcp", "192.0.2.1:0"},
				{"unix", "/nonexistent/socket"}, {"unix", "/tmp/" + strings.Repeat("x", 200)},
			} {
				ln, err := aio.Listen(task, bad[0], bad[1])
				if err == nil {
					t.Errorf("Listen(%q, %q) succeeded", bad[0], bad[1])
					ln.Close()
				} else if !strings.HasPrefix(err.Error(), "listen "+bad[0]+" "+bad[1]+": ") {
					t.Errorf("error %q does not say what was listened on", err)
				}
			}
			expect(t, "descriptors left", task.Loop().Stats().Descriptors, 0)
			return nil
		})
	})
}

func TestDialErrorsOfTheSystem(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		for _, bad := range [][2]string{
			{"udp", "127.0.0.1:1"}, {"", "127.0.0.1:1"}, {"tcp", "127.0.0.1"}, {"tcp", ""}, {"tcp", "127.0.0.1:99999"},
			{"tcp", "127.0.0.1:no-such-service"}, {"tcp6", "127.0.0.1:1"}, {"tcp4", "[::1]:1"}, {"tcp", "[fe80::1%nowhere]:1"},
		} {
			c, err := aio.Dial(task, bad[0], bad[1])
			if err == nil {
				t.Errorf("Dial(%q, %q) succeeded", bad[0], bad[1])
				c.Close()
			} else if !strings.HasPrefix(err.Error(), "dial "+bad[0]+" "+bad[1]+": ") {
				t.Errorf("error %q does not say what was dialled", err)
			}
		}
		_, err := aio.Dial(task, "unix", filepath.Join(t.TempDir(), "nobody"))
		expectIs(t, "Dial of a path that is not there", err, fs.ErrNotExist)
		expect(t, "descriptors left", task.Loop().Stats().Descriptors, 0)
		return nil
	})
}

func TestDialCanceled(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			g.Go("dial", func(task *aio.Task) error {
				task.Cancel()
				c, err := aio.Dial(task, "tcp", ln.Addr().String())
				if err == nil {
					c.Close()
				}
				expectIs(t, "Dial", err, aio.ErrCanceled)
				expect(t, "descriptors left", task.Loop().Stats().Descriptors, 0)
				return err
			})
			return nil
		})
	})
}

func TestListenOnAllAddresses(t *testing.T) {
	tests := []struct {
		network, address string
		dial             []string
		refused          []string
	}{
		{"tcp", ":0", []string{"127.0.0.1", "::1"}, nil},
		{"tcp4", ":0", []string{"127.0.0.1"}, []string{"::1"}},
		{"tcp6", ":0", []string{"::1"}, nil},
		{"tcp", "0.0.0.0:0", []string{"127.0.0.1"}, []string{"::1"}},
	}
	for _, tt := range tests {
		t.Run(tt.network+" "+tt.address, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				if slices.Contains(append(tt.dial, tt.refused...), "::1") {
					ipv6Loopback(t)
				}
				ln, err := aio.Listen(task, tt.network, tt.address)
				if err != nil {
					return err
				}
				defer ln.Close()
				port := fmt.Sprint(ln.Addr().(*net.TCPAddr).Port)
				for _, host := range tt.dial {
					c, err := aio.Dial(task, "tcp", net.JoinHostPort(host, port))
					if err != nil {
						t.Errorf("not reached at %s: %v", host, err)
						continue
					}
					s, err := ln.Accept(task)
					if err != nil {
						return err
					}
					c.Close()
					s.Close()
				}
				for _, host := range tt.refused {
					if c, err := aio.Dial(task, "tcp", net.JoinHostPort(host, port)); err == nil {
						t.Errorf("reached at %s", host)
						c.Close()
					}
				}
				return nil
			})
		})
	}
}

func TestUnixListenerTakesItsPathAway(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		path := filepath.Join(t.TempDir(), "s")
		ln, err := aio.Listen(task, "unix", path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		expectIs(t, "Close", ln.Close(), nil)
		_, err = os.Stat(path)
		expectIs(t, "the path after Close", err, fs.ErrNotExist)
		return nil
	})
}

func TestNoDescriptorsOnAVirtualClock(t *testing.T) {
	run(t, func(task *aio.Task) error {
		_, err := aio.Dial(task, "tcp", "127.0.0.1:1")
		expectIs(t, "Dial", err, aio.ErrNoDescriptors)
		_, err = aio.Listen(task, "tcp", "127.0.0.1:0")
		expectIs(t, "Listen", err, aio.ErrNoDescriptors)
		path := filepath.Join(t.TempDir(), "s")
		_, err = aio.Listen(task, "unix", path)
		expectIs(t, "Listen", err, aio.ErrNoDescriptors)
		if _, err := os.Stat(path); err == nil {
			t.Error("a Listen that failed has left its path behind")
		}
		expectIs(t, "WaitReadable", task.WaitReadable(0), aio.ErrNoDescriptors)
		_, err = task.Loop().OnReadable(0, func() {})
		expectIs(t, "OnReadable", err, aio.ErrNoDescriptors)
		return nil
	})
}

func TestLeftOpenIsClosedAndReported(t *testing.T) {
	for _, name := range selectors {
		t.Run(name, func(t *testing.T) {
			var reports []string
			var peer net.Conn
			l := aio.NewLoop(aio.Options{Selector: name, SlowTurn: -1, Report: func(r aio.Report) {
				expect(t, "kind", r.Kind, aio.ReportLeak)
				reports = append(reports, r.What)
			}})
			err := l.Run(t.Context(), func(task *aio.Task) error {
				_, peer = connectPeer(t, task, tcp4)
				return nil
			})
			expectIs(t, "Run", err, nil)
			if len(reports) != 1 || !strings.Contains(reports[0], peer.LocalAddr().String()) {
				t.Errorf("reported %q, want one leak, of %v", reports, peer.LocalAddr())
			}
			_, err = peer.Read(make([]byte, 1))
			expect(t, "the peer sees", err, io.EOF)
			peer.Close()
		})
	}
}

// Foreign descriptors.

// pipe returns the ends of a non-blocking pipe, closed when the test ends.
func pipe(t *testing.T) (r, w int) {
	t.Helper()
	r, w = openPipe(t)
	t.Cleanup(func() { unix.Close(r); unix.Close(w) })
	return r, w
}

// openPipe returns the ends of a non-blocking pipe, for the caller to close.
func openPipe(t *testing.T) (r, w int) {
	t.Helper()
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	prepare(t, p)
	return p[0], p[1]
}

// socketPair returns two connected, non-blocking sockets, closed when the test ends.
func socketPair(t *testing.T) (a, b int) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(p[0]); unix.Close(p[1]) })
	prepare(t, p)
	return p[0], p[1]
}

func prepare(t *testing.T, fds [2]int) {
	t.Helper()
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, fd int, text string) {
	t.Helper()
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func take(t *testing.T, fd int) string {
	t.Helper()
	var p [100]byte
	n, err := unix.Read(fd, p[:])
	if err != nil {
		t.Fatal(err)
	}
	return string(p[:n])
}

// until gives up turns until done returns true. The selector is asked every turn.
func until(task *aio.Task, done func() bool) error {
	for !done() {
		if err := task.Sleep(10 * time.Microsecond); err != nil {
			return err
		}
	}
	return nil
}

// A watch is called in every turn while its descriptor is ready, not once when it becomes ready.
func TestOnReadable(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		r, w := pipe(t)
		calls := 0
		watch, err := task.Loop().OnReadable(r, func() { calls++ })
		if err != nil {
			return err
		}
		defer watch.Stop()
		settle(task)
		expect(t, "calls while there is nothing to read", calls, 0)
		put(t, w, "x")
		if err := until(task, func() bool { return calls >= 5 }); err != nil {
			return err
		}
		expect(t, "read", take(t, r), "x")
		if err := task.Yield(); err != nil { // a call may be due
			return err
		}
		calls = 0
		settle(task)
		expect(t, "calls after the byte was read", calls, 0)
		put(t, w, "y")
		return until(task, func() bool { return calls > 0 })
	})
}

func TestOnWritable(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		r, w := pipe(t)
		calls := 0
		watch, err := task.Loop().OnWritable(w, func() { calls++ })
		if err != nil {
			return err
		}
		defer watch.Stop()
		if err := until(task, func() bool { return calls >= 5 }); err != nil {
			return err
		}
		for {
			if _, err := unix.Write(w, make([]byte, 4096)); err == unix.EAGAIN {
				break
			}
		}
		if err := task.Yield(); err != nil {
			return err
		}
		calls = 0
		settle(task)
		expect(t, "calls while the pipe is full", calls, 0)
		for range 16 {
			_, _ = unix.Read(r, make([]byte, 4096))
		}
		return until(task, func() bool { return calls > 0 })
	})
}

func TestWatchStop(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		l := task.Loop()
		r1, w1 := pipe(t)
		r2, w2 := pipe(t)
		put(t, w1, "x")
		put(t, w2, "x")
		// Both are due in the same turn; whichever is called first stops the other.
		var one, two *aio.Watch
		calls := 0
		stop := func() {
			calls++
			one.Stop()
			two.Stop()
			two.Stop()
		}
		var err error
		if one, err = l.OnReadable(r1, stop); err != nil {
			return err
		}
		if two, err = l.OnReadable(r2, stop); err != nil {
			return err
		}
		if err := until(task, func() bool { return calls > 0 }); err != nil {
			return err
		}
		settle(task)
		expect(t, "calls", calls, 1)
		expect(t, "descriptors watched", l.Stats().Descriptors, 0)

		again, err := l.OnReadable(r1, func() { calls++ })
		if err != nil {
			return err
		}
		defer again.Stop()
		one.Stop() // the old watch: the new one is not affected
		return until(task, func() bool { return calls > 1 })
	})
}

func TestWatchBusy(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		l := task.Loop()
		r, w := pipe(t)
		watch, err := l.OnReadable(r, func() {})
		if err != nil {
			return err
		}
		_, err = l.OnReadable(r, func() {})
		expectIs(t, "second watch", err, aio.ErrBusy)
		expectIs(t, "wait beside a watch", task.WaitReadable(r), aio.ErrBusy)
		watch.Stop()
		return task.Group(func(g *aio.Group) error {
			g.Go("waits", func(task *aio.Task) error { return task.WaitReadable(r) })
			if err := task.Yield(); err != nil {
				return err
			}
			expectIs(t, "second wait", task.WaitReadable(r), aio.ErrBusy)
			_, err := l.OnReadable(r, func() {})
			expectIs(t, "watch beside a wait", err, aio.ErrBusy)
			put(t, w, "x") // and the first is served
			return nil
		})
	})
}

// More descriptors are ready, and stay ready, than the loop handles in a turn. None is passed over
// repeatedly.
func TestWatchesOfThousands(t *testing.T) {
	const n = 3000
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 2*n+100 {
		t.Skipf("%d descriptors are allowed, %d needed (%v)", limit.Cur, 2*n, err)
	}
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		called := make(map[int]bool)
		for i := range n {
			r, w := pipe(t)
			put(t, w, "x")
			watch, err := task.Loop().OnReadable(r, func() { called[i] = true })
			if err != nil {
				return err
			}
			defer watch.Stop()
		}
		settle(task)
		expect(t, "watches called within 10 turns", len(called), n)
		return nil
	})
}

func TestPanicInWatch(t *testing.T) {
	for _, name := range selectors {
		t.Run(name, func(t *testing.T) {
			r, w := pipe(t)
			put(t, w, "x")
			l := aio.NewLoop(aio.Options{Selector: name})
			err := l.Run(t.Context(), func(task *aio.Task) error {
				if _, err := l.OnReadable(r, func() { panic("boom") }); err != nil {
					return err
				}
				return idle(task)
			})
			var p *aio.PanicError
			if !errors.As(err, &p) {
				t.Errorf("got %v, want a PanicError", err)
			}
			expect(t, "the pipe is left alone", take(t, r), "x")
		})
	}
}

func TestWaitReadable(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		r, w := openPipe(t)
		defer unix.Close(r)
		task.Loop().CallLater(time.Millisecond, func() { put(t, w, "x") })
		if err := task.WaitReadable(r); err != nil {
			return err
		}
		if err := task.WaitReadable(r); err != nil { // level-triggered: it still is
			return err
		}
		expect(t, "read", take(t, r), "x")
		err := task.Timeout(time.Millisecond, func(task *aio.Task) error { return task.WaitReadable(r) })
		expectIs(t, "wait for an empty pipe", err, aio.ErrTimeout)
		unix.Close(w)
		expectIs(t, "wait for the end", task.WaitReadable(r), nil)
		expect(t, "read", take(t, r), "")
		expect(t, "descriptors watched", task.Loop().Stats().Descriptors, 0)
		return nil
	})
}

func TestWaitWritable(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		r, w := openPipe(t)
		defer unix.Close(w)
		if err := task.WaitWritable(w); err != nil {
			return err
		}
		for {
			if _, err := unix.Write(w, make([]byte, 4096)); err == unix.EAGAIN {
				break
			}
		}
		err := task.Timeout(time.Millisecond, func(task *aio.Task) error { return task.WaitWritable(w) })
		expectIs(t, "wait for a full pipe", err, aio.ErrTimeout)
		task.Loop().CallLater(time.Millisecond, func() { unix.Close(r) })
		expectIs(t, "wait for a pipe without a reader", task.WaitWritable(w), nil)
		_, err = unix.Write(w, []byte("x"))
		expectIs(t, "write", err, unix.EPIPE)
		return nil
	})
}

func TestWaitForWhatCannotBeWatched(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			return err
		}
		defer file.Close()
		fd := int(file.Fd())
		expectIs(t, "WaitReadable of a regular file", task.WaitReadable(fd), unix.EPERM)
		expectIs(t, "WaitWritable of a regular file", task.WaitWritable(fd), unix.EPERM)
		_, err = task.Loop().OnReadable(fd, func() {})
		expectIs(t, "OnReadable of a regular file", err, unix.EPERM)
		for _, fd := range []int{-1, 1 << 20} {
			expectIs(t, "WaitReadable of a closed descriptor", task.WaitReadable(fd), unix.EBADF)
			_, err = task.Loop().OnWritable(fd, func() {})
			expectIs(t, "OnWritable of a closed descriptor", err, unix.EBADF)
		}
		expect(t, "descriptors watched", task.Loop().Stats().Descriptors, 0)
		return nil
	})
}

// One task reads and another writes on a foreign descriptor. Both wake in the same turn and wait
// again, thousands of times.
func TestWaitForBothDirections(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		a, b := socketPair(t)
		put(t, b, "x") // readable and writable from now on
		err := task.Group(func(g *aio.Group) error {
			for _, wait := range []func(*aio.Task, int) error{(*aio.Task).WaitReadable, (*aio.Task).WaitWritable} {
				g.Go("waits", func(task *aio.Task) error {
					for range 1000 {
						if err := wait(task, a); err != nil {
							return err
						}
					}
					return nil
				})
			}
			return nil
		})
		expect(t, "descriptors watched", task.Loop().Stats().Descriptors, 0)
		_, errClosed := unix.FcntlInt(uintptr(a), unix.F_GETFD, 0)
		expectIs(t, "the descriptor is still the caller's", errClosed, nil)
		return err
	})
}

func TestWaitCanceledLeavesTheOther(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		a, b := socketPair(t)
		for { // full: not writable
			if _, err := unix.Write(a, make([]byte, 4096)); err == unix.EAGAIN {
				break
			}
		}
		return task.Group(func(g *aio.Group) error {
			read := false
			g.Go("reader", func(task *aio.Task) error {
				err := task.WaitReadable(a)
				read = err == nil
				return err
			})
			writer := g.Go("writer", func(task *aio.Task) error { return task.WaitWritable(a) })
			if err := task.Yield(); err != nil {
				return err
			}
			writer.Cancel()
			expectIs(t, "the writer", writer.Await(task), aio.ErrCanceled)
			put(t, b, "x")
			return until(task, func() bool { return read })
		})
	})
}

// notedNetwork refuses all connections and records their addresses.
type notedNetwork struct{ dialled []string }

func (*notedNetwork) Lookup(_ *aio.Task, host string) ([]net.IP, error) {
	return nil, fmt.Errorf("look-up of %q, which needs none", host)
}

func (n *notedNetwork) Connect(_ *aio.Task, to net.Addr) (aio.Conn, error) {
	n.dialled = append(n.dialled, to.String())
	return nil, syscall.ECONNREFUSED
}

func (*notedNetwork) Listen(*aio.Task, net.Addr) (aio.Listener, error) {
	return nil, errors.ErrUnsupported
}

func TestDialLiterals(t *testing.T) {
	for _, tt := range []struct{ network, address, want string }{
		{"tcp", "192.0.2.1:80", "192.0.2.1:80"},
		{"tcp4", "192.0.2.1:80", "192.0.2.1:80"},
		{"tcp", "[2001:db8::1]:80", "[2001:db8::1]:80"},
		{"tcp6", "[2001:db8::1]:80", "[2001:db8::1]:80"},
		{"tcp", "[fe80::1%eth0]:80", "[fe80::1%eth0]:80"},
		{"tcp", "[fe80::1%eth0]:http", "[fe80::1%eth0]:80"},
		{"tcp", "192.0.2.1:https", "192.0.2.1:443"},
	} {
		t.Run(tt.network+" "+tt.address, func(t *testing.T) {
			var network notedNetwork
			err := runWith(t, aio.Options{Network: &network}, func(task *aio.Task) error {
				_, err := aio.Dial(task, tt.network, tt.address)
				return err
			})
			expectIs(t, "Dial", err, syscall.ECONNREFUSED)
			expect(t, "dialled", strings.Join(network.dialled, " "), tt.want)
		})
	}
}
