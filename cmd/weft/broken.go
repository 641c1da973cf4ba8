package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/weburl"
)

// mostBroken is the number of broken URLs that the report shows, and one of each further outcome.
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
	for _, b := range r.summary.Broken {
		g := alikeBroken{status: b.Status, all: r.summary.Statuses[b.Status].URLs}
		if b.ErrorKind != "" {
			g = alikeBroken{kind: b.ErrorKind, all: r.summary.Errors[b.ErrorKind].URLs}
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
	groups := r.broken()
	linked := r.linked(groups)
	for _, g := range groups {
		name, filter := g.kind, "--error "+g.kind
		if g.kind == "" {
			name, filter = statusInWords(g.status), fmt.Sprintf("--status %d", g.status)
		}
		switch {
		case g.status == http.StatusUnauthorized:
			name += ": " + logsIn
		case g.kind == string(httpclient.KindBlocked):
			name += ": " + privateHint
		}
		out.line("broken", "%s", name)
		for _, b := range g.urls {
			line := "  " + b.URL
			if b.Error != "" {
				line += ": " + b.Error
			}
			out.line("broken", "%s", line)
			if b.From != "" {
				line := "    from " + b.From
				if n := linked[b.URL] - 1; n > 0 {
					line += " and " + plural(n, "other page")
				}
				out.line("broken", "%s", line)
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

// linked returns how many pages lead to each of some URLs. If the job cannot say, the report is
// good without.
func (r report) linked(groups []alikeBroken) map[string]int {
	var urls []weburl.URL
	for _, g := range groups {
		for _, b := range g.urls {
			if u, err := weburl.Parse(b.URL); err == nil {
				urls = append(urls, u)
			}
		}
	}
	if r.job == "" || len(urls) == 0 {
		return nil
	}
	all, _ := refs.Of(r.job, urls, 0)
	linked := make(map[string]int)
	for i, pages := range all {
		linked[urls[i].String()] = pages.Total
	}
	return linked
}

// statusInWords is "404 Not Found".
func statusInWords(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprint(status)
}
