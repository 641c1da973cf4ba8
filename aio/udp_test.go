package aio_test

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// dialUDP returns a datagram socket and the blocking one that it is connected to.
func dialUDP(t *testing.T, task *aio.Task, address string) (aio.Conn, net.PacketConn) {
	t.Helper()
	peer, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Skipf("no such address here: %v", err)
	}
	t.Cleanup(func() { peer.Close() })
	c, err := aio.DialUDP(task, netip.MustParseAddrPort(peer.LocalAddr().String()))
	if err != nil {
		t.Fatal(err)
	}
	return c, peer
}

// TestDatagrams checks that each write of at least one byte sends a datagram, and each read
// returns one, including an empty one, and the beginning of one that is too long.
func TestDatagrams(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				c, peer := dialUDP(t, task, address)
				defer c.Close()
				expect(t, "remote address", c.RemoteAddr().String(), peer.LocalAddr().String())
				for _, s := range []string{"first", "second"} {
					for _, w := range []string{"", s} {
						if _, err := c.Write(task, []byte(w)); err != nil {
							return err
						}
					}
					var b [16]byte
					n, from, err := peer.ReadFrom(b[:])
					if err != nil {
						return err
					}
					expect(t, "sent", string(b[:n]), s)
					expect(t, "sent from", from.String(), c.LocalAddr().String())
				}
				expect(t, "network", c.LocalAddr().Network(), "udp")
				for _, s := range []string{"one", "", "too long", "two"} {
					if _, err := peer.WriteTo([]byte(s), c.LocalAddr()); err != nil {
						return err
					}
				}
				for _, want := range []string{"one", "", "too l", "two"} {
					var b [5]byte
					n, err := c.Read(task, b[:])
					if err != nil {
						return err
					}
					expect(t, "received", string(b[:n]), want)
				}
				return nil
			})
		})
	}
}

// TestDatagramsWait checks that a read waits for a datagram, up to a deadline.
func TestDatagramsWait(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		c, peer := dialUDP(t, task, "127.0.0.1:0")
		defer c.Close()
		_ = c.SetReadDeadline(task.Loop().Now().Add(20 * time.Millisecond))
		var b [16]byte
		_, err := c.Read(task, b[:])
		expectIs(t, "read past the deadline", err, aio.ErrTimeout)
		_ = c.SetReadDeadline(time.Time{})
		return task.Group(func(g *aio.Group) error {
			g.Go("reader", func(task *aio.Task) error {
				for _, want := range []string{"one", "two"} {
					n, err := c.Read(task, b[:])
					if err != nil {
						return err
					}
					expect(t, "received", string(b[:n]), want)
				}
				_, err := c.Read(task, b[:])
				expectIs(t, "read while it is closed", err, aio.ErrClosed)
				return nil
			})
			settle(task)
			for _, s := range []string{"one", "two"} {
				if _, err := peer.WriteTo([]byte(s), c.LocalAddr()); err != nil {
					return err
				}
				if err := task.Sleep(5 * time.Millisecond); err != nil {
					return err
				}
			}
			return c.Close()
		})
	})
}

// TestDatagramsOfOthers checks that datagrams from other addresses do not arrive.
func TestDatagramsOfOthers(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		c, peer := dialUDP(t, task, "127.0.0.1:0")
		defer c.Close()
		other, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer other.Close()
		for _, from := range []net.PacketConn{other, peer} {
			if _, err := from.WriteTo([]byte(from.LocalAddr().String()), c.LocalAddr()); err != nil {
				return err
			}
		}
		b := make([]byte, 64)
		n, err := c.Read(task, b)
		if err != nil {
			return err
		}
		expect(t, "received from", string(b[:n]), peer.LocalAddr().String())
		return nil
	})
}

// TestDatagramsToNobody checks that datagrams to a closed port are refused, where the system
// reports it.
func TestDatagramsToNobody(t *testing.T) {
	refuses := func(t *testing.T, task *aio.Task, to netip.AddrPort) error {
		c, err := aio.DialUDP(task, to)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Write(task, []byte("hello")); err != nil {
			return err
		}
		_ = c.SetReadDeadline(task.Loop().Now().Add(5 * time.Second))
		var b [1]byte
		_, err = c.Read(task, b[:])
		expectIs(t, "read", err, syscall.ECONNREFUSED)
		return nil
	}
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		gone, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		gone.Close()
		return refuses(t, task, netip.MustParseAddrPort(gone.LocalAddr().String()))
	})
	aiotest.Run(t, func(task *aio.Task) error { return refuses(t, task, netip.MustParseAddrPort("192.0.2.1:53")) })
}

// TestDatagramSocketIsReported checks that a socket that is left open is reported.
func TestDatagramSocketIsReported(t *testing.T) {
	var reports []string
	l := aio.NewLoop(aio.Options{SlowTurn: -1, Report: func(r aio.Report) { reports = append(reports, r.What) }})
	err := l.Run(t.Context(), func(task *aio.Task) error {
		_, err := aio.DialUDP(task, netip.MustParseAddrPort("127.0.0.1:9"))
		return err
	})
	if err != nil || len(reports) != 1 || !strings.Contains(reports[0], "127.0.0.1:9") {
		t.Errorf("reports %q, %v", reports, err)
	}
	err = aio.Run(t.Context(), func(task *aio.Task) error {
		_, err := aio.DialUDP(task, netip.MustParseAddrPort("[fe80::1%nowhere]:53"))
		return err
	})
	if err == nil || !strings.HasPrefix(err.Error(), "dial udp [fe80::1%nowhere]:53: ") || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("of a zone that is not there: %v", err)
	}
}
