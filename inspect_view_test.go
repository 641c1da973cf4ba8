package weft

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft/aio"
)

// TestLookBeforeAndAfter: a crawl that still reads what its last run has left, and one that
// has just ended, have nothing to say themselves: what is saved is told, and they cannot be
// steered.
func TestLookBeforeAndAfter(t *testing.T) {
	c, err := New(Options{Seeds: []string{"http://site.test/"}, Job: filepath.Join(t.TempDir(), "job")})
	if err != nil {
		t.Fatal(err)
	}
	d := c.desk
	defer d.job.close()
	v := &view{job: d.job, crawl: c}
	pause, _ := ParseOrder("pause")
	expect := func(want JobState, refused error) {
		t.Helper()
		if s, err := v.status(t.Context()); err != nil || s.State != want || s.Seeds != 1 {
			t.Errorf("%+v, error %v, expected %s", s, err, want)
		}
		for _, err := range v.hosts(t.Context()) {
			t.Errorf("a host; error %v", err)
		}
		if _, err := c.do(t.Context(), pause); !errors.Is(err, refused) {
			t.Errorf("told to pause: %v, expected %v", err, refused)
		}
		if _, ok := d.paused[pausedByHand]; ok {
			t.Error("it has paused")
		}
	}

	loop := aio.NewLoop(aio.Options{})
	c.mu.inbox = loop.Handle()
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		expect(JobStarting, errStarting)
		c.mu.inbox.Close()
	}()
	err = loop.Run(context.Background(), func(task *aio.Task) error {
		_, err := aio.Offload(task, func(context.Context) (struct{}, error) { <-looked; return struct{}{}, nil })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(JobKilled, errEnded)
}
