package inflate_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/inflate"
)

// deflate returns text as a stream.
func deflate(t testing.TB, level int, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// texts cover the elements of streams: literals, matches near, far and overlapping, all lengths,
// and incompressible data.
func texts() map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var lengths strings.Builder
	for n := range 300 {
		lengths.Write(noise[:n])
		lengths.WriteByte(byte(n))
	}
	var skewed strings.Builder // codes of all lengths, 15 bits among them
	for i := range 16 {
		skewed.WriteString(strings.Repeat(string(rune('a'+i)), 3<<i/2))
		skewed.Write(noise[i*7 : i*7+i])
	}
	return map[string]string{
		"empty":   "",
		"a byte":  "a",
		"short":   "hello, hello",
		"zeros":   strings.Repeat("\x00", 100_000),
		"pairs":   strings.Repeat("ab", 50_000),
		"sevens":  strings.Repeat("abcdefg", 10_000),
		"markup":  strings.Repeat("<li><a href=\"/page/1.html\">one</a></li>\n<p class=x>", 2_000),
		"noise":   string(noise),
		"far":     string(noise[:32_768]) + string(noise[:32_768]) + "x",
		"lengths": lengths.String(),
		"skewed":  skewed.String(),
	}
}

func TestAppend(t *testing.T) {
	var d inflate.Decoder // one for all: what one stream leaves is not in the next
	for name, text := range texts() {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			t.Run(fmt.Sprintf("%s, level %d", name, level), func(t *testing.T) {
				src := deflate(t, level, text)
				got, used, err := d.Append([]byte("before "), append(src, " after"...), len(text))
				if string(got) != "before "+text || used != len(src) || err != nil {
					t.Fatalf("%d bytes of %d, %d of %d taken, %v", len(got), len(text), used, len(src), err)
				}
				if len(text) > 0 {
					limit := len(text) / 2
					got, _, err := d.Append(nil, src, limit)
					if string(got) != text[:limit] || !errors.Is(err, inflate.ErrTooLong) {
						t.Errorf("with a limit of %d: %d bytes, %v", limit, len(got), err)
					}
				}
				for _, n := range []int{0, 1, len(src) / 2, len(src) - 9, len(src) - 1} {
					if n < 0 || n >= len(src) {
						continue
					}
					got, _, err := d.Append(nil, src[:n], len(text))
					if !strings.HasPrefix(text, string(got)) || !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Errorf("cut at %d of %d: %d bytes, %v", n, len(src), len(got), err)
					}
				}
			})
		}
	}
}

// Each is wrong in one way. Streams are written as bits, in the order of reading.
func TestCorrupt(t *testing.T) {
	for _, c := range []struct{ name, bits string }{
		{"block of no type", "1 11"},
		{"stored: lengths that differ", "1 00 00000" + " 10000000 00000000 10000000 00000000"},
		{"fixed: length without a code", "1 10 11000110"},
		{"fixed: distance before the beginning", "1 10 00110000 0000001 00001 0000000"},
		{"fixed: distance without a code", "1 10 00110000 0000001 11110 0000000"},
		{"more than 286 lengths", "1 01 11111 00000 0000"},
		{"more than 30 distances", "1 01 00000 01111 0000"},
		{"too many codes", "1 01 00000 00000 0000 100 100 100 100"},
		{"too few codes", "1 01 00000 00000 0000 010 010 000 000"},
		{"again, but nothing before", "1 01 00000 00000 0000 100 100 000 000 0 00"},
		{"again, beyond the last", "1 01 00000 00000 0000 000 000 100 100 1 1111111 1 1111111 1 1111111"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var src []byte
			n := 0
			for _, bit := range strings.ReplaceAll(c.bits, " ", "") {
				if n%8 == 0 {
					src = append(src, 0)
				}
				src[n/8] |= byte(bit-'0') << (n % 8)
				n++
			}
			src = append(src, make([]byte, 64)...)
			var d inflate.Decoder
			// With room in dst the decoder takes another path; earlier bytes are no history.
			for _, dst := range [][]byte{nil, append(make([]byte, 0, 4096), "before"...)} {
				if got, _, err := d.Append(dst, src, 1000); !errors.Is(err, inflate.ErrCorrupt) {
					t.Errorf("%q, %v", got, err)
				}
			}
			if _, err := io.ReadAll(flate.NewReader(bytes.NewReader(src))); errors.As(err, new(flate.CorruptInputError)) == false {
				t.Errorf("compress/flate: %v", err)
			}
		})
	}
}

// FuzzAppend: Append never panics, never exceeds the limit, and on any bytes agrees with
// compress/flate: the same output from a stream of the same length, or an error.
func FuzzAppend(f *testing.F) {
	for _, text := range texts() {
		text = text[:min(len(text), 2000)]
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, flate.BestSpeed, flate.BestCompression} {
			f.Add(deflate(f, level, text), 5000)
		}
	}
	for _, c := range conformance.Cases[struct {
		Encoding string
		Bytes    []byte `json:"bytes_b64"`
	}](f, "compress.jsonl") {
		switch {
		case c.Encoding == "gzip" && len(c.Bytes) > 10 && len(c.Bytes) < 10_000:
			f.Add(c.Bytes[10:], 1000)
		case c.Encoding == "deflate" && len(c.Bytes) > 2 && len(c.Bytes) < 10_000:
			f.Add(c.Bytes[2:], 1000)
		}
	}
	var d inflate.Decoder
	f.Fuzz(func(t *testing.T, src []byte, limit int) {
		limit &= 1<<17 - 1
		in := bytes.NewReader(src)
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(in), int64(limit)+1))
		got, used, err := d.Append([]byte("x"), src, limit)
		if len(got) == 0 || got[0] != 'x' || len(got)-1 > limit {
			t.Fatalf("%d bytes, the limit is %d", len(got)-1, limit)
		}
		got = got[1:]
		switch {
		case len(want) > limit:
			if !errors.Is(err, inflate.ErrTooLong) || !bytes.Equal(got, want[:limit]) {
				t.Errorf("%d bytes, %v; want %d and more", len(got), err, limit)
			}
		case wantErr == nil:
			if taken := len(src) - in.Len(); err != nil || !bytes.Equal(got, want) || used != taken {
				t.Errorf("%d bytes of %d, %v; want %d of %d", len(got), used, err, len(want), taken)
			}
		case errors.Is(wantErr, io.ErrUnexpectedEOF):
			// compress/flate reads no symbol when fewer bits are left than the end of the
			// block has; shorter codes may be left.
			if err == nil || !bytes.HasPrefix(got, want) {
				t.Errorf("%d bytes, %v; want %d, %v", len(got), err, len(want), wantErr)
			}
		default:
			if err == nil || errors.Is(err, inflate.ErrTooLong) {
				t.Errorf("%d bytes, %v; want %v", len(got), err, wantErr)
			}
		}
		again, usedAgain, errAgain := d.Append(make([]byte, 0, limit+1000), src, limit)
		if !bytes.Equal(again, got) || err == nil && usedAgain != used || !errors.Is(errAgain, err) {
			t.Errorf("with room: %d bytes of %d, %v; without: %d of %d, %v", len(again), usedAgain, errAgain, len(got), used, err)
		}
	})
}
