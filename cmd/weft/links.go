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
	var asJSON bool
	var base string
	redirects := 10
	cmd := &cobra.Command{
		Use:   "links [flags] FILE|URL",
		Short: "Print the links of a page",
		Long: `Links reads a page, from a file, from standard input (-) or from the Web, and
prints the URLs it mentions, one a line: first those of the Link fields it comes
with, then those of its text, in the order in which they stand there.
Redirects are followed. Robots.txt is not asked for.

Exit status: 0 done, 1 the page could not be fetched, was answered with another
status than 2xx or is no HTML, 3 wrong usage, 5 interrupted.`,
		Example: `  weft links https://example.org/
  weft links --base https://example.org/docs/ index.html
  weft links --json page.html | jq -r 'select(.tag == "img") | .url'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("links: %s given, expected one FILE or URL", plural(len(args), "page"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
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
			p := page{contentType: "text/html"}
			if remote {
				p, err = client.page(args[0], redirects)
			} else {
				p.body, err = client.file(args[0])
			}
			if err != nil {
				return err
			}
			if base != "" {
				p.url = given
			}
			return standardOutput(p.printLinks(terminal(os.Stdout), asJSON))
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is told", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as JSON, with element, attribute and text (default the URL)")
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

// page fetches one.
func (c *clientFlags) page(address string, redirects int) (page, error) {
	u, err := c.begin(address)
	if err != nil {
		return page{}, err
	}
	last, err := c.get("GET", u, redirects, func(fetched) error { return nil })
	if err != nil {
		return page{}, err
	}
	mediaType, _, _ := strings.Cut(strings.ToLower(last.contentType), ";")
	mediaType = strings.TrimSpace(mediaType)
	switch {
	case last.Status < 200 || last.Status > 299:
		return page{}, &exit{exitError, fmt.Errorf("%s: status %d, expected 2xx", last.URL, last.Status)}
	case mediaType != "text/html" && mediaType != "application/xhtml+xml":
		return page{}, &exit{exitError, fmt.Errorf("%s: content type %.64q, expected HTML", last.URL, last.contentType)}
	}
	u, err = weburl.Parse(last.URL)
	p := page{url: u, contentType: last.contentType, body: last.body}
	for _, field := range last.Header {
		if strings.EqualFold(field[0], "Link") {
			p.linkFields = append(p.linkFields, field[1])
		}
	}
	return p, err
}

// file reads a page from one.
func (c *clientFlags) file(path string) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, usage("links: %.128q: %w, expected a file or a URL that begins with http:// or https://", path, reason(err))
		}
		defer f.Close()
	}
	most := cmp.Or(c.MaxBody, 16<<20)
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return nil, usage("links: %.128q: %w, expected a file that can be read", path, reason(err))
	case len(b) > most:
		return nil, &exit{exitError, fmt.Errorf("links: %.128q: larger than %s, see --max-body", path, plural(most, "byte"))}
	}
	return b, nil
}

func (p page) printLinks(w io.Writer, asJSON bool) error {
	text, _ := charset.UTF8(p.contentType, p.body)
	var err error
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
			}{l.URL.String(), l.Raw, l.Tag, l.Attr, l.Rel, l.Text})
		} else {
			_, err = fmt.Fprintln(out, l.URL)
		}
		return err == nil
	}
	if links.Header(p.url, p.linkFields, tell); err == nil {
		links.Options{}.Extract(p.url, p.contentType, text, tell)
	}
	return errors.Join(err, out.Flush())
}
