package httpclient

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Credential authenticates a crawl to one origin. It is sent unasked with each request to that
// origin, and to no other: not to another host, port or scheme, even after a redirect.
type Credential struct {
	// Scheme is "https", "http", on which anybody on the path can read the credential, or empty:
	// those for which Options.Trusted holds.
	Scheme string
	Host   string // HOST or HOST:PORT, as in Request.Host

	// Basic (RFC 7617), unless there is a Token.
	User, Password string

	// Bearer (RFC 6750).
	Token string
}

// String names the origin without the secret.
func (c Credential) String() string {
	if c.Scheme == "" {
		return "credential for " + c.Host
	}
	return "credential for " + c.Scheme + "://" + c.Host
}

// GoString is String, so that no format reveals the secret.
func (c Credential) GoString() string { return c.String() }

// Check returns why c cannot be sent, or nil. The error does not reveal the secret.
func (c Credential) Check() error {
	switch {
	case c.Scheme != "http" && c.Scheme != "https" && c.Scheme != "":
		return fmt.Errorf("credential: scheme %.20q, expected http or https", c.Scheme)
	case c.Host == "" || !visible(c.Host):
		return fmt.Errorf("credential: host %.64q, expected HOST or HOST:PORT", c.Host)
	case c.Token != "" && (c.User != "" || c.Password != ""):
		return fmt.Errorf("%v: expected a token, or user and password", c)
	case c.Token == "" && c.User == "" && c.Password == "":
		return fmt.Errorf("%v: empty, expected user and password, or a token", c)
	case !visible(c.Token):
		return fmt.Errorf("%v: token, expected no spaces and control characters", c)
	}
	if err := checkUser(c.User, c.Password); err != nil {
		return fmt.Errorf("%v: %w", c, err)
	}
	return nil
}

// checkUser returns why user and password cannot be sent (RFC 7617, section 2), or nil.
func checkUser(user, password string) error {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case strings.Contains(user, ":"):
		return errors.New("user, expected no colon")
	case strings.ContainsFunc(user, control) || strings.ContainsFunc(password, control):
		return errors.New("user and password, expected no control characters")
	}
	return nil
}

// value returns the value of the Authorization field.
func (c Credential) value() string {
	if c.Token != "" {
		return "Bearer " + c.Token
	}
	return basic(c.User, c.Password)
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// origin is the destination of a credential.
type origin struct{ scheme, host string }

// authorizations returns the value of the Authorization field for each origin; the last credential
// for an origin counts.
func authorizations(credentials []Credential) map[origin]string {
	values := make(map[origin]string, len(credentials))
	for _, c := range credentials {
		values[origin{c.Scheme, strings.ToLower(c.Host)}] = c.value()
	}
	return values
}

// authorization returns the Authorization value for req; "" for none.
func (c *Client) authorization(req *Request) string {
	if req.Stranger {
		return ""
	}
	host := strings.ToLower(req.Host)
	if value, ok := c.auth[origin{req.Scheme, host}]; ok {
		return value
	}
	if value, ok := c.auth[origin{"", host}]; ok && c.trusts(req) {
		return value
	}
	return ""
}

// trusts reports whether secrets that name no origin may be sent with req.
func (c *Client) trusts(req *Request) bool {
	return !req.Stranger && (c.opt.Trusted == nil || c.opt.Trusted(req.Scheme, req.Host))
}

// isSecret reports whether a field identifies the user: see Options.Trusted.
func isSecret(f Field) bool {
	return f.Value != "" && (isName(f.Name, "Authorization") || isName(f.Name, "Cookie"))
}

// isForProxy reports whether a field is for the proxy alone.
func isForProxy(f Field) bool { return isName(f.Name, "Proxy-Authorization") }

// Identifies reports whether a request to a host may carry a secret of o, cookies of the jar apart.
func (o *Options) Identifies(host string) bool {
	isFor := func(c Credential) bool { return strings.EqualFold(c.Host, host) }
	return slices.ContainsFunc(o.Header, isSecret) || slices.ContainsFunc(o.Auth, isFor)
}

// NeedsTrusted reports whether o has a secret that names no origin.
func (o *Options) NeedsTrusted() bool {
	schemeless := func(c Credential) bool { return c.Scheme == "" }
	return slices.ContainsFunc(o.Header, isSecret) || slices.ContainsFunc(o.Auth, schemeless)
}
