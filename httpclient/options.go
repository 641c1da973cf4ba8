package httpclient

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
)

// Options configure a client. The zero value is the default.
type Options struct {
	// Time limits. The kind of an error names the one that was exceeded. A negative limit is none.

	// Timeout limits the whole exchange, including a second try; 0: 30 s.
	Timeout time.Duration
	// DialTimeout limits looking up the name and connecting; 0: 10 s.
	DialTimeout time.Duration
	// TLSTimeout limits the handshake; 0: 10 s.
	TLSTimeout time.Duration
	// FirstByteTimeout limits the time from the end of the request to the first byte of the
	// response; 0: none.
	FirstByteTimeout time.Duration
	// IdleTimeout limits the time between two pieces of a response; 0: 15 s.
	IdleTimeout time.Duration
	// KeepAlive is the time for which an idle connection is kept; 0: 60 s, negative: not at all.
	KeepAlive time.Duration
	// MinRate is the minimum rate of a response in bytes per second, on average since its first
	// byte. It does not apply to the first 10 s. 0 or negative: any rate.
	MinRate int

	// Sizes.

	// MaxHead limits a header, and chunk extensions and trailers, in bytes; 0 or negative: 64 KiB.
	MaxHead int
	// MaxBody limits a body in bytes, as sent and after each decoding step; 0 or negative: 16 MiB;
	// see Request.MaxBody.
	MaxBody int
	// MaxIdle limits the idle connections; 0: 1,024, negative: none.
	MaxIdle int
	// MaxIdlePerHost limits those for one scheme, host and port; 0 or negative: no separate limit.
	MaxIdlePerHost int

	// Memory.

	// OnBytes is called on the loop when bytes of a server have arrived, with about when; nil: nobody
	// is.
	OnBytes func(at time.Time)

	// Meter accounts for what responses hold from their first byte until Response.Close, raw and
	// decoded. While it has no room, a response is not read any further. The server is not to
	// blame for that: the time does not count towards the limits above, and may be as long as
	// Timeout again. After that the error is of KindResource and matches ErrNoRoom. While others
	// wait for room, a response that holds some must come fast enough to deliver in a minute what
	// it holds; otherwise the error is of KindTooSlow and matches ErrHeldUp. Nil: unlimited.
	Meter *budget.Meter
	// Window is the part of a body, in bytes, that a server may send over a stream of HTTP/2 before
	// Meter has room for it; 0 or negative: 64 KiB - 1. Beyond it a server may send what there is room
	// for.
	Window int
	// MaxKept limits the buffers kept for later responses in bytes, once for raw and once for
	// decoded bodies; 0 or negative: 32 MiB.
	MaxKept int
	// MaxIdleBytes is the most memory of idle connections, 1 KiB or 5 KiB over TLS and certificates
	// each; 0 or negative: 16 MiB.
	MaxIdleBytes int
	// MaxSessionBytes is the most memory of the TLS sessions that are remembered for resumption; 0 or
	// negative: 16 MiB.
	MaxSessionBytes int

	// Requests. A field of the same name in Header, or in Request.Header, takes precedence over
	// cookies and credentials.

	// UserAgent is the User-Agent field; empty: none is sent.
	UserAgent string
	// Header is sent with every request: see Request.Header. The fields Authorization and Cookie
	// are secrets: see Trusted. Proxy-Authorization is sent to an HTTP proxy alone, in place of its
	// user and password.
	Header Header
	// Cookies holds the cookies to send, and stores the cookies of responses. It is called on the
	// loop. Nil: no cookies.
	Cookies http.CookieJar
	// Auth has one credential per origin; see Credential.Check.
	Auth []Credential
	// Trusted reports whether secrets that name no origin may be sent to one: the fields
	// Authorization and Cookie of Header, and credentials without a scheme. It is called on the
	// loop, with Request.Scheme and Request.Host. Nil: to every origin.
	Trusted func(scheme, host string) bool
	// Proxy returns the proxy for a scheme and a host (HOST or HOST:PORT): nil for none, otherwise
	// a result of ParseProxy, the same one each time. Nil: no proxies.
	Proxy func(scheme, host string) *Proxy

	// Protocols. Over TLS the server chooses between HTTP/2 and HTTP/1.1.

	// HTTP1 offers HTTP/1.1 alone, HTTP2 HTTP/2 alone: over TLS a server that does not choose it is
	// an error, and others are expected to speak it (RFC 9113, section 3.3). HTTP1 takes precedence.
	HTTP1, HTTP2 bool

	// TLS.

	// Insecure turns off the verification of certificates.
	Insecure bool
	// RootCAs are the trusted roots; nil: the system's. A constraint of CertPool.AddCertWithConstraint
	// is not asked for each certificate: an issuer that it has let pass is believed for an hour.
	RootCAs *x509.CertPool

	// Names.

	// Resolve is consulted before the resolver; the first match counts.
	Resolve []Override
	// Resolver is a resolver of the client's loop; nil: package dns with its default options.
	Resolver Resolver

	// KeepRaw fills Response.Sent, and keeps what Response.AppendRaw needs: the body before it was
	// decoded.
	KeepRaw bool
}

// Resolver resolves names. *dns.Resolver is one.
type Resolver interface {
	// Lookup returns the addresses of a host name, most preferred first. An error of the name is a
	// *net.DNSError, with IsNotFound, and not temporary, if the name does not exist. Any other
	// error is not about the name: the task was cancelled, or this machine lacks a resource.
	Lookup(t *aio.Task, host string) ([]netip.Addr, error)
}

const (
	defaultTimeout     = 30 * time.Second
	defaultDialTimeout = 10 * time.Second
	defaultTLSTimeout  = 10 * time.Second
	defaultIdleTimeout = 15 * time.Second
	defaultKeepAlive   = 60 * time.Second
	defaultMaxHead     = 64 << 10
	defaultMaxBody     = 16 << 20
	defaultMaxIdle     = 1024
	defaultWindow      = 1<<16 - 1
	defaultMaxKept     = keptBodies * keptBody
	defaultMaxTLS      = 16 << 20 // of idle connections, and of sessions
)

// rateGrace is the time for which a response may be slower than MinRate.
const rateGrace = 10 * time.Second

// withDefaults replaces zero and negative values by what they stand for. Afterwards a time of 0
// means none.
func (opt Options) withDefaults() Options {
	duration := func(d *time.Duration, otherwise time.Duration) {
		switch {
		case *d == 0:
			*d = otherwise
		case *d < 0:
			*d = 0
		}
	}
	size := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	duration(&opt.Timeout, defaultTimeout)
	duration(&opt.DialTimeout, defaultDialTimeout)
	duration(&opt.TLSTimeout, defaultTLSTimeout)
	duration(&opt.FirstByteTimeout, 0)
	duration(&opt.IdleTimeout, defaultIdleTimeout)
	duration(&opt.KeepAlive, defaultKeepAlive)
	size(&opt.MaxHead, defaultMaxHead)
	size(&opt.MaxBody, defaultMaxBody)
	size(&opt.MaxKept, defaultMaxKept)
	size(&opt.Window, defaultWindow)
	size(&opt.MaxIdleBytes, defaultMaxTLS)
	size(&opt.MaxSessionBytes, defaultMaxTLS)
	opt.MinRate = max(0, opt.MinRate)
	opt.MaxIdlePerHost = max(0, opt.MaxIdlePerHost)
	if opt.MaxIdle == 0 {
		opt.MaxIdle = defaultMaxIdle
	}
	if opt.KeepAlive == 0 {
		opt.MaxIdle = -1
	}
	return opt
}
