package http1_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/weftcrawl/weft/http1"
)

// coded is text in a content coding.
func coded(t *testing.T, coding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "":
		return text
	case "gzip":
		return zip(t, text)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "deflate alone":
		w, err = flate.NewWriter(&b, flate.DefaultCompression)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	}
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// noise is n letters that no coding makes much shorter: 6 bits in each of their 8.
func noise(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[random.IntN(len(letters))]
	}
	return string(b)
}

// TestCut: with Request.Cut an answer that is too long is its beginning, however it is
// coded and framed, and the connection is not used again. One that is not too long is
// as ever.
func TestCut(t *testing.T) {
	const limit = 300_000
	bodies := []struct {
		name, text string
		least      int // of it, in bytes
	}{
		{"short", "hello", 5},
		{"to the limit", strings.Repeat("line\n", limit/5), limit},
		{"over the limit", strings.Repeat("line\n", limit/5) + "x", limit},
		{"a bomb", strings.Repeat("line\n", 20*limit), limit},
		// Of these the limit is met by what is sent: it decodes to more than half.
		{"noise", noise(3 * limit), limit / 2},
	}
	framings := map[string]func(fields, sent string) string{
		"length": answer,
		"chunked": func(fields, sent string) string {
			half := len(sent) / 2
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + fields + "\r\n" + chunk(sent[:half]) + chunk(sent[half:]) + "0\r\n\r\n"
		},
	}
	for _, coding := range []string{"", "gzip", "deflate", "deflate alone", "br", "zstd"} {
		fields, as := "", strings.TrimSuffix(coding, " alone")
		if as != "" {
			fields = "Content-Encoding: " + as + "\r\n"
		}
		for _, body := range bodies {
			sent := coded(t, coding, body.text)
			for framing, frame := range framings {
				t.Run(coding+", "+body.name+", "+framing, func(t *testing.T) {
					cut := len(body.text) > limit
					play(t, http1.Options{MaxBody: 1000}, func(s *site) {
						p := s.serve("/", frame(fields, sent))
						if cut {
							p.ended()
							p = s.accept()
						}
						p.serve("/next", ok("next"))
					}, func(b *browser) {
						res, err := b.do(http1.Request{Target: "/", MaxBody: limit, Cut: true})
						if err != nil {
							t.Fatal(err)
						}
						n := len(res.Body)
						if res.Truncated != cut || n > limit || n < body.least || string(res.Body) != body.text[:n] || res.Encoding != as {
							t.Errorf("%d bytes, the beginning %v, truncated %v, encoding %q; want %d to %d, truncated %v",
								n, strings.HasPrefix(body.text, string(res.Body)), res.Truncated, res.Encoding, body.least, limit, cut)
						}
						if cut && body.name == "over the limit" && n != limit {
							t.Errorf("%d bytes, want all %d of the limit", n, limit)
						}
						res.Close()
						b.reads("/next", "next") // with decoders in order
					})
				})
			}
		}
	}
}

func chunk(s string) string { return strconv.FormatInt(int64(len(s)), 16) + "\r\n" + s + "\r\n" }

// What is broken is no beginning of anything; and a limit of a request's own without
// Cut is a limit.
func TestCutIsNotForBrokenBodies(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		req          http1.Request
		kind         http1.Kind
	}{
		{"not gzip", answer("Content-Encoding: gzip\r\n", noise(5000)), http1.Request{MaxBody: 1000, Cut: true}, http1.KindEncoding},
		{"gzip that ends early", answer("Content-Encoding: gzip\r\n", zip(t, "hello")[:20]), http1.Request{MaxBody: 1000, Cut: true}, http1.KindEncoding},
		{"the end in the body", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhello", http1.Request{MaxBody: 1000, Cut: true}, http1.KindEarlyEnd},
		{"an own limit", ok(strings.Repeat("x", 1001)), http1.Request{MaxBody: 1000}, http1.KindTooLarge},
		{"an own limit, decoded", answer("Content-Encoding: gzip\r\n", zip(t, strings.Repeat("x", 1001))), http1.Request{MaxBody: 1000}, http1.KindBomb},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, http1.Options{}, func(s *site) { s.serve("/", c.answer).close() }, func(b *browser) {
				c.req.Target = "/"
				_, err := b.do(c.req)
				expectKind(t, err, c.kind)
			})
		})
	}
}
