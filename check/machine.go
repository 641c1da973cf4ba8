package check

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
)

// maxMessage bounds a message in formats whose readers have limits, in bytes.
const maxMessage = 4000

// sentence is a finding in one line, without its page.
func sentence(f *Finding) string {
	var b strings.Builder
	if f.URL != "" {
		fmt.Fprintf(&b, "%s: ", f.URL)
	}
	b.WriteString(f.said())
	for _, hop := range f.Redirects {
		fmt.Fprintf(&b, "; %d → %s", hop.Status, hop.To)
	}
	if text := strings.TrimSpace(element(f) + " " + quoted(f.Text)); text != "" {
		fmt.Fprintf(&b, " (%s)", text)
	}
	text := b.String()
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// list writes findings, or problems, as the elements of a JSON array.
func list[T any](out *bufio.Writer, all iter.Seq2[T, error], element func(*T) any) error {
	first := true
	for one, err := range all {
		if err != nil {
			return err
		}
		text, err := json.Marshal(element(&one))
		if err != nil {
			return err
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		out.WriteString("\n ")
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes a line for each finding, after a header (RFC 4180). A report on a part says so in
// a line without a rule. A cell that a spreadsheet would read as a formula begins with an
// apostrophe.
func writeCSV(w io.Writer, r *Report, s Style) error {
	out := csv.NewWriter(w)
	cell := func(text string) string {
		if text = s.clean(text); text != "" && strings.Contains("=+-@", text[:1]) {
			return "'" + text
		}
		return text
	}
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	_ = out.Write([]string{"level", "rule", "message", "page", "line", "column", "element", "text", "url", "status", "error_kind", "error"})
	if r.Part != "" {
		_ = out.Write([]string{"", "", r.partly(), "", "", "", "", "", "", "", "", ""})
	}
	for f, err := range r.Findings() {
		if err != nil {
			return err
		}
		// Its error is kept until Flush.
		_ = out.Write([]string{
			string(f.Level), f.Rule, cell(f.said()), cell(f.Page), number(f.Line), number(f.Column), cell(element(&f)), cell(f.Text), cell(f.URL),
			number(f.Status), cell(f.ErrorKind), cell(f.Error),
		})
	}
	out.Flush()
	return out.Error()
}

// writeJSON writes an object with the totals, an array of problems, and one of findings.
func writeJSON(w io.Writer, r *Report, _ Style) error {
	out := bufio.NewWriter(w)
	totals, err := json.Marshal(&r.Totals)
	if err != nil {
		return err
	}
	subject, _ := json.Marshal(r.Subject) // a string
	fmt.Fprintf(out, "{\"subject\":%s,\n", subject)
	if r.Part != "" {
		part, _ := json.Marshal(r.Part) // a string
		fmt.Fprintf(out, "\"part\":%s,\n", part)
	}
	fmt.Fprintf(out, "\"totals\":%s,\n\"problems\":[", totals)
	if err := list(out, r.Problems(), func(p *Problem) any { return p }); err != nil {
		return err
	}
	out.WriteString("\n],\n\"findings\":[")
	if err := list(out, r.Findings(), func(f *Finding) any { return f }); err != nil {
		return err
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// sarifLevels are the levels of SARIF (section 3.27.10).
var sarifLevels = map[Level]string{Error: "error", Warning: "warning", Note: "note"}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	Line   int `json:"startLine"`
	Column int `json:"startColumn"`
}

// writeSARIF writes the Static Analysis Results Interchange Format, version 2.1.0 (OASIS).
func writeSARIF(w io.Writer, r *Report, _ Style) error {
	type rule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	var all []rule
	for _, known := range rules {
		if r.Totals.Rules[known.Name] > 0 {
			one := rule{ID: known.Name, Short: sarifText{known.Doc}}
			one.Default.Level = sarifLevels[known.Level]
			all = append(all, one)
		}
	}
	if all == nil {
		all = []rule{}
	}
	described, err := json.Marshal(all)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `{"version":"2.1.0","$schema":"https://json.schemastore.org/sarif-2.1.0.json","runs":[{`+"\n"+
		`"tool":{"driver":{"name":"weft check","informationUri":"https://github.com/weftcrawl/weft","rules":%s}},`+"\n"+
		`"columnKind":"unicodeCodePoints","results":[`, described)
	err = list(out, r.Findings(), func(f *Finding) any {
		s := sarifResult{RuleID: f.Rule, Level: sarifLevels[f.Level], Message: sarifText{sentence(f)}, Locations: make([]sarifLocation, 1)}
		at := &s.Locations[0].Physical
		if at.Artifact.URI = f.Page; !strings.Contains(f.Page, "://") { // a path
			at.Artifact.URI = (&url.URL{Path: f.Page}).String()
		}
		if f.Line > 0 {
			at.Region = &sarifRegion{f.Line, f.Column}
		}
		return s
	})
	if err != nil {
		return err
	}
	out.WriteString("\n]")
	if r.Part != "" {
		part, _ := json.Marshal(r.partly()) // a string
		fmt.Fprintf(out, ",\n"+`"invocations":[{"executionSuccessful":false,"toolExecutionNotifications":[{"level":"warning","message":{"text":%s}}]}]`, part)
	}
	out.WriteString("}]}\n")
	return out.Flush()
}

// writeJUnit writes a test suite in which each finding is a test case: errors fail, what is unknown
// is skipped, the others pass and say so. The first case is the check itself, so that none is
// empty; it is skipped if the report is about a part.
func writeJUnit(w io.Writer, r *Report, s Style) error {
	t := &r.Totals
	skipped, whole := t.Rules[UnknownLink], "/>"
	if r.Part != "" {
		skipped, whole = skipped+1, "><skipped message="+attribute(r.partly())+"/></testcase>"
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s<testsuites>\n<testsuite name=\"weft check\" tests=\"%d\" failures=\"%d\" skipped=\"%d\" errors=\"0\">\n",
		xml.Header, 1+t.Errors+t.Warnings+t.Notes, t.Errors, skipped)
	fmt.Fprintf(out, "<testcase classname=%s name=\"%s on %s\"%s\n", attribute(r.Subject), plural(t.Links, "link"), plural(t.Pages, "page"), whole)
	for f, err := range r.Findings() {
		if err != nil {
			return err
		}
		name := f.Rule
		if at := where(&f); at != "" {
			name += " " + at
		}
		if f.URL != "" {
			name += " " + f.URL
		}
		text := attribute(s.clean(sentence(&f)))
		fmt.Fprintf(out, "<testcase classname=%s name=%s", attribute(s.clean(f.Page)), attribute(s.clean(name)))
		switch {
		case f.Level == Error:
			fmt.Fprintf(out, "><failure type=\"%s\" message=%s/></testcase>\n", f.Rule, text)
		case f.Rule == UnknownLink:
			fmt.Fprintf(out, "><skipped message=%s/></testcase>\n", text)
		default:
			fmt.Fprintf(out, "><system-out>%s</system-out></testcase>\n", strings.Trim(text, `"`))
		}
	}
	out.WriteString("</testsuite>\n</testsuites>\n")
	return out.Flush()
}

// attribute returns a text as a value of an attribute in XML, with its quotes. Characters that XML
// does not have become U+FFFD.
func attribute(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	_ = xml.EscapeText(&b, []byte(text)) // into memory
	b.WriteByte('"')
	return b.String()
}

// writeMarkdown writes a summary, and problems, or the findings by page or by target.
func writeMarkdown(w io.Writer, r *Report, s Style) error {
	out := bufio.NewWriter(w)
	t := &r.Totals
	fmt.Fprintf(out, "# Links of %s\n\n", inMarkdown(s.clean(r.Subject)))
	fmt.Fprintf(out, "| errors | warnings | notes | pages | links | URLs | ok | broken | unknown |\n|---|---|---|---|---|---|---|---|---|\n"+
		"| %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", t.Errors, t.Warnings, t.Notes, t.Pages, t.Links, t.URLs, t.OK, t.Broken, t.Unknown)
	if r.Part != "" {
		fmt.Fprintf(out, "\n**%s**\n", inMarkdown(r.partly()))
	}
	if r.Order == ByProblem {
		if err := s.markdownProblems(out, r); err != nil {
			return err
		}
		return out.Flush()
	}
	group := "\n"
	for f, err := range r.Findings() {
		if err != nil {
			return err
		}
		head, link := f.group(r.Order)
		if head != group {
			group = head
			fmt.Fprintf(out, "\n## %s\n\n", address(s.clean(head)))
		}
		fmt.Fprintf(out, "- **%s** %s", f.Level, inMarkdown(s.clean(f.said())))
		if link != "" {
			fmt.Fprintf(out, ": %s", address(s.clean(link)))
		}
		if at := where(&f); at != "" {
			fmt.Fprintf(out, ", at %s", at)
		}
		if e := element(&f); e != "" {
			fmt.Fprintf(out, " in `%s`", strings.ReplaceAll(s.clean(e), "`", "'"))
		}
		if f.Text != "" {
			fmt.Fprintf(out, " %s", inMarkdown(s.clean(quoted(f.Text))))
		}
		fmt.Fprintf(out, " (%s)\n", f.Rule)
		if f.Rule != PermanentRedirect || len(f.Redirects) > 1 {
			for _, hop := range f.Redirects {
				fmt.Fprintf(out, "  - %d to %s\n", hop.Status, address(s.clean(hop.To)))
			}
		}
	}
	return out.Flush()
}

// markdownProblems writes a list of problems.
func (s Style) markdownProblems(out io.Writer, r *Report) error {
	for _, line := range r.unseen() {
		fmt.Fprintf(out, "\n%s.\n", line)
	}
	if n := r.Totals.Ungrouped; n > 0 {
		fmt.Fprintf(out, "\n%s in no problem: there was no room for more.\n", plural(n, "finding"))
	}
	head, first := heads(), true
	for p, err := range r.Problems() {
		if err != nil {
			return err
		}
		if h := head(&p); h != "" {
			fmt.Fprintf(out, "\n## %s\n\n", h)
		} else if first {
			fmt.Fprintln(out)
		}
		first = false
		fmt.Fprintf(out, "- **%s** %s", p.Level, inMarkdown(s.clean(p.Message)))
		if p.URL != "" {
			fmt.Fprintf(out, ": %s", address(s.clean(p.URL)))
		}
		if times := p.times(); times != "" {
			fmt.Fprintf(out, ", %s", times)
		}
		fmt.Fprintf(out, " (%s)\n", p.Rule)
		for _, hop := range p.hops() {
			fmt.Fprintf(out, "  - %d to %s\n", hop.Status, address(s.clean(hop.To)))
		}
		for i := range p.Places {
			at := &p.Places[i]
			fmt.Fprintf(out, "  - %s", address(s.clean(at.Page)))
			if place := at.where(); place != "" {
				fmt.Fprintf(out, " at %s", place)
			}
			if e := element(&Finding{Tag: at.Tag, Attr: at.Attr}); e != "" {
				fmt.Fprintf(out, " in `%s`", strings.ReplaceAll(s.clean(e), "`", "'"))
			}
			if at.Text != "" {
				fmt.Fprintf(out, " %s", inMarkdown(s.clean(quoted(at.Text))))
			}
			if at.Message != "" {
				fmt.Fprintf(out, ": %s", inMarkdown(s.clean(at.Message)))
			}
			fmt.Fprintln(out)
		}
		if more := p.more(); more != "" {
			fmt.Fprintf(out, "  - %s\n", more)
		}
	}
	return nil
}

// address returns a URL as a link of Markdown, if it is one.
func address(url string) string {
	if strings.HasPrefix(url, "http") && strings.Contains(url, "://") && !strings.ContainsAny(url, "<> \t\n") {
		return "<" + url + ">"
	}
	return inMarkdown(url)
}

// inMarkdown escapes what Markdown, HTML in it and GitHub would read. GitHub looks for @user, #123
// and GH-123 after all escapes, and notifies users or marks issues: a space without width ends
// these words.
func inMarkdown(text string) string {
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune("\\`*_{}[]()#!|&~<>$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' || r == '#' || r == '-' && i >= 2 && strings.EqualFold(text[i-2:i], "gh") {
			b.WriteString("&#8203;")
		}
	}
	return b.String()
}

// commands are the workflow commands by level.
var commands = map[Level]string{Error: "error", Warning: "warning", Note: "notice"}

// mostAnnotations is the most annotations that GitHub gets: it shows ten of a level for each step.
const mostAnnotations = 1000

// writeGitHub writes workflow commands: an annotation for each finding in a file, at its line.
// Pages of a site have no line there, and of ten annotations that GitHub shows all might be of one
// link: so each problem gets one.
func writeGitHub(w io.Writer, r *Report, s Style) error {
	out := bufio.NewWriter(w)
	write := s.annotateFindings
	if r.Order == ByProblem && !r.Began.IsZero() {
		write = s.annotateProblems
	}
	if err := write(out, r); err != nil {
		return err
	}
	s.Color = false
	var summary strings.Builder
	s.summary(&summary, r)
	for line := range strings.Lines(summary.String()) {
		out.WriteString(line)
	}
	return out.Flush()
}

func (s Style) annotateProblems(out *bufio.Writer, r *Report) error {
	n := 0
	for p, err := range r.Problems() {
		if err != nil {
			return err
		}
		if n++; n > mostAnnotations {
			break
		}
		at := &p.Places[0]
		f := Finding{Rule: p.Rule, URL: p.URL, Message: p.Message, Redirects: p.Redirects, Tag: at.Tag, Attr: at.Attr, Text: at.Text}
		text := strings.TrimSuffix(at.Page+":"+at.where(), ":") + ": " + sentence(&f)
		if times := p.times(); times != "" {
			text += ", " + times
		}
		for _, other := range p.Places[1:] {
			text += ", " + strings.TrimSuffix(other.Page+":"+other.where(), ":")
		}
		if more := p.more(); more != "" {
			text += ", " + more
		}
		fmt.Fprintf(out, "::%s title=%s::%s\n", commands[p.Level], property(p.Rule), command(s.clean(text)))
	}
	return nil
}

func (s Style) annotateFindings(out *bufio.Writer, r *Report) error {
	n := 0
	for f, err := range r.Findings() {
		if err != nil {
			return err
		}
		if n++; n > mostAnnotations {
			break
		}
		fmt.Fprintf(out, "::%s title=%s", commands[f.Level], property(f.Rule))
		text := s.clean(sentence(&f))
		if strings.Contains(f.Page, "://") {
			text = strings.TrimSuffix(s.clean(f.Page)+":"+where(&f), ":") + ": " + text
		} else {
			fmt.Fprintf(out, ",file=%s", property(s.clean(f.Page)))
			if f.Line > 0 {
				fmt.Fprintf(out, ",line=%d,col=%d", f.Line, f.Column)
			}
		}
		fmt.Fprintf(out, "::%s\n", command(text))
	}
	return nil
}

// command escapes the text of a workflow command, so that it ends where its line ends.
func command(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// property escapes a property of a workflow command.
func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
