package links

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/weburl"
)

const pageURL = "http://example.org/dir/page.html"

// TestGolden reads pages from testdata and compares what Extract finds. The name of a file
// begins with the type of its pages, HTML if it is none of goldenTypes.
func TestGolden(t *testing.T) {
	golden.Cases(t, "testdata/*.txt", golden.DoubleRule, func(t *testing.T, file, page, _ string) string {
		return describe(t, goldenType(file), page)
	})
}

var goldenTypes = map[string]string{
	"xhtml": "application/xhtml+xml", "svg": "image/svg+xml", "css": "text/css", "rss": "application/rss+xml", "atom": "application/atom+xml",
	"xml": "text/xml", "jsonld": "application/ld+json", "jsonfeed": "application/feed+json", "script": "text/javascript",
}

func goldenType(file string) string {
	prefix, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
	return cmp.Or(goldenTypes[prefix], "text/html; charset=utf-8")
}

// describe prints what Extract finds: a line for the page and one for each link.
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
	if page.Hidden {
		head.WriteString(" hidden")
	}
	if page.H1 != "" {
		fmt.Fprintf(&head, " h1=%q", page.H1)
	}
	if page.Description != "" {
		fmt.Fprintf(&head, " description=%q", page.Description)
	}
	if !page.Canonical.IsZero() {
		fmt.Fprintf(&head, " canonical=%s", page.Canonical)
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
