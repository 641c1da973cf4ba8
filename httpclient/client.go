package httpclient

import (
	"crypto/tls"
	"slices"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
)

// Bodies of more than shortBody bytes, before or after decoding, take turns: the loop decodes at
// most decodeQuota bytes in a turn, plus one body. Shorter bodies do not wait.
const (
	decodeQuota = 1 << 20 // a few milliseconds of work
	shortBody   = 64 << 10
)

// Client fetches over HTTP/1.1 and HTTP/2. It belongs to one loop.
type Client struct {
	loop       *aio.Loop
	opt        Options
	invalid    *Error            // the error of opt.UserAgent, opt.Header or opt.Auth
	shared     Header            // of Options.Header, what is sent to every origin
	secrets    Header            // for trusted servers only
	toProxy    string            // and its field Proxy-Authorization
	header     header            // shared, and the client's own fields
	auth       map[origin]string // values of the Authorization field
	names      names
	tls        *tls.Config
	verifier   verifier
	warm       warmth
	handshakes *aio.Semaphore
	sessions   sessions
	idle       pool
	muxes      muxes
	decoders   decoders
	decoding   *aio.Quota
	offLoop    struct { // for decoding off the loop
		decoders decoders
		turn     aio.Lock // held by the task that decodes
	}
	wire    buffers // for bodies as sent: one per response in progress, so that many are in use
	decoded buffers // for decoded bodies: few at once, so that few grow large
	opened  []byte  // a decrypted TLS record
}

// NewClient returns a client for tasks of l. Close it when it is no longer used. If
// Options.UserAgent, Options.Header or Options.Auth cannot be sent (see Header.Check,
// Credential.Check), all of its requests fail.
func NewClient(l *aio.Loop, opt Options) *Client {
	opt = opt.withDefaults()
	if opt.Resolver == nil {
		opt.Resolver = dns.New(l, dns.Options{})
	}
	c := &Client{
		loop:       l,
		opt:        opt,
		shared:     slices.DeleteFunc(slices.Clone(opt.Header), func(f Field) bool { return isSecret(f) || isForProxy(f) }),
		auth:       authorizations(opt.Auth),
		names:      names{resolver: opt.Resolver, overrides: opt.Resolve},
		verifier:   newVerifier(opt.RootCAs),
		handshakes: aio.NewSemaphore(mostHandshakes),
		decoding:   aio.NewQuota(l, decodeQuota),
		wire:       buffers{max: opt.MaxKept},
		decoded:    buffers{max: opt.MaxKept},
		idle:       newPool(l, &opt),
		sessions:   newSessions(opt.MaxSessionBytes),
		muxes:      newMuxes(l, &opt),
	}
	c.header = newHeader(opt.UserAgent, c.shared)
	c.tls = newTLSConfig(l, len(opt.Auth) > 0 || opt.Cookies != nil || slices.ContainsFunc(opt.Header, isSecret))
	for _, f := range opt.Header {
		switch {
		case isSecret(f):
			c.secrets = append(c.secrets, f)
		case isForProxy(f):
			c.toProxy = f.Value
		}
	}
	if err := append(Header{{"User-Agent", opt.UserAgent}}, opt.Header...).Check(); err != nil {
		c.invalid = &Error{Kind: KindScheme, Err: err}
	}
	for _, credential := range opt.Auth {
		if err := credential.Check(); err != nil {
			c.invalid = &Error{Kind: KindScheme, Err: err}
		}
	}
	return c
}

// Close closes the idle connections; connections in use are closed after their exchange.
func (c *Client) Close() { c.idle.close() }

// Disconnect closes the idle connections. Others will be kept.
func (c *Client) Disconnect() { c.idle.clear() }
