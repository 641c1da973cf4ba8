package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// restorable is a web that takes a few seconds.
func restorable() webtest.Config {
	web := small()
	web.Hosts, web.Latency = 20, 30*time.Millisecond
	return web
}

// TestRestore: the folders of its nodes restore a crawl that the servers have lost. No URL is lost, and only those in
// flight are fetched again.
func TestRestore(t *testing.T) {
	for name, streams := range map[string][]string{
		"logs":       {"weft_test_log"},
		"everything": {"KV_weft_test", "weft_test_links", "weft_test_log"}, // of one node: links on their way are not restored
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrawl(t, restorable())
			a := c.join("a")
			all := []string{a.job}
			if len(streams) == 1 {
				b := c.join("b")
				all = append(all, b.job)
				b.until(t, 20)
				for !settled(c.status()) { // what is on its way between nodes is in no folder
				}
				c.kill(b)
			}
			a.until(t, 30)
			c.kill(a)
			conn, err := nats.Connect(c.servers.Servers[0])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			js, err := jetstream.New(conn)
			if err != nil {
				t.Fatal(err)
			}
			before := c.ended()
			for _, s := range streams {
				if err := js.DeleteStream(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			client, err := cluster.Dial(t.Context(), c.servers)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			interrupt(t, js, client, all)
			if _, err := c.tryJoin("d", c.servers.Servers[0]); len(streams) == 3 && !errors.Is(err, cluster.ErrHalf) {
				t.Errorf("joins what is restored in part: %v", err)
			}
			if len(all) > 1 {
				r, err := client.Restore(t.Context(), all[1:], false)
				for errors.Is(err, cluster.ErrInUse) { // nodes that were killed count for a while
					r, err = client.Restore(t.Context(), all[1:], false)
				}
				if !errors.Is(err, cluster.ErrIncomplete) || len(r.Missing) != 1 {
					t.Errorf("without the folder of a node: %+v, %v", r, err)
				}
			}
			r, err := client.Restore(t.Context(), all, false)
			for errors.Is(err, cluster.ErrInUse) { // nodes that were killed count for a while
				r, err = client.Restore(t.Context(), all, false)
			}
			if len(streams) == 3 { // the folders of which nodes, nobody knows
				if !errors.Is(err, cluster.ErrIncomplete) {
					t.Errorf("without the bucket: %v", err)
				}
				r, err = client.Restore(t.Context(), all, true)
			}
			if err != nil || strings.Join(r.Streams, " ") != strings.Join(streams, " ") || len(r.Missing) > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			after := c.ended()
			for url := range before {
				if after[url] != 1 {
					t.Errorf("%s: ended %d times in the new logs", url, after[url])
				}
			}
			if _, err := client.Restore(t.Context(), all, false); !errors.Is(err, cluster.ErrWhole) {
				t.Error(err)
			}
			c.join("a")
			c.join("c")
			c.wait()
			records := make(map[string]int)
			for _, job := range jobs(t, c.dir) {
				c.read(job, records)
			}
			for url := range c.web.Web.Truth(torture.Policy(0)) {
				if n := records[url]; n < 1 || n > 1+int(c.blows.Load()) || n > 1 && before[url] > 0 {
					t.Errorf("%s: %d records", url, n)
				}
			}
		})
	}
}

// settled reports whether two nodes have half of the partitions each, and fetch from all of them.
func settled(s cluster.Status) bool {
	for _, n := range s.Nodes {
		if n.Partitions != s.Partitions/2 || n.Started != n.Partitions {
			return false
		}
	}
	return len(s.Nodes) == 2
}

// interrupt has Restore fail after it has made streams, as the servers take no log.
func interrupt(t *testing.T, js jetstream.JetStream, client *cluster.Client, dirs []string) {
	t.Helper()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"weft.test.log.1"}}); err != nil {
		t.Fatal(err)
	}
	r, err := client.Restore(t.Context(), dirs, false)
	for errors.Is(err, cluster.ErrInUse) {
		r, err = client.Restore(t.Context(), dirs, false)
	}
	if !strings.Contains(errorText(err), "overlap") {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := js.DeleteStream(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
}
