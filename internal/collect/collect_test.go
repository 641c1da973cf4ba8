package collect_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/collect"
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

// TestJobs: each URL is there once, as fetched last, with its links, and its capture is that of the
// node that it counts of, also when that has fetched it before, too.
func TestJobs(t *testing.T) {
	t.Parallel()
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
	if _, err := collect.Jobs(t.Context(), dir+"2", []string{a, b, a + "/."}); err == nil || err.Error() != a+"/.: named twice, expected each folder once" {
		t.Errorf("a folder twice: %v", err)
	}
	if _, err := collect.Jobs(t.Context(), dir+"2", []string{a, b + "3"}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), b+"3") {
		t.Errorf("a folder that is not there: %v", err)
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

// TestDead: what a node that was killed has left is whole in the folder, and is the folder's own: a
// node that goes on with its job cuts its archive. A refusal, which no fetch has begun, counts for
// less than a page; an original stays for the revisits of its payload.
func TestDead(t *testing.T) {
	t.Parallel()
	a, b, dir := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "all")
	captureOf := func(url, mime, digest string) string {
		return fmt.Sprintf(`test,a) 2026 {"url":%q,"mime":%q,"digest":%q,"filename":"x.warc.gz"}`+"\n", url, mime, digest)
	}
	write(t, a, map[string]string{
		"pages.jsonl": record1("http://a.test/1", "01", "") + record1("http://a.test/2", "01", "") + record1("http://a.test/3", "02", "") +
			`{"url":"http://a.test/4","status":200,"started":"2026-01-01T00:00:00.5Z"}` + "\n",
		"archive/x.warc.gz.open": "of the dead",
		"archive/captures.cdxj": captureOf("http://a.test/1", "text/html", "sha256:1") + captureOf("http://a.test/2", "text/html", "sha256:2") +
			captureOf("http://a.test/3", "warc/revisit", "sha256:1"),
	})
	write(t, b, map[string]string{
		"pages.jsonl": record1("http://a.test/1", "03", "") + record1("http://a.test/2", "03", "") +
			`{"url":"http://a.test/4","error_kind":"robots","started":"0001-01-01T00:00:00Z"}` + "\n",
		"archive/captures.cdxj": captureOf("http://a.test/1", "text/html", "sha256:4") + captureOf("http://a.test/2", "text/html", "sha256:5"),
	})
	if _, err := collect.Jobs(t.Context(), dir, []string{a, b}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(a, "archive/x.warc.gz.open"), 2); err != nil {
		t.Fatal(err)
	}
	name := strings.NewReplacer("x.warc", "n1-x.warc").Replace
	for file, want := range map[string]string{
		"archive/n1-x.warc.gz": "of the dead",
		"archive/captures.cdxj": name(captureOf("http://a.test/1", "text/html", "sha256:1")+captureOf("http://a.test/3", "warc/revisit", "sha256:1")) +
			strings.ReplaceAll(captureOf("http://a.test/1", "text/html", "sha256:4")+captureOf("http://a.test/2", "text/html", "sha256:5"), "x.warc", "n2-x.warc"),
	} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); string(text) != want {
			t.Errorf("%s: %q, %v\nexpected %q", file, text, err, want)
		}
	}
	for r, err := range results.Each[record.Record](t.Context(), dir, results.Pages, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if r.URL == "http://a.test/4" && r.Status != 200 {
			t.Errorf("%+v", r)
		}
	}
}

// TestForeign: of a job from another machine, nothing counts that is not a file in its folder: no
// link, which may lead to any file of this machine, and no pipe, which nobody writes to.
func TestForeign(t *testing.T) {
	t.Parallel()
	secret := t.TempDir()
	write(t, secret, map[string]string{"key": "{}\n", "x.warc.gz": "secret", "captures.cdxj": "", "ab/secret": "secret"})
	for _, name := range []string{
		"pages.jsonl", "links.jsonl", "items.jsonl", "archive/captures.cdxj", "archive/x.warc.gz", "archive/x.warc.gz.open", "archive/y.warc",
		"bodies/ab/abcd", "archive", "bodies", "bodies/ab",
	} {
		for kind, make := range map[string]func(string) error{
			"link":          func(path string) error { return os.Symlink(filepath.Join(secret, "key"), path) },
			"folder's link": func(path string) error { return os.Symlink(secret, path) },
			"pipe":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
		} {
			if name == "archive" && kind != "folder's link" {
				continue // such a job has no archive
			}
			job, dir := t.TempDir(), filepath.Join(t.TempDir(), "all")
			write(t, job, map[string]string{"pages.jsonl": record1("http://a.test/", "01", ""), "archive/captures.cdxj": "", "archive/z.warc": "", "bodies/cd/cdef": "body"})
			path := filepath.Join(job, name)
			if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o777), make(path)); err != nil {
				t.Fatal(err)
			}
			_, err := collect.Jobs(t.Context(), dir, []string{job})
			if err == nil || !strings.Contains(err.Error(), job) {
				t.Errorf("%s as a %s: %v", name, kind, err)
			}
			if left, _ := filepath.Glob(dir + "*"); len(left) > 0 {
				t.Errorf("%s as a %s: left behind: %v", name, kind, left)
			}
		}
	}
}

// TestOwnLink: a link within the job is as good as its file, and stays the job's.
func TestOwnLink(t *testing.T) {
	t.Parallel()
	job, dir := t.TempDir(), filepath.Join(t.TempDir(), "all")
	write(t, job, map[string]string{"pages.jsonl": record1("http://a.test/", "01", ""), "archive/captures.cdxj": "", "disk/x.warc.gz": "records"})
	if err := os.Symlink("../disk/x.warc.gz", filepath.Join(job, "archive/x.warc.gz")); err != nil {
		t.Fatal(err)
	}
	if _, err := collect.Jobs(t.Context(), dir, []string{job}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, "archive/n1-x.warc.gz"))
	if err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

// TestOpenAndClosed: of an archive that is there twice, the closed file counts, and both stay as
// they are.
func TestOpenAndClosed(t *testing.T) {
	t.Parallel()
	job, dir := t.TempDir(), filepath.Join(t.TempDir(), "all")
	write(t, job, map[string]string{"pages.jsonl": record1("http://a.test/", "01", ""), "archive/captures.cdxj": "", "archive/x.warc": "closed", "archive/x.warc.open": "open"})
	s, err := collect.Jobs(t.Context(), dir, []string{job})
	if err != nil || s.Archives != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	for file, want := range map[string]string{filepath.Join(dir, "archive/n1-x.warc"): "closed", filepath.Join(job, "archive/x.warc"): "closed", filepath.Join(job, "archive/x.warc.open"): "open"} {
		if text, err := os.ReadFile(file); string(text) != want {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

// TestPart: DIR.part is removed if a run that was killed has left it, and only then.
func TestPart(t *testing.T) {
	t.Parallel()
	job := t.TempDir()
	write(t, job, map[string]string{"pages.jsonl": record1("http://a.test/", "01", "")})
	for name, c := range map[string]struct {
		files map[string]string
		want  string // of the error
	}{
		"somebody's":      {map[string]string{"holiday.part/photos/1.jpg": "precious"}, "holiday.part: file already exists, and no earlier run has left it"},
		"somebody's file": {map[string]string{"holiday.part": "precious"}, "holiday.part: file already exists, and no earlier run"},
		"an empty one":    {map[string]string{"holiday.part/x": ""}, "holiday.part: file already exists, and no earlier run"},
		"left behind":     {map[string]string{"holiday.part/.weft-collect": "", "holiday.part/archive/old.warc": "old", "holiday.part/pages.jsonl": "old"}, ""},
	} {
		at := t.TempDir()
		write(t, at, c.files)
		dir := filepath.Join(at, "holiday")
		_, err := collect.Jobs(t.Context(), dir, []string{job})
		if c.want == "" {
			left, _ := filepath.Glob(filepath.Join(at, "*"))
			in, _ := os.ReadDir(dir)
			if err != nil || len(left) != 1 || len(in) != 1 {
				t.Errorf("%s: %v; left: %v; in the folder: %v", name, err, left, in)
			}
			continue
		}
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
		for file, want := range c.files {
			if text, err := os.ReadFile(filepath.Join(at, file)); string(text) != want || err != nil {
				t.Errorf("%s: %s: %q, %v", name, file, text, err)
			}
		}
	}
	busy := filepath.Join(t.TempDir(), "busy")
	write(t, busy+".part", map[string]string{".weft-collect": "", "x": "being written"})
	f, err := os.Open(busy + ".part/.weft-collect")
	if err == nil {
		defer f.Close()
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect.Jobs(t.Context(), busy, []string{job}); !errors.Is(err, fs.ErrExist) || !strings.HasSuffix(err.Error(), "as another process writes it") {
		t.Error(err)
	}
	if _, err := os.Stat(busy + ".part/x"); err != nil {
		t.Error(err)
	}
}
