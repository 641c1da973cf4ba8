package cluster

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// crowded is a bucket that has room for beats alone.
type crowded struct {
	jetstream.KeyValue
	revision, refused atomic.Uint64
}

func (c *crowded) Create(ctx context.Context, key string, value []byte, _ ...jetstream.KVCreateOpt) (uint64, error) {
	return c.Update(ctx, key, value, 0)
}

func (c *crowded) Update(_ context.Context, key string, _ []byte, _ uint64) (uint64, error) {
	if !strings.HasPrefix(key, "node.") {
		c.refused.Add(1)
		return 0, errors.New("no room")
	}
	return c.revision.Add(1), nil
}

// TestNoRoomForOwners: servers that refuse a node's keys at once are not asked again at once.
func TestNoRoomForOwners(t *testing.T) {
	const beat, partitions = 40 * time.Millisecond, 4
	own, err := ownership.New(ownership.Config{ID: "a", Incarnation: 1, Partitions: partitions, Beat: beat, TTL: beatsOfSilence * beat})
	if err != nil {
		t.Fatal(err)
	}
	own.Busy()
	ops := newOperations(t.Context())
	defer ops.wait()
	defer ops.stop()
	bucket, r := new(crowded), &remote{beat: beat, servers: &servers{login: new(login)}}
	l := &nodeLease{own: own, loop: newLoop(ops), remote: r, bucket: bucket, requests: &requests{remote: r, last: time.Now().Add(time.Hour)}}
	began := time.Now()
	for time.Since(began) < 20*beat {
		l.renew()
		l.loop.turn(beat / 4)
	}
	rounds := uint64(time.Since(began)/(beat/4)) + 1
	if n := bucket.refused.Load(); n == 0 || n > rounds*partitions {
		t.Errorf("%d writes were refused, expected some, and each of %d keys %d times at most", n, partitions, rounds)
	}
}
