package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/weburl"
)

func urlCommand() *cobra.Command {
	var base weburl.URL
	var rules weburl.RuleSet
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "url [flags] URL...",
		Short: "Read a URL as a crawl does: its parts, its canonical form",
		Long: `Url reads URLs as browsers do, by the URL Standard, and prints the parts of each
and what a crawl makes of it: the canonical form, by which it knows a page, 128 bits
of that (the fingerprint), and the registrable domain of the host.
With --base a URL may be a link on that page.

With --canon the canonical form is what is left under those rules; a line tells
which of them changed something. The rules, in the order in which they are applied:
` + ruleLines() + `
With --jsonl there is no URL, and FILE (default standard input) has one question a
line, and an "id" if you like. {"input": URL, "base": URL or null} is answered with
{"id", "href", "origin", "protocol", "username", "password", "host", "hostname",
"port", "pathname", "search", "hash"}, all as the URL API of browsers has them, and
"canon", "registrable" (of the hostname, or null), "ascii" (the host, in ASCII, as
hostname has it) and "fingerprint" (hexadecimal). {"host": NAME} is answered with
{"id", "registrable"}. What can't be is answered with {"id", "error", "kind"}: the
kind is input, base or json.

Exit status: 0 all were answered; 1 a URL does not parse (without --jsonl), or the
input or the output broke off; 3 wrong usage.`,
		Example: `  weft url 'HTTP://user@Bücher.example:80/a/../b?q=ü#top'
  weft url --base https://example.org/docs/ ../img/logo.png
  weft url --canon drop-tracking,sort-query 'https://example.org/?utm_source=x&b=2&a=1'
  weft url --jsonl < questions.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case jsonl && len(args) > 1:
				return usage("url: %s given, expected with --jsonl one FILE or none", plural(len(args), "argument"))
			case jsonl && !base.IsZero():
				return usage("url: --base and --jsonl: expected one of them, as each line has its base")
			case !jsonl && len(args) == 0:
				return usage("url: no URL given, expected one such as https://example.org/")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if jsonl {
				return answerLines("url", args, func(q urlQuestion) (any, error) { return q.answer(rules) })
			}
			return tellURLs(base, rules, args)
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is told", func(f *pflag.FlagSet) {
		flag(f, &base, "base", "", "URL", "", pageURL, "page that the URLs are links on (default none)")
		flag(f, &rules, "canon", "", "RULES", "", canonRules, "what more the canonical form leaves out, with commas (default nothing)")
		f.BoolVar(&jsonl, "jsonl", false, "read questions, one a line, and answer each with a line (default not)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

// ruleLines are the rules for the help.
func ruleLines() string {
	var b strings.Builder
	for _, r := range weburl.Rules() {
		fmt.Fprintf(&b, "  %-16s  %s\n", r.Name, r.Doc)
	}
	return b.String()
}

func pageURL(s string) (weburl.URL, error) {
	u, err := weburl.Parse(s)
	if err != nil {
		return u, fmt.Errorf("%w, expected a URL such as https://example.org/docs/", wrongWith(err))
	}
	return u, nil
}

func canonRules(list string) (weburl.RuleSet, error) {
	rules, err := weburl.ParseRules(list)
	if err == nil && rules == 0 {
		err = errors.New("expected some of those that weft url --help tells, with commas between them")
	}
	return rules, err
}

// wrongWith is an error of package weburl without the URL, for where that is told.
func wrongWith(err error) error {
	var e *weburl.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func tellURLs(base weburl.URL, rules weburl.RuleSet, inputs []string) error {
	out := bufio.NewWriter(os.Stdout)
	failed := 0
	for i, input := range inputs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, printable(input))
		u, err := base.Resolve(input)
		if err != nil {
			failed++
			tellPart(out, "error", wrongWith(err).Error())
			continue
		}
		tellURL(out, u, rules)
	}
	if err := standardOutput(out.Flush()); err != nil {
		return err
	}
	if failed > 0 {
		return &exit{exitError, fmt.Errorf("url: %d of %s could not be read", failed, plural(len(inputs), "URL"))}
	}
	return nil
}

// tellURL writes a line for each part that is not empty.
func tellURL(w io.Writer, u weburl.URL, rules weburl.RuleSet) {
	p := partsOf(u, rules)
	for _, part := range [][2]string{
		{"href", p.Href}, {"origin", p.Origin}, {"protocol", p.Protocol}, {"username", p.Username}, {"password", p.Password},
		{"host", p.Host}, {"hostname", p.Hostname}, {"port", p.Port}, {"pathname", p.Pathname}, {"search", p.Search}, {"hash", p.Hash},
		{"canonical", p.Canon}, {"changed by", changedBy(u, rules)}, {"registrable", weburl.RegistrableDomain(u.Hostname())}, {"fingerprint", p.Fingerprint},
	} {
		tellPart(w, part[0], part[1])
	}
}

func tellPart(w io.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "  %-11s  %s\n", name, printable(value))
	}
}

// changedBy names the rules that make a difference to u.
func changedBy(u weburl.URL, rules weburl.RuleSet) string {
	var names []string
	u = u.Canonical()
	for _, r := range rules.Rules() {
		if after := r.Apply(u); after != u {
			u = after
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

// urlQuestion is a line of --jsonl.
type urlQuestion struct {
	Input *string         `json:"input"`
	Base  *string         `json:"base"`
	Host  json.RawMessage `json:"host"` // null is a host that has no registrable domain
}

// urlParts are named as in https://url.spec.whatwg.org/#api, but for the last four.
type urlParts struct {
	Href        string  `json:"href"`
	Origin      string  `json:"origin"`
	Protocol    string  `json:"protocol"`
	Username    string  `json:"username"`
	Password    string  `json:"password"`
	Host        string  `json:"host"`
	Hostname    string  `json:"hostname"`
	Port        string  `json:"port"`
	Pathname    string  `json:"pathname"`
	Search      string  `json:"search"`
	Hash        string  `json:"hash"`
	Canon       string  `json:"canon"`
	Registrable *string `json:"registrable"`
	ASCII       string  `json:"ascii"`
	Fingerprint string  `json:"fingerprint"`
}

func partsOf(u weburl.URL, rules weburl.RuleSet) urlParts {
	canon := rules.Apply(u)
	fingerprint := canon.Fingerprint()
	return urlParts{
		Href: u.String(), Origin: u.Origin(), Protocol: u.Scheme() + ":", Username: u.Username(), Password: u.Password(),
		Host: u.Host(), Hostname: u.Hostname(), Port: u.Port(), Pathname: u.Path(), Search: marked("?", u.Query()), Hash: marked("#", u.Fragment()),
		Canon: canon.String(), Registrable: registrable(u.Hostname()), ASCII: u.Hostname(), Fingerprint: hex.EncodeToString(fingerprint[:]),
	}
}

// marked is a part with its mark, which an empty part has not.
func marked(mark, part string) string {
	if part == "" {
		return ""
	}
	return mark + part
}

func registrable(host string) *string {
	if d := weburl.RegistrableDomain(host); d != "" {
		return &d
	}
	return nil
}

func (q urlQuestion) answer(rules weburl.RuleSet) (any, error) {
	if q.Input == nil {
		return q.answerHost()
	}
	var base weburl.URL
	var err error
	if q.Base != nil {
		if base, err = weburl.Parse(*q.Base); err != nil {
			return nil, refuse("base", "base %.128q: %v", *q.Base, wrongWith(err))
		}
	}
	u, err := base.Resolve(*q.Input)
	if err != nil {
		return nil, refuse("input", "input %.128q: %v", *q.Input, wrongWith(err))
	}
	return partsOf(u, rules), nil
}

func (q urlQuestion) answerHost() (any, error) {
	if q.Host == nil {
		return nil, refuse("input", "no input and no host, expected one of them")
	}
	var host string
	if err := json.Unmarshal(q.Host, &host); err != nil {
		return nil, refuse("json", "host: expected a string or null")
	}
	return struct {
		Registrable *string `json:"registrable"`
	}{registrable(host)}, nil
}
