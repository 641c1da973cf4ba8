package warc

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// coders apply each content coding that is decoded.
var coders = map[string]func(io.Writer) io.WriteCloser{
	"gzip":   func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"x-gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"br":     func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	"zstd":   func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	"deflate": func(w io.Writer) io.WriteCloser {
		return zlib.NewWriter(w)
	},
	"Deflate": func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 6); return z },
}

func coded(name, text string) string {
	var b bytes.Buffer
	w := coders[name](&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// bodyOf reads the body of a response with some fields.
func bodyOf(t *testing.T, fields, stored string) (string, error) {
	t.Helper()
	m, err := ReadMessage(strings.NewReader("HTTP/1.1 200 OK\r\n" + fields + "\r\n" + stored))
	if err != nil {
		t.Fatal(err)
	}
	body, err := m.Body()
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(body)
	return string(text), err
}

// contents are bodies of many kinds. Some begin as codings do.
func contents() map[string]string {
	pixels := make([]byte, 3000)
	for i := range pixels {
		pixels[i] = byte(rand.N(256))
	}
	words := make([]string, 9000)
	for i := range words {
		words[i] = fmt.Sprint("word", rand.N(5000))
	}
	return map[string]string{
		"nothing":        "",
		"one letter":     "x",
		"a digit":        "5",
		"five letters":   "<p>hi",
		"nine letters":   "<p>hello!",
		"a page":         "<!doctype html><title>Kept title</title><p>0123456789 plain",
		"a long page":    "<!doctype html>" + strings.Join(words, " "),
		"long lines":     "\n" + strings.Join(words, "\n\n"),
		"zeros":          strings.Repeat("\x00", 40_000),
		"spaces":         strings.Repeat(" ", 40_000),
		"JSON":           `{"a":[1,2,3],"text":"zürich"}`,
		"numbers":        "10\n20\n30\n40\n",
		"more numbers":   "2\n12\n34\n",
		"zero":           "0\n1\n2\n",
		"zero alone":     "0",
		"like zlib":      "x^2 + y^2 = z^2",
		"like zlib, too": "HK is hC",
		"an image":       "\x89PNG\r\n\x1a\n" + string(pixels),
		"UTF-16":         "\xff\xfe<\x00p\x00>\x00h\x00i\x00",
		"Cyrillic":       "\xef\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0! \xef\xf0\xe8\xe2\xe5\xf2",
	}
}

// TestStored: the body is the same with its codings as without them, which many archives have
// removed and still name.
func TestStored(t *testing.T) {
	for name, text := range contents() {
		for coding := range coders {
			fields := "Content-Encoding: " + coding + "\r\n"
			packed := coded(coding, text)
			for kind, c := range map[string]struct{ fields, stored string }{
				"as received":           {fields, packed},
				"decoded":               {fields, text},
				"chunked":               {fields + "Transfer-Encoding: chunked\r\n", string(chunked([]byte(packed), 1000))},
				"decoded, chunked":      {fields + "Transfer-Encoding: chunked\r\n", string(chunked([]byte(text), 1000))},
				"not chunked":           {fields + "Transfer-Encoding: chunked\r\n", packed},
				"decoded, not chunked":  {fields + "Transfer-Encoding: chunked\r\n", text},
				"twice":                 {fields + fields, coded(coding, packed)},
				"twice, one removed":    {fields + fields, packed},
				"none and binary named": {fields + "Content-Encoding: none, binary\r\n", packed},
			} {
				got, err := bodyOf(t, c.fields, c.stored)
				if err != nil || got != text {
					t.Errorf("%s, %s, %s: %.40q (%d bytes), %v, expected %.40q (%d)", name, coding, kind, got, len(got), err, text, len(text))
				}
			}
		}
		for _, stored := range []string{text, string(chunked([]byte(text), 7))} {
			if got, err := bodyOf(t, "Transfer-Encoding: chunked\r\n", stored); err != nil || got != text {
				t.Errorf("%s, chunked: %.40q, %v", name, got, err)
			}
		}
	}
}

// TestStoredTexts: some texts can be read as a coding for thousands of bytes.
func TestStoredTexts(t *testing.T) {
	for range 25 {
		words := strings.Repeat(fmt.Sprintf("%c%c a line of text", 'a'+rand.N(26), ' '+rand.N(95)), 2000)
		for coding := range coders {
			if got, err := bodyOf(t, "Content-Encoding: "+coding+"\r\n", words); got != words {
				t.Errorf("%s, %.20q: %.40q, %v", coding, words, got, err)
			}
		}
	}
}

// TestCutBody: of a coded body that is cut off or damaged, what can be decoded is read, then an
// error: it does not pass for a text.
func TestCutBody(t *testing.T) {
	text := contents()["a long page"]
	for coding := range coders {
		packed := coded(coding, text)
		for _, n := range []int{len(packed) / 30, len(packed) / 2, len(packed) - 1} {
			got, err := bodyOf(t, "Content-Encoding: "+coding+"\r\n", packed[:n])
			if err == nil || !strings.HasPrefix(text, got) {
				t.Errorf("%s, %d of %d bytes: %.40q, %v", coding, n, len(packed), got, err)
			}
		}
		damaged := packed[:len(packed)/2] + strings.Repeat("\xff", 40) + packed[len(packed)/2+40:]
		bare := coding == "Deflate" // it has no checksum
		if got, err := bodyOf(t, "Content-Encoding: "+coding+"\r\n", damaged); err == nil && !bare || got == damaged {
			t.Errorf("%s, damaged: %.40q, %v", coding, got, err)
		}
	}
	for stored, want := range map[string]string{
		"4\r\nabcd\r\n0\r\nX-Sum: 1\r\n\r\n": "abcd",
		"4;x=y\r\nabcd\r\n4\r\nef":           "abcdef",
		"4\nabcd\n0\n\n":                     "abcd",
		"8\r\nabcd":                          "abcd",
	} {
		if got, _ := bodyOf(t, "Transfer-Encoding: chunked\r\n", stored); got != want {
			t.Errorf("%q: %q, expected %q", stored, got, want)
		}
	}
	packed := coded("gzip", "one ") + coded("gzip", "two") + "\x00\x00 and more"
	if got, err := bodyOf(t, "Content-Encoding: gzip\r\n", packed); got != "one two" || err != nil {
		t.Errorf("members and other bytes: %q, %v", got, err)
	}
}

// TestCodings: names as a crawl knows them.
func TestCodings(t *testing.T) {
	for list, want := range map[string]string{
		"":                             "x",
		"none, UTF-8, identity":        "x",
		"exi":                          `Content-Encoding "exi", expected gzip, deflate, br or zstd`,
		"gzip, x-compress":             `Content-Encoding "gzip, x-compress", expected gzip, deflate, br or zstd`,
		"gzip, gzip, gzip, gzip, gzip": `Content-Encoding "gzip, gzip, gzip, gzip, gzip", expected at most 4 codings`,
	} {
		got, err := bodyOf(t, "Content-Encoding: "+list+"\r\n", "x")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, expected %s", list, got, want)
		}
	}
}

// zerosIn returns what decodes to a number of zeros.
func zerosIn(t *testing.T, coding string, n int64) string {
	t.Helper()
	var b bytes.Buffer
	w := coders[coding](&b)
	if _, err := io.CopyN(w, zeros{}, n); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.String()
}

// TestBomb: a body that is out of all proportion to its payload ends. The limit is smaller than
// Body's, which cmd/weft's TestWarcExtractBomb reaches.
func TestBomb(t *testing.T) {
	const least = 4 << 20
	inner, br := zerosIn(t, "gzip", 2*least), zerosIn(t, "br", 2*least)
	for name, c := range map[string]struct{ coding, stored string }{
		"gzip":         {"gzip", inner},
		"gzip in gzip": {"gzip, gzip", coded("gzip", inner)},
		"three of it":  {"gzip, gzip, gzip", coded("gzip", coded("gzip", inner))},
		"br":           {"br", br},
		"zstd":         {"zstd", zerosIn(t, "zstd", 2*least)},
		"br in gzip":   {"br, gzip", coded("gzip", br)},
	} {
		m, err := ReadMessage(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Encoding: " + c.coding + "\r\n\r\n" + c.stored))
		if err != nil {
			t.Fatal(err)
		}
		body, err := m.body(least)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, body)
		if most := max(least, maxGrowth*int64(len(c.stored))) + 1<<20; err == nil || n > most {
			t.Errorf("%s: %d bytes of %d, %v, expected at most %d and an error", name, n, len(c.stored), err, most)
		}
	}
}

// FuzzBody: whatever a response holds, its body ends within the bounds.
func FuzzBody(f *testing.F) {
	for name := range coders {
		f.Add(name, "chunked", []byte(coded(name, "<p>hello, hello, hello")))
	}
	f.Add("br", "", []byte("<p>hello"))
	f.Fuzz(func(t *testing.T, coding, transfer string, stored []byte) {
		if strings.ContainsAny(coding+transfer, "\r\n") {
			return
		}
		m, err := ReadMessage(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + "\r\nTransfer-Encoding: " + transfer + "\r\n\r\n" + string(stored)))
		if err != nil {
			return
		}
		body, err := m.Body()
		if err != nil {
			return
		}
		if n, _ := io.Copy(io.Discard, body); n > minBody+maxGrowth*int64(len(stored))+1<<20 {
			t.Errorf("%d bytes of %d", n, len(stored))
		}
	})
}
