package dns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/internal/cost"
	"github.com/weftcrawl/weft/internal/webtest"
	"golang.org/x/net/dns/dnsmessage"
)

// TestRealSockets looks up 200 names at once over the system's sockets, 20 of which do not exist.
func TestRealSockets(t *testing.T) {
	aiotest.CheckLeaks(t)
	web, err := webtest.New(webtest.Config{Hosts: 200})
	if err != nil {
		t.Fatal(err)
	}
	s, err := webtest.ListenDNS(web, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	none := write(t, "none", "")
	loop := aio.NewLoop(aio.Options{Report: func(r aio.Report) { t.Error(r) }, SlowTurn: -1})
	err = loop.Run(t.Context(), func(task *aio.Task) error {
		r := dns.New(task.Loop(), dns.Options{Servers: addrPorts(s.Addr()), Hosts: none, Conf: none})
		return task.Group(func(g *aio.Group) error {
			for i := range web.Hosts() {
				want := "not found: no such host"
				if addr, ok := web.Addr(i); ok && !web.Dead(i) {
					want = addr.String()
				}
				for range 3 {
					g.Go("asker", func(task *aio.Task) error {
						expectLookup(t, task, r, web.Name(i), want)
						return nil
					})
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range web.Hosts() {
		if n := s.Asked(i); n != 1 {
			t.Errorf("%s: %d queries, want 1", web.Name(i), n)
		}
	}
}

// answering starts a name server on a socket, with one address for every name.
func answering(b *testing.B) string {
	b.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_ = c.(*net.UDPConn).SetReadBuffer(4 << 20)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var buf [1500]byte
		var reply []byte
		for {
			n, from, err := c.(*net.UDPConn).ReadFromUDPAddrPort(buf[:])
			if err != nil {
				return
			}
			var p dnsmessage.Parser
			h, err := p.Start(buf[:n])
			q, e := p.Question()
			if errors.Join(err, e) != nil {
				continue
			}
			m := dnsmessage.NewBuilder(reply[:0], dnsmessage.Header{ID: h.ID, Response: true, RecursionDesired: true, RecursionAvailable: true})
			m.EnableCompression()
			rh := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 300}
			_, _ = m.StartQuestions(), m.Question(q)
			_ = m.StartAnswers()
			if q.Type == dnsmessage.TypeA {
				_ = m.AResource(rh, dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}})
			} else {
				_ = m.AAAAResource(rh, dnsmessage.AAAAResource{AAAA: [16]byte{15: 1}})
			}
			if reply, err = m.Finish(); err == nil {
				_, _ = c.(*net.UDPConn).WriteToUDPAddrPort(reply, from)
			}
		}
	}()
	b.Cleanup(func() { c.Close(); <-done })
	return c.LocalAddr().String()
}

// askers is the number of tasks, or goroutines, that look up at once.
const askers = 64

// BenchmarkLookup looks up new and known names beside Go's resolver (which has no cache), with 64
// askers each.
func BenchmarkLookup(b *testing.B) {
	known := make([]string, 1000)
	for i := range known {
		known[i] = fmt.Sprintf("k%d.example", i)
	}
	fresh := func(n int64) string { return fmt.Sprintf("h%d.example", n) }
	ours := func(b *testing.B, before []string, name func(n int64) string) {
		server := netip.MustParseAddrPort(answering(b))
		none := strings.TrimSuffix(b.TempDir(), "/") + "/none"
		err := aio.Run(b.Context(), func(task *aio.Task) error {
			r := dns.New(task.Loop(), dns.Options{Servers: []netip.AddrPort{server}, Hosts: none, Conf: none})
			for _, name := range before {
				if _, err := r.Lookup(task, name); err != nil {
					return err
				}
			}
			next := int64(0)
			m := cost.Start(b)
			defer func() { m.Report(b.N, "op") }()
			return task.Group(func(g *aio.Group) error {
				for range askers {
					g.Go("asker", func(task *aio.Task) error {
						for next < int64(b.N) {
							next++
							if addrs, err := r.Lookup(task, name(next)); err != nil || len(addrs) != 2 {
								return fmt.Errorf("%v, %w", addrs, err)
							}
						}
						return nil
					})
				}
				return nil
			})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("new", func(b *testing.B) { ours(b, nil, fresh) })
	b.Run("known", func(b *testing.B) { ours(b, known, func(n int64) string { return known[n%int64(len(known))] }) })
	b.Run("net.Resolver", func(b *testing.B) {
		server := answering(b)
		r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		}}
		var next atomic.Int64
		b.SetParallelism(askers / runtime.GOMAXPROCS(0)) // which is multiplied by GOMAXPROCS
		m := cost.Start(b)
		defer func() { m.Report(b.N, "op") }()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if addrs, err := r.LookupNetIP(context.Background(), "ip", fresh(next.Add(1))+"."); err != nil || len(addrs) != 2 {
					b.Errorf("%v, %v", addrs, err)
				}
			}
		})
	})
}
