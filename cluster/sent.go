package cluster

import (
	"maps"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
)

// sentLinks are messages of the outbox that the stream of links has. They stay on the disk until
// the logs of their receivers have them: if the servers lose the stream, they are sent again. A
// receiver purges what its log has, so messages before the first of the stream can be forgotten.
//
// Owner: the outbox's loop.
type sentLinks struct {
	last   uint64            // the last message of the stream that this node has published
	first  uint64            // the first that the stream has
	became map[uint64][]byte // links that Found messages became, by their IDs: see sent

	all   []sentBatch // in the order of the outbox
	bytes int
}

// sentBatch is some messages that were published together.
type sentBatch struct {
	last  uint64   // the highest sequence of its messages in the stream, or more
	ids   []uint64 // in the outbox
	bytes int
}

// mostSent bounds the bytes that stay on the disk while a partition has no owner to purge its
// links. Each message counts sentCost more, so the IDs take at most 4 MiB of memory.
const (
	mostSent = 32 << 20
	sentCost = 64
)

// add takes in what was published.
func (s *sentLinks) add(of sent) {
	s.last = max(s.last, of.last)
	if s.became == nil {
		s.became = make(map[uint64][]byte)
	}
	maps.Copy(s.became, of.became)
}

// split divides published messages into those to forget and those to keep, some of them as others:
// what became links stays links. By the time that they are sent again, this node may have the
// partition again, and in its log these URLs, which may have ended since, would be pending once
// more.
func (s *sentLinks) split(all []store.Message) (gone, stay, as []store.Message) {
	b := sentBatch{last: s.last}
	for _, m := range all {
		links, became := s.became[m.ID]
		delete(s.became, m.ID)
		if !became && m.Kind != changelog.Links {
			gone = append(gone, m)
			continue
		}
		if became {
			as = append(as, store.Message{ID: m.ID, Partition: m.Partition, Kind: changelog.Links, Data: links})
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
	for len(s.all) > 0 && (s.all[0].last < s.first || s.bytes > mostSent) {
		ids = append(ids, s.all[0].ids...)
		s.bytes -= s.all[0].bytes
		s.all = s.all[1:]
	}
	return ids
}
