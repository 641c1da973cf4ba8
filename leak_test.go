package weft_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestJobLeavesNothing: a crawl with a job that is broken off leaves no descriptor and no
// goroutine.
func TestJobLeavesNothing(t *testing.T) {
	s := leafy(t, 50)
	run := func() {
		ctx, cancel := context.WithCancel(t.Context())
		c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Job: filepath.Join(t.TempDir(), "job"), Hooks: weft.Hooks{OnRecord: func(*weft.Record) { cancel() }}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Run(ctx)
	}
	count := func() (descriptors, goroutines int) {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here: ", err)
		}
		return len(names), runtime.NumGoroutine()
	}
	run()
	s.CloseClientConnections()
	fds, goroutines := count()
	for range 5 {
		run()
	}
	s.CloseClientConnections()
	if f, g := count(); f > fds+4 || g > goroutines+4 {
		buf := make([]byte, 1<<16)
		t.Errorf("%d descriptors and %d goroutines, were %d and %d\n%s", f, g, fds, goroutines, buf[:runtime.Stack(buf, true)])
	}
}
