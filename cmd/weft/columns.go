package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A sheet prints lines of a title and a text, the titles in a column of the given width.
// A title that repeats the one above it is left out.
type sheet struct {
	io.Writer
	width int
	last  string
}

// line prints a text that may come from the Web.
func (s *sheet) line(title, format string, args ...any) {
	shown := title
	if title == s.last {
		shown = ""
	}
	s.last = title
	fmt.Fprintf(s, "  %-*s %s\n", s.width, shown, printable(fmt.Sprintf(format, args...)))
}

// some prints a text unless it is empty.
func (s *sheet) some(title, text string) {
	if text != "" {
		s.line(title, "%s", text)
	}
}

// A column of a table: its title and width, negative for text that is aligned on the left.
// Text that is longer moves the rest of its row.
type column struct {
	title string
	width int
}

type table []column

// header prints the titles.
func (t table) header(w io.Writer) {
	titles := make([]string, len(t))
	for i, c := range t {
		titles[i] = c.title
	}
	t.row(w, titles...)
}

// row prints one cell for each column. They may come from the Web.
func (t table) row(w io.Writer, cells ...string) {
	var b strings.Builder
	for i, c := range t {
		if i > 0 {
			b.WriteByte(' ')
			if c.width <= 0 && t[i-1].width > 0 {
				b.WriteByte(' ')
			}
		}
		text := printable(cells[i])
		space := strings.Repeat(" ", max(0, max(c.width, -c.width)-utf8.RuneCountInString(text)))
		if c.width < 0 {
			text, space = space, text
		}
		b.WriteString(space)
		b.WriteString(text)
	}
	_, _ = io.WriteString(w, strings.TrimRight(b.String(), " ")+"\n") // w keeps its error
}
