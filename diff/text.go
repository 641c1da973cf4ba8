package diff

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// sections are the kinds of changes in the order of a report for people.
var sections = []struct {
	kind Kind
	head string
}{
	{Shared, "On several pages"},
	{Changed, "Changed"},
	{New, "New"},
	{Gone, "Gone"},
	{Moved, "Moved"},
	{NotCompared, "Not compared"},
}

// countOf returns the number of changes of a kind.
func (s *Summary) countOf(kind Kind) int {
	switch kind {
	case Shared:
		return s.Shared
	case Changed:
		return s.Changed
	case New:
		return s.NewPages
	case Gone:
		return s.GonePages
	case Moved:
		return s.MovedPages
	}
	return s.NotCompared
}

// inWords is the side as people call it.
func (s *Side) inWords() string {
	text := s.Path
	if s.Visit > 0 {
		text += fmt.Sprintf(" visit %d", s.Visit)
	}
	if !s.To.IsZero() {
		text += s.To.Format(" (2006-01-02 15:04 UTC)")
	}
	return text
}

// sides names both.
func (s *Summary) sides() string {
	if s.Old.Path == s.New.Path && s.Old.Visit > 0 {
		return fmt.Sprintf("%s: visit %d and visit %d", s.Old.Path, s.Old.Visit, s.New.Visit)
	}
	return s.Old.inWords() + " and " + s.New.inWords()
}

// inWords is the summary in one line: "3 changed, 1 new, 36 unchanged".
func (s *Summary) inWords() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, humanize.Comma(int64(n))+" "+what)
		}
	}
	add(s.Changed, "changed")
	add(s.NewPages, "new")
	add(s.GonePages, "gone")
	add(s.MovedPages, "moved")
	add(s.Shared, english.PluralWord(s.Shared, "difference", "")+" on several pages")
	add(s.NotCompared, "not compared")
	add(s.Unchanged, "unchanged")
	if len(parts) == 0 {
		return "no pages"
	}
	return strings.Join(parts, ", ")
}

// notes are sentences that a reader needs besides.
func (s *Summary) notes() (all []string) {
	if s.Old.Brief || s.New.Brief {
		all = append(all, "Without bodies only records were compared: the words that changed are not known. weft crawl --warc keeps bodies.")
	}
	for _, side := range []*Side{&s.Old, &s.New} {
		if side.Left > 0 {
			all = append(all, fmt.Sprintf("%s is not complete: %s left. A page that is not on it is not gone.", side.inWords(), english.Plural(side.Left, "URL", "")))
		}
		if side.Damage > 0 {
			all = append(all, fmt.Sprintf("%s is damaged in %s: see weft warc check. A page that is not on it is not gone.", side.Path, english.Plural(side.Damage, "place", "")))
		}
	}
	if n := len(s.Churn) + s.ChurnMore; len(s.Churn) > 0 {
		all = append(all, fmt.Sprintf("Left out, as it differs each time: %s, such as %s. --churn tells all.", english.Plural(n, "fact", ""), s.Churn[0].inWords()))
	}
	return all
}

func (c *Churn) inWords() string {
	switch {
	case c.Old == "":
		return quoted(c.New) + " on " + english.Plural(c.Pages, "page", "")
	case c.New == "":
		return quoted(c.Old) + " on " + english.Plural(c.Pages, "page", "")
	}
	return quoted(c.Old) + " → " + quoted(c.New) + " on " + english.Plural(c.Pages, "page", "")
}

func quoted(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return "“" + s + "”"
}

// textWriter writes text for people.
type textWriter struct {
	*bufio.Writer
	Style
}

// line writes a line, in which nothing controls a terminal but the colors.
func (w *textWriter) line(indent int, parts ...string) {
	w.WriteString(strings.Repeat(" ", indent))
	for _, part := range parts {
		w.WriteString(part)
	}
	w.WriteByte('\n')
}

func (w *textWriter) clean(s string) string {
	if w.Clean != nil {
		return w.Clean(s)
	}
	return s
}

// Colors of a terminal.
const (
	bold  = "1"
	red   = "31"
	green = "32"
	faint = "2"
)

func (w *textWriter) in(color, s string) string {
	if !w.Color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// writeText writes a report for people.
func writeText(to io.Writer, r *Report, style Style) error {
	w := &textWriter{bufio.NewWriter(to), style}
	s := &r.Summary
	w.line(0, w.in(bold, w.clean(s.sides())))
	w.line(0, s.inWords())
	for _, section := range sections {
		if err := w.section(r, section.kind, section.head); err != nil {
			return err
		}
	}
	for _, note := range s.notes() {
		w.line(0)
		w.line(0, w.clean(note))
	}
	return w.Flush()
}

func (w *textWriter) section(r *Report, kind Kind, head string) error {
	all := r.Summary.countOf(kind)
	if all == 0 {
		return nil
	}
	w.line(0)
	w.line(0, w.in(bold, head), fmt.Sprintf(" (%s)", humanize.Comma(int64(all))))
	n := 0
	for c, err := range r.changesOf(kind) {
		if err != nil {
			return err
		}
		if n++; w.Limit > 0 && n > w.Limit {
			w.line(2, fmt.Sprintf("… %s more", humanize.Comma(int64(all-w.Limit))))
			break
		}
		w.change(c)
	}
	return nil
}

func (w *textWriter) change(c *Change) {
	switch c.Kind {
	case Shared:
		w.line(2, w.clean(fmt.Sprintf("%s of %s, such as %s", english.Plural(c.Pages, "page", ""), c.URL, strings.Join(c.Examples[:min(2, len(c.Examples))], ", "))))
	case Moved:
		w.line(2, w.clean(c.From))
		w.line(4, "→ ", w.clean(c.URL), w.in(faint, "  "+w.clean(c.Reason)))
	default:
		said := c.Title
		if c.Reason != "" {
			said = c.Reason
		}
		w.line(2, w.clean(c.URL), w.in(faint, "  "+w.clean(oneLine(said))))
	}
	for i := range c.Details {
		w.detail(&c.Details[i])
	}
	if c.More > 0 {
		w.line(4, fmt.Sprintf("… %s more", humanize.Comma(int64(c.More))))
	}
}

// label names the fact of a detail.
func (d *Detail) label() string {
	if d.Name != "" {
		if d.Field == Data {
			return d.Name
		}
		return string(d.Field) + " " + d.Name
	}
	return string(d.Field)
}

func (w *textWriter) detail(d *Detail) {
	label := w.clean(d.label())
	switch {
	case d.Old == "":
		w.line(4, w.in(green, "+ "+label+": "+w.clean(shorten(d.New))))
	case d.New == "":
		w.line(4, w.in(red, "- "+label+": "+w.clean(shorten(d.Old))))
	case d.Words == nil:
		w.line(4, "~ ", label, ": ", w.in(red, w.clean(shorten(d.Old))), " → ", w.in(green, w.clean(shorten(d.New))))
	default:
		w.line(4, "~ ", label, ": ", w.words(d.Words))
	}
}

// shorten cuts a text for a line.
func shorten(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// words marks the words that differ, with signs where there are no colors.
func (w *textWriter) words(all []Word) string {
	var b strings.Builder
	for i, one := range all {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch one.Op {
		case Same:
			b.WriteString(w.clean(around(one.Text, i > 0, i < len(all)-1)))
		case Removed:
			b.WriteString(w.mark(red, "[-", one.Text, "-]"))
		case Added:
			b.WriteString(w.mark(green, "{+", one.Text, "+}"))
		}
	}
	return b.String()
}

func (w *textWriter) mark(color, before, text, behind string) string {
	if w.Color {
		return w.in(color, w.clean(text))
	}
	return before + w.clean(text) + behind
}

// plainLine is a text of one line without characters that control anything.
func plainLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}
