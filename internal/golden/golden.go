// Package golden compares what a test prints with files that people read and review.
//
// A golden file lies in testdata and holds the expected output. When the output changes on
// purpose,
//
//	WEFT_UPDATE=1 go test ./...
//
// rewrites the files, and the diff of the commit shows the change. The switch is a variable of
// the environment, not a flag, so that one command updates all packages.
//
// # Formats
//
// [Equal] compares a whole file. [Cases] reads files of many cases, each an input, a line
// "----" and the expected output; the package that owns them chooses what separates them.
//
// # Concurrency
//
// Tests that share a file must not run in parallel.
package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func update() bool { return os.Getenv("WEFT_UPDATE") == "1" }

const hint = "WEFT_UPDATE=1 go test rewrites it"

// Equal compares got with the file at path, or writes the file.
func Equal(t testing.TB, path, got string) {
	t.Helper()
	if update() {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (%s)\n got:\n%s\n want:\n%s", path, hint, got, want)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// Separators of cases.
const (
	DoubleRule = "\n====\n" // a line of its own, so that inputs may have empty lines
	EmptyLine  = "\n\n"
)

// Cases runs a subtest for each file that matches pattern, and in it run for each case in
// order. run gets the path of the file, the input and the expected output, and returns the
// output. White space at the ends of outputs does not count.
func Cases(t *testing.T, pattern, separator string, run func(t *testing.T, file, input, want string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cases := strings.Split(strings.TrimRight(string(text), "\n"), separator)
			for i, c := range cases {
				input, want, _ := strings.Cut(c, "\n----")
				want = strings.TrimSpace(want)
				got := strings.TrimSpace(run(t, file, input, want))
				if got != want && !update() {
					t.Errorf("%s (%s)\n got:\n%s\n want:\n%s", input, hint, got, want)
				}
				cases[i] = strings.TrimSuffix(input+"\n----\n"+got, "\n")
			}
			if update() {
				write(t, file, strings.Join(cases, separator)+"\n")
			}
		})
	}
}

// Inputs returns the inputs of all cases in the files that match pattern: seeds of fuzz targets.
func Inputs(t testing.TB, pattern, separator string) (inputs []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for c := range strings.SplitSeq(string(text), separator) {
			input, _, _ := strings.Cut(c, "\n----")
			inputs = append(inputs, input)
		}
	}
	return inputs
}
