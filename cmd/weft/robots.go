package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

func robotsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "robots COMMAND",
		Short:   "Check URLs against a robots.txt",
		GroupID: sectionURL,
		Args:    oneCommand,
		RunE:    showHelp,

		SuggestionsMinimumDistance: 2,
		DisableFlagsInUseLine:      true,
	}
	cmd.AddCommand(robotsTestCommand())
	return cmd
}

// robotsFlags are the options of weft robots test.
type robotsFlags struct {
	client clientFlags
	agent  string // empty: the client's
	jsonl  bool
}

func robotsTestCommand() *cobra.Command {
	var f robotsFlags
	cmd := &cobra.Command{
		Use:   "test [flags] FILE|URL [URL...]",
		Short: "Show which URLs a robots.txt allows, and by which line",
		Long: `Read a robots.txt from a file, standard input (-) or the Web and print, for
each further URL, whether a crawler may fetch it and the line that decides. The
URL of a whole site stands for its /robots.txt; a URL alone is tested against
the robots.txt of its site. A URL to test may be a path, such as /a?b; it is
canonicalized as in a crawl.`,
		Annotations: detailed(`
Redirects are followed. As in a crawl, a status of 4xx allows everything, and
429 and 5xx disallow everything.

With --jsonl there is no URL argument, and FILE (default: standard input) holds
one question per line:

  {"robots_b64": BASE64, "ua": NAME, "url": URL, "id": ANY}

Each line is answered with one line:

  {"id", "allowed", "rule", "line", "crawl_delay", "sitemaps"}
  or {"id", "error", "kind"}

Without a rule, rule is "" and line 0. The delay is in seconds or null. The URL
is taken as it is written.

Exit status: 0 allowed, and every question of --jsonl answered; 1 a URL is
disallowed, or input or output failed; 3 usage error; 5 interrupted.`),
		Example: `  weft robots test https://example.org/private/report.pdf
  weft robots test https://example.org/ /private/ /docs/a.html
  weft robots test --ua otherbot robots.txt /private/
  weft robots test --jsonl < questions.jsonl`,
		Args: orJSONL(&f.jsonl, "argument", f.arguments),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.jsonl {
				agent := cmp.Or(f.agent, f.client.UserAgent)
				return answerLines("robots test", args, func(q question) (any, error) {
					return q.answer(agent)
				})
			}
			return f.test(args[0], args[min(1, len(args)-1):])
		},
	}
	define(cmd, append([]group{{"Question", []option{
		{name: "ua", arg: "NAME", Value: to(&f.agent, userAgent),
			help: "ask for the crawler NAME, or its User-Agent",
			more: "Default: that of --user-agent."},
		jsonlOption(&f.jsonl),
	}}}, f.client.groups("16MiB")...)...)
	return cmd
}

// arguments accepts a robots.txt and URLs, or one URL alone.
func (f *robotsFlags) arguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && isRemote(args[0]) {
		return nil
	}
	return arguments(2, math.MaxInt, "argument",
		"FILE|URL of a robots.txt and a URL such as https://example.org/")(cmd, args)
}

// test prints what the robots.txt that arg names says of URLs.
func (f *robotsFlags) test(arg string, urls []string) error {
	targets := make([]string, len(urls))
	for i, s := range urls {
		u, err := absolute(s)
		if bare, wrong := weft.ReadListedSeed(s); wrong == nil {
			u, err = bare.URL, nil
		}
		if err != nil {
			return usage("robots test: %w", err)
		}
		targets[i] = u.Canonical().RequestTarget()
	}
	file, err := f.client.robotsOf(arg, arg == urls[0])
	if err != nil {
		return err
	}
	rules := robots.Parse(file.body).Agent(cmp.Or(f.agent, f.client.UserAgent))
	access := robots.Read
	if file.status != 0 {
		access = robots.For(file.status)
	}
	out, disallowed := newPrinter(), false
	for i, target := range targets {
		v := robots.Verdict{Allowed: access != robots.Closed}
		why := fmt.Sprintf("%s: status %d", file.url, file.status)
		if access == robots.Read {
			v, why = rules.Test(target), "no rule"
		}
		word := "disallowed"
		if v.Allowed {
			word = "allowed"
		} else {
			disallowed = true
		}
		switch {
		case access == robots.Read && v.Undecided():
			why = robots.TooMany
		case v.Line > 0:
			why = fmt.Sprintf("line %d: %s", v.Line, v.Rule)
		}
		fmt.Fprintf(out, "%-10s  %s  %s\n", word, printable(urls[i]), printable(why))
	}
	if err := out.Flush(); err != nil || !disallowed {
		return standardOutput(err)
	}
	return &exit{exitError, nil}
}

// robotsOf reads the robots.txt that an argument names: a file, its URL, or the URL of its site;
// if page is set, that of any URL of the site.
func (c *clientFlags) robotsOf(arg string, page bool) (source, error) {
	if !isRemote(arg) {
		return c.read("robots test", arg, maxPage, robots.MaxRedirects)
	}
	given, err := readSeed(arg)
	if err != nil {
		return source{}, err
	}
	fetch := weft.Fetch
	if page || given.URL.RequestTarget() == "/" {
		fetch = weft.FetchRobots
	}
	return c.fetch(arg, robots.MaxRedirects, fetch)
}

// absolute reads a URL, or a path on some host.
func absolute(s string) (weburl.URL, error) {
	if strings.HasPrefix(s, "/") {
		return weburl.Parse(strings.TrimSuffix(localBase, "/") + s)
	}
	u, err := weft.ParseSeed(s)
	if err != nil {
		err = fmt.Errorf("%w, or a path that starts with /", err)
	}
	return u, err
}

// question is a line of --jsonl.
type question struct {
	Robots *string `json:"robots_b64"`
	Agent  *string `json:"ua"`
	URL    *string `json:"url"`
}

type questionAnswer struct {
	Allowed    bool     `json:"allowed"`
	Rule       string   `json:"rule"`
	Line       int      `json:"line"`
	CrawlDelay *float64 `json:"crawl_delay"` // in seconds
	Sitemaps   []string `json:"sitemaps"`
}

// answer answers a question; agent holds where it names none.
func (q question) answer(agent string) (any, error) {
	body, err := fromBase64("robots_b64", q.Robots)
	if err != nil {
		return nil, err
	}
	if q.URL == nil {
		return nil, refuse("url", "no url, expected one such as https://example.org/")
	}
	target, err := targetOf(*q.URL)
	if err != nil {
		return nil, refuse("url", "%v", err)
	}
	if q.Agent != nil {
		agent = *q.Agent
	}
	file := robots.Parse(body)
	rules := file.Agent(agent)
	v := rules.Test(target)
	answer := questionAnswer{Allowed: v.Allowed, Rule: v.Rule, Line: v.Line, Sitemaps: file.Sitemaps()}
	if answer.Sitemaps == nil {
		answer.Sitemaps = []string{}
	}
	if delay, ok := rules.CrawlDelay(); ok {
		seconds := delay.Seconds()
		answer.CrawlDelay = &seconds
	}
	return answer, nil
}

// targetOf returns path and query of a URL as they are written, not as a crawl would send
// them: a comparison of robots.txt parsers needs them without a URL parser in between.
func targetOf(s string) (string, error) {
	if s == "" {
		return "/", nil
	}
	if _, err := absolute(s); err != nil {
		return "", err
	}
	target, _, _ := strings.Cut(s, "#")
	if strings.HasPrefix(target, "/") {
		return target, nil
	}
	_, target, _ = strings.Cut(target, ":")
	target = strings.TrimLeft(target, "/")
	at := strings.IndexAny(target, "/?")
	switch {
	case at < 0:
		return "/", nil
	case target[at] == '?':
		return "/" + target[at:], nil
	}
	return target[at:], nil
}
