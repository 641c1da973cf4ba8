package scope

import (
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Traps are limits on the shape of a URL. People do not write URLs beyond them; pages that make
// links without end do. 0: no limit.
type Traps struct {
	Length  int // bytes of the URL
	Depth   int // segments of its path
	Repeats int // repetitions of a segment at equal distances: see repeats
}

// MaxURL is the most bytes of a URL that a crawl follows, whatever Traps.Length and a hook say.
// Servers read 8 KiB. It also bounds what one link costs in memory.
const MaxURL = 16 << 10

// Defaults. Next to no page of a well-meaning site is beyond them.
const (
	// The sitemaps protocol takes URLs of fewer than 2,048 characters, and old browsers took
	// at most 2,083: a page that wants to be found has a shorter one.
	DefaultURLLength = 2048

	// File trees reach a dozen segments; Heritrix, too, stops at 20.
	DefaultPathDepth = 20

	// A date may be /2011/11/11, a map tile /0/0/0; four in a row are hardly meant.
	DefaultRepeats = 3

	// Forums and shops have thousands of pages in one script; at a request a second a
	// calendar ends after three hours.
	DefaultVariants = 10_000

	// Forty years of an empty calendar. Sites have more pages that say the same, but other pages
	// lead to these.
	DefaultAlike = 500
)

// trapRule is one sign of a trap.
type trapRule struct {
	reason  string
	limit   func(Traps) int // 0: none
	measure func(href, path string, limit int) int
	words   string // takes what measure returned, and the limit
}

// trapRules are all of them, the cheapest first.
var trapRules = []trapRule{
	{ReasonTooLong, func(t Traps) int { return t.Length }, func(href, _ string, _ int) int { return len(href) },
		"it is %d bytes long, and at most %d are followed"},
	{ReasonTooDeep, func(t Traps) int { return t.Depth }, func(_, path string, _ int) int { return depthOf(path) },
		"its path has %d segments, and at most %d are followed"},
	{ReasonRepeats, func(t Traps) int { return t.Repeats }, func(_, path string, limit int) int { return repeats(path, limit) },
		"a segment of its path repeats %d times, and at most %d are followed"},
}

// caught returns the rule that u breaks, and what it measured; nil: none.
func (t Traps) caught(u weburl.URL) (rule *trapRule, n int) {
	href, path := u.String(), u.Path()
	for i := range trapRules {
		rule := &trapRules[i]
		limit := rule.limit(t)
		if limit == 0 {
			continue
		}
		if n := rule.measure(href, path, limit); n > limit {
			return rule, n
		}
	}
	return nil, 0
}

// Reason returns why u is taken for part of a trap; "" if it is not.
func (t Traps) Reason(u weburl.URL) string {
	if rule, _ := t.caught(u); rule != nil {
		return rule.reason
	}
	return ""
}

// Words is Reason for people.
func (t Traps) Words(u weburl.URL) string {
	rule, n := t.caught(u)
	if rule == nil {
		return ""
	}
	return fmt.Sprintf(rule.words, n, rule.limit(t))
}

// depthOf counts the segments of a path: one before each slash but the first, and one after
// the last slash unless it is empty.
func depthOf(path string) int {
	n := strings.Count(path, "/")
	if strings.HasSuffix(path, "/") {
		n--
	}
	return n
}

// maxPeriod is the longest distance, in segments, that repeats compares: it bounds its work.
const maxPeriod = 8

// repeats returns the most often that one segment of a path stands at equal distances, of up to
// maxPeriod segments: three times in /x/x/x, as b does in /a/b/a/b/c/b, and page in
// /page/2/page/3/page/4. A result of at most limit may be too small. In a repeated group of
// segments each stands at equal distances.
func repeats(path string, limit int) int {
	n := depthOf(path)
	if n <= limit {
		return 1
	}
	var room [32]string
	segments := room[:0]
	for segment, rest := "", path[1:]; len(segments) < n; segments = append(segments, segment) {
		segment, rest, _ = strings.Cut(rest, "/")
	}
	most := 1
	for period := 1; period <= maxPeriod && period*limit < n; period++ {
		for start := range period {
			times := 1
			for i := start + period; i < n; i += period {
				if segments[i] != segments[i-period] {
					times = 0
				}
				times++
				most = max(most, times)
			}
		}
	}
	return most
}
