package http1

import (
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

// codingFor is the only one of a Content-Encoding.
func codingFor(t testing.TB, name string) coding {
	t.Helper()
	all, err := codingsOf(name)
	if err != nil || len(all) != 1 {
		t.Fatalf("%q: %d codings, %v", name, len(all), err)
	}
	return all[0]
}

// TestBombsAreCheap: what a bomb has a new client allocate in all is bounded by what it may
// become, not by what it would: each buffer is a quarter longer than the one before, or more,
// so all of them are at most five times the limit; beside them there are a decoder's tables
// and window.
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

// TestDecoderThatPanics: it is an error of the body, and the next body is decoded.
func TestDecoderThatPanics(t *testing.T) {
	d, body := new(decoders), []byte(nil)
	err := d.decode(coding{"x", func(*decoders, []byte, []byte, int) ([]byte, error) {
		var none []byte
		return none[1:2], nil
	}}, &body, []byte("hello"), 100)
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

// TestLongSourceIsDecodedBesideTheLoop: the loop goes on while it is. One of 256 KiB is decoded
// on it.
func TestLongSourceIsDecodedBesideTheLoop(t *testing.T) {
	for _, n := range []int{longSource, longSource + 1} {
		err := aio.Run(t.Context(), func(task *aio.Task) error {
			c := NewClient(task.Loop(), Options{})
			defer c.Close()
			beside, turned := false, make(chan struct{})
			task.Loop().CallSoon(func() { close(turned) })
			body := make([]byte, n)
			cn := &conn{client: c, parser: parser{res: &Response{Body: body, whole: &body, from: &c.wire}}}
			waits := coding{"x", func(_ *decoders, dst, _ []byte, _ int) ([]byte, error) {
				if n > longSource {
					select {
					case <-turned:
						beside = true
					case <-time.After(10 * time.Second):
					}
				}
				return append(dst, "text"...), nil
			}}
			if err := cn.decodeStep(task, waits, 1<<20, &limit{}); err != nil {
				return err
			}
			if body := cn.parser.res.Body; string(body) != "text" || beside != (n > longSource) {
				t.Errorf("%d bytes: %q, beside the loop %v", n, body, beside)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestEmptyBlocksCountForTheTurn: a source that becomes nothing takes time all the same.
func TestEmptyBlocksCountForTheTurn(t *testing.T) {
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		c := NewClient(task.Loop(), Options{})
		defer c.Close()
		nothing := coding{"x", func(_ *decoders, dst, _ []byte, _ int) ([]byte, error) { return dst, nil }}
		for range 2 {
			body := make([]byte, longSource)
			cn := &conn{client: c, parser: parser{res: &Response{Body: body, whole: &body, from: &c.wire}}}
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

// TestTimeoutWhileDecoding: who waits for a turn to decode waits no longer than for the answer.
func TestTimeoutWhileDecoding(t *testing.T) {
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		c := NewClient(task.Loop(), Options{})
		defer c.Close()
		if err := c.offLoop.turn.Lock(task); err != nil { // another one is decoded
			return err
		}
		nothing := coding{"x", func(_ *decoders, dst, _ []byte, _ int) ([]byte, error) { return dst, nil }}
		return task.Group(func(g *aio.Group) error {
			g.Go("waits", func(task *aio.Task) error {
				body := make([]byte, longSource+1)
				cn := &conn{client: c, parser: parser{res: &Response{Body: body, whole: &body, from: &c.wire}}}
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
