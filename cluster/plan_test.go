package cluster

import (
	"errors"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/weftcrawl/weft"
)

func begun(t *testing.T) *Client {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	c, err := Dial(t.Context(), Options{Servers: []string{s.ClientURL()}, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		s.Shutdown()
		s.WaitForShutdown()
	})
	return c
}

// TestPlan: one node begins a crawl, whoever is first; others have its plan, or are refused by the option
// that differs.
func TestPlan(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if _, err := c.Plan(t.Context()); !errors.Is(err, ErrNoCrawl) {
		t.Fatal(err)
	}
	if _, err := c.begin(t.Context(), weft.Options{Job: "job"}, 16); !errors.Is(err, ErrNoCrawl) {
		t.Fatal(err)
	}
	first := weft.Options{Job: "job", Seeds: []string{"http://a.test/"}, Depth: 3}
	var plans [4]Plan
	var all sync.WaitGroup
	for i := range plans {
		all.Go(func() {
			var err error
			if plans[i], err = c.begin(t.Context(), first, 16); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	joined, err := c.begin(t.Context(), weft.Options{Job: "job"}, 99)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(plans[:], joined) {
		if p.ID != plans[0].ID || p.Partitions != 16 || p.Options.Depth != 3 || p.Options.Seeds[0] != "http://a.test/" {
			t.Errorf("%+v", p)
		}
	}
	for want, o := range map[string]weft.Options{
		`option Depth "2": expected 3, as the job began with`:                                             {Job: "job", Depth: 2},
		`option Seeds "http://b.test/": expected http://a.test/, as the job began with`:                   {Job: "job", Depth: 3, Seeds: []string{"http://b.test/"}},
		`option Scope "any": expected host, as the job began with; option Depth "any number": expected 3`: {Job: "job", Scope: weft.ScopeAny, Seeds: first.Seeds},
	} {
		if _, err := c.begin(t.Context(), o, 16); err == nil || err.Error() != want {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
}
