package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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
	slow    map[string]chan struct{} // releases a node after each record, by its name
	narrow  int                      // most messages of links at a slow node; 0: as elsewhere

	lost  map[string]int // records on disks that are gone, by URL
	blows atomic.Int32   // times that a node has ended without leaving, or has joined again
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
	c := &crawl{t: t, web: webtest.Start(t, cfg), dir: t.TempDir(), lost: make(map[string]int)}
	c.servers = cluster.Options{Name: "test", Partitions: 32}
	for _, s := range servers {
		c.servers.Servers = append(c.servers.Servers, s.ClientURL())
	}
	c.servers.Hasten()
	c.options = weft.Options{
		Seeds: []string{c.web.Web.Home(0)}, Reach: weft.Reach{Scope: weft.ScopeAny}, HTTP: weft.HTTP{DNS: []netip.AddrPort{netip.MustParseAddrPort(c.web.DNS.Addr())}},
		Memory: 64 << 20,
	}
	return c
}

// join has one more node join, with a job folder of that name.
func (c *crawl) join(name string) *member { return c.joinBy(name, c.servers.Servers[0]) }

// joinBy is join, by another way to the servers.
func (c *crawl) joinBy(name, server string) *member {
	c.t.Helper()
	m, err := c.tryJoin(name, server)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// tryJoin is joinBy for a node that may be refused.
func (c *crawl) tryJoin(name, server string) (*member, error) {
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
		c.struck(err.Error())
		m.warnings <- err
	}
	ctx, stop := context.WithCancel(c.t.Context())
	m.stop = stop
	var err error
	if m.node, err = cluster.Join(ctx, servers, o); err != nil {
		return nil, err
	}
	if c.slow[name] != nil && c.narrow > 0 {
		m.node.Narrow(c.narrow)
	}
	go func() {
		defer close(m.done)
		m.sum, m.err = m.node.Run(ctx)
	}()
	c.all = append(c.all, m)
	return m, nil
}

// wait waits for the end of all nodes.
func (c *crawl) wait() {
	c.t.Helper()
	for _, m := range c.all {
		m.end(c.t)
		c.t.Logf("%s: %d URLs, %v", m.name, m.sum.Done, m.err)
	}
}

// struck counts a blow if a node warns of one.
func (c *crawl) struck(warning string) {
	if strings.Contains(warning, "joins again") {
		c.blows.Add(1)
	}
}

// kill ends a node without a word to the others.
func (c *crawl) kill(m *member) {
	c.t.Helper()
	c.blows.Add(1)
	m.stop()
	m.end(c.t)
	c.forget(m)
}

// forget removes a node that has ended from the list, so that wait does not wait for it.
func (c *crawl) forget(m *member) {
	c.all = slices.DeleteFunc(c.all, func(one *member) bool { return one == m })
}

// lose has a node die, and its disk with it.
func (c *crawl) lose(m *member) {
	c.t.Helper()
	c.kill(m)
	c.read(m.job, c.lost)
	if err := os.RemoveAll(m.job); err != nil {
		c.t.Fatal(err)
	}
	c.t.Logf("%s had records of %d URLs", m.name, len(c.lost))
}

// ended returns how often each URL has ended by the logs.
func (c *crawl) ended() map[string]int {
	c.t.Helper()
	all, err := cluster.Ended(c.t.Context(), c.servers)
	if err != nil {
		c.t.Fatal(err)
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

// check compares a crawl that is over with the truth of the web: each URL has ended once by the
// logs, so what they had was not fetched again, whenever a blow came. Records beyond that are of
// nodes that could not tell.
func (c *crawl) check() {
	c.t.Helper()
	all := maps.Clone(c.lost)
	for _, job := range jobs(c.t, c.dir) {
		c.read(job, all)
	}
	ended, blows := c.ended(), int(c.blows.Load())
	truth, again, faults := 0, 0, make(map[string][]string)
	for url := range c.web.Web.Truth(torture.Policy(0)) {
		truth++
		what := ""
		switch n := all[url]; {
		case n == 0:
			what = "no record"
		case ended[url] != 1:
			what = fmt.Sprintf("%d ends in the logs, %d records", ended[url], n)
		case n > 1+blows:
			what = fmt.Sprintf("%d records after %d blows", n, blows)
		case n > 1:
			again++
		}
		if what != "" {
			faults[what] = append(faults[what], url)
		}
		delete(all, url)
	}
	for url := range all {
		faults["a record, and not to be found"] = append(faults["a record, and not to be found"], url)
	}
	for what, urls := range faults {
		c.t.Errorf("%s: %d URLs, such as %s", what, len(urls), urls[0])
	}
	fmt.Fprintln(c.t.Output(), truth, "URLs,", again, "fetched again after", blows, "blows")
}

func small() webtest.Config {
	return webtest.Config{Seed: 2, Hosts: 40, Pages: 8, CrawlDelay: 20 * time.Millisecond, SlowDelay: 50 * time.Millisecond, Rates: webtest.Rates{Stalled: -1, Flaky: -1, ShyRobots: -1}}
}

// TestList: a node without the list of URLs that the crawl began with is refused, as links to hosts
// of the list would be out of its scope.
func TestList(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, restorable())
	seeds := c.options.Seeds
	list := func(yield func(string, error) bool) { yield(seeds[0], nil) }
	c.options.SeedSeq = list
	c.join("a")
	c.options.Seeds, c.options.SeedSeq = nil, nil
	if _, err := c.tryJoin("b", c.servers.Servers[0]); !strings.Contains(errorText(err), "expected the same list") {
		t.Errorf("without the list: %v", err)
	}
	c.options.Seeds, c.options.SeedSeq = seeds, list
	c.join("c")
	c.wait()
	c.check()
}

// TestNodes: several nodes find what the web has, each URL once.
func TestNodes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			c := newCrawl(t, lengthy()) // until the last node has partitions
			for i := range n {
				c.join(fmt.Sprint("node", i))
			}
			c.wait()
			for _, m := range c.all {
				if m.err != nil || m.sum.Done == 0 {
					t.Errorf("%s: %d URLs, %v", m.name, m.sum.Done, m.err)
				}
			}
			c.check()
		})
	}
}

// lengthy is a web that several nodes crawl for some seconds.
func lengthy() webtest.Config {
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

// beats waits for so many beats of a node, or for its end.
func (m *member) beats(t *testing.T, n int) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		select {
		case <-m.done:
			stop()
		case <-ctx.Done():
		}
	}()
	err := m.node.Beats(ctx, n+2) // the watch begins with what there is, and says that this is all
	if errors.Is(err, context.Canceled) {
		return m.err
	}
	return err
}

// urls returns what a node that runs has fetched and committed.
func (m *member) urls() (done []string) {
	job, err := weft.OpenJob(context.Background(), m.job)
	if err != nil {
		return nil // it has just begun
	}
	defer job.Close()
	for u, err := range job.URLs(context.Background(), weft.URLFilter{State: weft.URLDone}) {
		if err == nil && u.Status > 0 {
			done = append(done, u.URL)
		}
	}
	return done
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
	c := newCrawl(t, lengthy())
	d := c.join("d") // the first: it has work, however late the others have some
	c.join("a")
	c.join("b")
	for len(c.ended()) < 20 { // else there is nothing that must not be fetched again
		d.until(t, 5)
	}
	c.lose(d)
	c.wait()
	c.check()
	taken := cluster.Restored{}
	for _, n := range c.status().Nodes {
		if l := n.Lag; n.LogBytes < n.LogMessages || n.LogMessages == 0 || l.P50 <= 0 || l.P99 < l.P50 || l.Max < l.P99 {
			t.Errorf("%s: %d bytes in %d messages, acknowledged within %+v", n.Name, n.LogBytes, n.LogMessages, l)
		}
		if !strings.HasSuffix(n.Name, d.job) {
			taken.Partitions += n.Restored.Partitions
			taken.URLs += n.Restored.URLs
			taken.Seconds += n.Restored.Seconds
		}
	}
	if taken.Partitions == 0 || taken.URLs < taken.Partitions || taken.Seconds <= 0 {
		t.Errorf("%+v", taken)
	}
}

// TestCompaction: snapshots take the place of logs under the crawl, and what a log has to say is
// still whole.
func TestCompaction(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, small())
	c.servers.Partitions = 4
	c.servers.CompactAfter(1 << 10)
	c.join("a")
	c.join("b")
	c.wait()
	ended, snapshots, err := cluster.Reread(t.Context(), c.servers)
	if err != nil || snapshots < 2 {
		t.Errorf("%d logs of 4 have snapshots; %v", snapshots, err)
	}
	for url := range c.web.Web.Truth(torture.Policy(0)) {
		if ended[url] == 0 {
			t.Errorf("%s has not ended by the logs", url)
		}
	}
}

// TestRestart: one node after another is killed, and started again with its folder. On a busy
// machine, the others may have its partitions by then, or may even have ended the crawl.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	all := []*member{c.join("b"), c.join("a"), c.join("d")}
	all[0].until(t, 20)
	for i, m := range all {
		c.kill(m)
		back, err := c.tryJoin(m.name, c.servers.Servers[0])
		if i > 0 && errors.Is(err, cluster.ErrOver) {
			break
		}
		if err == nil {
			err = back.beats(t, 4)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.wait()
	for _, m := range c.all {
		if m.err != nil {
			t.Errorf("%s: %v", m.name, m.err)
		}
	}
	c.check()
}

// TestLeave: a node leaves, another joins later.
func TestLeave(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
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
	c.check()
}

// TestStop: a node that is stopped by an order, as by a limit of its own, leaves like any other:
// others have its partitions at once, and fetch nothing again.
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
	left := func(n cluster.NodeStatus) bool { return strings.HasSuffix(n.Name, "/b") && n.State == "left" }
	if s := c.status(); !slices.ContainsFunc(s.Nodes, left) || s.Unowned > 0 || b.err != nil || !b.sum.Interrupted {
		t.Errorf("%+v, %v, interrupted %v", s, b.err, b.sum.Interrupted)
	}
	c.wait()
	if a.err != nil {
		t.Error(a.err)
	}
	c.check()
}

// TestLimit: the nodes of a crawl fetch as many URLs together as the first was allowed, whatever
// becomes of them; a node may raise that, and no other limit is taken.
func TestLimit(t *testing.T) {
	t.Parallel()
	web := lengthy()
	web.Hosts = 15
	c := newCrawl(t, web)
	c.options.Limits.Limit = 200
	a := c.join("a")
	c.options.Limits.Limit = 0
	b, d := c.join("b"), c.join("d")
	c.wait()
	for _, m := range c.all {
		if m.err != nil || m.sum.Stopped != "limit" {
			t.Errorf("%s: %v, stopped by %q", m.name, m.err, m.sum.Stopped)
		}
	}
	if n, s := a.sum.Done+b.sum.Done+d.sum.Done, c.status(); n != 200 || s.Stopped != "--limit 200" {
		t.Errorf("%d URLs, expected 200; stopped by %q", n, s.Stopped)
	}
	for limit, want := range map[int]string{0: "expected a higher one to continue it", 199: `option Limit "199": expected at least 200`} {
		o := c.options
		o.Job, o.Limits.Limit = a.job, limit
		if _, err := cluster.Join(t.Context(), c.servers, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	c.options.Limits.Limit, c.all = 250, nil
	a = c.join("a")
	c.wait()
	if n := a.sum.Done + b.sum.Done + d.sum.Done; n != 250 || a.sum.Stopped != "limit" || a.err != nil {
		t.Errorf("%d URLs, expected 250; stopped by %q, %v", n, a.sum.Stopped, a.err)
	}
}

// TestMaxTime: the time of a crawl counts from its beginning, for all nodes.
func TestMaxTime(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	c.options.Limits.MaxTime = time.Hour
	a := c.join("a")
	a.until(t, 5)
	c.options.Limits.MaxTime = 0
	b := c.join("b")
	if err := b.beats(t, 1); err != nil {
		t.Fatal(err)
	}
	if err := cluster.EndNow(t.Context(), c.servers); err != nil {
		t.Fatal(err)
	}
	c.wait()
	for _, m := range c.all {
		if m.err != nil || m.sum.Stopped != "max-time" {
			t.Errorf("%s: %v, stopped by %q", m.name, m.err, m.sum.Stopped)
		}
	}
	if s := c.status(); s.Stopped != "--max-time 1ms" || s.Unowned != s.Partitions || s.Nodes[0].Partitions+s.Nodes[1].Partitions > 0 {
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

// TestKeep: a node that hands its partitions over, and keeps them after all, is not idle meanwhile,
// although its engine has nothing to do. It loses its view of the cluster in between, and gets
// another.
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
	c.check()
}
