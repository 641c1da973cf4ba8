package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

func shown(r *lipgloss.Renderer, msgs ...tea.Msg) string {
	var m tea.Model = newView(r)
	for _, msg := range msgs {
		m, _ = m.Update(msg)
	}
	return m.View()
}

// TestView shows what stands on a terminal of 80 and of 200 cells.
func TestView(t *testing.T) {
	plain := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(termenv.Ascii))
	text := ""
	for _, width := range []int{80, 200} {
		text += fmt.Sprintf("running, %d cells\n----\n%s\n\n", width, shown(plain, tea.WindowSizeMsg{Width: width}, running))
		text += fmt.Sprintf("at the start, %d cells\n----\n%s\n\n", width, shown(plain, tea.WindowSizeMsg{Width: width}))
	}
	golden(t, "screen.txt", text)
	if strings.Contains(text, "\x1b") {
		t.Error("without colours there are escape sequences")
	}
}

// TestViewWidth: no line is ever wider than the terminal, and nothing that the Web
// has sent is in control of it.
func TestViewWidth(t *testing.T) {
	for _, profile := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
		r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(profile))
		r.SetColorProfile(profile)
		for width := 1; width <= 250; width++ {
			v := shown(r, tea.WindowSizeMsg{Width: 300}, running, tea.WindowSizeMsg{Width: width})
			for line := range strings.Lines(v) {
				if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d cells of %d: %q", n, width, line)
				}
			}
			if strings.Contains(v, "\x1b[2J") || strings.ContainsRune(v, '\u202e') || strings.ContainsRune(v, '\u009b') {
				t.Fatalf("a host's name is not escaped: %q", v)
			}
			if colours := strings.Contains(v, "\x1b["); width > 80 && colours != (profile == termenv.TrueColor) {
				t.Fatalf("colours: %v in %q", colours, v)
			}
		}
	}
	if v := shown(lipgloss.NewRenderer(io.Discard), tea.WindowSizeMsg{Width: 80}, running, blank{}); v != "" {
		t.Errorf("in the end there is still %q", v)
	}
}
