package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/weburl"
)

func fetchCommand() *cobra.Command {
	var client clientFlags
	var asJSON, follow, head bool
	var path string
	redirects := 10
	cmd := &cobra.Command{
		Use:   "fetch [flags] URL",
		Short: "Fetch one URL, and tell all about it",
		Long: `Fetch sends one request and prints what came: status, header, times, or what
went wrong. Robots.txt is not asked for.

Exit status: 0 a whole and valid answer came, whatever its status; 1 none did;
3 wrong usage; 5 interrupted.`,
		Example: `  weft fetch https://example.org/
  weft fetch -I https://example.org/big.iso
  weft fetch -H 'If-None-Match: "65a1-10"' https://example.org/
  weft fetch --follow -o page.html http://example.org/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("fetch: %s given, expected one such as https://example.org/", plural(len(args), "URL"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := client.begin(args[0])
			if err != nil {
				return err
			}
			switch {
			case !follow && cmd.Flags().Changed("max-redirects"):
				return usage("--max-redirects: expected --follow beside it")
			case head && path != "":
				return usage("--head and --output: expected one of them, a head has no body")
			case asJSON && path == "-":
				return usage("--json and --output -: expected one of them, both go to standard output")
			case !follow:
				redirects = -1
			}
			out, err := openOutput(path)
			if err != nil {
				return err
			}
			tell := tellText(terminal(os.Stdout))
			switch {
			case asJSON:
				tell = tellJSON(terminal(os.Stdout))
			case path == "-":
				tell = tellText(os.Stderr)
			}
			method := "GET"
			if head {
				method = "HEAD"
			}
			last, err := client.get(method, u, redirects, tell)
			if err != nil || out.Writer == nil {
				out.discard()
				return err
			}
			err = out.begin(false)
			if err == nil {
				_, err = out.Write(last.body)
			}
			if err = errors.Join(err, out.close()); err != nil {
				return &exit{exitError, fmt.Errorf("--output %.128q: %w", path, reason(err))}
			}
			return nil
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is told", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as JSON, a line for each request (default text)")
		f.BoolVarP(&head, "head", "I", false, "ask for the head alone, by HEAD (default by GET)")
		flag(f, &path, "output", "o", "FILE", "", some("a FILE, or - for standard output"), "for the decoded body; - is standard output (default it is not kept)")
		f.BoolVar(&follow, "follow", false, "follow redirects (default not)")
		flag(f, &redirects, "max-redirects", "", "N", "10", number(0), "redirects followed, with --follow")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	client.register(g)
	g.help()
	return cmd
}

// fetched is one request and what came of it. Times are in milliseconds.
type fetched struct {
	Method    string      `json:"method"`
	URL       string      `json:"url"`
	Status    int         `json:"status,omitempty"` // absent if no head came
	Proto     string      `json:"proto,omitempty"`
	Header    [][2]string `json:"header,omitempty"`
	Redirect  string      `json:"redirect,omitempty"`
	Error     string      `json:"error,omitempty"`
	ErrorKind string      `json:"error_kind,omitempty"` // of package http1, or "redirects": one too many, "location": it leads nowhere
	Addr      string      `json:"addr,omitempty"`
	TLS       string      `json:"tls,omitempty"`
	Encoding  string      `json:"encoding,omitempty"` // that was decoded
	Bytes     int64       `json:"bytes"`              // of the answer, as received
	BodyBytes int         `json:"body_bytes"`         // decoded
	DNS       float64     `json:"dns_ms"`
	Connect   float64     `json:"connect_ms"`
	Handshake float64     `json:"tls_ms"`
	FirstByte float64     `json:"ttfb_ms"`
	Total     float64     `json:"total_ms"`

	body        []byte
	contentType string
}

// get asks for u by a method, and for what it redirects to, a number of times
// (negative: never, and that is no error). It tells of each request. An error carries
// its exit code.
func (c *clientFlags) get(method string, u weburl.URL, redirects int, tell func(fetched) error) (last fetched, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	options, err := c.client()
	if err != nil {
		return last, err
	}
	follow := redirects >= 0
	reach := reach{given: u, guard: guard.Guard{AllowAll: c.allowPrivate}}
	err = aio.Run(ctx, func(t *aio.Task) error {
		options.Resolver = dns.New(t.Loop(), dns.Options{Servers: c.servers})
		client := http1.NewClient(t.Loop(), options)
		defer client.Close()
		for {
			var next weburl.URL
			last, next = one(t, client, method, u, reach.allow(u), follow)
			if !next.IsZero() && redirects == 0 {
				last.ErrorKind, last.Error = "redirects", "one more than --max-redirects"
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := tell(last); err != nil {
				return fmt.Errorf("standard output: %w", err)
			}
			if last.ErrorKind != "" {
				return fmt.Errorf("%s: %s: %s", last.URL, last.ErrorKind, last.Error)
			}
			if next.IsZero() {
				return nil
			}
			reach.redirect(u, next)
			u, redirects = next, redirects-1
		}
	})
	switch {
	case ctx.Err() != nil:
		return last, &exit{exitInterrupted, nil}
	case err != nil:
		return last, &exit{exitError, err}
	}
	return last, nil
}

// one sends one request. Next is where it redirects to, if that is to be followed.
func one(t *aio.Task, client *http1.Client, method string, u weburl.URL, allow func(netip.AddrPort) error, follow bool) (f fetched, next weburl.URL) {
	res, err := client.Do(t, http1.Request{Method: method, Scheme: u.Scheme(), Host: u.Host(), Target: u.RequestTarget(), Allow: allow})
	f = fetched{Method: method, URL: u.String()}
	var e *http1.Error
	if errors.As(err, &e) {
		f.ErrorKind, f.Error, f.Bytes = string(e.Kind), e.Err.Error(), e.Wire
		f.at(e.Addr, e.Timing)
	}
	if res == nil {
		return f, next
	}
	defer res.Close()
	f.Status, f.Proto, f.Encoding, f.Bytes = res.Status, res.Proto, res.Encoding, res.Wire
	f.body, f.BodyBytes = slices.Clone(res.Body), len(res.Body)
	f.contentType = res.Header.Get("Content-Type")
	f.at(res.Addr, res.Timing)
	for _, field := range res.Header {
		f.Header = append(f.Header, [2]string{field.Name, field.Value})
	}
	if res.TLS != nil {
		f.TLS = tls.VersionName(res.TLS.Version) + ", " + tls.CipherSuiteName(res.TLS.CipherSuite)
	}
	location := res.Header.Get("Location")
	if f.Error != "" || res.Status < 300 || res.Status >= 400 || location == "" {
		return f, next
	}
	to, err := u.Resolve(location)
	switch {
	case err == nil:
		f.Redirect = to.String()
	case follow:
		f.ErrorKind, f.Error = "location", err.Error()
	}
	if follow && err == nil {
		if !to.IsHTTP() {
			f.ErrorKind, f.Error = "location", fmt.Sprintf("scheme %.20q, expected http or https", to.Scheme())
			return f, next
		}
		next = to
	}
	return f, next
}

func (f *fetched) at(addr netip.AddrPort, t http1.Timing) {
	if addr.IsValid() {
		f.Addr = addr.String()
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	f.DNS, f.Connect, f.Handshake, f.FirstByte, f.Total = ms(t.DNS), ms(t.Connect), ms(t.TLS), ms(t.FirstByte), ms(t.Total)
}

func tellJSON(w io.Writer) func(fetched) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(f fetched) error { return enc.Encode(f) }
}

func tellText(w io.Writer) func(fetched) error {
	return func(f fetched) error {
		_, err := io.WriteString(w, f.String())
		return err
	}
}

// String is an answer's head and what else there is to tell, for people. An error is
// told by whoever called get.
func (f fetched) String() string {
	s := f.Method + " " + f.URL + "\n"
	if f.Status != 0 {
		s += fmt.Sprintf("%s %d\n", f.Proto, f.Status)
		for _, field := range f.Header {
			s += printable(field[0]+": "+field[1]) + "\n"
		}
		s += "\n"
	}
	line := func(title, text string) {
		if text != "" {
			s += fmt.Sprintf("  %-9s %s\n", title, printable(text))
		}
	}
	line("from", f.Addr)
	line("tls", f.TLS)
	line("redirect", f.Redirect)
	line("received", plural(int(f.Bytes), "byte"))
	if f.Error == "" && f.Method != "HEAD" {
		line("body", plural(f.BodyBytes, "byte"))
	}
	line("encoding", f.Encoding)
	line("times", fmt.Sprintf("name %.1f ms, connection %.1f ms, TLS %.1f ms, first byte %.1f ms, in all %.1f ms",
		f.DNS, f.Connect, f.Handshake, f.FirstByte, f.Total))
	return s + "\n"
}
