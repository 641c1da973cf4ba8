package aiotest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestLossDelaysButKeepsTheStream(t *testing.T) {
	page := make([]byte, 300_000)
	for i := range page {
		page[i] = byte(i ^ i>>8 ^ i>>16)
	}
	var took [2]time.Duration
	for i, loss := range []float64{0, 0.1} {
		n := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: tick, Jitter: tick, Loss: loss})
		between(t, n, func(task *aio.Task, c aio.Conn) error {
			if _, err := c.Write(task, page); err != nil {
				return err
			}
			return c.CloseWrite()
		}, func(task *aio.Task, c aio.Conn) error {
			got, err := io.ReadAll(aio.NewNetConn(task, c))
			took[i] = elapsed(task)
			return errors.Join(err, expect("the page as it was sent", bytes.Equal(got, page), true))
		})
	}
	if took[1] < took[0]+200*time.Millisecond {
		t.Errorf("took %v with loss, %v without: want a retransmission time-out more at least", took[1], took[0])
	}
}

// A lost SYN is sent again after 1 s, then 2, 4, and so on.
func TestLossDelaysConnecting(t *testing.T) {
	allowed := map[time.Duration]int{}
	for i := range 7 {
		allowed[time.Duration(1<<i-1)*time.Second] = 0
	}
	for seed := range uint64(50) {
		n := aiotest.NewNet(aiotest.NetOptions{Seed: seed, Loss: 0.5})
		n.Run(t, func(task *aio.Task) error {
			_, err := n.Connect(task, web)
			if errors.Is(err, syscall.ETIMEDOUT) {
				return expect("gave up after", elapsed(task), 127*time.Second)
			}
			if _, ok := allowed[elapsed(task)]; !ok {
				return fmt.Errorf("seed %d: answered after %v", seed, elapsed(task))
			}
			allowed[elapsed(task)]++
			return expect("error", err, syscall.ECONNREFUSED)
		})
	}
	if allowed[0] == 0 || allowed[time.Second] == 0 || allowed[3*time.Second] == 0 {
		t.Errorf("connects by delay: %v, want some that were not delayed and some that were", allowed)
	}
}

func TestResetBreaksBothEnds(t *testing.T) {
	talk := func(broke *int) func(task *aio.Task, c aio.Conn) error {
		return func(task *aio.Task, c aio.Conn) error {
			buf := make([]byte, 100)
			for {
				_, writeErr := c.Write(task, buf)
				_, readErr := c.Read(task, buf)
				if writeErr == nil && readErr == nil {
					continue
				}
				*broke++
				_, again := c.Write(task, buf) // and stays broken
				return errors.Join(expect("read", readErr, syscall.ECONNRESET), expect("next write", again, syscall.ECONNRESET))
			}
		}
	}
	for seed := range uint64(10) {
		broke := 0
		n := aiotest.NewNet(aiotest.NetOptions{Seed: seed, Latency: tick, Reset: 0.05})
		between(t, n, talk(&broke), talk(&broke))
		if broke != 2 {
			t.Errorf("seed %d: %d ends got the reset, want both", seed, broke)
		}
	}
}

// traced runs a program with a good deal of everything and returns its trace.
func traced(t *testing.T, seed uint64) string {
	t.Helper()
	n := aiotest.NewNet(aiotest.NetOptions{
		Seed: seed, Latency: tick, Jitter: 3 * tick, Loss: 0.05, Reset: 0.001, Buffer: 4000,
	})
	n.Host("www.example", "2001:db8::1", web.IP.String())
	n.Blackhole("2001:db8::1")
	var trace aiotest.Trace
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n, Trace: trace.Record})
	err := loop.Run(context.Background(), func(task *aio.Task) error {
		ln, err := n.Listen(task, web)
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			g.Go("listener", func(task *aio.Task) error {
				for {
					c, err := ln.Accept(task)
					if err != nil {
						return err
					}
					g.Go("server of "+c.RemoteAddr().String(), func(task *aio.Task) error {
						defer c.Close()
						// May be reset.
						_, _ = io.Copy(aio.NewNetConn(task, c), io.LimitReader(aio.NewNetConn(task, c), 20_000))
						return nil
					})
				}
			})
			err := task.Group(func(g *aio.Group) error {
				for i := range 4 {
					g.Go(fmt.Sprintf("client %d", i), func(task *aio.Task) error {
						c, err := aio.Dial(task, "tcp", "www.example:80")
						if err != nil {
							return nil // random
						}
						defer c.Close()
						return task.Group(func(g *aio.Group) error {
							g.Go("reader", func(task *aio.Task) error {
								_, _ = io.Copy(io.Discard, aio.NewNetConn(task, c))
								return nil
							})
							_, _ = c.Write(task, make([]byte, 20_000))
							_ = c.CloseWrite()
							return nil
						})
					})
				}
				return nil
			})
			g.Cancel()
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return trace.String()
}

func TestTheSeedDecidesEverything(t *testing.T) {
	want := traced(t, 1)
	for range 20 {
		if got := traced(t, 1); got != want {
			t.Fatalf("two runs on one seed differ:\n%s\n----\n%s", got, want)
		}
	}
	if traced(t, 2) == want {
		t.Error("two seeds give the same trace")
	}
}
