package served

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAPIPage: docs/api.md lists the endpoints as /v1/openapi.json describes them. WEFT_UPDATE=1
// rewrites its table.
func TestAPIPage(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	var api struct {
		Paths      map[string]map[string]struct{ Summary, Description string }
		Components struct{ Schemas map[string]any }
	}
	s.ask("GET", "/v1/openapi.json", nil, &api)
	var rows []string
	for path, methods := range api.Paths {
		for method, o := range methods {
			right := strings.TrimSuffix(strings.TrimPrefix(o.Description, "Requires the right to "), ".")
			rows = append(rows, fmt.Sprintf("| `%s` | `%s` | %s | %s |", strings.ToUpper(method), path, right, o.Summary))
		}
	}
	for name := range api.Components.Schemas {
		if !regexp.MustCompile(`^[A-Za-z]+$`).MatchString(name) {
			t.Errorf("a generator of clients cannot name the type %s", name)
		}
	}
	if len(rows) < 10 || len(api.Components.Schemas) < 10 {
		t.Fatalf("%d endpoints: %q", len(rows), rows)
	}
	place := func(row string) string { return strings.ReplaceAll(strings.SplitN(row, "|", 3)[2], "`", " ") }
	slices.SortFunc(rows, func(a, b string) int { return cmp.Or(strings.Compare(place(a), place(b)), strings.Compare(a, b)) })
	const page = "../../docs/api.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| method | path | right | |\n|---|---|---|---|\n"
	table := regexp.MustCompile(regexp.QuoteMeta(head) + `(\|.*\n)*`)
	want := head + strings.Join(rows, "\n") + "\n"
	now := table.FindString(string(text))
	switch {
	case now == want:
	case os.Getenv("WEFT_UPDATE") == "1":
		if err := os.WriteFile(page, table.ReplaceAllLiteral(text, []byte(want)), 0o644); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("the table is\n%s\nexpected\n%s", now, want)
	}
}
