package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// localBase is the page that a file's links are resolved against.
const localBase = "http://localhost/"

func linksCommand() *cobra.Command {
	var client clientFlags
	var asJSON, jsonl, scripts bool
	var base, contentType string
	redirects := 10
	cmd := &cobra.Command{
		Use:   "links [flags] FILE|URL",
		Short: "Print the links of a page",
		Long: `Links reads a page, from a file, from standard input (-) or from the Web, and
prints the URLs it mentions, one a line: first those of the Link fields it comes
with, then those of its text, in the order in which they stand there. A page is
HTML, XHTML, SVG, a style sheet, a feed (RSS, Atom) or JSON-LD.
Redirects are followed. Robots.txt is not asked for.

With --jsonl, FILE (default standard input) has one page a line: {"html": TEXT or
"html_b64": BYTES in base64, "base": URL, "content_type": TYPE}, and an "id" if you
like. Only one of the first two is needed. Each is answered with a line: {"id",
"links": [{"url", "raw", "tag", "attr", "rel", "kind"}], "base", "charset", "refresh",
"robots"}, or {"id", "error", "kind"} if it can't be. Without a base only absolute URLs
are links. The base of the answer is what links are resolved against in the end,
refresh where a meta refresh leads or null, robots what is said to all robots.

Exit status: 0 done, 1 the page could not be fetched, was answered with another
status than 2xx or is of a type without links, 3 wrong usage, 5 interrupted.`,
		Example: `  weft links https://example.org/
  weft links --base https://example.org/docs/ index.html
  weft links --json page.html | jq -r 'select(.kind == "image") | .url'
  weft links --jsonl < pages.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case jsonl && len(args) > 1:
				return usage("links: %s given, expected with --jsonl one FILE or none", plural(len(args), "page"))
			case !jsonl && len(args) != 1:
				return usage("links: %s given, expected one FILE or URL", plural(len(args), "page"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if contentType != "" && !links.Reads(contentType) {
				return usage("--content-type: %.64q has no links, expected one such as text/html or text/css", contentType)
			}
			extractor := links.NewExtractor(links.Options{Scripts: scripts})
			if jsonl {
				return answerLines("links", args, func(q linksQuestion) (any, error) { return q.answer(extractor, base, contentType) })
			}
			scheme, _, _ := strings.Cut(strings.ToLower(args[0]), "://")
			remote := scheme == "http" || scheme == "https"
			if !remote {
				base = cmp.Or(base, localBase)
			}
			var given weburl.URL
			var err error
			if base != "" {
				if given, err = weft.ParseSeed(base); err != nil {
					return usage("--base: %w", err)
				}
			}
			p := page{contentType: cmp.Or(contentType, "text/html")}
			if remote {
				p, err = client.page(args[0], contentType, redirects)
			} else {
				p.body, err = client.file("links", args[0])
			}
			if err != nil {
				return err
			}
			if base != "" {
				p.url = given
			}
			cut, err := p.printLinks(terminal(os.Stdout), extractor, asJSON)
			if err == nil && cut {
				return &exit{exitError, fmt.Errorf("links: %.128q: more links than its base is short enough for: the rest is not told", args[0])}
			}
			return standardOutput(err)
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is told", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as JSON, with element, attribute, kind and text (default the URL)")
		f.BoolVar(&jsonl, "jsonl", false, "read pages, one a line, and answer each with a line (default not)")
		flag(f, &contentType, "content-type", "", "TYPE", "", some("a TYPE such as text/html; charset=utf-8"), "of the page (default the one it comes with; of a file, text/html)")
		f.BoolVar(&scripts, "scripts", false, "tell what looks like a URL in scripts too (default not)")
		flag(f, &base, "base", "", "URL", "", some("a URL such as https://example.org/docs/"), "the links are resolved against (default the page's own; of a file, "+localBase+")")
		flag(f, &redirects, "max-redirects", "", "N", "10", number(0), "redirects followed")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	client.register(g)
	g.help()
	return cmd
}

// page is what links are looked for in.
type page struct {
	url         weburl.URL
	contentType string
	linkFields  []string
	body        []byte
}

// page fetches one. A contentType that is given counts, whatever the answer says.
func (c *clientFlags) page(address, contentType string, redirects int) (page, error) {
	u, err := c.begin(address)
	if err != nil {
		return page{}, err
	}
	last, err := c.get("GET", u, redirects, func(fetched) error { return nil })
	if err != nil {
		return page{}, err
	}
	contentType = cmp.Or(contentType, last.contentType)
	switch {
	case last.Status < 200 || last.Status > 299:
		return page{}, &exit{exitError, fmt.Errorf("%s: status %d, expected 2xx", last.URL, last.Status)}
	case !links.Reads(contentType):
		return page{}, &exit{exitError, fmt.Errorf("%s: content type %.64q, expected HTML or another with links, see --content-type", last.URL, contentType)}
	}
	u, err = weburl.Parse(last.URL)
	p := page{url: u, contentType: contentType, body: last.body}
	for _, field := range last.Header {
		if strings.EqualFold(field[0], "Link") {
			p.linkFields = append(p.linkFields, field[1])
		}
	}
	return p, err
}

// file reads what a command is about from one.
func (c *clientFlags) file(command, path string) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, usage("%s: %.128q: %w, expected a file or a URL that begins with http:// or https://", command, path, reason(err))
		}
		defer f.Close()
	}
	most := cmp.Or(c.MaxBody, 16<<20)
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return nil, usage("%s: %.128q: %w, expected a file that can be read", command, path, reason(err))
	case len(b) > most:
		return nil, &exit{exitError, fmt.Errorf("%s: %.128q: larger than %s, see --max-body", command, path, plural(most, "byte"))}
	}
	return b, nil
}

// printLinks reports whether the page was cut.
func (p page) printLinks(w io.Writer, x *links.Extractor, asJSON bool) (cut bool, err error) {
	text, encoding := charset.UTF8(p.contentType, p.body)
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	tell := func(l links.Link) bool {
		if asJSON {
			err = enc.Encode(struct {
				URL  string `json:"url"`
				Raw  string `json:"raw"`
				Tag  string `json:"tag"`
				Attr string `json:"attr"`
				Rel  string `json:"rel,omitempty"`
				Text string `json:"text,omitempty"`
				Kind string `json:"kind"`
			}{l.URL.String(), l.Raw, l.Tag, l.Attr, l.Rel, l.Text, l.Kind.String()})
		} else {
			_, err = fmt.Fprintln(out, l.URL)
		}
		return err == nil
	}
	if links.Header(p.url, p.linkFields, tell); err == nil {
		cut = x.Extract(links.Document{Base: p.url, ContentType: p.contentType, Body: text, Charset: encoding}, tell).Cut
	}
	return cut, errors.Join(err, out.Flush())
}

// A linksQuestion is a line of --jsonl.
type linksQuestion struct {
	HTML        *string `json:"html"`
	HTMLBase64  *string `json:"html_b64"`
	Base        *string `json:"base"`
	ContentType *string `json:"content_type"`
}

// maxTold bounds the links of an answer, in bytes: with a long base a short page has many.
const maxTold = 256 << 20

type linksAnswer struct {
	Links   []linkAnswer `json:"links"`
	Base    string       `json:"base"` // empty if there is none
	Charset string       `json:"charset"`
	Refresh *string      `json:"refresh"`
	Robots  []string     `json:"robots"`
}

type linkAnswer struct {
	URL  string `json:"url"`
	Raw  string `json:"raw"`
	Tag  string `json:"tag"`
	Attr string `json:"attr"`
	Rel  string `json:"rel"`
	Kind string `json:"kind"`
}

// answer answers a question; base and contentType are of one that does not say its own.
func (q linksQuestion) answer(x *links.Extractor, base, contentType string) (any, error) {
	if q.Base != nil {
		base = *q.Base
	}
	if q.ContentType != nil {
		contentType = *q.ContentType
	}
	d := links.Document{ContentType: cmp.Or(contentType, "text/html")}
	var err error
	if base != "" {
		if d.Base, err = weburl.Parse(base); err != nil {
			return nil, refuse("base", "base: %v", err)
		}
	}
	answer := linksAnswer{Links: []linkAnswer{}, Robots: []string{}, Charset: "utf-8"}
	if q.HTML != nil {
		d.Body = []byte(*q.HTML)
	} else {
		if d.Body, err = fromBase64("html_b64", q.HTMLBase64); err != nil {
			return nil, err
		}
		d.Body, answer.Charset = charset.UTF8(d.ContentType, d.Body)
		d.Charset = answer.Charset
	}
	told := 0
	said := x.Extract(d, func(l links.Link) bool {
		told += len(l.URL.String()) + len(l.Raw)
		if told > maxTold {
			return false
		}
		answer.Links = append(answer.Links, linkAnswer{l.URL.String(), l.Raw, l.Tag, l.Attr, l.Rel, l.Kind.String()})
		return true
	})
	if told > maxTold || said.Cut {
		return nil, refuse("links", "more links than %d bytes, expected less of them, or a shorter base", maxTold)
	}
	answer.Base = said.Base.String()
	if !said.Refresh.IsZero() {
		refresh := said.Refresh.String()
		answer.Refresh = &refresh
	}
	answer.Robots = append(answer.Robots, said.Directives...)
	return answer, nil
}
