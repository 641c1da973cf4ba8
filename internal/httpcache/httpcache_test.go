package httpcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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

// TestOnce: of many who want one response at once, one loads it; when that fails, another does.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1<<20, temp(t))
		n, begun := 0, make(chan struct{})
		results := make(chan error, 10)
		do := func() {
			res, _, err := c.Do(t.Context(), "a", func() (Response, time.Duration, error) {
				if n++; n == 1 {
					<-begun
					return Response{}, 0, errors.New("broken")
				}
				return Response{Status: 200, Body: []byte("body")}, time.Minute, nil
			})
			if err == nil && string(res.Body) != "body" {
				err = fmt.Errorf("body %q", res.Body)
			}
			results <- err
		}
		for range 10 {
			go do()
		}
		synctest.Wait()
		close(begun)
		failed := 0
		for range 10 {
			if err := <-results; err != nil {
				failed++
			}
		}
		if failed != 1 || n != 2 {
			t.Errorf("%d of ten have failed, loaded %d times, expected 1 and 2", failed, n)
		}
		c.now = func() time.Time { return time.Now().Add(2 * time.Minute) } // it is too old
		do()
		if n != 3 {
			t.Errorf("loaded %d times, expected once more when it is too old", n)
		}
	})
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
