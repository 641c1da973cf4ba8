package fetch

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// outlinks judges the URLs that a response leads to.
// Owner: one loop.
type outlinks struct {
	cfg    *Config
	bounds *scope.Bounds
	reach  *reach
}

// redirect notes where a response leads. The redirect of a seed may leave the scope, which the
// coordinator widens by it, but may not enter a trap. A nofollow in the header is about the links
// of a page, and not about a redirect.
func (o *outlinks) redirect(out *Outcome, location string) {
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
	to = o.cfg.Canon.Apply(to)
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
	role, reason := o.target(&out.URL, to)
	if reason != "" {
		out.Drop(reason)
		return
	}
	if digest != "" {
		to = to.WithPost(digest)
		r.Redirect = to.String()
	}
	o.reach.mention(out.URL.URL, to)
	o.refer(out, to)
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
func (o *outlinks) target(from *frontier.URL, to weburl.URL) (role frontier.Role, reason string) {
	if IsSitemap(*from) || from.Role.Beyond() {
		return from.Role, o.bounds.Forbids(to)
	}
	if reason = o.bounds.RefusesTarget(to, from.Depth); reason == "" {
		return from.Role, ""
	}
	return o.beyond(from, to, from.Role == frontier.RoleNeeded, reason)
}

// beyond returns the role of a URL that is not followed, for a reason, from a URL that needs it or
// only links to it; or why it is not requested at all.
func (o *outlinks) beyond(from *frontier.URL, to weburl.URL, needed bool, reason string) (frontier.Role, string) {
	c := o.cfg
	switch reason {
	case scope.ReasonScope:
		needed = needed && o.bounds.HasAssets(to)
	case scope.ReasonDepth, scope.ReasonInclude:
		needed = needed && c.Scope.Assets != scope.AssetsNone
	case scope.ReasonRel, scope.ReasonNoFollow:
		needed = false
	default:
		return 0, reason
	}
	role := frontier.RoleExternal
	if needed && (from.Role != frontier.RoleAsset || from.Rank > -maxImports) {
		role = frontier.RoleAsset
	} else if !c.Check.Beyond {
		return 0, reason
	}
	return role, o.bounds.Forbids(to)
}

// refer notes that the page of an outcome leads to a URL.
func (o *outlinks) refer(out *Outcome, to weburl.URL) {
	if o.cfg.Job {
		out.Targets.Add(to.Fingerprint())
	}
}
