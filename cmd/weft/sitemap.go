package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/sitemap"
	"github.com/weftcrawl/weft/weburl"
)

// maxSitemap is how large a sitemap may be by its protocol, in bytes.
const maxSitemap = 50 << 20

func sitemapCommand() *cobra.Command {
	var client clientFlags
	var asJSON, jsonl bool
	var base, contentType string
	redirects := 10
	cmd := &cobra.Command{
		Use:   "sitemap [flags] FILE|URL",
		Short: "Print the URLs that a sitemap tells of",
		Long: `Sitemap reads a sitemap, from a file, from standard input (-) or from the Web, and
prints the URLs in it, one a line, with the date of the last change as it stands there
(- if it does not) and the kind: page, sitemap (of an index; it is not read) or alternate
(a page in another language), with tabs between. A sitemap is XML, text, RSS or Atom, in
gzip or not. What is broken is read as far as it goes; it is an error where URLs are lost by
it, not for a bare & or an element that does not end.

Of a URL that is a whole site, such as https://example.org/, the sitemaps are printed that
its robots.txt names. If there are none, /sitemap.xml is read. Redirects are followed.

With --jsonl, FILE (default standard input) has one sitemap a line: {"body_b64": BYTES
in base64, "content_type": TYPE, "base": URL}, and an "id" if you like. Only the first
is needed. Each is answered with a line: {"id", "type", "urls": [{"loc", "lastmod",
"time", "priority"}], "sitemaps", "alternates", "error"}, or {"id", "error", "kind"} if it
can't be. The type is urlset, index, text, rss, atom or unknown, lastmod as written or null,
time the same as RFC 3339 has it, or null; the error says by what URLs are lost, or is null.

Exit status: 0 done; 1 the sitemap could not be fetched, was answered with another
status than 2xx, is none or is broken, after what was found is printed; 3 wrong usage;
5 interrupted.`,
		Example: `  weft sitemap https://example.org/
  weft sitemap https://example.org/sitemap.xml.gz | cut -f 1
  weft sitemap --json sitemap.xml | jq -r 'select(.priority > 0.5) | .url'
  weft sitemap --jsonl < sitemaps.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case jsonl && len(args) > 1:
				return usage("sitemap: %s given, expected with --jsonl one FILE or none", plural(len(args), "sitemap"))
			case !jsonl && len(args) != 1:
				return usage("sitemap: %s given, expected one FILE or URL", plural(len(args), "sitemap"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if jsonl {
				return answerLines("sitemap", args, func(q sitemapQuestion) (any, error) { return q.answer(base, contentType) })
			}
			client.MaxBody = cmp.Or(client.MaxBody, maxSitemap)
			out := bufio.NewWriter(terminal(os.Stdout))
			tell := tellEntry(out)
			if asJSON {
				tell = tellEntryJSON(out)
			}
			err := client.printSitemap(args[0], sitemap.Document{ContentType: contentType}, base, redirects, tell)
			if failed := out.Flush(); failed != nil {
				return standardOutput(failed)
			}
			return err
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is told", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as JSON, with the date read and the priority (default as text)")
		f.BoolVar(&jsonl, "jsonl", false, "read sitemaps, one a line, and answer each with a line (default not)")
		flag(f, &contentType, "content-type", "", "TYPE", "", some("a TYPE such as application/xml; charset=utf-8"), "of the sitemap; only its charset counts (default the one it comes with)")
		flag(f, &base, "base", "", "URL", "", some("a URL such as https://example.org/sitemap.xml"), "that relative URLs are resolved against (default the sitemap's own; of a file none)")
		flag(f, &redirects, "max-redirects", "", "N", "10", number(0), "redirects followed")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	client.register(g)
	cmd.Flags().Lookup("max-body").DefValue = "50MiB"
	g.help()
	return cmd
}

// printSitemap tells the entries of the sitemap at an address, or in a file. The content type
// of d and the base count for the sitemap's own, if they are not empty.
func (c *clientFlags) printSitemap(address string, d sitemap.Document, base string, redirects int, tell func(sitemap.Entry) error) (err error) {
	if base != "" {
		if d.Base, err = weft.ParseSeed(base); err != nil {
			return usage("--base: %w", err)
		}
	}
	scheme, _, _ := strings.Cut(strings.ToLower(address), "://")
	if scheme == "http" || scheme == "https" {
		u, err := c.begin(address)
		if err != nil {
			return err
		}
		if u.RequestTarget() == "/" {
			named, err := c.namedSitemaps(&u, redirects)
			for _, s := range named {
				if err := tell(sitemap.Entry{URL: s, Kind: sitemap.Sitemap, Priority: sitemap.DefaultPriority}); err != nil {
					return standardOutput(err)
				}
			}
			if err != nil || len(named) > 0 {
				return err
			}
		}
		last, err := c.get("GET", u, redirects, func(fetched) error { return nil })
		switch {
		case err != nil:
			return err
		case last.Status < 200 || last.Status > 299:
			return &exit{exitError, fmt.Errorf("%s: status %d, expected 2xx", last.URL, last.Status)}
		}
		if d.Base.IsZero() {
			if d.Base, err = weburl.Parse(last.URL); err != nil {
				return err
			}
		}
		d.ContentType, d.Body = cmp.Or(d.ContentType, last.contentType), last.body
	} else if d.Body, err = c.file("sitemap", address); err != nil {
		return err
	}
	r := sitemap.Read(d, sitemap.Options{}, func(e sitemap.Entry) bool {
		err = tell(e)
		return err == nil
	})
	switch {
	case err != nil:
		return standardOutput(err)
	case r.Err != nil:
		return &exit{exitError, fmt.Errorf("%.128s: %w", address, r.Err)}
	}
	return nil
}

// namedSitemaps are those that the robots.txt of a site names. If there are none, u becomes
// where a sitemap may be all the same.
func (c *clientFlags) namedSitemaps(u *weburl.URL, redirects int) (named []weburl.URL, err error) {
	at, err := u.Resolve("/robots.txt")
	if err != nil {
		return nil, err
	}
	last, err := c.get("GET", at, redirects, func(fetched) error { return nil })
	if err != nil {
		return nil, err
	}
	if robots.For(last.Status) == robots.Read {
		file := robots.Parse(last.body)
		for _, s := range file.Sitemaps() {
			if to, err := at.Resolve(s); err == nil && to.IsHTTP() {
				named = append(named, to)
			}
		}
		if file.SitemapsCut() {
			return named, &exit{exitError, fmt.Errorf("%s: more than %d sitemaps, the others are not told", at, robots.MaxSitemaps)}
		}
	}
	*u, err = u.Resolve("/sitemap.xml")
	return named, err
}

// tellEntry prints URL, date and kind of an entry, with tabs between.
func tellEntry(w io.Writer) func(sitemap.Entry) error {
	return func(e sitemap.Entry) error {
		_, err := fmt.Fprintf(w, "%s\t%s\t%s\n", e.URL, printable(cmp.Or(e.LastMod, "-")), e.Kind)
		return err
	}
}

func tellEntryJSON(w io.Writer) func(sitemap.Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e sitemap.Entry) error {
		return enc.Encode(struct {
			URL      string  `json:"url"`
			Kind     string  `json:"kind"`
			LastMod  string  `json:"lastmod,omitempty"`
			Time     string  `json:"time,omitempty"` // RFC 3339
			Priority float32 `json:"priority"`
		}{e.URL.String(), e.Kind.String(), e.LastMod, timeOf(e), e.Priority})
	}
}

// timeOf is when an entry was last changed, as in RFC 3339; "" if that is not known.
func timeOf(e sitemap.Entry) string {
	if e.Modified.IsZero() {
		return ""
	}
	return e.Modified.Format(time.RFC3339Nano)
}

// A sitemapQuestion is a line of --jsonl.
type sitemapQuestion struct {
	Body        *string `json:"body_b64"`
	Base        *string `json:"base"`
	ContentType *string `json:"content_type"`
}

type sitemapAnswer struct {
	Type       string         `json:"type"`
	URLs       []sitemapEntry `json:"urls"`
	Sitemaps   []string       `json:"sitemaps"`
	Alternates []string       `json:"alternates"`
	Error      *string        `json:"error"` // by what URLs are lost
}

type sitemapEntry struct {
	Loc      string  `json:"loc"`
	LastMod  *string `json:"lastmod"` // as written
	Time     *string `json:"time"`    // RFC 3339
	Priority float32 `json:"priority"`
}

// answer answers a question; base and contentType are of one that does not say its own.
func (q sitemapQuestion) answer(base, contentType string) (any, error) {
	if q.Base != nil {
		base = *q.Base
	}
	if q.ContentType != nil {
		contentType = *q.ContentType
	}
	d := sitemap.Document{ContentType: contentType}
	var err error
	if base != "" {
		if d.Base, err = weburl.Parse(base); err != nil {
			return nil, refuse("base", "base: %v", err)
		}
	}
	if d.Body, err = fromBase64("body_b64", q.Body); err != nil {
		return nil, err
	}
	answer := sitemapAnswer{URLs: []sitemapEntry{}, Sitemaps: []string{}, Alternates: []string{}}
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	r := sitemap.Read(d, sitemap.Options{}, func(e sitemap.Entry) bool {
		switch e.Kind {
		case sitemap.Sitemap:
			answer.Sitemaps = append(answer.Sitemaps, e.URL.String())
		case sitemap.Alternate:
			answer.Alternates = append(answer.Alternates, e.URL.String())
		default:
			answer.URLs = append(answer.URLs, sitemapEntry{e.URL.String(), orNull(e.LastMod), orNull(timeOf(e)), e.Priority})
		}
		return true
	})
	answer.Type = r.Type.String()
	if r.Err != nil {
		answer.Error = orNull(r.Err.Error())
	}
	return answer, nil
}
