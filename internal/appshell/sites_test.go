package appshell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/appshell"
)

// sitePage is a page of a site in testdata/sites. A site is one file, and is of the folder that
// most of its pages belong to: needs, of pages whose text or links their scripts make, or plain.
// A line "=== /path needs" or "=== /path plain" begins a page, and [[words 9]], [[links 9]] and
// [[blob 9]] stand for so many words, links and bytes of data.
type sitePage struct {
	site, path string
	needs      bool
	body       string
}

var stand = regexp.MustCompile(`\[\[(words|links|blob) (\d+)\]\]`)

// sitePages returns the pages of all sites.
func sitePages(t testing.TB) (pages []sitePage) {
	files, err := filepath.Glob("testdata/sites/*/*.html")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d sites, expected 60 at least: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		site := strings.TrimSuffix(filepath.Base(file), ".html")
		for _, one := range strings.Split("\n"+string(text), "\n=== ")[1:] {
			head, body, _ := strings.Cut(one, "\n")
			path, label, _ := strings.Cut(head, " ")
			if label != "needs" && label != "plain" {
				t.Fatalf("%s%s is neither of needs nor plain, but %q", site, path, label)
			}
			pages = append(pages, sitePage{site, path, label == "needs", stand.ReplaceAllStringFunc(body, fill)})
		}
	}
	return pages
}

// fill returns what a mark such as [[words 9]] stands for.
func fill(mark string) string {
	m := stand.FindStringSubmatch(mark)
	n, _ := strconv.Atoi(m[2])
	vocabulary := strings.Fields("the river bends where old stones lie and each spring its water finds another way to the sea past mills bridges small towns")
	var b strings.Builder
	for i := range n {
		word := vocabulary[i*7%len(vocabulary)]
		switch m[1] {
		case "words":
			fmt.Fprintf(&b, "%s ", word)
		case "links":
			fmt.Fprintf(&b, `<li><a href="/%s/%d">%s %s</a></li>`, word, i, word, vocabulary[i*5%len(vocabulary)])
		case "blob":
			b.WriteByte("0123456789abcdefghij"[i*13%20])
		}
	}
	return b.String()
}

// TestJudgeSites: of the pages that need their scripts, Judge is right of at least 98 %, and of the
// others of at least 97 %.
func TestJudgeSites(t *testing.T) {
	var pages, right [2]int
	for _, p := range sitePages(t) {
		kind := 0
		if p.needs {
			kind = 1
		}
		pages[kind]++
		reason := appshell.Judge([]byte(p.body))
		if (reason != "") == p.needs {
			right[kind]++
		} else {
			t.Logf("%s%s: judged %q, needs scripts: %v", p.site, p.path, reason, p.needs)
		}
	}
	needs, plain := 100*float64(right[1])/float64(pages[1]), 100*float64(right[0])/float64(pages[0])
	t.Logf("%d of %d pages that need scripts (%.1f %%), %d of %d that do not (%.1f %%)", right[1], pages[1], needs, right[0], pages[0], plain)
	if needs < 98 || plain < 97 {
		t.Errorf("right of %.1f %% and %.1f %%, expected 98 %% and 97 %%", needs, plain)
	}
}

func BenchmarkJudgeSites(b *testing.B) {
	pages := sitePages(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range pages {
			appshell.Judge([]byte(p.body))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(pages)), "µs/page")
}
