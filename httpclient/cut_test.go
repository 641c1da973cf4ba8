package httpclient_test

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
	"github.com/weftcrawl/weft/httpclient"
)

// coded returns text in a content coding.
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
		w, err = zlib.NewWriterLevel(&b, zlib.BestSpeed)
	case "deflate alone":
		w, err = flate.NewWriter(&b, flate.BestSpeed)
	case "br":
		w = brotli.NewWriterLevel(&b, brotli.BestSpeed)
	case "zstd":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
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

// noise returns n letters that no coding shortens much: 6 bits of information in 8.
func noise(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[random.IntN(len(letters))]
	}
	return string(b)
}

// TestCut checks that with Request.Cut a response that is too long becomes its beginning, whatever
// its coding and framing, and that its connection is not used again. A response within the limit
// is unchanged.
func TestCut(t *testing.T) {
	const limit = 300_000
	bodies := []struct {
		name, text string
		least      int // expected length, in bytes
	}{
		{"short", "hello", 5},
		{"to the limit", strings.Repeat("line\n", limit/5), limit},
		{"over the limit", strings.Repeat("line\n", limit/5) + "x", limit},
		{"a bomb", strings.Repeat("line\n", 2*limit), limit},
		// Here the body as sent exceeds the limit: it decodes to more than half of it.
		{"noise", noise(3 * limit), limit / 2},
	}
	framings := map[string]func(fields, sent string) string{
		"length": response,
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
					over := play
					if framing == "length" && (coding == "" || coding == "gzip") {
						// The others are no nearer to a protocol.
						over = playBoth
					}
					over(t, httpclient.Options{MaxBody: 1000}, func(s *site) {
						p := s.serve("/", frame(fields, sent))
						if cut {
							p.ended()
							p = s.accept()
						}
						p.serve("/next", ok("next"))
					}, func(b *browser) {
						res, err := b.do(httpclient.Request{Target: "/", MaxBody: limit, Cut: true})
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
						b.reads("/next", "next") // the decoders still work
					})
				})
			}
		}
	}
}

func chunk(s string) string { return strconv.FormatInt(int64(len(s)), 16) + "\r\n" + s + "\r\n" }

// A broken body has no beginning; and a limit of a request's own without Cut is a limit.
func TestCutIsNotForBrokenBodies(t *testing.T) {
	for _, c := range []struct {
		name, response string
		req            httpclient.Request
		kind           httpclient.Kind
	}{
		{"not gzip", response("Content-Encoding: gzip\r\n", noise(5000)), httpclient.Request{MaxBody: 1000, Cut: true}, httpclient.KindEncoding},
		{"gzip that ends early", response("Content-Encoding: gzip\r\n", zip(t, "hello")[:20]), httpclient.Request{MaxBody: 1000, Cut: true}, httpclient.KindEncoding},
		{"the end in the body", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhello", httpclient.Request{MaxBody: 1000, Cut: true}, httpclient.KindEarlyEnd},
		{"an own limit", ok(strings.Repeat("x", 1001)), httpclient.Request{MaxBody: 1000}, httpclient.KindTooLarge},
		{"an own limit, decoded", response("Content-Encoding: gzip\r\n", zip(t, strings.Repeat("x", 1001))), httpclient.Request{MaxBody: 1000}, httpclient.KindBomb},
	} {
		t.Run(c.name, func(t *testing.T) {
			playBoth(t, httpclient.Options{}, func(s *site) { s.serve("/", c.response).close() }, func(b *browser) {
				c.req.Target = "/"
				_, err := b.do(c.req)
				expectKind(t, err, c.kind)
			})
		})
	}
}
