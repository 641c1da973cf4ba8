package robots_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/robots"
)

// rules returns the rules for weft.
func rules(body string) robots.Rules { return robots.Parse([]byte(body)).Agent("weft") }

func TestFor(t *testing.T) {
	for status, want := range map[int]robots.Access{
		0:   robots.Closed, // no answer
		101: robots.Closed,
		200: robots.Read,
		204: robots.Read,
		301: robots.Follow,
		308: robots.Follow,
		400: robots.Open,
		401: robots.Open,
		403: robots.Open,
		404: robots.Open,
		410: robots.Open,
		429: robots.Closed,
		499: robots.Open,
		500: robots.Closed,
		503: robots.Closed,
		999: robots.Closed,
		-1:  robots.Closed,
	} {
		if got := robots.For(status); got != want {
			t.Errorf("For(%d) = %v, want %v", status, got, want)
		}
	}
}

func TestZeroRules(t *testing.T) {
	for _, target := range []string{"", "/", "/a?b"} {
		if v := (robots.Rules{}).Test(target); v != (robots.Verdict{Allowed: true}) {
			t.Errorf("%q: %+v", target, v)
		}
	}
	if delay, ok := (robots.Rules{}).CrawlDelay(); ok {
		t.Errorf("a delay of %v", delay)
	}
}

// TestByteOrderMark: a mark or a part of one does not hide the first line; anywhere else it is
// part of the line.
func TestByteOrderMark(t *testing.T) {
	for body, allowed := range map[string]bool{
		"\xef\xbb\xbfUser-agent: *\nDisallow: /":             false,
		"\xef\xbbUser-agent: *\nDisallow: /":                 false,
		"\xefUser-agent: *\nDisallow: /":                     false,
		"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /": true,
		"\xbb\xbfUser-agent: *\nDisallow: /":                 true,
		"User-agent: *\n\xef\xbb\xbfDisallow: /":             true,
		"\xef\xbb\xbf":                                       true,
		"\xff\xfeU\x00s\x00e\x00r\x00":                       true,
	} {
		if v := rules(body).Test("/a"); v.Allowed != allowed {
			t.Errorf("%q: %+v", body, v)
		}
	}
}

// TestLineNumbers: CR, LF and CRLF each end a line.
func TestLineNumbers(t *testing.T) {
	for body, line := range map[string]int{
		"User-agent: *\n\nDisallow: /":         3,
		"User-agent: *\r\rDisallow: /\r":       3,
		"User-agent: *\r\n\r\nDisallow: /\r\n": 3,
		"\n\r\nUser-agent: *\n\rDisallow: /":   5,
		"\xef\xbb\xbfUser-agent: *\nAllow: /":  2,
		"User-agent: *\x0b\nDisallow: / \t":    2,
	} {
		if v := rules(body).Test("/"); v.Line != line {
			t.Errorf("%q: %+v, want line %d", body, v, line)
		}
	}
}

// TestSize: the last complete line within the first 500 KiB is the last that counts.
func TestSize(t *testing.T) {
	const head = "User-agent: *\nDisallow: /a\n"
	pad := func(tail string, size int) string {
		return head + strings.Repeat("#", size-len(head)-len(tail)) + tail
	}
	const tail = "\nDisallow: /b/c"
	for name, c := range map[string]struct {
		body       string
		b, private bool // may /b, /b/c be fetched
	}{
		"whole":                {pad(tail, robots.MaxSize), true, false},
		"line feed beyond":     {pad(tail, robots.MaxSize) + "\n", true, true},
		"line feed within":     {pad(tail+"\n", robots.MaxSize) + "Disallow: /b", true, false},
		"cut within a pattern": {pad(tail, robots.MaxSize+2), true, true}, // not "Disallow: /b"
		"all beyond":           {pad("", robots.MaxSize) + tail, true, true},
		"one endless line":     {head + "Disallow: /" + strings.Repeat("x", 2*robots.MaxSize), true, true},
		"after an endless one": {"User-agent: *\nDisallow: /a\n" + strings.Repeat("x", robots.MaxSize) + "\nDisallow: /", true, true},
	} {
		r := rules(c.body)
		if b, private := r.Test("/b").Allowed, r.Test("/b/c").Allowed; b != c.b || private != c.private || r.Test("/a").Allowed {
			t.Errorf("%s: /b %v, /b/c %v; want %v, %v", name, b, private, c.b, c.private)
		}
	}
}

func TestSitemapsAreBounded(t *testing.T) {
	var body strings.Builder
	for i := range robots.MaxSitemaps + 5 {
		fmt.Fprintf(&body, "Sitemap: /%d\n", i)
	}
	all := robots.Parse([]byte(body.String()))
	got := all.Sitemaps()
	if len(got) != robots.MaxSitemaps || got[robots.MaxSitemaps-1] != fmt.Sprintf("/%d", robots.MaxSitemaps-1) {
		t.Errorf("%d sitemaps", len(got))
	}
	got[0] = "changed"
	whole := robots.Parse([]byte(strings.Repeat("Sitemap: /s\nSitemap:\n", robots.MaxSitemaps)))
	if !all.SitemapsCut() || whole.SitemapsCut() || len(whole.Sitemaps()) != robots.MaxSitemaps {
		t.Errorf("cut: %t of %d, %t of %d, expected only the first", all.SitemapsCut(), robots.MaxSitemaps+5, whole.SitemapsCut(), len(whole.Sitemaps()))
	}
}

// TestNotAliased: changing the body or a returned slice does not change the rules.
func TestNotAliased(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /a\nSitemap: /s\n")
	r := robots.Parse(body)
	clear(body)
	r.Sitemaps()[0] = "changed"
	if v := r.Agent("x").Test("/a"); v.Allowed || v.Rule != "Disallow: /a" || r.Sitemaps()[0] != "/s" {
		t.Errorf("%+v, sitemaps %q", v, r.Sitemaps())
	}
}

// TestHostileFiles: parsing and testing 500 KiB of anything takes time that does not grow with
// the square of the size. The bound is generous: seconds for work of milliseconds.
func TestHostileFiles(t *testing.T) {
	fill := func(line string) string {
		return "User-agent: *\n" + strings.Repeat(line, (robots.MaxSize-20)/len(line))
	}
	target := "/" + strings.Repeat("a", 4000)
	for name, body := range map[string]string{
		"wildcards in one line":  "User-agent: *\nDisallow: /" + strings.Repeat("*a", 200_000) + "b$",
		"only wildcards":         "User-agent: *\nDisallow: /" + strings.Repeat("*", 400_000) + "b",
		"many wildcard rules":    fill("Disallow:/*a*a*a*b\n"),
		"long pieces":            fill("Disallow:/*" + strings.Repeat("a", 3000) + "b\n"),
		"agents":                 fill("User-agent:a\n"),
		"agents and delays":      strings.Repeat("User-agent:a\n", 19_000) + strings.Repeat("Crawl-delay:1\n", 18_000),
		"the same sitemap":       fill("Sitemap:/a\n"),
		"groups":                 fill("User-agent:b\nAllow:/\nUser-agent:*\nAllow:/\n"),
		"colons":                 fill(":\n"),
		"empty lines":            fill("\r"),
		"escapes":                "User-agent: *\nDisallow: /" + strings.Repeat("%7e", 160_000),
		"bytes that are escaped": "User-agent: *\nDisallow: /" + strings.Repeat("\xff", 500_000),
	} {
		start := process.CPU() // wall time grows with the load of the machine
		r := robots.Parse([]byte(body))
		for _, agent := range []string{"weft", "a"} {
			if v := r.Agent(agent).Test(target); !v.Allowed && name != "groups" {
				t.Errorf("%s: %+v", name, v.Line)
			}
		}
		if took := process.CPU() - start; took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// TestNoAllocation: testing an ordinary target, as the frontier does for each URL, allocates
// nothing.
func TestNoAllocation(t *testing.T) {
	r := rules("User-agent: *\nDisallow: /a/*/b\nDisallow: /%7Ejoe\nAllow: /a/x\n")
	if n := testing.AllocsPerRun(100, func() { r.Test("/a/b/c/index.html?q=1&p=2") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestProductToken(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"weft":                             "weft",
		"Weft/0.1 (+https://example.org/)": "Weft",
		"weft bot":                         "weft",
		"google_bot-News":                  "google_bot-News",
		"bot2/1.0":                         "bot2",
		"2bot":                             "2bot",
		"*":                                "*",
		"wéft":                             "wéft",
	} {
		if got := robots.ProductToken(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
