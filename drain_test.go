package weft_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// drip sends the head of a response, a byte a second.
func drip(task *aio.Task, conn aio.Conn) error {
	defer conn.Close()
	for i := 0; ; i++ {
		if _, err := conn.Write(task, []byte{fmt.Sprintf("HTTP/1.1 200 OK\r\nX: %01000d", 0)[i%1000]}); err != nil {
			return nil // the crawler has left
		}
		if err := task.Sleep(time.Second); err != nil {
			return err
		}
	}
}

// TestDrainIsBounded checks that a drained crawl breaks off what is still in flight after ten
// seconds, and that those URLs stay pending, untried.
func TestDrainIsBounded(t *testing.T) {
	const hosts = 40
	for name, maxTime := range map[string]time.Duration{"Drain": 0, "MaxTime": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			netw := aiotest.NewNet(aiotest.NetOptions{})
			o := weft.Options{Job: filepath.Join(t.TempDir(), "job"), Concurrency: hosts / 2, MaxTime: maxTime}
			for i := range hosts {
				netw.Host(fmt.Sprintf("h%d.test", i), fmt.Sprintf("10.0.0.%d", i+1))
				o.Seeds = append(o.Seeds, fmt.Sprintf("http://h%d.test/", i))
			}
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})
			c, err := weft.New(o)
			if err != nil {
				t.Fatal(err)
			}
			var sum weft.Summary
			err = loop.Run(context.Background(), func(task *aio.Task) error {
				ln, err := aio.Listen(task, "tcp", ":80")
				if err != nil {
					return err
				}
				return task.Group(func(g *aio.Group) error {
					g.Go("servers", func(task *aio.Task) error {
						return task.Group(func(g *aio.Group) error {
							for {
								conn, err := ln.Accept(task)
								if errors.Is(err, aio.ErrClosed) {
									return nil
								} else if err != nil {
									return err
								}
								g.Go("server", func(task *aio.Task) error { return drip(task, conn) })
							}
						})
					})
					defer ln.Close()
					if maxTime == 0 {
						loop.CallLater(5*time.Second, c.Drain)
					}
					sum, err = c.RunOn(task)
					return err
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if sum.Elapsed < 15*time.Second || sum.Elapsed > 16*time.Second || sum.Pending != hosts || len(records(t, o.Job)) > 0 {
				t.Errorf("after %v: %d records, %d pending, expected all %d after 15 s", sum.Elapsed, len(records(t, o.Job)), sum.Pending, hosts)
			}
			if open := netw.Open(); len(open) > 0 {
				t.Errorf("connections left open: %v", open)
			}
		})
	}
}
