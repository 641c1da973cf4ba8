//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/partition"
	"github.com/weftcrawl/weft/weburl"
)

const (
	urlsOfHost = 100     // so many URLs of a host
	doneOf     = 3       // of so many URLs, one is done
	blockBytes = 1 << 20 // of a large block, as nodes write them
)

// logs writes the logs of a crawl as a node does: see package cluster.
type logs struct {
	task
	js       jetstream.JetStream
	hosts    [][]string // by partition
	messages int
	bytes    int
}

// writeLogs returns how many messages all logs have, and their bytes.
func (t *task) writeLogs(ctx context.Context) (messages, bytes int, err error) {
	conn, js, err := t.connect()
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	l := logs{task: *t, js: js, hosts: hostsOf(t.Partitions, max(1, t.URLs/urlsOfHost))}
	err = l.write(ctx)
	return l.messages, l.bytes, err
}

// hostsOf returns names of hosts of each partition.
func hostsOf(partitions, each int) [][]string {
	all := make([][]string, partitions)
	for i, left := 0, partitions; left > 0; i++ {
		name := fmt.Sprintf("www.site-%d.example", i)
		p := partition.Of(name, partitions)
		if len(all[p]) == each {
			continue
		}
		if all[p] = append(all[p], name); len(all[p]) == each {
			left--
		}
	}
	return all
}

// write writes all logs. The large blocks of a log come first, as a snapshot's do; then its
// messages, in turn with those of other logs.
func (l *logs) write(ctx context.Context) error {
	large := l.URLs - l.Small
	for p := range l.Partitions {
		e := l.encoder()
		for i := range large {
			l.found(e, p, i)
			if i%doneOf == 0 {
				l.done(e, p, i)
			}
			if e.Len() >= blockBytes || i == large-1 {
				if err := l.publish(ctx, p, e.Block()); err != nil {
					return err
				}
				e = l.encoder()
			}
		}
	}
	for i := large; i < l.URLs; i++ {
		for p := range l.Partitions {
			ended, found := l.encoder(), l.encoder()
			l.found(found, p, i)
			if i%doneOf == 0 {
				l.done(ended, p, max(0, i-urlsOfHost)) // it was found a while ago
			}
			if err := l.publish(ctx, p, ended.Block(), found.Block()); err != nil {
				return err
			}
		}
	}
	select {
	case <-l.js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *logs) encoder() *changelog.Encoder { return changelog.NewEncoder(time.Now(), time.Now()) }

func (l *logs) url(p, i int) frontier.URL {
	hosts := l.hosts[p]
	u, err := weburl.Parse(fmt.Sprintf("https://%s/section-%d/page-%d.html", hosts[i%len(hosts)], i%17, i))
	if err != nil {
		panic(err) // it is a URL
	}
	return frontier.URL{URL: u, Seq: uint64(i + 1), Depth: 3, From: "https://" + hosts[i%len(hosts)] + "/index.html"}
}

func (l *logs) found(e *changelog.Encoder, p, i int) { e.Pending(l.url(p, i)) }

func (l *logs) done(e *changelog.Encoder, p, i int) {
	u := l.url(p, i)
	e.Done(u)
	e.Origin(frontier.OriginState{
		Name: u.URL.Origin(), Pending: urlsOfHost, Answered: i, Asked: time.Now(), Took: 123 * time.Millisecond, Best: 50 * time.Millisecond, Responded: true,
	})
}

func subject(p int) string { return fmt.Sprintf("weft.%s.log.%d", crawlName, p) }

// publish appends a message of blocks to a log.
func (l *logs) publish(ctx context.Context, p int, blocks ...[]byte) error {
	var all []byte
	for _, b := range blocks {
		all = append(binary.AppendUvarint(all, uint64(len(b))), b...)
	}
	l.messages++
	m := &nats.Msg{Subject: subject(p), Data: s2.Encode(nil, all), Header: nats.Header{}}
	m.Header.Set("Weft-Epoch", "1") // of whoever is dead by now
	m.Header.Set("Weft-Id", fmt.Sprintf("O7KZ5T1LJ6ZC2ZW0C8X2UD.12345678901234567890.%d", l.messages))
	l.bytes += m.Size()
	for {
		_, err := l.js.PublishMsgAsync(m)
		if !errors.Is(err, jetstream.ErrTooManyStalledMsgs) || ctx.Err() != nil {
			return err
		}
	}
}

// read reads all logs, then decodes them.
func (t *task) read(ctx context.Context, r *result, cpu time.Duration) error {
	var all [][]byte
	if err := t.consume(ctx, r, func(data []byte) { all = append(all, data) }, fmt.Sprintf("weft.%s.log.>", crawlName)); err != nil {
		return err
	}
	r.CPU = process.CPU() - cpu
	for _, data := range all {
		rest, err := s2.Decode(nil, data)
		for err == nil && len(rest) > 0 {
			n, k := binary.Uvarint(rest)
			err = changelog.Replay(rest[k:k+int(n)], time.Now(), nowhere{})
			rest = rest[k+int(n):]
		}
		if err != nil {
			return err
		}
	}
	r.Decode = process.CPU() - cpu - r.CPU
	return nil
}

// nowhere is a journal of the changes that logs have here.
type nowhere struct{ frontier.Journal }

func (nowhere) Pending(frontier.URL)        {}
func (nowhere) Done(frontier.URL)           {}
func (nowhere) Origin(frontier.OriginState) {}

// scan reads some logs, or all by one subject.
func (t *task) scan(ctx context.Context, r *result, cpu time.Duration) error {
	subjects := []string{fmt.Sprintf("weft.%s.log.>", crawlName)}
	if t.Logs < t.Partitions {
		subjects = nil
		for p := range t.Logs {
			subjects = append(subjects, subject(p))
		}
	}
	err := t.consume(ctx, r, func([]byte) {}, subjects...)
	r.CPU = process.CPU() - cpu
	return err
}

// consume reads logs as a node does.
func (t *task) consume(ctx context.Context, r *result, fn func(data []byte), subjects ...string) error {
	conn, js, err := t.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	began := time.Now()
	c, err := js.OrderedConsumer(ctx, "weft_"+crawlName+"_log", jetstream.OrderedConsumerConfig{FilterSubjects: subjects})
	if err != nil {
		return err
	}
	all, err := c.Messages(jetstream.PullMaxMessagesWithBytesLimit(256, 16<<20))
	if err != nil {
		return err
	}
	defer all.Stop()
	for more := true; more; {
		m, err := all.Next()
		if err != nil {
			return err
		}
		at, err := m.Metadata()
		if err != nil {
			return err
		}
		fn(m.Data())
		r.N++
		more = at.NumPending > 0
	}
	r.Took = time.Since(began)
	return nil
}
