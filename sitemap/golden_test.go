package sitemap

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/weburl"
)

const siteURL = "http://site.example/dir/sitemap.xml"

// TestGolden reads sitemaps from testdata and compares what Read finds.
func TestGolden(t *testing.T) {
	golden.Cases(t, "testdata/*.txt", golden.DoubleRule, func(t *testing.T, _, body, _ string) string {
		return describe(Document{Base: parse(t, siteURL), Body: []byte(body)}, Options{})
	})
}

func parse(t testing.TB, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// describe prints a line for each entry, and one for the result.
func describe(d Document, o Options) string {
	var b strings.Builder
	r := Read(d, o, func(e Entry) bool {
		fmt.Fprintf(&b, "%s %s", e.Kind, e.URL)
		if e.Priority != DefaultPriority {
			fmt.Fprintf(&b, " priority %g", e.Priority)
		}
		switch {
		case !e.Modified.IsZero():
			fmt.Fprintf(&b, " modified %s", e.Modified.Format(time.RFC3339Nano))
		case e.LastMod != "":
			fmt.Fprintf(&b, " modified %q?", e.LastMod)
		}
		b.WriteString("\n")
		return true
	})
	fmt.Fprintf(&b, "= %s, %d read, %d skipped, %v", r.Type, r.Entries, r.Skipped, r.Err)
	return b.String()
}
