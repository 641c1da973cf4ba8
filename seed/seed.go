// Package seed reads the URLs that people give a crawl to start from, and says in plain words what
// is wrong with one.
package seed

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/weburl"
)

// Parse reads a URL that a crawl may start from, in canonical form, without the space around it.
// Its error names the URL and what was expected.
func Parse(s string) (weburl.URL, error) {
	u, credential, err := ParseCredential(s)
	if credential != nil {
		return weburl.URL{}, fmt.Errorf("URL at %.128q: user and password, expected none: a credential is an option of its own", u.Host())
	}
	return u, err
}

// ParseCredential is Parse for a URL that may have user and password, such as
// https://user:password@example.org/. They are the credential for its origin, and not part of the
// canonical form; nil: there are none. The error does not show them.
func ParseCredential(s string) (weburl.URL, *httpclient.Credential, error) {
	s = strings.TrimSpace(s)
	u, err := weburl.Parse(s)
	var wrong string
	switch {
	case s == "":
		wrong = "empty, expected one such as https://example.org/"
	case err != nil:
		wrong = wrongURL(s, err)
	case !u.IsHTTP():
		wrong = fmt.Sprintf("scheme %.64q, expected http or https%s", u.Scheme(), withScheme(s))
	case u.Username() != "" || u.Password() != "":
		c := &httpclient.Credential{Scheme: u.Scheme(), Host: u.Host(), User: unescaped(u.Username()), Password: unescaped(u.Password())}
		if err := c.Check(); err != nil {
			return weburl.URL{}, nil, fmt.Errorf("URL at %.128q: %w", u.Host(), err)
		}
		return u.Canonical(), c, nil
	default:
		return u.Canonical(), nil, nil
	}
	return weburl.URL{}, nil, fmt.Errorf("URL %.128q: %s", WithoutSecrets(s), wrong)
}

// unescaped returns s without its percent-encoding; as it is if that is invalid.
func unescaped(s string) string {
	if raw, err := url.PathUnescape(s); err == nil {
		return raw
	}
	return s
}

// WithoutSecrets returns the text of a URL, valid or not, without what may be its user and
// password.
func WithoutSecrets(s string) string {
	begin, end := 0, len(s)
	_, rest, _ := strings.Cut(s, ":")
	if host := strings.TrimLeft(rest, `/\`); len(host) < len(rest) {
		begin = len(s) - len(host)
	}
	if i := strings.IndexAny(s[begin:], `/?#\`); i >= 0 {
		end = begin + i
	}
	if at := strings.LastIndexByte(s[begin:end], '@'); at >= 0 && !strings.HasPrefix(strings.ToLower(s), "mailto:") {
		return s[:begin] + "…" + s[begin+at:]
	}
	return s
}

// wrongURL says in plain words why s is not a URL.
func wrongURL(s string, err error) string {
	switch {
	case errors.Is(err, weburl.ErrRelative):
		if _, err := weburl.Parse("https://" + s); errors.Is(err, weburl.ErrPort) {
			return wrongURL(s, err)
		}
		return "no scheme, expected http or https" + withScheme(s)
	case errors.Is(err, weburl.ErrNoHost):
		return "no host, expected one after the //, as in https://example.org/"
	case errors.Is(err, weburl.ErrHost):
		return "a host with a character that none may have, expected one such as example.org"
	case errors.Is(err, weburl.ErrIDNA):
		return "a host that is no valid international name, expected one such as bücher.example"
	case errors.Is(err, weburl.ErrIPv4):
		return "a host that ends in a number, expected an IPv4 address such as 192.0.2.1"
	case errors.Is(err, weburl.ErrIPv6):
		return "a host in brackets, expected an IPv6 address such as [2001:db8::1]"
	case errors.Is(err, weburl.ErrPort):
		return "an invalid port, expected 0 to 65535, as in http://localhost:8080/"
	case errors.Is(err, weburl.ErrTooLong):
		return fmt.Sprintf("too long, expected at most %d bytes", weburl.MaxLength)
	}
	return err.Error()
}

// withScheme returns an example of a whole URL: s itself, if it seems to lack only a scheme. (In
// localhost:8080 the host reads as one.)
func withScheme(s string) string {
	u, err := weburl.Parse("https://" + s)
	if err == nil && u.Port() != "" {
		u, err = weburl.Parse("http://" + s) // other ports are seldom for TLS
	}
	host := u.Hostname()
	path := strings.HasPrefix(strings.TrimPrefix(s, "//"), "/")
	if err != nil || path || u.Username() != "" || strings.HasPrefix(host, ".") || !isName(host, true) && !strings.HasPrefix(host, "[") || host != "localhost" && !strings.ContainsAny(host, ".:") {
		return ", as in https://example.org/"
	}
	return fmt.Sprintf(", as in %.128s", u.Canonical())
}

// isName reports whether a host looks like a name of the DNS; without a port it has a dot, as words
// have none.
func isName(host string, port bool) bool {
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	return (port || strings.Contains(host, ".")) && strings.IndexFunc(host, strange) < 0
}
