package scope

import (
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/scope/places"
	"github.com/weftcrawl/weft/option"
	"github.com/weftcrawl/weft/weburl"
)

// Scope is the distance from its seeds that a crawl goes.
type Scope = option.Scope

// Scopes, the narrowest first.
const (
	Page   = option.ScopePage
	Prefix = option.ScopePrefix
	Host   = option.ScopeHost
	Domain = option.ScopeDomain
	Any    = option.ScopeAny
)

// Rules are the user's bounds of a crawl.
type Rules struct {
	Scope            Scope
	Include, Exclude []*regexp.Regexp
	Depth            int // links from a seed; 0: any number, negative: none
	Assets           Assets
	Traps            Traps
	LoggedIn         bool // links that log out are left
}

// Bounds is the scope that the seeds have opened. Those of several loops share what is open. A seed
// that redirects to another host opens that one as well, so that example.org, moved to
// www.example.org, is still crawled.
type Bounds struct {
	Rules
	opened *places.Set // hosts, domains or prefixes with their origins, by Scope; hosts, for HasAssets
}

// New returns bounds that no seed has opened yet.
func New(r Rules) *Bounds { return &Bounds{Rules: r, opened: places.New()} }

// Share returns bounds for another loop, with rules of its own: what b opens is open there, too.
func (b *Bounds) Share() *Bounds { return &Bounds{Rules: b.Rules, opened: b.opened} }

// Bytes returns how much memory the opened places take.
func (b *Bounds) Bytes() int { return b.opened.Bytes() }

// Open widens the bounds by a seed, and reports whether that changed them.
func (b *Bounds) Open(seed weburl.URL) bool {
	port := b.openPort(seed)
	return b.open(seed) || port
}

func (b *Bounds) open(seed weburl.URL) bool {
	host := b.Assets == AssetsScope && (b.Scope == Page || b.Scope == Prefix) && b.opened.Add(seed.Host())
	return b.openScope(seed) || host
}

func (b *Bounds) openScope(seed weburl.URL) bool {
	if b.Scope == Prefix {
		p := seed.String()
		p, _, _ = strings.Cut(p, "?")
		p = p[:strings.LastIndexByte(p, '/')+1]
		if b.hasPrefix(p) {
			return false
		}
		b.opened.Add(seed.Origin())
		return b.opened.Add(p)
	}
	key := b.key(seed)
	return key != "" && b.opened.Add(key)
}

func (b *Bounds) key(u weburl.URL) string {
	switch b.Scope {
	case Host:
		return u.Host()
	case Domain:
		if d := weburl.RegistrableDomain(u.Hostname()); d != "" {
			return d
		}
		return u.Hostname() // an address, or a public suffix
	}
	return ""
}

// hasPrefix reports whether s begins with a prefix, which ends with a slash.
func (b *Bounds) hasPrefix(s string) bool {
	s = s[:min(len(s), b.opened.Longest())]
	for end := 0; ; {
		next := strings.IndexByte(s[end:], '/')
		if next < 0 {
			return false
		}
		if end += next + 1; b.opened.Has(s[:end]) {
			return true
		}
	}
}

// AddExclusion adds an expression to Exclude.
func (b *Bounds) AddExclusion(re *regexp.Regexp) {
	b.Exclude = append(slices.Clip(b.Exclude), re) // other copies share the array
}

// Expressions returns how many expressions judge a link.
func (b *Bounds) Expressions() int { return len(b.Include) + len(b.Exclude) }

// Reaches reports whether any URL of the host of u may be within the scope.
func (b *Bounds) Reaches(u weburl.URL) bool {
	if b.Scope != Prefix {
		return b.Inside(u)
	}
	return b.opened.Has(u.Origin())
}

// Inside reports whether u is within the scope, whatever depth, expressions and traps say.
func (b *Bounds) Inside(u weburl.URL) bool {
	switch b.Scope {
	case Any:
		return true
	case Prefix:
		return b.hasPrefix(u.String())
	case Page:
		return false
	}
	return b.opened.Has(b.key(u))
}

// HasAssets reports whether assets at u are fetched, as far as that depends on where they are. What
// pages need seldom stands beside them, so of a scope that is narrower than hosts it is what is on
// its hosts.
func (b *Bounds) HasAssets(u weburl.URL) bool {
	switch b.Assets {
	case AssetsNone:
		return false
	case AssetsAny:
		return true
	}
	return b.Inside(u) || (b.Scope == Page || b.Scope == Prefix) && b.opened.Has(u.Host())
}

// Refuses returns the reason why a link to u, at a depth, is not followed; "" if it is.
func (b *Bounds) Refuses(u weburl.URL, depth int) string {
	switch {
	case !b.Inside(u):
		return ReasonScope
	case b.BlocksPort(u):
		return ReasonPort
	}
	if b.TooDeep(depth) {
		return ReasonDepth
	}
	if reason := b.filtered(u); reason != "" {
		return reason
	}
	return b.unwise(u)
}

// unwise returns why u is not to be requested whoever links to it.
func (b *Bounds) unwise(u weburl.URL) string {
	if b.LoggedIn && LogsOut(u) {
		return ReasonLogout
	}
	return b.Traps.Reason(u)
}

// RefusesTarget is Refuses for the target of a redirect, whose source is at a depth. Scope and
// expressions do not apply to the target of a seed, at depth 0.
func (b *Bounds) RefusesTarget(to weburl.URL, depth int) string {
	if depth > 0 {
		return b.Refuses(to, depth)
	}
	if b.BlocksPort(to) {
		return ReasonPort
	}
	return b.unwise(to)
}

// Forbids is Refuses for a URL that need not be within the bounds: a sitemap, an asset, or a link
// that is checked. Scope, depth and Include do not apply to it.
func (b *Bounds) Forbids(u weburl.URL) string {
	switch {
	case b.BlocksPort(u):
		return ReasonPort
	case b.excluded(u.String()):
		return ReasonExclude
	}
	return b.unwise(u)
}

// TooDeep reports whether links at a depth are beyond Depth.
func (b *Bounds) TooDeep(depth int) bool { return b.Depth < 0 || b.Depth > 0 && depth > b.Depth }

// filtered returns why the user's expressions refuse u.
func (b *Bounds) filtered(u weburl.URL) string {
	if b.Expressions() == 0 {
		return ""
	}
	s := u.String()
	if b.excluded(s) {
		return ReasonExclude
	}
	if len(b.Include) > 0 && !matches(b.Include, s) {
		return ReasonInclude
	}
	return ""
}

func (b *Bounds) excluded(s string) bool { return matches(b.Exclude, s) }

func matches(list []*regexp.Regexp, s string) bool {
	return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}
