package lab

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEnginePage: docs/engine.md explains this package with pieces of its code. Each follows a line
// that names its file, which contains it word for word; and all links lead somewhere.
func TestEnginePage(t *testing.T) {
	const dir = "../../docs"
	data, err := os.ReadFile(filepath.Join(dir, "engine.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)

	pieces := regexp.MustCompile("(?ms)^\\[[^]]*\\]\\(([^)]*)\\):\n\n```go\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if n := strings.Count(page, "```go\n"); n == 0 || n != len(pieces) {
		t.Errorf("%d pieces of Go, %d of them with the name of their file: expected a line [file](../file): before each", n, len(pieces))
	}
	for _, piece := range pieces {
		file, code := piece[1], piece[2]
		source, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains("\n"+string(source), "\n"+code) {
			t.Errorf("%s does not contain this piece:\n%s", file, code)
		}
	}

	for _, link := range regexp.MustCompile(`\]\(([^)#:]+)`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(dir, link[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
	headings := regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1)
	for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(page, -1) {
		found := false
		for _, h := range headings {
			found = found || anchor(h[1]) == link[1]
		}
		if !found {
			t.Errorf("no heading is #%s", link[1])
		}
	}
}

// anchor returns the fragment of a heading.
func anchor(heading string) string {
	heading = strings.ReplaceAll(strings.ToLower(heading), " ", "-")
	return regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(heading, "")
}
