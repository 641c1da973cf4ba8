package engine_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// shortNet is a network without free file descriptors until a given time, for all addresses or one.
// It counts connection attempts.
type shortNet struct {
	*aiotest.Net
	until time.Duration
	only  string
	tried map[string]int
}

func (n shortNet) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	n.tried[to.String()]++
	if task.Loop().Now().Sub(aiotest.Epoch) < n.until && (n.only == "" || n.only == to.String()) {
		return nil, syscall.EMFILE
	}
	return n.Net.Connect(task, to)
}

// TestShortage checks that URLs wait up to a minute while this machine lacks a resource, which does
// not count as a try. After that the shortage is their error, and the crawl ends.
func TestShortage(t *testing.T) {
	for _, c := range []struct {
		name     string
		until    time.Duration
		noRobots bool
		kind     string
		tries    int
		most     time.Duration
	}{
		{"passes", 20 * time.Second, true, "connect", 1, 25 * time.Second},
		{"passes, with robots.txt", 20 * time.Second, false, "connect", 0, 25 * time.Second},
		{"lasts", time.Hour, true, "resource", 1, 65 * time.Second},
		{"lasts, with robots.txt", time.Hour, false, "resource", 0, 65 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := shortNet{aiotest.NewNet(aiotest.NetOptions{}), c.until, "", make(map[string]int)}
			n.Host("a.test", "10.0.0.1") // where nothing listens
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n})
			job := filepath.Join(t.TempDir(), "job")
			crawl, err := weft.New(weft.Options{Seeds: []string{"http://a.test/"}, Job: job, Reach: weft.Reach{NoRobots: c.noRobots}, Pace: weft.Pace{Retries: -1}})
			if err != nil {
				t.Fatal(err)
			}
			var sum weft.Summary
			err = loop.Run(context.Background(), func(task *aio.Task) (err error) {
				sum, err = crawl.RunOn(task)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			r := crawltest.Records(t, job)["http://a.test/"]
			if r.ErrorKind != c.kind || r.Tries != c.tries || !sum.Finished || sum.Elapsed > c.most {
				t.Errorf("after %v: record %+v", sum.Elapsed, r)
			}
			if attempts := n.tried["10.0.0.1:80"]; attempts > 65 {
				t.Errorf("%d connection attempts, expected at most 65", attempts)
			}
		})
	}
}

// TestShortageOfOne: a URL that time and again finds no descriptor waits for as long as others find
// one, which is longer than a shortage that holds for all.
func TestShortageOfOne(t *testing.T) {
	n := shortNet{aiotest.NewNet(aiotest.NetOptions{}), 150 * time.Second, "10.0.0.1:80", make(map[string]int)}
	n.Host("a.test", "10.0.0.1") // where nothing listens
	seeds := []string{"http://a.test/"}
	for i := range 100 {
		host := fmt.Sprintf("b%02d.test", i)
		n.Host(host, fmt.Sprintf("10.0.1.%d", i))
		seeds = append(seeds, "http://"+host+"/")
	}
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n})
	kinds := make(map[string]string)
	crawl, err := weft.New(weft.Options{
		Seeds: seeds, Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{Retries: -1, RateLimit: 0.5},
		Hooks: weft.Hooks{OnRecord: func(r *weft.Record) { kinds[r.URL] = r.ErrorKind }},
	})
	if err != nil {
		t.Fatal(err)
	}
	var sum weft.Summary
	err = loop.Run(context.Background(), func(task *aio.Task) (err error) {
		sum, err = crawl.RunOn(task)
		return err
	})
	if err != nil || !sum.Finished || kinds["http://a.test/"] != "connect" {
		t.Errorf("%v after %v: %d tries, %q", err, sum.Elapsed, n.tried["10.0.0.1:80"], kinds["http://a.test/"])
	}
}
