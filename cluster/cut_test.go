package cluster_test

import (
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/webtest"
)

// link is a connection of a node to the servers that can be cut: then nothing passes, either way.
type link struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

func newLink(t *testing.T, server string) *link {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l := &link{to: u.Host}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.listener.Accept()
			if err != nil {
				return
			}
			go l.carry(c)
		}
	}()
	t.Cleanup(func() {
		l.listener.Close()
		l.set(true)
	})
	return l
}

func (l *link) url() string { return "nats://" + l.listener.Addr().String() }

// carry carries one connection.
func (l *link) carry(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer s.Close()
	l.mu.Lock()
	refused := l.cut
	l.open = append(l.open, c, s)
	l.mu.Unlock()
	if refused {
		return
	}
	go func() {
		_, _ = io.Copy(s, c)
		s.Close()
	}()
	_, _ = io.Copy(c, s)
}

// set cuts the link, or mends it.
func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		for _, c := range l.open {
			c.Close()
		}
		l.open = nil
	}
}

// TestCut: a node that is cut off stops, joins again when it can, and nothing is lost. What it had
// in flight, and had not told, is fetched by whoever has its partitions by then.
func TestCut(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	l := newLink(t, c.servers.Servers[0])
	b := c.joinBy("b", l.url())
	c.join("a")
	b.until(t, 20)
	b.forget()
	l.set(true)
	b.hears(t, "no fetch starts")
	b.hears(t, "joins again")
	l.set(false)
	c.wait()
	for _, m := range c.all {
		if m.err != nil {
			t.Errorf("%s: %v", m.name, m.err)
		}
	}
	c.check()
}

// TestDrainWhileCut: a node that waits for the servers, to join again, ends when it is asked to.
func TestDrainWhileCut(t *testing.T) {
	t.Parallel()
	c, _, b := newCut(t, lengthy())
	b.node.Drain()
	c.wait()
	if b.err != nil {
		t.Error(b.err)
	}
}

// TestOverWhileCut: a node that finds the crawl over when it joins again has not left it.
func TestOverWhileCut(t *testing.T) {
	t.Parallel()
	web := small()
	web.Hosts, web.Pages = 4, 5
	web.Rates = webtest.Rates{DeadHost: -1, Stalled: -1, Flaky: -1, Failing: -1, ShyRobots: -1, ClosedRobots: -1}
	c, l, b := newCut(t, web)
	<-c.join("a").done
	l.set(false)
	c.wait()
	if b.err != nil || b.sum.Interrupted || !b.sum.Finished {
		t.Errorf("%v, %+v", b.err, b.sum)
	}
}

// TestLimitWhileCut: a node that finds, when it joins again, that the crawl has reached a limit
// says which.
func TestLimitWhileCut(t *testing.T) {
	t.Parallel()
	c, l, b := newCut(t, lengthy())
	if err := cluster.EndNow(t.Context(), c.servers); err != nil {
		t.Fatal(err)
	}
	l.set(false)
	c.wait()
	if b.err != nil || b.sum.Interrupted || b.sum.Stopped != "max-time" {
		t.Errorf("%v, %+v", b.err, b.sum)
	}
}

// newCut begins a crawl with one node, b, whose link is cut and which waits for the servers to join
// again.
func newCut(t *testing.T, web webtest.Config) (c *crawl, l *link, b *member) {
	t.Helper()
	c = newCrawl(t, web)
	l = newLink(t, c.servers.Servers[0])
	b = c.joinBy("b", l.url())
	b.until(t, 1)
	b.forget()
	l.set(true)
	b.hears(t, "joins again")
	return c, l, b
}

// forget drops what a node has warned of so far: on a busy machine, a lease may have run out.
func (m *member) forget() {
	for {
		select {
		case <-m.warnings:
		default:
			return
		}
	}
}

// hears waits until a node has warned of something, of each of several in any order.
func (m *member) hears(t *testing.T, texts ...string) {
	t.Helper()
	for len(texts) > 0 {
		select {
		case w := <-m.warnings:
			texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(w.Error(), text) })
		case <-m.done:
			t.Fatalf("%s has ended without a word of %q: %v", m.name, texts, m.err)
		}
	}
}
