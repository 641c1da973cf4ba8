package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/weburl"
)

// urlFlags are the options of weft url.
type urlFlags struct {
	base  weburl.URL
	rules weburl.RuleSet
	jsonl bool
}

func urlCommand() *cobra.Command {
	var f urlFlags
	cmd := &cobra.Command{
		Use:     "url [flags] URL...",
		Short:   "Parse URLs and print their canonical form",
		GroupID: sectionURL,
		Long: `Parse URLs as browsers do (the URL Standard) and print the parts of each, the
canonical form, which identifies a page in a crawl, the fingerprint of that
(128 bits), and the registrable domain of the host.`,
		Annotations: detailed(`
The rules of --canon, in the order in which they are applied:

` + ruleLines() + `
With --jsonl there is no URL argument, and FILE (default: standard input) holds
one question per line, with an "id" of any kind. {"input": URL, "base": URL or
null} is answered with

  {"id", "href", "origin", "protocol", "username", "password", "host",
   "hostname", "port", "pathname", "search", "hash", "canon", "registrable",
   "ascii", "fingerprint"}

The parts are those of the browsers' URL API; registrable is the registrable
domain of the hostname or null, ascii the hostname. {"host": NAME} is answered
with {"id", "registrable"}. Errors are answered with {"id", "error", "kind"};
the kind is input, base or json.

Exit status: 0 all questions answered; 1 a URL does not parse (without
--jsonl), or input or output failed; 3 usage error.`),
		Example: `  weft url 'HTTP://user@Bücher.example:80/a/../b?q=ü#top'
  weft url --base https://example.org/docs/ ../img/logo.png
  weft url --canon drop-tracking,sort-query 'https://example.org/?utm_id=x&b=2'
  weft url --jsonl < questions.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.jsonl && !f.base.IsZero():
				return usage("url: --base and --jsonl: expected one of them: each line has its own base")
			case !f.jsonl && len(args) == 0:
				return usage("url: no URL given, expected one such as https://example.org/")
			}
			return orJSONL(&f.jsonl, "argument", cobra.ArbitraryArgs)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if f.jsonl {
				return answerLines("url", args, func(q urlQuestion) (any, error) { return q.answer(f.rules) })
			}
			return printURLs(f.base, f.rules, args)
		},
	}
	define(cmd, group{"Question", []option{
		{name: "base", arg: "URL", Value: to(&f.base, pageURL),
			help: "read each URL as a link on the page URL"},
		{name: "canon", arg: "RULES", Value: to(&f.rules, canonRules),
			help: "apply RULES, separated by commas, to the canonical form"},
		jsonlOption(&f.jsonl),
	}})
	return cmd
}

// ruleLines lists the canonicalization rules.
func ruleLines() string {
	var b strings.Builder
	for _, r := range weburl.Rules() {
		fmt.Fprintf(&b, "  %-16s %s\n", r.Name, r.Doc)
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
		err = errors.New("expected rules that weft url --help-all lists, separated by commas")
	}
	return rules, err
}

// wrongWith returns an error of package weburl without the URL, for messages that name it.
func wrongWith(err error) error {
	var e *weburl.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func printURLs(base weburl.URL, rules weburl.RuleSet, inputs []string) error {
	out := newPrinter()
	failed := 0
	for i, input := range inputs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, printable(input))
		u, err := base.Resolve(input)
		if err != nil {
			failed++
			urlSheet(out).some("error", wrongWith(err).Error())
			continue
		}
		printURL(out, u, rules)
	}
	if err := standardOutput(out.Flush()); err != nil {
		return err
	}
	if failed > 0 {
		of := plural(len(inputs), "URL")
		return &exit{exitError, fmt.Errorf("url: %d of %s could not be parsed", failed, of)}
	}
	return nil
}

// urlSheet prints the parts of a URL.
func urlSheet(w io.Writer) *sheet { return &sheet{Writer: w, width: 12} }

// printURL prints the parts that are not empty.
func printURL(w io.Writer, u weburl.URL, rules weburl.RuleSet) {
	p := partsOf(u, rules)
	out := urlSheet(w)
	for _, part := range [][2]string{
		{"href", p.Href}, {"origin", p.Origin}, {"protocol", p.Protocol},
		{"username", p.Username}, {"password", p.Password},
		{"host", p.Host}, {"hostname", p.Hostname}, {"port", p.Port},
		{"pathname", p.Pathname}, {"search", p.Search}, {"hash", p.Hash},
		{"canonical", p.Canon}, {"changed by", changedBy(u, rules)},
		{"registrable", weburl.RegistrableDomain(u.Hostname())}, {"fingerprint", p.Fingerprint},
	} {
		out.some(part[0], part[1])
	}
}

// changedBy names the rules that change u.
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

// urlParts has the names of https://url.spec.whatwg.org/#api, the last four apart.
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
		Href: u.String(), Origin: u.Origin(), Protocol: u.Scheme() + ":",
		Username: u.Username(), Password: u.Password(),
		Host: u.Host(), Hostname: u.Hostname(), Port: u.Port(),
		Pathname: u.Path(), Search: marked("?", u.Query()), Hash: marked("#", u.Fragment()),
		Canon: canon.String(), Registrable: registrable(u.Hostname()), ASCII: u.Hostname(),
		Fingerprint: hex.EncodeToString(fingerprint[:]),
	}
}

// marked returns a part with its mark; an empty part has none.
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
