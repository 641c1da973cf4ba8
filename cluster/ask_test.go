package cluster_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/live"
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
	var listed map[string]int
	again(t, func() (err error) {
		listed = make(map[string]int)
		for u, failed := range client.URLs(t.Context(), weft.URLFilter{State: weft.URLDone}) {
			if err = errors.Join(err, failed); failed == nil {
				listed[u.URL]++
			}
		}
		return err
	})
	for url := range own {
		if listed[url] != 1 {
			t.Errorf("%s is listed %d times", url, listed[url])
		}
	}
	for _, m := range c.all {
		url := m.urls()[0]
		var why weft.Why
		again(t, func() (err error) {
			why, err = client.Why(t.Context(), url)
			return err
		})
		if why.URL != url || why.Status == 0 || len(why.Steps) == 0 {
			t.Errorf("%s: %+v", url, why)
		}
	}
	c.wait()
	c.check()
}

// again asks until nodes answer: on a busy machine one may lose its lease, and joins again.
func again(t *testing.T, ask func() error) {
	t.Helper()
	for {
		err := ask()
		if err == nil {
			return
		}
		if errors.Is(err, cluster.ErrOver) || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestLivePageOfNode: the live page of a node shows all nodes, and who has the partitions.
func TestLivePageOfNode(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	a, b := c.join("a"), c.join("b")
	a.until(t, 10)
	b.until(t, 10)
	page := live.New(a.job, "")
	var s cluster.Status
	again(t, func() error {
		r := httptest.NewRecorder()
		page.Answer(r, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), "v1/cluster")
		if r.Code != 200 {
			return errors.New(r.Body.String())
		}
		return json.Unmarshal(r.Body.Bytes(), &s)
	})
	if len(s.Nodes) != 2 || s.Partitions == 0 || s.Nodes[0].Partitions+s.Nodes[1].Partitions+s.Unowned != s.Partitions || s.Nodes[1].Partitions == 0 {
		t.Errorf("%+v", s)
	}
	c.wait()
	c.check()
}
