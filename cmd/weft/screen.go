package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// screen draws a few lines at the end of a terminal again and again, and has what is
// written to it run by above them. Keys and signals are not its business: Ctrl-C
// stays a signal.
type screen struct {
	file    *os.File
	program *tea.Program
	ended   chan struct{}
	once    sync.Once

	mu struct {
		sync.Mutex
		open    bool
		lines   []string // that wait for the next draw
		dropped int      // of these, because the terminal takes none
	}
}

// maxWaiting is how many lines may wait.
const maxWaiting = 10_000

func newScreen(f *os.File) *screen { return &screen{file: f, ended: make(chan struct{})} }

// canvas is the terminal, for the library, whose drawing begins at the top of the
// last one by counting lines. What it does not know of is put right before.
type canvas struct {
	*os.File
	width  int                     // at the last Write, in cells
	before *atomic.Pointer[string] // what stood there before the last change of width
}

func (c *canvas) Write(p []byte) (int, error) {
	width, _, err := term.GetSize(c.Fd())
	if err != nil {
		width = c.width
	}
	// Where a key was echoed, as Ctrl-C is, the cursor has moved.
	fix := "\r"
	if before := c.before.Load(); before != nil && width < c.width {
		// Terminals break lines that have become too long, all but a few old ones.
		if n := broken(*before, width); n > 0 {
			fix += ansi.CursorUp(n) + ansi.EraseScreenBelow
		}
	}
	c.width = width
	n, err := c.File.Write(append([]byte(fix), p...))
	return max(0, n-len(fix)), err
}

// broken is how many more rows lines take above the last of them, where the cursor
// is, when they are broken at width.
func broken(text string, width int) int {
	lines := strings.Split(text, "\n")
	n := 0
	for _, l := range lines[:len(lines)-1] {
		n += max(0, ansi.StringWidth(l)-1) / max(1, width)
	}
	return n
}

func (s *screen) open() {
	v := newView(lipgloss.NewRenderer(s.file))
	s.program = tea.NewProgram(v, tea.WithOutput(&canvas{File: s.file, before: v.before}),
		tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithoutBracketedPaste(), tea.WithFPS(30))
	s.mu.Lock()
	s.mu.open = true
	s.mu.Unlock()
	go func() {
		defer close(s.ended)
		_, _ = s.program.Run() // without it the crawl goes on, and is reported
	}()
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
		s.mu.lines = append(s.mu.lines, strings.TrimSuffix(string(p), "\n"))
	}
	return len(p), nil
}

// draw shows a sample, below the lines that were written since the last.
func (s *screen) draw(now sample) {
	if lines := s.take(); len(lines) > 0 {
		width, _, err := term.GetSize(s.file.Fd())
		if err != nil {
			width = 80
		}
		// What the terminal would break itself would stand on rests of the last draw.
		s.program.Send(tea.Println(ansi.Hardwrap(strings.Join(lines, "\n"), width, true))())
	}
	s.program.Send(now)
}

func (s *screen) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.mu.lines
	s.mu.lines = nil
	if s.mu.dropped > 0 {
		lines = append(lines, fmt.Sprintf("weft: %d lines were not shown", s.mu.dropped))
		s.mu.dropped = 0
	}
	return lines
}

// close clears what is drawn and lets the lines that wait go to the terminal, like
// all that follow. It may be called of a nil screen, and again.
func (s *screen) close() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		s.program.Send(blank{})
		s.program.Quit()
		<-s.ended
		lines := s.take()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mu.open = false
		for _, l := range lines {
			fmt.Fprintln(s.file, l)
		}
	})
}

// blank is the message that there is nothing to be drawn any more.
type blank struct{}

// view is what is drawn: bubbletea's model.
type view struct {
	width  int // of the terminal, in cells; 0: not known yet
	sample sample
	drawn  string
	before *atomic.Pointer[string] // for canvas

	bar, rest, strong, faint lipgloss.Style
}

func newView(r *lipgloss.Renderer) view {
	return view{
		before: new(atomic.Pointer[string]),
		bar:    r.NewStyle().Foreground(lipgloss.Color("2")),
		rest:   r.NewStyle().Faint(true),
		strong: r.NewStyle().Bold(true),
		faint:  r.NewStyle().Faint(true),
	}
}

func (v view) Init() tea.Cmd { return nil }

func (v view) View() string { return v.drawn }

func (v view) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		before := v.drawn
		v.before.Store(&before)
		v.width = msg.Width
	case sample:
		v.sample = msg
	case blank:
		v.width = 0
	default:
		return v, nil
	}
	v.drawn = v.draw()
	return v, nil
}

// mostHosts is how many of the slowest hosts are shown.
const mostHosts = 3

// draw returns lines that are at most as wide as the terminal.
func (v view) draw() string {
	if v.width <= 0 {
		return ""
	}
	s := v.sample
	lines := []string{v.line()}
	lines = append(lines, v.flow(
		v.strong.Render(count(s.Done))+" URLs",
		v.strong.Render(perSecond(s.urlRate))+"/s",
		v.strong.Render(volume(int64(s.byteRate)))+"/s",
		count(s.Pending)+" waiting",
		count(s.InFlight)+" in flight",
		count(s.Errors)+" errors",
		count(s.Pages)+" pages",
		count(s.Redirects)+" redirects",
		count(s.Hosts)+" hosts",
		volume(s.Bytes),
	)...)
	title := "slowest"
	for _, h := range s.Slowest[:min(len(s.Slowest), mostHosts)] {
		lines = append(lines, fmt.Sprintf("%-7s %8s  ", title, seconds(h.Took.Seconds()))+
			v.faint.Render(fmt.Sprintf("%s in flight, %s waiting  ", count(h.Leased), count(h.Pending)))+printable(h.Host))
		title = ""
	}
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, v.width, "…")
	}
	return strings.Join(lines, "\n")
}

// line is the time, and how much of what is known by now is done.
func (v view) line() string {
	s := v.sample
	left := "  how long is not known yet"
	if s.left > 0 {
		left = "  at least " + clock(s.left) + " left"
	}
	time := clock(s.Elapsed) + " "
	cells := min(v.width-len(time)-len(left), 60)
	if cells < 10 {
		return time + left
	}
	done := 0
	if all := s.Done + s.Pending + s.InFlight; all > 0 {
		done = s.Done * cells / all
	}
	return time + v.bar.Render(strings.Repeat("━", done)) + v.rest.Render(strings.Repeat("─", cells-done)) + left
}

// flow puts parts on as few lines as they need.
func (v view) flow(parts ...string) []string {
	lines := []string{parts[0]}
	for _, p := range parts[1:] {
		last := &lines[len(lines)-1]
		if longer := *last + "   " + p; ansi.StringWidth(longer) <= v.width {
			*last = longer
		} else {
			lines = append(lines, p)
		}
	}
	return lines
}
