package robots_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/robots"
)

// A googleCase is a case of google/robotstxt-spec-test.
type googleCase struct {
	ID      string `json:"id"`
	Robots  []byte `json:"robots_b64"`
	Kind    string `json:"kind"` // standard, or google: an extension of theirs
	UA      string `json:"ua"`
	URL     string `json:"url"`
	Allowed bool   `json:"allowed"`
}

const googleSuite = "robots-google.jsonl"

func (c googleCase) verdict() robots.Verdict {
	target := "" // of the empty URL, which two cases have
	if _, rest, ok := strings.Cut(c.URL, "://"); ok {
		target = rest[strings.IndexByte(rest, '/'):]
	}
	return robots.Parse(c.Robots).Agent(c.UA).Test(target)
}

func TestGoogleStandard(t *testing.T) {
	n := 0
	for _, c := range conformance.Cases[googleCase](t, googleSuite) {
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

// TestGoogleExtensions checks testdata/google-extensions.txt, which lists the verdicts where Google
// goes beyond the RFC, and explains the differences.
func TestGoogleExtensions(t *testing.T) {
	word := map[bool]string{true: "allowed", false: "disallowed"}
	var got strings.Builder
	for _, c := range conformance.Cases[googleCase](t, googleSuite) {
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
	why, _, _ := strings.Cut(string(old), "----\n")
	golden.Equal(t, file, why+"----\n"+got.String())
}
