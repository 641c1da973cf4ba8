package conformance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
)

// TestMissing: a missing file skips the test, and fails it in CI.
func TestMissing(t *testing.T) {
	t.Setenv("WEFT_CONFORMANCE", t.TempDir())
	for _, ci := range []bool{false, true} {
		t.Setenv("CI", map[bool]string{true: "true"}[ci])
		spy := &spy{TB: t}
		conformance.Read(spy, "missing.jsonl")
		if spy.skipped == ci || spy.failed != ci {
			t.Errorf("CI %v: skipped %v, failed %v", ci, spy.skipped, spy.failed)
		}
	}
}

func TestCases(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WEFT_CONFORMANCE", dir)
	if err := os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte("{\"ID\":\"a\"}\n{\"ID\":\"b\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := conformance.Cases[struct{ ID string }](t, "x.jsonl"); len(got) != 2 || got[1].ID != "b" {
		t.Errorf("%v", got)
	}
}

// spy records how a test would end, and continues.
type spy struct {
	testing.TB
	skipped, failed bool
}

func (s *spy) Skipf(string, ...any)  { s.skipped = true }
func (s *spy) Fatalf(string, ...any) { s.failed = true }
