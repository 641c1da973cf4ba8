package http1

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
)

// Options configure a client. The zero value is the default.
type Options struct {
	// Times. The error's kind tells which of them ran out.
	Timeout          time.Duration // of an exchange, all of it, a second try included; 0: 30 s, negative: none
	DialTimeout      time.Duration // looking up the name and connecting; 0: 10 s, negative: none
	TLSTimeout       time.Duration // the handshake; 0: 10 s, negative: none
	FirstByteTimeout time.Duration // from the request sent to the first byte of the answer; 0 or negative: none of its own
	IdleTimeout      time.Duration // between two pieces of an answer; 0: 15 s, negative: none
	KeepAlive        time.Duration // a connection kept this long without use is closed; 0: 60 s, negative: none is kept

	// MinRate is how many bytes a second of an answer have to come, on average since
	// its first byte. The first 10 s are not looked at. 0 or negative: any.
	MinRate int

	// Limits.
	MaxHead        int // bytes of a header, and of chunk extensions and trailers; 0 or negative: 64 KiB
	MaxBody        int // bytes of a body, as sent and after each step of decoding; 0 or negative: 16 MiB; see Request.MaxBody
	MaxIdle        int // connections kept without use; 0: 1,024, negative: none
	MaxIdlePerHost int // of them, to one scheme, host and port; 0 or negative: no limit of its own

	// Memory.
	//
	// Meter has room for what answers hold from their first byte until Response.Close, raw and
	// decoded. While there is none, an answer is not read on. That is no slowness of the
	// server's: the time does not count in the limits above, and may be as long as Timeout
	// again. Then it is an error of KindResource that matches ErrNoRoom. While others wait for room,
	// an answer that holds some has to come so fast that what it holds would come in a minute; else
	// it is an error of KindTooSlow that matches ErrHeldUp. Nil: there is room for all.
	Meter   *budget.Meter
	MaxKept int // bytes of buffers that are kept for answers to come, twice: of what is sent and of what is decoded; 0 or negative: 32 MiB

	// Requests.
	UserAgent string // empty: none is sent
	Header    Header // of every request: see Request.Header

	// Who asks. A field of the same name in Header, or in Request.Header, goes before.
	Cookies http.CookieJar // those that are sent, and where answers set them; called on the loop; nil: none
	Auth    []Credential   // one for an origin; see Credential.Check

	// Proxy returns what requests to a scheme and a host (HOST or HOST:PORT) go through: nil
	// for none, else one that ParseProxy has returned, the same each time. Nil: none at all.
	Proxy func(scheme, host string) *Proxy

	// TLS.
	Insecure bool           // certificates are not verified
	RootCAs  *x509.CertPool // who may sign them; nil: whom the system trusts

	// Names.
	Resolve  []Override // asked before the resolver; the first that fits counts
	Resolver Resolver   // of the client's loop; nil: one of package dns with its default options

	// KeepRaw has Response.Raw filled.
	KeepRaw bool
}

// Resolver resolves names. *dns.Resolver is one.
type Resolver interface {
	// Lookup returns the addresses of a host name, the preferred first. The error is a
	// *net.DNSError, with IsNotFound if the name does not exist; that is not temporary.
	// Any other error is none of the name: that the task was cancelled, or this machine is
	// short of something.
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
	defaultMaxKept     = keptBodies * keptBody
)

// rateGrace is how long an answer may be slower than MinRate.
const rateGrace = 10 * time.Second

// withDefaults returns opt with the values that zero and negative ones stand for. Of
// the times, 0 is then none.
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
