package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestArchiveFiles: no file of an archive is longer than its limit, and those of a resumed crawl
// have numbers of their own.
func TestArchiveFiles(t *testing.T) {
	const most, pages = 6 << 10, 30
	rng := rand.New(rand.NewPCG(1, 1))
	w := crawltest.Web{}
	for i := range pages {
		noise := make([]byte, 600) // of 2 bytes as text, which do not compress well
		for j := range noise {
			noise[j] = byte(rng.Uint32())
		}
		w[fmt.Sprintf("http://a.test/%d", i)] = crawltest.Links(fmt.Sprintf("/%d", i+1)) + fmt.Sprintf("%x", noise)
	}
	o := weft.Options{
		Seeds: []string{"http://a.test/0"}, Job: filepath.Join(t.TempDir(), "job"), Reach: weft.Reach{NoRobots: true},
		Keep: weft.Keep{Archive: true, ArchiveSize: most}, Limits: weft.Limits{Limit: pages / 2},
	}
	w.Crawl(t, o)
	o.Limits.Limit = 0
	got, _, _ := w.Crawl(t, o)
	places := make(map[string]bool)
	for _, r := range got {
		places[fmt.Sprint(r.WARCFile, r.WARCOffset)] = true
	}
	if len(got) != pages+1 || len(places) != len(got) {
		t.Errorf("%d captures at %d places", len(got), len(places))
	}
	files, err := filepath.Glob(filepath.Join(o.Job, "archive", "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var serials []string
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(info.Name(), ".warc.gz")
		serials = append(serials, name[strings.LastIndexByte(name, '-')+1:])
		if info.Size() > most {
			t.Errorf("%s of %d bytes, expected at most %d", path, info.Size(), most)
		}
	}
	slices.Sort(serials)
	for i, serial := range serials {
		if want := fmt.Sprintf("%05d", i+1); serial != want {
			t.Errorf("file %s, expected %s", serial, want)
		}
	}
	if len(files) < pages/5 {
		t.Errorf("%d files", len(files))
	}
}

// TestLines: the links and the items of a page are saved with its record.
func TestLines(t *testing.T) {
	w := crawltest.Web{"http://a.test/": crawltest.Links("/one", "/two") + `<script type=application/ld+json>{"@type":"Thing","name":"x"}</script>`}
	o := weft.Options{
		Seeds: []string{"http://a.test/"}, Job: filepath.Join(t.TempDir(), "job"), Reach: weft.Reach{NoRobots: true},
		Keep: weft.Keep{KeepLinks: true, Structured: true},
	}
	w.Crawl(t, o)
	for name, want := range map[string]int{"links.jsonl": 2, "items.jsonl": 1} {
		text, err := os.ReadFile(filepath.Join(o.Job, name))
		if err != nil || strings.Count(string(text), "\n") != want {
			t.Errorf("%s has %q, %v, expected %d lines", name, text, err, want)
		}
	}
}
