package collect_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/cluster/collect"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

func record1(url, at, more string) string {
	return fmt.Sprintf(`{"url":%q,"status":200,"started":"2026-01-01T00:00:%sZ"%s}`+"\n", url, at, more)
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJobs: each URL is there once, as fetched last, with its links, and its capture is that of the node
// that it counts of, also when that has fetched it before, too.
func TestJobs(t *testing.T) {
	a, b, dir := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "all")
	write(t, a, map[string]string{
		"pages.jsonl": record1("http://a.test/", "01", `,"warc_file":"x.warc.gz","warc_offset":1`) +
			record1("http://a.test/twice", "02", `,"title":"\"warc_file\":\"no"`) + `{"url":"http://half`,
		"links.jsonl":           `{"from":"http://a.test/twice","to":"http://a.test/old"}` + "\n" + `{"from":"http://a.test/","to":"http://a.test/twice"}` + "\n",
		"archive/x.warc.gz":     "first",
		"archive/captures.cdxj": `test,a)/ 2026 {"url":"http://a.test/","filename":"x.warc.gz"}` + "\n" + `test,a)/twice 2026 {"url":"http://a.test/twice","filename":"x.warc.gz"}` + "\n",
		"bodies/ab/abcd":        "body",
	})
	write(t, b, map[string]string{
		"pages.jsonl": record1("http://a.test/twice", "01", "") + record1("http://b.test/", "01", "") +
			record1("http://a.test/twice", "03", `,"warc_file":"x.warc.gz"`),
		"links.jsonl":           `{"from":"http://a.test/twice","to":"http://a.test/new"}` + "\n",
		"archive/x.warc.gz":     "second",
		"archive/captures.cdxj": `test,a)/twice 2026 {"url":"http://a.test/twice","filename":"x.warc.gz"}` + "\n",
		"bodies/ab/abcd":        "body",
	})
	s, err := collect.Jobs(t.Context(), dir, []string{a, b})
	if err != nil || s.Records != 3 || s.Repeated != 2 || s.Archives != 2 || s.Bytes != 11 {
		t.Fatalf("%+v, %v", s, err)
	}
	files := make(map[string]string)
	for r, err := range results.Each[record.Record](t.Context(), dir, results.Pages, nil) {
		if err != nil {
			t.Fatal(err)
		}
		files[r.URL] = r.WARCFile
	}
	if len(files) != 3 || files["http://a.test/"] != "n1-x.warc.gz" || files["http://a.test/twice"] != "n2-x.warc.gz" {
		t.Errorf("%v", files)
	}
	for name, want := range map[string]string{
		"links.jsonl":             `{"from":"http://a.test/","to":"http://a.test/twice"}` + "\n" + `{"from":"http://a.test/twice","to":"http://a.test/new"}` + "\n",
		"archive/n1-x.warc.gz":    "first",
		"archive/n2-x.warc.gz":    "second",
		"archive/captures.cdxj":   `test,a)/ 2026 {"url":"http://a.test/","filename":"n1-x.warc.gz"}` + "\n" + `test,a)/twice 2026 {"url":"http://a.test/twice","filename":"n2-x.warc.gz"}` + "\n",
		"bodies/ab/abcd":          "body",
		"../all.part/pages.jsonl": "",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != want || err != nil && want != "" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := collect.Jobs(t.Context(), dir, []string{a}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder that is there: %v", err)
	}
	write(t, b, map[string]string{"pages.jsonl": "no JSON\n"})
	if _, err := collect.Jobs(t.Context(), dir+"2", []string{a, b}); err == nil || !strings.Contains(err.Error(), b) {
		t.Errorf("a damaged job: %v", err)
	}
	if all, _ := filepath.Glob(dir + "2*"); len(all) > 0 {
		t.Errorf("left behind: %v", all)
	}
}
