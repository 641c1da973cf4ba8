package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// crawl is a crawl of a synthetic web by several nodes over real sockets.
type crawl struct {
	t       *testing.T
	web     *webtest.Running
	servers cluster.Options
	dir     string
	all     []*member
	options weft.Options
	slow    map[string]chan struct{} // what a node waits for after each record, by its name
}

// member is a node of it.
type member struct {
	name string
	job  string
	node *cluster.Crawl
	stop context.CancelFunc
	done chan struct{}

	records  chan struct{} // one for each record
	warnings chan error
	sum      weft.Summary
	err      error
}

func newCrawl(t *testing.T, cfg webtest.Config) *crawl {
	t.Helper()
	return crawlOn(t, cfg, serve(t, server.Options{JetStream: true}))
}

// crawlOn is a crawl on servers of the test's own.
func crawlOn(t *testing.T, cfg webtest.Config, servers ...*server.Server) *crawl {
	t.Helper()
	c := &crawl{t: t, web: webtest.Start(t, cfg), dir: t.TempDir()}
	c.servers = cluster.Options{Name: "test", Partitions: 32}
	for _, s := range servers {
		c.servers.Servers = append(c.servers.Servers, s.ClientURL())
	}
	c.servers.Hasten()
	c.options = weft.Options{
		Seeds: []string{c.web.Web.Home(0)}, Scope: weft.ScopeAny, DNS: []netip.AddrPort{netip.MustParseAddrPort(c.web.DNS.Addr())},
		Memory: 64 << 20,
	}
	return c
}

// join has one more node join, with a job folder of that name.
func (c *crawl) join(name string) *member { return c.joinBy(name, c.servers.Servers[0]) }

// joinBy is join, by another way to the servers.
func (c *crawl) joinBy(name, server string) *member {
	c.t.Helper()
	m := &member{name: name, job: filepath.Join(c.dir, name), done: make(chan struct{}), records: make(chan struct{}, 1<<16), warnings: make(chan error, 1<<10)}
	o := c.options
	o.Job = m.job
	o.Hooks.OnRecord = func(*weft.Record) {
		m.records <- struct{}{}
		if gate := c.slow[name]; gate != nil {
			<-gate
		}
	}
	servers := c.servers
	servers.Servers = []string{server}
	servers.OnWarning = func(err error) {
		c.t.Logf("%s: %v", name, err)
		m.warnings <- err
	}
	ctx, stop := context.WithCancel(c.t.Context())
	m.stop = stop
	var err error
	if m.node, err = cluster.Join(ctx, servers, o); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		defer close(m.done)
		m.sum, m.err = m.node.Run(ctx)
	}()
	c.all = append(c.all, m)
	return m
}

// wait waits for the end of all nodes.
func (c *crawl) wait() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	for _, m := range c.all {
		select {
		case <-m.done:
			c.t.Logf("%s: %d URLs, %v", m.name, m.sum.Done, m.err)
		case <-ctx.Done():
			c.t.Fatalf("%s does not end: %+v", m.name, m.node.Stats())
		}
	}
}

// fetched returns how often each URL has a record.
func (c *crawl) fetched() map[string]int {
	c.t.Helper()
	all := make(map[string]int)
	for _, job := range jobs(c.t, c.dir) {
		c.read(job, all)
	}
	return all
}

// recordsOf returns how often each URL has a record of a node.
func (c *crawl) recordsOf(m *member) map[string]int {
	c.t.Helper()
	all := make(map[string]int)
	c.read(m.job, all)
	return all
}

// read counts the records of a job.
func (c *crawl) read(job string, all map[string]int) {
	c.t.Helper()
	f, err := os.Open(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r weft.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			c.t.Fatal(err)
		}
		all[r.URL]++
	}
}

func jobs(t *testing.T, dir string) []string {
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check compares the records with the truth of the web: each URL is there, and at most so many more than
// once.
func (c *crawl) check(twice int) {
	c.t.Helper()
	c.checkWith(nil, twice)
}

// checkWith is check, with records that are not on a disk any more. They count if nobody has another.
func (c *crawl) checkWith(lost map[string]int, twice int) {
	c.t.Helper()
	all, missing, more := c.fetched(), 0, 0
	truth := 0
	for url, n := range lost {
		all[url] += n
	}
	for url := range c.web.Web.Truth(torture.Policy(0)) {
		truth++
		switch n := all[url]; {
		case n == 0:
			if missing++; missing < 5 {
				c.t.Errorf("%s has no record", url)
			}
		case n > 1:
			more += n - 1
		}
		delete(all, url)
	}
	extra := 0
	for url := range all {
		if extra++; extra < 5 {
			c.t.Errorf("%s has a record, and is not to be found", url)
		}
	}
	fmt.Fprintln(c.t.Output(), truth, "URLs,", missing, "missing,", more, "more than once")
	if missing > 0 || extra > 0 || more > twice {
		c.t.Errorf("%d of %d URLs missing, %d more than once (expected at most %d), %d that are not in the web", missing, truth, more, twice, extra)
	}
}

func small() webtest.Config {
	return webtest.Config{Seed: 2, Hosts: 40, Pages: 8, CrawlDelay: 20 * time.Millisecond, SlowDelay: 50 * time.Millisecond, Rates: webtest.Rates{Stalled: -1, Flaky: -1, ShyRobots: -1}}
}

// TestNodes: several nodes find what the web has, each URL once.
func TestNodes(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			c := newCrawl(t, small())
			for i := range n {
				c.join(fmt.Sprint("node", i))
			}
			c.wait()
			for _, m := range c.all {
				if m.err != nil || m.sum.Done == 0 {
					t.Errorf("%s: %d URLs, %v", m.name, m.sum.Done, m.err)
				}
			}
			c.check(0)
		})
	}
}

// long is a web that several nodes crawl for some seconds.
func long() webtest.Config {
	cfg := small()
	cfg.Latency = 100 * time.Millisecond
	return cfg
}

// until waits until a node has n records more.
func (m *member) until(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-m.done:
			t.Fatalf("%s has ended: %v", m.name, m.err)
		case <-m.records:
		}
	}
}

// end waits for the end of a node.
func (m *member) end(t *testing.T) {
	t.Helper()
	select {
	case <-m.done:
	case <-t.Context().Done():
	}
}

// TestDeath: a node dies, and its disk with it. The others fetch what it had not told, and no more.
func TestDeath(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, long())
	a, _, d := c.join("a"), c.join("b"), c.join("d")
	d.until(t, 20)
	d.stop()
	d.end(t)
	lost := c.recordsOf(d)
	if err := os.RemoveAll(d.job); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s had %d records", d.name, len(lost))
	c.all = c.all[:2]
	c.wait()
	_ = a
	c.checkWith(lost, 60)
}

// TestRestart: a node is stopped without a word, and started again with its folder.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, long())
	_, b := c.join("a"), c.join("b")
	for range 3 {
		b.until(t, 20)
		b.stop()
		b.end(t)
		c.all = c.all[:1]
		b = c.join("b")
	}
	c.wait()
	c.check(0)
}

// TestLeave: a node leaves, another joins later.
func TestLeave(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, long())
	a, b := c.join("a"), c.join("b")
	b.until(t, 20)
	b.node.Drain()
	b.end(t)
	if b.err != nil {
		t.Error(b.err)
	}
	d := c.join("d")
	c.wait()
	if a.err != nil || d.err != nil || d.sum.Done == 0 {
		t.Errorf("%v; %v, %d URLs", a.err, d.err, d.sum.Done)
	}
	c.check(0)
}

// TestStop: a node that is stopped by an order, as by a limit of its own, leaves like any other: others have
// its partitions at once, and fetch nothing again.
func TestStop(t *testing.T) {
	t.Parallel()
	web := small()
	web.Hosts = 15
	c := newCrawl(t, web)
	a, b := c.join("a"), c.join("b")
	b.until(t, 10)
	stop, err := weft.ParseOrder("stop")
	if err != nil {
		t.Fatal(err)
	}
	job, err := weft.OpenJob(t.Context(), b.job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := job.Do(t.Context(), stop); err != nil {
		t.Error(err)
	}
	b.end(t)
	job.Close()
	if s := c.status(); s.Nodes[1].State != "left" || s.Unowned > 0 || b.err != nil || !b.sum.Interrupted {
		t.Errorf("%+v, %v, interrupted %v", s, b.err, b.sum.Interrupted)
	}
	c.wait()
	if a.err != nil {
		t.Error(a.err)
	}
	c.check(0)
}

// TestLimit: the nodes of a crawl fetch as many URLs together as the first was allowed, whatever becomes of
// them; a node may raise that, and no other limit is taken.
func TestLimit(t *testing.T) {
	t.Parallel()
	web := long()
	web.Hosts = 15
	c := newCrawl(t, web)
	c.options.Limit = 200
	a := c.join("a")
	c.options.Limit = 0
	b, d := c.join("b"), c.join("d")
	c.wait()
	for _, m := range c.all {
		if m.err != nil || m.sum.Stopped != "limit" {
			t.Errorf("%s: %v, stopped by %q", m.name, m.err, m.sum.Stopped)
		}
	}
	if n := a.sum.Done + b.sum.Done + d.sum.Done; n != 200 {
		t.Errorf("%d URLs, expected 200", n)
	}
	for limit, want := range map[int]string{0: "a higher one goes on", 199: `option Limit "199": expected at least 200`} {
		o := c.options
		o.Job, o.Limit = a.job, limit
		if _, err := cluster.Join(t.Context(), c.servers, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	c.options.Limit, c.all = 250, nil
	a = c.join("a")
	c.wait()
	if n := a.sum.Done + b.sum.Done + d.sum.Done; n != 250 || a.sum.Stopped != "limit" || a.err != nil {
		t.Errorf("%d URLs, expected 250; stopped by %q, %v", n, a.sum.Stopped, a.err)
	}
}

// TestMaxTime: the time of a crawl counts from its beginning, for all nodes.
func TestMaxTime(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, long())
	c.options.MaxTime = 2 * time.Second
	a := c.join("a")
	a.until(t, 5)
	c.options.MaxTime = 0
	c.join("b")
	c.wait()
	for _, m := range c.all {
		if m.err != nil || m.sum.Stopped != "max-time" {
			t.Errorf("%s: %v, stopped by %q", m.name, m.err, m.sum.Stopped)
		}
	}
	if s := c.status(); s.Unowned != s.Partitions || s.Nodes[0].Partitions+s.Nodes[1].Partitions > 0 {
		t.Errorf("%+v, expected nodes without partitions", s)
	}
	o := c.options
	o.Job = a.job
	if _, err := cluster.Join(t.Context(), c.servers, o); !errors.Is(err, cluster.ErrLimit) {
		t.Error(err)
	}
}

// status asks the servers.
func (c *crawl) status() cluster.Status {
	c.t.Helper()
	client, err := cluster.Dial(c.t.Context(), c.servers)
	if err != nil {
		c.t.Fatal(err)
	}
	defer client.Close()
	s, err := client.Status(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// TestKeep: a node that hands its partitions over, and keeps them after all, is not idle meanwhile, although
// its engine has nothing to do. It loses its view of the cluster in between, and gets another.
func TestKeep(t *testing.T) {
	t.Parallel()
	web := small()
	web.Hosts, web.Pages = 1, 12 // no links wait in the streams
	c := newCrawl(t, web)
	a := c.join("a")
	a.until(t, 3)
	keep := a.node.Waver()
	a.node.Unwatch()
	if err := a.node.Beats(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	keep()
	c.wait()
	if a.err != nil {
		t.Error(a.err)
	}
	c.check(0)
}
