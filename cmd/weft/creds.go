package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/http/httpproxy"
)

// registerWho defines the flags that say who asks, and by what way.
func (c *clientFlags) registerWho(f *pflag.FlagSet) {
	flag(f, &c.Cookies, "cookies", "", "FILE", "", cookieFile, "cookies to send, in Netscape's format; sites may set more,\nwhich are kept in memory (default none)")
	f.BoolVar(&c.acceptCookies, "accept-cookies", false, "let sites set cookies, without a FILE (default not)")
	secret(f, "auth", func() {
		repeated(f, &c.Auth, "auth", "", "HOST=USER:PASSWORD", basicCredential, "user and password for a HOST[:PORT] of https, or http://HOST;\nHOST=@FILE reads them from a file; repeatable\n(default those in the URLs given)")
	})
	secret(f, "bearer", func() {
		repeated(f, &c.Auth, "bearer", "", "HOST=TOKEN", bearerCredential, "token for a HOST, as with --auth; repeatable (default none)")
	})
	secret(f, "proxy", func() {
		flag(f, &c.proxy, "proxy", "", "URL", "", proxyOrNone, "http://[USER:PASSWORD@]HOST[:PORT] to go through, or socks5://,\nsocks5h://; or none (default $http_proxy, $https_proxy,\n$all_proxy, but for hosts in $no_proxy)")
	})
}

// secret marks the flag that define defines as one whose value is not told.
func secret(f *pflag.FlagSet, name string, define func()) {
	define()
	f.Lookup(name).Annotations = map[string][]string{"secret": nil}
}

// isSecret reports whether a flag's value is not told.
func isSecret(f *pflag.Flag) bool {
	_, is := f.Annotations["secret"]
	return is
}

// client is what the flags say of a client.
func (c *clientFlags) client() (http1.Options, error) {
	o := c.Options
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

// begin reads the URL of a command that fetches one, and keeps user and password in it for its
// origin.
func (c *clientFlags) begin(s string) (weburl.URL, error) {
	u, own, err := weft.ParseSeedCredential(s)
	if err != nil {
		return u, &exit{exitUsage, err}
	}
	if own != nil {
		c.Auth = append(c.Auth, *own)
	}
	return u, nil
}

// cookieFile reads a file of cookies.
func cookieFile(path string) (http.CookieJar, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w, expected a file of cookies in Netscape's format", reason(err))
	}
	defer f.Close()
	jar := cookies.New()
	if err := jar.Load(f); err != nil {
		return nil, reason(err)
	}
	return jar, nil
}

// basicCredential reads ORIGIN=USER:PASSWORD or ORIGIN=@FILE.
func basicCredential(s string) (http1.Credential, error) {
	c, text, err := credential(s, "HOST=USER:PASSWORD")
	if err != nil {
		return c, err
	}
	user, password, ok := strings.Cut(text, ":")
	if !ok {
		return c, errors.New("expected user and password with a colon between them, as in HOST=USER:PASSWORD")
	}
	c.User, c.Password = user, password
	return c, c.Check()
}

// bearerCredential reads ORIGIN=TOKEN or ORIGIN=@FILE.
func bearerCredential(s string) (http1.Credential, error) {
	c, text, err := credential(s, "HOST=TOKEN")
	if err != nil {
		return c, err
	}
	c.Token = text
	return c, c.Check()
}

// maxSecret bounds a file with a secret, in bytes.
const maxSecret = 16 << 10

// credential reads ORIGIN=SECRET, and says what the secret is.
func credential(s, form string) (c http1.Credential, text string, err error) {
	at, text, ok := strings.Cut(s, "=")
	if !ok {
		return c, "", errors.New("expected " + form + ", or a file in place of what is secret, as in HOST=@FILE")
	}
	if !strings.Contains(at, "://") {
		at = "https://" + at
	}
	u, err := weft.ParseSeed(at)
	if err != nil || u.RequestTarget() != "/" {
		return c, "", errors.New("expected a HOST or HOST:PORT of https before the =, or http://HOST, as in " + form)
	}
	c.Scheme, c.Host = u.Scheme(), u.Host()
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return c, text, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return c, "", fmt.Errorf("%.128q: %w, expected a file with what is secret", path, reason(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return c, "", fmt.Errorf("%.128q: %w", path, reason(err))
	case len(b) > maxSecret:
		return c, "", fmt.Errorf("%.128q: expected at most %d bytes", path, maxSecret)
	}
	return c, strings.TrimRight(string(b), "\r\n"), nil
}

// proxyChoice is what --proxy says.
type proxyChoice struct{ proxy *http1.Proxy }

func (p *proxyChoice) all(string, string) *http1.Proxy { return p.proxy }

func proxyOrNone(s string) (*proxyChoice, error) {
	if s == "none" {
		return &proxyChoice{}, nil
	}
	p, err := http1.ParseProxy(s)
	return &proxyChoice{p}, err
}

// environmentProxy returns what the environment says requests go through; nil: nothing. An address
// of this machine is reached directly, as by curl and other tools.
func environmentProxy() (func(scheme, host string) *http1.Proxy, error) {
	env := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("all_proxy"), os.Getenv("ALL_PROXY"))
	proxies := make(map[string]*http1.Proxy)
	for scheme, to := range map[string]*string{"http": &env.HTTPProxy, "https": &env.HTTPSProxy} {
		if *to = cmp.Or(*to, all); *to == "" {
			continue
		}
		p, err := http1.ParseProxy(*to)
		if err != nil {
			return nil, usage("$%s_proxy: %w; --proxy none goes without", scheme, err)
		}
		proxies[scheme], *to = p, p.String()
	}
	if len(proxies) == 0 {
		return nil, nil
	}
	choose := env.ProxyFunc()
	return func(scheme, host string) *http1.Proxy {
		if to, err := choose(&url.URL{Scheme: scheme, Host: host}); err != nil || to == nil {
			return nil
		}
		return proxies[scheme]
	}, nil
}
