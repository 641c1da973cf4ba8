package main

import "testing"

// TestLab: the former weft lab names its successor.
func TestLab(t *testing.T) {
	for _, args := range [][]string{{"lab"}, {"lab", "latency", "--help"}} {
		e := weftRun(t, args...)
		expect(t, "exit code", e.code, exitUsage)
		expect(t, "output", e.stdout, "")
		expect(t, "message", e.stderr, "weft: lab: a program of its own, in Weft's source: git clone https://github.com/weftcrawl/weft, then go -C weft/bench run ./weft-lab\n")
	}
}
