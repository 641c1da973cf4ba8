package blocklist

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
)

// FuzzRead: any text is read or refused without a panic, and a request is blocked if and only if
// comparing it with every rule says so; the rule that blocks it stands in the list.
func FuzzRead(f *testing.F) {
	f.Add("||track.test^$script,3p\n@@||track.test/ok^\n/ad/*.js|$domain=a.test|~b.a.test", "https://x.track.test/a", "https://a.test/", "Script")
	f.Add("[Adblock]\n*$image,domain=a.test\n|https://a^\n||b.*/c$match-case,important", "https://b.test/C", "https://www.a.test/", "Image")
	f.Add("127.0.0.1 a.test b.test # c\n*.d.test\n::1 x\na##.ad\n@@||p.test^$document", "https://u:p@a.test:8/?q#f", "https://p.test/", "Document")
	f.Add("||bücher.test^\n||\xff\n/re/\n||[::1]:80^\n^^*^|", "http://[::1]:80/", "", "")
	f.Fuzz(func(t *testing.T, text, url, page, kind string) {
		l, err := parse(text)
		if err != nil {
			return
		}
		u, err := weburl.Parse(url)
		if err != nil {
			return
		}
		p, _ := weburl.Parse(page)
		by := l.Blocks(Request{u, p, kind})
		if by != "" && !strings.Contains(text, by) {
			t.Errorf("%q is not in the list", by)
		}
		if strings.IndexFunc(u.Hostname()+p.Hostname(), func(r rune) bool { return r >= 0x80 || !isHostByte(byte(r)) }) >= 0 {
			return // "^" could match within a host that no DNS has
		}
		q, ofPage := newQuery(u, p, typeOf(kind)), newQuery(p, p, typeDocument)
		want := anyMatches(l.important.rules, &q) ||
			anyMatches(l.blocking.rules, &q) && !anyMatches(l.exceptions.rules, &q) && !anyMatches(l.pages.rules, &ofPage)
		if want != (by != "") {
			t.Errorf("found %q, but comparing all says %v", by, want)
		}
	})
}

func anyMatches(rules []rule, q *query) bool {
	for i := range rules {
		if rules[i].matches(q) {
			return true
		}
	}
	return false
}

// FuzzPattern: a pattern matches what its translation into a regular expression does, which is how
// the documentation of Adblock Plus defines it.
func FuzzPattern(f *testing.F) {
	f.Add("||a.test^*b^|", "https://x.a.test/ab?")
	f.Add("a*ab^", "https://t.test/aaab")
	f.Add("|http*^^", "http://t.test/a//")
	f.Add("^x*|", "http://t.test/%x/x")
	f.Add("||*.^", "http://a.b./")
	f.Fuzz(func(t *testing.T, pattern, url string) {
		u, err := weburl.Parse(url)
		var r rule
		if err != nil || u.Hostname() == "" || len(pattern)+len(url) > 500 || !r.setPattern(pattern) {
			return
		}
		q := newQuery(u, weburl.URL{}, typeScript)
		if got, want := r.matchesURL(&q), translate(r).MatchString(q.lower); got != want {
			t.Errorf("%q as %q matches %q: %v, want %v", pattern, r.pattern, q.lower, got, want)
		}
	})
}

func translate(r rule) *regexp.Regexp {
	var b strings.Builder
	switch b.WriteString(`(?s)`); {
	case r.anchors&atStart != 0:
		b.WriteString(`\A`)
	case r.anchors&atDomain != 0:
		b.WriteString(`\A[a-z][a-z0-9.+-]*://(?:[^/?#:\[]*\.)?`)
	}
	for i := range len(r.pattern) {
		switch c := r.pattern[i]; c {
		case '*':
			b.WriteString(`.*`)
		case '^':
			b.WriteString(`(?:[\x00-\x24\x26-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]|\z)`)
		default:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		}
	}
	if r.anchors&atEnd != 0 {
		b.WriteString(`\z`)
	}
	return regexp.MustCompile(b.String())
}
