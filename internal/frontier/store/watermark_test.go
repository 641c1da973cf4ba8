package store_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/store"
)

const (
	childDir  = "WEFT_STORE_DIR" // environment variable of a child: the job that it opens
	childWhat = "WEFT_STORE_DO"  // environment variable of a child: fresh, or empty
)

// TestChild is not a test, but the main function of the processes that other tests start and kill.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		return
	}
	s, err := store.Open(dir, store.Options{Outputs: outputs, Fresh: os.Getenv(childWhat) == "fresh"})
	switch {
	case errors.Is(err, store.ErrLocked):
		fmt.Println("locked")
	case err != nil:
		fmt.Println(err)
	default:
		for i := range killedBatches {
			commit(t, s, pages(s, fmt.Sprintf("line %d\n", i)))
		}
		fmt.Println("committed")
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent kills it or closes its input
}

const killedBatches = 60 // by each child

// child is a process that opens a store.
type child struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	printed string // its line of output
}

// children starts n processes at once, and waits until each has printed its line.
func children(t *testing.T, n int, dir, what string) []*child {
	t.Helper()
	all := make([]*child, n)
	lines := make([]*bufio.Reader, n)
	for i := range all {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), childDir+"="+dir, childWhat+"="+what)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all[i], lines[i] = &child{cmd: cmd, stdin: stdin}, bufio.NewReader(stdout)
		t.Cleanup(all[i].kill)
	}
	for i, c := range all {
		line, err := lines[i].ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		c.printed = strings.TrimSpace(line)
	}
	return all
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // killed
	_ = c.stdin.Close()
}

// killed returns the folder of a job whose process was killed after its last commit.
func killed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := children(t, 1, dir, "")[0]
	if c.printed != "committed" {
		t.Fatal(c.printed)
	}
	c.kill()
	return dir
}

// copied returns a copy of a folder.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// rewrite alters the files of the state that match a pattern, at least one.
func rewrite(t *testing.T, dir, pattern string, alter func([]byte) []byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "state", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s, %v", pattern, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, alter(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLostBatches checks that Open does not mistake a log damaged after a kill for one that ends
// there, and leaves the outputs as they are.
func TestLostBatches(t *testing.T) {
	whole := killed(t)
	for _, test := range []struct {
		name  string
		alter func([]byte) []byte
	}{
		{"16 bytes flipped a third into it", func(b []byte) []byte {
			for i := len(b) / 3; i < len(b)/3+16; i++ {
				b[i] ^= 0xff
			}
			return b
		}},
		{"cut to half", half},
		{"emptied", func([]byte) []byte { return nil }},
		{"all zeros", zero},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copied(t, whole)
			pages, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			rewrite(t, dir, "*.log", test.alter)
			for _, readOnly := range []bool{true, false, false} { // opening does not repair the job
				_, err := store.Open(dir, store.Options{Outputs: outputs, ReadOnly: readOnly})
				if !errors.Is(err, store.ErrDamaged) || !strings.HasSuffix(err.Error(), "committed batches are missing") {
					t.Errorf("read only %t: %v, want ErrDamaged", readOnly, err)
				}
			}
			if after, err := os.ReadFile(filepath.Join(dir, "pages.jsonl")); err != nil || !bytes.Equal(after, pages) {
				t.Errorf("%d bytes of pages, want %d; %v", len(after), len(pages), err)
			}
			s, err := store.Open(dir, store.Options{Outputs: outputs, Fresh: true})
			if err != nil {
				t.Fatalf("fresh: %v", err)
			}
			shut(t, s)
		})
	}
}

// TestUnusableWatermark checks that a job opens although its watermark is unreadable or out of
// date, and that the next commit corrects the watermark.
func TestUnusableWatermark(t *testing.T) {
	whole := killed(t)
	var before []byte // an older watermark: of fewer batches
	for _, test := range []struct {
		name  string
		alter func([]byte) []byte
	}{
		{"as it was left", func(b []byte) []byte { before = b; return b }},
		{"behind", func([]byte) []byte { return before }},
		{"emptied", func([]byte) []byte { return nil }},
		{"cut", half},
		{"all zeros", zero},
		{"a bit flipped", func(b []byte) []byte { b[3] ^= 1; return b }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copied(t, whole)
			s, err := store.Open(dir, store.Options{Outputs: outputs})
			if err != nil {
				t.Fatal(err)
			}
			commit(t, s, pages(s, "more\n"))
			shut(t, s)
			rewrite(t, dir, "last", test.alter)
			if s, err = store.Open(dir, store.Options{Outputs: outputs}); err != nil {
				t.Fatal(err)
			}
			commit(t, s, pages(s, "and more\n"))
			shut(t, s)
			rewrite(t, dir, "*.log", func([]byte) []byte { return nil })
			if _, err := store.Open(dir, store.Options{Outputs: outputs}); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("after a commit, with its log emptied: %v, want ErrDamaged", err)
			}
		})
	}
}
