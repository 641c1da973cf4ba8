package control

import (
	"errors"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/view"
)

// TestBeforeAndAfter: a crawl that still reads what its last run left, and one that has ended, have
// nothing to say themselves: the saved state answers, and they cannot be steered.
func TestBeforeAndAfter(t *testing.T) {
	files := storetest.New()
	j, err := job.Open(job.Options{Dir: "/job", Files: files, Plan: job.Plan{Seeds: []string{"http://site.test/"}, Scope: scope.Host}})
	if err != nil {
		t.Fatal(err)
	}
	j.History.Turning = true // so that it writes before it is ready
	shares := budget.Split(budget.Default, 1)
	crawl := engine.New(engine.Config{
		Job: j, Loops: 1, Concurrency: 1, Workers: 1, Shares: shares, Frontier: frontier.Config{Heads: 1},
		Fetch: fetch.Config{Visit: 1, Job: true},
	})
	v := &view.View{Job: j, Crawl: crawl}
	order, err := ParseOrder("pause")
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want, figures inspect.JobState, refused error) {
		t.Helper()
		if s, err := v.Status(t.Context()); err != nil || s.State != want || s.Seeds != 1 {
			t.Errorf("%+v, error %v, expected %s", s, err, want)
		}
		if f, err := v.Figures(t.Context()); f.State != figures || err != nil && !errors.Is(err, refused) {
			t.Errorf("figures %+v, error %v, expected %q", f, err, figures)
		}
		if infos, err := v.Origins(t.Context(), []string{"http://site.test"}); len(infos) != 0 || err != nil {
			t.Errorf("%+v, error %v", infos, err)
		}
		if _, err := do(t.Context(), crawl, order, nil); !errors.Is(err, refused) {
			t.Errorf("told to pause: %v, expected %v", err, refused)
		}
	}

	expect(inspect.JobKilled, "", engine.ErrEnded) // it has not begun
	writing, looked := make(chan struct{}), make(chan struct{})
	var once sync.Once
	files.Before(func(storetest.Op, string) error {
		once.Do(func() { close(writing) })
		<-looked
		return nil
	})
	ended := make(chan error)
	go func() {
		_, err := crawl.Run(t.Context())
		ended <- err
	}()
	<-writing
	expect(inspect.JobStarting, inspect.JobStarting, errStarting)
	crawl.Drain()
	close(looked)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := do(t.Context(), crawl, order, nil); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("told to pause in the end: %v", err)
	}
}
