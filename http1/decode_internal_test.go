package http1

import (
	"errors"
	"runtime"
	"strings"
	"testing"

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
			from, client, body := codingFor(t, c.Encoding), &Client{}, []byte(nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := client.undo(from, &body, c.Bytes, limit)
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
	client, body := &Client{}, []byte(nil)
	err := client.undo(coding{"x", func(*decoders, []byte, []byte, int) ([]byte, error) {
		var none []byte
		return none[1:2], nil
	}}, &body, []byte("hello"), 100)
	if err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("%v", err)
	}
	for _, c := range conformance.Cases[compressed](t, "compress.jsonl") {
		if c.Kind == "ok" && !strings.Contains(c.Encoding, ",") {
			if body = body[:0]; client.undo(codingFor(t, c.Encoding), &body, c.Bytes, 1<<20) != nil {
				t.Error(c.ID, err)
			}
		}
	}
}
