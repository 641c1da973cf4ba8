package proof_test

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/weftcrawl/weft/bench/proof"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestNeighbours is the short form of make proof-neighbours: a healthy site is crawled as a whole
// and in time, whatever its neighbours do.
func TestNeighbours(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of processes is read from Linux's /proc")
	}
	command := weft(t)
	run := func(t *testing.T, n proof.Neighbour) proof.Hurt {
		h, err := proof.Beside{
			Command: command, Dir: t.TempDir(), Neighbour: n, N: n.Short, Pages: 50, Latency: 5 * time.Millisecond,
			Flags: []string{"--per-host", "2", "-c", "16"}, Patience: 5 * time.Second, Hurried: true,
		}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d pages in %v, %d MiB, CPU %v", h.Fetched, h.Took, h.Peak>>20, h.CPU)
		return h
	}
	all := []proof.Hurt{run(t, proof.Neighbour{})}
	for _, n := range webtest.Neighbours() {
		if n.Short == 0 {
			continue
		}
		t.Run(n.Name, func(t *testing.T) {
			h := run(t, n)
			for _, wrong := range h.Wrong(all[0].Took, 3*time.Second) {
				t.Error(wrong)
			}
			all = append(all, h)
		})
	}
	expectPage(t, func(b *bytes.Buffer, c string) error { return proof.WriteNeighbours(b, c, all) }, "# Healthy sites", "| nothing |")
}
