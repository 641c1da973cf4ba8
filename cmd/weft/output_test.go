package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputResumed: a resumed job appends its records to whole lines.
func TestOutputResumed(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for name, c := range map[string]struct{ was, want string }{
		"whole":            {"a\nb\n", "a\nb\n"},
		"empty":            {"", ""},
		"torn":             {"a\nb\nhalf", "a\nb\n"},
		"torn, long":       {"a\n" + long, "a\n"},
		"torn, after long": {long + "\n" + "half", long + "\n"},
		"zeros":            {"a\n\x00\x00\x00", "a\n"},
		"no line":          {"half", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path, []byte(c.was), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := openOutput(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := out.open(true); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write([]byte("new\n")); err != nil {
				t.Fatal(err)
			}
			if err := out.close(); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != c.want+"new\n" {
				t.Errorf("it ends with %.40q (%d bytes), %v; expected %.40q and the new line", b[max(0, len(b)-20):], len(b), err, c.want)
			}
		})
	}
}
