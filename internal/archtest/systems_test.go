package archtest

import (
	"strings"
	"testing"
)

// TestUnsupportedSystem: on Windows the build fails with one line, which says that it is not
// supported.
func TestUnsupportedSystem(t *testing.T) {
	t.Parallel()
	c, err := newChecker("windows", "amd64", "./cmd/weft")
	if err != nil {
		t.Fatal(err)
	}
	var causes []string
	for path, l := range c.listed {
		if !l.own() {
			continue
		}
		if _, err := c.check(path); err != nil && !strings.Contains(err.Error(), "could not import") {
			causes = append(causes, err.Error())
		}
	}
	if len(causes) != 1 || !strings.Contains(causes[0], "this system is not supported") {
		t.Errorf("%q, expected one line that says it is not supported", causes)
	}
}
