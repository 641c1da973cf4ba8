package cluster_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/torture"
)

// TestNodeDiskFull: a node whose disk is full pauses, says so to whoever asks for the status, keeps
// its partitions, and goes on when there is room.
func TestNodeDiskFull(t *testing.T) {
	t.Parallel()
	web := tiny()
	web.Hosts = 10
	c := newCrawl(t, web)
	disk, full := storetest.New(), new(atomic.Bool)
	disk.Before(func(op storetest.Op, path string) error {
		switch {
		case !full.Load():
		case op == storetest.Write:
			return &storetest.Partial{N: 10, Err: &fs.PathError{Op: string(op), Path: path, Err: syscall.ENOSPC}}
		case op == storetest.Create:
			return &fs.PathError{Op: string(op), Path: path, Err: syscall.ENOSPC}
		}
		return nil
	})
	c.servers.On(disk)
	if err := os.Mkdir(filepath.Join(c.dir, "a"), 0o700); err != nil { // for node.json
		t.Fatal(err)
	}
	a := c.join("a")
	a.until(t, 10)
	full.Store(true)
	client, err := cluster.Dial(t.Context(), c.servers)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var s cluster.Status
	for len(s.Nodes) == 0 || !slices.Contains(s.Nodes[0].Paused, "the disk is full") {
		select {
		case <-a.done:
			t.Fatalf("it has ended: %+v, %v", a.sum, a.err)
		default:
		}
		if err := a.node.Beats(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if s, err = client.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.node.Beats(t.Context(), 8); err != nil { // longer than its lease
		t.Fatal(err)
	}
	if s, err = client.Status(t.Context()); err != nil || s.Unowned > 0 || s.Nodes[0].State != "alive" {
		t.Errorf("%+v, %v", s, err)
	}
	before := c.ended()
	full.Store(false)
	c.wait()
	truth, ended := 0, c.ended()
	for url := range c.web.Web.Truth(torture.Policy(0)) {
		if truth++; ended[url] != 1 {
			t.Errorf("%s has ended %d times", url, ended[url])
		}
	}
	if a.err != nil || !a.sum.Finished || a.sum.Recorded() != truth || len(before) == truth {
		t.Errorf("%d of %d URLs: %+v, %v", len(before), truth, a.sum, a.err)
	}
}
