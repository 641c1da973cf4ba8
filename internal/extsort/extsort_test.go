package extsort

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// someLines returns lines that begin alike, some twice, and one that is the beginning of others.
func someLines(n int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	lines := []string{"", "a", "a\tb", "a b", "ä"}
	for range n {
		lines = append(lines, fmt.Sprintf("org,example)/%d%s", random.IntN(n), strings.Repeat("/x", random.IntN(40))))
	}
	return lines
}

// TestSorter: lines come in the order of bytes, each once, whether they fit into memory or are
// merged from a few runs or in several passes.
func TestSorter(t *testing.T) {
	lines := someLines(5000)
	want := slices.Clone(lines)
	slices.Sort(want)
	want = slices.Compact(want)
	for name, c := range map[string]struct{ most, fanIn int }{
		"memory": {mostHeld, fanIn}, "runs": {20_000, fanIn}, "passes": {4000, 3}, "a line a run": {1, 256},
	} {
		dir := t.TempDir()
		s := New(dir)
		s.most, s.fanIn = c.most, c.fanIn
		for _, line := range lines {
			if err := s.Add([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			var got []string
			err := s.Each(func(line []byte) error {
				got = append(got, string(line))
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %d lines, want %d", name, err, len(got), len(want))
			}
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: the folder has %v", name, left)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAddAll: the lines of a file are those that Add takes one by one, wherever blocks end.
func TestAddAll(t *testing.T) {
	lines := someLines(60_000)
	lines = append(lines, strings.Repeat("z", MaxLine))
	text := strings.Join(lines, "\n") + "\nnot whole"
	slices.Sort(lines)
	want := slices.Compact(lines)
	for name, most := range map[string]int{"memory": mostHeld, "runs": 1} {
		s := New(t.TempDir())
		s.most = most
		if err := s.AddAll(iotest.HalfReader(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		var got []string
		err := s.Each(func(line []byte) error {
			got = append(got, string(line))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %d lines, want %d", name, err, len(got), len(want))
		}
		if name == "runs" && len(s.runs) < 3 {
			t.Errorf("%d runs of %d bytes", len(s.runs), len(text))
		}
		s.Close()
	}
	err := New("").AddAll(strings.NewReader("a\n" + strings.Repeat("z", MaxLine+1) + "\n"))
	if want := "offset 2: line longer than 1048576 bytes"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
