package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

const two = `<?xml version="1.0"?><urlset><url><loc>http://a.example/ä</loc></url><url><loc>http://a.example/2</loc></url></urlset>`

func zip(t testing.TB, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, text := range texts {
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func inUTF16(text string, mark bool) []byte {
	var b []byte
	if mark {
		text = "\ufeff" + text
	}
	for _, c := range utf16.Encode([]rune(text)) {
		b = append(b, byte(c), byte(c>>8))
	}
	return b
}

// TestUnpacks: entries are found whatever the compression and encoding.
func TestUnpacks(t *testing.T) {
	const found = "page http://a.example/%C3%A4\npage http://a.example/2\n= urlset, 2 read, 0 skipped, <nil>"
	latin := strings.ReplaceAll(strings.ReplaceAll(two, "ä", "\xe4"), `"1.0"`, `"1.0" encoding="iso-8859-1"`)
	for _, c := range []struct {
		name, contentType string
		body              []byte
	}{
		{"plain", "application/xml", []byte(two)},
		{"any type", "text/html", []byte(two)},
		{"gzip", "application/octet-stream", zip(t, two)},
		{"gzip twice", "application/gzip", zip(t, string(zip(t, two)))},
		{"two members", "", zip(t, two[:50], two[50:])},
		{"bytes after gzip are dropped", "", append(zip(t, two), "xyz"...)},
		{"a mark", "", []byte("\ufeff" + two)},
		{"white space before", "", []byte("\r\n\t " + two)},
		{"UTF-16", "", inUTF16(two, true)},
		{"UTF-16 without a mark", "", inUTF16(two, false)},
		{"UTF-16 in gzip", "", zip(t, string(inUTF16(two, true)))},
		{"declared", "", []byte(latin)},
		{"of the header", "text/xml; charset=iso-8859-1", []byte(strings.ReplaceAll(two, "ä", "\xe4"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(Document{ContentType: c.contentType, Body: c.body}, Options{}); got != found {
				t.Errorf("got\n%s\nwant\n%s", got, found)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	lines := "http://a.example/1\nhttp://a.example/22\nhttp://a.example/3\n"
	const first = "page http://a.example/1\n"
	long := "<urlset><url><loc>http://a.example/" + strings.Repeat("x", 40) + "</loc></url><url><loc>http://a.example/1</loc></url></urlset>"
	packed := zip(t, lines)
	for _, c := range []struct {
		name    string
		d       Document
		options Options
		want    string
	}{
		{"text", Document{Body: []byte(lines)}, Options{MaxSize: 30}, first + "= text, 1 read, 0 skipped, over the limit of 30 bytes"},
		{"gzip", Document{Body: packed}, Options{MaxSize: 30}, first + "= text, 1 read, 0 skipped, over the limit of 30 bytes"},
		{"gzip in gzip", Document{Body: zip(t, string(packed))}, Options{MaxSize: len(packed) - 1}, "= unknown, 0 read, 0 skipped, over the limit of " + fmt.Sprint(len(packed)-1) + " bytes"},
		{"entries", Document{Body: []byte(lines)}, Options{MaxEntries: 1}, first + "= text, 1 read, 0 skipped, over the limit of 1 entries"},
		{"a URL", Document{Body: []byte(lines)}, Options{MaxURL: 18}, first + "page http://a.example/3\n= text, 2 read, 1 skipped, <nil>"},
		{"a URL in XML", Document{Body: []byte(long)}, Options{MaxURL: 20}, first + "= urlset, 1 read, 1 skipped, <nil>"},
		{"no entries", Document{Body: []byte("<urlset>\n<foo>http://a.example/1</foo></urlset>")}, Options{}, "= urlset, 0 read, 0 skipped, broken: line 2: <foo>, expected <url> or <sitemap>"},
		{"an empty one", Document{Body: []byte("<urlset></urlset>")}, Options{}, "= urlset, 0 read, 0 skipped, <nil>"},
		{"cut text", Document{Body: []byte(lines[:30]), Cut: true}, Options{}, first + "= text, 1 read, 0 skipped, broken: the body is cut"},
		{"cut XML", Document{Body: []byte("<urlset><url><loc>http://a.example/1</loc></url><url><loc>http"), Cut: true}, Options{}, first + "= urlset, 1 read, 0 skipped, broken: the body is cut"},
		{"entries that have not ended do not nest", Document{Body: []byte("<urlset>" + strings.Repeat("<url><loc>http://a.example/1", 100))}, Options{MaxEntries: 99},
			strings.Repeat(first, 99) + "= urlset, 99 read, 0 skipped, broken: line 1: the end, expected </loc> first"},
		{"nesting", Document{Body: []byte("<urlset><url><loc>http://a.example/1</loc></url>" + strings.Repeat("<a>", 100))}, Options{}, first + "= urlset, 1 read, 0 skipped, over the limit of 64 elements in one another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(c.d, c.options); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestLongBase: resolved URLs are bounded, however long the base is.
func TestLongBase(t *testing.T) {
	base := parse(t, "http://a.example/"+strings.Repeat("x", 10_000)+"/")
	d := Document{Base: base, Body: []byte("<urlset>" + strings.Repeat("<url><loc>a</loc></url>", 1000) + "</urlset>")}
	r := Read(d, Options{MaxSize: 50_000}, func(Entry) bool { return true })
	if !errors.Is(r.Err, ErrLimit) || r.Entries != 19 {
		t.Errorf("%d entries and %v, expected 19 of 10 KB and the limit of 4 times 50 KB", r.Entries, r.Err)
	}
}

// TestBrokenGzip: gzip is read up to the point where it breaks.
func TestBrokenGzip(t *testing.T) {
	var all strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&all, "<url><loc>http://a.example/%d</loc></url>\n", i*i*7919)
	}
	whole := zip(t, "<urlset>"+all.String()+"</urlset>")
	spoilt := bytes.Clone(whole)
	spoilt[len(spoilt)-5] ^= 1 // of the checksum
	for _, c := range []struct {
		name        string
		body        []byte
		least, most int
		want        string
	}{
		{"half", whole[:len(whole)/2], 500, 1500, "broken: gzip ends too early"},
		{"the header", whole[:5], 0, 0, "broken: gzip ends too early"},
		{"the checksum", spoilt, 2000, 2000, "broken: gzip: checksum mismatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Read(Document{Body: c.body}, Options{}, func(Entry) bool { return true })
			if r.Entries < c.least || r.Entries > c.most || r.Err == nil || !strings.Contains(r.Err.Error(), c.want) {
				t.Errorf("%d entries, %v; expected %d to %d, and %s", r.Entries, r.Err, c.least, c.most, c.want)
			}
		})
	}
}

// TestStops: nothing is yielded after yield has returned false, which is no error.
func TestStops(t *testing.T) {
	for _, body := range []string{two, "http://a.example/1\nhttp://a.example/2\n"} {
		n := 0
		r := Read(Document{Body: []byte(body)}, Options{}, func(Entry) bool { n++; return false })
		if n != 1 || r.Entries != 1 || r.Err != nil {
			t.Errorf("%.20s: yielded %d, %+v", body, n, r)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"1997":                             "1997-01-01T00:00:00Z",
		"1997-07":                          "1997-07-01T00:00:00Z",
		"1997-07-16":                       "1997-07-16T00:00:00Z",
		"1997-07-16T19:20+01:00":           "1997-07-16T18:20:00Z",
		"1997-07-16T19:20:30+01:00":        "1997-07-16T18:20:30Z",
		"1997-07-16T19:20:30.45+01:00":     "1997-07-16T18:20:30.45Z",
		"1997-07-16T19:20:30Z":             "1997-07-16T19:20:30Z",
		"1997-07-16t19:20:30z":             "1997-07-16T19:20:30Z",
		"1997-07-16T19:20:30":              "1997-07-16T19:20:30Z",
		"1997-07-16T19:20":                 "1997-07-16T19:20:00Z",
		"1997-07-16 19:20:30":              "1997-07-16T19:20:30Z",
		"1997-07-16 19:20:30 +0100":        "1997-07-16T18:20:30Z",
		"1997-07-16T19:20:30+0100":         "1997-07-16T18:20:30Z",
		"1997-07-16T19:20:30+01":           "1997-07-16T18:20:30Z",
		"Wed, 16 Jul 1997 19:20:30 GMT":    "1997-07-16T19:20:30Z",
		"Wed, 16 Jul 1997 19:20:30 +0100":  "1997-07-16T18:20:30Z",
		"16 Jul 97 19:20 EDT":              "1997-07-16T23:20:00Z",
		"2 Jul 1997 19:20:30 pst":          "1997-07-03T03:20:30Z",
		"1997-13-16":                       "",
		"1997-07-16T25:00:00Z":             "",
		"yesterday":                        "",
		"":                                 "",
		",":                                "",
		"Wed, 16 Jul 1997 19:20:30 XYZ":    "",
		"99999-01-01":                      "",
		"1997-07-16T19:20:30+01:00 extra!": "",
	} {
		got := ""
		if at := parseTime(text); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: %s, expected %s", text, got, want)
		}
	}
}
