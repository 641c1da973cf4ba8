package fetch

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// redirect notes where a response leads. The redirect of a seed may leave the scope, which the
// coordinator widens by it, but may not enter a trap. A nofollow in the header is about the links
// of a page, and not about a redirect.
func (f *Loop) redirect(out *Outcome, location string) {
	r := out.Record
	to, err := out.URL.URL.Resolve(weburl.EscapeInvalid(location))
	if err != nil {
		r.ErrorKind, r.Error = record.KindLocation, err.Error()
		return
	}
	r.Redirect = to.String()
	out.Read = out.URL.Known == nil || out.URL.Known.Redirect != r.Redirect
	digest := keptPost(&out.URL, r.Status)
	ref, standard := to, to.Canonical()
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
	role, reason := f.target(&out.URL, to)
	if reason != "" {
		out.Drop(reason)
		return
	}
	if digest != "" {
		to = to.WithPost(digest)
		r.Redirect = to.String()
	}
	f.mention(out.URL.URL, to)
	f.refer(out, to)
	data := out.URL.Data
	if digest == "" {
		data = dataOf(&out.URL)
	}
	out.Target = &frontier.URL{URL: to, Written: written(ref, to), From: r.URL, Data: data, Depth: out.URL.Depth, Priority: out.URL.Priority, Rank: out.URL.Rank, Role: role}
	if out.URL.Rank == GuessedRank {
		out.Target.Rank = 0 // its scheme is none
	}
}

// target returns the role of the URL that another redirects to, or why it is not requested.
func (f *Loop) target(from *frontier.URL, to weburl.URL) (role frontier.Role, reason string) {
	if IsSitemap(*from) || from.Role.Beyond() {
		return from.Role, f.bounds.Forbids(to)
	}
	if reason = f.bounds.RefusesTarget(to, from.Depth); reason == "" {
		return from.Role, ""
	}
	return f.beyond(from, to, from.Role == frontier.RoleNeeded, reason)
}
