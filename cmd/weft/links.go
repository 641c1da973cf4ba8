package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/sniff"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// linksFlags are the options of weft links.
type linksFlags struct {
	client                 clientFlags
	asJSON, jsonl, scripts bool
	base, contentType      string
	redirects, limit       int
}

func linksCommand() *cobra.Command {
	f := linksFlags{redirects: 10}
	cmd := &cobra.Command{
		Use:     "links [flags] FILE|URL",
		Short:   "List a page's links",
		GroupID: sectionURL,
		Long: `Read a page from a file, standard input (-) or the Web and print its links, one
URL per line, each once: those of the Link header fields, then those of the
body, in order. With --json, each mention has a line.`,
		Annotations: detailed(`
A page is HTML, XHTML, SVG, CSS, a feed (RSS, Atom) or JSON-LD. Redirects are
followed; robots.txt is not read.

With --jsonl, FILE (default: standard input) holds one page per line:

  {"html": TEXT or "html_b64": BASE64, "base": URL, "content_type": TYPE,
   "id": ANY}

Only one of the first two members is required. Each line is answered with one
line:

  {"id", "links": [{"url", "raw", "tag", "attr", "rel", "kind"}], "base",
   "charset", "refresh", "robots"}
  or {"id", "error", "kind"}

Without a base, only absolute URLs are links. The base of the answer is the URL
that links are resolved against; refresh is the target of a meta refresh or
null; robots holds the directives for all robots.

Exit status: 0 done; 1 the page could not be fetched, has a status other than
2xx or a type without links; 3 usage error; 5 interrupted.`),
		Example: `  weft links https://example.org/
  weft links --base https://example.org/docs/ index.html
  weft links --json page.html | jq -r 'select(.kind == "image") | .to'
  weft links --jsonl < pages.jsonl`,
		Args: orJSONL(&f.jsonl, "page", arguments(1, 1, "page", "one FILE or URL")),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, append([]group{{"Output", []option{
		limitOption(&f.limit, "links"),
		jsonOption(&f.asJSON, "print JSON, with element, position and kind"),
		jsonlOption(&f.jsonl),
		{name: "content-type", arg: "TYPE",
			Value: to(&f.contentType, some("a TYPE such as text/html; charset=utf-8")),
			help:  "read the page as TYPE", more: "Default: the type it comes with; for a file, by the end of its name, else text/html."},
		{name: "scripts", Value: on(&f.scripts), help: "list what looks like a URL in scripts, too"},
		{name: "base", arg: "URL", Value: to(&f.base, some("a URL such as https://example.org/docs/")),
			help: "resolve links against URL",
			more: "Default: the page's own URL; for a file, " + localBase + "."},
		redirectsOption(&f.redirects, "follow at most N redirects"),
	}}, f.client.renderOptions()}, f.client.groups("16MiB")...)...)
	return cmd
}

func (f *linksFlags) run(args []string) error {
	if f.contentType != "" && !links.Reads(f.contentType) {
		return usage("--content-type: %.64q has no links, expected one such as text/html or text/css",
			f.contentType)
	}
	extractor := links.NewExtractor(links.Options{Scripts: f.scripts, Positions: f.asJSON})
	if f.jsonl {
		return answerLines("links", args, func(q linksQuestion) (any, error) {
			return q.answer(extractor, f.base, f.contentType)
		})
	}
	var base weburl.URL
	var err error
	if text := f.base; text != "" || !isRemote(args[0]) {
		if base, err = weft.ParseSeed(cmp.Or(text, localBase)); err != nil {
			return usage("--base: %w", err)
		}
	}
	p, err := f.client.readPage("links", args[0], maxPage, f.redirects)
	if err != nil {
		return err
	}
	if !base.IsZero() {
		p.url = base
	}
	p.contentType = cmp.Or(f.contentType, p.contentType)
	switch {
	case p.contentType == "" && p.status == 0:
		end := strings.ToLower(filepath.Ext(args[0]))
		if end == ".json" {
			p.contentType = sniff.Type("application/json", "", p.body)
		}
		p.contentType = cmp.Or(p.contentType, typesOfFiles[end], "text/html")
	case !links.Reads(p.contentType):
		return &exit{exitError, fmt.Errorf(
			"%s: content type %.64q, expected one with links such as text/html: see --content-type",
			p.url, p.contentType)}
	}
	found, err := p.printLinks(extractor, f.asJSON, f.limit)
	if kind := mediaType(p.contentType); !f.scripts && (strings.HasSuffix(kind, "/javascript") || strings.HasSuffix(kind, "/ecmascript")) {
		fmt.Fprintf(os.Stderr, "weft: links: %s: a script: --scripts lists what looks like a URL in it\n", printable(args[0]))
	}
	switch {
	case err != nil:
		return standardOutput(err)
	case found.Cut:
		return &exit{exitError, fmt.Errorf(
			"links: %.128q: too many links for the length of its base: some are not listed", args[0])}
	case found.Hidden:
		return &exit{exitError, fmt.Errorf(
			"links: %.128q ends within a tag, a comment, a script or the like: what may be links there is not listed", args[0])}
	}
	return nil
}

// typesOfFiles are the content types of files by the end of their names; others are read as HTML.
var typesOfFiles = map[string]string{
	".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript", ".rss": "application/rss+xml",
	".atom": "application/atom+xml", ".svg": "image/svg+xml", ".xhtml": "application/xhtml+xml", ".xml": "application/xml",
}

// maxPage is the largest page that a command reads without --max-body, in bytes.
const maxPage = 16 << 20

// printLinks prints the links of the page, at most limit unless that is 0. It returns what else was
// found.
func (p source) printLinks(x *links.Extractor, asJSON bool, limit int) (found links.Page, err error) {
	text, encoding := charset.UTF8(p.contentType, p.body)
	out := newPrinter()
	printed := make(map[string]bool)
	n := 0
	more := func() bool { return err == nil && (limit == 0 || n < limit) }
	print := func(l links.Link) bool {
		if asJSON {
			n++
			err = out.json.Encode(struct {
				From string `json:"from"`
				To   string `json:"to"`
				Raw  string `json:"raw"`
				Tag  string `json:"tag"`
				Attr string `json:"attr"`
				Rel  string `json:"rel,omitempty"`
				Text string `json:"text,omitempty"`
				Kind string `json:"kind"`

				Fragment string `json:"fragment,omitempty"`
				Line     int    `json:"line,omitempty"`
				Column   int    `json:"column,omitempty"`
			}{p.url.String(), l.URL.String(), l.Raw, l.Tag, l.Attr, l.Rel, l.Text, l.Kind.String(), l.URL.Fragment(), l.Line, l.Column})
		} else if u := l.URL.String(); !printed[u] {
			printed[u] = true
			n++
			_, err = fmt.Fprintln(out, u)
		}
		return more()
	}
	if links.Header(p.url, p.header.Values("Link"), print); more() {
		links.RefreshHeader(p.url, p.header.Values("Refresh"), print)
	}
	if more() {
		d := links.Document{Base: p.url, ContentType: p.contentType, Body: text, Charset: encoding}
		found = x.Extract(d, print)
	}
	if p.rendered != nil {
		for _, target := range p.rendered.Targets {
			if u, bad := p.url.Resolve(target); bad == nil && more() {
				print(links.Link{URL: u, Raw: target, Tag: "script", Attr: "navigation", Kind: links.KindPage})
			}
		}
	}
	return found, errors.Join(err, out.Flush())
}

// linksQuestion is a line of --jsonl.
type linksQuestion struct {
	HTML        *string `json:"html"`
	HTMLBase64  *string `json:"html_b64"`
	Base        *string `json:"base"`
	ContentType *string `json:"content_type"`
}

// maxAnswer bounds the links of an answer, in bytes: with a long base, a short page has many.
const maxAnswer = 256 << 20

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

// answer answers a question; base and contentType hold where it has none of its own.
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
	size := 0
	found := x.Extract(d, func(l links.Link) bool {
		size += len(l.URL.String()) + len(l.Raw)
		if size > maxAnswer {
			return false
		}
		answer.Links = append(answer.Links,
			linkAnswer{l.URL.String(), l.Raw, l.Tag, l.Attr, l.Rel, l.Kind.String()})
		return true
	})
	if size > maxAnswer || found.Cut {
		return nil, refuse("links",
			"links of more than %d bytes, expected fewer of them, or a shorter base", maxAnswer)
	}
	answer.Base = found.Base.String()
	if !found.Refresh.IsZero() {
		refresh := found.Refresh.String()
		answer.Refresh = &refresh
	}
	answer.Robots = append(answer.Robots, found.Directives...)
	return answer, nil
}
