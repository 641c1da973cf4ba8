package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
)

// report is printed at the end of a crawl.
type report struct {
	summary weft.Summary
	job     string   // its folder; empty: none
	records []string // the files that hold them
	failed  bool     // an error has ended the crawl
	node    bool     // one of several, of which another may have fetched the seeds
}

// records returns the files that a crawl has written records to.
func records(job string, out *output) []string {
	var files []string
	if job != "" {
		files = append(files, filepath.Join(job, "pages.jsonl"))
	}
	if out.file != nil {
		files = append(files, out.file.Name())
	}
	return files
}

// fetchedNone reports whether a crawl went on to its end, and could fetch none of its seeds.
func (r report) fetchedNone() bool {
	s := &r.summary
	if s.Narrowed && (s.Recorded() == 0 || len(s.Statuses) > 0) { // seeds may not be among the chosen
		return false
	}
	return !r.node && s.SeedsFetched == 0 && r.summary.Stopped == "" && !r.failed && !r.summary.Interrupted
}

// rate is n per second of the whole crawl.
func (r report) rate(n int) float64 { return float64(n) / max(r.summary.Elapsed.Seconds(), 1e-3) }

// The most of each that the report shows.
const (
	mostTypes  = 10
	mostSlow   = 5
	mostOpened = 3

	mostGivenUp = 5
	mostTraps   = 5
)

func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s (%s/s): %s (%s/s), %s, %s received\n",
		plural(r.summary.Recorded(), "URL"), seconds(r.summary.Elapsed.Seconds()), perSecond(r.rate(r.summary.Recorded())),
		plural(r.summary.Pages, "page"), perSecond(r.rate(r.summary.Pages)),
		plural(r.summary.Redirects, "redirect"), volume(r.summary.Bytes))
	out := &sheet{Writer: &b, width: titleWidth}
	if r.summary.Visit > 1 {
		out.line("visit", "%d: %s", r.summary.Visit, changes(&r.summary.Counters))
		out.saved(r.summary.BytesSaved)
	}
	out.some("also", beyond(r.summary.Counters))
	counts(out, "status", r.summary.Statuses)
	r.contentTypes(out)
	if r.summary.Duplicates+r.summary.Near > 0 {
		out.line("duplicates", "%s identical to another, %s nearly",
			plural(r.summary.Duplicates, "page"), count(r.summary.Near))
	}
	out.some("rendered", rendered(r.summary.ScriptCounts))
	out.unrendered(r.summary.Unrendered)
	out.some("empty", needingScripts(r.summary.ScriptCounts))
	counts(out, "error", r.summary.Errors)
	out.figures("not followed", r.summary.NotFollowed)
	if keepsItems(r.job, r.summary.Items) {
		out.line("items", "%s", itemsInWords(r.summary.ItemCounts, r.summary.Visit))
	}
	if len(r.summary.Opened) > 0 {
		out.line("also in scope", "%s: a seed redirects there", hostList(r.summary.Opened))
	}
	for _, slow := range r.summary.Slowest[:min(len(r.summary.Slowest), mostSlow)] {
		out.line("slowest", "%9s  %d  %s", seconds(slow.TotalMS/1000), slow.Status, slow.URL)
	}
	if r.summary.Recorded() > 1 || !r.fetchedNone() { // else it is the error of the crawl
		r.showBroken(out)
		r.givenUp(out)
	}
	out.traps(r.summary.Traps, r.summary.MoreTraps)
	out.cuts(r.summary.OverLimit, r.summary.OverVariants)
	out.some("left", r.left())
	if r.summary.Runs > 1 {
		out.line("runs", "%s, all counted here", count(r.summary.Runs))
	}
	for _, file := range r.records {
		out.line("records", "%s", file)
	}
	return b.String()
}

// beyond says what was requested beyond the scope; empty: nothing.
func beyond(c weft.Counters) string {
	var all []string
	if c.Assets > 0 {
		all = append(all, plural(c.Assets, "asset")+" from elsewhere")
	}
	if c.External > 0 {
		all = append(all, plural(c.External, "external link")+" checked")
	}
	return strings.Join(all, ", ")
}

// emptyPages ends the report of pages that only scripts fill.
const emptyPages = "empty without scripts, which only --render runs"

// rendered says how many pages a browser has rendered; empty: none.
func rendered(c weft.ScriptCounts) string {
	if c.Rendered+c.NotRendered == 0 {
		return ""
	}
	text := plural(c.Rendered, "page")
	if c.NotRendered > 0 {
		text += fmt.Sprintf("; %s could not be", count(c.NotRendered))
	}
	return text
}

// unrendered prints why pages could not be rendered, each kind with its first page.
func (s *sheet) unrendered(all []weft.Unrendered) {
	for _, u := range all {
		first := ""
		if u.First != "" {
			first = "  " + u.First
		}
		s.figure("not rendered", u.Kind, u.Pages, first)
	}
}

// needingScripts says how many pages look empty without scripts; empty: none.
func needingScripts(c weft.ScriptCounts) string {
	if c.NeedScripts == 0 {
		return ""
	}
	look := "look"
	if c.NeedScripts == 1 {
		look = "looks"
	}
	text := fmt.Sprintf("%s %s %s", plural(c.NeedScripts, "page"), look, emptyPages)
	if c.NeedsFirst != "" {
		text += ": " + c.NeedsFirst
	}
	return text
}

// contentTypes prints the most frequent types, and the others as one.
func (r report) contentTypes(out *sheet) {
	types := slices.SortedFunc(maps.Keys(r.summary.ContentTypes), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.summary.ContentTypes[b].URLs, r.summary.ContentTypes[a].URLs), cmp.Compare(a, b))
	})
	var others weft.Count
	for i, t := range types {
		c := r.summary.ContentTypes[t]
		if i < mostTypes {
			out.counted("content type", cmp.Or(t, "(none)"), c)
			continue
		}
		others.URLs += c.URLs
		others.Bytes += c.Bytes
	}
	if n := len(types) - mostTypes; n > 0 {
		out.counted("content type", "("+plural(n, "other")+")", others)
	}
}

// givenUp lists origins that were given up, without those that the broken URLs explain.
func (r report) givenUp(out *sheet) {
	origins := slices.DeleteFunc(slices.Clone(r.summary.GivenUp), r.isBroken)
	shown := min(len(origins), mostGivenUp)
	for _, g := range origins[:shown] {
		out.line("given up", "%s, %s left: %s: %s", g.Origin, plural(g.URLs, "URL"), g.Kind, g.Reason)
	}
	if n := len(origins) - shown + r.summary.MoreGivenUp; n > 0 {
		out.line("given up", "%s", plural(n, "other"))
	}
}

// isBroken reports whether the only URL that an origin left is among the broken ones, with the
// same error.
func (r report) isBroken(g weft.GivenUp) bool {
	return g.URLs == 1 && slices.ContainsFunc(r.summary.Broken, func(b weft.Broken) bool {
		return b.ErrorKind == g.Kind && strings.HasPrefix(g.Reason, b.Error) && strings.HasPrefix(b.URL, g.Origin+"/")
	})
}

// traps lists endless paths.
func (s *sheet) traps(shapes []string, others int) {
	shown := min(len(shapes), mostTraps)
	for _, shape := range shapes[:shown] {
		s.line("trap", "%s: ever more pages with nothing new, others like it are refused", shape)
	}
	if n := len(shapes) - shown + others; n > 0 {
		s.line("trap", "%s", plural(n, "other"))
	}
}

// left says what the crawl has left, if it has not finished, and how to resume it.
func (r report) left() string {
	left, resume := plural(r.summary.Pending, "URL"), ""
	if r.job != "" {
		resume = "; the same command resumes it"
	}
	switch {
	case r.summary.Interrupted && r.node:
		return "this node has left the crawl; the same command joins it again"
	case r.summary.Interrupted:
		return left + ", the crawl was interrupted" + resume
	case r.summary.Stopped != "" && r.node:
		return "the crawl has reached --" + r.summary.Stopped + "; the same command with a higher limit continues it"
	case r.summary.Stopped != "":
		return left + ", stopped by --" + r.summary.Stopped
	case r.failed && !r.summary.Finished:
		return left + ", an error ended the crawl" + resume
	}
	return ""
}

// hostList names some hosts.
func hostList(hosts []string) string {
	if len(hosts) <= mostOpened {
		return strings.Join(hosts, ", ")
	}
	return strings.Join(hosts[:mostOpened], ", ") + " and others"
}

// counted prints a name with its URLs and bytes.
func (s *sheet) counted(title, name string, c weft.Count) {
	s.figure(title, name, c.URLs, fmt.Sprintf("  %8s", volume(c.Bytes)))
}

// counts prints URLs and bytes by key.
func counts[K cmp.Ordered](out *sheet, title string, all map[K]weft.Count) {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out.counted(title, fmt.Sprint(k), all[k])
	}
}

// figure prints a name, a number and more about it.
func (s *sheet) figure(title, name string, n int, more string) {
	s.line(title, "%-28s %10s%s", printable(name), count(n), more)
}

// figures prints numbers by name.
func (s *sheet) figures(title string, all map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.figure(title, name, all[name], "")
	}
}

// cuts prints how many URLs the limits have cut.
func (s *sheet) cuts(overLimit, overVariants int) {
	if overLimit > 0 {
		s.line("cut", "%s by --limit-per-host", plural(overLimit, "URL"))
	}
	if overVariants > 0 {
		s.line("cut", "%s by --max-variants", plural(overVariants, "URL"))
	}
}

// saved prints what a recrawl did not have to fetch.
func (s *sheet) saved(bytes int64) {
	if bytes > 0 {
		s.line("saved", "%s, unchanged", volume(bytes))
	}
}

// changes says what a recrawl has found.
func changes(c *weft.Counters) string {
	text := fmt.Sprintf("%s unchanged, %s changed, %s gone, %s new", count(c.Unchanged), count(c.Changed), count(c.Gone), count(c.New))
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %s not asked", count(c.Skipped))
	}
	return text
}

// keepsItems reports whether a crawl looks for items: its job has a file of them, empty or not.
func keepsItems(job string, found int) bool {
	_, err := os.Stat(filepath.Join(job, "items.jsonl"))
	return found > 0 || job != "" && err == nil
}

// mostMissing is the number of fields that items lack and a message names.
const mostMissing = 10

// itemsInWords says how many items there are, and what they lack.
func itemsInWords(s weft.ItemCounts, visit int) string {
	text := plural(s.Items, "item")
	if visit > 1 {
		text += " of pages that are new or changed"
	}
	for i, name := range slices.Sorted(maps.Keys(s.Missing)) {
		if i == mostMissing {
			return text + fmt.Sprintf("; %s more are missing", plural(len(s.Missing)-i, "field"))
		}
		text += fmt.Sprintf("; %s missing in %s", name, count(s.Missing[name]))
	}
	return text
}

// incomplete says which required field most items lack; "" if none does.
func incomplete(s weft.ItemCounts) string {
	if len(s.Missing) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(s.Missing), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Missing[b], s.Missing[a]), cmp.Compare(a, b))
	})
	more := ""
	if n := len(names) - 1; n > 0 {
		more = fmt.Sprintf(", and %s in others", plural(n, "other field"))
	}
	return fmt.Sprintf("%s is required, and missing in %s of %s%s",
		names[0], count(s.Missing[names[0]]), plural(s.Items, "item"), more)
}
