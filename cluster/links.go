package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
)

// linkSender sends what is for other nodes: links, and what has widened the crawl. Any goroutine
// may use it.
type linkSender struct {
	remote   *remote
	bucket   jetstream.KeyValue
	requests *requests
	widened  *revision // of the bucket: that of the last opened key, which links may depend on
}

// widen says to all nodes where links may lead from now on. They have seen it before they take in
// links of later messages, which name its revision.
func (s *linkSender) widen(ctx context.Context, what []byte) error {
	sum := sha256.Sum256(what)
	key := keyWidened + hex.EncodeToString(sum[:16])
	return s.requests.retry(ctx, func(ctx context.Context) error {
		revision, err := s.bucket.Create(ctx, key, what)
		if errors.Is(err, jetstream.ErrKeyExists) {
			var e jetstream.KeyValueEntry
			if e, err = s.bucket.Get(ctx, key); err == nil {
				revision = e.Revision()
			}
		}
		if err == nil {
			s.widened.reach(revision)
		}
		return err
	})
}

// sent is the receipt of links that have gone out.
type sent struct {
	last   uint64            // the highest sequence of their messages in the stream; 0: there is none
	became map[uint64][]byte // links that Found messages have become, by the IDs of these
}

// found sends the URLs of Found messages as links, which they stay.
func (s *linkSender) found(ctx context.Context, p int, all []store.Message) (sent, error) {
	became := make(map[uint64][]byte)
	var links [][]byte
	for _, m := range all {
		if m.Kind != changelog.Found {
			continue
		}
		block, err := changelog.Again(m.Data, time.Now())
		if err != nil {
			return sent{}, err
		}
		if block != nil {
			became[m.ID] = block
			links = append(links, block)
		}
	}
	if links == nil {
		return sent{}, nil
	}
	last, err := s.send(ctx, p, links)
	return sent{last, became}, err
}

// send publishes links to the owner of a partition, in one message if they fit. It returns the
// highest sequence of the messages.
func (s *linkSender) send(ctx context.Context, p int, blocks [][]byte) (last uint64, err error) {
	if n := fit(blocks); n < len(blocks) {
		return s.both(ctx, p, blocks[:n], blocks[n:])
	}
	data := pack(blocks)
	if most := s.remote.servers.mostData(); len(data) > most {
		if len(blocks) == 1 { // pages may have as many links as they like
			halves, err := changelog.Halves(blocks[0], time.Now())
			if err != nil {
				return 0, err
			}
			if halves == nil {
				return 0, fmt.Errorf("a link of %d bytes for partition %d: the servers take %d at most; expected a higher max_payload", len(data), p, most)
			}
			blocks = halves
		}
		half := len(blocks) / 2
		return s.both(ctx, p, blocks[:half], blocks[half:])
	}
	msg := &nats.Msg{Subject: s.remote.name.links(p), Data: data, Header: after(s.widened)}
	err = s.requests.retry(ctx, func(ctx context.Context) error {
		ack, err := s.remote.servers.js.PublishMsg(ctx, msg)
		if err == nil {
			last = ack.Sequence
		}
		return err
	})
	return last, err
}

// both sends links in two parts.
func (s *linkSender) both(ctx context.Context, p int, first, rest [][]byte) (last uint64, err error) {
	one, err := s.send(ctx, p, first)
	two, failed := s.send(ctx, p, rest)
	return max(one, two), errors.Join(err, failed)
}
