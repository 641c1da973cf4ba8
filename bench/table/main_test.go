package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// benchOutput imitates make bench: every benchmark of a page, five times.
func benchOutput(p page, skip string) string {
	var b strings.Builder
	b.WriteString("commit: abc1234\nload: 0.10, 0.20, 0.30\ngoos: linux\ncpu: A Fine CPU\n")
	for _, r := range p.rows {
		for _, name := range []string{r.ours, r.peer} {
			if name == skip {
				continue
			}
			for _, suffix := range []string{"", "-2"}[:len(p.cores)] {
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
		{"a", 2, "MB/cpu-s"}:     {990, 990, 990, 990, 990},
		{"b", 2, "MB/cpu-s"}:     {99, 110, 110, 110, 120},
		{"a", 2, "mallocs/op"}:   {0.2, 0.2, 0.25, 0.3, 0.3},
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
		{row{what: "x", ours: "a", peer: "b", unit: "MB/cpu-s", mark: 8, least: true},
			"| x | 2 | 990 MB/s (990–990) | 110 MB/s (99–120) | 9.00 | 2.00 | ≥ 8× | met |\n"},
		{row{what: "x", ours: "a", peer: "b", unit: "cpu-ns/op", mark: 30, alone: true},
			"| x | 2 | 30 ns (10–50) | 60 ns (59–70) | 0.50 | 2.00 | ≤ 30 ns | met |\n"},
		{row{what: "x", ours: "a", peer: "b", unit: "mallocs/op", mark: 0.2, alone: true},
			"| x | 2 | 0.25 (0.20–0.30) | – | – | – | ≤ 0.2 | **missed** |\n"},
		{row{what: "x", ours: "a", unit: "cpu-ns/op"},
			"| x | 2 | 30 ns (10–50) | – | – | – | – | – |\n"},
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
	for name, p := range pages {
		t.Run(name, func(t *testing.T) {
			r, err := parse(strings.NewReader(benchOutput(p, "Memory/aiohttp"))) // which need not be there
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			r.writeHead(&out, p, "make it")
			for _, want := range []string{"# " + p.title, "A Fine CPU", "| abc1234 |", "| 0.10, 0.20, 0.30 |", "| `make it` |"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q:\n%s", want, &out)
				}
			}
			out.Reset()
			if err := r.writeTables(&out, p); err != nil {
				t.Fatal(err)
			}
			marks := 0
			for _, row := range p.rows {
				if row.mark != 0 {
					marks += len(p.cores)
				}
			}
			if n := strings.Count(out.String(), "met |") + strings.Count(out.String(), "missed** |"); n != marks {
				t.Errorf("%d verdicts, expected %d:\n%s", n, marks, &out)
			}
		})
	}
}

func TestIncomplete(t *testing.T) {
	for missing, p := range map[string]page{"Get/nethttp": aio, "Sites/small/tokenizer": webBytes, "Lookup/known": webBytes} {
		r, err := parse(strings.NewReader(benchOutput(p, missing)))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.writeTables(new(bytes.Buffer), p); err == nil || !strings.Contains(err.Error(), missing+" at 1 cores: 0 figures") {
			t.Errorf("without %s: error %v", missing, err)
		}
	}
}

func TestNoPage(t *testing.T) {
	if err := run(strings.NewReader(""), "", "other"); err == nil || err.Error() != `no page "other"` {
		t.Errorf("error %v", err)
	}
}

func TestFailed(t *testing.T) {
	for _, line := range []string{"--- FAIL: BenchmarkGet/httpclient", "    --- FAIL: BenchmarkGet", "FAIL", "panic: x"} {
		if _, err := parse(strings.NewReader(line + "\n")); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}
