package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWacz packs archives and checks the package, whole and damaged.
func TestWacz(t *testing.T) {
	good, at := anArchive(t)
	files := map[string][]byte{"good.warc.gz": good}
	e := weftAmong(t, files, "wacz", "good.warc.gz", "-o", "good.wacz", "--title", "A site")
	packed, err := os.ReadFile(filepath.Join(e.dir, "good.wacz"))
	if e.code != exitDone || err != nil || e.stdout+e.stderr != "" {
		t.Fatalf("exit %d: %v: %s%s", e.code, err, e.stdout, e.stderr)
	}
	e = weftAmong(t, map[string][]byte{"a.wacz": packed}, "wacz", "check", "a.wacz")
	if e.code != exitDone || e.stdout != "a.wacz: 1 archive, 3 captures, 1 page: no faults\n" {
		t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
	}
	bad := slices.Clone(packed)
	bad[at[1]+100] ^= 0xff
	e = weftAmong(t, map[string][]byte{"a.wacz": bad}, "wacz", "check", "a.wacz")
	if e.code != exitError || !strings.Contains(e.stdout, "a.wacz: archive/good.warc.gz: ") || !strings.Contains(e.stdout, "a.wacz: indexes/index.cdxj: offset ") {
		t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
	}

	torn := map[string][]byte{"torn.warc.gz": good[:len(good)-20]}
	e = weftAmong(t, torn, "wacz", "torn.warc.gz", "-o", "torn.wacz")
	if _, err := os.Stat(filepath.Join(e.dir, "torn.wacz")); e.code != exitError || err != nil || !strings.Contains(e.stderr, "weft: torn.warc.gz: offset ") {
		t.Errorf("exit %d: %v: %s%s", e.code, err, e.stdout, e.stderr)
	}
}

// TestWaczMistakes: a mistake prints one line that names it, and leaves no file behind.
func TestWaczMistakes(t *testing.T) {
	t.Parallel()
	good, _ := anArchive(t)
	files := map[string][]byte{"good.warc.gz": good, "page.html": []byte("<!doctype html>\x1b[2J")}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no output":     {[]string{"good.warc.gz"}, exitUsage, "no --output, expected the FILE"},
		"no such file":  {[]string{"-o", "x", "missing"}, exitUsage, "missing"},
		"folder, files": {[]string{"-o", "x", ".", "good.warc.gz"}, exitUsage, "a folder, expected one JOB folder alone"},
		"no job":        {[]string{"-o", "x", "."}, exitUsage, "a folder without a job, expected a JOB"},
		"no folder":     {[]string{"-o", "missing/x", "good.warc.gz"}, exitError, "missing/x"},
		"check nothing": {[]string{"check", "missing"}, exitUsage, "missing"},
	} {
		e := weftAmong(t, files, append([]string{"wacz"}, c.args...)...)
		left, _ := filepath.Glob(filepath.Join(e.dir, "x*"))
		if e.code != c.code || !strings.Contains(e.stderr, c.want) || strings.Count(e.stderr, "\n") != 1 || len(left) > 0 {
			t.Errorf("%s: exit %d: %s, left %v", name, e.code, e.stderr, left)
		}
	}
	e := weftAmong(t, files, "wacz", "-o", "x", "page.html")
	if e.code != exitError || !strings.Contains(e.stderr, "no capture") || strings.Contains(e.stderr, "\x1b") {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
}
