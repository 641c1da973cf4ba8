package cluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/cluster"
)

// TestBusy: the status of a crawl has every node, even one that writes its state just then.
func TestBusy(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	a := c.join("a")
	a.until(t, 1)
	bucket, err := jetStream(t, c.servers.Servers...).KeyValue(t.Context(), "weft_test")
	if err != nil {
		t.Fatal(err)
	}
	say := func(ctx context.Context) error {
		_, err := bucket.Put(ctx, "stats.b", []byte(`{"name": "b"}`))
		return err
	}
	if err := say(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan error)
	go func() {
		var err error
		for err == nil {
			err = say(ctx)
		}
		said <- err
	}()
	client, err := cluster.Dial(t.Context(), c.servers)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 100 { // five of them missed the node when a look missed what is written anew
		s, err := client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(s.Nodes, func(n cluster.NodeStatus) bool { return n.Name == "b" }) {
			t.Fatalf("%+v, expected node b", s.Nodes)
		}
	}
	cancel()
	if err := <-said; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.kill(a)
}
