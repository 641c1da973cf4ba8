package cluster

import (
	"context"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestEndedConsumer: what a consumer of links still has in hand when another takes its place is not
// taken in. It may have left out a message before it, which the other would then take for one that
// the node has had.
func TestEndedConsumer(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if _, _, err := c.begin(t.Context(), &weft.Options{Job: "job", Seeds: []string{"http://a.test/"}}, 4); err != nil {
		t.Fatal(err)
	}
	l := newLoop(newOperations(t.Context()))
	i := &inbox{all: make([]inflow, 4), loop: l, watch: &watch{seen: newRevision()}, room: newRoom(0)}
	i.all[3] = inflow{wanted: true, read: true}
	if _, err := c.servers.js.Publish(t.Context(), c.name.links(3), pack(nil)); err != nil {
		t.Fatal(err)
	}
	all, stop, err := c.servers.consume(t.Context(), c.name.linkStream(), []string{c.name.links(3)}, smallRoom)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	msg, err := all.Next()
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	i.receive(ctx, 3, msg)
	end()
	l.turn(0)
	if i.all[3].taken != 0 || len(i.all[3].acks) > 0 || len(i.room) > 0 {
		t.Errorf("message %d was taken in, %d units of room are taken", i.all[3].taken, len(i.room))
	}
}

// TestReadLater: a consumer that reads the links of all partitions may have left out some of one
// that was added since it began. What comes of these is left to the next consumer, which has all of
// them.
func TestReadLater(t *testing.T) {
	t.Parallel()
	i := &inbox{all: make([]inflow, 4)}
	i.read(3)
	released := false
	i.deliver(3, 9, nil, func() { released = true })
	if f := i.all[3]; f.taken != 0 || len(f.acks) > 0 || !released || !i.more {
		t.Errorf("%+v, released %v, more %v; expected that another consumer reads it", f, released, i.more)
	}
}
