package aio_test

import (
	"testing"

	"github.com/weftcrawl/weft/aio"
)

// TestReady checks that Ready knows of bytes and of the end without a wait, even when the last
// read took exactly as many bytes as it had room for.
func TestReady(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		c, peer := connectPeer(t, task, tr)
		defer c.Close()
		expect(t, "Ready at first", c.Ready(), false)
		for _, send := range []string{"four", "more"} {
			if _, err := peer.Write([]byte(send)); err != nil {
				return err
			}
			if err := c.WaitReadable(task); err != nil {
				return err
			}
			expect(t, "Ready with bytes there", c.Ready(), true)
			expect(t, "Ready again", c.Ready(), true)
			if _, err := c.Read(task, make([]byte, 4)); err != nil {
				return err
			}
			expect(t, "Ready when all was read", c.Ready(), false)
		}
		peer.Close()
		if err := c.WaitReadable(task); err != nil {
			return err
		}
		expect(t, "Ready at the end", c.Ready(), true)
		return nil
	})
}
