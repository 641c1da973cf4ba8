package main

import "testing"

// TestLab: the former weft lab names its successor.
func TestLab(t *testing.T) {
	for _, args := range [][]string{{"lab"}, {"lab", "latency", "--help"}} {
		e := weftRun(t, args...)
		expect(t, "exit code", e.code, exitUsage)
		expect(t, "output", e.stdout, "")
		expect(t, "message", e.stderr, "weft: lab: expected go -C bench run ./weft-lab in Weft's source: the lab is a command of its own\n")
	}
}
