package crawltest

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
)

// Finish runs a crawl to its end.
func Finish(t *testing.T, o weft.Options) weft.Summary {
	t.Helper()
	sum := Crawl(t, o)
	if !sum.Finished {
		t.Fatalf("summary %+v, expected a finished crawl", sum)
	}
	return sum
}

// New is weft.New for a crawl that differs from its options.
func New(t *testing.T, o weft.Options, changes ...func(*crawl.Config)) *crawl.Crawl {
	t.Helper()
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(cfg)
	}
	c, err := crawl.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Crowded leaves room in memory for so many URLs of an origin, and for next to no fingerprints and
// hosts.
func Crowded(heads int) func(*crawl.Config) {
	return func(c *crawl.Config) {
		f := &c.Engine.Frontier
		f.Heads, f.SeenBytes, f.HostBytes = heads, 1, 1
	}
}

// Crawl runs a crawl.
func Crawl(t *testing.T, o weft.Options, changes ...func(*crawl.Config)) weft.Summary {
	t.Helper()
	c := New(t, o, changes...)
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// CrawlOnce runs a crawl without retries.
func CrawlOnce(t *testing.T, o weft.Options, changes ...func(*crawl.Config)) weft.Summary {
	t.Helper()
	o.Pace.Retries = -1
	return Crawl(t, o, changes...)
}

// CrawlServed crawls over an in-memory network on which serve has every connection to port 80. It
// calls with before the crawl runs.
func CrawlServed(t *testing.T, netw *aiotest.Net, o weft.Options, serve func(*aio.Task, aio.Conn) error, with func(*aio.Loop, *crawl.Crawl), changes ...func(*crawl.Config)) (map[string]weft.Record, weft.Summary) {
	t.Helper()
	return CrawlOn(t, aiotest.NewClock(), netw, o, serve, with, changes...)
}

// CrawlOn is CrawlServed on a clock of the caller.
func CrawlOn(t *testing.T, clock *aiotest.Clock, netw *aiotest.Net, o weft.Options, serve func(*aio.Task, aio.Conn) error, with func(*aio.Loop, *crawl.Crawl), changes ...func(*crawl.Config)) (map[string]weft.Record, weft.Summary) {
	t.Helper()
	if o.Job == "" {
		o.Job = filepath.Join(t.TempDir(), "job")
	}
	loop := aio.NewLoop(aio.Options{Clock: clock, Network: netw})
	sum := run(t, loop, New(t, o, changes...), []string{"80"}, func(task *aio.Task, ln aio.Listener) error {
		return accept(task, ln, func(task *aio.Task, conn aio.Conn) error {
			defer conn.Close()
			return serve(task, conn)
		})
	}, with)
	if open := netw.Open(); len(open) > 0 {
		t.Errorf("connections left open: %v", open)
	}
	return Records(t, o.Job), sum
}

// run runs a crawl on a loop, beside a server for each port. It calls with before the crawl runs.
func run(t *testing.T, loop *aio.Loop, c *crawl.Crawl, ports []string, serve func(*aio.Task, aio.Listener) error, with func(*aio.Loop, *crawl.Crawl)) weft.Summary {
	t.Helper()
	var sum weft.Summary
	err := loop.Run(context.Background(), func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			for _, port := range ports {
				ln, err := aio.Listen(task, "tcp", ":"+port)
				if err != nil {
					return err
				}
				defer ln.Close()
				g.Go("port "+port, func(task *aio.Task) error { return serve(task, ln) })
			}
			with(loop, c)
			var err error
			sum, err = c.RunOn(task)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// accept gives serve each connection until ln is closed.
func accept(task *aio.Task, ln aio.Listener, serve func(*aio.Task, aio.Conn) error) error {
	return task.Group(func(g *aio.Group) error {
		for {
			conn, err := ln.Accept(task)
			if err != nil {
				return Ignore(err, aio.ErrClosed)
			}
			g.Go("server", func(task *aio.Task) error { return serve(task, conn) })
		}
	})
}

// Ignore returns err unless it is the known one.
func Ignore(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}
