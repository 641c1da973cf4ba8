package cluster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Share is the part of a crawl that a node has.
type Share struct {
	Nodes      int // that crawl
	Partitions int // of this one
	All        int
}

// shareNews passes on what the node has of the crawl, when that has changed.
//
// Owner: the node's loop.
type shareNews struct {
	own    *ownership.Node
	parts  *partitions
	change func(Share) // see Options.OnChange

	last   Share // passed on
	coming Share // at the last look
	ticks  int
}

// looks is the time between two looks of shareNews, in ticks.
const looks = 4

// tick looks whether the share has changed, now and then, and no partition is moving.
func (s *shareNews) tick() {
	if s.ticks++; s.ticks%looks != 0 {
		return
	}
	running, settled := s.parts.running()
	if !settled {
		return
	}
	is := Share{Partitions: running, All: s.own.Partitions()}
	for _, beat := range s.own.Nodes() {
		if beat.Running() {
			is.Nodes++
		}
	}
	switch {
	case is == s.last || is.Partitions == 0:
	case is != s.coming:
		s.coming = is
	default: // for a while: partitions that are moving are no news
		s.last = is
		s.change(is)
	}
}

// reporter writes what the node has done, for Status. It is an operation, or called after the last.
type reporter struct {
	bucket  jetstream.KeyValue
	crawl   *engine.Node
	stats   func() weft.Stats
	node    identity
	name    string
	figures *figures
	speed   speed
}

func (r *reporter) report(ctx context.Context) {
	s := r.stats()
	waiting, _ := r.crawl.Waiting()
	text, err := json.Marshal(NodeStatus{
		ID: r.node.Node, Process: r.node.Incarnation, Name: r.name,
		Done: s.Done, Pages: s.Pages, Failed: s.Failed, Refused: s.Refused, Pending: s.Pending, InFlight: s.InFlight, Hosts: s.Hosts, Bytes: s.Bytes,
		PerSecond: r.speed.sample(s.Done, s.Elapsed), Outbox: waiting, Paused: s.Paused, Seconds: s.Elapsed.Seconds(),
		Measured: r.figures.measured(),
	})
	if err == nil {
		_, _ = r.bucket.Put(ctx, keyStats+r.node.Node, text) // the next one is better
	}
}

// speed is the rate of URLs that are done, between two samples.
type speed struct {
	done int
	at   time.Duration
}

func (m *speed) sample(done int, at time.Duration) (perSecond float64) {
	if at > m.at {
		perSecond = float64(done-m.done) / (at - m.at).Seconds()
	}
	m.done, m.at = done, at
	return perSecond
}
