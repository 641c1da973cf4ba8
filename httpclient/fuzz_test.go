package httpclient

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/inflate"
)

// FuzzResponse checks that the verdict on a response, its body and its length do not depend on how
// it was cut; and that the parser never panics, never takes more bytes than there are or than
// belong to the response, and never makes a body over the limit.
func FuzzResponse(f *testing.F) {
	for _, c := range responses {
		raw := xs(c.raw) + c.rest
		f.Add(c.head, raw, uint16(len(raw)/2))
	}
	f.Fuzz(func(t *testing.T, head bool, raw string, cut uint16) {
		want := request{head: head}.parse(raw)
		if len(want.body) > testMaxBody {
			t.Errorf("body of %d bytes, the limit is %d", len(want.body), testMaxBody)
		}
		if want.consumed > len(raw) || want.whole && want.raw != raw[want.consumed-len(want.raw):want.consumed] {
			t.Errorf("%d bytes consumed of %d, of which it keeps %q", want.consumed, len(raw), want.raw)
		}
		if want.kind == "" && (want.status < 200 || want.status > 999 || !want.whole) {
			t.Errorf("no error, and %v", want)
		}
		short := request{head: head, cut: true}.parse(raw)
		if len(short.body) > testMaxBody || short.cut && len(short.body) < testMaxBody || want.kind == "" && short != want {
			t.Errorf("cut:   %v\nwhole: %v", short, want)
		}
		i := int(cut) % (len(raw) + 1)
		for req, want := range map[request]verdict{{head: head}: want, {head: head, cut: true}: short} {
			if got := req.parse(strings.Split(raw, "")...); got != want {
				t.Errorf("%+v: byte by byte: %v\nin one piece: %v", req, got, want)
			}
			if got := req.parse(raw[:i], raw[i:]); got != want {
				t.Errorf("%+v: cut at %d:    %v\nin one piece: %v", req, i, got, want)
			}
		}
	})
}

// FuzzAgainstNetHTTP checks that a response that this package and net/http both accept as complete
// is the same to both: status, fields, body and remaining bytes.
func FuzzAgainstNetHTTP(f *testing.F) {
	for _, c := range responses {
		f.Add(c.head, xs(c.raw)+c.rest)
	}
	f.Fuzz(againstNetHTTP)
}

// FuzzChunked is FuzzAgainstNetHTTP for the part of a chunked response after the head.
func FuzzChunked(f *testing.F) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, c := range responses {
		if body, ok := strings.CutPrefix(xs(c.raw), head); ok {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body string) { againstNetHTTP(t, false, head+body) })
}

// FuzzHeader is FuzzAgainstNetHTTP for the fields of a head.
func FuzzHeader(f *testing.F) {
	for _, c := range responses {
		if _, fields, ok := strings.Cut(xs(c.raw), "\n"); ok {
			f.Add(fields)
		}
	}
	f.Fuzz(func(t *testing.T, fields string) { againstNetHTTP(t, false, "HTTP/1.1 200 OK\r\n"+fields) })
}

func againstNetHTTP(t *testing.T, head bool, raw string) {
	got := request{head: head}.parse(raw)
	if got.kind != "" || got.status == 205 { // net/http accepts a body for it
		return
	}
	in := bufio.NewReader(strings.NewReader(raw))
	method := "GET"
	if head {
		method = "HEAD"
	}
	var res *http.Response
	var err error
	for res == nil || res.StatusCode < 200 {
		if res, err = http.ReadResponse(in, &http.Request{Method: method}); err != nil {
			return
		}
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return
	}
	res.Body.Close()
	if res.StatusCode != got.status || string(body) != got.body {
		t.Errorf("net/http: status %d, body %q; here %v", res.StatusCode, body, got)
	}
	here, _, _ := parseHead([]byte(got.head))
	spaced := make(map[string]bool) // names from which our parser removes the space
	for name := range res.Header {
		if !isToken(name) {
			spaced[http.CanonicalHeaderKey(trim(name))] = true
		}
	}
	for name, want := range res.Header {
		// net/http removes or merges the first three and adds the next for Pragma; and it accepts
		// names with spaces.
		if slices.Contains([]string{"Content-Length", "Transfer-Encoding", "Trailer", "Cache-Control"}, name) || !isToken(name) || spaced[name] {
			continue
		}
		for i := range want {
			want[i] = trim(want[i]) // a folded line may end in space
		}
		if got := here.Header.Values(name); !slices.Equal(got, want) {
			t.Errorf("net/http: %s is %q, here %q", name, want, got)
		}
	}
}

// limitOfDecoded is the limit in the following targets.
const limitOfDecoded = 1 << 17

// fuzzDecoder checks that a decoder never panics; makes no more than the limit, and allocates no
// more than that plus its tables and window; and agrees with want, a library's plain way to
// decode: the same bytes, or an error. One decoder serves all inputs, so nothing of one body may
// appear in the next.
func fuzzDecoder(f *testing.F, name string, want func(src []byte) ([]byte, error)) {
	for _, c := range conformance.Cases[compressed](f, "compress.jsonl") {
		if c.Encoding == name && len(c.Bytes) < 30_000 {
			f.Add(c.Bytes)
		}
	}
	from := codingFor(f, name)
	var d decoders
	f.Fuzz(func(t *testing.T, src []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := from.decode(&d, nil, src, limitOfDecoded)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 40<<20 {
			t.Errorf("%d bytes allocated for %d", took, len(src))
		}
		if len(got) > limitOfDecoded || errors.Is(err, errBomb) && len(got) != limitOfDecoded {
			t.Errorf("%d bytes, the limit is %d: %v", len(got), limitOfDecoded, err)
		}
		text, wantErr := want(src)
		switch {
		case errors.Is(wantErr, errNoVerdict):
		case len(text) > limitOfDecoded:
			if !errors.Is(err, errBomb) || !bytes.Equal(got, text[:limitOfDecoded]) {
				t.Errorf("%d bytes, %v; want %d and more", len(got), err, limitOfDecoded)
			}
		case (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, text):
			t.Errorf("%d bytes, %v; want %d, %v", len(got), err, len(text), wantErr)
		}
	})
}

// errNoVerdict is the error of a library that cannot judge a body.
var errNoVerdict = errors.New("the library has a limit of its own")

// upToLimit reads to a little over the limit.
func upToLimit(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, limitOfDecoded+1)) }

// FuzzGzip: see fuzzDecoder. Bytes that follow a member and do not begin another are dropped.
func FuzzGzip(f *testing.F) {
	fuzzDecoder(f, "gzip", func(src []byte) (all []byte, err error) {
		in := bytes.NewReader(src)
		z, err := gzip.NewReader(in)
		// The library accepts no names of more than 511 bytes.
		if n, _ := inflate.GzipHeader(src); n > 500 {
			return nil, errNoVerdict
		}
		for err == nil {
			z.Multistream(false)
			var text []byte
			text, err = upToLimit(z)
			if all = append(all, text...); err != nil || len(all) > limitOfDecoded {
				return all, err
			}
			if n, _ := inflate.GzipHeader(src[len(src)-in.Len():]); n > 500 {
				return nil, errNoVerdict
			}
			if z.Reset(in) != nil {
				return all, nil
			}
		}
		return nil, err
	})
}

// FuzzDeflate: see fuzzDecoder.
func FuzzDeflate(f *testing.F) {
	fuzzDecoder(f, "deflate", func(src []byte) ([]byte, error) {
		z, err := zlib.NewReader(bytes.NewReader(src))
		switch {
		case errors.Is(err, zlib.ErrHeader), len(src) < 2:
			return upToLimit(flate.NewReader(bytes.NewReader(src)))
		case err != nil:
			return nil, err
		}
		return upToLimit(z)
	})
}

// FuzzBrotli: see fuzzDecoder.
func FuzzBrotli(f *testing.F) {
	fuzzDecoder(f, "br", func(src []byte) ([]byte, error) { return upToLimit(brotli.NewReader(bytes.NewReader(src))) })
}

// FuzzZstd: see fuzzDecoder.
func FuzzZstd(f *testing.F) {
	plain, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		f.Fatal(err)
	}
	fuzzDecoder(f, "zstd", func(src []byte) ([]byte, error) {
		if err := plain.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		return upToLimit(plain)
	})
}

// FuzzContentEncoding checks that a list of codings parses without a panic into at most maxCodings
// known codings, and that the list of their names parses to the same codings.
func FuzzContentEncoding(f *testing.F) {
	for _, list := range []string{"", "gzip", "GZIP, x-gzip", "identity,, br", "deflate\t, zstd", "gzip;q=1", "gzip gzip", "br, br, br, br, br", "compress"} {
		f.Add(list)
	}
	for _, c := range conformance.Cases[compressed](f, "compress.jsonl") {
		f.Add(c.Encoding)
	}
	f.Fuzz(func(t *testing.T, list string) {
		names := func(list string) (names []string) {
			all, err := codingsOf(list)
			if err != nil && (err.Kind != KindEncoding || all != nil) || len(all) > maxCodings {
				t.Errorf("%q: %d codings, %v", list, len(all), err)
			}
			for _, c := range all {
				names = append(names, c.name)
			}
			return names
		}
		first := names(list)
		if again := names(strings.Join(first, ", ")); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("%q: %q, and of that %q", list, first, again)
		}
	})
}
