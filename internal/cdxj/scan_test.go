package cdxj

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/warc"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// scanned returns the lines of a file, and the offsets of damage.
func scanned(t *testing.T, file []byte) (lines []warc.Index, damage []int64) {
	t.Helper()
	err := Scan("a.warc.gz", bytes.NewReader(file), nil, func(x *warc.Index) error {
		lines = append(lines, *x)
		return nil
	}, func(d *warc.DamageError) { damage = append(damage, d.Offset) })
	if err != nil {
		t.Fatal(err)
	}
	return lines, damage
}

// anArchive returns a file, and the offset of each record and of the end.
func anArchive() (file []byte, at []int64) {
	e := warc.NewEncoder(warc.Options{})
	add := func(x warc.Exchange) warc.Capture {
		at = append(at, int64(len(file)))
		var c warc.Capture
		x.Date = noon
		file, c = e.Exchange(file, &x)
		return c
	}
	file = e.Info(file, warc.NewID([16]byte{1}), noon, "a.warc.gz", nil)
	first := add(warc.Exchange{URL: "https://www.example.org/b", Request: []byte("GET /b HTTP/1.1\r\n\r\n"), Response: []byte("HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\nb")})
	add(warc.Exchange{URL: "https://example.org/a", Response: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nb"), Original: &warc.Original{ID: first.ID, URL: "https://www.example.org/b", Date: noon}})
	at = append(at, int64(len(file)))
	file, _ = e.Note(file, &warc.Note{Type: warc.Resource, URL: "urn:a b", Date: noon, ContentType: "text/plain", Block: []byte("text")})
	return file, append(at, int64(len(file)))
}

// TestScan: a line for each response, revisit and resource, which leads to its record and no
// further.
func TestScan(t *testing.T) {
	file, at := anArchive()
	lines, damage := scanned(t, file)
	var got []string
	for _, x := range lines {
		got = append(got, fmt.Sprint(x.Key, " ", x.Status, " ", x.MIME, " ", x.Digest != ""))
	}
	want := []string{"org,example)/b 200 text/html true", "org,example)/a 200 warc/revisit true", "urn:a%20b 0 text/plain false"}
	if !slices.Equal(got, want) || len(damage) > 0 {
		t.Fatalf("%q, damage at %d", got, damage)
	}
	if lines[1].Offset != at[1] || lines[1].Length != at[2]-at[1] || lines[2].Offset != at[2] || lines[2].Length != at[3]-at[2] {
		t.Errorf("%+v, offsets %d", lines, at)
	}
	request := warc.NewReader(bytes.NewReader(file[lines[0].Offset+lines[0].Length:]))
	if r, err := request.Next(); err != nil || r.Type() != warc.Request {
		t.Errorf("behind the first response: %v, %v", r, err)
	}
}

// TestScanDamage: captures around damage are indexed.
func TestScanDamage(t *testing.T) {
	file, at := anArchive()
	bad := slices.Clone(file)
	bad[at[1]+60] ^= 0xff
	lines, damage := scanned(t, bad)
	if len(lines) != 2 || lines[0].Offset != at[0] || lines[1].Offset != at[2] || !slices.Equal(damage, at[1:2]) {
		t.Errorf("%+v, damage at %d", lines, damage)
	}
	lines, damage = scanned(t, file[:at[3]-20]) // the crawl was killed
	if len(lines) != 2 || !slices.Equal(damage, at[2:3]) {
		t.Errorf("%+v, damage at %d", lines, damage)
	}
}

// TestScanPlain: records without compression, and those that share a member.
func TestScanPlain(t *testing.T) {
	record := "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2014-01-01T00:00:00Z\r\nWARC-Target-URI: http://a/\r\n" +
		"Content-Type: application/http\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n"
	lines, damage := scanned(t, []byte(record+record))
	n := int64(len(record))
	if len(damage) > 0 || len(lines) != 2 || lines[0].Length != n || lines[1].Offset != n || lines[1].Length != n || lines[1].MIME != "" {
		t.Errorf("%+v, damage at %d", lines, damage)
	}
	lines, damage = scanned(t, gzipped(t, strings.Repeat(record, 3)))
	if len(lines) != 1 || !slices.Equal(damage, []int64{0}) {
		t.Errorf("%+v, damage at %d", lines, damage)
	}
}

// FuzzScan: whatever a file holds, lines are within it and do not overlap.
func FuzzScan(f *testing.F) {
	file, _ := anArchive()
	f.Add(file)
	f.Add([]byte("http://a/ 127.0.0.1 20140101000000 text/html 3\nabc\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		end := int64(0)
		err := Scan("x", bytes.NewReader(file), nil, func(x *warc.Index) error {
			if x.Offset < end || x.Length <= 0 || x.Offset+x.Length > int64(len(file)) {
				t.Errorf("%d bytes at %d, in a file of %d", x.Length, x.Offset, len(file))
			}
			end = x.Offset + x.Length
			return nil
		}, func(*warc.DamageError) {})
		if err != nil && err != io.ErrUnexpectedEOF {
			t.Error(err)
		}
	})
}

func gzipped(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.Bytes()
}

// TestScanLongURL: a record with a URL that no line can hold is damage, and the others are indexed.
func TestScanLongURL(t *testing.T) {
	e := warc.NewEncoder(warc.Options{})
	response := []byte("HTTP/1.1 200 OK\r\n\r\nb")
	file, _ := e.Exchange(nil, &warc.Exchange{URL: "https://example.org/" + strings.Repeat("\xff", 400_000), Date: noon, Response: response})
	file, c := e.Exchange(file, &warc.Exchange{URL: "https://example.org/", Date: noon, Response: response})
	lines := extsort.New("")
	damaged := 0
	err := Scan("a.warc.gz", bytes.NewReader(file), nil, func(x *warc.Index) error {
		return lines.Add(x.Append(nil))
	}, func(*warc.DamageError) { damaged++ })
	var sorted strings.Builder
	lines.WriteTo(&sorted)
	if err != nil || damaged != 1 || strings.Count(sorted.String(), "filename") != 1 || !strings.Contains(sorted.String(), fmt.Sprint(c.Start)) {
		t.Errorf("%v, %d damaged, lines %s", err, damaged, sorted.String())
	}
}
