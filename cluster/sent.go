package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
)

// sentLinks are messages of the outbox that the stream of links has. They stay on the disk until the logs of their
// receivers have them: if the servers lose the stream, they are sent again. A receiver purges what its log has, so
// messages before the first of the stream can be forgotten.
//
// Owner: the goroutine of outbox.run, except for lost and the atomic fields.
type sentLinks struct {
	last  atomic.Uint64 // the last message of the stream that this node has published
	first atomic.Uint64 // the first that the stream has
	lost  sync.Map      // the links that Found messages became by their IDs, as this node lost their partition: []byte

	all    []sentBatch // in the order of the outbox
	bytes  int
	looked time.Time
}

// sentBatch is messages that were published together.
type sentBatch struct {
	last  uint64   // the highest sequence of its messages in the stream, or more
	ids   []uint64 // in the outbox
	bytes int
}

// mostSent bounds the bytes that stay on the disk while a partition has no owner to purge its links. Each message counts
// sentCost more, so the IDs take at most 4 MiB of memory.
const (
	mostSent = 32 << 20
	sentCost = 64
)

func (s *sentLinks) published(seq uint64) {
	for was := s.last.Load(); was < seq && !s.last.CompareAndSwap(was, seq); was = s.last.Load() {
	}
}

// split divides published messages into those to forget and those to keep, some of them as others: what became links stays
// links. By the time that they are sent again, this node may have the partition again, and in its log these URLs, which may
// have ended since, would be pending once more.
func (s *sentLinks) split(all []store.Message) (gone, stay, as []store.Message) {
	b := sentBatch{last: s.last.Load()}
	for _, m := range all {
		links, lost := s.lost.LoadAndDelete(m.ID)
		if !lost && m.Kind != changelog.Links {
			gone = append(gone, m)
			continue
		}
		if lost {
			as = append(as, store.Message{ID: m.ID, Partition: m.Partition, Kind: changelog.Links, Data: links.([]byte)})
		}
		stay = append(stay, m)
		b.ids = append(b.ids, m.ID)
		b.bytes += len(m.Data) + sentCost
	}
	if len(stay) > 0 {
		s.all = append(s.all, b)
		s.bytes += b.bytes
	}
	return gone, stay, as
}

// forget returns the IDs of messages that no longer need to stay.
func (s *sentLinks) forget() (ids []uint64) {
	for len(s.all) > 0 && (s.all[0].last < s.first.Load() || s.bytes > mostSent) {
		ids = append(ids, s.all[0].ids...)
		s.bytes -= s.all[0].bytes
		s.all = s.all[1:]
	}
	return ids
}

// forgetSent removes from the disk what receivers have, by a look at the stream once a beat.
func (o *outbox) forgetSent(ctx context.Context) {
	s := &o.sent
	if ids := s.forget(); len(ids) > 0 {
		_ = o.node.crawl.Forget(ids...) // a crawl that is over sends them again
	}
	if len(s.all) == 0 || time.Since(s.looked) < o.node.beat {
		return
	}
	s.looked = time.Now()
	o.node.ops.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		if info, err := o.node.streams.links.Info(ctx); err == nil { // else the next look will do
			s.first.Store(info.State.FirstSeq)
		}
	})
}
