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

// screen draws a few lines at the end of a terminal again and again, and has what is
// written to it run by above them. It asks the terminal nothing and changes none of
// its settings: keys and signals are not its business, and Ctrl-C stays a signal.
//
// Between two draws the cursor stands at the beginning of the first line drawn. So a
// draw clears what is below and begins there, whatever a change of size has made of
// the lines: nothing has to be counted, and nothing above is ever touched. That first
// line is a short one: of a line that a narrower terminal breaks in two, some
// terminals leave the cursor on the second part. A draw is one write that leaves the
// terminal as it was, however the process ends.
//
// Any goroutine may call it.
type screen struct {
	file   *os.File
	styled bool // bold and colours

	drawing sync.Mutex // held by who draws; taken before mu

	mu struct {
		sync.Mutex
		open    bool
		lines   []string // that wait for the next draw, so that a slow terminal keeps nobody waiting
		dropped int      // of these, because the terminal takes none
	}
}

// maxWaiting is how many lines may wait.
const maxWaiting = 10_000

// newScreen heeds https://no-color.org.
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
	if err != nil || width <= 0 || height <= 0 { // a terminal that nobody has told its size
		width, height = 80, 24
	}
	s.show(above, view{width, height, s.styled}.lines(now))
}

// close clears what is drawn and lets the lines that wait go to the terminal, like
// all that follow. It may be called of a nil screen, and again.
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

// aside clears what is drawn and calls do; until that returns, nothing is drawn.
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

// take is called with mu held.
func (s *screen) take() []string {
	lines := s.mu.lines
	s.mu.lines = nil
	if s.mu.dropped > 0 {
		lines = append(lines, fmt.Sprintf("weft: %d lines were not shown\n", s.mu.dropped))
		s.mu.dropped = 0
	}
	return lines
}

// show clears the last draw, writes whole lines, which the terminal breaks where they
// are too long for it, and below them draws others, which fit. It is called with
// drawing held.
func (s *screen) show(above, drawn []string) {
	var b strings.Builder
	// The first return is for a key that was echoed, as Ctrl-C is; the space, for tmux,
	// which keeps in its history what stood on a screen that is cleared as a whole.
	b.WriteString(ansi.SetModeSynchronizedOutput + ansi.HideCursor + "\r " + ansi.EraseScreenBelow + "\r")
	for _, l := range above {
		b.WriteString(l)
	}
	// How wide a character is, the terminal may see in another way: it is to cut what
	// is too long then, and not to break it.
	b.WriteString(ansi.ResetModeAutoWrap + strings.Join(drawn, "\n") + ansi.SetModeAutoWrap + "\r")
	if len(drawn) > 1 {
		b.WriteString(ansi.CursorUp(len(drawn) - 1))
	}
	b.WriteString(ansi.ShowCursor + ansi.ResetModeSynchronizedOutput)
	_, _ = io.WriteString(s.file, b.String()) // without it the crawl goes on, and is reported
}
