package warc

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/weftcrawl/weft/internal/long"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 123456789, time.UTC)

// zipped compresses as a server does.
func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.Bytes()
}

// chunked codes a body in chunks of n bytes, with a trailer.
func chunked(body []byte, n int) []byte {
	var b bytes.Buffer
	for part := range slices.Chunk(body, n) {
		fmt.Fprintf(&b, "%X;ext=1\r\n%s\r\n", len(part), part)
	}
	b.WriteString("0\r\nX-Trailer: yes\r\n\r\n")
	return b.Bytes()
}

func response(fields string, body []byte) []byte {
	return append([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"+fields+"\r\n"), body...)
}

// numbered returns an encoder whose IDs are 1, 2, 3 ...
func numbered(opt Options) *Encoder {
	n := byte(0)
	opt.NewID = func() ID { n++; return NewID([16]byte{15: n}) }
	return NewEncoder(opt)
}

type read struct {
	*Record
	block string
}

// readAll reads all records, and the damage between them.
func readAll(t *testing.T, from io.Reader) (all []read, damage []*DamageError) {
	t.Helper()
	r := NewReader(from)
	for {
		record, err := r.Next()
		var broken *DamageError
		switch {
		case err == io.EOF:
			return all, damage
		case errors.As(err, &broken):
			damage = append(damage, broken)
			if len(damage) > 1000 {
				t.Fatal("damage without end")
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		block, err := io.ReadAll(record)
		if err != nil { // Next says it again
			continue
		}
		all = append(all, read{record, string(block)})
	}
}

// A capture is a response and its request, in members of their own, with the bytes as received.
func TestExchange(t *testing.T) {
	body := strings.Repeat("<p>a page</p>\n", 500)
	bodies := map[string]struct {
		fields  string
		body    []byte
		payload []byte
	}{
		"plain":        {"", []byte(body), []byte(body)},
		"empty":        {"", nil, nil},
		"chunked":      {"Transfer-Encoding: chunked\r\n", chunked([]byte(body), 1000), []byte(body)},
		"gzip":         {"Content-Encoding: gzip\r\n", zipped(body), zipped(body)},
		"gzip chunked": {"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", chunked(zipped(body), 70), zipped(body)},
		"dechunked":    {"Transfer-Encoding: chunked\r\n", []byte(body), []byte(body)},
		"long":         {"Content-Encoding: br\r\n", bytes.Repeat([]byte("\x00\xff"), 100_000), bytes.Repeat([]byte("\x00\xff"), 100_000)},
	}
	for name, c := range bodies {
		t.Run(name, func(t *testing.T) {
			sent := []byte("GET /a HTTP/1.1\r\nHost: example.org\r\n\r\n")
			received := response(c.fields, c.body)
			e := numbered(Options{Info: NewID([16]byte{0: 7})})
			file, capture := e.Exchange([]byte("before"), &Exchange{
				URL: "https://example.org/a", Date: noon, IP: netip.MustParseAddr("192.0.2.7"),
				Protocols: Protocols("HTTP/1.1", "TLS 1.3"), Cipher: "TLS_AES_128_GCM_SHA256",
				Request: sent, Response: received,
			})
			if capture.Start != 6 {
				t.Fatalf("starts at %d", capture.Start)
			}
			file = file[6:]
			all, damage := readAll(t, bytes.NewReader(file))
			if len(all) != 2 || damage != nil {
				t.Fatalf("%d records, damage %v", len(all), damage)
			}
			sum := sha256.Sum256(c.payload)
			wants := []string{
				"WARC-Type: response", "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>",
				"WARC-Date: 2026-11-22T12:00:00.123456Z", "WARC-Target-URI: https://example.org/a",
				"WARC-IP-Address: 192.0.2.7", "WARC-Protocol: http/1.1", "WARC-Protocol: tls/1.3",
				"WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256",
				"WARC-Warcinfo-ID: <urn:uuid:07000000-0000-4000-8000-000000000000>",
				"WARC-Payload-Digest: sha256:" + hex.EncodeToString(sum[:]),
				"Content-Type: application/http;msgtype=response",
			}
			var got []string
			for _, f := range all[0].Header {
				got = append(got, f.Name+": "+f.Value)
			}
			for i, want := range wants {
				if got[i] != want {
					t.Errorf("field %q, expected %q", got[i], want)
				}
			}
			if all[0].block != string(received) || all[1].block != string(sent) {
				t.Error("the blocks are not what came over the wire")
			}
			if got := all[1].Header.Get("WARC-Concurrent-To"); got != capture.ID.String() || all[1].Type() != Request {
				t.Errorf("request of %s, expected %s", got, capture.ID)
			}
			if all[0].Offset != 0 || all[1].Offset != int64(capture.Length) {
				t.Errorf("members at %d and %d, expected 0 and %d", all[0].Offset, all[1].Offset, capture.Length)
			}
			for _, f := range []io.Reader{bytes.NewReader(file), bytes.NewReader(file[capture.Length:])} {
				r, err := NewReader(f).Next()
				if err != nil {
					t.Fatal(err)
				}
				if block, payload, err := Verify(r); block != Match || payload == Mismatch || err != nil {
					t.Errorf("%s: block %s, payload %s: %v", r.Type(), block, payload, err)
				}
			}
			pieces := slices.Collect(slices.Chunk(received[len(received)-len(c.body):], 999))
			other, _ := numbered(Options{Info: NewID([16]byte{0: 7})}).Exchange(nil, &Exchange{
				URL: "https://example.org/a", Date: noon, IP: netip.MustParseAddr("192.0.2.7"),
				Protocols: Protocols("HTTP/1.1", "TLS 1.3"), Cipher: "TLS_AES_128_GCM_SHA256",
				Request: sent, Response: received[:len(received)-len(c.body)], Rest: pieces, Parts: parts(received),
			})
			if !bytes.Equal(other, file) {
				t.Error("in pieces, the response has other records")
			}
			if strings.Contains(name, "gzip") && len(file) > len(received)+1600 {
				t.Errorf("%d bytes for a response of %d", len(file), len(received))
			}
			if name == "plain" && len(file) > 1600 {
				t.Errorf("%d bytes for a response that compresses well", len(file))
			}
		})
	}
}

// A payload that was captured before is not written again.
func TestRevisit(t *testing.T) {
	e := numbered(Options{})
	before := &Original{NewID([16]byte{1}), "https://example.org/first", noon.Add(-time.Hour)}
	file, capture := e.Exchange(nil, &Exchange{URL: "https://example.org/a", Date: noon, Response: response("", []byte("body")), Original: before})
	file, unchanged := e.Exchange(file, &Exchange{URL: "https://example.org/a", Date: noon, Response: []byte("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"), Original: before})
	all, damage := readAll(t, bytes.NewReader(file))
	if len(all) != 2 || damage != nil || capture.Type != Revisit || unchanged.Type != Revisit {
		t.Fatal(len(all), damage)
	}
	if all[0].block != "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" {
		t.Errorf("block %q, expected the head alone", all[0].block)
	}
	for name, want := range map[string]string{
		"WARC-Profile": SamePayload, "WARC-Refers-To": before.ID.String(),
		"WARC-Refers-To-Target-URI": before.URL, "WARC-Refers-To-Date": "2026-11-22T11:00:00.123456Z",
		"WARC-Payload-Digest": capture.Payload.String(),
	} {
		if got := all[0].Header.Get(name); got != want {
			t.Errorf("%s: %q, expected %q", name, got, want)
		}
	}
	if got := all[1].Header.Get("WARC-Profile"); got != NotModified {
		t.Errorf("profile of a 304: %q", got)
	}
}

// What is cut off has a reason, and no digest of a payload that is not whole.
func TestTruncated(t *testing.T) {
	e := numbered(Options{Digest: SHA1})
	file, capture := e.Exchange(nil, &Exchange{URL: "https://example.org/a", Date: noon, Response: response("Content-Length: 100\r\n", []byte("body")), Truncated: CutDisconnect})
	all, _ := readAll(t, bytes.NewReader(file))
	h := all[0].Header
	if h.Get("WARC-Truncated") != "disconnect" || h.Get("WARC-Payload-Digest") != "" || capture.Payload.Sum != nil {
		t.Errorf("%v", h)
	}
	if got := h.Get("WARC-Block-Digest"); !strings.HasPrefix(got, "sha1:") || len(got) != 5+32 {
		t.Errorf("block digest %q, expected sha1 in base 32", got)
	}
}

// A field from the Web cannot begin another.
func TestNoFieldWithinAField(t *testing.T) {
	file, _ := numbered(Options{}).Note(nil, &Note{Type: Metadata, URL: "https://a/\r\nWARC-Type: response\x00", Date: noon, ContentType: TypeFields, Block: Fields(Header{{"a", "b\r\nc: d"}})})
	all, _ := readAll(t, bytes.NewReader(file))
	if len(all) != 1 || all[0].Type() != Metadata || all[0].block != "a: b  c: d\r\n" {
		t.Errorf("%+v", all)
	}
}

// file returns an archive of n captures, and the offset of each.
func file(n int) (b []byte, offsets []int) {
	e := numbered(Options{})
	b = e.Info(b, NewID([16]byte{9}), noon, "a.warc.gz", Header{{"software", "weft"}})
	for i := range n {
		offsets = append(offsets, len(b))
		body := bytes.Repeat([]byte(fmt.Sprint("page ", i, "\n")), 400)
		b, _ = e.Exchange(b, &Exchange{URL: fmt.Sprint("https://example.org/", i), Date: noon, Response: response("", body)})
	}
	return b, offsets
}

// Damage is reported with the offset of its member, and costs no other record. A seeker and a
// stream differ in nothing here.
func TestDamage(t *testing.T) {
	whole, at := file(5)
	flip := func(from, n int) []byte {
		b := slices.Clone(whole)
		for i := range n {
			b[from+i] ^= 0x55
		}
		return b
	}
	cases := map[string]struct {
		file []byte
		lost int
		at   int
	}{
		"flipped in the middle":  {flip(at[2]+200, 3), 1, at[2]},
		"flipped in the header":  {flip(at[2], 2), 1, at[2]},
		"checksum":               {flip(at[3]-8, 1), 0, at[2]},
		"cut in a member":        {whole[:at[4]+100], 1, at[4]},
		"cut between members":    {whole[:at[4]], 1, -1},
		"bytes missing":          {slices.Delete(slices.Clone(whole), at[1]+50, at[1]+60), 1, at[1]},
		"bytes between members":  {slices.Insert(slices.Clone(whole), at[3], []byte("rubbish \x1f\x8b\x08\x00 rubbish")...), 0, at[3]},
		"rubbish at the start":   {append([]byte("rubbish"), whole...), 0, 0},
		"zeros at the end":       {append(slices.Clone(whole), make([]byte, 200_000)...), 0, len(whole)},
		"a member of rubbish":    {slices.Insert(slices.Clone(whole), at[3], zipped(strings.Repeat("rubbish", 50))...), 0, at[3]},
		"a member without bytes": {slices.Insert(slices.Clone(whole), at[3], zipped("")...), 0, -1},
	}
	for name, c := range cases {
		for _, source := range []io.Reader{bytes.NewReader(c.file), iotest.OneByteReader(bytes.NewReader(c.file))} {
			t.Run(fmt.Sprintf("%s/%T", name, source), func(t *testing.T) {
				all, damage := readAll(t, source)
				if want := 6 - c.lost; len(all) != want {
					t.Errorf("%d records, expected %d; damage %v", len(all), want, damage)
				}
				switch {
				case c.at < 0 && damage != nil:
					t.Errorf("damage %v, expected none", damage)
				case c.at >= 0 && (len(damage) != 1 || damage[0].Offset != int64(c.at)):
					t.Errorf("damage %v, expected one at %d", damage, c.at)
				}
			})
		}
	}
}

// Foreign files: plain ones, several records in a member, old versions, ARC.
func TestForeign(t *testing.T) {
	plain := "WARC/1.0\r\nWARC-Type: response\r\nwarc-target-uri:<http://example.org/>\r\nWARC-Date: 2014-01-01T00:00:00Z\r\n" +
		"WARC-Record-ID: <urn:x>\r\nContent-Type: application/http; msgtype=response\r\nX-Long: a\r\n b\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n"
	arc := "filedesc://a.arc 0.0.0.0 20040101000000 text/plain 69\n1 0 Tool\nURL IP-address Archive-date Content-type Archive-length\n\n\n" +
		"http://example.org/ 192.0.2.1 20040102030405 text/html 29\nHTTP/1.0 200 OK\r\n\r\nan old page\n\n"
	arc = strings.Replace(arc, "text/plain 69", fmt.Sprint("text/plain ", strings.Index(arc, "\n\n\n")+2-strings.Index(arc, "\n")-1), 1)
	arc = strings.Replace(arc, "text/html 29", fmt.Sprint("text/html ", len("HTTP/1.0 200 OK\r\n\r\nan old page\n")), 1)
	for name, c := range map[string]struct {
		file string
		urls string
	}{
		"plain":             {plain + plain, "http://example.org/ http://example.org/"},
		"two in one member": {string(zipped(plain + plain)), "http://example.org/ http://example.org/"},
		"ARC":               {arc, "filedesc://a.arc http://example.org/"},
		"ARC in members":    {string(zipped(arc[:strings.Index(arc, "http:")])) + string(zipped(arc[strings.Index(arc, "http:"):])), "filedesc://a.arc http://example.org/"},
	} {
		t.Run(name, func(t *testing.T) {
			all, damage := readAll(t, strings.NewReader(c.file))
			if damage != nil {
				t.Fatal(damage)
			}
			var urls []string
			for _, r := range all {
				urls = append(urls, r.URL())
			}
			if got := strings.Join(urls, " "); got != c.urls {
				t.Fatalf("URLs %q, expected %q", got, c.urls)
			}
			m, err := ReadMessage(strings.NewReader(all[1].block))
			if err != nil || m.Status() != 200 {
				t.Errorf("%v, %v", m, err)
			}
			if all[1].Date().IsZero() {
				t.Error("no date")
			}
			if all[1].Shared != (name == "two in one member") {
				t.Error("Shared is wrong")
			}
		})
	}
}

// A record of 300 MB (here 32) takes no more memory than a small one.
func TestBigRecord(t *testing.T) {
	size := long.Or[int64](32<<20, 300<<20)
	head := fmt.Sprintf("WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: %d\r\n\r\n", size)
	var in bytes.Buffer // 4 kB per MB
	z, _ := gzip.NewWriterLevel(&in, gzip.BestSpeed)
	io.WriteString(z, head)
	io.CopyN(z, zeros{}, size)
	io.WriteString(z, recordEnd)
	z.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(&in)
	record, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, record)
	if n != size || err != nil {
		t.Fatal(n, err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("%d bytes allocated", took)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Whatever a file holds, reading ends, and what was written is read again.
func FuzzReader(f *testing.F) {
	whole, _ := file(2)
	f.Add(whole, uint16(10), byte(1))
	f.Add([]byte("WARC/1.1\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"), uint16(0), byte(0))
	f.Add([]byte("http://a/ 1.1.1.1 20040101000000 text/html 3\nabc\n"), uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, x byte) {
		if int(at) < len(b) {
			b[at] ^= x
		}
		r := NewReader(bytes.NewReader(b))
		for n := 0; ; n++ {
			record, err := r.Next()
			var damage *DamageError
			if errors.As(err, &damage) {
				if n > 3*len(b)+10 {
					t.Fatal("no end")
				}
				continue
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _, _ = Verify(record)
		}
	})
}

func BenchmarkExchange(b *testing.B) {
	text := make([]byte, 8<<10)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyz <>/\n"[rand.N(31)]
	}
	small := strings.Repeat("some words of a page, and more of them; ", 100) + string(text[:500])
	for name, body := range map[string][]byte{"gzip-4KB": zipped(string(text[:6000])), "plain-4KB": []byte(small), "gzip-95KB": zipped(strings.Repeat(string(text), 12)), "plain-1MB": bytes.Repeat(text, 128)} {
		fields := ""
		if strings.HasPrefix(name, "gzip") {
			fields = "Content-Encoding: gzip\r\n"
		}
		b.Run(name, func(b *testing.B) {
			e := NewEncoder(Options{})
			x := &Exchange{URL: "https://example.org/a", Date: noon, Protocols: Protocols("HTTP/1.1", ""), Request: []byte("GET /a HTTP/1.1\r\nHost: example.org\r\nUser-Agent: weft\r\n\r\n"), Response: response(fields, body)}
			var out []byte
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				out, _ = e.Exchange(out[:0], x)
			}
			b.ReportMetric(float64(len(out)-len(body)), "overhead-bytes")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	whole, _ := file(1000)
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(whole))
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
	b.ReportMetric(1001*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// TestHostileFields: fields of many lines take a time that grows with their length, and what a
// checker remembers of revisits does not grow with their URLs.
func TestHostileFields(t *testing.T) {
	long := strings.Repeat(" "+strings.Repeat("b", 98)+"\r\n", 9_900)
	const count = 10 // revisits
	var file []byte
	for i := range count {
		file = append(file, fmt.Sprintf("WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Profile: %s\r\nWARC-Record-ID: <urn:%d>\r\n"+
			"WARC-Refers-To-Target-URI: http://%d.example/\r\n%sContent-Length: 0\r\n\r\n\r\n\r\n", SamePayload, i, i, long)...)
	}
	c := NewChecker()
	if err := c.File("a.warc", bytes.NewReader(file), func(Fault) {}); err != nil {
		t.Fatal(err)
	}
	held := 0
	c.End(func(f Fault) { held++ })
	if held != count {
		t.Errorf("%d revisits without an original, want %d", held, count)
	}
	for _, r := range c.unresolved {
		if len(r.about) > 300 {
			t.Fatalf("a reference holds %d bytes", len(r.about))
		}
	}
}
