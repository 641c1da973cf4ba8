package weburl

import (
	"fmt"
	"slices"
	"strings"
)

// Rule makes one page of URLs that most sites serve the same page for. No standard says so, which
// is why a crawl applies only the rules it is configured with.
type Rule struct {
	Name string // such as sort-query
	Doc  string // a line of help
	edit func(u URL) URL
}

// rules is the table, in the order of application.
var rules = [...]Rule{
	{"strip-www", "cuts www. and the like, as www2., in front of a domain", stripWWW},
	{"drop-session", "cuts ids of sessions, such as ;jsessionid=1F and PHPSESSID=1F", dropSession},
	{"drop-tracking", "cuts what tells campaigns and clicks, such as utm_source=x", dropTracking},
	{"drop-empty-query", "cuts a ? with nothing behind it", dropEmptyQuery},
	{"sort-query", "sorts parameters by name; those of one name stay in order", sortQuery},
}

// Rules returns all rules, in the order of application.
func Rules() []Rule { return slices.Clone(rules[:]) }

// Apply returns the canonical form of u under the rule, which changes only http and https URLs.
func (r Rule) Apply(u URL) URL {
	u.canonicalise()
	if u.IsHTTP() {
		return r.edit(u)
	}
	return u
}

// RuleSet is a set of rules; the zero RuleSet is empty.
type RuleSet uint8

// ParseRules parses names separated by commas; "" is the empty set.
func ParseRules(list string) (RuleSet, error) {
	var s RuleSet
	if list == "" {
		return s, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(rules[:], func(r Rule) bool { return r.Name == name })
		if i < 0 {
			return 0, fmt.Errorf("weburl: rule %.64q, expected some of %s", name, RuleSet(1<<len(rules)-1))
		}
		s |= 1 << i
	}
	return s, nil
}

// Rules returns the rules of the set, in the order of application.
func (s RuleSet) Rules() []Rule {
	var all []Rule
	for i, r := range rules {
		if s&(1<<i) != 0 {
			all = append(all, r)
		}
	}
	return all
}

// String returns the form that ParseRules parses.
func (s RuleSet) String() string {
	var names []string
	for _, r := range s.Rules() {
		names = append(names, r.Name)
	}
	return strings.Join(names, ",")
}

// Apply returns the canonical form of u under the rules, one after the other; without rules, what
// Canonical returns. Applying it again changes nothing.
func (s RuleSet) Apply(u URL) URL {
	u.canonicalise()
	if s != 0 && u.IsHTTP() {
		for i := range rules {
			if s&(1<<i) != 0 {
				u = rules[i].edit(u)
			}
		}
	}
	return u
}

// stripWWW removes "www" and a number, repeatedly, while a host within a registrable domain
// follows. (A longer host is not a name: looking at each of its labels would take quadratic time.)
func stripWWW(u URL) URL {
	host := u.Hostname()
	if len(host) > maxName || !strings.HasPrefix(host, "www") {
		return u
	}
	for domain := len(RegistrableDomain(host)); domain > 0; {
		label, rest, _ := strings.Cut(u.Hostname(), ".")
		number, ok := strings.CutPrefix(label, "www")
		if !ok || strings.Trim(number, "0123456789") != "" || len(strings.TrimSuffix(rest, ".")) < domain {
			break
		}
		u = u.replace(u.hostAt, u.hostEnd, rest)
	}
	return u
}

// maxName is the maximum length of a DNS name including its final dot, in bytes.
const maxName = 254

// replace returns b with a serialised text in place of a part of href that is at least as long:
// the host, the path, the query, or the query with its '?'.
func (b URL) replace(from, to uint32, text string) URL {
	cut := to - from - uint32(len(text))
	for _, at := range []*uint32{&b.hostEnd, &b.pathAt, &b.queryAt, &b.fragmentAt} {
		if *at >= to {
			*at -= cut
		}
	}
	b.href = b.href[:from] + text + b.href[to:]
	return b
}

// dropSession removes the session IDs that servers write into their links for clients without
// cookies.
func dropSession(u URL) URL {
	if path := u.Path(); strings.Contains(path, ";") || strings.Contains(path, "/(") {
		if kept := withoutSession(path); kept != path {
			u = u.replace(u.pathAt, u.queryAt, kept)
		}
	}
	return u.withoutParameters(isSession)
}

// withoutSession returns path without parameters such as ";jsessionid=1F", of Java and PHP, and
// without segments such as "(S(3ltz...))", of ASP.NET.
func withoutSession(path string) string {
	segments := strings.Split(path[len("/"):], "/")
	kept := segments[:0]
	for i, segment := range segments {
		if i < len(segments)-1 && isSessionSegment(segment) {
			continue
		}
		kept = append(kept, withoutSessionParameters(segment))
	}
	return "/" + strings.Join(kept, "/")
}

func withoutSessionParameters(segment string) string {
	name, parameters, found := strings.Cut(segment, ";")
	if !found {
		return segment
	}
	rest := []string{name}
	for p := range strings.SplitSeq(parameters, ";") {
		if key, value, _ := strings.Cut(p, "="); !isSession(key, value) {
			rest = append(rest, p)
		}
	}
	if len(rest) == 1 && (isSingleDot(name) || isDoubleDot(name)) {
		return segment // the rest would not be a segment
	}
	return strings.Join(rest, ";")
}

// isSessionSegment reports whether a segment has the form "(S(3ltz...)A(x4uy...))".
func isSessionSegment(segment string) bool {
	inner, opened := strings.CutPrefix(segment, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !opened || !closed || inner == "" {
		return false
	}
	for inner != "" {
		id, rest, closed := strings.Cut(inner, ")")
		if !closed || len(id) < len("S(")+minSession || !isAlpha(id[0]) || id[1] != '(' || !isToken(id[2:]) {
			return false
		}
		inner = rest
	}
	return true
}

// minSession is the minimum length of a session ID, which distinguishes it from a number that
// identifies a page.
const minSession = 16

// isSession reports whether a parameter is a session ID.
func isSession(name, value string) bool {
	switch name = strings.ToLower(name); name {
	case "jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "cfid", "cftoken", "zenid", "oscsid":
		return true
	case "sid", "s":
		return len(value) >= minSession && isToken(value)
	}
	return strings.HasPrefix(name, "aspsessionid")
}

// isToken reports whether s consists of letters, digits, '-' and '_'.
func isToken(s string) bool {
	for i := range len(s) {
		if !isAlpha(s[i]) && !isDigit(s[i]) && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return true
}

// dropTracking removes parameters that serve the owner of the site and do not affect the page.
func dropTracking(u URL) URL { return u.withoutParameters(isTracking) }

// isTracking reports whether a parameter says where a visitor came from.
func isTracking(name, _ string) bool {
	switch name = strings.ToLower(name); name {
	case "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "_ga", "_gl", // Google
		"fbclid", "igsh", "igshid", // Meta
		// Microsoft, Yandex, X, TikTok, LinkedIn, Pinterest.
		"msclkid", "yclid", "ysclid", "twclid", "ttclid", "li_fat_id", "epik",
		// Mail senders.
		"mc_cid", "mc_eid", "_hsenc", "_hsmi", "hsctatracking", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id":
		return true
	}
	return strings.HasPrefix(name, "utm_")
}

// withoutParameters returns b without the parameters for which drop returns true.
func (b URL) withoutParameters(drop func(name, value string) bool) URL {
	if b.Query() == "" {
		return b
	}
	isDropped := func(parameter string) bool {
		name, value, _ := strings.Cut(parameter, "=")
		return drop(name, value)
	}
	dropped := false
	for p := range strings.SplitSeq(b.Query(), "&") {
		dropped = dropped || isDropped(p)
	}
	if !dropped {
		return b
	}
	kept := slices.DeleteFunc(strings.Split(b.Query(), "&"), isDropped)
	if len(kept) == 0 {
		return b.replace(b.queryAt, b.fragmentAt, "")
	}
	return b.replace(b.queryAt+1, b.fragmentAt, strings.Join(kept, "&"))
}

func dropEmptyQuery(u URL) URL {
	if u.Query() == "" && u.queryAt < u.fragmentAt {
		return u.replace(u.queryAt, u.fragmentAt, "")
	}
	return u
}

func sortQuery(u URL) URL {
	query := u.Query()
	if strings.IndexByte(query, '&') < 0 {
		return u
	}
	byName := func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	}
	sorted, last := true, ""
	for p := range strings.SplitSeq(query, "&") {
		sorted = sorted && byName(last, p) <= 0
		last = p
	}
	if sorted {
		return u
	}
	parameters := strings.Split(query, "&")
	slices.SortStableFunc(parameters, byName)
	return u.replace(u.queryAt+1, u.fragmentAt, strings.Join(parameters, "&"))
}
