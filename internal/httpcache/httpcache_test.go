package httpcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/httpclient"
)

func temp(t *testing.T) func() (*os.File, error) {
	return func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") }
}

func loads(body string, n *int) func() (Response, time.Duration, error) {
	return func() (Response, time.Duration, error) {
		*n++
		return Response{Status: 200, Body: []byte(body)}, time.Minute, nil
	}
}

// TestOnce: of many who want one response at once, one loads it, and the others wait for that at
// most: they share a kept response, and a failure, unless the loader itself has ended.
func TestOnce(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name     string
		lifetime time.Duration
		err      error
		leaves   bool // the first one
		loads    int
		fail     int
		took     time.Duration
	}{
		{"kept", time.Minute, nil, false, 1, 0, time.Second},
		{"for one", 0, nil, false, 10, 0, 2 * time.Second},
		{"failed", 0, broken, false, 1, 10, time.Second},
		{"left", time.Minute, nil, true, 2, 1, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			cache, begun := New(1<<20, temp(t)), time.Now()
			var loads, failed atomic.Int32
			load := func(ctx context.Context) func() (Response, time.Duration, error) {
				return func() (Response, time.Duration, error) {
					loads.Add(1)
					wait, end := context.WithTimeout(context.Background(), time.Second)
					defer end()
					<-wait.Done()
					return Response{Status: 200, Body: []byte("body")}, c.lifetime, cmp.Or(ctx.Err(), c.err)
				}
			}
			var all sync.WaitGroup
			do := func(ctx context.Context) {
				all.Go(func() {
					if res, _, err := cache.Do(ctx, "a", load(ctx)); err != nil {
						failed.Add(1)
					} else if string(res.Body) != "body" {
						t.Errorf("%s: body %q", c.name, res.Body)
					}
				})
			}
			first, leave := context.WithCancel(t.Context())
			defer leave()
			do(first)
			synctest.Wait()
			for range 9 {
				do(t.Context())
			}
			synctest.Wait()
			if c.leaves {
				leave()
			}
			all.Wait()
			if took := time.Since(begun); int(loads.Load()) != c.loads || int(failed.Load()) != c.fail || took != c.took {
				t.Errorf("%s: loaded %d times, %d of ten have failed, after %v; expected %d, %d, %v", c.name, loads.Load(), failed.Load(), took, c.loads, c.fail, c.took)
			}
		})
	}
}

// TestOld: what is too old is loaded once more.
func TestOld(t *testing.T) {
	c, n := New(1<<20, temp(t)), 0
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			c.now = func() time.Time { return time.Now().Add(2 * time.Minute) }
		}
		if _, _, err := c.Do(t.Context(), "a", loads("body", &n)); err != nil || n != want {
			t.Errorf("loaded %d times, expected %d; %v", n, want, err)
		}
	}
}

// TestWait: whoever waits for a response that another loads stops with its context.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1<<20, temp(t))
		end := make(chan struct{})
		go c.Do(t.Context(), "a", func() (Response, time.Duration, error) {
			<-end
			return Response{}, 0, nil
		})
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, _, err := c.Do(ctx, "a", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		close(end)
	})
}

// TestSpill: what memory does not hold comes from the file, and from load when that has no room.
func TestSpill(t *testing.T) {
	c := New(1<<20, temp(t))
	n := 0
	body := func(i int) string { return strings.Repeat(fmt.Sprint(i%10), 100_000) }
	for round := range 2 {
		for i := range 50 {
			res, kept, err := c.Do(t.Context(), fmt.Sprint(i), loads(body(i), &n))
			if err != nil || string(res.Body) != body(i) || kept != (round == 1) {
				t.Fatalf("round %d, %d: %d bytes, kept %t, %v", round, i, len(res.Body), kept, err)
			}
			if c.memory > c.most {
				t.Fatalf("%d bytes in memory", c.memory)
			}
		}
	}
	full := New(1<<20, func() (*os.File, error) { return nil, errors.New("disk full") })
	for i := range 50 {
		if res, _, err := full.Do(t.Context(), fmt.Sprint(i), loads(body(i), &n)); err != nil || string(res.Body) != body(i) || full.memory > full.most {
			t.Fatalf("without a file, %d: %v, %d bytes in memory", i, err, full.memory)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestLifetime(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		header string
		asset  bool
		want   time.Duration
	}{
		{status: 200, want: 0},
		{status: 200, asset: true, want: time.Hour},
		{status: 404, asset: true, want: time.Hour},
		{status: 404, header: "Cache-Control: max-age=10", want: 0},
		{status: 503, asset: true, want: 0},
		{status: 200, header: "Cache-Control: max-age=60", want: time.Minute},
		{status: 200, header: "Cache-Control: public, max-age=7200", asset: true, want: 2 * time.Hour},
		{status: 200, header: "Cache-Control: max-age=60, no-store", asset: true, want: 0},
		{status: 200, header: "Cache-Control: no-cache, max-age=60", want: 0},
		{status: 200, header: "Cache-Control: no-cache", asset: true, want: time.Hour},
		{status: 200, header: "Cache-Control: max-age=99999999", want: 7 * 24 * time.Hour},
		{status: 200, header: "Cache-Control: max-age=x", want: 0},
		{status: 200, header: "Expires: Sun, 29 Nov 2026 12:10:00 GMT", want: 10 * time.Minute},
		{status: 200, header: "Expires: 0", want: 0},
		{status: 200, header: "Vary: *", asset: true, want: 0},
		{status: 200, header: "Vary: Accept-Encoding, Origin", asset: true, want: time.Hour},
		{status: 200, header: "Vary: Cookie", asset: true, want: 0},
		{status: 200, header: "Vary: Accept, Cookie", asset: true, want: 0},
		{status: 200, header: "Vary: Accept", asset: true, want: time.Hour},
	} {
		r := Response{Status: c.status}
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			r.Header = httpclient.Header{{Name: name, Value: value}}
		}
		if got := Lifetime(&r, c.asset, now); got != c.want {
			t.Errorf("%d, %q, asset %t: %v, expected %v", c.status, c.header, c.asset, got, c.want)
		}
	}
}
