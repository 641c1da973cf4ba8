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

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
	"golang.org/x/net/http/httpproxy"
)

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

// openSession reads the file of a session.
func openSession(file string) (*weft.Session, error) {
	s, err := weft.OpenSession(file)
	if err != nil {
		return nil, fmt.Errorf("%w, expected the file of a session, which weft login makes", err)
	}
	return s, nil
}

// basicCredential reads ORIGIN=USER:PASSWORD or ORIGIN=@FILE.
func basicCredential(s string) (httpclient.Credential, error) {
	c, text, err := credential(s, "HOST=USER:PASSWORD")
	if err != nil {
		return c, err
	}
	user, password, ok := strings.Cut(text, ":")
	if !ok {
		return c, errors.New("no colon between user and password, expected HOST=USER:PASSWORD")
	}
	c.User, c.Password = user, password
	return c, c.Check()
}

// bearerCredential reads ORIGIN=TOKEN or ORIGIN=@FILE.
func bearerCredential(s string) (httpclient.Credential, error) {
	c, text, err := credential(s, "HOST=TOKEN")
	if err != nil {
		return c, err
	}
	c.Token = text
	return c, c.Check()
}

// maxSecret bounds a file with a secret, in bytes.
const maxSecret = 16 << 10

// credential reads ORIGIN=SECRET, and returns the secret.
func credential(s, form string) (c httpclient.Credential, text string, err error) {
	at, text, ok := strings.Cut(s, "=")
	if !ok {
		return c, "", errors.New("expected " + form + ", or HOST=@FILE with the secret in a file")
	}
	bare := !strings.Contains(at, "://")
	if bare {
		at = "https://" + at
	}
	u, err := weft.ParseSeed(at)
	if err != nil || u.RequestTarget() != "/" {
		return c, "", errors.New("expected HOST or HOST:PORT before the =, or http://HOST, as in " + form)
	}
	if c.Scheme, c.Host = u.Scheme(), u.Host(); bare { // the schemes of the seeds of HOST
		c.Scheme = ""
		switch {
		case strings.HasSuffix(at, ":443"):
			c.Scheme = "https"
		case u.EffectivePort() == 80:
			c.Scheme, c.Host = "http", u.Hostname()
		}
	}
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return c, text, nil
	}
	text, err = secretIn(path)
	return c, text, err
}

// secretIn reads a file that holds a secret.
func secretIn(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%.128q: %w, expected a file with the secret", path, reason(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%.128q: %w", path, reason(err))
	case len(b) > maxSecret:
		return "", fmt.Errorf("%.128q: expected at most %d bytes", path, maxSecret)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// proxyChoice is the value of --proxy; without a proxy it is none.
type proxyChoice struct{ proxy *httpclient.Proxy }

func (p *proxyChoice) all(string, string) *httpclient.Proxy { return p.proxy }

func proxyOrNone(s string) (*proxyChoice, error) {
	if s == "none" {
		return &proxyChoice{}, nil
	}
	p, err := httpclient.ParseProxy(s)
	return &proxyChoice{p}, err
}

// environmentProxy returns the proxies of the environment; nil: none. Addresses of this machine
// are reached directly, as curl and other tools do.
func environmentProxy() (func(scheme, host string) *httpclient.Proxy, error) {
	env := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("all_proxy"), os.Getenv("ALL_PROXY"))
	proxies := make(map[string]*httpclient.Proxy)
	for scheme, to := range map[string]*string{"http": &env.HTTPProxy, "https": &env.HTTPSProxy} {
		if *to = cmp.Or(*to, all); *to == "" {
			continue
		}
		p, err := httpclient.ParseProxy(*to)
		if err != nil {
			return nil, usage("$%s_proxy: %w; use --proxy none for no proxy", scheme, err)
		}
		proxies[scheme], *to = p, p.String()
	}
	if len(proxies) == 0 {
		return nil, nil
	}
	choose := env.ProxyFunc()
	return func(scheme, host string) *httpclient.Proxy {
		if to, err := choose(&url.URL{Scheme: scheme, Host: host}); err != nil || to == nil {
			return nil
		}
		return proxies[scheme]
	}, nil
}
