package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/cluster/changelog"
	"github.com/weftcrawl/weft/frontier/store"
)

// sentLinks are messages of the outbox that are in the stream of links, and stay on the disk until their receivers have
// them in their logs: if the servers lose the stream, they are sent again. A receiver purges what its log has, so what
// is before the first message of the stream can be forgotten.
// Owner: the goroutine of outbox.run, but for what is atomic and lost.
type sentLinks struct {
	last  atomic.Uint64 // the last message of the stream that this node has published
	first atomic.Uint64 // the first that the stream has
	lost  sync.Map      // IDs of messages of Found that have become links, as their partition was lost

	all    []sentBatch // in the order of the outbox
	bytes  int
	looked time.Time
}

// sentBatch is what was published together.
type sentBatch struct {
	last  uint64   // no message of it has a higher sequence in the stream
	ids   []uint64 // in the outbox
	bytes int
}

// mostSent bounds what stays, in bytes on the disk, while a partition has no owner who purges its links. Each message
// counts sentCost besides, so their IDs take 4 MiB of memory at most.
const (
	mostSent = 32 << 20
	sentCost = 64
)

func (s *sentLinks) published(seq uint64) {
	for was := s.last.Load(); was < seq && !s.last.CompareAndSwap(was, seq); was = s.last.Load() {
	}
}

// split takes in messages that were published, and returns which of them go and which stay.
func (s *sentLinks) split(all []store.Message) (gone, stay []store.Message) {
	b := sentBatch{last: s.last.Load()}
	for _, m := range all {
		if _, lost := s.lost.LoadAndDelete(m.ID); !lost && m.Kind != changelog.Links {
			gone = append(gone, m)
			continue
		}
		stay = append(stay, m)
		b.ids = append(b.ids, m.ID)
		b.bytes += len(m.Data) + sentCost
	}
	if len(stay) > 0 {
		s.all = append(s.all, b)
		s.bytes += b.bytes
	}
	return gone, stay
}

// forget returns the IDs of messages that need not stay any more.
func (s *sentLinks) forget() (ids []uint64) {
	for len(s.all) > 0 && (s.all[0].last < s.first.Load() || s.bytes > mostSent) {
		ids = append(ids, s.all[0].ids...)
		s.bytes -= s.all[0].bytes
		s.all = s.all[1:]
	}
	return ids
}

// forgetSent removes from the disk what receivers have, as far as the stream was looked at, which is once a beat.
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
