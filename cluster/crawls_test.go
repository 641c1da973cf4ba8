package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestCrawls: the servers list their crawls, and what is left of half a crawl. One with nodes is
// not removed, unless that is forced; then the nodes end. A name that was removed begins another
// crawl.
func TestCrawls(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, webtest.Config{Seed: 2, Hosts: 2, Pages: 8, CrawlDelay: 20 * time.Millisecond, SlowDelay: 50 * time.Millisecond, Rates: webtest.Rates{Stalled: -1, Flaky: -1, ShyRobots: -1}})
	other := c.servers
	other.Name = "a_links"
	dial := func(o cluster.Options) *cluster.Client {
		client, err := cluster.Dial(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	}
	list := func() (lines []string) {
		all, err := cluster.Crawls(t.Context(), c.servers)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			lines = append(lines, strings.TrimSpace(l.Name+" "+string(l.State)+" "+l.Why))
			if l.Why == "" && (l.Begun.IsZero() || l.Bytes == 0) {
				t.Errorf("%+v", l)
			}
		}
		return lines
	}
	expect := func(want ...string) {
		t.Helper()
		if got := list(); strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	expect()
	gate := make(chan struct{})
	c.slow = map[string]chan struct{}{"a": gate}
	a := c.join("a")
	<-a.records
	expect("test running")
	client := dial(c.servers)
	if err := client.Remove(t.Context(), false); !errors.Is(err, cluster.ErrInUse) {
		t.Error(err)
	}
	a.node.Drain()
	close(gate)
	<-a.done
	expect("test waiting")
	b := c.join("b")
	c.wait()
	if a.err != nil || b.err != nil {
		t.Error(a.err, b.err)
	}
	expect("test over")

	conn, err := nats.Connect(c.servers.Servers[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"weft_a_links_links", "another"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}}); err != nil {
			t.Fatal(err)
		}
	}
	expect("a_links broken without stream KV_weft_a_links", "test over")
	if err := dial(other).Remove(t.Context(), false); err != nil {
		t.Error(err)
	}
	if err := client.Remove(t.Context(), false); err != nil {
		t.Error(err)
	}
	expect()
	if err := client.Remove(t.Context(), true); !errors.Is(err, cluster.ErrNoCrawl) {
		t.Error(err)
	}
	if _, err := js.Stream(t.Context(), "another"); err != nil {
		t.Error(err)
	}

	c.slow = map[string]chan struct{}{"c": make(chan struct{})}
	again := c.join("c")
	<-again.records
	expect("test running")
	if err := client.Remove(t.Context(), true); err != nil {
		t.Error(err)
	}
	close(c.slow["c"])
	<-again.done
	if again.err == nil || !strings.Contains(again.err.Error(), "was deleted from the servers") {
		t.Error(again.err)
	}
	expect()
}
