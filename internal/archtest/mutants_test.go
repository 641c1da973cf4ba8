package archtest

import (
	"os/exec"
	"testing"
)

// TestMutants: the faults that make mutants tries fit the sources. Who changes a line that one of
// them is about changes internal/mutants/mutants.txt with it.
func TestMutants(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "../mutants", "-check", "-root", "../..").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
