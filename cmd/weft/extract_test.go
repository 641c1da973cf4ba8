package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestItemsInWords: a recrawl has items of new and changed pages only, and says so.
func TestItemsInWords(t *testing.T) {
	c := weft.ItemCounts{Items: 2, Missing: map[string]int{"product.price": 1}}
	expect(t, "crawl", itemsInWords(c, 1), "2 items; product.price missing in 1")
	expect(t, "recrawl", itemsInWords(c, 2), "2 items of pages that are new or changed; product.price missing in 1")
}

// TestExtractTo: the items of a job replace what a file had before, even if they are fewer. A file
// that cannot be written is named.
func TestExtractTo(t *testing.T) {
	t.Parallel()
	s := newAsked(t, false, articles)
	dir := crawls(t, exitDone, "--warc", "--job", "job", s.URL).dir
	for _, rule := range []string{"all[]=p", "title=h1"} {
		if e := weftIn(t, dir, "extract", "job", "--extract", rule, "-o", "items.jsonl"); e.code != exitDone {
			t.Fatalf("exit %d, %s", e.code, e.stderr)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "items.jsonl"))
	if n := strings.Count(string(text), "\n"); err != nil || n != 16 || strings.Contains(string(text), "all") {
		t.Errorf("%v, %d lines:\n%s", err, n, text)
	}
	e := weftIn(t, dir, "extract", "job", "--extract", "title=h1", "-o", "/dev/full")
	expect(t, "a full disk", e.stderr, `weft: --output "/dev/full": no space left on device`+"\n")
}
