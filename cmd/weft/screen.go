package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// screen redraws a few lines at the end of a terminal; lines that are written to it scroll by
// above them. It queries nothing and changes no settings of the terminal: keys and signals keep
// their meaning, and Ctrl-C stays a signal.
//
// Between two draws the cursor rests at the start of the first line drawn. A draw starts there
// and clears everything below, whatever a resize has made of the lines: nothing has to be
// counted, and nothing above is touched. That first line is short, because some terminals leave
// the cursor on the second part of a line that a narrower window breaks in two. A draw is one
// write that restores the terminal's state, however the process ends.
//
// Any goroutine may call it.
type screen struct {
	file   *os.File
	styled bool // bold and colours

	drawing sync.Mutex // held while drawing; locked before mu

	mu struct {
		sync.Mutex
		open    bool
		lines   []string // wait for the next draw, so that a slow terminal blocks nobody
		dropped int      // lines beyond maxWaiting
	}
}

// maxWaiting bounds the lines that wait.
const maxWaiting = 10_000

// newScreen draws without styles if NO_COLOR is set: see https://no-color.org.
func newScreen(f *os.File) *screen { return &screen{file: f, styled: os.Getenv("NO_COLOR") == ""} }

func (s *screen) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.open = true
}

// Write takes whole lines.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mu.open {
		return s.file.Write(p)
	}
	if len(s.mu.lines) >= maxWaiting {
		s.mu.dropped++
	} else {
		s.mu.lines = append(s.mu.lines, string(p))
	}
	return len(p), nil
}

// draw shows a sample, below the lines that were written since the last.
func (s *screen) draw(now sample) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.mu.Lock()
	above, open := s.take(), s.mu.open
	s.mu.Unlock()
	if !open {
		return
	}
	width, height, err := term.GetSize(s.file.Fd())
	if err != nil || width <= 0 || height <= 0 { // some terminals do not know their size
		width, height = 80, 24
	}
	s.show(above, view{width, height, s.styled}.lines(now))
}

// close clears the drawing and writes the waiting lines; later lines are written at once. It
// may be called on a nil screen, and more than once.
func (s *screen) close() {
	if s == nil {
		return
	}
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.open {
		s.mu.open = false
		s.show(s.take(), nil)
	}
}

// aside clears the drawing and calls do; nothing is drawn until that returns.
func (s *screen) aside(do func()) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.mu.Lock()
	above, open := s.take(), s.mu.open
	s.mu.Unlock()
	if open {
		s.show(above, nil)
	}
	do()
}

// take returns the waiting lines. The caller holds mu.
func (s *screen) take() []string {
	lines := s.mu.lines
	s.mu.lines = nil
	if s.mu.dropped > 0 {
		lines = append(lines, fmt.Sprintf("weft: %d lines were not shown\n", s.mu.dropped))
		s.mu.dropped = 0
	}
	return lines
}

// show clears the last drawing, writes the lines above, which the terminal may wrap, and draws
// lines that fit below them. The caller holds drawing.
func (s *screen) show(above, drawn []string) {
	var b strings.Builder
	// The first carriage return overwrites an echoed key, such as Ctrl-C. The space keeps tmux
	// from saving a screen that is cleared as a whole in its history.
	b.WriteString(ansi.SetModeSynchronizedOutput + ansi.HideCursor + "\r " + ansi.EraseScreenBelow + "\r")
	for _, l := range above {
		b.WriteString(l)
	}
	// The terminal may disagree about the width of a character: then it must cut the line, not
	// wrap it.
	b.WriteString(ansi.ResetModeAutoWrap + strings.Join(drawn, "\n") + ansi.SetModeAutoWrap + "\r")
	if len(drawn) > 1 {
		b.WriteString(ansi.CursorUp(len(drawn) - 1))
	}
	b.WriteString(ansi.ShowCursor + ansi.ResetModeSynchronizedOutput)
	_, _ = io.WriteString(s.file, b.String()) // the crawl does not depend on it
}
