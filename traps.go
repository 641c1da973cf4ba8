package weft

import (
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// traps are the limits on what a URL may look like: what is beyond them is no work of people,
// but of a page that makes links without end. 0: no limit.
type traps struct {
	length  int // bytes of the URL
	depth   int // segments of its path
	repeats int // of a segment of its path: see repeats
}

// Defaults, chosen so that a site that means well has next to no page beyond them.
const (
	// The protocol of sitemaps takes URLs of fewer than 2,048 characters, and old browsers
	// took no more than 2,083: a page that wants to be found has a shorter one.
	defaultURLLength = 2048

	// Trees of files get to a dozen or so; Heritrix, too, stops at 20.
	defaultPathDepth = 20

	// A date may be /2011/11/11, a tile of a map /0/0/0; four in a row are hardly meant.
	defaultRepeats = 3

	// Forums and shops have thousands of pages in one script; a calendar that is asked once
	// a second is done with in three hours.
	defaultVariants = 10_000
)

// trapRule is one way to tell a trap.
type trapRule struct {
	reason string
	limit  func(traps) int // 0: none
	most   func(href, path string, limit int) int
	words  string // of what most returns, and the limit
}

// trapRules are all of them, the cheapest first.
var trapRules = []trapRule{
	{reasonTooLong, func(t traps) int { return t.length }, func(href, _ string, _ int) int { return len(href) },
		"it is %d bytes long, and at most %d are followed"},
	{reasonTooDeep, func(t traps) int { return t.depth }, func(_, path string, _ int) int { return depthOf(path) },
		"its path has %d segments, and at most %d are followed"},
	{reasonRepeats, func(t traps) int { return t.repeats }, func(_, path string, limit int) int { return repeats(path, limit) },
		"a segment of its path comes %d times over, and at most %d are followed"},
}

// refuses returns the rule by which a URL is taken for a trap, and what it found; nil: it is not.
func (t traps) refuses(u weburl.URL) (rule *trapRule, n int) {
	href, path := u.String(), u.Path()
	for i := range trapRules {
		rule := &trapRules[i]
		limit := rule.limit(t)
		if limit == 0 {
			continue
		}
		if n := rule.most(href, path, limit); n > limit {
			return rule, n
		}
	}
	return nil, 0
}

// reason is refuses by its reason; empty if a URL is none of a trap.
func (t traps) reason(u weburl.URL) string {
	if rule, _ := t.refuses(u); rule != nil {
		return rule.reason
	}
	return ""
}

// inWords says why a URL is taken for a trap; empty if it is not.
func (t traps) inWords(u weburl.URL) string {
	rule, n := t.refuses(u)
	if rule == nil {
		return ""
	}
	return fmt.Sprintf(rule.words, n, rule.limit(t))
}

// depthOf counts the segments of a path: what stands between its slashes, and behind the last
// one, if that is not empty.
func depthOf(path string) int {
	n := strings.Count(path, "/")
	if strings.HasSuffix(path, "/") {
		n--
	}
	return n
}

// maxPeriod is how far apart, in segments, those may be that repeats compares: it bounds its work.
const maxPeriod = 8

// repeats returns how often a segment of a path comes over and over: the most times that the same
// segment stands at equal distances, of up to maxPeriod segments: three times in /x/x/x, as b does
// in /a/b/a/b/c/b, and page in /page/2/page/3/page/4. If that is not more than limit, it may return
// less. A group of segments that is repeated has each of them at equal distances.
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
