package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/weftcrawl/weft"
)

// mostBroken is how many broken URLs the report shows, and one of each further outcome.
const mostBroken = 10

// alikeBroken are the broken URLs of one outcome: a status, or an error kind.
type alikeBroken struct {
	status int // 0: kind is set
	kind   string
	urls   []weft.Broken
	all    int // of which urls are the first
}

// broken sorts the broken URLs by outcome, statuses first, and keeps as many as the report shows:
// each outcome has its share.
func (r report) broken() []alikeBroken {
	var groups []alikeBroken
	for _, b := range r.Broken {
		g := alikeBroken{status: b.Status, all: r.Statuses[b.Status].URLs}
		if b.ErrorKind != "" {
			g = alikeBroken{kind: b.ErrorKind, all: r.Errors[b.ErrorKind].URLs}
		}
		same := func(o alikeBroken) bool { return o.status == g.status && o.kind == g.kind }
		i := slices.IndexFunc(groups, same)
		if i < 0 {
			i, groups = len(groups), append(groups, g)
		}
		groups[i].urls = append(groups[i].urls, b)
	}
	slices.SortFunc(groups, func(a, b alikeBroken) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.status, b.status))
	})
	shares := make([]int, len(groups))
	for left, given := mostBroken, true; given; {
		given = false
		for i, g := range groups {
			if shares[i] < len(g.urls) && (left > 0 || shares[i] == 0) {
				shares[i]++
				left--
				given = true
			}
		}
	}
	for i, n := range shares {
		groups[i].urls = groups[i].urls[:n]
	}
	return groups
}

// showBroken prints broken URLs and where they were found.
func (r report) showBroken(out *sheet) {
	for _, g := range r.broken() {
		name, filter := g.kind, "--error "+g.kind
		if g.kind == "" {
			name, filter = statusInWords(g.status), fmt.Sprintf("--status %d", g.status)
		}
		out.line("broken", "%s", name)
		for _, b := range g.urls {
			line := "  " + b.URL
			if b.Error != "" {
				line += ": " + b.Error
			}
			out.line("broken", "%s", line)
			if b.From != "" {
				out.line("broken", "    from %s", b.From)
			}
		}
		if len(g.urls) < g.all {
			line := fmt.Sprintf("  %s of %s", count(len(g.urls)), count(g.all))
			if r.job != "" {
				line += fmt.Sprintf(", all: weft urls %s %s", filter, r.job)
			}
			out.line("broken", "%s", line)
		}
	}
}

// statusInWords is "404 Not Found".
func statusInWords(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprint(status)
}
