package fetch

import (
	"fmt"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/scope"
)

// redirect notes where a response leads. The redirect of a seed may leave the scope, which the
// coordinator widens by it, but may not enter a trap. A nofollow in the header is about the links
// of a page, and not about a redirect.
func (f *Loop) redirect(out *Outcome, location string) {
	r := out.Record
	to, err := out.URL.URL.Resolve(location)
	if err != nil {
		r.ErrorKind, r.Error = record.KindLocation, err.Error()
		return
	}
	r.Redirect = to.String()
	out.Read = out.URL.Known == nil || out.URL.Known.Redirect != r.Redirect
	standard := to.Canonical()
	to = f.cfg.Canon.Apply(to)
	switch {
	case !to.IsHTTP():
		r.ErrorKind, r.Error = record.KindLocation, fmt.Sprintf("leads to scheme %.64q, expected http or https", to.Scheme())
		return
	case len(to.String()) > scope.MaxURL:
		out.Drop(scope.ReasonTooLong)
		return
	case to == out.URL.URL && standard != to:
		to = standard // the rules make one page of two that redirect to each other
	}
	reason := f.bounds.RefusesTarget(to, out.URL.Depth)
	if IsSitemap(out.URL) {
		reason = f.bounds.RefusesSitemap(to)
	}
	if reason != "" {
		out.Drop(reason)
		return
	}
	f.mention(out.URL.URL, to)
	f.refer(out, to)
	out.Target = &frontier.URL{URL: to, From: r.URL, Depth: out.URL.Depth, Priority: out.URL.Priority, Rank: out.URL.Rank}
	if out.URL.Rank == GuessedRank {
		out.Target.Rank = 0 // its scheme is none
	}
}
