package warc

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Body returns the payload without its content coding, as a browser shows it. Codings that are
// not known are an error, with which the payload itself is returned.
func (m *Message) Body() (io.Reader, error) {
	body := m.Payload()
	names := strings.Split(m.Header.Get("Content-Encoding"), ",")
	if len(names) > maxCodings {
		return body, fmt.Errorf("%d content codings, expected at most %d", len(names), maxCodings)
	}
	for _, name := range slices.Backward(names) {
		in, err := decode(strings.ToLower(strings.TrimSpace(name)), body)
		if err != nil {
			return body, err
		}
		body = in
	}
	return body, nil
}

// maxCodings bounds the codings of a body: each may make a thousand bytes of one.
const maxCodings = 3

// maxWindow bounds the memory that a zstd frame may ask for (RFC 9659).
const maxWindow = 8 << 20

func decode(coding string, in io.Reader) (io.Reader, error) {
	switch coding {
	case "", "identity", "none":
		return in, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(in)
	case "deflate": // of zlib by the standard, bare from some servers
		b := bufio.NewReader(in)
		if start, _ := b.Peek(2); len(start) == 2 && start[0]&0x0f == 8 && (int(start[0])<<8|int(start[1]))%31 == 0 {
			return zlib.NewReader(b)
		}
		return flate.NewReader(b), nil
	case "br":
		return brotli.NewReader(in), nil
	case "zstd":
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}
	return nil, fmt.Errorf("Content-Encoding %.40q is not known", coding)
}
