package robots

import (
	"cmp"
	"strings"
	"time"
	"unsafe"
)

// Rules are the rules of one crawler on one host. The zero Rules allow everything.
type Rules struct {
	rules    []rule // in order of precedence; see byPrecedence
	index    *index // of many rules; nil: few, which are compared one by one
	delay    time.Duration
	hasDelay bool
}

// A Verdict is the permission to fetch a target, or the lack of it, with the rule that decides.
type Verdict struct {
	Allowed bool
	Line    int    // of the deciding rule, from 1; 0 if there is none
	Rule    string // the deciding rule as written, "Disallow: /a", without comment; "" if none
}

// TooMany is the reason for which a target is disallowed that is [Verdict.Undecided].
const TooMany = "too many rules with wildcards may apply"

// Undecided reports whether the target is disallowed by no rule, but since too many rules with
// wildcards might match it: see the package's limits.
func (v Verdict) Undecided() bool { return !v.Allowed && v.Line == 0 }

// A rule is an Allow or a Disallow line.
type rule struct {
	literal string // the pattern, escaped; see encode.go
	normal  string // the pattern, normalised
	text    string // the line as written, trimmed
	line    int32
	length  int32 // of the pattern, normalised, with all of its wildcards: its precedence
	allow   bool
}

// withoutRuns returns a pattern with one '*' for each run of them, which means the same.
func withoutRuns(pattern string) string {
	if !strings.Contains(pattern, "**") {
		return pattern
	}
	b := make([]byte, 0, len(pattern))
	for i := range len(pattern) {
		if c := pattern[i]; c != '*' || i == 0 || pattern[i-1] != '*' {
			b = append(b, c)
		}
	}
	return string(b)
}

// byPrecedence orders rules so that the first match decides: the longest pattern, and Allow of
// two equally long ones. RFC 9309, section 2.2.2.
func byPrecedence(a, b rule) int {
	switch {
	case a.length == b.length && a.allow && !b.allow:
		return -1
	case a.length == b.length && b.allow && !a.allow:
		return 1
	}
	return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(a.line, b.line))
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
	return n + r.index.size()
}

// Test decides whether a target, "/path?query", may be fetched.
func (r Rules) Test(target string) Verdict {
	if target == "" {
		target = "/"
	}
	literal, normal := escape(target, 0), escape(target, decoded)
	first, decided := r.search(literal, normal)
	switch {
	case !decided:
		return Verdict{}
	case first == len(r.rules):
		return Verdict{Allowed: true}
	}
	rule := &r.rules[first]
	return Verdict{rule.allow, int(rule.line), rule.text}
}

// search returns the first rule that matches a target in both forms, len(r.rules) if none does.
func (r Rules) search(literal, normal string) (first int, decided bool) {
	if r.index != nil {
		return r.index.search(literal, normal)
	}
	for i := range r.rules {
		if r.rules[i].matches(literal, normal) {
			return i, true
		}
	}
	return len(r.rules), true
}

// matches reports whether a rule applies to a target.
func (r *rule) matches(literal, normal string) bool {
	differ := normal != literal || r.normal != r.literal // rarely, and cheap to check
	return match(r.literal, literal) || !r.allow && differ && match(r.normal, normal)
}

func newRule(allow bool, number int, line, pattern []byte) rule {
	text := strings.TrimSpace(string(line))
	written := text[len(text)-len(pattern):] // shares the bytes of text
	literal, normal := escape(written, asPattern), escape(written, asPattern|decoded)
	return rule{
		literal: withoutRuns(literal), normal: withoutRuns(normal), text: text,
		line: int32(number), length: int32(len(normal)), allow: allow,
	}
}
