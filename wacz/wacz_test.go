package wacz

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/warc"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// crawled makes the files that a crawl of a site leaves: records, and captures in two files.
type crawled struct {
	enc      *warc.Encoder
	files    map[string][]byte
	captures []byte
	pages    []byte
	n        int
}

func newCrawled() *crawled {
	c := &crawled{files: make(map[string][]byte)}
	id := byte(0)
	c.enc = warc.NewEncoder(warc.Options{NewID: func() warc.ID { id++; return warc.NewID([16]byte{14: byte(c.n), 15: id}) }})
	return c
}

// page adds an HTML page to a file.
func (c *crawled) page(file, url, title string) {
	c.response(file, url, 200, "text/html; charset=utf-8", "<!doctype html><title>"+title+"</title><p>text of "+url)
	r := record.Record{URL: url, Status: 200, ContentType: "text/html; charset=utf-8", Title: title, Started: c.at().Add(-300 * time.Millisecond)}
	c.pages = append(c.pages, r.Line()...)
}

func (c *crawled) at() time.Time { return noon.Add(time.Duration(c.n) * time.Second) }

func (c *crawled) response(file, url string, status int, contentType, body string) {
	c.n++
	b, got := c.enc.Exchange(c.files[file], &warc.Exchange{URL: url, Date: c.at(), Request: []byte("GET / HTTP/1.1\r\n\r\n"),
		Response: fmt.Appendf(nil, "HTTP/1.1 %d X\r\nContent-Type: %s\r\n\r\n%s", status, contentType, body)})
	c.files[file] = b
	x := warc.Index{Key: warc.SURT(url), Date: c.at(), URL: url, MIME: contentType, Status: status, Digest: got.Payload.String(),
		Filename: strings.TrimSuffix(file, ".open"), Offset: int64(got.Start), Length: int64(got.Length)}
	c.captures = x.Append(c.captures)
}

// save writes the job's folder.
func (c *crawled) save(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "archive"), 0o777); err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{"pages.jsonl": c.pages, "archive/captures.cdxj": c.captures}
	for name, b := range c.files {
		all["archive/"+name] = b
	}
	for name, b := range all {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func aSite() *crawled {
	c := newCrawled()
	c.page("a-00001.warc.gz", "https://example.org/", "Start & more")
	c.page("a-00001.warc.gz", "https://example.org/b", "")
	c.response("a-00001.warc.gz", "https://example.org/style.css", 200, "text/css", "p {}")
	c.response("a-00002.warc.gz", "https://example.org/lost", 404, "text/html", "<title>lost</title>")
	c.page("a-00002.warc.gz", "https://example.org/a", "A")
	lost := record.Record{URL: "https://example.org/lost", Status: 404, ContentType: "text/html"}
	kept := record.Record{URL: "https://example.org/not-archived", Status: 200, ContentType: "text/html"}
	c.pages = append(append(c.pages, lost.Line()...), kept.Line()...)
	return c
}

func packedJob(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := PackJob(&b, dir, Options{Title: "A site", Software: "weft test"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// faults checks a package.
func faults(t *testing.T, file []byte) (found []string, counted Checked) {
	t.Helper()
	counted, err := Check(bytes.NewReader(file), int64(len(file)), func(f Fault) { found = append(found, f.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	return found, counted
}

// entries unpacks a package.
func entries(t *testing.T, file []byte) (names []string, text map[string]string, methods map[string]uint16) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	text, methods = make(map[string]string), make(map[string]uint16)
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		text[f.Name], methods[f.Name] = string(b), f.Method
	}
	return names, text, methods
}

// TestPackJob packs a job, twice.
func TestPackJob(t *testing.T) {
	c := aSite()
	dir := c.save(t)
	file := packedJob(t, dir)
	names, text, methods := entries(t, file)
	want := []string{"archive/a-00001.warc.gz", "archive/a-00002.warc.gz", plainIndex, pagesFile, packageFile, digestFile}
	if !slices.Equal(names, want) {
		t.Errorf("entries %q", names)
	}
	for name, b := range c.files {
		if text["archive/"+name] != string(b) || methods["archive/"+name] != zip.Store {
			t.Errorf("%s: %d bytes, method %d", name, len(text["archive/"+name]), methods["archive/"+name])
		}
	}
	if lines := strings.Split(strings.TrimSpace(text[plainIndex]), "\n"); len(lines) != 5 || !slices.IsSorted(lines) {
		t.Errorf("index %s", text[plainIndex])
	}
	var got []string
	for line := range strings.Lines(text[pagesFile]) {
		var p page
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		got = append(got, p.URL+" "+p.Date+" "+p.Title)
	}
	if want := []string{"  All Pages", "https://example.org/ 2026-11-22T12:00:00Z Start & more", "https://example.org/b 2026-11-22T12:00:01Z ", "https://example.org/a 2026-11-22T12:00:04Z A"}; !slices.Equal(got, want) {
		t.Errorf("pages %q", got)
	}
	var about dataPackage
	if err := json.Unmarshal([]byte(text[packageFile]), &about); err != nil {
		t.Fatal(err)
	}
	if len(about.Resources) != 4 || !about.Created.Equal(noon.Add(5*time.Second)) || about.MainPageURL != "https://example.org/" || about.Title != "A site" {
		t.Errorf("%+v", about)
	}
	if found, counted := faults(t, file); len(found) > 0 || counted != (Checked{2, 5, 3}) {
		t.Errorf("%q, %+v", found, counted)
	}
	if !bytes.Equal(file, packedJob(t, dir)) || !bytes.Equal(file, packedJob(t, aSite().save(t))) {
		t.Error("the same job makes other bytes")
	}
}

// TestPackUnfinished: of an archive that is being written, the records count that are whole and
// committed, under its final name.
func TestPackUnfinished(t *testing.T) {
	c := newCrawled()
	c.page("a.warc.gz.open", "https://example.org/", "Start")
	c.page("a.warc.gz.open", "https://example.org/b", "B")
	whole, committed := len(c.files["a.warc.gz.open"]), int64(len(c.captures))
	c.page("a.warc.gz.open", "https://example.org/c", "C")
	for _, size := range []int{whole, whole + 30, len(c.files["a.warc.gz.open"])} {
		dir := c.save(t)
		if err := os.Truncate(filepath.Join(dir, "archive/a.warc.gz.open"), int64(size)); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := packJob(&b, dir, committed, Options{}); err != nil {
			t.Fatal(err)
		}
		_, text, _ := entries(t, b.Bytes())
		if n := len(text["archive/a.warc.gz"]); n != whole {
			t.Errorf("%d of %d bytes, expected %d", n, size, whole)
		}
		if found, counted := faults(t, b.Bytes()); len(found) > 0 || counted != (Checked{1, 2, 2}) {
			t.Errorf("%q, %+v", found, counted)
		}
	}
}

// TestPackDamagedJob: an archive that is missing, or shorter than the index says, is named.
func TestPackDamagedJob(t *testing.T) {
	for want, damage := range map[string]func(archive string) error{
		"a-00002.warc.gz is missing": func(a string) error { return os.Remove(filepath.Join(a, "a-00002.warc.gz")) },
		"a-00001.warc.gz has 100 bytes, expected at least ": func(a string) error {
			return os.Truncate(filepath.Join(a, "a-00001.warc.gz"), 100)
		},
		"no capture": func(a string) error { return os.Truncate(filepath.Join(a, cdxj.CapturesFile), 0) },
	} {
		dir := aSite().save(t)
		if err := damage(filepath.Join(dir, "archive")); err != nil {
			t.Fatal(err)
		}
		if err := PackJob(io.Discard, dir, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestPackCorruptJob: a job is packed with what a disk has spoilt, which is reported.
func TestPackCorruptJob(t *testing.T) {
	dir := aSite().save(t)
	path := filepath.Join(dir, "archive", "a-00001.warc.gz")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0x55
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	var damaged []string
	o := Options{Damage: func(path string, d *warc.DamageError) { damaged = append(damaged, fmt.Sprint(path, ": ", d)) }}
	if err := PackJob(&packed, dir, o); err != nil {
		t.Fatal(err)
	}
	if len(damaged) == 0 || !strings.HasPrefix(damaged[0], path+": offset ") {
		t.Errorf("%q", damaged)
	}
	if _, text, _ := entries(t, packed.Bytes()); text["archive/a-00001.warc.gz"] != string(b) {
		t.Error("the archive is not packed as it is")
	}
}

// TestPackFiles packs WARC files of any tool: pages and titles come from the captures.
func TestPackFiles(t *testing.T) {
	c := aSite()
	archive := filepath.Join(c.save(t), "archive")
	paths := []string{filepath.Join(archive, "a-00002.warc.gz"), filepath.Join(archive, "a-00001.warc.gz")}
	var b bytes.Buffer
	if err := PackFiles(&b, paths, Options{}); err != nil {
		t.Fatal(err)
	}
	_, text, _ := entries(t, b.Bytes())
	if n := strings.Count(text[pagesFile], "\n"); n != 4 || !strings.Contains(text[pagesFile], `"ts":"2026-11-22T12:00:01Z","title":"Start & more"}`) {
		t.Errorf("pages %s", text[pagesFile])
	}
	if found, counted := faults(t, b.Bytes()); len(found) > 0 || counted != (Checked{2, 5, 3}) {
		t.Errorf("%q, %+v", found, counted)
	}
	if err := PackFiles(io.Discard, append(paths, paths[0]), Options{}); err == nil || !strings.Contains(err.Error(), "second file of that name") {
		t.Error(err)
	}
	arc := filepath.Join(archive, "a.arc")
	os.WriteFile(arc, []byte("http://a/ 127.0.0.1 20140101000000 text/html 3\nabc\n"), 0o666)
	if err := PackFiles(io.Discard, []string{arc}, Options{}); err == nil || !strings.Contains(err.Error(), "ARC, expected WARC") {
		t.Error(err)
	}
}

// TestPackStored: a page has its title whether its codings were removed or not.
func TestPackStored(t *testing.T) {
	c := newCrawled()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "<title>Packed</title>")
	z.Close()
	const fields = "text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked"
	c.response("a.warc.gz", "https://example.org/a", 200, fields, "<title>Stored</title>")
	c.response("a.warc.gz", "https://example.org/b", 200, fields, packed.String())
	var b bytes.Buffer
	if err := PackFiles(&b, []string{filepath.Join(c.save(t), "archive", "a.warc.gz")}, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, text, _ := entries(t, b.Bytes()); !strings.Contains(text[pagesFile], `"title":"Stored"`) || !strings.Contains(text[pagesFile], `"title":"Packed"`) {
		t.Errorf("pages %s", text[pagesFile])
	}
}

// TestLargeIndex: an index that is not small is one of blocks, and a list of them.
func TestLargeIndex(t *testing.T) {
	c := newCrawled()
	c.page("a.warc.gz", "https://example.org/", "Start")
	x, err := warc.ParseIndex(string(c.captures))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * blockLines {
		x.Digest = fmt.Sprintf("sha256:%0*d", mostPlain/blockLines/3, i)
		c.captures = x.Append(c.captures)
	}
	file := packedJob(t, c.save(t))
	_, text, methods := entries(t, file)
	if n := strings.Count(text[blockList], "\n"); n != 5 || methods[blockIndex] != zip.Store || text[plainIndex] != "" {
		t.Errorf("%d blocks, method %d", n, methods[blockIndex])
	}
	if found, counted := faults(t, file); len(found) > 0 || counted.Captures != 3*blockLines+1 {
		t.Errorf("%.3q, %+v", found, counted)
	}
}

// TestCheck: each fault is found.
func TestCheck(t *testing.T) {
	_, good, _ := entries(t, packedJob(t, aSite().save(t)))
	swap := func(name, old, new string) func(map[string]string) {
		return func(e map[string]string) {
			if !strings.Contains(e[name], old) {
				t.Errorf("%s has no %s", name, old)
			}
			e[name] = strings.Replace(e[name], old, new, 1)
		}
	}
	line := strings.Split(good[plainIndex], "\n")
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"digest":       {swap(pagesFile, `"title":"A"`, `"title":"B"`), "pages/pages.jsonl: does not match its digest"},
		"length":       {func(e map[string]string) { e[pagesFile] += "\n" }, "pages/pages.jsonl: "},
		"manifest":     {swap(packageFile, "weft test", "weft best"), "datapackage.json: does not match its digest"},
		"missing":      {func(e map[string]string) { delete(e, "archive/a-00002.warc.gz") }, "archive/a-00002.warc.gz: missing"},
		"missing line": {func(e map[string]string) { delete(e, "archive/a-00002.warc.gz") }, "index.cdxj: offset 249: record of a-00002.warc.gz, which is missing"},
		"unlisted":     {func(e map[string]string) { e["extra"] = "" }, "extra: not among the resources"},
		"unsorted":     {func(e map[string]string) { e[plainIndex] = line[1] + "\n" + line[0] + "\n" }, fmt.Sprintf("index.cdxj: offset %d: line that belongs before", len(line[1])+1)},
		"wrong URL":    {swap(plainIndex, `"url":"https://example.org/b"`, `"url":"https://example.org/B"`), "of https://example.org/b, expected https://example.org/B"},
		"no page":      {swap(plainIndex, `"url":"https://example.org/b"`, `"url":"https://example.org/B"`), "pages.jsonl: offset 176: https://example.org/b is not in the index"},
		"wrong offset": {swap(plainIndex, `"offset":"0"`, `"offset":"1"`), "record at offset 1 of archive/a-0000"},
		"far offset":   {swap(plainIndex, `"offset":"0"`, `"offset":"99999999"`), "at offset 99999999, expected a part of"},
		"short length": {swap(plainIndex, `"length":"`, `"length":"1`), "index.cdxj: offset 0: "},
		"no JSON":      {func(e map[string]string) { e[packageFile] = "{" }, "datapackage.json: unexpected end"},
		"no date":      {swap(pagesFile, "2026-11-22T12:00:04Z", "yesterday"), `ts "yesterday", expected a date`},
		"twice listed": {swap(packageFile, `"resources": [`, `"resources": [{"path":"archive/a-00001.warc.gz"},`), "archive/a-00001.warc.gz: a second time among"},
		"within": {func(e map[string]string) {
			first := line[slices.IndexFunc(line, func(l string) bool { return strings.Contains(l, `"offset":"0"`) })]
			e[plainIndex] += strings.Replace(first, `"offset":"0"`, `"offset":"2"`, 1) + "\n"
		}, "offset 2 of a-0000"},
		"NUL":       {swap(plainIndex, `"url":"https://example.org/b"`, `"url":"https://example.org/\u0000b"`), "not a URL"},
		"no header": {swap(pagesFile, "format", "form"), "pages.jsonl: offset 0: no format"},
	} {
		e := make(map[string]string)
		for name, text := range good {
			e[name] = text
		}
		c.change(e)
		found, _ := faults(t, zipped(t, e, zip.Store))
		if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%s: %q, want %s", name, found, c.want)
		}
	}
	if found, _ := faults(t, zipped(t, good, zip.Deflate)); !slices.Contains(found, "archive/a-00001.warc.gz: compressed in the ZIP file, expected stored as it is") {
		t.Errorf("%q", found)
	}
	if found, _ := faults(t, []byte("no zip")); !slices.Equal(found, []string{"no ZIP file"}) {
		t.Errorf("%q", found)
	}
}

// TestCheckOlder: packages of WACZ 1.0.0 have another description; those of 0.1.0 are named.
func TestCheckOlder(t *testing.T) {
	_, e, _ := entries(t, packedJob(t, aSite().save(t)))
	delete(e, digestFile)
	delete(e, packageFile)
	about := map[string]any{"profile": "data-package", "wacz_version": "1.0.0", "metadata": map[string]string{"title": "A site"}}
	var resources []any
	for name, text := range e {
		stats := map[string]any{"bytes": len(text), "hash": fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
		r := map[string]any{"path": name, "stats": stats, "hashing": "sha256"}
		if name == pagesFile {
			stats["hash"], r["hashing"] = fmt.Sprintf("%x", md5.Sum([]byte(text))), "md5"
		}
		resources = append(resources, r)
	}
	about["resources"] = resources
	text, err := json.Marshal(about)
	if err != nil {
		t.Fatal(err)
	}
	e[packageFile] = string(text)
	if found, counted := faults(t, zipped(t, e, zip.Store)); len(found) > 0 || counted != (Checked{2, 5, 3}) {
		t.Errorf("%q, %+v", found, counted)
	}
	e[pagesFile] += "\n"
	if found, _ := faults(t, zipped(t, e, zip.Store)); len(found) == 0 || !strings.HasPrefix(found[0], pagesFile+": ") {
		t.Errorf("%q", found)
	}
	delete(e, packageFile)
	e["webarchive.yaml"] = ""
	if found, _ := faults(t, zipped(t, e, zip.Store)); !slices.Contains(found, "webarchive.yaml: WACZ 0.1.0, expected 1.0.0 or later") {
		t.Errorf("%q", found)
	}
}

func zipped(t *testing.T, entries map[string]string, method uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzCheck: whatever a file holds, checking it ends with faults and no error.
func FuzzCheck(f *testing.F) {
	c := newCrawled()
	c.page("a.warc.gz", "https://example.org/", "Start")
	dir := f.TempDir()
	os.Mkdir(filepath.Join(dir, "archive"), 0o777)
	path := filepath.Join(dir, "a.warc.gz")
	os.WriteFile(path, c.files["a.warc.gz"], 0o666)
	var b bytes.Buffer
	if err := PackFiles(&b, []string{path}, Options{}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := Check(bytes.NewReader(file), int64(len(file)), func(f Fault) { _ = f.Error() }); err != nil {
			t.Error(err)
		}
	})
}

// TestHostileFiles: a URL with NUL adds no page, a link out of a job packs no other file, and
// entries in one another are not read over and over.
func TestHostileFiles(t *testing.T) {
	c := newCrawled()
	c.page("a.warc.gz", "https://example.org/", "Start")
	other, _ := c.enc.Exchange(nil, &warc.Exchange{URL: "https://example.org/_x", Date: noon, Response: []byte("HTTP/1.1 200 OK\r\n\r\n")})
	z, err := gzip.NewReader(bytes.NewReader(other))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.warc.gz")
	var file bytes.Buffer
	file.Write(c.files["a.warc.gz"])
	w := gzip.NewWriter(&file)
	w.Write(bytes.Replace(text, []byte("/_x"), []byte("/\x00x"), 1))
	w.Close()
	if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := PackFiles(&b, []string{path}, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, all, _ := entries(t, b.Bytes()); strings.Count(all[pagesFile], "\n") != 2 {
		t.Errorf("pages: %s", all[pagesFile])
	}

	job := aSite().save(t)
	if err := os.Symlink(path, filepath.Join(job, "archive", "secret.warc.gz")); err != nil {
		t.Fatal(err)
	}
	if err := PackJob(io.Discard, job, Options{}); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link out of the job: %v", err)
	}

	// The first entry in the directory says that it is as long as the file.
	at := bytes.LastIndex(b.Bytes(), []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b.Bytes()[at+20:], uint32(b.Len()))
	if found, _ := faults(t, b.Bytes()); len(found) != 1 || !strings.Contains(found[0], "overlap") {
		t.Errorf("%q, want that entries overlap", found)
	}
}
