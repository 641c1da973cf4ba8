package http1

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/weftcrawl/weft/internal/conformance"
)

// TestZeroOffset: of frames of all kinds all sequences are read, to the last bit, and nothing
// is found; but in the one of the suite that has it.
func TestZeroOffset(t *testing.T) {
	for _, c := range conformance.Cases[compressed](t, "compress.jsonl") {
		if c.Encoding == "zstd" && c.Kind != "bomb" {
			found, whole := zeroOffset(c.Bytes, 1<<20)
			if found != (c.ID == "zstd/off0.bin.zst") || c.Kind == "ok" && !whole {
				t.Errorf("%s: found %v, whole %v", c.ID, found, whole)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the a of <li> <a href=\"/page.html\"> </a></li> class=\"x\" page one two three \n\n\n crawl aaaa bbbbbbbb")
	for _, n := range []int{1, 10, 100, 1_000, 10_000, 300_000} {
		var text bytes.Buffer
		for text.Len() < n {
			text.WriteString(words[random.IntN(1+random.IntN(len(words)))])
			if random.IntN(20) == 0 {
				fmt.Fprint(&text, random.Uint64())
			}
		}
		for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
			w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			src := w.EncodeAll(text.Bytes(), nil)
			src = w.EncodeAll(text.Bytes()[:text.Len()/2], src) // a second frame
			if found, whole := zeroOffset(src, text.Len()); found || !whole {
				t.Errorf("%d bytes, %v: found %v, whole %v", text.Len(), level, found, whole)
			}
			w.Close()
		}
	}
}
