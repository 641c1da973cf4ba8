package cluster

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// TestRefused: the error of a deleted stream keeps its kind through every wrapping, so that a node
// can name the stream. Its text has no codes.
func TestRefused(t *testing.T) {
	c := &servers{login: new(login)}
	err := fmt.Errorf("partition 12: %w", c.refused(fmt.Errorf("log: %w", jetstream.ErrStreamNotFound)))
	if want := "partition 12: cluster : stream not found"; !errors.Is(err, jetstream.ErrStreamNotFound) || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("%v is of a consumer", err)
	}
}
