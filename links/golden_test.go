package links

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
)

var update = flag.Bool("update", false, "rewrite the golden files with what is found")

const pageURL = "http://example.org/dir/page.html"

// TestGolden reads testdata/*.txt: cases of a page, "----" and what Extract
// says of it, with "====" between them. Files named xhtml* are XHTML.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) { testGolden(t, file, strings.HasPrefix(name, "xhtml")) })
	}
}

func testGolden(t *testing.T, file string, xhtml bool) {
	contentType := "text/html; charset=utf-8"
	if xhtml {
		contentType = "application/xhtml+xml"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(text), "\n====\n")
	for i, c := range cases {
		page, want, _ := strings.Cut(c, "\n----")
		got := describe(t, contentType, page)
		if want = strings.TrimSpace(want); got != want && !*update {
			t.Errorf("%s\n got:\n%s\n want:\n%s", page, got, want)
		}
		cases[i] = page + "\n----\n" + got
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(cases, "\n====\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// describe is what Extract says of a page: a line for the page, a line a link.
func describe(t *testing.T, contentType, body string) string {
	t.Helper()
	base, err := weburl.Parse(pageURL)
	if err != nil {
		t.Fatal(err)
	}
	var links strings.Builder
	page := Extract(base, contentType, []byte(body), func(l Link) bool {
		fmt.Fprintf(&links, "\n%s %s %q %s", l.Tag, l.Attr, l.Raw, l.URL)
		if l.Rel != "" {
			fmt.Fprintf(&links, " rel=%q", l.Rel)
		}
		if l.Text != "" {
			fmt.Fprintf(&links, " text=%q", l.Text)
		}
		return true
	})
	var head strings.Builder
	fmt.Fprintf(&head, "page %q", page.Title)
	if page.Base != base {
		fmt.Fprintf(&head, " base=%s", page.Base)
	}
	if page.NoIndex {
		head.WriteString(" noindex")
	}
	if page.NoFollow {
		head.WriteString(" nofollow")
	}
	return head.String() + links.String()
}
