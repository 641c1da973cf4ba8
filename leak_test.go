package weft_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestJobLeaksNoDescriptors checks that canceled crawls with a job leak no file descriptors.
func TestJobLeaksNoDescriptors(t *testing.T) {
	s := leafy(t, 50)
	run := func() {
		ctx, cancel := context.WithCancel(t.Context())
		c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Job: filepath.Join(t.TempDir(), "job"), Hooks: weft.Hooks{OnRecord: func(*weft.Record) { cancel() }}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Run(ctx)
	}
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here: ", err)
		}
		return len(names)
	}
	run()
	s.CloseClientConnections()
	before := count()
	for range 10 {
		run()
	}
	s.CloseClientConnections()
	if now := count(); now >= before+10 { // the server closes its connections with a delay
		t.Errorf("%d descriptors after ten crawls, %d before", now, before)
	}
}
