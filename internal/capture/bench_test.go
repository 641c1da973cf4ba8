package capture_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/warc"
)

const head = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 22 Nov 2026 21:50:58 GMT\r\n" +
	"Content-Type: text/html; charset=utf-8\r\nLast-Modified: Wed, 07 Oct 2026 12:35:07 GMT\r\n" +
	"Connection: keep-alive\r\nETag: W/\"6704a1b2-3d1f\"\r\nContent-Encoding: gzip\r\n\r\n"

// BenchmarkEncode is the cost of a capture whose body came compressed: of 10 KB, as pages have.
func BenchmarkEncode(b *testing.B) {
	body := make([]byte, 10<<10)
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(body)
	response := append([]byte(head), body...)
	a := capture.New(capture.Salt{}, warc.SHA256, 1<<20)
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	request := []byte("GET / HTTP/1.1\r\nHost: 127.0.0.1:8801\r\nUser-Agent: weft/0.1 (+https://github.com/weftcrawl/weft)\r\n" +
		"Accept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n")
	b.ReportAllocs()
	b.SetBytes(int64(len(response)))
	for i := range b.N {
		response[len(head)] = byte(i)
		response[len(head)+1] = byte(i >> 8)
		response[len(head)+2] = byte(i >> 16)
		x := &warc.Exchange{
			URL: "https://www.example.org/library/" + strings.Repeat("x", i%20), Date: at, Request: request, Response: response,
			Parts: &warc.Parts{Status: 200, Head: len(head), Payload: response[len(head):], Coded: true}, Protocols: []string{"http/1.1", "tls/1.3"},
		}
		c := a.Encode(x, frontier.Capture{}, "text/html")
		a.Placed(c)
	}
}
