package sitemap

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

var update = flag.Bool("update", false, "rewrite the golden files with what is found")

const siteURL = "http://site.example/dir/sitemap.xml"

// TestGolden reads testdata/*.txt: cases of a sitemap, "----" and what Read says of it,
// with "====" between them.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cases := strings.Split(string(text), "\n====\n")
			for i, c := range cases {
				body, want, _ := strings.Cut(c, "\n----")
				got := describe(Document{Base: parse(t, siteURL), Body: []byte(body)}, Options{})
				if want = strings.TrimSpace(want); got != want && !*update {
					t.Errorf("%s\n got:\n%s\n want:\n%s", body, got, want)
				}
				cases[i] = body + "\n----\n" + got
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(cases, "\n====\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func parse(t testing.TB, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// describe is a line for each entry, and one for the result.
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
