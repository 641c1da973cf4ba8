package links

import (
	"cmp"
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

// TestGolden reads testdata/*.txt: cases of a page, "----" and what Extract says of it,
// with "====" between them. The name of a file begins with the type of its pages, HTML if
// it is none of goldenTypes.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { testGolden(t, file) })
	}
}

var goldenTypes = map[string]string{
	"xhtml": "application/xhtml+xml", "svg": "image/svg+xml", "css": "text/css", "rss": "application/rss+xml", "atom": "application/atom+xml",
	"xml": "text/xml", "jsonld": "application/ld+json", "script": "text/javascript",
}

func goldenType(file string) string {
	prefix, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
	return cmp.Or(goldenTypes[prefix], "text/html; charset=utf-8")
}

func testGolden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(text), "\n====\n")
	for i, c := range cases {
		page, want, _ := strings.Cut(c, "\n----")
		got := describe(t, goldenType(file), page)
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
	x := NewExtractor(Options{Agent: "weft/1.0", Scripts: strings.Contains(contentType, "javascript") || strings.HasPrefix(body, "scripts:")})
	page := x.Extract(Document{Base: base, ContentType: contentType, Body: []byte(body)}, func(l Link) bool {
		fmt.Fprintf(&links, "\n%s: %s %s %q %s", l.Kind, l.Tag, l.Attr, l.Raw, l.URL)
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
	if !page.Refresh.IsZero() {
		fmt.Fprintf(&head, " refresh=%s", page.Refresh)
	}
	if len(page.Directives) > 0 {
		fmt.Fprintf(&head, " robots=%q", page.Directives)
	}
	if page.NoIndex {
		head.WriteString(" noindex")
	}
	if page.NoFollow {
		head.WriteString(" nofollow")
	}
	return head.String() + links.String()
}
