//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

const crawlName = "bench"

// begin has a node begin the crawl, and take all partitions. It fetches nothing.
func (t *task) begin(ctx context.Context) (kill func(), err error) {
	_, kill, err = t.node(ctx, "first")
	if err != nil {
		return kill, err
	}
	c, err := cluster.Dial(ctx, t.servers())
	if err != nil {
		return kill, err
	}
	defer c.Close()
	if _, err := c.Do(ctx, "pause"); err != nil {
		return kill, err
	}
	return kill, t.watch(ctx, func(_ string, b ownership.Beat) bool { return b.Started == t.Partitions })
}

// node has a node join, and run until it is killed.
func (t *task) node(ctx context.Context, job string) (joined *cluster.Crawl, kill func(), err error) {
	ctx, stop := context.WithCancel(ctx)
	joined, err = cluster.Join(ctx, t.servers(), weft.Options{
		Job: filepath.Join(t.Dir, job), Seeds: []string{"http://seed.example/"}, Reach: weft.Reach{Scope: weft.ScopeAny},
		HTTP: weft.HTTP{DNS: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")}},
	})
	if err != nil {
		return nil, stop, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = joined.Run(ctx) // it is killed
	}()
	return joined, func() {
		stop()
		<-ended
	}, nil
}

func (t *task) servers() cluster.Options {
	return cluster.Options{
		Servers: t.At, Name: crawlName, Partitions: t.Partitions, Wait: 20 * time.Second,
		OnWarning: func(err error) { fmt.Fprintln(os.Stderr, err) },
	}
}

// connect connects to the servers without a crawl.
func (t *task) connect() (conn *nats.Conn, js jetstream.JetStream, err error) {
	if conn, err = nats.Connect(t.At[0]); err == nil {
		js, err = jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(4096))
	}
	return conn, js, err
}

// watch calls fn with the beats of nodes, until it returns true.
func (t *task) watch(ctx context.Context, fn func(id string, b ownership.Beat) bool) error {
	conn, js, err := t.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	bucket, err := js.KeyValue(ctx, "weft_"+crawlName)
	if err != nil {
		return err
	}
	w, err := bucket.Watch(ctx, "node.>")
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }() // the connection ends
	for {
		select {
		case e := <-w.Updates():
			if e == nil {
				continue
			}
			if id, b, ok := ownership.NodeOf(e.Key(), e.Value()); ok && fn(id, b) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// work carries out the task of a process.
func work(text []byte) error {
	var t task
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	ctx, out := context.Background(), json.NewEncoder(os.Stdout)
	if err := out.Encode(result{}); err != nil {
		return err
	}
	var (
		r   = result{Done: true}
		cpu = process.CPU()
		err error
	)
	switch t.What {
	case "take", "join":
		err = t.restore(ctx, &r, cpu)
	case "read":
		err = t.read(ctx, &r, cpu)
	case "scan":
		err = t.scan(ctx, &r, cpu)
	default:
		err = fmt.Errorf("a task %q", t.What)
	}
	if err != nil {
		return err
	}
	return out.Encode(r)
}

// restore takes all partitions over, or half of them from a node that lives.
func (t *task) restore(ctx context.Context, r *result, cpu time.Duration) error {
	began := time.Now()
	_, kill, err := t.node(ctx, "second")
	defer kill()
	if err != nil {
		return err
	}
	dead, started := false, make(map[string]int) // by node
	if err := t.watch(ctx, func(id string, b ownership.Beat) bool {
		if b.State == ownership.Dead {
			began, dead = time.Now(), true
		}
		started[id] = b.Started
		if t.What == "take" {
			return dead && b.State == ownership.Alive && b.Started == t.Partitions
		}
		all := 0
		for _, n := range started {
			all += n
		}
		return b.Started == t.Partitions/2 && all == t.Partitions
	}); err != nil {
		return err
	}
	r.Took, r.CPU = time.Since(began), process.CPU()-cpu
	time.Sleep(2500 * time.Millisecond) // until it has reported what it has restored
	c, err := cluster.Dial(ctx, t.servers())
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.Status(ctx)
	if err != nil {
		return err
	}
	for _, n := range s.Nodes {
		if n.Restored.Partitions > 0 {
			r.URLs, r.Seconds = n.Restored.URLs, n.Restored.Seconds
		}
	}
	status, err := process.ReadStatus(os.Getpid())
	r.Peak = status.Peak
	return err
}
