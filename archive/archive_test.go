package archive

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/warc"
)

var day = time.Date(2026, 11, 22, 12, 0, 0, 123456000, time.UTC)

// writer writes a WARC file and the lines of its index.
type writer struct {
	*warc.Encoder
	name  string
	file  []byte
	lines []string
}

func newWriter(name string) *writer {
	n := byte(0)
	return &writer{name: name, Encoder: warc.NewEncoder(warc.Options{NewID: func() warc.ID { n++; return warc.NewID([16]byte{15: n}) }})}
}

// add appends a capture that a number of hours have gone by before.
func (w *writer) add(url string, hours int, head, body string, original *warc.Original) *warc.Original {
	x := &warc.Exchange{URL: url, Date: day.Add(time.Duration(hours) * time.Hour), Original: original,
		Response: []byte("HTTP/1.1 " + head + "\r\n\r\n" + body)}
	var c warc.Capture
	w.file, c = w.Exchange(w.file, x)
	m, _ := warc.ReadMessage(bytes.NewReader(x.Response))
	line := warc.Index{Key: warc.SURT(url), Date: x.Date, URL: url, MIME: mediaType(m.Header.Get("Content-Type")),
		Status: m.Status(), Filename: w.name, Offset: int64(c.Start), Length: int64(c.Length)}
	if c.Type == warc.Revisit {
		line.MIME = "warc/revisit"
	}
	if c.Payload.Sum != nil {
		line.Digest = c.Payload.String()
	}
	w.lines = append(w.lines, string(line.Append(nil)))
	return &warc.Original{ID: c.ID, URL: url, Date: x.Date}
}

// aSite writes three captures of one page, the last two as revisits, and others.
func aSite(name string) *writer {
	const html = "200 OK\r\nContent-Type: text/html; charset=utf-8"
	w := newWriter(name)
	w.add("https://example.org/z", 0, html, "<p>z</p>", nil)
	first := w.add("https://example.org/", 0, html, "<p>home</p>", nil)
	w.add("http://example.org/", 1, "301 Moved Permanently\r\nLocation: https://example.org/", "", nil)
	w.add("https://example.org/", 2, html+"\r\nX-Later: yes\r\nTransfer-Encoding: chunked", "b\r\n<p>home</p>\r\n0\r\n\r\n", first)
	w.add("https://example.org/", 4, "304 Not Modified", "", first)
	w.add("https://example.org/list?page=2", 0, html, "<p>2</p>", nil)
	w.add("https://other.example/a.png", 0, "200 OK\r\nContent-Type: image/png", "png", nil)
	return w
}

func (w *writer) index(sorted bool) string {
	lines := slices.Clone(w.lines)
	if sorted {
		slices.Sort(lines)
	}
	return strings.Join(lines, "")
}

func save(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func zipped(t *testing.T, method uint16, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func gunzipped(b []byte) string {
	z, _ := gzip.NewReader(bytes.NewReader(b))
	text, _ := io.ReadAll(z)
	return string(text)
}

// TestArchive: the same captures are found in each form of an archive.
func TestArchive(t *testing.T) {
	w := aSite("a.warc.gz")
	file := string(w.file)
	job := func(more ...string) string {
		files := map[string]string{"archive/a.warc.gz": file}
		for i := 0; i < len(more); i += 2 {
			files[more[i]] = more[i+1]
		}
		return save(t, files)
	}
	wacz := func(files ...string) string {
		return save(t, map[string]string{"a.wacz": zipped(t, zip.Store, files...)}) + "/a.wacz"
	}
	for name, path := range map[string]string{
		"a job with an index": job("archive/index.cdxj", w.index(true), "archive/captures.cdxj", w.index(false)),
		"an index of earlier": job("archive/index.cdxj", "org,example)/ 2020", "archive/captures.cdxj", w.index(false)),
		"a crawl that runs":   save(t, map[string]string{"archive/a.warc.gz.open": file, "archive/captures.cdxj": w.index(false) + "torn"}),
		"a job without index": job(),
		"WACZ":                wacz("archive/a.warc.gz", file, "indexes/index.cdx", w.index(true)),
		"WACZ, packed index":  wacz("archive/a.warc.gz", file, "indexes/index.cdx.gz", gzipped("!meta 0 {}\n"+w.index(true))),
		"WACZ without index":  wacz("archive/a.warc.gz", file),
		"a WARC file":         job() + "/archive/a.warc.gz",
		"not compressed":      save(t, map[string]string{"a": gunzipped(w.file)}) + "/a",
	} {
		t.Run(name, func(t *testing.T) { testSite(t, path) })
	}
}

func testSite(t *testing.T, path string) {
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if len(a.Damage) > 0 {
		t.Error(a.Damage)
	}
	for url, want := range map[string]string{
		"https://example.org/":               "200 2026-11-22T12:00:00Z <p>home</p>, 200 2026-11-22T14:00:00Z <p>home</p>, 200 2026-11-22T16:00:00Z <p>home</p>",
		"HTTP://EXAMPLE.org:80/#top":         "301 2026-11-22T13:00:00Z ",
		"http://www.example.org/list?page=2": "200 2026-11-22T12:00:00Z <p>2</p>",
		"https://other.example/a.png":        "200 2026-11-22T12:00:00Z png",
		"https://example.org/none":           "",
	} {
		captures, err := a.Captures(url)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range captures {
			r, err := a.Read(c)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := r.Body()
			text, err := io.ReadAll(body)
			if err != nil {
				t.Error(err)
			}
			got = append(got, fmt.Sprint(r.Message.Status(), " ", c.Date.Format(time.RFC3339), " ", string(text)))
			if c.Date.Hour() == 14 && r.Message.Header.Get("X-Later") != "yes" {
				t.Errorf("the head of a revisit: %+v", r.Message.Header)
			}
			if r.Close() != nil {
				t.Error("not closed")
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s:\n%q, want\n%q", url, got, want)
		}
	}
	home, _ := a.Captures("https://example.org/")
	for hours, want := range map[int]int{-5: 12, 0: 12, 2: 14, 3: 16, 100: 16} {
		if got := Nearest(home, day.Add(time.Duration(hours)*time.Hour)).Date.Hour(); got != want {
			t.Errorf("nearest to %d h: %d h", hours, got)
		}
	}
	similar, err := a.Similar("http://example.org/list?page=7", 2)
	if err != nil || len(similar) != 2 || similar[0].URL != "https://example.org/list?page=2" {
		t.Errorf("similar: %+v %v", similar, err)
	}
	similar, err = a.Similar("https://other.example/b.png", 2)
	if err != nil || len(similar) != 0 {
		t.Errorf("images of the same host: %+v %v", similar, err)
	}
	if pages, err := a.Pages(10); err != nil || len(pages) != 3 || pages[0].URL != "https://example.org/" {
		t.Errorf("pages: %+v %v", pages, err)
	}
}

// TestPages: jobs and WACZ files list their pages, with titles.
// The same bytes are a file at one URL, and a page with a content coding at another.
func TestRevisitCoding(t *testing.T) {
	const coded, plain = "200 OK\r\nContent-Encoding: gzip", "200 OK\r\nContent-Type: application/gzip"
	body := gzipped("<p>page</p>")
	w := newWriter("a.warc.gz")
	file := w.add("https://example.org/a.gz", 0, plain, body, nil)
	w.add("https://example.org/page", 1, coded, body, file)
	page := w.add("https://example.org/first", 2, coded, body+" ", nil)
	w.add("https://example.org/b.gz", 3, plain, body+" ", page)
	a, err := Open(filepath.Join(save(t, map[string]string{"a.warc.gz": string(w.file)}), "a.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for url, want := range map[string]string{"https://example.org/page": "<p>page</p>", "https://example.org/b.gz": body + " "} {
		captures, err := a.Captures(url)
		if err != nil || len(captures) != 1 {
			t.Fatal(captures, err)
		}
		r, err := a.Read(captures[0])
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		in, err := r.Body()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(in); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, expected %q", url, got, err, want)
		}
	}
}

func TestPages(t *testing.T) {
	w := aSite("a.warc.gz")
	dir := save(t, map[string]string{
		"job/archive/a.warc.gz": string(w.file),
		"job/pages.jsonl": `{"url":"https://example.org/","status":200,"content_type":"text/html","title":"Home","started":"2026-11-22T12:00:00.123Z"}
{"url":"https://example.org/lost","status":404,"content_type":"text/html","started":"2026-11-22T12:00:00.123Z"}
{"url":"https://other.example/a.png","status":200,"content_type":"image/png","started":"2026-11-22T12:00:00.123Z"}
not JSON
`,
		"a.wacz": zipped(t, zip.Deflate, "pages/pages.jsonl", `{"format":"json-pages-1.0","id":"pages"}
{"url":"https://example.org/","title":"Home","ts":"2026-11-22T12:00:00Z"}
`),
	})
	for _, name := range []string{"job", "a.wacz"} {
		a, err := Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		pages, err := a.Pages(10)
		if err != nil || len(pages) != 1 || pages[0].Title != "Home" || pages[0].Date.Hour() != 12 {
			t.Errorf("%s: %+v %v", name, pages, err)
		}
		a.Close()
	}
}

// TestARC: captures of ARC files, and of two files at once.
func TestARC(t *testing.T) {
	body := "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nold"
	arc := fmt.Sprintf("http://example.org/ 192.0.2.1 19990102030405 text/html %d\n%s\n", len(body), body)
	dir := save(t, map[string]string{"a.arc": arc, "a.warc.gz": string(aSite("").file)})
	a, err := Open(filepath.Join(dir, "a.arc"), filepath.Join(dir, "a.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	captures, err := a.Captures("http://example.org/")
	if err != nil || len(captures) != 2 || captures[0].Date.Year() != 1999 {
		t.Fatalf("%+v %v", captures, err)
	}
	r, err := a.Read(captures[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := io.ReadAll(r.Message.Rest); err != nil || string(text) != "old" {
		t.Errorf("%q %v", text, err)
	}
}

// TestBadArchives: what is wrong is named with its file and offset, and nothing outside is read.
func TestBadArchives(t *testing.T) {
	w := aSite("a.warc.gz")
	cut := string(w.file[:len(w.file)-20])
	line := func(file string, offset int) string {
		x := warc.Index{Key: "org,example)/", Date: day, URL: "https://example.org/", Filename: file, Offset: int64(offset)}
		return string(x.Append(nil))
	}
	revisit := newWriter("a.warc.gz")
	revisit.add("https://example.org/", 0, "200 OK", "", &warc.Original{URL: "https://example.org/gone", Date: day})
	job := func(warc, index string) string {
		return save(t, map[string]string{"archive/a.warc.gz": warc, "archive/index.cdxj": index, "secret": warc})
	}
	wacz := func(b string) string { return save(t, map[string]string{"a.wacz": b}) + "/a.wacz" }
	linked := t.TempDir()
	if err := os.Symlink(filepath.Join(job(cut, line("a.warc.gz", 0)), "archive"), filepath.Join(linked, "archive")); err != nil {
		t.Fatal(err)
	}
	piped := func(name string) string { // a job from elsewhere may have a pipe, which nobody writes to
		dir := save(t, map[string]string{"archive/a.warc.gz": cut})
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for want, path := range map[string]string{
		"has no folder archive":                                t.TempDir(),
		"expected a job with an archive":                       linked,
		"captures.cdxj: not a file":                            piped("archive/captures.cdxj"),
		"index.cdxj: not a file":                               piped("archive/index.cdxj"),
		"offset 0: \"text\"":                                   save(t, map[string]string{"a": "text"}) + "/a",
		"zip: not a valid":                                     wacz("PK\x03\x04 and no more"),
		"is compressed in the zip":                             wacz(zipped(t, zip.Deflate, "archive/a.warc.gz", cut, "indexes/index.cdx", line("a.warc.gz", 0))),
		"a.warc.gz: offset 99999: the file has only":           job(cut, line("a.warc.gz", 99999)),
		"a.warc.gz: offset 7: ":                                job(cut, line("a.warc.gz", 7)),
		"a.warc.gz: offset -1: the file has only":              job(cut, line("a.warc.gz", -1)),
		`"../secret" is not the name of a file`:                job(cut, line("../secret", 0)),
		"lost.warc.gz: offset 0: openat lost.warc.gz: no such": job(cut, line("lost.warc.gz", 0)),
		"a.warc.gz: offset 0: no capture of":                   job(cut, line("a.warc.gz", 0)),
		"index.cdxj: offset 0: index line":                     job(cut, "org,example)/ 2026 {\n"),
		"index.cdxj: offset 0: a line of more than":            job(cut, strings.Repeat("x", maxLine+1)),
		"a.warc.gz: offset 0: the original of this revisit, https://example.org/gone, is not": job(string(revisit.file), revisit.index(true)),
	} {
		a, err := Open(path)
		if err == nil {
			var captures []Capture
			if captures, err = a.Captures("https://example.org/"); err == nil && len(captures) > 0 {
				_, err = a.Read(captures[0])
			}
			a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	a, err := Open(save(t, map[string]string{"a.warc.gz": cut}) + "/a.warc.gz")
	if err != nil || len(a.Damage) != 1 || !strings.Contains(a.Damage[0].Error(), "a.warc.gz: offset ") {
		t.Errorf("a file cut short: %v %v", a, err)
	}
}

// FuzzIndex: whatever an index holds, a search ends; if it is sorted, it finds the first line that
// is not less.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(aSite("a").index(true)), "org,example)/ ")
	f.Add([]byte("a\nb\n\nc"), "b")
	f.Fuzz(func(t *testing.T, text []byte, want string) {
		x := &index{from: bytes.NewReader(text), size: int64(len(text))}
		for range x.prefixed(want) {
		}
		lines := slices.Collect(strings.Lines(string(text) + "\n"))
		slices.Sort(lines)
		sorted := strings.Join(lines, "")
		if strings.ContainsFunc(want+sorted, func(c rune) bool { return c < '\n' }) || strings.Contains(want, "\n") {
			return
		}
		at := 0
		for _, line := range lines {
			if strings.TrimSuffix(line, "\n") >= want {
				break
			}
			at += len(line)
		}
		x = &index{from: strings.NewReader(sorted), size: int64(len(sorted))}
		if got, err := x.search(want); len(sorted) < maxLine && (err != nil || got != int64(at)) {
			t.Errorf("%d %v, want %d", got, err, at)
		}
	})
}

// TestForeignOriginal: the head of a revisit says how the same payload is coded, not its original
// on another server.
func TestForeignOriginal(t *testing.T) {
	w := newWriter("a.warc.gz")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "<p>home</p>")
	z.Close()
	plain := w.add("https://copy.example/", 0, "200 OK", packed.String(), nil)
	w.add("https://example.org/", 1, "200 OK\r\nContent-Encoding: gzip", packed.String(), plain)
	a, err := Open(filepath.Join(save(t, map[string]string{"a.warc.gz": string(w.file)}), "a.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	captures, err := a.Captures("https://example.org/")
	if err != nil || len(captures) != 1 {
		t.Fatal(captures, err)
	}
	r, err := a.Read(captures[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := r.Body()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(body); string(text) != "<p>home</p>" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLongCaptures: the captures of a URL in an index take a bounded memory.
func TestLongCaptures(t *testing.T) {
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "org,example)/ 20260101000000 {\"url\":\"https://example.org/%s%04d\"}\n", strings.Repeat("a", 900_000), i)
	}
	a, err := Open(save(t, map[string]string{"archive/index.cdxj": lines.String()}))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	captures, err := a.Captures("https://example.org/")
	if err != nil || len(captures) > 40 {
		t.Errorf("%d captures, %v", len(captures), err)
	}
}

// TestAddresses: a site at an IP address is found in an index that reverses the parts of addresses,
// as pywb does, and in one that does not.
func TestAddresses(t *testing.T) {
	w := newWriter("a.warc.gz")
	w.add("http://192.0.2.7:8000/a", 0, "200 OK", "first", nil)
	w.add("http://192.0.2.7:8000/a", 1, "200 OK", "second", nil)
	if !strings.HasPrefix(w.lines[0], "7,2,0,192:8000)/a ") {
		t.Fatal(w.lines[0])
	}
	w.lines[1] = strings.Replace(w.lines[1], "7,2,0,192", "192.0.2.7", 1)
	a, err := Open(save(t, map[string]string{"archive/a.warc.gz": string(w.file), "archive/index.cdxj": w.index(true)}))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	captures, err := a.Captures("http://192.0.2.7:8000/a")
	if err != nil || len(captures) != 2 {
		t.Fatal(captures, err)
	}
	for _, c := range captures {
		r, err := a.Read(c)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
}

// TestNearestOfASecond: of captures in one second, it is the last, as behind a gate that redirects
// back.
func TestNearestOfASecond(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	all := []Capture{{warc.Index{Date: at, Status: 302}, nil}, {warc.Index{Date: at, Status: 200}, nil}}
	for _, date := range []time.Time{{}, at, at.Add(-time.Hour), at.Add(time.Hour)} {
		if c := Nearest(all, date); c.Status != 200 {
			t.Errorf("nearest to %v: %d", date, c.Status)
		}
	}
}
