package weft_test

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestEarlier: what earlier runs have come to does not change while the crawl runs, and any
// goroutine may ask for it.
func TestEarlier(t *testing.T) {
	site := leafy(t, 20)
	o := weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Limit: 3}
	first, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Limit = 0
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	before := c.Earlier()
	ctx, asked := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context())
		asked()
		ended <- err
	}()
	for ctx.Err() == nil {
		_ = c.Earlier()
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if after := c.Earlier(); before.Runs != 1 || before.Statuses[200].URLs != 3 || !reflect.DeepEqual(after, before) {
		t.Errorf("statuses %v after %d runs, before the run %v after %d", after.Statuses, after.Runs, before.Statuses, before.Runs)
	}
}
