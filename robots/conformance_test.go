package robots_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/robots"
)

// A googleCase is one of google/robotstxt-spec-test.
type googleCase struct {
	ID      string `json:"id"`
	Robots  []byte `json:"robots_b64"`
	Kind    string `json:"kind"` // standard, or google: an extension of theirs
	UA      string `json:"ua"`
	URL     string `json:"url"`
	Allowed bool   `json:"allowed"`
}

// googleCases reads the suite, which is not part of the repository: without it the
// test is skipped, but never in CI.
func googleCases(t *testing.T) []googleCase {
	t.Helper()
	dir := os.Getenv("WEFT_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "conformance")
	}
	data, err := os.ReadFile(filepath.Join(dir, "robots-google.jsonl"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("conformance data: %v", err)
		}
		t.Skipf("conformance data: %v (set WEFT_CONFORMANCE)", err)
	}
	var cases []googleCase
	for line := range bytes.Lines(data) {
		var c googleCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

func (c googleCase) verdict() robots.Verdict {
	target := "" // of the empty URL, which two cases have
	if _, rest, ok := strings.Cut(c.URL, "://"); ok {
		target = rest[strings.IndexByte(rest, '/'):]
	}
	return robots.Parse(c.Robots).Agent(c.UA).Test(target)
}

func TestGoogleStandard(t *testing.T) {
	n := 0
	for _, c := range googleCases(t) {
		if c.Kind != "standard" {
			continue
		}
		n++
		if v := c.verdict(); v.Allowed != c.Allowed {
			t.Errorf("%s: %s %s: got %+v, want allowed=%v of\n%s", c.ID, c.UA, c.URL, v, c.Allowed, c.Robots)
		}
	}
	if n != 378 {
		t.Errorf("the suite has %d standard cases, expected 378", n)
	}
}

// TestGoogleExtensions holds what Weft says where Google goes beyond the RFC, and
// why, in testdata/google-extensions.txt.
func TestGoogleExtensions(t *testing.T) {
	word := map[bool]string{true: "allowed", false: "disallowed"}
	var got strings.Builder
	for _, c := range googleCases(t) {
		if c.Kind == "standard" {
			continue
		}
		v := c.verdict()
		same := "as Google"
		if v.Allowed != c.Allowed {
			same = "Google: " + word[c.Allowed]
		}
		fmt.Fprintf(&got, "%-37s %-9q %-42q %-10s  %s\n", c.ID, c.UA, c.URL, word[v.Allowed], same)
	}
	const file = "testdata/google-extensions.txt"
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	why, want, _ := strings.Cut(string(old), "----\n")
	if *update {
		if err := os.WriteFile(file, []byte(why+"----\n"+got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}
