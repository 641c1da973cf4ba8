package cluster

import (
	"context"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestEndedConsumer: what a consumer of links still has in hand when another takes its place is not taken in. It may
// have left out a message before it, which the other would then take for one that the node has had.
func TestEndedConsumer(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if _, err := c.begin(t.Context(), &weft.Options{Job: "job", Seeds: []string{"http://a.test/"}}, 4); err != nil {
		t.Fatal(err)
	}
	n := &node{Client: c, parts: make([]part, 4)}
	n.mail.wake, n.seen.changed = make(chan struct{}, 1), make(chan struct{})
	n.reader.room = newRoom(0)
	n.parts[3] = part{open: true, read: true}
	if _, err := c.js.Publish(t.Context(), c.links(3), pack(nil)); err != nil {
		t.Fatal(err)
	}
	all, stop, err := c.consume(t.Context(), c.linkStream(), []string{c.links(3)}, smallRoom)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	msg, err := all.Next()
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	n.receive(ctx, 3, msg)
	end()
	for _, fn := range n.mail.take() {
		fn()
	}
	if n.parts[3].taken != 0 || len(n.parts[3].acks) > 0 || len(n.reader.room) > 0 {
		t.Errorf("message %d was taken in, %d units of room are taken", n.parts[3].taken, len(n.reader.room))
	}
}

// TestOpenedLater: a consumer that reads the links of all partitions may have left out some of one that has opened
// since it began. What comes of these is left to the next consumer, which has all of them.
func TestOpenedLater(t *testing.T) {
	t.Parallel()
	n := &node{parts: make([]part, 4)}
	n.open(3, true)
	released := false
	n.deliver(3, 9, nil, func() { released = true })
	if part := n.parts[3]; part.taken != 0 || len(part.acks) > 0 || !released || !n.reader.opened {
		t.Errorf("%+v, released %v, opened %v; expected that another consumer reads it", part, released, n.reader.opened)
	}
}
