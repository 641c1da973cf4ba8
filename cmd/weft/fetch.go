package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/sniff"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
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
  weft fetch -d 'q=red+shoes' https://example.org/search`,
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
		{name: "follow", Value: on(&f.follow), help: "follow redirects"},
		redirectsOption(&f.redirects, "follow at most N redirects, with --follow"),
	}}, {"POST", []option{
		{name: "post-data", short: "d", arg: "DATA", Value: appended(&f.post.data, postData), secret: true,
			help: "send DATA, or @FILE, by POST; repeatable",
			more: "DATA is that of a form, such as 'q=red+shoes&page=1', unless --post-type says otherwise. " +
				"Several are joined by &."},
		{name: "post-form", arg: "NAME=VALUE", Value: appended(&f.post.parts, postPart), secret: true, advanced: true,
			help: "send a form with files by POST; repeatable",
			more: "NAME=VALUE is a field, NAME=@FILE a file. All make one request, of type multipart/form-data."},
		f.post.typeOption(),
	}}}, f.client.groups("16MiB")...)...)
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
	case f.asJSON && f.output == "-":
		return usage("--json and --output -: expected one of them: both write to standard output")
	case !f.follow:
		f.redirects = -1
	}
	return nil
}

func (f *fetchFlags) run(address string) error {
	u, err := f.client.seed(address)
	if err != nil {
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
	ask := httpclient.Request{Method: "GET"}
	switch {
	case f.head:
		ask.Method = "HEAD"
	case f.post.any():
		ask = f.post.request()
	}
	last, err := f.client.get(ask, u, f.redirects, report)
	if err != nil || f.output == "" {
		return err
	}
	return writeOutput(context.Background(), f.output, func(_ context.Context, w io.Writer) error {
		_, err := w.Write(last.body)
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

	body        []byte
	proto       string // as in a status line
	contentType string // as the body is read
}

// get fetches u, and follows at most redirects redirects; negative: none, and that is no
// error. It reports each request. Its error carries the exit code.
func (c *clientFlags) get(
	ask httpclient.Request, u weburl.URL, redirects int, report func(fetched) error,
) (last fetched, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	options, err := c.client()
	if err != nil {
		return last, err
	}
	follow := redirects >= 0
	u = c.settled(u)
	reach := reach{given: u, guard: guard.Guard{AllowAll: c.allowPrivate}}
	options.Trusted = reach.trusted
	err = aio.Run(ctx, func(t *aio.Task) error {
		options.Resolver = dns.New(t.Loop(), dns.Options{Servers: c.servers})
		client := httpclient.NewClient(t.Loop(), options)
		defer client.Close()
		for {
			var next weburl.URL
			last, next = fetchOne(t, client, c.request(ask, u, &reach), u, &reach, follow)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if plain, ok := c.instead(u, &last); ok {
				if err := report(last); err != nil {
					return standardOutput(err)
				}
				u = plain
				continue
			}
			if !next.IsZero() && redirects == 0 {
				last.ErrorKind, last.Error = weft.KindRedirects, "more redirects than --max-redirects"
			}
			if err := report(last); err != nil {
				return standardOutput(err)
			}
			if last.ErrorKind != "" {
				return errors.New(advised(last.URL + ": " + last.ErrorKind + ": " + last.Error))
			}
			if next.IsZero() {
				return nil
			}
			if ask.Method == "POST" && last.Status != 307 && last.Status != 308 {
				ask = httpclient.Request{Method: "GET"} // https://fetch.spec.whatwg.org/#http-redirect-fetch
			}
			reach.redirect(u, next)
			u, redirects = next, redirects-1
		}
	})
	var e *exit
	switch {
	case ctx.Err() != nil:
		return last, &exit{exitInterrupted, nil}
	case err != nil && !errors.As(err, &e):
		return last, &exit{exitError, err}
	}
	return last, err
}

// fetchOne sends one request. Next is the target of its redirect, if follow is set.
func fetchOne(
	t *aio.Task, client *httpclient.Client, req httpclient.Request, u weburl.URL,
	reach *reach, follow bool,
) (f fetched, next weburl.URL) {
	res, err := client.Do(t, req)
	f = fetched{Method: req.Method, URL: u.String()}
	var e *httpclient.Error
	if errors.As(err, &e) {
		f.ErrorKind, f.Error, f.Bytes = string(e.Kind), e.Err.Error(), e.Wire
		f.at(e.Addr, e.Timing)
	}
	if res == nil {
		return f, next
	}
	defer res.Close()
	reach.answered(u, res.Addr, res.Private)
	f.Status, f.proto, f.Encoding, f.Bytes = res.Status, res.Proto, res.Encoding, res.Wire
	f.Protocol, f.TLS = res.Protocol(), res.Secured()
	f.body, f.BodyBytes = slices.Clone(res.Body), len(res.Body)
	r := weft.Record{ContentType: res.Header.Get("Content-Type")}
	r.SniffedType = sniff.Type(r.ContentType, res.Header.Get("X-Content-Type-Options"), res.Body)
	f.contentType = r.Type()
	f.at(res.Addr, res.Timing)
	for _, field := range res.Header {
		f.Header = append(f.Header, [2]string{field.Name, field.Value})
	}
	location := res.Header.Get("Location")
	if f.Error != "" || !record.IsRedirect(res.Status) || location == "" {
		return f, next
	}
	to, err := u.Resolve(weburl.EscapeInvalid(location))
	switch {
	case err == nil:
		f.Redirect = to.String()
	case follow:
		f.ErrorKind, f.Error = weft.KindLocation, err.Error()
	}
	if follow && err == nil {
		if !to.IsHTTP() {
			f.ErrorKind = weft.KindLocation
			f.Error = fmt.Sprintf("scheme %.20q, expected http or https", to.Scheme())
			return f, next
		}
		if guard.BlocksPort(to.EffectivePort()) && to.Host() != u.Host() {
			f.ErrorKind = weft.KindLocation
			f.Error = fmt.Sprintf("port %d, which is blocked, as in browsers", to.EffectivePort())
			return f, next
		}
		next = to
	}
	return f, next
}

func (f *fetched) at(addr netip.AddrPort, t httpclient.Timing) {
	if addr.IsValid() {
		f.Addr = addr.String()
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	f.DNS, f.Connect, f.Handshake = ms(t.DNS), ms(t.Connect), ms(t.TLS)
	f.FirstByte, f.Total = ms(t.FirstByte), ms(t.Total)
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

// noReport reports no request.
func noReport(fetched) error { return nil }

// String is the head of the response and the facts about it. The caller of get prints the
// error.
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
