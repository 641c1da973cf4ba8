package robots

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxSize bounds the bytes of a file that are read: RFC 9309, section 2.5. A line that goes
	// beyond is ignored, so a caller that cuts bodies should leave more.
	MaxSize = 500 << 10

	// MaxSitemaps bounds the Sitemap lines that are kept.
	MaxSitemaps = 1000
)

// Robots is a robots.txt.
type Robots struct {
	groups   []group
	sitemaps []string
	cut      bool // there were more sitemaps
}

// A group holds the rules for the crawlers that it names.
type group struct {
	agents []string // product tokens, in lower case, or "*"
	rules  []rule   // in the order of the file
	delays []delay
}

// A delay is a Crawl-delay line. It does not apply to agents named below it: in
//
//	User-agent: slowbot
//	Crawl-delay: 60
//	User-agent: *
//	Disallow: /a
//
// the rule applies to both (RFC 9309 knows no Crawl-delay, and unknown lines end no group), but
// whoever writes this means the delay for slowbot.
type delay struct {
	agents int // the number of the group's agents that it applies to
	length time.Duration
}

// Parse reads a robots.txt. Any bytes have a meaning.
func Parse(body []byte) *Robots {
	r := &Robots{}
	number := 0
	for line := range lines(withoutMark(body)) {
		number++
		r.line(number, line)
	}
	return r
}

// withoutMark cuts off a byte order mark, or the part of one that is there.
func withoutMark(body []byte) []byte {
	for _, c := range []byte("\ufeff") {
		if len(body) == 0 || body[0] != c {
			break
		}
		body = body[1:]
	}
	return body
}

// lines yields the complete lines within MaxSize. They end with CR, LF or both.
func lines(body []byte) func(yield func([]byte) bool) {
	whole := len(body) <= MaxSize
	body = body[:min(len(body), MaxSize)]
	return func(yield func([]byte) bool) {
		for len(body) > 0 {
			end := bytes.IndexAny(body, "\r\n")
			if end < 0 {
				if whole {
					yield(body)
				}
				return
			}
			line := body[:end]
			if bytes.HasPrefix(body[end:], []byte("\r\n")) {
				end++
			}
			body = body[end+1:]
			if !yield(line) {
				return
			}
		}
	}
}

// line reads one line.
func (r *Robots) line(number int, line []byte) {
	line, _, _ = bytes.Cut(line, []byte("#"))
	field, value := parts(line)
	switch field {
	case agentField:
		r.agent(string(value))
	case allowField:
		r.rule(newRule(true, number, line, value))
	case disallowField:
		r.rule(newRule(false, number, line, value))
	case delayField:
		r.delay(string(value))
	case sitemapField:
		r.sitemap(string(value))
	}
}

// agent reads a User-agent line. It starts a group if there has been a rule since the last
// User-agent line.
func (r *Robots) agent(value string) {
	name := strings.ToLower(value[:tokenLength(value)])
	if rest, ok := strings.CutPrefix(value, "*"); ok && (rest == "" || isSpace(rest[0])) {
		name = "*"
	}
	if len(r.groups) == 0 || len(r.last().rules) > 0 {
		r.groups = append(r.groups, group{})
	}
	last := r.last()
	last.agents = append(last.agents, name)
}

func (r *Robots) last() *group { return &r.groups[len(r.groups)-1] }

// rule adds a rule to the current group; before the first group it means nothing.
func (r *Robots) rule(rule rule) {
	if len(r.groups) > 0 {
		r.last().rules = append(r.last().rules, rule)
	}
}

// longestDelay caps delays: more than anybody waits, and safe to add to a time.Duration.
const longestDelay = 100 * 365 * 24 * time.Hour

// delay reads a Crawl-delay line, in seconds.
func (r *Robots) delay(value string) {
	if strings.Trim(value, "0123456789.") != "" || len(r.groups) == 0 {
		// It may have no sign or exponent, and be no NaN or Inf.
		return
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return
	}
	length := time.Duration(min(seconds, longestDelay.Seconds()) * float64(time.Second))
	last := r.last()
	last.delays = append(last.delays, delay{len(last.agents), length})
}

func (r *Robots) sitemap(value string) {
	switch {
	case value == "":
	case len(r.sitemaps) < MaxSitemaps:
		r.sitemaps = append(r.sitemaps, value)
	default:
		r.cut = true
	}
}

// Sitemaps returns the values of the Sitemap lines as written. They should be absolute URLs, but
// may be any text.
func (r *Robots) Sitemaps() []string { return slices.Clone(r.sitemaps) }

// SitemapsCut reports whether there are more than MaxSitemaps Sitemap lines.
func (r *Robots) SitemapsCut() bool { return r.cut }

// ProductToken returns the product token of a crawler: the name that its User-Agent begins
// with, as in "weft/1.0 (+https://example.org/)". Compare tokens without regard to case. A name
// with any byte but letters, '_' and '-' is one that no robots.txt can name (RFC 9309, section
// 2.2.1); meta elements and X-Robots-Tag can.
func ProductToken(userAgent string) string {
	if end := strings.IndexAny(userAgent, "/ \t(;,"); end >= 0 {
		return userAgent[:end]
	}
	return userAgent
}

// tokenLength returns the length of the product token that s begins with.
func tokenLength(s string) int {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '_' && c != '-' {
			return i
		}
	}
	return len(s)
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
