package httpclient

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/conformance"
)

// compressed is a case of compress.jsonl.
type compressed struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"` // "ok", "error", "bomb"
	Encoding string `json:"encoding"`
	Bytes    []byte `json:"bytes_b64"`
}

// codingFor returns the only coding of a Content-Encoding.
func codingFor(t testing.TB, name string) coding {
	t.Helper()
	all, err := codingsOf(name)
	if err != nil || len(all) != 1 {
		t.Fatalf("%q: %d codings, %v", name, len(all), err)
	}
	return all[0]
}

// TestBombsAreCheap checks that a new client's allocations for a bomb are bounded by the limit,
// not by the bomb: each buffer is at least a quarter longer than the previous one, so together
// they are at most five times the limit; a decoder's tables and window come on top.
func TestBombsAreCheap(t *testing.T) {
	const limit = 1 << 20
	decoder := map[string]uint64{"gzip": 64 << 10, "deflate": 64 << 10, "br": 18 << 20, "zstd": 4 << 20}
	bombs := 0
	for _, c := range conformance.Cases[compressed](t, "compress.jsonl") {
		if c.Kind != "bomb" {
			continue
		}
		bombs++
		t.Run(c.ID, func(t *testing.T) {
			from, d, body := codingFor(t, c.Encoding), new(decoders), []byte(nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := d.decode(from, &body, c.Bytes, limit)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, errBomb) || len(body) != limit {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			took := after.TotalAlloc - before.TotalAlloc
			if want := 5*limit + decoder[c.Encoding]; took > want {
				t.Errorf("%d bytes allocated for %d, expected at most %d", took, len(c.Bytes), want)
			}
			t.Logf("%d bytes allocated for %d", took, len(c.Bytes))
		})
	}
	if bombs != 4 {
		t.Errorf("%d bombs, want 4", bombs)
	}
}

// TestDecoderThatPanics checks that a panic is an error of the body, and the next body is decoded.
func TestDecoderThatPanics(t *testing.T) {
	d, body := new(decoders), []byte(nil)
	err := d.decode(coding{"x", func(*decoders, []byte, []byte, int) ([]byte, error) {
		var none []byte
		return none[1:2], nil
	}, expectLikely}, &body, []byte("hello"), 100)
	if err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("%v", err)
	}
	for _, c := range conformance.Cases[compressed](t, "compress.jsonl") {
		if c.Kind == "ok" && !strings.Contains(c.Encoding, ",") {
			if body = body[:0]; d.decode(codingFor(t, c.Encoding), &body, c.Bytes, 1<<20) != nil {
				t.Error(c.ID, err)
			}
		}
	}
}

// TestLongSourceIsDecodedOffTheLoop checks that the loop continues while a long source is decoded.
// A source of 256 KiB is decoded on the loop.
func TestLongSourceIsDecodedOffTheLoop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a last resort
	defer cancel()
	for _, n := range []int{longSource, longSource + 1} {
		err := aio.Run(t.Context(), func(task *aio.Task) error {
			c := NewClient(task.Loop(), Options{})
			defer c.Close()
			offLoop, turned := false, make(chan struct{})
			task.Loop().CallSoon(func() { close(turned) })
			body := make([]byte, n)
			cn := &exchange{client: c, arrival: &arrival{parser: parser{res: &Response{Body: body, whole: &body, from: &c.wire}}}}
			waits := coding{"x", func(_ *decoders, dst, _ []byte, _ int) ([]byte, error) {
				if n > longSource {
					select {
					case <-turned:
						offLoop = true
					case <-ctx.Done():
					}
				}
				return append(dst, "text"...), nil
			}, expectLikely}
			if err := cn.decodeStep(task, waits, 1<<20, &limit{}); err != nil {
				return err
			}
			if body := cn.parser.res.Body; string(body) != "text" || offLoop != (n > longSource) {
				t.Errorf("%d bytes: %q, off the loop %v", n, body, offLoop)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestEmptyBlocksCountForTheTurn checks that a source that yields nothing uses up the turn's quota
// too.
func TestEmptyBlocksCountForTheTurn(t *testing.T) {
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		c := NewClient(task.Loop(), Options{})
		defer c.Close()
		nothing := coding{"x", func(_ *decoders, dst, _ []byte, _ int) ([]byte, error) { return dst, nil }, expectLikely}
		for range 2 {
			body := make([]byte, longSource)
			cn := &exchange{client: c, arrival: &arrival{parser: parser{res: &Response{Body: body, whole: &body, from: &c.wire}}}}
			if err := cn.decodeStep(task, nothing, 1<<20, &limit{}); err != nil {
				return err
			}
			if c.decoding.Free() {
				t.Error("there is time for another one in this turn")
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTimeoutWhileDecoding checks that a task waits for its turn to decode no longer than for the
// response.
func TestTimeoutWhileDecoding(t *testing.T) {
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		c := NewClient(task.Loop(), Options{})
		defer c.Close()
		if err := c.offLoop.turn.Lock(task); err != nil { // another body is being decoded
			return err
		}
		nothing := coding{"x", func(_ *decoders, dst, _ []byte, _ int) ([]byte, error) { return dst, nil }, expectLikely}
		return task.Group(func(g *aio.Group) error {
			g.Go("waits", func(task *aio.Task) error {
				body := make([]byte, longSource+1)
				cn := &exchange{client: c, arrival: &arrival{parser: parser{res: &Response{Body: body, whole: &body, from: &c.wire}}}}
				total := limit{}.within(time.Millisecond, c.loop.Now(), KindTimeout)
				if err := cn.decodeStep(task, nothing, 1<<20, &total); err == nil || err.Kind != KindTimeout {
					t.Errorf("%v, expected kind timeout", err)
				}
				return nil
			})
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
