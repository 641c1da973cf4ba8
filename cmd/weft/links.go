package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html/charset"
)

// localBase is the page that a file's links are resolved against.
const localBase = "http://localhost/"

func linksCommand() *cobra.Command {
	var client clientFlags
	var asJSON bool
	var base string
	cmd := &cobra.Command{
		Use:   "links [flags] FILE|URL",
		Short: "Print the links of a page",
		Long: `Links reads a page, from a file, from standard input (-) or from the Web, and
prints the URLs it mentions, one a line, in the order in which they stand there.
Redirects are followed, 10 at most. Robots.txt is not asked for.

Exit status: 0 done, 1 the page could not be fetched, 3 wrong usage,
5 interrupted.`,
		Example: `  weft links https://example.org/
  weft links --base https://example.org/docs/ index.html
  weft links --json page.html | jq -r 'select(.tag == "img") | .url'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("links: %d pages given, expected one FILE or URL", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p := page{contentType: "text/html"}
			var err error
			if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
				p, err = client.page(args[0])
			} else {
				p.body, err = readPage(args[0])
				base = orLocal(base)
			}
			if err != nil {
				return err
			}
			if base != "" {
				if p.url, err = weft.ParseSeed(base); err != nil {
					return usage("--base: %w", err)
				}
			}
			err = p.printLinks(terminal(os.Stdout), asJSON)
			if err != nil {
				return &exit{exitError, fmt.Errorf("standard output: %w", err)}
			}
			return nil
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is told", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as JSON, with element, attribute and text (default the URL)")
		f.StringVar(&base, "base", "", "`URL` the links are resolved against (default the page's own; of a file, "+localBase+")")
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
	body        []byte
}

// page fetches one.
func (c *clientFlags) page(address string) (page, error) {
	u, err := weft.ParseSeed(address)
	if err != nil {
		return page{}, &exit{exitUsage, err}
	}
	last, err := c.get(u, 10, func(fetched) error { return nil })
	if err != nil {
		return page{}, err
	}
	u, err = weburl.Parse(last.URL)
	return page{u, last.contentType, last.body}, err
}

// readPage reads a file, as much of it as a page may have.
func readPage(path string) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, usage("links: %w, expected a file or a URL that begins with http:// or https://", err)
		}
		defer f.Close()
	}
	const most = 16 << 20
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, usage("links: %w", err)
	case len(b) > most:
		return nil, usage("links: %s is larger than 16 MiB", path)
	}
	return b, nil
}

func orLocal(base string) string {
	if base == "" {
		return localBase
	}
	return base
}

func (p page) printLinks(w io.Writer, asJSON bool) error {
	if len(p.body) == 0 {
		return nil
	}
	r, err := charset.NewReader(bytes.NewReader(p.body), p.contentType)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	links.Options{}.Extract(p.url, p.contentType, text, func(l links.Link) bool {
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
	})
	return errors.Join(err, out.Flush())
}
