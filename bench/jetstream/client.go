//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/weftcrawl/weft/internal/process"
)

// task is the work of a client process.
type task struct {
	What       string // append, read, beat, rest
	Servers    string
	Replicas   int
	Bytes      int // of a message
	Count      int // of messages
	InFlight   int
	Partitions int // 0: 1,024
	Watchers   int
	Consumers  int
	Logs       int // to read by one consumer
}

// result has the figures of a client. The first one has only been prepared.
type result struct {
	Done     bool
	N        int // messages
	Events   int // that watchers have seen
	Took     time.Duration
	P50, P99 time.Duration
	CPU      time.Duration
}

// client is a connection to the servers.
type client struct {
	task
	ctx    context.Context
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	out    *json.Encoder
	began  time.Time
	cpu    time.Duration
}

func runClient(text []byte) error {
	c := &client{ctx: context.Background(), out: json.NewEncoder(os.Stdout)}
	if err := json.Unmarshal(text, &c.task); err != nil {
		return err
	}
	if c.Partitions == 0 {
		c.Partitions = 1024
	}
	var err error
	if c.conn, err = nats.Connect(c.Servers, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond)); err != nil {
		return err
	}
	defer c.conn.Close()
	if c.js, err = jetstream.New(c.conn); err != nil {
		return err
	}
	if err := c.create(); err != nil {
		return err
	}
	switch c.What {
	case "append":
		return c.measure(c.append)
	case "read":
		return c.read()
	case "beat":
		return c.beat()
	case "rest":
		return c.rest()
	}
	return fmt.Errorf("a task %q", c.What)
}

// create makes the stream, once the servers have elected a leader.
func (c *client) create() error {
	for tries := 0; ; tries++ {
		ctx, stop := context.WithTimeout(c.ctx, 2*time.Second)
		var err error
		c.stream, err = c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: "LOG", Subjects: []string{"log.*"}, Replicas: c.Replicas, Storage: jetstream.FileStorage, AllowDirect: true, MaxConsumers: 2 * c.Partitions,
		})
		stop()
		if err == nil || tries == 60 {
			return err
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// measure says that all is prepared, and measures what fn does.
func (c *client) measure(fn func() (result, error)) error {
	if err := c.out.Encode(result{}); err != nil {
		return err
	}
	c.began, c.cpu = time.Now(), process.CPU()
	r, err := fn()
	if err != nil {
		return err
	}
	r.Done, r.CPU = true, process.CPU()-c.cpu
	if r.Took == 0 {
		r.Took = time.Since(c.began)
	}
	return c.out.Encode(r)
}

// each calls fn Count times from InFlight goroutines, and returns how long the calls took. A
// goroutine is given numbers that no other one is.
func (c *client) each(fn func(worker, n int) error) (r result, err error) {
	took := make([]time.Duration, c.Count)
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, c.InFlight)
	for w := range c.InFlight {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= c.Count {
					return
				}
				began := time.Now()
				if errs[w] = fn(w, n); errs[w] != nil {
					return
				}
				took[n] = time.Since(began)
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return result{N: c.Count, P50: took[c.Count/2], P99: took[c.Count*99/100]}, errors.Join(errs...)
}

// append appends to the logs of partitions, of which each goroutine has some.
func (c *client) append() (result, error) {
	rng := rand.NewChaCha8([32]byte{})
	payload := make([]byte, c.Bytes)
	_, _ = rng.Read(payload) // never fails
	last := make([]uint64, c.Partitions)
	turn := make([]int, c.InFlight)
	own := max(1, c.Partitions/c.InFlight)
	if c.InFlight > c.Partitions {
		return c.fill(payload)
	}
	return c.each(func(w, _ int) error {
		p := w*own + turn[w]%own
		turn[w]++
		ack, err := c.js.Publish(c.ctx, subject(p), payload, jetstream.WithExpectLastSequencePerSubject(last[p]))
		if err != nil {
			return err
		}
		last[p] = ack.Sequence
		return nil
	})
}

func subject(partition int) string { return fmt.Sprint("log.", partition) }

// fill appends without an expected sequence.
func (c *client) fill(payload []byte) (result, error) {
	return c.each(func(_, n int) error {
		_, err := c.js.Publish(c.ctx, subject(n%c.Partitions), payload)
		return err
	})
}

// read reads the logs of some partitions from their beginning, by one consumer, and purges the
// first.
func (c *client) read() error {
	if _, err := c.append(); err != nil {
		return err
	}
	return c.measure(func() (r result, err error) {
		var subjects []string
		for p := range c.Logs {
			subjects = append(subjects, subject(p))
		}
		all, err := c.stream.OrderedConsumer(c.ctx, jetstream.OrderedConsumerConfig{FilterSubjects: subjects})
		if err != nil {
			return r, err
		}
		messages, err := all.Messages(jetstream.PullMaxMessages(2000))
		if err != nil {
			return r, err
		}
		var last uint64
		for more := true; more; {
			m, err := messages.Next()
			if err != nil {
				return r, err
			}
			meta, err := m.Metadata()
			if err != nil {
				return r, err
			}
			r.N++
			last, more = meta.Sequence.Stream, meta.NumPending > 0
		}
		messages.Stop()
		r.Took = time.Since(c.began)
		began := time.Now()
		err = c.stream.Purge(c.ctx, jetstream.WithPurgeSubject(subject(0)), jetstream.WithPurgeSequence(last+1))
		r.P99 = time.Since(began)
		return r, err
	})
}

// beat writes keys by compare-and-set, which others watch.
func (c *client) beat() error {
	bucket, err := c.js.CreateKeyValue(c.ctx, jetstream.KeyValueConfig{Bucket: "CRAWL", Replicas: c.Replicas, History: 1, Storage: jetstream.FileStorage})
	if err != nil {
		return err
	}
	value := make([]byte, c.Bytes)
	last := make([]uint64, c.InFlight)
	for i := range last {
		if last[i], err = bucket.Create(c.ctx, fmt.Sprint("node.", i), value); err != nil {
			return err
		}
	}
	const over = "over"
	var seen sync.WaitGroup
	var events atomic.Int64
	for range c.Watchers {
		conn, err := nats.Connect(c.Servers)
		if err != nil {
			return err
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			return err
		}
		theirs, err := js.KeyValue(c.ctx, "CRAWL")
		if err != nil {
			return err
		}
		w, err := theirs.WatchAll(c.ctx)
		if err != nil {
			return err
		}
		for e := range w.Updates() {
			if e == nil {
				break // it has seen what was there
			}
		}
		seen.Go(func() {
			for e := range w.Updates() {
				if e.Key() == over {
					return
				}
				events.Add(1) // a key that changes again before it was sent is sent once
			}
		})
	}
	return c.measure(func() (result, error) {
		r, err := c.each(func(w, _ int) (err error) {
			last[w], err = bucket.Update(c.ctx, fmt.Sprint("node.", w), value, last[w])
			return err
		})
		if err == nil {
			_, err = bucket.Put(c.ctx, over, nil)
		}
		if err == nil {
			seen.Wait()
			r.Events = int(events.Load())
		}
		return r, err
	})
}

// rest waits beside a stream and its consumers.
func (c *client) rest() error {
	began := time.Now()
	for i := range c.Consumers {
		_, err := c.stream.CreateConsumer(c.ctx, jetstream.ConsumerConfig{Durable: fmt.Sprint("c", i), FilterSubject: subject(i), AckPolicy: jetstream.AckExplicitPolicy})
		if err != nil {
			return fmt.Errorf("consumer %d: %w", i, err)
		}
	}
	made := time.Since(began)
	time.Sleep(5 * time.Second) // what follows the making
	return c.measure(func() (result, error) {
		time.Sleep(10 * time.Second)
		return result{P99: made}, nil
	})
}
