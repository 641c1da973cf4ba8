package check

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of a report in HTML.
const (
	maxData      = 48 << 20 // of findings, and of pages: bytes of JSON; 20 MB open in 1.5 s
	maxPlain     = 1000     // findings, and pages, for readers without scripts
	maxPlainSize = 4 << 20  // of those findings, in bytes
	maxBars      = 12       // of a chart; the last one is what is left
)

//go:embed report.html report.css report.js
var reportFiles embed.FS

// writeHTML writes a page that needs nothing else. Its script shows tables from data, for a
// document of 100,000 rows is slow; noscript has the first ones. Its Content-Security-Policy allows
// its own style and script, by their hashes, and no request.
func writeHTML(w io.Writer, r *Report, _ Style) error {
	t, err := template.New("report.html").Funcs(template.FuncMap{
		"href": href, "number": number, "size": bytesInWords, "plural": plural,
		"place": func(f plainFinding) string { return where(&f.Finding) }, "times": func(p Problem) string { return p.times() },
		"more": func(p Problem) string { return p.more() }, "hops": func(p Problem) []Hop { return p.hops() },
		"at": func(p Place) string { return p.where() }, "tag": func(p Place) string { return element(&Finding{Tag: p.Tag, Attr: p.Attr}) },
		"element": func(f plainFinding) string { return element(&f.Finding) },
		"outcome": func(p PageRow) string { return cmp.Or(p.ErrorKind, statusText(p.Status)) },
	}).ParseFS(reportFiles, "report.html")
	if err != nil {
		return err
	}
	css, _ := reportFiles.ReadFile("report.css") // embedded
	js, _ := reportFiles.ReadFile("report.js")
	if r.Order == ByProblem {
		if err := r.problems.order(r.dir, r.Totals.Pages); err != nil { // counts them, for the head
			return err
		}
	}
	v := &htmlReport{Report: r, CSS: template.CSS(css), JS: template.JS(js)}
	v.Policy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", digest(css), digest(js))
	out := bufio.NewWriter(w)
	if err := t.Execute(out, v); err != nil {
		return err
	}
	if v.err != nil {
		return v.err
	}
	return out.Flush()
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// htmlReport is the data of the template. What iterators leave out is known behind them.
type htmlReport struct {
	*Report
	Policy string
	CSS    template.CSS
	JS     template.JS

	FindingsLeft, PagesLeft int // out of the data
	PlainLeft, PlainPages   int // out of what needs no script
	ProblemsLeft            int
	err                     error
}

// Verdict is the report in words.
func (v *htmlReport) Verdict() string {
	switch {
	case v.Empty():
		return "Nothing could be read"
	case !v.Failed() && v.Part != "":
		return "Nothing is broken so far"
	case !v.Failed():
		return "Nothing is broken"
	}
	return number(v.Totals.Errors) + " " + noun(v.Totals.Errors, "error")
}

// A tile is a number of the head. Those of findings have a level, and choose it in the table.
type tile struct {
	Name  string
	Level Level
	Count int
}

// Tiles returns the totals.
func (v *htmlReport) Tiles() (all []tile) {
	t := &v.Totals
	all = []tile{
		{noun(t.Errors, "error"), Error, t.Errors},
		{noun(t.Warnings, "warning"), Warning, t.Warnings},
		{noun(t.Notes, "note"), Note, t.Notes},
		{noun(t.Pages, "page") + " read", "", t.Pages},
		{noun(t.Links, "link"), "", t.Links},
	}
	if n := v.problems.count; v.ByProblem() && n > 0 {
		all = slices.Insert(all, 3, tile{noun(n, "problem"), "", n})
	}
	for _, more := range []tile{
		{noun(t.URLs, "URL"), "", t.URLs},
		{noun(t.OK, "URL") + " ok", "", t.OK},
		{noun(t.Broken, "URL") + " broken", "", t.Broken},
		{noun(t.Unknown, "URL") + " unknown", "", t.Unknown},
		{noun(t.Unchecked, "link") + " not checked", "", t.Unchecked},
		{"known findings", "", t.Known},
		{"findings not listed", "", t.Unlisted}, {"findings in no problem", "", t.Ungrouped},
		{"damaged " + noun(t.Unread, "body"), "", t.Unread},
		{noun(t.NeedScripts, "page") + " empty without scripts", "", t.NeedScripts},
		{noun(t.Documents.Total(), "document") + " not read", "", t.Documents.Total()},
		{"HTML files", "", t.Files.HTML},
		{"Markdown files", "", t.Files.Markdown},
		{"other files", "", t.Files.Other},
		{noun(t.Files.ToFiles, "link") + " to files", "", t.Files.ToFiles},
		{noun(t.Files.ToWeb, "link") + " to the Web", "", t.Files.ToWeb},
	} {
		if more.Count > 0 {
			all = append(all, more)
		}
	}
	return all
}

// Partly says that the report is about a part; "": it is whole.
func (v *htmlReport) Partly() string {
	if v.Part == "" {
		return ""
	}
	return v.partly()
}

// Period says when the crawl was; "" for files.
func (v *htmlReport) Period() string {
	const day, clock = "2 January 2006", "15:04"
	from, to := v.Began.UTC(), v.Ended.UTC()
	switch {
	case v.Began.IsZero():
		return ""
	case to.Sub(from) < time.Minute:
		return from.Format(day + ", " + clock + " UTC")
	case from.Format(day) == to.Format(day):
		return from.Format(day+", "+clock) + " – " + to.Format(clock+" UTC")
	}
	return from.Format(day+", "+clock) + " – " + to.Format(day+", "+clock+" UTC")
}

// Noun is the subject of a row of the report: a URL, or a file.
func (v *htmlReport) Noun() string {
	if v.Began.IsZero() {
		return "file"
	}
	return "URL"
}

// RuleLevels are the levels of the rules that have findings.
func (v *htmlReport) RuleLevels() map[string]Level {
	all := make(map[string]Level)
	for r := range v.Rules() {
		all[r.Name] = r.Level
	}
	return all
}

// Rules yields the rules that have findings, and their number, errors first.
func (v *htmlReport) Rules() iter.Seq2[Rule, int] {
	return func(yield func(Rule, int) bool) {
		for _, level := range levels {
			for _, r := range rules {
				if n := v.Totals.Rules[r.Name]; n > 0 && r.Level == level && !yield(r, n) {
					return
				}
			}
		}
	}
}

// FindingData yields the findings as lines of a JSON array, errors first, until there are too many.
func (v *htmlReport) FindingData() iter.Seq[template.JS] {
	return func(yield func(template.JS) bool) {
		rows := rows{yield: yield, err: &v.err}
		for _, level := range levels {
			for f, err := range v.Findings() {
				if err != nil {
					v.err = err
					return
				}
				if f.Level != level {
					continue
				}
				if !rows.add(f.Rule, f.Page, f.Line, f.Column, element(&f), f.Text, f.URL, f.said(), f.Error, f.Redirects) {
					v.FindingsLeft++
				}
			}
		}
	}
}

// PageData yields the pages, likewise.
func (v *htmlReport) PageData() iter.Seq[template.JS] {
	return func(yield func(template.JS) bool) {
		rows := rows{yield: yield, err: &v.err}
		for p, err := range v.Pages() {
			if err != nil {
				v.err = err
				return
			}
			mediaType, _, _ := strings.Cut(p.ContentType, ";")
			if !rows.add(p.URL, string(p.Verdict), p.Status, p.ErrorKind, p.Redirect, mediaType, p.Title, p.Depth, p.Bytes, int64(p.TotalMS),
				p.LinksIn, p.LinksOut, p.Errors, p.Warnings, p.Notes) {
				v.PagesLeft++
			}
		}
	}
}

// rows yields rows of values as JSON. A 0 in the place of a string stands for that of the row
// before.
type rows struct {
	yield  func(template.JS) bool
	before []string
	size   int
	full   bool
	err    *error
}

// add yields a row, unless there are too many.
func (r *rows) add(values ...any) bool {
	if r.full {
		return false
	}
	strings := make([]string, len(values))
	for i, value := range values {
		if s, ok := value.(string); ok {
			strings[i] = s
			if s != "" && r.before != nil && r.before[i] == s {
				values[i] = 0
			}
		}
	}
	text, err := json.Marshal(values) // with <, > and & escaped: it ends no element
	if err != nil {
		*r.err = err
	}
	comma := ","
	if r.before == nil {
		comma = ""
	}
	r.size += len(text) + 2
	if r.full = r.size > maxData; r.full || *r.err != nil || !r.yield(template.JS(comma+"\n"+string(text))) {
		r.full = true
		return false
	}
	r.before = strings
	return true
}

// A plainGroup is the findings of a page, or of a target.
type plainGroup struct {
	Head     string
	Findings []plainFinding
}

type plainFinding struct {
	Finding
	Other string // the URL, or, of a target, the page
}

// Plain returns the first findings in groups.
func (v *htmlReport) Plain() (all []plainGroup) {
	n, size := 0, 0
	for f, err := range v.Findings() {
		if err != nil {
			v.err = err
			break
		}
		for _, hop := range f.Redirects {
			size += len(hop.To)
		}
		if size += len(f.Page) + len(f.URL) + len(f.Message) + len(f.Text); n == maxPlain || size > maxPlainSize {
			v.PlainLeft = v.Totals.Errors + v.Totals.Warnings + v.Totals.Notes - n
			break
		}
		n++
		head, other := f.Page, f.URL
		if v.Order == ByTarget && f.URL != "" {
			head, other = f.URL, f.Page
		}
		if len(all) == 0 || all[len(all)-1].Head != head {
			all = append(all, plainGroup{Head: head})
		}
		g := &all[len(all)-1]
		g.Findings = append(g.Findings, plainFinding{f, other})
	}
	return all
}

// ByProblem reports whether the report has problems.
func (v *htmlReport) ByProblem() bool { return v.Order == ByProblem }

// A problemGroup is the problems below a head; "": there is but one group.
type problemGroup struct {
	Head     string
	Problems []Problem
}

// ProblemGroups returns the first problems.
func (v *htmlReport) ProblemGroups() (all []problemGroup) {
	head := heads()
	n, size := 0, 0
	for p, err := range v.Problems() {
		if err != nil {
			v.err = err
			break
		}
		text, _ := json.Marshal(&p) // a struct of strings and numbers
		if size += len(text); n == maxPlain || size > maxPlainSize {
			v.ProblemsLeft++
			continue
		}
		n++
		if h := head(&p); h != "" || all == nil {
			all = append(all, problemGroup{Head: h})
		}
		g := &all[len(all)-1]
		g.Problems = append(g.Problems, p)
	}
	return all
}

// FirstPages yields the first pages.
func (v *htmlReport) FirstPages() iter.Seq[PageRow] {
	return func(yield func(PageRow) bool) {
		n := 0
		for p, err := range v.Pages() {
			if err != nil {
				v.err = err
				return
			}
			if n++; n > maxPlain {
				v.PlainPages++
			} else if !yield(p) {
				return
			}
		}
	}
}

// A chart is bars, with their numbers.
type chart struct {
	Title, Of string
	Bars      []bar
}

type bar struct {
	Label, Doc string
	Class      string // of colour
	Count      int
	Share      float64 // of the longest bar, in percent
}

// Charts returns what there is to draw.
func (v *htmlReport) Charts() (all []chart) {
	t := &v.Totals
	for _, c := range []chart{
		{"Status", "URLs", statusBars(t.Statuses)},
		{"Response time", "pages", bucketBars(t.Times, milliseconds)},
		{"Depth", "pages, by links from the start", depthBars(t.Depths)},
		{"Size", "pages", bucketBars(t.Sizes, bytesInWords)},
	} {
		most := 0
		for _, b := range c.Bars {
			most = max(most, b.Count)
		}
		for i := range c.Bars {
			if b := &c.Bars[i]; b.Count > 0 {
				b.Share = max(0.6, float64(b.Count)*100/float64(most))
			}
		}
		if most > 0 {
			all = append(all, c)
		}
	}
	return all
}

// statusBars are the outcomes of requests, the most frequent first.
func statusBars(counts map[string]int) (all []bar) {
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		b := bar{Label: name, Class: "bad", Count: counts[name]}
		status, err := strconv.Atoi(name)
		switch {
		case err == nil && status < 300:
			b.Class = "ok"
		case err == nil && status < 400:
			b.Class = "moved"
		case err == nil && undecided[status] != "", err != nil && kindVerdicts[name] != Broken:
			b.Class = "unknown"
		}
		if err == nil {
			b.Doc = http.StatusText(status)
		}
		if len(all) == maxBars {
			all[maxBars-1] = bar{Label: "others", Class: "others", Count: all[maxBars-1].Count + b.Count}
			continue
		}
		all = append(all, b)
	}
	return all
}

// bucketBars are a distribution from its first to its last bucket that is not empty.
func bucketBars(buckets []Bucket, inWords func(int64) string) (all []bar) {
	var from int64
	used := 0
	for _, b := range buckets {
		label := inWords(from) + " – " + inWords(b.Below)
		switch {
		case b.Below == 0:
			label = "≥ " + inWords(from)
		case from == 0:
			label = "< " + inWords(b.Below)
		}
		if all = append(all, bar{Label: label, Count: b.Count}); b.Count > 0 {
			used = len(all)
		}
		from = b.Below
	}
	return all[:used]
}

// depthBars are the depths up to the deepest; depths without a bar share the last one.
func depthBars(counts map[int]int) (all []bar) {
	for _, depth := range slices.Sorted(maps.Keys(counts)) {
		for len(all) <= min(depth, maxBars-1) {
			all = append(all, bar{Label: strconv.Itoa(len(all))})
		}
		b := &all[min(depth, maxBars-1)]
		if b.Count += counts[depth]; depth >= maxBars {
			b.Label = fmt.Sprintf("≥ %d", maxBars-1)
		}
	}
	return all
}

// href returns a URL if a link may lead there, else "".
func href(url string) template.URL {
	for _, scheme := range []string{"http:", "https:", "mailto:"} {
		if len(url) > len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			return template.URL(url) // an attribute still escapes it
		}
	}
	return ""
}

func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status)
}

func milliseconds(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d ms", n)
	}
	return fmt.Sprintf("%.3g s", float64(n)/1000)
}

// bytesInWords is "12 KiB".
func bytesInWords(n int64) string {
	value, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	if value < 10 && unit != "B" {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + unit
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}
