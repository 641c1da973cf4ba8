package cluster_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
)

// TestOrders: an order holds for nodes that join later, and for one that is started again, before
// they fetch anything; and while no node runs.
func TestOrders(t *testing.T) {
	t.Parallel()
	web := lengthy()
	web.Hosts = 10
	c := newCrawl(t, web)
	client, err := cluster.Dial(t.Context(), c.servers)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	do := func(want string, words ...string) {
		t.Helper()
		lines, err := client.Do(t.Context(), words...)
		for i, l := range lines { // MACHINE:FOLDER: what
			_, l, _ = strings.Cut(l, ": ")
			lines[i] = regexp.MustCompile(`\d+ in flight`).ReplaceAllString(l, "N in flight")
		}
		if got := strings.Join(lines, ", "); got != want || err != nil {
			t.Errorf("%q: %q, %v; expected %q", words, got, err, want)
		}
	}
	const most = `//h\d*[2-9]\.`
	a := c.join("a")
	a.until(t, 10)
	do("paused; N in flight", "pause")
	do("excluded: "+most, "exclude", most)
	do("delay=30ms", "set", "delay=30ms")
	do("already paused", "pause")
	b := c.join("b")
	c.obeys(b)
	c.kill(b)
	c.obeys(c.join("b"))
	do("already paused, already paused", "pause")
	if s := c.status(); !slices.Equal(s.Orders, []string{"pause", "exclude " + most, "set delay=30ms"}) {
		t.Errorf("%q", s.Orders)
	}
	do("ending; N in flight, ending; N in flight", "stop")
	c.wait()
	_, _ = client.Do(t.Context(), "resume")
	if s := c.status(); !slices.Equal(s.Orders, []string{"exclude " + most, "set delay=30ms"}) {
		t.Errorf("%q", s.Orders)
	}
	c.all = nil
	d := c.join("d")
	d.until(t, 3)
	slow := 0
	for h, err := range client.Hosts(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		if h.DelayMS == 30 {
			slow++
		}
	}
	if slow == 0 {
		t.Error("no host has the delay that was set")
	}
	c.wait()
	for _, name := range []string{"b", "d"} {
		for _, r := range records(t, filepath.Join(c.dir, name)) {
			if regexp.MustCompile(most).MatchString(r.URL) && r.ErrorKind != "excluded" {
				t.Errorf("%s: %s: %d %s", name, r.URL, r.Status, r.ErrorKind)
			}
		}
	}
	if s := c.status(); !s.Over {
		t.Errorf("%+v", s)
	}
}

// obeys checks that a node has work, and does none of it, by orders that were given before it came.
func (c *crawl) obeys(m *member) {
	c.t.Helper()
	s := m.node.Stats()
	for s.Done == 0 && (s.Pending == 0 || !slices.Contains(s.Paused, "by hand")) {
		if err := m.node.Beats(c.t.Context(), 3); err != nil {
			c.t.Fatal(err)
		}
		s = m.node.Stats()
	}
	if s.Done > 0 || s.InFlight > 0 {
		c.t.Errorf("%s: %+v", m.name, s)
	}
}

// TestOrderMissed: a node obeys what others were told while it was cut off, as soon as the bucket
// shows it. What somebody else has written there is no reason to end, nor to say nothing.
func TestOrderMissed(t *testing.T) {
	t.Parallel()
	web := lengthy()
	web.Hosts = 5
	c := newCrawl(t, web)
	a := c.join("a")
	a.until(t, 5)
	conn, err := nats.Connect(c.servers.Servers[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, _ := jetstream.New(conn)
	bucket, err := js.KeyValue(t.Context(), "weft_test")
	if err != nil {
		t.Fatal(err)
	}
	put := func(key, text string) {
		t.Helper()
		if _, err := bucket.Put(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("stats.x", "1")
	put("orders", `[["stop"]]`)
	if text := (<-a.warnings).Error(); !strings.Contains(text, `key "orders"`) {
		t.Error(text)
	}
	if s := c.status(); len(s.Unread) != 2 || len(s.Nodes) != 2 {
		t.Errorf("%+v", s)
	}
	put("orders", `[["pause"]]`)
	for paused := false; !paused; {
		if err := a.node.Beats(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		paused = slices.Contains(a.node.Stats().Paused, "by hand")
	}
	put("orders", `[["resume"]]`)
	c.wait()
	c.check()
}

// records reads those of a job.
func records(t *testing.T, job string) (all []weft.Record) {
	t.Helper()
	f, err := os.Open(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r weft.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// TestOrdersUnreadable: a key of orders that nobody can read is replaced by the next order, which
// says so.
func TestOrdersUnreadable(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	a := c.join("a")
	bucket, err := jetStream(t, c.servers.Servers...).KeyValue(t.Context(), "weft_test")
	if err != nil {
		t.Fatal(err)
	}
	a.until(t, 1)
	if _, err := bucket.Put(t.Context(), "orders", []byte("[[\"dance\"]]")); err != nil {
		t.Fatal(err)
	}
	a.hears(t, "dance")
	var warned []string
	o := c.servers
	o.OnWarning = func(err error) { warned = append(warned, err.Error()) }
	client, err := cluster.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	lines, err := client.Do(t.Context(), "exclude", "/nowhere/")
	if err != nil || len(lines) != 1 || !strings.HasSuffix(lines[0], "excluded: /nowhere/") {
		t.Errorf("%q, %v", lines, err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "the orders in force cannot be read") {
		t.Errorf("warned %q", warned)
	}
	if s, err := client.Status(t.Context()); err != nil || !slices.Equal(s.Orders, []string{"exclude /nowhere/"}) {
		t.Errorf("%q, %v", s.Orders, err)
	}
	c.kill(a)
}
