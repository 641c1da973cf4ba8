package http1

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Credential is what proves to one origin who asks. It is sent with each request to that, without
// being asked for, and to no other: not to another host, port or scheme, be it where a
// redirect leads.
type Credential struct {
	Scheme string // "https" or "http": then anybody on the way can read it
	Host   string // HOST or HOST:PORT, as in Request.Host

	// Basic (RFC 7617), unless there is a Token.
	User, Password string

	// Bearer (RFC 6750).
	Token string
}

// String names the origin. It does not tell the secret.
func (c Credential) String() string { return "credential for " + c.Scheme + "://" + c.Host }

// GoString is String, so that no format tells the secret.
func (c Credential) GoString() string { return c.String() }

// Check returns why c cannot be sent, or nil. The error does not tell the secret.
func (c Credential) Check() error {
	switch {
	case c.Scheme != "http" && c.Scheme != "https":
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

// checkUser returns why they cannot be sent (RFC 7617, section 2), or nil.
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

// value is that of the Authorization field.
func (c Credential) value() string {
	if c.Token != "" {
		return "Bearer " + c.Token
	}
	return basic(c.User, c.Password)
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// origin is whom a credential is for.
type origin struct{ scheme, host string }

// authorizations returns the values of the Authorization field; of two for one origin the last
// counts.
func authorizations(credentials []Credential) map[origin]string {
	values := make(map[origin]string, len(credentials))
	for _, c := range credentials {
		values[origin{c.Scheme, strings.ToLower(c.Host)}] = c.value()
	}
	return values
}

// authorization is what req is to bring; "" for nothing.
func (c *Client) authorization(req *Request) string {
	return c.auth[origin{req.Scheme, strings.ToLower(req.Host)}]
}
