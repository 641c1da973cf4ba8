package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Rules are the rules of one crawler on one host. The zero Rules allow everything.
type Rules struct {
	rules    []rule // in order of precedence; see byPrecedence
	delay    time.Duration
	hasDelay bool
}

// A Verdict says whether a target may be fetched and why.
type Verdict struct {
	Allowed bool
	Line    int    // of the deciding rule, from 1; 0 if there is none
	Rule    string // the deciding rule as written, "Disallow: /a", without comment; "" if none
}

// A rule is an Allow or a Disallow line.
type rule struct {
	literal string // the pattern, escaped; see encode.go
	normal  string // the pattern, normalised
	text    string // the line as written, trimmed
	line    int
	allow   bool
}

func newRule(allow bool, number int, line, pattern []byte) rule {
	text := strings.TrimSpace(string(line))
	written := text[len(text)-len(pattern):] // shares the bytes of text
	return rule{escape(written, asPattern), escape(written, asPattern|decoded), text, number, allow}
}

// Agent returns the rules of a crawler, named by its product token or by the User-Agent it
// sends, which begins with that token: "weft/0.1 (+https://example.org)". See [ProductToken].
func (r *Robots) Agent(name string) Rules {
	name = strings.ToLower(ProductToken(name))
	named := func(g group) bool { return slices.Contains(g.agents, name) }
	if tokenLength(name) < len(name) || name == "" || !slices.ContainsFunc(r.groups, named) {
		name = "*"
	}

	var rules Rules
	for _, g := range r.groups {
		at := slices.Index(g.agents, name)
		if at < 0 {
			continue
		}
		rules.rules = append(rules.rules, g.rules...)
		for _, d := range g.delays {
			if at < d.agents {
				rules.delay, rules.hasDelay = max(rules.delay, d.length), true
			}
		}
	}
	slices.SortStableFunc(rules.rules, byPrecedence)
	rules.rules = slices.Clip(rules.rules)
	return rules
}

// byPrecedence orders rules so that the first match decides: the longest pattern, and Allow of
// two equally long ones. RFC 9309, section 2.2.2.
func byPrecedence(a, b rule) int {
	switch longer := cmp.Compare(len(b.normal), len(a.normal)); {
	case longer != 0 || a.allow == b.allow:
		return longer
	case a.allow:
		return -1
	default:
		return 1
	}
}

// CrawlDelay returns the time between two requests that the host asks for, if any, from 0 to 100
// years. The longest of several counts. The caller decides how long is too long.
func (r Rules) CrawlDelay() (time.Duration, bool) { return r.delay, r.hasDelay }

// IsZero reports whether there are no rules: everything is allowed, at any pace.
func (r Rules) IsZero() bool { return len(r.rules) == 0 && !r.hasDelay }

// Size returns the approximate size of the rules in memory, in bytes.
func (r Rules) Size() int {
	n := cap(r.rules) * int(unsafe.Sizeof(rule{}))
	for i := range r.rules {
		rule := &r.rules[i]
		n += len(rule.text)
		if shares := strings.HasSuffix(rule.text, rule.literal); !shares {
			n += len(rule.literal)
		}
		if rule.normal != rule.literal {
			n += len(rule.normal)
		}
	}
	return n
}

// Test decides whether a target, "/path?query", may be fetched.
func (r Rules) Test(target string) Verdict {
	if target == "" {
		target = "/"
	}
	literal, normal := escape(target, 0), escape(target, decoded)
	for i := range r.rules {
		rule := &r.rules[i]
		differ := normal != literal || rule.normal != rule.literal // rarely, and cheap to check
		if match(rule.literal, literal) || !rule.allow && differ && match(rule.normal, normal) {
			return Verdict{rule.allow, rule.line, rule.text}
		}
	}
	return Verdict{Allowed: true}
}

// match reports whether a pattern matches a target. An empty one matches none.
//
// It takes the first occurrence of each piece between two wildcards: if any choice of occurrences
// matches, that one does, so there is no backtracking.
func match(pattern, target string) bool {
	if pattern == "" {
		return false
	}
	pattern, anchored := strings.CutSuffix(pattern, "$")
	piece, rest, more := strings.Cut(pattern, "*")
	target, ok := strings.CutPrefix(target, piece)
	if !ok {
		return false
	}
	for more {
		piece, rest, more = strings.Cut(rest, "*")
		if !more && anchored {
			return strings.HasSuffix(target, piece)
		}
		at := strings.Index(target, piece)
		if at < 0 {
			return false
		}
		target = target[at+len(piece):]
	}
	return !anchored || target == ""
}
