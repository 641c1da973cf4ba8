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

// inLog matches the beginning of a command to a CI server: anywhere in a line ##[command] of GitHub
// and ##vso[command] of Azure Pipelines, and at the beginning of a line, behind spaces,
// ::command::.
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

// writeText writes a report for people: problems, or findings below their page, or below their
// target.
func writeText(w io.Writer, r *Report, s Style) error {
	out := bufio.NewWriter(w)
	write := s.findings
	if r.Order == ByProblem {
		write = s.problems
	}
	if err := write(out, r); err != nil {
		return err
	}
	s.summary(out, r)
	return out.Flush()
}

// findings writes findings in groups.
func (s Style) findings(out io.Writer, r *Report) error {
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
	return nil
}

// The heads of problems, if some are on most pages.
const (
	headMost = "On most pages: mend the template once"
	headSome = "On some pages"
)

// heads returns a function that returns the head above a problem; empty: none. Most reports need
// none.
func heads() func(p *Problem) string {
	most, last := false, ""
	return func(p *Problem) string {
		head := headSome
		if p.OnMost {
			head, most = headMost, true
		}
		if !most || head == last {
			return ""
		}
		last = head
		return head
	}
}

// problems writes problems: what is wrong, with which URL, and where.
func (s Style) problems(out io.Writer, r *Report) error {
	head, first := heads(), true
	for p, err := range r.Problems() {
		if err != nil {
			return err
		}
		if h := head(&p); h != "" {
			if !first {
				fmt.Fprintln(out)
			}
			fmt.Fprintln(out, s.paint(bold, h))
		}
		first = false
		s.problem(out, &p)
	}
	if !first {
		fmt.Fprintln(out)
	}
	return nil
}

// margin is the space before what belongs to a problem.
const margin = "         "

func (s Style) problem(out io.Writer, p *Problem) {
	m := marks[p.Level]
	about := p.Rule
	if times := p.times(); times != "" {
		about += ", " + times
	}
	fmt.Fprintf(out, "%s%s%s  %s\n", s.paint(m.color, m.word), margin[len(m.word):], s.clean(p.Message), s.paint(dim, about))
	if p.URL != "" {
		fmt.Fprintf(out, "%s%s\n", margin, s.clean(p.URL))
	}
	for _, hop := range p.hops() {
		fmt.Fprintf(out, "%s%s\n", margin, s.clean(fmt.Sprintf("%d → %s", hop.Status, hop.To)))
	}
	word := "on "
	if p.isOfSitemap() {
		word = "has "
	}
	for i := range p.Places {
		at := &p.Places[i]
		text := s.clean(at.Page)
		if place := at.where(); place != "" && strings.Contains(at.Page, "://") {
			text += " at " + place
		} else if place != "" { // as editors open it
			text += ":" + place
		}
		if at.Message != "" {
			text += ": " + s.clean(at.Message)
		}
		if about := at.about(); i == 0 && about != "" {
			text += "  " + s.paint(dim, s.clean(about))
		}
		if more := p.more(); i == len(p.Places)-1 && more != "" {
			text += ", " + more
		}
		fmt.Fprintf(out, "%s%s%s\n", margin, word, text)
		word = "    "[:len(word)]
	}
}

// times says how many pages have a problem; empty: one, once.
func (p *Problem) times() string {
	switch {
	case p.isOfSitemap():
		return number(p.Pages) + " " + noun(p.Pages, "URL")
	case p.Findings == 1, p.Rule == DuplicateTitle, p.Rule == DuplicateDescription:
		return "" // the message of the last two says it
	case p.Pages == 1:
		return number(p.Findings) + " times"
	case p.Findings > p.Pages:
		return "on " + number(p.Pages) + " pages, " + number(p.Findings) + " times"
	}
	return "on " + number(p.Pages) + " pages"
}

// more says how many pages are not named; empty: none.
func (p *Problem) more() string {
	if n := p.Pages - len(p.Places); n > 0 {
		return "and " + number(n) + " more"
	}
	return ""
}

// hops are the redirects that the message does not say.
func (p *Problem) hops() []Hop {
	if p.Rule == PermanentRedirect && len(p.Redirects) == 1 {
		return nil
	}
	return p.Redirects
}

// where is "12:34", or "" if the place is not known.
func (p *Place) where() string { return where(&Finding{Line: p.Line, Column: p.Column}) }

// about is the element, and the text of the link.
func (p *Place) about() string {
	return strings.TrimSpace(element(&Finding{Tag: p.Tag, Attr: p.Attr}) + " " + quoted(p.Text))
}

// finding writes a finding in two lines: where it is and what is wrong, then the link.
func (s Style) finding(out io.Writer, f *Finding, link string) {
	m := marks[f.Level]
	fmt.Fprintf(out, "  %8s  %s  %s", where(f), s.paint(m.color, m.word), s.clean(f.said()))
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

// WriteSummary writes the last lines of a report as text: the totals, and what was not read.
func WriteSummary(w io.Writer, r *Report, s Style) error {
	out := bufio.NewWriter(w)
	s.summary(out, r)
	return out.Flush()
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
	if n := r.problems.count; n > 0 && r.Order == ByProblem {
		fmt.Fprintf(out, " in %s", plural(n, "problem"))
	}
	if t.Known > 0 {
		fmt.Fprintf(out, ", %d known", t.Known)
	}
	unlisted := t.Unlisted
	if r.Order == ByProblem {
		unlisted = t.Ungrouped
	}
	if unlisted > 0 {
		fmt.Fprintf(out, ", %d not listed", unlisted)
	}
	fmt.Fprintf(out, "\n%s, %s; %s: %d ok, %d broken, %d unknown", t.pages(), t.links(), plural(t.URLs, "URL"), t.OK, t.Broken, t.Unknown)
	if t.Unchecked > 0 {
		fmt.Fprintf(out, "; %s not checked", plural(t.Unchecked, "link"))
	}
	if t.Unread > 0 {
		fmt.Fprintf(out, "; %s damaged", plural(t.Unread, "body"))
	}
	fmt.Fprintln(out)
	for _, line := range r.unseen() {
		fmt.Fprintln(out, line)
	}
	if r.Part != "" {
		fmt.Fprintln(out, r.partly())
	}
}

// pages are the pages that were read, in words; of files, with their kinds.
func (t *Totals) pages() string {
	text, f := plural(t.Pages, "page"), &t.Files
	if t.NoBodies {
		all := 0
		for _, n := range t.Depths {
			all += n
		}
		text = "0 of " + plural(all, "page") + " read"
	}
	var kinds []string
	for _, k := range []struct {
		n    int
		name string
	}{{f.HTML, "HTML"}, {f.Markdown, "Markdown"}} {
		if k.n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", k.n, k.name))
		}
	}
	if len(kinds) > 0 {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	if f.Other > 0 {
		text += fmt.Sprintf(" of %s", plural(f.HTML+f.Markdown+f.Other, "file"))
	}
	return text
}

// links are the links, in words; of files, with where they lead.
func (t *Totals) links() string {
	text, f := plural(t.Links, "link"), &t.Files
	if f.ToFiles+f.ToWeb > 0 {
		text += fmt.Sprintf(" (%d to files, %d to the Web)", f.ToFiles, f.ToWeb)
	}
	return text
}

// unseen says what was not read, in lines.
func (r *Report) unseen() (all []string) {
	t := &r.Totals
	if t.NoBodies {
		all = append(all, "the job has no bodies: lines, fragments, and images that it did not request were not checked")
	}
	if r.maps != "" {
		all = append(all, r.maps)
	}
	if n := t.NeedScripts; n == 1 {
		all = append(all, "1 page looks empty without scripts, which only --render runs")
	} else if n > 1 {
		all = append(all, fmt.Sprintf("%d pages look empty without scripts, which only --render runs", n))
	}
	if n := t.Documents.Total(); n > 0 {
		all = append(all, fmt.Sprintf("%s not read: %s", plural(n, "document"), t.Documents))
	}
	return all
}

// partly says that a report is about a part.
func (r *Report) partly() string { return "only a part was checked: " + r.Part }
