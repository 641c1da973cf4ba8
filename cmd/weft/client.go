package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
)

// clientFlags are the options of every command that sends requests.
type clientFlags struct {
	weft.HTTP
	acceptCookies bool
	proxy         *proxyChoice // nil: the environment decides
	render        weft.Render  // of commands that read a page
	blocks        []blocked    // for render
}

// groups returns the options; maxBody is the default of --max-body, for the help.
func (c *clientFlags) groups(maxBody string) []group {
	return c.groupsOf(append(c.identityOptions(), c.cookieOptions()...), maxBody)
}

// groupsOf is groups with some options of requests.
func (c *clientFlags) groupsOf(ofRequests []option, maxBody string) []group {
	c.UserAgent = weft.DefaultUserAgent
	return []group{
		{"Request", append(ofRequests, c.credentialOptions()...)},
		{"Network", c.networkOptions()},
		{"Timeouts and sizes", c.timeoutOptions(maxBody)},
	}
}

func (c *clientFlags) identityOptions() []option {
	return []option{
		{name: "user-agent", short: "A", arg: "S", Value: to(&c.UserAgent, userAgent), field: "UserAgent",
			help: "send S as the User-Agent, to name the crawler",
			more: "robots.txt is matched by its first word. Default: " + weft.DefaultUserAgent + "."},
		{name: "header", short: "H", arg: "'K: V'", field: "Header",
			Value: appended((*[]httpclient.Field)(&c.Header), headerField),
			help:  "add a header field to every request; repeatable",
			more: "Authorization and Cookie are sent to the origins of the given URLs only, " +
				"Proxy-Authorization to an HTTP proxy only."},
	}
}

func (c *clientFlags) cookieOptions() []option {
	return []option{
		{name: "cookies", arg: "FILE", Value: to(&c.Cookies, cookieFile), field: "Cookies",
			help: "send the cookies in FILE (Netscape format)",
			more: "Sites may set further cookies, which are kept in memory."},
		{name: "accept-cookies", Value: on(&c.acceptCookies), advanced: true,
			help: "let sites set cookies, without a cookie file"},
		{name: "session", arg: "FILE", Value: to(&c.Session, openSession), field: "Session", advanced: true,
			help: "be logged in, as weft login left it in FILE",
			more: "A crawl follows no link that logs out then, and pauses when it is logged out."},
	}
}

func (c *clientFlags) credentialOptions() []option {
	return []option{
		{name: "auth", arg: "HOST=USER:PASSWORD", field: "Auth", secret: true, advanced: true,
			Value: appended(&c.Auth, basicCredential),
			help:  "log in to HOST[:PORT]; repeatable",
			more: "HOST stands for the scheme of the given URLs there; HOST may be https://HOST or " +
				"http://HOST. HOST=@FILE reads USER:PASSWORD from a file. Default: the credentials " +
				"in the given URLs."},
		{name: "bearer", arg: "HOST=TOKEN", Value: appended(&c.Auth, bearerCredential), secret: true,
			advanced: true, help: "send a bearer token to HOST, as with --auth; repeatable"},
		{name: "proxy", arg: "URL", Value: to(&c.proxy, proxyOrNone), field: "Proxy", secret: true,
			help: "send requests through an HTTP or SOCKS5 proxy",
			more: "http://[USER:PASSWORD@]HOST[:PORT], socks5://..., socks5h://... or none. " +
				"Default: $http_proxy, $https_proxy and $all_proxy, except for $no_proxy."},
		{name: "insecure", short: "k", Value: on(&c.Insecure), field: "Insecure",
			help: "accept invalid TLS certificates"},
		{name: "ca", arg: "FILE", Value: to(&c.RootCAs, authorities), field: "RootCAs", advanced: true,
			help: "trust the PEM certificates in FILE", def: "the system's"},
	}
}

func (c *clientFlags) networkOptions() []option {
	return []option{
		{name: "http1.1", caller: true, Value: on(&c.HTTP1), field: "HTTP1", advanced: true,
			help: "speak HTTP/1.1 only",
			more: "By default a server chooses between HTTP/2 and HTTP/1.1 over TLS, and without TLS gets " +
				"HTTP/1.1."},
		{name: "http2", Value: on(&c.HTTP2), field: "HTTP2", advanced: true,
			help: "speak HTTP/2 only, without TLS, too"},
		{name: "resolve", arg: "HOST:PORT:ADDR[:PORT]", field: "Resolve", advanced: true,
			Value: appended(&c.Resolve, httpclient.ParseOverride),
			help:  "connect to ADDR for HOST, or for * (any host); repeatable"},
		{name: "dns", arg: "ADDR[:PORT]", field: "DNS", advanced: true,
			Value: appended(&c.DNS, nameServer), def: "the system's",
			help: "ask this name server; repeatable",
			more: "The next server is asked where one fails."},
		{name: "allow-private", Value: on(&c.AllowPrivate), field: "AllowPrivate", advanced: true,
			help: "let pages lead to private addresses such as 10.0.0.1",
			more: "Always allowed where a given URL is at such an address. Behind a proxy, only " +
				"addresses that are part of a URL can be checked."},
	}
}

func (c *clientFlags) timeoutOptions(maxBody string) []option {
	return []option{
		{name: "timeout", caller: true, arg: "D", Value: to(&c.Timeout, duration), field: "Timeout", def: "30s",
			advanced: true, help: "give up a fetch after D"},
		{name: "connect-timeout", arg: "D", Value: to(&c.DialTimeout, duration), field: "DialTimeout",
			advanced: true, help: "limit name lookup and connecting to D", def: "10s"},
		{name: "tls-timeout", arg: "D", Value: to(&c.TLSTimeout, duration), field: "TLSTimeout",
			advanced: true, help: "limit the TLS handshake to D", def: "10s"},
		{name: "first-byte-timeout", arg: "D", field: "FirstByteTimeout", advanced: true,
			Value: to(&c.FirstByteTimeout, duration), def: "no limit",
			help: "limit the wait for a response's first byte to D"},
		{name: "idle-timeout", arg: "D", Value: to(&c.IdleTimeout, duration), field: "IdleTimeout",
			advanced: true, help: "limit the pause between two parts of a response to D", def: "15s"},
		{name: "min-rate", arg: "SIZE", Value: to(&c.MinRate, size), field: "MinRate", advanced: true,
			help: "give up responses slower than SIZE per second", def: "no limit",
			more: "The rate counts once 10 s have passed."},
		{name: "max-body", caller: true, arg: "SIZE", Value: to(&c.MaxBody, size), field: "MaxBody", advanced: true,
			help: "give up bodies larger than SIZE", def: maxBody,
			more: "The limit applies to the body as sent and as decoded."},
	}
}

// http returns the options of requests.
func (c *clientFlags) http() (weft.HTTP, error) {
	o := c.HTTP
	if o.HTTP1 && o.HTTP2 {
		return o, usage("--http1.1 and --http2: expected one of them")
	}
	if o.Cookies == nil && o.Session == nil && c.acceptCookies {
		o.Cookies = cookies.New()
	}
	if c.proxy != nil {
		o.Proxy = c.proxy.all
		return o, nil
	}
	var err error
	o.Proxy, err = environmentProxy()
	return o, err
}

// send calls f, which sends requests that follow at most redirects redirects. Its error carries the
// exit code.
func (c *clientFlags) send(redirects int, f func(context.Context, weft.FetchOptions) error) error {
	if err := c.readyToRender(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := weft.FetchOptions{
		Render:       c.render,
		MaxRedirects: cmp.Or(redirects, -1),
		OnExchange: func(p *weft.Page) error {
			inFlags(p)
			return nil
		},
		OnWarning: func(err error) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(err.Error())) },
	}
	var err error
	if o.HTTP, err = c.http(); err != nil {
		return err
	}
	err = f(ctx, o)
	var e *exit
	var failed *weft.FetchError
	switch {
	case ctx.Err() != nil:
		return &exit{exitInterrupted, nil}
	case err == nil || errors.As(err, &e):
		return err
	case errors.As(err, &failed):
		err = errors.New(advised(err.Error()))
	}
	return &exit{exitError, err}
}

// inFlags words the error of a request in flags.
func inFlags(p *weft.Page) {
	if p.ErrorKind == weft.KindRedirects {
		p.Error = "more redirects than --max-redirects"
	}
}

// readSeed reads the URL of a command that fetches one, with or without a scheme.
func readSeed(s string) (weft.Seed, error) {
	given, err := weft.ReadSeed(s)
	if err != nil {
		return given, &exit{exitUsage, err}
	}
	return given, nil
}
