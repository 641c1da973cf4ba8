package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func jobWith(t *testing.T, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Pages), []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func last(t *testing.T, dir string, visit int) (all []string, failure error) {
	t.Helper()
	for r, err := range Last(t.Context(), dir, visit, t.TempDir()) {
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%s %d", r.URL, r.Status))
	}
	return all, nil
}

func TestLast(t *testing.T) {
	dir := jobWith(t,
		`{"url":"http://a/1","status":200}`,
		`{"url":"http://a/2","status":500}`,
		`{"url":"http://a/\u0031","status":404}`, // another program wrote it
		`{"url":"http://a/2","status":200,"visit":2}`,
		`{"url":"http://a/3","sta`) // a crawl is writing
	for _, test := range []struct {
		visit int
		want  []string
	}{
		{0, []string{"http://a/1 404", "http://a/2 200"}},
		{1, []string{"http://a/2 500", "http://a/1 404"}},
		{2, []string{"http://a/2 200"}},
		{3, nil},
	} {
		if got, err := last(t, dir, test.visit); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("visit %d: %q, %v, expected %q", test.visit, got, err, test.want)
		}
	}
}

// TestLastOf: the last record of one URL, past lines that are none.
func TestLastOf(t *testing.T) {
	dir := jobWith(t,
		`{"url":"http://a/1","status":200}`,
		`{"url":"http://a/2","status":500}`,
		`{"url":"http://a/\u0031","status":404}`,
		`{"url":"http://a/1","status":"?"}`,
		`{"url":"http://a/1`,
		`{"url":"http://a/1","status":503,"visit":2}`,
		`{"url":"http://a/1","sta`)
	for _, test := range []struct {
		url           string
		visit, status int // 0: there is none
	}{
		{"http://a/1", 0, 503}, {"http://a/1", 1, 404}, {"http://a/1", 2, 503}, {"http://a/2", 0, 500},
		{"http://a/2", 2, 0}, {"http://a/3", 0, 0}, {"http://a/", 0, 0},
	} {
		status := 0
		r, err := LastOf(t.Context(), dir, test.url, test.visit)
		if r != nil {
			status = r.Status
		}
		if err != nil || status != test.status {
			t.Errorf("%s, visit %d: %d, %v, expected %d", test.url, test.visit, status, err, test.status)
		}
	}
	if _, err := LastOf(t.Context(), t.TempDir(), "http://a/1", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, expected that there is no file", err)
	}
}

func TestLastDamaged(t *testing.T) {
	dir := jobWith(t, `{"url":"http://a/1"}`, `{"url":"http://a/2"`, ``)
	if _, err := last(t, dir, 0); err == nil || !strings.HasPrefix(err.Error(), "pages.jsonl: line 2: ") {
		t.Errorf("error %v, expected one of line 2", err)
	}
}

// TestLastCrawled: of a visit that both crawls a URL and checks a link to it, the crawl counts.
func TestLastCrawled(t *testing.T) {
	dir := jobWith(t,
		`{"url":"http://a/1","status":200,"title":"\"role\":\"external\""}`,
		`{"url":"http://a/1","status":405,"role":"external"}`,
		`{"url":"http://a/2","status":405,"role":"external"}`,
		`{"url":"http://a/2","status":200}`,
		`{"url":"http://a/3","status":200}`,
		`{"url":"http://a/3","status":404,"role":"external","visit":2}`,
		"")
	if got, err := last(t, dir, 0); err != nil || !slices.Equal(got, []string{"http://a/1 200", "http://a/2 200", "http://a/3 404"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestIndex: the last record of each URL, in any order of asking, and none of others.
func TestIndex(t *testing.T) {
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"url":"http://a/%d","status":404,"title":"%s"}`, i, strings.Repeat("x", i%50)))
	}
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"url":"http://a/%d","status":%d,"visit":2}`, i, 200+i))
	}
	dir := jobWith(t, append(lines, `{"url":"http://a/0","sta`)...)
	x, err := OpenIndex(t.Context(), dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for i := 999; i >= 0; i-- {
		if r, err := x.Find(fmt.Sprintf("http://a/%d", i)); err != nil || r == nil || r.Status != 200+i {
			t.Errorf("%d: %+v, %v", i, r, err)
		}
	}
	for i := range 100 {
		if r, err := x.Find(fmt.Sprintf("http://b/%d", i)); r != nil || err != nil {
			t.Errorf("another URL: %+v, %v", r, err)
		}
	}
	empty, err := OpenIndex(t.Context(), jobWith(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if r, err := empty.Find("http://a/1"); r != nil || err != nil {
		t.Errorf("no records: %+v, %v", r, err)
	}
	if _, err := OpenIndex(t.Context(), t.TempDir(), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
