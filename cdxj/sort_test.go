package cdxj

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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
		s := NewSorter(dir)
		s.most, s.fanIn = c.most, c.fanIn
		for _, line := range lines {
			if err := s.Add([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		err := s.Each(func(line []byte) error {
			got = append(got, string(line))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %d lines, want %d", name, err, len(got), len(want))
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: the folder has %v", name, left)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestUpdate makes the index of a job from the committed part of its captures, and again when that
// has grown.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	captures, index := filepath.Join(dir, CapturesFile), filepath.Join(dir, IndexFile)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(captures, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(committed int64, want string) {
		t.Helper()
		if err := Update(dir, committed); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(index); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	write("b\nc\na\nnot committed\nha")
	expect(6, "a\nb\nc\n")
	expect(All, "a\nb\nc\nnot committed\n")

	expect(6, "a\nb\nc\n")
	made, _ := os.Stat(index)
	expect(6, "a\nb\nc\n")
	if again, _ := os.Stat(index); !os.SameFile(made, again) {
		t.Error("an index that was up to date was made again")
	}
	write("b\nc\nA\n")
	soon := made.ModTime().Add(time.Second)
	os.Chtimes(captures, soon, soon)
	expect(6, "A\nb\nc\n")

	if err := Update(dir, 7); err == nil || !strings.Contains(err.Error(), "has 6 bytes, expected 7") {
		t.Error(err)
	}
	write("a\n" + strings.Repeat("b", maxLine+1) + "\n")
	if err := Update(dir, All); err == nil || !strings.Contains(err.Error(), "offset 2: line longer than") {
		t.Error(err)
	}
	if got, _ := os.ReadFile(index); !bytes.Equal(got, []byte("A\nb\nc\n")) {
		t.Errorf("a failure left %q", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("the folder has %v", left)
	}
}
