package httpclient

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Proxy is a server that requests go through.
type Proxy struct {
	// Scheme is the protocol: "http" (http requests are sent to it, https requests go through a
	// CONNECT tunnel), "socks5h" (RFC 1928), or "socks5", which is the same except that names are
	// looked up here.
	Scheme string
	Host   string // a name or an address, without brackets
	Port   uint16

	User, Password string // for Basic, or RFC 1929; empty: none
}

// ParseProxy parses a URL such as http://user:password@proxy.example:3128. The default scheme is
// http; the default port is 80, for socks5 and socks5h 1080. The error does not reveal user and
// password.
func ParseProxy(s string) (*Proxy, error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil { // its text contains all of s
		return nil, errors.New("invalid URL, expected one such as http://proxy.example:3128")
	}
	p := &Proxy{Scheme: u.Scheme, Host: u.Hostname(), User: u.User.Username()}
	p.Password, _ = u.User.Password()
	switch p.Scheme {
	case "http":
		p.Port = 80
	case "socks5", "socks5h":
		p.Port = 1080
	default:
		return nil, fmt.Errorf("scheme %.20q, expected http, socks5 or socks5h", p.Scheme)
	}
	if digits := u.Port(); digits != "" {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("port %.20q, expected 1 to 65535", digits)
		}
		p.Port = uint16(n)
	}
	if p.Host == "" || !visible(p.Host) || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("expected host and port, as in http://proxy.example:3128")
	}
	if err := checkUser(p.User, p.Password); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	const most = 255 // RFC 1929, section 2
	if p.socks() && (len(p.User) > most || len(p.Password) > most || p.User == "" != (p.Password == "")) {
		return nil, fmt.Errorf("user and password, expected both, of at most %d bytes each", most)
	}
	return p, nil
}

// String returns the proxy's URL without user and password.
func (p Proxy) String() string { return p.Scheme + "://" + p.address() }

// GoString is String, so that no format reveals the secret.
func (p Proxy) GoString() string { return p.String() }

func (p Proxy) address() string { return net.JoinHostPort(p.Host, strconv.Itoa(int(p.Port))) }

func (p *Proxy) socks() bool { return p.Scheme != "http" }

// resolves reports whether the proxy looks names up.
func (p *Proxy) resolves() bool { return p.Scheme != "socks5" }

// authorization returns the value of the Proxy-Authorization field; "" for none.
func (p *Proxy) authorization() string {
	if p.User == "" && p.Password == "" {
		return ""
	}
	return basic(p.User, p.Password)
}
