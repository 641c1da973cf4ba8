package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/weftcrawl/weft/internal/golden"
)

// TestView shows the drawing on terminals of several widths.
func TestView(t *testing.T) {
	text := ""
	for _, width := range []int{20, 80, 200} {
		v := view{width: width, height: 24}
		text += fmt.Sprintf("running, %d cells\n----\n%s\n\n", width, strings.Join(v.lines(running), "\n"))
		text += fmt.Sprintf("at the start, %d cells\n----\n%s\n\n", width, strings.Join(v.lines(sample{}), "\n"))
	}
	text += fmt.Sprintf("at the end\n----\n%s\n", strings.Join(view{width: 80, height: 24}.lines(ending), "\n"))
	golden.Equal(t, "testdata/screen.txt", text)
	if strings.Contains(text, "\x1b") {
		t.Error("without styles there are escape sequences")
	}
}

// TestViewRest: the line on which the cursor rests is short, so that a terminal that becomes
// narrower does not wrap it.
func TestViewRest(t *testing.T) {
	for _, s := range []sample{{}, running} {
		if first := (view{width: 200, height: 24}).lines(s)[0]; ansi.StringWidth(first) > 30 {
			t.Errorf("%q", first)
		}
	}
}

// TestViewFits: no line is wider than the terminal, there are no more lines than it has, and text
// from the Web never controls it.
func TestViewFits(t *testing.T) {
	for _, styled := range []bool{false, true} {
		for size := 1; size <= 250; size++ {
			lines := view{size, size, styled}.lines(running)
			for _, line := range lines {
				if n := ansi.StringWidth(line); n > size {
					t.Errorf("%d cells of %d: %q", n, size, line)
				}
			}
			text := strings.Join(lines, "")
			if len(lines) > size || strings.ContainsAny(text, "\n\r\u202e\u009b") || strings.Contains(text, "\x1b[2J") {
				t.Fatalf("%d lines of %d: %q", len(lines), size, text)
			}
			if size > 80 && strings.Contains(text, "\x1b[") != styled {
				t.Fatalf("styled: %v, expected %v: %q", !styled, styled, text)
			}
		}
	}
}

// TestScreen: lines scroll by above the drawing; once it is closed, they are written at once.
func TestScreen(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	written := func() string {
		t.Helper()
		b, err := os.ReadFile(f.Name())
		if err := errors.Join(err, f.Truncate(0)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	s := newScreen(f)
	fmt.Fprintln(s, "before")
	s.draw(sample{})
	if got := written(); got != "before\n" {
		t.Errorf("before it is open: %q", got)
	}
	s.open()
	fmt.Fprintln(s, "one")
	fmt.Fprintln(s, "two")
	if got := written(); got != "" {
		t.Errorf("before a draw: %q", got)
	}
	s.styled = false
	s.draw(sample{})
	const begin, end = "\x1b[?2026h\x1b[?25l\r \x1b[J\r", "\x1b[?25h\x1b[?2026l"
	if got := written(); !strings.HasPrefix(got, begin+"one\ntwo\n\x1b[?7l0s   0 URLs   0.0/s\n──") || !strings.HasSuffix(got, "0 hosts\x1b[?7h\r\x1b[3A"+end) {
		t.Errorf("drawn: %q", got)
	}
	s.aside(func() {
		if got := written(); got != begin+"\x1b[?7l\x1b[?7h\r"+end {
			t.Errorf("set aside: %q", got)
		}
	})
	for range maxWaiting + 2 {
		fmt.Fprintln(s, "three")
	}
	s.close()
	if got := written(); got != begin+strings.Repeat("three\n", maxWaiting)+"weft: 2 lines were not shown\n\x1b[?7l\x1b[?7h\r"+end {
		t.Errorf("closed: %.100q", got)
	}
	s.close()
	s.draw(sample{})
	fmt.Fprintln(s, "after")
	if got := written(); got != "after\n" {
		t.Errorf("after it was closed: %q", got)
	}
}
