package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

// fetchFlags are the options of weft fetch.
type fetchFlags struct {
	client               clientFlags
	post                 postFlags
	asJSON, follow, head bool
	output               string
	redirects            int
}

func fetchCommand() *cobra.Command {
	f := fetchFlags{redirects: 10}
	cmd := &cobra.Command{
		Use:     "fetch [flags] URL",
		Short:   "Fetch one URL and show the response",
		GroupID: sectionURL,
		Long: `Send one request and print the response's status, header and timing, or the
error. robots.txt is not read.`,
		Annotations: detailed(`
Exit status: 0 a complete and valid response, whatever its status; 1 an error;
3 usage error; 5 interrupted.`),
		Example: `  weft fetch https://example.org/
  weft fetch -I https://example.org/big.iso
  weft fetch -H 'If-None-Match: "65a1-10"' https://example.org/
  weft fetch --follow -o page.html http://example.org/
  weft fetch -d 'q=red+shoes' https://example.org/search
  weft fetch --screenshot=full -o page.png https://example.org/`,
		Args:              arguments(1, 1, "URL", "one such as https://example.org/"),
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed("max-redirects")); err != nil {
				return err
			}
			return f.run(args[0])
		},
	}
	define(cmd, append([]group{{"Output", []option{
		jsonOption(&f.asJSON, "print JSON, one line per request"),
		{name: "head", short: "I", Value: on(&f.head), help: "send HEAD instead of GET"},
		{name: "output", short: "o", arg: "FILE",
			Value: to(&f.output, some("a FILE, or - for standard output")),
			help:  "write the decoded body to FILE (-: stdout)"},
		{name: "screenshot", arg: "WHICH", bare: string(weft.ScreenshotViewport), words: []string{"viewport", "full"},
			Value: to(&f.client.render.Screenshot, oneOf(weft.ScreenshotViewport, weft.ScreenshotFull)),
			help:  "write a picture of the page to --output: PNG",
			more:  "viewport, as without WHICH: its first 1280 x 800 pixels; full: all of it, to 16,384 pixels. " + rendersAlways},
		{name: "pdf", Value: on(&f.client.render.PDF), help: "write the page to --output as PDF", more: "At most 200 pages. " + rendersAlways},
		{name: "follow", Value: on(&f.follow), help: "follow redirects"},
		redirectsOption(&f.redirects, "at most N redirects, with --follow"),
	}}, {"POST", []option{
		{name: "post-data", short: "d", arg: "DATA", Value: appended(&f.post.data, postData), secret: true,
			help: "send DATA, or @FILE, by POST; repeatable",
			more: "DATA is that of a form, such as 'q=red+shoes&page=1', unless --post-type says otherwise. " +
				"Several are joined by &."},
		{name: "post-form", arg: "NAME=VALUE", Value: appended(&f.post.parts, postPart), secret: true, advanced: true,
			help: "send a form with files by POST; repeatable",
			more: "NAME=VALUE is a field, NAME=@FILE a file. All make one request, of type multipart/form-data."},
		f.post.typeOption(),
	}}, f.client.renderOptions()}, f.client.groups("16MiB")...)...)
	return cmd
}

// redirectsOption is --max-redirects of a command that fetches one URL.
func redirectsOption(n *int, help string) option {
	return option{name: "max-redirects", arg: "N", Value: to(n, number(0)), help: help, def: "10"}
}

// check refuses flags that exclude each other.
func (f *fetchFlags) check(redirectsGiven bool) error {
	switch {
	case !f.follow && redirectsGiven:
		return usage("--max-redirects: expected together with --follow")
	case f.head && f.output != "":
		return usage("--head and --output: expected one of them: a HEAD response has no body")
	case f.head && f.post.any():
		return usage("--head and POST: expected one of them")
	case len(f.post.data) > 0 && len(f.post.parts) > 0:
		return usage("--post-data and --post-form: expected one of them: one request is sent")
	case f.post.contentType != "" && len(f.post.data) == 0:
		return misused("post-type", f.post.contentType, errors.New("expected together with --post-data"))
	case f.client.render.Screenshot != "" && f.client.render.PDF:
		return usage("--screenshot and --pdf: expected one of them")
	case f.takes() != "" && f.output == "":
		return usage("--%s: expected together with --output FILE", f.takes())
	case f.takes() != "" && (f.head || f.post.any()):
		return usage("--%s: expected a GET request", f.takes())
	case f.asJSON && f.output == "-":
		return usage("--json and --output -: expected one of them: both write to standard output")
	}
	return nil
}

// takes returns the flag of the picture that is taken, or "".
func (f *fetchFlags) takes() string {
	switch {
	case f.client.render.Screenshot != "":
		return "screenshot"
	case f.client.render.PDF:
		return "pdf"
	}
	return ""
}

// written returns what is written of the last response.
func (f *fetchFlags) written(p *weft.Page) ([]byte, error) {
	picture := f.takes()
	switch r := p.Rendered; {
	case picture == "" && r == nil:
		return p.Body, nil
	case picture == "":
		return r.HTML, nil
	case r == nil:
		return nil, &exit{exitError, fmt.Errorf("%s: --%s: status %d and content type %.64q, expected a page of HTML", printable(p.URL), picture, p.Status, p.Type())}
	case r.Missing != "":
		return nil, &exit{exitError, fmt.Errorf("%s: --%s: %s", printable(p.URL), picture, printable(r.Missing))}
	default:
		return append(r.Screenshot, r.PDF...), nil
	}
}

func (f *fetchFlags) run(address string) error {
	if _, err := readSeed(address); err != nil {
		return err
	}
	if f.output != "" && f.output != "-" {
		if err := mayWrite(f.output); err != nil {
			return err
		}
	}
	report := reportText(terminal(os.Stdout))
	switch {
	case f.asJSON:
		report = reportJSON(terminal(os.Stdout))
	case f.output == "-":
		report = reportText(os.Stderr)
	}
	var last *weft.Page
	err := f.client.send(f.redirects, func(ctx context.Context, o weft.FetchOptions) (err error) {
		o.Head, o.Post, o.NoRedirects = f.head, f.post.joined(), !f.follow
		o.OnExchange = func(p *weft.Page) error {
			inFlags(p)
			return standardOutput(report(fetchedOf(p)))
		}
		last, err = weft.Fetch(ctx, address, o)
		return err
	})
	if err == nil && last.Status == http.StatusUnauthorized && !f.asJSON {
		fmt.Fprintf(os.Stderr, "weft: %s: status 401: %s\n", printable(last.URL), logsIn)
	}
	if err = cmp.Or(err, f.client.inTime(last)); err != nil || f.output == "" {
		return err
	}
	body, err := f.written(last)
	if err != nil {
		return err
	}
	return writeOutput(context.Background(), f.output, func(_ context.Context, w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
}

// fetched is one request and its outcome. Times are in milliseconds.
type fetched struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`
	Status   int         `json:"status,omitempty"`   // absent without a response
	Protocol string      `json:"protocol,omitempty"` // by its name in ALPN: h2, http/1.1
	Header   [][2]string `json:"header,omitempty"`
	Redirect string      `json:"redirect,omitempty"`
	Error    string      `json:"error,omitempty"`
	// ErrorKind is one of package httpclient, weft.KindRedirects or weft.KindLocation.
	ErrorKind string  `json:"error_kind,omitempty"`
	Addr      string  `json:"addr,omitempty"`
	TLS       string  `json:"tls,omitempty"`
	Encoding  string  `json:"encoding,omitempty"` // the Content-Encoding that was decoded
	Bytes     int64   `json:"bytes"`              // of the response, as received
	BodyBytes int     `json:"body_bytes"`         // decoded
	DNS       float64 `json:"dns_ms"`
	Connect   float64 `json:"connect_ms"`
	Handshake float64 `json:"tls_ms"`
	FirstByte float64 `json:"ttfb_ms"`
	Total     float64 `json:"total_ms"`

	proto string // as in a status line
}

func fetchedOf(p *weft.Page) fetched {
	f := fetched{
		Method: cmp.Or(p.Method, http.MethodGet), URL: p.URL, Status: p.Status, Protocol: p.Protocol,
		Redirect: p.Redirect, Error: p.Error, ErrorKind: p.ErrorKind, TLS: p.TLS, Encoding: p.Encoding,
		Bytes: p.Bytes, BodyBytes: p.BodyBytes,
		DNS: p.DNSMS, Connect: p.ConnectMS, Handshake: p.TLSMS, FirstByte: p.TTFBMS, Total: p.TotalMS,
		proto: strings.ToUpper(p.Protocol),
	}
	if p.Protocol == "h2" {
		f.proto = "HTTP/2"
	}
	if p.Addr.IsValid() {
		f.Addr = p.Addr.String()
	}
	for _, field := range p.Header {
		f.Header = append(f.Header, [2]string{field.Name, field.Value})
	}
	return f
}

func reportJSON(w io.Writer) func(fetched) error {
	enc := newEncoder(w)
	return func(f fetched) error { return enc.Encode(f) }
}

func reportText(w io.Writer) func(fetched) error {
	return func(f fetched) error {
		_, err := io.WriteString(w, f.String())
		return err
	}
}

// String is the head of the response and the facts about it, without the error.
func (f fetched) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", f.Method, f.URL)
	if f.Status != 0 {
		fmt.Fprintf(&b, "%s %d\n", f.proto, f.Status)
		for _, field := range f.Header {
			fmt.Fprintln(&b, printable(field[0]+": "+field[1]))
		}
		fmt.Fprintln(&b)
	}
	out := &sheet{Writer: &b, width: 9}
	out.some("from", f.Addr)
	out.some("tls", f.TLS)
	out.some("redirect", f.Redirect)
	out.line("received", "%s", plural(int(f.Bytes), "byte"))
	if f.Error == "" && f.Method != "HEAD" {
		out.line("body", "%s", plural(f.BodyBytes, "byte"))
	}
	out.some("encoding", f.Encoding)
	out.line("times", "name %.1f ms, connection %.1f ms, TLS %.1f ms, first byte %.1f ms, total %.1f ms",
		f.DNS, f.Connect, f.Handshake, f.FirstByte, f.Total)
	fmt.Fprintln(&b)
	return b.String()
}
