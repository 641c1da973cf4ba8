package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// benchOutput is as of go test, every benchmark five times at 1 and 2 cores.
func benchOutput(skip string) string {
	var b strings.Builder
	b.WriteString("goos: linux\ncpu: A Fine CPU\n")
	for _, r := range rows {
		for _, name := range []string{r.ours, r.peer} {
			if name == skip {
				continue
			}
			for _, suffix := range []string{"", "-2"} {
				for i, v := range []int{300, 100, 900, 200, 400} {
					fmt.Fprintf(&b, "Benchmark%s%s \t 10\t %d.5 ns/op\t %d %s\n", name, suffix, i, v, r.unit)
				}
			}
		}
	}
	b.WriteString("PASS\n")
	return b.String()
}

func TestRow(t *testing.T) {
	r := &results{values: map[key][]float64{
		{"a", 2, "cpu-ns/op"}:    {30, 10, 20, 50, 40},
		{"b", 2, "cpu-ns/op"}:    {60, 60, 59, 61, 70},
		{"a", 2, "ns/op"}:        {80, 80, 80, 80, 80},
		{"b", 2, "ns/op"}:        {40, 40, 40, 40, 40},
		{"a", 2, "rss-B/op"}:     {7000, 7000, 7000, 7000, 7000},
		{"a", 2, "echoes/cpu-s"}: {130e3, 130e3, 130e3, 130e3, 130e3},
		{"b", 2, "echoes/cpu-s"}: {100e3, 100e3, 100e3, 100e3, 100e3},
	}}
	for _, c := range []struct {
		row  row
		want string
	}{
		{row{what: "x", ours: "a", peer: "b", unit: "cpu-ns/op", mark: 0.5},
			"| x | 2 | 30 ns (10–50) | 60 ns (59–70) | 0.50 | 2.00 | ≤ 0.5× | met |\n"},
		{row{what: "x", ours: "a", peer: "b", unit: "cpu-ns/op", mark: 0.4},
			"| x | 2 | 30 ns (10–50) | 60 ns (59–70) | 0.50 | 2.00 | ≤ 0.4× | **missed** |\n"},
		{row{what: "x", ours: "a", peer: "not run", unit: "rss-B/op", mark: 6 << 10, alone: true},
			"| x | 2 | 7000 B (7000–7000) | – | – | – | ≤ 6 KB | **missed** |\n"},
		{row{what: "x", ours: "a", peer: "b", unit: "echoes/cpu-s", mark: 1.1, least: true},
			"| x | 2 | 130 k/s (130–130) | 100 k/s (100–100) | 1.30 | 2.00 | ≥ 1.1× | met |\n"},
	} {
		var out bytes.Buffer
		if err := r.writeRow(&out, c.row, 2); err != nil {
			t.Error(err)
		}
		if out.String() != c.want {
			t.Errorf("got  %sexpected %s", &out, c.want)
		}
	}
}

func TestPage(t *testing.T) {
	r, err := parse(strings.NewReader(benchOutput("Memory/aiohttp"))) // which need not be there
	if err != nil {
		t.Fatal(err)
	}
	if r.cpu != "A Fine CPU" {
		t.Errorf("cpu %q", r.cpu)
	}
	var out bytes.Buffer
	if err := r.writeTables(&out); err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(rows); strings.Count(out.String(), "met |")+strings.Count(out.String(), "missed** |") != want {
		t.Errorf("expected %d verdicts:\n%s", want, &out)
	}
}

func TestIncomplete(t *testing.T) {
	r, err := parse(strings.NewReader(benchOutput("Get/nethttp")))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.writeTables(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "Get/nethttp at 1 cores: 0 figures") {
		t.Errorf("error %v", err)
	}
}

func TestFailed(t *testing.T) {
	for _, line := range []string{"--- FAIL: BenchmarkGet/http1", "    --- FAIL: BenchmarkGet", "FAIL", "panic: x"} {
		if _, err := parse(strings.NewReader(line + "\n")); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}
