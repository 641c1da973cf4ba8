package check

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestRulesPage: the page lists the rules as they are. WEFT_UPDATE=1 rewrites its table.
func TestRulesPage(t *testing.T) {
	const page, head = "../docs/check.md", "| rule | level | group | meaning |\n|---|---|---|---|\n"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), head)
	_, after, ended := strings.Cut(rest, "\n\n")
	if strings.HasPrefix(rest, "\n") {
		after, ended = rest[1:], true
	}
	if !ok || !ended {
		t.Fatal("no table of rules")
	}
	var table strings.Builder
	for _, r := range Rules() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", r.Name, r.Level, r.Group, r.Doc)
	}
	now := before + head + table.String() + "\n" + after
	if os.Getenv("WEFT_UPDATE") == "1" {
		if err := os.WriteFile(page, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if now != string(b) {
		t.Error("docs/check.md: the table of rules differs: WEFT_UPDATE=1 go test ./check rewrites it")
	}
}
