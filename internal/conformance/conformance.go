// Package conformance reads the files of public test suites for the conformance tests. They are not
// part of the repository: $WEFT_CONFORMANCE names their folder, by default ../shared/conformance
// beside the module. Without its file a test is skipped, except where CI is "true": there it fails.
package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Read returns the contents of a file.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder(t), name))
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true":
		t.Skipf("conformance data: %v (set WEFT_CONFORMANCE)", err)
	case err != nil:
		t.Fatalf("conformance data: %v", err)
	}
	return data
}

// Cases returns the JSON values of a file with one per line.
func Cases[T any](t testing.TB, name string) []T {
	t.Helper()
	var cases []T
	for line := range bytes.Lines(Read(t, name)) {
		var c T
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: line %d: %v", name, len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// Seeds is Cases for a fuzz target, which runs without seeds if the file is missing.
func Seeds[T any](f *testing.F, name string) []T {
	f.Helper()
	if _, err := os.Stat(filepath.Join(folder(f), name)); errors.Is(err, fs.ErrNotExist) {
		f.Logf("conformance data: %v: fuzzing without its seeds (set WEFT_CONFORMANCE)", err)
		return nil
	}
	return Cases[T](f, name)
}

// folder returns the folder of the files. Tests run in the folder of their package.
func folder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("WEFT_CONFORMANCE"); dir != "" {
		return dir
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, "..", "shared", "conformance")
		}
		if root == filepath.Dir(root) {
			t.Fatal("conformance data: no go.mod above the package's folder (set WEFT_CONFORMANCE)")
		}
		root = filepath.Dir(root)
	}
}
