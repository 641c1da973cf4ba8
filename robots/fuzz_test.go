package robots_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/robots"
)

// FuzzParse: any bytes are parsed and tested without a panic; a verdict names an existing line;
// bounds hold; and a group for others in front changes only line numbers.
func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /%7e\nCrawl-delay: 1.5\nSitemap: /s"), "weft", "/ab?c")
	f.Add([]byte("User-agent: weft\rUser-agent: x\r\n\r\nAllow: /\xff\nDisallow:/"), "WEFT/0.1", "/%ff%")
	f.Add([]byte("\xef\xbb\xbfuser-agent:weft#\ndisallow:*$*$"), "weft", "$*")
	f.Add([]byte("Disallow: /\nCrawl-delay: 9999999999\n:::\n#\n"), "", "")
	for _, c := range conformance.Cases[googleCase](f, googleSuite) {
		f.Add(c.Robots, c.UA, strings.TrimPrefix(c.URL, "http://foo.bar"))
	}
	f.Fuzz(func(t *testing.T, body []byte, agent, target string) {
		r := robots.Parse(body)
		rules := r.Agent(agent)
		v := rules.Test(target)
		if lines := 1 + bytes.Count(body, []byte("\n")) + bytes.Count(body, []byte("\r")); v.Line < 0 || v.Line > lines {
			t.Errorf("line %d of %d", v.Line, lines)
		}
		if (v.Line == 0) != (v.Rule == "") || v.Line == 0 && !v.Allowed || !bytes.Contains(body, []byte(v.Rule)) {
			t.Errorf("verdict %+v", v)
		}
		delay, ok := rules.CrawlDelay()
		if delay < 0 || delay > 100*365*24*time.Hour || !ok && delay != 0 || len(r.Sitemaps()) > robots.MaxSitemaps {
			t.Errorf("delay %v, %d sitemaps", delay, len(r.Sitemaps()))
		}

		const others = "User-agent: not-us\nDisallow: /\nAllow: /*\nCrawl-delay: 7\n"
		if len(body) > robots.MaxSize/2 || bytes.HasPrefix(body, []byte("\xef")) || strings.HasPrefix(strings.ToLower(agent), "not-us") {
			return // cut elsewhere; a mark no longer at the beginning; named
		}
		again := robots.Parse(append([]byte(others), body...)).Agent(agent)
		moved := again.Test(target)
		if moved.Line > 0 {
			moved.Line -= strings.Count(others, "\n")
		}
		if againDelay, _ := again.CrawlDelay(); moved != v || againDelay != delay {
			t.Errorf("alone %+v and %v, beside others %+v and %v", v, delay, moved, againDelay)
		}
	})
}

// FuzzMatch: a pattern matches what its translation into a regular expression does.
func FuzzMatch(f *testing.F) {
	f.Add("/*ab*ab$", "/ab-ab-ab")
	f.Add("/a$b*$", "/a$bc")
	f.Add("**$", "/")
	f.Add("/aab*", "/aaab")
	f.Fuzz(func(t *testing.T, pattern, target string) {
		pattern = "/" + in(pattern, "aab/*$")
		target = "/" + in(target, "aab/")
		body, anchored := strings.CutSuffix(pattern, "$")
		pieces := strings.Split(body, "*")
		for i, piece := range pieces {
			pieces[i] = regexp.QuoteMeta(piece)
		}
		expression := `\A` + strings.Join(pieces, ".*")
		if anchored {
			expression += `\z`
		}
		want := regexp.MustCompile(expression).MatchString(target)
		for _, word := range []string{"Allow", "Disallow"} {
			v := rules("User-agent: *\n" + word + ": " + pattern).Test(target)
			if (v.Line == 2) != want || v.Allowed != (word == "Allow" || !want) {
				t.Errorf("%s: %s on %s: %+v; by %s: %v", word, pattern, target, v, expression, want)
			}
		}
	})
}

// in maps any bytes to an alphabet and cuts them, so that they match now and then and the regular
// expression stays cheap.
func in(s, alphabet string) string {
	b := []byte(s[:min(len(s), 50)])
	for i, c := range b {
		if strings.IndexByte(alphabet, c) < 0 {
			b[i] = alphabet[int(c)%len(alphabet)]
		}
	}
	return string(b)
}
