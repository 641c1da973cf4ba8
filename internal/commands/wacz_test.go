package commands_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestWacz packs archives and checks the package, whole and damaged.
func TestWacz(t *testing.T) {
	good, at := anArchive(t)
	files := map[string][]byte{"good.warc.gz": good}
	e := weftAmong(t, files, "wacz", "good.warc.gz", "-o", "good.wacz", "--title", "A site")
	packed, err := os.ReadFile(filepath.Join(e.Dir, "good.wacz"))
	if e.Code != wefttest.Done || err != nil || e.Stdout+e.Stderr != "" {
		t.Fatalf("exit %d: %v: %s%s", e.Code, err, e.Stdout, e.Stderr)
	}
	e = weftAmong(t, map[string][]byte{"a.wacz": packed}, "wacz", "check", "a.wacz")
	if e.Code != wefttest.Done || e.Stdout != "a.wacz: 1 archive, 3 captures, 1 page: no faults\n" {
		t.Errorf("exit %d: %s%s", e.Code, e.Stdout, e.Stderr)
	}
	bad := slices.Clone(packed)
	bad[at[1]+100] ^= 0xff
	e = weftAmong(t, map[string][]byte{"a.wacz": bad}, "wacz", "check", "a.wacz")
	if e.Code != wefttest.Failed || !strings.Contains(e.Stdout, "a.wacz: archive/good.warc.gz: ") || !strings.Contains(e.Stdout, "a.wacz: indexes/index.cdxj: offset ") {
		t.Errorf("exit %d: %s%s", e.Code, e.Stdout, e.Stderr)
	}

	torn := map[string][]byte{"torn.warc.gz": good[:len(good)-20]}
	e = weftAmong(t, torn, "wacz", "torn.warc.gz", "-o", "torn.wacz")
	if _, err := os.Stat(filepath.Join(e.Dir, "torn.wacz")); e.Code != wefttest.Failed || err != nil || !strings.Contains(e.Stderr, "weft: torn.warc.gz: offset ") {
		t.Errorf("exit %d: %v: %s%s", e.Code, err, e.Stdout, e.Stderr)
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
		"no output":     {[]string{"good.warc.gz"}, wefttest.Misused, "no --output, expected the FILE"},
		"no such file":  {[]string{"-o", "x", "missing"}, wefttest.Misused, "missing"},
		"folder, files": {[]string{"-o", "x", ".", "good.warc.gz"}, wefttest.Misused, "a folder, expected one JOB folder alone"},
		"no job":        {[]string{"-o", "x", "."}, wefttest.Misused, "a folder without a job, expected a JOB"},
		"no folder":     {[]string{"-o", "missing/x", "good.warc.gz"}, wefttest.Failed, "missing/x"},
		"check nothing": {[]string{"check", "missing"}, wefttest.Misused, "missing"},
	} {
		e := weftAmong(t, files, append([]string{"wacz"}, c.args...)...)
		left, _ := filepath.Glob(filepath.Join(e.Dir, "x*"))
		if e.Code != c.code || !strings.Contains(e.Stderr, c.want) || strings.Count(e.Stderr, "\n") != 1 || len(left) > 0 {
			t.Errorf("%s: exit %d: %s, left %v", name, e.Code, e.Stderr, left)
		}
	}
	e := weftAmong(t, files, "wacz", "-o", "x", "page.html")
	if e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "no capture") || strings.Contains(e.Stderr, "\x1b") {
		t.Errorf("exit %d: %s", e.Code, e.Stderr)
	}
}
