package cluster_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// restorable is a web that takes a few seconds.
func restorable() webtest.Config {
	web := small()
	web.Hosts, web.Latency = 20, 30*time.Millisecond
	return web
}

// The streams of a crawl.
const (
	bucketStream = "KV_weft_test"
	linkStream   = "weft_test_links"
	logStream    = "weft_test_log"
)

// TestRestore: a crawl that the servers have lost is restored from the folders of its nodes,
// whatever its state. No URL is lost, and only URLs in flight are fetched again.
func TestRestore(t *testing.T) {
	t.Parallel()
	everything := []string{bucketStream, linkStream, logStream}
	tests := []struct {
		name string
		lost []string
		end  func(c *crawl, a, b *member) // the end of nodes, of which a has begun the crawl
	}{
		{"logs/one after the other", []string{logStream}, func(c *crawl, a, b *member) { c.leave(a); c.leave(b) }},
		{"links", []string{linkStream}, func(c *crawl, a, b *member) { // to b, which does not read them
			c.kill(b)
			a.until(c.t, 20)
			c.kill(a)
		}},
		{"bucket", []string{bucketStream}, killBoth},
		{"everything/left", everything, leaveBoth},
		{"everything/killed", everything, killBoth}, // from here on in the long form alone
		{"logs/killed", []string{logStream}, killBoth},
		{"logs/left", []string{logStream}, leaveBoth},
	}
	for _, test := range tests[:long.Or(4, len(tests))] {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLoss(t)
			a := l.join("a")
			a.until(t, 10)
			b := l.join("b")
			b.until(t, 15)
			test.end(l.crawl, a, b)
			before, sent := l.ended(), l.onTheWay()
			l.delete(test.lost)
			if noBucket := test.lost[0] == bucketStream; noBucket {
				// Nobody knows whose folders there are.
				if _, err := l.restore(false, a, b); !errors.Is(err, cluster.ErrIncomplete) {
					t.Errorf("without the bucket: %v", err)
				}
			}
			if len(test.lost) == 3 {
				l.interrupt(a, b)
				if _, err := l.tryJoin("d", l.servers.Servers[0]); !errors.Is(err, cluster.ErrHalf) {
					t.Errorf("joins what is restored in part: %v", err)
				}
			}
			r, err := l.restore(true, a, b)
			if err != nil || strings.Join(r.Streams, " ") != strings.Join(test.lost, " ") || len(r.Missing) > 0 || r.Without > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			after := l.ended()
			for url := range before {
				if after[url] != 1 {
					t.Errorf("%s: ended %d times in the new logs", url, after[url])
				}
			}
			again := l.onTheWay()
			for url := range sent {
				if !again[url] {
					t.Errorf("%s was on its way, and is not in the new stream", url)
				}
			}
			if _, err := l.restore(false, a, b); !errors.Is(err, cluster.ErrWhole) {
				t.Error(err)
			}
			l.join("a")
			l.join("c")
			l.finish(before)
		})
	}
}

func killBoth(c *crawl, a, b *member) {
	c.kill(a)
	c.kill(b)
}

// leaveBoth has both leave at once, so that neither takes what the other has.
func leaveBoth(c *crawl, a, b *member) {
	a.node.Drain()
	b.node.Drain()
	c.leave(a)
	c.leave(b)
}

// leave has a node hand its partitions over and end.
func (c *crawl) leave(m *member) {
	c.t.Helper()
	m.node.Drain()
	m.end(c.t)
	if m.err != nil {
		c.t.Errorf("%s: %v", m.name, m.err)
	}
	c.forget(m)
}

// TestRestoreOnTheWay: the logs are lost while partitions are on their way to a node that has not
// read their logs. The folder of the node that gave them still has their state.
func TestRestoreOnTheWay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"joins", "dies"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoss(t)
			a := l.join("a")
			a.until(t, 10)
			b, deletes := a, l.deletesAtMove
			if name == "joins" {
				moved := deletes()
				b = l.join("b")
				<-moved
			} else {
				b = l.join("b")
				b.until(t, 10)
				moved := deletes()
				l.kill(a)
				<-moved
			}
			for _, m := range slices.Clone(l.all) {
				if m.end(t); m.err == nil || !strings.Contains(m.err.Error(), logStream) {
					t.Errorf("%s has ended: %v", m.name, m.err)
				}
				l.forget(m)
			}
			if r, err := l.restore(false, b); !errors.Is(err, cluster.ErrIncomplete) || len(r.Missing) != 1 || !strings.HasSuffix(r.Missing[0], a.job) {
				t.Errorf("without the folder of the giver: %+v, %v", r, err)
			}
			if r, err := l.restore(false, b, a); err != nil || r.Without > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			l.join("b")
			l.finish(nil)
		})
	}
}

// deletesAtMove has the logs deleted when the next partition gets another owner. Then moved is
// closed.
func (l *loss) deletesAtMove() (moved chan struct{}) {
	l.t.Helper()
	bucket, err := l.js.KeyValue(l.t.Context(), "weft_test")
	if err != nil {
		l.t.Fatal(err)
	}
	w, err := bucket.Watch(l.t.Context(), "part.*", jetstream.UpdatesOnly())
	if err != nil {
		l.t.Fatal(err)
	}
	moved = make(chan struct{})
	go func() {
		defer close(moved)
		<-w.Updates()
		if err := l.js.DeleteStream(l.t.Context(), logStream); err != nil {
			l.t.Error(err)
		}
	}()
	return moved
}

// TestRestoreIncomplete: if a folder is missing, nothing is written. A forced restore writes what
// the other folders have, and the crawl continues with that.
func TestRestoreIncomplete(t *testing.T) {
	t.Parallel()
	l := newLoss(t)
	a := l.join("a")
	a.until(t, 10)
	b := l.join("b")
	b.until(t, 10)
	killBoth(l.crawl, a, b) // one that leaves can give the other all it has
	for given, lost := range map[*member]string{a: linkStream, b: logStream} {
		l.delete([]string{lost})
		other := a
		if given == a {
			other = b
		}
		r, err := l.restore(false, given)
		if !errors.Is(err, cluster.ErrIncomplete) || len(r.Missing) != 1 || !strings.HasSuffix(r.Missing[0], other.job) || !strings.Contains(err.Error(), other.job) {
			t.Errorf("with the folder of %s: %+v, %v", given.name, r, err)
		}
	}
	if _, err := l.js.Stream(t.Context(), logStream); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("a restore that was refused has written a stream: %v", err)
	}
	if r, err := l.restore(true, a); err != nil || len(r.Missing) != 1 {
		t.Fatalf("forced: %+v, %v", r, err)
	}
	l.join("a")
	l.wait()
	if err := l.all[0].err; err != nil {
		t.Error(err)
	}
}

// loss is a crawl whose servers lose something.
type loss struct {
	*crawl
	js     jetstream.JetStream
	client *cluster.Client
}

func newLoss(t *testing.T) *loss {
	t.Helper()
	l := &loss{crawl: newCrawl(t, restorable())}
	conn, err := nats.Connect(l.servers.Servers[0])
	if err == nil {
		t.Cleanup(conn.Close)
		l.js, err = jetstream.New(conn)
	}
	if err == nil {
		l.client, err = cluster.Dial(t.Context(), l.servers)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.client.Close)
	return l
}

// onTheWay returns the links that no log has yet.
func (l *loss) onTheWay() map[string]bool {
	l.t.Helper()
	all, err := cluster.OnTheWay(l.t.Context(), l.servers)
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

// delete deletes streams.
func (l *loss) delete(streams []string) {
	l.t.Helper()
	for _, s := range streams {
		if err := l.js.DeleteStream(l.t.Context(), s); err != nil {
			l.t.Fatal(err)
		}
	}
}

// restore restores from the folders of nodes, also of killed ones, without waiting.
func (l *loss) restore(force bool, from ...*member) (cluster.Rebuilt, error) {
	l.t.Helper()
	var dirs []string
	for _, m := range from {
		dirs = append(dirs, m.job)
	}
	return l.client.Restore(l.t.Context(), dirs, force)
}

// interrupt has a restore fail after it has made a stream, as the servers take no log.
func (l *loss) interrupt(from ...*member) {
	l.t.Helper()
	if _, err := l.js.CreateStream(l.t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"weft.test.log.1"}}); err != nil {
		l.t.Fatal(err)
	}
	defer l.delete([]string{"other"})
	if r, err := l.restore(true, from...); !strings.Contains(errorText(err), "overlap") {
		l.t.Fatalf("%+v, %v", r, err)
	}
}

// finish waits for the end, and compares with the truth. What was done before is not fetched again.
func (l *loss) finish(before map[string]int) {
	l.t.Helper()
	l.wait()
	records := make(map[string]int)
	for _, job := range jobs(l.t, l.dir) {
		l.read(job, records)
	}
	for url := range l.web.Web.Truth(torture.Policy(0)) {
		if n := records[url]; n < 1 || n > 1+int(l.blows.Load()) || n > 1 && before[url] > 0 {
			l.t.Errorf("%s: %d records", url, n)
		}
	}
}
