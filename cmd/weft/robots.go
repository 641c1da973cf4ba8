package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

func robotsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "robots",
		Short: "Read a robots.txt as a crawl does",
		Args:  oneCommand,
		RunE:  showHelp,

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(robotsTestCommand())
	return cmd
}

func robotsTestCommand() *cobra.Command {
	agent := weft.DefaultUserAgent
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "test [flags] FILE URL...",
		Short: "Tell which URLs a robots.txt allows, and by which of its lines",
		Long: `Test reads a robots.txt, from a file or from standard input (-), and prints for
each URL whether a crawler may fetch it and the line that decided. A URL may be a
path, such as /a?b. It is brought into the form in which a crawl asks for it.

With --jsonl there is no URL, and FILE (default standard input) has one question a
line: {"robots_b64": a robots.txt in base64, "ua": NAME, "url": URL}, and an "id" if
you like. Each is answered with a line: {"id", "allowed", "rule", "line",
"crawl_delay", "sitemaps"}, or {"id", "error", "kind"} if it can't be; no rule is ""
and line 0, the delay is in seconds or null. Here the URL is taken as it stands.

Exit status: 0 all were answered, whatever the answers; 1 the input or the output
broke off; 3 wrong usage.`,
		Example: `  weft robots test robots.txt /private/ https://example.org/a.html
  curl -s https://example.org/robots.txt | weft robots test --ua otherbot - /
  weft robots test --jsonl < questions.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case jsonl && len(args) > 1:
				return usage("robots test: %s given, expected with --jsonl one FILE or none", plural(len(args), "argument"))
			case !jsonl && len(args) < 2:
				return usage("robots test: %s given, expected a FILE and a URL such as https://example.org/", plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if jsonl {
				return answerLines("robots test", args, func(q question) (any, error) { return q.answer(agent) })
			}
			return testURLs(args[0], args[1:], agent)
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is tested", func(f *pflag.FlagSet) {
		flag(f, &agent, "ua", "", "NAME", weft.DefaultUserAgent, userAgent, "of the crawler, or the User-Agent it sends")
		f.BoolVar(&jsonl, "jsonl", false, "read questions, one a line, and answer each with a line (default not)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

// openRobots opens a file or standard input.
func openRobots(path string) (*os.File, error) {
	if path == "-" {
		return os.Stdin, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("robots test: %.128q: %w, expected a file or - for standard input", path, reason(err))
	}
	return f, nil
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
	f, err := openRobots(path)
	if err != nil {
		return err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, robots.MaxSize+1)) // one more: what is cut is seen to be
	if err != nil {
		return usage("robots test: %.128q: %w, expected a file that can be read", path, reason(err))
	}

	rules := robots.Parse(body).Agent(agent)
	out := bufio.NewWriter(os.Stdout)
	for i, target := range targets {
		v := rules.Test(target)
		word, why := "disallowed", "no rule"
		if v.Allowed {
			word = "allowed"
		}
		if v.Line > 0 {
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
		err = fmt.Errorf("%w, or a path that begins with /", err)
	}
	return u, err
}

// standardOutput says what an error is about.
func standardOutput(err error) error {
	if err != nil {
		return &exit{exitError, fmt.Errorf("standard output: %w", reason(err))}
	}
	return nil
}

// A question is a line of --jsonl.
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

// answer answers a question; one that has no name is asked for agent.
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

// targetOf returns path and query of a URL as they stand there, not as a crawl would
// send them: whoever compares parsers of robots.txt wants no URL parser in between.
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
