package weft_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestLinkRecords checks that a link in links.jsonl is in canonical form, as the URL of its record,
// and says where the page has it.
func TestLinkRecords(t *testing.T) {
	site, _ := crawltest.ServePages(t, func(path string) string {
		if path != "/" {
			return ""
		}
		return "<meta charset=utf-8>\n<p>é <a href='x?a&amp;b=%7e#top%20of é'>X</a><img src=/i><a href=/>"
	})
	job := filepath.Join(t.TempDir(), "job")
	c, err := weft.New(weft.Options{Seeds: []string{site}, Job: job, Keep: weft.Keep{KeepLinks: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var found []weft.LinkRecord
	b, err := os.ReadFile(filepath.Join(job, "links.jsonl"))
	for line := range strings.Lines(string(b)) {
		var l weft.LinkRecord
		err = errors.Join(err, json.Unmarshal([]byte(line), &l))
		found = append(found, l)
	}
	want := []weft.LinkRecord{
		{From: site + "/", To: site + "/x?a&b=~", Tag: "a", Attr: "href", Kind: "page", Text: "X", Fragment: "top%20of%20%C3%A9", Line: 2, Column: 15},
		{From: site + "/", To: site + "/i", Tag: "img", Attr: "src", Kind: "image", Line: 2, Column: 55},
		{From: site + "/", To: site + "/", Tag: "a", Attr: "href", Kind: "page", Line: 2, Column: 66},
	}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("%+v, %v\nwant %+v", found, err, want)
	}
}

// TestKept checks that KeepLinks writes a line for each mention of a URL, and that KeepBodies
// writes a file for each body, named by its hash.
func TestKept(t *testing.T) {
	s := crawltest.Leafy(t, 3)
	job := filepath.Join(t.TempDir(), "job")
	c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Job: job, Keep: weft.Keep{KeepLinks: true, KeepBodies: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(job, "links.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var to []string
	for line := range strings.Lines(string(b)) {
		var l weft.LinkRecord
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.From != s.URL+"/" || l.Tag != "a" || l.Attr != "href" || l.Text != "to "+strings.TrimPrefix(l.To, s.URL) {
			t.Errorf("link %+v", l)
		}
		to = append(to, l.To)
	}
	if want := []string{s.URL + "/x", s.URL + "/xx", s.URL + "/xxx"}; !slices.Equal(to, want) {
		t.Errorf("links to %q, expected %q", to, want)
	}
	bodies := make(map[string]bool)
	for _, r := range crawltest.Records(t, job) {
		body, err := os.ReadFile(filepath.Join(job, "bodies", r.SHA256[:2], r.SHA256))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(body)) != r.SHA256 || len(body) != r.BodyBytes {
			t.Errorf("body of %s: %q, %v", r.URL, body, err)
		}
		bodies[r.SHA256] = true
	}
	files, err := filepath.Glob(filepath.Join(job, "bodies", "*", "*"))
	if err != nil || len(files) != len(bodies) || len(bodies) != 2 {
		t.Errorf("%d different bodies, %d files: %v", len(bodies), len(files), err)
	}
}

func TestOutput(t *testing.T) {
	s := crawltest.Leafy(t, 2)
	run := func(f weft.Format) string {
		var out bytes.Buffer
		c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Pace: weft.Pace{Concurrency: 1}, Output: &out, Format: f})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got, want := run(weft.FormatURLs), s.URL+"/\n"+s.URL+"/x\n"+s.URL+"/xx\n"; got != want {
		t.Errorf("URLs %q, expected %q", got, want)
	}
	n := 0
	for line := range strings.Lines(run(weft.FormatJSONL)) {
		var r weft.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Status != 200 {
			t.Errorf("record %q: %v", line, err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d records, expected 3", n)
	}
	rows, err := csv.NewReader(strings.NewReader(run(weft.FormatCSV))).ReadAll()
	if err != nil || len(rows) != 4 || rows[0][0] != "url" || rows[1][0] != s.URL+"/" || rows[1][1] != "200" {
		t.Errorf("rows %q: %v", rows, err)
	}
	var names []string
	for field := range reflect.TypeFor[weft.Record]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	if columns := slices.Sorted(slices.Values(rows[0])); !slices.Equal(columns, slices.Sorted(slices.Values(names))) {
		t.Errorf("columns %q, expected the JSON fields of a Record: %q", columns, names)
	}
}

// brokenWriter is closed when it is first written to.
type brokenWriter chan struct{}

var errBroken = errors.New("the reader is gone")

func (w brokenWriter) Write([]byte) (int, error) {
	close(w)
	return 0, errBroken
}

// TestOutputBreaks checks that the crawl ends with an error when its output cannot be written.
func TestOutputBreaks(t *testing.T) {
	w := make(brokenWriter)
	hooks := weft.Hooks{OnPage: func(_ context.Context, p *weft.Page) error {
		if p.Record.Depth > 0 { // or all would be fetched before it is written
			<-w
		}
		return nil
	}}
	c, err := weft.New(weft.Options{Seeds: []string{crawltest.Leafy(t, 100).URL}, Pace: weft.Pace{Concurrency: 2}, Output: w, Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := c.Run(t.Context()); !errors.Is(err, errBroken) || sum.Pending == 0 {
		t.Errorf("error %v, summary %+v", err, sum)
	}
}

func TestCharsets(t *testing.T) {
	w := crawltest.Web{}
	for name, body := range map[string]string{
		"utf-8":        "<title>caf\u00e9</title>",
		"declared":     "<meta charset=windows-1251><title>\xca\xee\xf4\xe5</title>",
		"windows-1252": "<title>caf\xe9</title>",
	} {
		w["http://a.test/"+name] = body
	}
	for _, c := range []struct{ name, charset, title string }{
		{"utf-8", "utf-8", "café"}, {"declared", "windows-1251", "Кофе"}, {"windows-1252", "windows-1252", "café"},
	} {
		got, _, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/" + c.name}, Reach: weft.Reach{Scope: weft.ScopePage}})
		if r := got["http://a.test/"+c.name]; r.Charset != c.charset || r.Title != c.title {
			t.Errorf("%s: charset %q, title %q, expected %q, %q", c.name, r.Charset, r.Title, c.charset, c.title)
		}
	}
}

// TestErrorBytes checks that the bytes of a URL with an error are counted under its error kind.
func TestErrorBytes(t *testing.T) {
	w := crawltest.Web{"http://a.test/": "301 /b", "http://a.test/b": "a page"}
	_, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{MaxRedirects: -1}})
	if got := sum.Errors[weft.KindRedirects]; got.URLs != 1 || got.Bytes == 0 || got != sum.Statuses[301] {
		t.Errorf("count %+v, expected the same as for status 301: %+v", got, sum.Statuses)
	}
}

func TestSummary(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/": crawltest.Links("/gone", "/moved", "/page", "http://a.test:81/"), "http://a.test/gone": "410",
		"http://a.test/moved": "301 /page", "http://a.test/page": "a page",
	}
	_, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeDomain}, Pace: weft.Pace{Retries: -1}})
	if sum.Recorded() != 5 || sum.Pages != 2 || sum.Redirects != 1 || sum.Statuses[200].URLs != 2 || sum.Statuses[410].URLs != 1 ||
		sum.Errors["connect"].URLs != 1 || sum.ContentTypes["text/html"].URLs != 2 || sum.Robots != 2 || len(sum.Slowest) != 4 {
		t.Errorf("summary %+v", sum)
	}
	if !slices.IsSortedFunc(sum.Slowest, func(a, b weft.Record) int { return int(b.TotalMS - a.TotalMS) }) {
		t.Errorf("the slowest are not sorted: %+v", sum.Slowest)
	}
	if !strings.Contains(sum.FirstError, "http://a.test:81/") {
		t.Errorf("first error %q", sum.FirstError)
	}
}

// TestAmpersand checks that the outputs do not escape the & of a URL.
func TestAmpersand(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	s.Show(map[string]crawltest.Response{"/": {Body: crawltest.Links("/?a=1&amp;b=2")}})
	c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Keep: weft.Keep{KeepLinks: true}, Reach: weft.Reach{NoRobots: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pages.jsonl", "links.jsonl"} {
		if b, err := os.ReadFile(filepath.Join(job, name)); err != nil || !strings.Contains(string(b), s.URL+`/?a=1&b=2"`) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}

// fragile accepts a limited number of writes.
type fragile struct {
	bytes.Buffer
	writes int
}

func (f *fragile) Write(b []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errBroken
	}
	return f.Buffer.Write(b)
}

// TestStreamMissesNothing checks that a URL whose record could not be written to Output is not
// done, and is written when the job resumes.
func TestStreamMissesNothing(t *testing.T) {
	s := crawltest.Leafy(t, 60)
	o := weft.Options{Seeds: []string{s.URL + "/"}, Job: filepath.Join(t.TempDir(), "job"), Format: weft.FormatURLs, Pace: weft.Pace{Delay: 1, Concurrency: 1}}
	var got []string
	for writes := range 1000 {
		out := &fragile{writes: writes}
		o.Output = out
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := c.Run(t.Context())
		got = append(got, strings.Fields(out.String())...)
		if sum.Finished {
			break
		}
		if !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
	}
	slices.Sort(got)
	var want []string
	for u := range crawltest.Records(t, o.Job) {
		want = append(want, u)
	}
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) || len(want) != 61 {
		t.Errorf("the stream has %d URLs, and there are %d records", len(got), len(want))
	}
}
