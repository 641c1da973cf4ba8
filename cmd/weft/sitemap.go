package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/sitemap"
	"github.com/weftcrawl/weft/weburl"
)

// maxSitemap is the largest sitemap that the protocol allows, in bytes.
const maxSitemap = 50 << 20

// sitemapFlags are the options of weft sitemap.
type sitemapFlags struct {
	client            clientFlags
	asJSON, jsonl     bool
	base, contentType string
	redirects, limit  int
}

func sitemapCommand() *cobra.Command {
	f := sitemapFlags{redirects: 10}
	cmd := &cobra.Command{
		Use:     "sitemap [flags] FILE|URL",
		Short:   "List the URLs in a sitemap",
		GroupID: sectionURL,
		Long: `Read a sitemap from a file, standard input (-) or the Web and print its URLs,
one per line: URL, last change (- if unknown) and kind, separated by tabs. The
kind is page, sitemap (of an index, not read) or alternate (in another
language). For the URL of a whole site, print the sitemaps that robots.txt
names, or else read /sitemap.xml.`,
		Annotations: detailed(`
A sitemap is XML, text, RSS or Atom, with or without gzip. Redirects are
followed. A broken sitemap is read as far as possible; it is an error if that
loses URLs.

With --jsonl, FILE (default: standard input) holds one sitemap per line:

  {"body_b64": BASE64, "content_type": TYPE, "base": URL, "id": ANY}

Only the first member is required. Each line is answered with one line:

  {"id", "type", "urls": [{"loc", "lastmod", "time", "priority"}], "sitemaps",
   "alternates", "error"}
  or {"id", "error", "kind"}

The type is urlset, index, text, rss, atom or unknown; lastmod is as written or
null, time the same in RFC 3339 or null; error says what lost URLs, or is null.

Exit status: 0 done; 1 the sitemap could not be fetched, has a status other
than 2xx, is not a sitemap or is broken, after the URLs found are printed; 3
usage error; 5 interrupted.`),
		Example: `  weft sitemap https://example.org/
  weft sitemap https://example.org/sitemap.xml.gz | cut -f 1
  weft sitemap --json sitemap.xml | jq -r 'select(.priority > 0.5) | .url'
  weft sitemap --jsonl < sitemaps.jsonl`,
		Args: orJSONL(&f.jsonl, "sitemap", arguments(1, 1, "sitemap", "one FILE or URL")),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, append([]group{{"Output", []option{
		limitOption(&f.limit, "URLs"),
		jsonOption(&f.asJSON, "print JSON, with the parsed date and the priority"),
		jsonlOption(&f.jsonl),
		{name: "content-type", arg: "TYPE",
			Value: to(&f.contentType, some("a TYPE such as application/xml; charset=utf-8")),
			help:  "read the sitemap with the charset of TYPE", more: "Default: the type it comes with."},
		{name: "base", arg: "URL",
			Value: to(&f.base, some("a URL such as https://example.org/sitemap.xml")),
			help:  "resolve relative URLs against URL",
			more:  "Default: the sitemap's own URL; for a file, none."},
		redirectsOption(&f.redirects, "follow at most N redirects"),
	}}}, f.client.groups("50MiB")...)...)
	return cmd
}

func (f *sitemapFlags) run(args []string) error {
	if f.jsonl {
		return answerLines("sitemap", args, func(q sitemapQuestion) (any, error) {
			return q.answer(f.base, f.contentType)
		})
	}
	out := newPrinter()
	print := func(e sitemap.Entry) error { return printEntry(out, e) }
	if f.asJSON {
		print = func(e sitemap.Entry) error { return printEntryJSON(out, e) }
	}
	err := f.print(args[0], atMost(f.limit, print))
	if failed := out.Flush(); failed != nil {
		return standardOutput(failed)
	}
	return err
}

// print prints the entries of the sitemap at an address, or in a file.
func (f *sitemapFlags) print(address string, print func(sitemap.Entry) error) (err error) {
	d := sitemap.Document{ContentType: f.contentType}
	if f.base != "" {
		if d.Base, err = weft.ParseSeed(f.base); err != nil {
			return usage("--base: %w", err)
		}
	}
	if isRemote(address) {
		given, err := readSeed(address)
		if err != nil {
			return err
		}
		if given.URL.RequestTarget() == "/" {
			var found []weburl.URL
			named := false
			err := f.client.send(f.redirects, func(ctx context.Context, o weft.FetchOptions) (err error) {
				found, named, err = weft.FindSitemaps(ctx, address, o)
				return err
			})
			if named {
				for _, s := range found {
					e := sitemap.Entry{URL: s, Kind: sitemap.Sitemap, Priority: sitemap.DefaultPriority}
					if err := print(e); err != nil {
						return standardOutput(unlessEnough(err))
					}
				}
			}
			if err != nil || named {
				return err
			}
			address = found[0].String()
			if given.Credential != nil {
				f.client.Auth = append(f.client.Auth, *given.Credential)
			}
		}
	}
	s, err := f.client.readPage("sitemap", address, maxSitemap, f.redirects)
	if err != nil {
		return err
	}
	if d.Base.IsZero() {
		d.Base = s.url
	}
	d.ContentType, d.Body = cmp.Or(d.ContentType, s.contentType), s.body
	r := sitemap.Read(d, sitemap.Options{}, func(e sitemap.Entry) bool {
		err = print(e)
		return err == nil
	})
	switch {
	case err != nil:
		return standardOutput(unlessEnough(err))
	case r.Err != nil:
		return &exit{exitError, fmt.Errorf("%.128s: %w", address, r.Err)}
	}
	return nil
}

// printEntry prints URL, date and kind of an entry.
func printEntry(out *printer, e sitemap.Entry) error {
	_, err := fmt.Fprintf(out, "%s\t%s\t%s\n", e.URL, printable(cmp.Or(e.LastMod, "-")), e.Kind)
	return err
}

func printEntryJSON(out *printer, e sitemap.Entry) error {
	return out.json.Encode(struct {
		URL      string  `json:"url"`
		Kind     string  `json:"kind"`
		LastMod  string  `json:"lastmod,omitempty"`
		Time     string  `json:"time,omitempty"` // RFC 3339
		Priority float32 `json:"priority"`
	}{e.URL.String(), e.Kind.String(), e.LastMod, timeOf(e), e.Priority})
}

// timeOf returns the last change of an entry in RFC 3339; "" if unknown.
func timeOf(e sitemap.Entry) string {
	if e.Modified.IsZero() {
		return ""
	}
	return e.Modified.Format(time.RFC3339Nano)
}

// sitemapQuestion is a line of --jsonl.
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
	Error      *string        `json:"error"` // the fault that lost URLs
}

type sitemapEntry struct {
	Loc      string  `json:"loc"`
	LastMod  *string `json:"lastmod"` // as written
	Time     *string `json:"time"`    // RFC 3339
	Priority float32 `json:"priority"`
}

// answer answers a question; base and contentType hold where it has none of its own.
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
			answer.URLs = append(answer.URLs,
				sitemapEntry{e.URL.String(), orNull(e.LastMod), orNull(timeOf(e)), e.Priority})
		}
		return true
	})
	answer.Type = r.Type.String()
	if r.Err != nil {
		answer.Error = orNull(r.Err.Error())
	}
	return answer, nil
}
