package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
)

// report says in the end what the crawl has come to.
type report struct {
	weft.Summary
	job     string   // its folder; empty: none
	records []string // where they are
	failed  bool     // an error has ended it
}

// records are the places a crawl has written to.
func records(job string, out *output) []string {
	var places []string
	if job != "" {
		places = append(places, filepath.Join(job, "pages.jsonl"))
	}
	if out.file != nil {
		places = append(places, out.file.Name())
	}
	return places
}

// rate is n in all its time, a second.
func (r report) rate(n int) float64 { return float64(n) / max(r.Elapsed.Seconds(), 1e-3) }

// mostTypes and mostSlow bound what the report shows of each.
const (
	mostTypes = 10
	mostSlow  = 5
)

func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s (%s a second): %s (%s a second), %s, %s received\n", plural(r.Recorded(), "URL"), seconds(r.Elapsed.Seconds()),
		perSecond(r.rate(r.Recorded())), plural(r.Pages, "page"), perSecond(r.rate(r.Pages)), plural(r.Redirects, "redirect"), volume(r.Bytes))
	table := func(title string, rows []row) {
		for _, line := range rows {
			fmt.Fprintf(&b, "  %-13s %-28s %10s%s\n", title, printable(line.name), count(line.URLs), line.size())
			title = ""
		}
	}
	line := func(title, text string) { fmt.Fprintf(&b, "  %-13s %s\n", title, printable(text)) }

	if r.Visit > 1 {
		line("visit", fmt.Sprintf("%d: %s", r.Visit, changes(r.Unchanged, r.Changed, r.Gone, r.New)))
		if r.BytesSaved > 0 {
			line("spared", volume(r.BytesSaved)+" that had not changed")
		}
	}
	table("status", rows(r.Statuses, func(status int) string { return fmt.Sprint(status) }))
	types := rows(r.ContentTypes, func(t string) string { return cmp.Or(t, "(none)") })
	slices.SortStableFunc(types, func(a, b row) int { return cmp.Compare(b.URLs, a.URLs) })
	if len(types) > mostTypes {
		rest := row{name: "(" + plural(len(types)-mostTypes, "other") + ")"}
		for _, t := range types[mostTypes:] {
			rest.URLs += t.URLs
			rest.Bytes += t.Bytes
		}
		types = append(types[:mostTypes], rest)
	}
	table("content type", types)
	if r.Duplicates+r.Near > 0 {
		line("duplicates", fmt.Sprintf("%s with the content of another, %s nearly", plural(r.Duplicates, "page"), count(r.Near)))
	}
	table("error", rows(r.Errors, func(kind string) string { return kind }))
	var reasons []row
	for _, reason := range slices.Sorted(maps.Keys(r.NotFollowed)) {
		reasons = append(reasons, row{reason, weft.Count{URLs: r.NotFollowed[reason], Bytes: -1}})
	}
	table("not followed", reasons)
	if len(r.Opened) > 0 {
		line("in scope, too", hostList(r.Opened)+", because a seed redirects there")
	}
	title := "slowest"
	for _, slow := range r.Slowest[:min(len(r.Slowest), mostSlow)] {
		line(title, fmt.Sprintf("%9s  %d  %s", seconds(slow.TotalMS/1000), slow.Status, slow.URL))
		title = ""
	}
	if r.FirstError != "" {
		line("first error", r.FirstError)
	}
	if r.OverLimit > 0 {
		line("cut", plural(r.OverLimit, "URL")+", by --limit-per-host")
	}
	if r.OverVariants > 0 {
		line("cut", plural(r.OverVariants, "URL")+", by --max-variants")
	}
	switch {
	case r.Interrupted:
		line("left", plural(r.Pending, "URL")+", the crawl was interrupted"+r.howOn())
	case r.Stopped != "":
		line("left", plural(r.Pending, "URL")+", stopped by --"+r.Stopped)
	case r.failed && !r.Finished:
		line("left", plural(r.Pending, "URL")+", an error has ended the crawl"+r.howOn())
	}
	if r.Runs > 1 {
		line("runs", count(r.Runs)+", all of them counted here")
	}
	title = "records"
	for _, place := range r.records {
		line(title, place)
		title = ""
	}
	return b.String()
}

// changes says what a visit has found.
func changes(unchanged, changed, gone, fresh int) string {
	return fmt.Sprintf("%s unchanged, %s changed, %s gone, %s new", count(unchanged), count(changed), count(gone), count(fresh))
}

// mostOpened is how many hosts the report names.
const mostOpened = 3

// hostList names some hosts, and says how many others there are at least.
func hostList(hosts []string) string {
	if len(hosts) <= mostOpened {
		return strings.Join(hosts, ", ")
	}
	return strings.Join(hosts[:mostOpened], ", ") + " and others"
}

// howOn says how to go on, if there is a way.
func (r report) howOn() string {
	if r.job == "" {
		return ""
	}
	return "; the same command goes on"
}

// row is a line of a table.
type row struct {
	name string
	weft.Count
}

// size is empty for what has none.
func (r row) size() string {
	if r.Bytes < 0 {
		return ""
	}
	return fmt.Sprintf("  %8s", volume(r.Bytes))
}

func rows[K cmp.Ordered](counts map[K]weft.Count, name func(K) string) []row {
	var all []row
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, row{name(k), counts[k]})
	}
	return all
}
