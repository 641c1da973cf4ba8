package check

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Format is a way to write a report.
type Format struct {
	Name      string
	Doc       string // its readers, in a line
	Extension string // of files that have this format unless one is named; "": none
	Write     func(w io.Writer, r *Report, s Style) error
}

// Style is the look of text for people.
type Style struct {
	Color bool                // with ANSI colours
	Clean func(string) string // makes strings of the Web harmless; nil: control characters go
}

// inLog begins what CI servers take for commands: anywhere in a line ##[command] of GitHub and
// ##vso[command] of Azure Pipelines, and at the beginning of a line, behind spaces, ::command::.
var inLog = regexp.MustCompile(`##[A-Za-z]*\[`)

// clean replaces what could drive a terminal, line ends, and the beginnings of commands to CI
// servers.
func (s Style) clean(text string) string {
	if strings.Contains(text, "##") {
		text = inLog.ReplaceAllStringFunc(text, func(begin string) string { return begin[:len(begin)-1] + `\u005b` })
	}
	if rest := strings.TrimSpace(text); strings.HasPrefix(rest, "::") {
		text = `\u003a` + rest[1:]
	}
	if s.Clean != nil {
		return s.Clean(text)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || 0x7f <= r && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, text)
}

// Colours of text.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s Style) paint(color, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// marks are the words and colours of levels.
var marks = map[Level]struct{ word, color string }{Error: {"error", red}, Warning: {"warning", yellow}, Note: {"note", cyan}}

// where is "12:34", or "" if the place is not known.
func where(f *Finding) string {
	if f.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", f.Line, f.Column)
}

// element is "<a href>".
func element(f *Finding) string {
	switch {
	case f.Tag == "":
		return ""
	case f.Attr == "":
		return "<" + f.Tag + ">"
	case f.Tag == "header" || f.Tag == "css" || f.Attr == "text":
		return f.Tag + " " + f.Attr
	}
	return "<" + f.Tag + " " + f.Attr + ">"
}

// writeText writes a report for people: findings below their page, or below their target.
func writeText(w io.Writer, r *Report, s Style) error {
	out := bufio.NewWriter(w)
	group, first := "", true
	for f, err := range r.Findings() {
		if err != nil {
			return err
		}
		head, rest := f.group(r.Order)
		if first || head != group {
			if !first {
				fmt.Fprintln(out)
			}
			group, first = head, false
			fmt.Fprintln(out, s.paint(bold, s.clean(head)))
		}
		s.finding(out, &f, rest)
	}
	if !first {
		fmt.Fprintln(out)
	}
	s.summary(out, r)
	return out.Flush()
}

// finding writes a finding in two lines: where it is and what is wrong, then the link.
func (s Style) finding(out io.Writer, f *Finding, link string) {
	m := marks[f.Level]
	fmt.Fprintf(out, "  %8s  %s  %s", where(f), s.paint(m.color, m.word), s.clean(f.Message))
	fmt.Fprintf(out, "  %s\n", s.paint(dim, f.Rule))
	if link != "" {
		var about []string
		for _, word := range []string{element(f), quoted(f.Text)} {
			if word != "" {
				about = append(about, s.clean(word))
			}
		}
		fmt.Fprintf(out, "            %s", s.clean(link))
		if len(about) > 0 {
			fmt.Fprintf(out, "  %s", s.paint(dim, strings.Join(about, " ")))
		}
		fmt.Fprintln(out)
	}
	if f.Rule != PermanentRedirect || len(f.Redirects) > 1 {
		for _, hop := range f.Redirects {
			fmt.Fprintf(out, "            %s\n", s.clean(fmt.Sprintf("%d → %s", hop.Status, hop.To)))
		}
	}
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "“" + text + "”"
}

// summary writes the last lines.
func (s Style) summary(out io.Writer, r *Report) {
	t := &r.Totals
	state := s.paint(green, "nothing is broken")
	if r.Part != "" {
		state = s.paint(yellow, "nothing is broken so far")
	}
	switch {
	case r.Empty():
		state = s.paint(yellow, "nothing could be read")
	case r.Failed():
		state = s.paint(red, plural(t.Errors, "error"))
	}
	fmt.Fprintf(out, "%s, %s, %s", state, plural(t.Warnings, "warning"), plural(t.Notes, "note"))
	if t.Known > 0 {
		fmt.Fprintf(out, ", %d known", t.Known)
	}
	if t.Unlisted > 0 {
		fmt.Fprintf(out, ", %d not listed", t.Unlisted)
	}
	fmt.Fprintf(out, "\n%s, %s; %s: %d ok, %d broken, %d unknown", plural(t.Pages, "page"), plural(t.Links, "link"), plural(t.URLs, "URL"),
		t.OK, t.Broken, t.Unknown)
	if t.Unchecked > 0 {
		fmt.Fprintf(out, "; %s not checked", plural(t.Unchecked, "link"))
	}
	if t.Unread > 0 {
		fmt.Fprintf(out, "; %s damaged", plural(t.Unread, "body"))
	}
	fmt.Fprintln(out)
	if r.Part != "" {
		fmt.Fprintln(out, r.partly())
	}
}

// partly says that a report is about a part.
func (r *Report) partly() string { return "only a part was checked: " + r.Part }

func plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case word == "body":
		word = "bodie"
	}
	return fmt.Sprintf("%d %ss", n, word)
}
