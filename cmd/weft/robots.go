package main

import (
	"fmt"
	"io"
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

func robotsTestCommand() *cobra.Command {
	agent := weft.DefaultUserAgent
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "test [flags] FILE URL...",
		Short: "Show which URLs a robots.txt allows, and by which line",
		Long: `Read a robots.txt from a file or standard input (-) and print, for each URL,
whether a crawler may fetch it and the line that decides. A URL may be a path,
such as /a?b; it is canonicalized as in a crawl.`,
		Annotations: detailed(`
With --jsonl there is no URL argument, and FILE (default: standard input) holds
one question per line:

  {"robots_b64": BASE64, "ua": NAME, "url": URL, "id": ANY}

Each line is answered with one line:

  {"id", "allowed", "rule", "line", "crawl_delay", "sitemaps"}
  or {"id", "error", "kind"}

Without a rule, rule is "" and line 0. The delay is in seconds or null. The URL
is taken as it is written.

Exit status: 0 all questions answered, whatever the answers; 1 input or output
failed; 3 usage error.`),
		Example: `  weft robots test robots.txt /private/ https://example.org/a.html
  curl -s https://example.org/robots.txt | weft robots test --ua otherbot - /
  weft robots test --jsonl < questions.jsonl`,
		Args: orJSONL(&jsonl, "argument", arguments(2, math.MaxInt, "argument",
			"a FILE and a URL such as https://example.org/")),
		RunE: func(_ *cobra.Command, args []string) error {
			if jsonl {
				return answerLines("robots test", args, func(q question) (any, error) {
					return q.answer(agent)
				})
			}
			return testURLs(args[0], args[1:], agent)
		},
	}
	define(cmd, group{"Question", []option{
		{name: "ua", arg: "NAME", Value: to(&agent, userAgent),
			help: "ask for the crawler NAME, or its User-Agent",
			more: "Default: " + weft.DefaultUserAgent + "."},
		jsonlOption(&jsonl),
	}})
	return cmd
}

func testURLs(path string, urls []string, agent string) error {
	targets := make([]string, len(urls))
	for i, s := range urls {
		u, err := absolute(s)
		if err != nil {
			return usage("robots test: %w", err)
		}
		targets[i] = u.Canonical().RequestTarget()
	}
	f, err := openSource("robots test", path, fileOrInput)
	if err != nil {
		return err
	}
	defer f.Close()
	// The byte beyond MaxSize shows the parser that the file is cut.
	body, err := io.ReadAll(io.LimitReader(f, robots.MaxSize+1))
	if err != nil {
		return usage("robots test: %.128q: %w, expected a file that can be read", path, reason(err))
	}

	rules := robots.Parse(body).Agent(agent)
	out := newPrinter()
	for i, target := range targets {
		v := rules.Test(target)
		word, why := "disallowed", "no rule"
		if v.Allowed {
			word = "allowed"
		}
		switch {
		case v.Undecided():
			why = robots.TooMany
		case v.Line > 0:
			why = fmt.Sprintf("line %d: %s", v.Line, v.Rule)
		}
		fmt.Fprintf(out, "%-10s  %s  %s\n", word, printable(urls[i]), printable(why))
	}
	return standardOutput(out.Flush())
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
