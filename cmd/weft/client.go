package main

import (
	"fmt"
	"net/netip"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/weburl"
)

// clientFlags are the options of every command that sends requests.
type clientFlags struct {
	httpclient.Options
	servers       []netip.AddrPort // of names
	allowPrivate  bool
	acceptCookies bool
	proxy         *proxyChoice // nil: the environment decides
	given         weft.Seed    // the URL of a command that fetches one
	byHTTP        bool         // its scheme was a wrong guess
}

// groups returns the options; maxBody is the default of --max-body, for the help.
func (c *clientFlags) groups(maxBody string) []group {
	c.UserAgent = weft.DefaultUserAgent
	return []group{
		{"Request", append(c.requestOptions(), c.credentialOptions()...)},
		{"Network", c.networkOptions()},
		{"Timeouts and sizes", c.timeoutOptions(maxBody)},
	}
}

func (c *clientFlags) requestOptions() []option {
	return []option{
		{name: "user-agent", short: "A", arg: "S", Value: to(&c.UserAgent, userAgent), field: "UserAgent",
			help: "send S as the User-Agent, to name the crawler",
			more: "robots.txt is matched by its first word. Default: " + weft.DefaultUserAgent + "."},
		{name: "header", short: "H", arg: "'K: V'", field: "Header",
			Value: appended((*[]httpclient.Field)(&c.Header), headerField),
			help:  "add a header field to every request; repeatable",
			more: "Authorization and Cookie are sent to the origins of the given URLs only, " +
				"Proxy-Authorization to an HTTP proxy only."},
		{name: "cookies", arg: "FILE", Value: to(&c.Cookies, cookieFile), field: "Cookies",
			help: "send the cookies in FILE (Netscape format)",
			more: "Sites may set further cookies, which are kept in memory."},
		{name: "accept-cookies", Value: on(&c.acceptCookies), advanced: true,
			help: "let sites set cookies, without a cookie file"},
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
		{name: "http1.1", Value: on(&c.HTTP1), field: "HTTP1", advanced: true,
			help: "speak HTTP/1.1 only",
			more: "By default a server chooses between HTTP/2 and HTTP/1.1 over TLS, and without TLS gets " +
				"HTTP/1.1."},
		{name: "http2", Value: on(&c.HTTP2), field: "HTTP2", advanced: true,
			help: "speak HTTP/2 only, without TLS, too"},
		{name: "resolve", arg: "HOST:PORT:ADDR[:PORT]", field: "Resolve", advanced: true,
			Value: appended(&c.Resolve, httpclient.ParseOverride),
			help:  "connect to ADDR for HOST, or for * (any host); repeatable"},
		{name: "dns", arg: "ADDR[:PORT]", field: "DNS", advanced: true,
			Value: appended(&c.servers, nameServer), def: "the system's",
			help: "ask this name server; repeatable",
			more: "The next server is asked where one fails."},
		{name: "allow-private", Value: on(&c.allowPrivate), field: "AllowPrivate", advanced: true,
			help: "let pages lead to private addresses such as 10.0.0.1",
			more: "Always allowed where a given URL is at such an address. Behind a proxy, only " +
				"addresses that are part of a URL can be checked."},
	}
}

func (c *clientFlags) timeoutOptions(maxBody string) []option {
	return []option{
		{name: "timeout", arg: "D", Value: to(&c.Timeout, duration), field: "Timeout", def: "30s",
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
		{name: "max-body", arg: "SIZE", Value: to(&c.MaxBody, size), field: "MaxBody", advanced: true,
			help: "give up bodies larger than SIZE", def: maxBody,
			more: "The limit applies to the body as sent and as decoded."},
	}
}

// client returns the options of an HTTP client.
func (c *clientFlags) client() (httpclient.Options, error) {
	o := c.Options
	if o.HTTP1 && o.HTTP2 {
		return o, usage("--http1.1 and --http2: expected one of them")
	}
	if o.Cookies == nil && c.acceptCookies {
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

// configure copies the client's options to a crawl's.
func (c *clientFlags) configure(o *weft.Options) error {
	own, err := c.client()
	o.HTTP.Timeout, o.HTTP.DialTimeout, o.HTTP.TLSTimeout = own.Timeout, own.DialTimeout, own.TLSTimeout
	o.HTTP.FirstByteTimeout, o.HTTP.IdleTimeout, o.HTTP.MinRate = own.FirstByteTimeout, own.IdleTimeout, own.MinRate
	o.HTTP.MaxBody, o.HTTP.UserAgent, o.HTTP.Header = own.MaxBody, own.UserAgent, own.Header
	o.HTTP.Cookies, o.HTTP.Auth, o.HTTP.Proxy = own.Cookies, own.Auth, own.Proxy
	o.HTTP.HTTP1, o.HTTP.HTTP2 = own.HTTP1, own.HTTP2
	o.HTTP.Insecure, o.HTTP.RootCAs = own.Insecure, own.RootCAs
	o.HTTP.Resolve, o.HTTP.DNS, o.HTTP.AllowPrivate = own.Resolve, c.servers, c.allowPrivate
	return err
}

// seed reads the URL of a command that fetches one, with or without a scheme, and keeps the user
// and password in it for its origin.
func (c *clientFlags) seed(s string) (weburl.URL, error) {
	var err error
	if c.given, err = weft.ReadSeed(s); err != nil {
		return weburl.URL{}, &exit{exitUsage, err}
	}
	if own := c.given.Credential; own != nil {
		c.Auth = append(c.Auth, *own)
	}
	return c.given.URL, nil
}

// settled returns u by the scheme by which the given host has answered.
func (c *clientFlags) settled(u weburl.URL) weburl.URL {
	guess := weft.Seed{URL: u, Guessed: c.byHTTP && u.Origin() == c.given.URL.Origin()}
	if plain, ok := guess.ByHTTP(); ok {
		return plain
	}
	return u
}

// request returns the request for u of what is asked: method, body and fields.
func (c *clientFlags) request(ask httpclient.Request, u weburl.URL, reach *reach) httpclient.Request {
	req := ask
	req.Scheme, req.Host, req.Target, req.Allow = u.Scheme(), u.Host(), u.RequestTarget(), reach.allow(u)
	if u == c.given.URL && c.given.Written != "" {
		req.Target = c.given.Written
	}
	if c.guess(u).Guessed {
		req.ConnectTimeout = weft.GuessPatience
	}
	return req
}

// guess returns u, and whether its scheme is a guess.
func (c *clientFlags) guess(u weburl.URL) weft.Seed {
	return weft.Seed{URL: u, Guessed: c.given.Guessed && !c.byHTTP && u.Origin() == c.given.URL.Origin()}
}

// instead returns what is fetched in place of u, which failed so.
func (c *clientFlags) instead(u weburl.URL, f *fetched) (weburl.URL, bool) {
	plain, ok := c.guess(u).Instead(httpclient.Kind(f.ErrorKind))
	if ok {
		c.byHTTP = true
		f.Error += fmt.Sprintf("; %s is tried instead", plain)
		fmt.Fprintf(os.Stderr, "weft: %s\n", printable(f.URL+": "+f.ErrorKind+": "+f.Error))
	}
	return plain, ok
}
