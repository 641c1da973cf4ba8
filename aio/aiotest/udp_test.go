package aiotest_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

var echoAt = netip.MustParseAddrPort("192.0.2.1:7")

// echoes sends datagrams 0 to 99 to a server that sends each back, twice, and returns whatever
// arrives until nothing more does.
func echoes(t *testing.T, opt aiotest.NetOptions) (got []byte, took time.Duration) {
	n := aiotest.NewNet(opt)
	n.AnswerUDP(echoAt.String(), func(datagram []byte, reply func([]byte)) {
		reply(datagram)
		reply(datagram)
	})
	n.Run(t, func(task *aio.Task) error {
		c, err := aio.DialUDP(task, echoAt)
		if err != nil {
			return err
		}
		defer c.Close()
		for i := range 100 {
			if _, err := c.Write(task, []byte{byte(i)}); err != nil {
				return err
			}
		}
		_ = c.SetReadDeadline(task.Loop().Now().Add(time.Second))
		for {
			var b [1]byte
			_, err := c.Read(task, b[:])
			if errors.Is(err, aio.ErrTimeout) {
				return nil
			}
			if err != nil {
				return err
			}
			got, took = append(got, b[0]), elapsed(task)
		}
	})
	return got, took
}

func TestUDP(t *testing.T) {
	got, took := echoes(t, aiotest.NetOptions{Latency: tick})
	if len(got) != 200 || !slices.IsSorted(got) || took != 2*tick {
		t.Errorf("%d datagrams, in order: %t, after %v", len(got), slices.IsSorted(got), took)
	}
	got, _ = echoes(t, aiotest.NetOptions{Latency: tick, Jitter: tick})
	if len(got) != 200 || slices.IsSorted(got) {
		t.Errorf("with jitter %d datagrams, in order: %t, want 200, not in order", len(got), slices.IsSorted(got))
	}
	got, _ = echoes(t, aiotest.NetOptions{Loss: 0.5})
	if n := len(got); n < 25 || n > 75 {
		t.Errorf("half the datagrams lost each way: %d of 200 came back", n)
	}
	if again, _ := echoes(t, aiotest.NetOptions{Loss: 0.5}); !slices.Equal(got, again) {
		t.Error("two runs from one seed differ")
	}
	if got, _ := echoes(t, aiotest.NetOptions{Buffer: 10}); len(got) != 10 {
		t.Errorf("a buffer of 10 bytes held %d", len(got))
	}
}

func TestUDPBlackhole(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{})
	n.Blackhole(echoAt.Addr().String())
	n.Run(t, func(task *aio.Task) error {
		c, err := aio.DialUDP(task, echoAt)
		if err != nil {
			return err
		}
		if got := fmt.Sprint(n.Open()); got != "[datagram socket to 192.0.2.1:7]" {
			t.Errorf("open: %s", got)
		}
		defer c.Close()
		if _, err := c.Write(task, []byte("x")); err != nil {
			return err
		}
		_ = c.SetDeadline(task.Loop().Now().Add(tick))
		if err := c.WaitReadable(task); !errors.Is(err, aio.ErrTimeout) || elapsed(task) != tick {
			t.Errorf("got %v after %v, want a time-out", err, elapsed(task))
		}
		return nil
	})
}
