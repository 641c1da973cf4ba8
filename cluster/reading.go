package cluster

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"
)

// logReader reads the logs of partitions that the node takes over, those of many by one consumer:
// to find the messages of some subjects, a server reads the whole stream from its disk, once a
// consumer. Operations of partitions use it.
type logReader struct {
	remote     *remote
	partitions int
	ops        *operations
	watch      *watch
	aside      aside
	room       room               // for messages that were read and have not reached the engine yet
	logs       *batches[*reading] // that wait for each other
	kept       atomic.Int64       // bytes that all readings keep: see state
}

func newLogReader(ops *operations, w *watch, partitions, bytes int, a aside) *logReader {
	r := &logReader{remote: w.remote, partitions: partitions, ops: ops, watch: w, aside: a, room: newRoom(bytes)}
	r.logs = &batches[*reading]{ops: ops, gather: w.remote.beat / 8, most: readAtOnce, handle: r.readSome}
	return r
}

// readAtOnce bounds the logs of a consumer: each has a queue.
const readAtOnce = 1024

// scansAll: to read this fraction of the logs, 1/scansAll, or more, a node reads all logs and drops
// those of others. A consumer of some subjects costs the servers 140 µs a message in a stream of
// 1,024 subjects, however many it has; one of all subjects costs them 2 µs, and the node twice as
// much: see docs/bench/takeover.md.
const scansAll = 32

// reading is one log that is read.
type reading struct {
	logs      *logReader
	partition int
	snapshot  uint64 // the last that is whole; 0: none is
	to        uint64 // the last message, which is there

	began *promise[bool] // messages may come
	queue chan *message  // closed behind the last
	err   error          // the reason why there are no more; set before that
}

// read waits until a log is read, with others that wait.
func (r *logReader) read(ctx context.Context, p int, snapshot, to uint64) (*reading, error) {
	g := &reading{
		logs: r, partition: p, snapshot: snapshot, to: to,
		began: newPromise[bool](), queue: make(chan *message, cap(r.room)),
	}
	r.logs.add(g)
	if _, err := g.began.wait(ctx); err != nil {
		g.leave()
		return nil, err
	}
	return g, nil
}

// readSome reads logs that have waited for each other.
func (r *logReader) readSome(ctx context.Context, some []*reading) {
	byPartition := make(map[int]*reading)
	for _, g := range some {
		byPartition[g.partition] = g // a partition has one operation at a time
		g.began.keep(true)
	}
	err := r.readAll(ctx, byPartition)
	for _, g := range byPartition {
		g.err = err
		close(g.queue)
	}
}

// readAll hands the messages of logs on. What it has read to the end is no longer in the map.
func (r *logReader) readAll(ctx context.Context, logs map[int]*reading) error {
	all, stop, err := r.remote.servers.consume(ctx, r.remote.name.logStream(), r.subjects(logs), r.room.bytes())
	if err != nil {
		return r.remote.servers.refused(err)
	}
	defer stop()
	for len(logs) > 0 {
		raw, err := all.Next(jetstream.NextContext(ctx)) // see readLinks
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &absent{err.Error()}
		}
		one := logs[numberOf(raw.Subject())]
		if one == nil {
			continue
		}
		m, err := ofLog(raw)
		if err != nil {
			return err
		}
		if _, err := epochOf(raw.Headers()); err != nil {
			r.aside.log(m.seq, err)
		} else if m.seq <= one.to {
			if err := r.room.take(ctx, len(m.data)); err != nil {
				return err
			}
			one.queue <- m // each message in it has some of the room, and the queue is as long as that
		}
		if m.seq >= one.to {
			close(one.queue)
			delete(logs, one.partition)
		}
	}
	return nil
}

// subjects returns subjects that cover some logs, and perhaps more.
func (r *logReader) subjects(logs map[int]*reading) (subjects []string) {
	if len(logs)*scansAll >= r.partitions {
		return []string{r.remote.name.allLogs()}
	}
	for p := range logs {
		subjects = append(subjects, r.remote.name.log(p))
	}
	return subjects
}

// message is one of a log.
type message struct {
	seq, snapshot, widened uint64
	kind                   string
	later, more            bool // a piece of several: not the first, not the last
	data                   []byte
}

// ofLog reads a message of a log.
func ofLog(raw jetstream.Msg) (*message, error) {
	at, err := raw.Metadata()
	if err != nil {
		return nil, err
	}
	h := raw.Headers()
	return &message{
		seq: at.Sequence.Stream, kind: h.Get(headerKind), later: h.Get(headerLater) != "", more: h.Get(headerMore) != "",
		data: raw.Data(), snapshot: number(h.Get(headerSnapshot)), widened: number(h.Get(headerWidened)),
	}, nil
}

// leave says that nobody wants more of the log. What still comes is let go.
func (g *reading) leave() {
	g.logs.ops.run(func(context.Context) {
		for m := range g.queue {
			g.logs.room.give(len(m.data))
		}
	})
}

// messages are those of the log, with the pieces of one put together.
func (g *reading) messages(ctx context.Context) iter.Seq2[*message, error] {
	return func(yield func(*message, error) bool) {
		var data []byte
		for m := range g.queue {
			g.logs.room.give(len(m.data))
			if err := g.logs.watch.reached(ctx, m.widened); err != nil {
				if ctx.Err() != nil {
					yield(nil, err)
					return
				}
				g.logs.aside.log(m.seq, err)
				continue
			}
			if !m.later { // whoever wrote the pieces before has not come to the last, and has them still
				data = nil
			}
			if data = append(data, m.data...); m.more {
				continue
			}
			m.data, data = data, nil
			if !yield(m, nil) {
				return
			}
		}
		if g.err != nil {
			yield(nil, g.err)
		}
	}
}

// mostKept bounds the bytes of changes that came between the pieces of a snapshot, which stay in
// memory until its end: of one log, and with keptByAll of all logs.
const (
	mostKept  = 1 << 20
	keptByAll = 32 << 20
)

// state passes on what makes the state of the partition: the last snapshot that is whole, then the
// changes since its beginning. Of these, it leaves all to another reading if too many came between
// the pieces of the snapshot: then more is true.
func (g *reading) state(ctx context.Context, pass func(*message) error) (more bool, err error) {
	var kept []*message
	size, ended := 0, g.snapshot == 0
	keep := func(bytes int) (all int64) {
		size += bytes
		return g.logs.kept.Add(int64(bytes))
	}
	defer func() { keep(-size) }()
	for m, err := range g.messages(ctx) {
		switch {
		case err != nil:
			return false, err
		case m.kind == kindOpening, m.kind == "" && m.seq <= g.snapshot, m.kind != "" && m.snapshot != g.snapshot:
			continue // worth nothing by now
		case m.kind == "" && more:
			continue
		case m.kind == "" && !ended:
			all := keep(len(m.data))
			kept = append(kept, m)
			if more = size > mostKept || all > keptByAll; more {
				keep(-size)
				kept = nil
			}
			continue
		}
		if err := pass(m); err != nil {
			return false, err
		}
		if m.kind == kindEnd {
			ended = true
			for _, k := range kept {
				if err := pass(k); err != nil {
					return false, err
				}
			}
			kept = nil
		}
	}
	return more, nil
}

// changes passes on the changes since the snapshot began.
func (g *reading) changes(ctx context.Context, pass func(*message) error) error {
	for m, err := range g.messages(ctx) {
		if err == nil && m.kind == "" && m.seq > g.snapshot {
			err = pass(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errEnough ends a reading whose reader wants no more.
var errEnough = errors.New("enough")

// blocks yields the blocks that the log has.
func (g *reading) blocks(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		pass := func(m *message) error {
			blocks, err := unpack(m.data)
			if err != nil {
				g.logs.aside.log(m.seq, err)
			}
			for _, b := range blocks {
				if !yield(b, nil) {
					return errEnough
				}
			}
			return nil
		}
		more, err := g.state(ctx, pass)
		if more && err == nil {
			var again *reading
			if again, err = g.logs.read(ctx, g.partition, g.snapshot, g.to); err == nil {
				err = again.changes(ctx, pass)
				again.leave()
			}
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}
