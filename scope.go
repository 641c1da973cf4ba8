package weft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Scope says which links are followed, beginning at the seeds.
type Scope string

// The scopes, from the narrowest on.
const (
	ScopePage   Scope = "page"   // none: the seeds, and where they redirect to
	ScopePrefix Scope = "prefix" // those that begin as a seed does, up to its last slash
	ScopeHost   Scope = "host"   // those on the host of a seed, by http or https
	ScopeDomain Scope = "domain" // those on the registrable domain of a seed: www.example.org, too, from example.org
	ScopeAny    Scope = "any"    // all
)

// ParseScope reads the name of a scope; the empty name is ScopeHost.
func ParseScope(name string) (Scope, error) {
	switch s := Scope(name); s {
	case "":
		return ScopeHost, nil
	case ScopePage, ScopePrefix, ScopeHost, ScopeDomain, ScopeAny:
		return s, nil
	}
	return "", fmt.Errorf("scope %.64q, expected page, prefix, host, domain or any", name)
}

// bounds is the scope, as the seeds have drawn it. Owner: one loop. A seed that
// redirects to another host opens that one as well, so example.org that has moved
// to www.example.org is still crawled.
type bounds struct {
	scope            Scope
	include, exclude []*regexp.Regexp
	depth            int
	traps            traps
	keys             map[string]bool // by scope: hosts, domains
	prefixes         []string
}

func newBounds(c *config) bounds {
	return bounds{
		scope: c.Scope, include: c.Include, exclude: c.Exclude, depth: c.Depth, keys: make(map[string]bool),
		traps: traps{c.MaxURLLength, c.MaxPathDepth, c.MaxRepeats},
	}
}

// open draws the scope around a seed, and reports whether that changed it.
func (b *bounds) open(seed weburl.URL) bool {
	if b.scope == ScopePrefix {
		p := seed.String()
		p, _, _ = strings.Cut(p, "?")
		p = p[:strings.LastIndexByte(p, '/')+1]
		for _, known := range b.prefixes {
			if strings.HasPrefix(p, known) {
				return false
			}
		}
		b.prefixes = append(b.prefixes, p)
		return true
	}
	key := b.key(seed)
	if key == "" || b.keys[key] {
		return false
	}
	b.keys[key] = true
	return true
}

func (b *bounds) key(u weburl.URL) string {
	switch b.scope {
	case ScopeHost:
		return u.Host()
	case ScopeDomain:
		if d := weburl.RegistrableDomain(u.Hostname()); d != "" {
			return d
		}
		return u.Hostname() // an address, or a name that is itself a public suffix
	}
	return ""
}

// reaches reports whether anything of the host of u may be within the scope.
func (b *bounds) reaches(u weburl.URL) bool {
	if b.scope != ScopePrefix {
		return b.inside(u)
	}
	root := u.Origin() + "/"
	return slices.ContainsFunc(b.prefixes, func(p string) bool { return strings.HasPrefix(p, root) })
}

// inside reports whether u is within the scope as such.
func (b *bounds) inside(u weburl.URL) bool {
	switch b.scope {
	case ScopeAny:
		return true
	case ScopePrefix:
		s := u.String()
		for _, p := range b.prefixes {
			if strings.HasPrefix(s, p) {
				return true
			}
		}
		return false
	case ScopePage:
		return false
	}
	return b.keys[b.key(u)]
}

// refuses says why a link to u, at a depth, is not followed; "" if it is.
func (b *bounds) refuses(u weburl.URL, depth int) string {
	if !b.inside(u) {
		return reasonScope
	}
	if b.tooDeep(depth) {
		return reasonDepth
	}
	if reason := b.filtered(u); reason != "" {
		return reason
	}
	return b.traps.reason(u)
}

// refusesTarget is refuses of what a URL at a depth redirects to. Of a seed, at depth 0, the scope
// and the expressions are not asked.
func (b *bounds) refusesTarget(to weburl.URL, depth int) string {
	if depth > 0 {
		return b.refuses(to, depth)
	}
	return b.traps.reason(to)
}

// refusesSitemap is refuses of a sitemap that robots.txt, an index or a redirect of one names: it
// may be elsewhere, and what has to be included is what it tells of.
func (b *bounds) refusesSitemap(u weburl.URL) string {
	if b.excluded(u.String()) {
		return reasonExclude
	}
	return b.traps.reason(u)
}

func (b *bounds) tooDeep(depth int) bool { return b.depth < 0 || b.depth > 0 && depth > b.depth }

// filtered says whether the user's expressions refuse u.
func (b *bounds) filtered(u weburl.URL) string {
	if len(b.include)+len(b.exclude) == 0 {
		return ""
	}
	s := u.String()
	if b.excluded(s) {
		return reasonExclude
	}
	for _, re := range b.include {
		if re.MatchString(s) {
			return ""
		}
	}
	if len(b.include) > 0 {
		return reasonInclude
	}
	return ""
}

func (b *bounds) excluded(s string) bool {
	return slices.ContainsFunc(b.exclude, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}
