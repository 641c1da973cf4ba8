package cluster_test

import (
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
)

// TestURLsOfAllNodes: a client lists the URLs of all nodes, each once, and asks the node that has a
// URL what became of it.
func TestURLsOfAllNodes(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	own := make(map[string]bool) // what each node has committed
	for _, m := range []*member{c.join("a"), c.join("b")} {
		done := m.urls()
		for len(done) == 0 {
			m.until(t, 10)
			done = m.urls()
		}
		for _, url := range done {
			own[url] = true
		}
	}
	client, err := cluster.Dial(t.Context(), c.servers)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	listed := make(map[string]int)
	for u, err := range client.URLs(t.Context(), weft.URLFilter{State: weft.URLDone}) {
		if err != nil {
			t.Fatal(err)
		}
		listed[u.URL]++
	}
	for url := range own {
		if listed[url] != 1 {
			t.Errorf("%s is listed %d times", url, listed[url])
		}
	}
	for _, m := range c.all {
		url := m.urls()[0]
		if why, err := client.Why(t.Context(), url); err != nil || why.URL != url || why.Status == 0 || len(why.Steps) == 0 {
			t.Errorf("%s: %+v, %v", url, why, err)
		}
	}
	c.wait()
	c.check()
}
