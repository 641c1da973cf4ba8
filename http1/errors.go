package http1

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"github.com/weftcrawl/weft/aio"
)

// Kind classifies what went wrong with an exchange.
type Kind string

const (
	KindDNS              Kind = "dns"                // the host name could not be resolved
	KindBlocked          Kind = "blocked-address"    // the host has no address that Request.Allow allows
	KindConnect          Kind = "connect"            // no connection could be made
	KindProxy            Kind = "proxy"              // the proxy cannot be reached, or it does not lead on
	KindTLS              Kind = "tls"                // the handshake failed, or what came is not what was encrypted
	KindDialTimeout      Kind = "dial-timeout"       // looking up and connecting took longer than DialTimeout
	KindTLSTimeout       Kind = "tls-timeout"        // the handshake took longer than TLSTimeout
	KindFirstByteTimeout Kind = "first-byte-timeout" // no answer began within FirstByteTimeout
	KindIdleTimeout      Kind = "idle-timeout"       // an answer did not go on within IdleTimeout
	KindTimeout          Kind = "timeout"            // the time for the whole exchange ran out
	KindTooSlow          Kind = "too-slow"           // an answer came slower than MinRate
	KindReset            Kind = "reset"              // the connection broke
	KindEarlyEnd         Kind = "early-end"          // the connection ended before the answer did
	KindProtocol         Kind = "protocol"           // the answer is not HTTP/1, or its length is in doubt
	KindTooLarge         Kind = "too-large"          // head or body are beyond the limit
	KindEncoding         Kind = "encoding"           // the Content-Encoding is unknown, or the body is not what it says
	KindBomb             Kind = "bomb"               // a compressed body grows beyond the limit
	KindScheme           Kind = "scheme"             // the request is not one this client can send: its method, scheme, host, target or a field
	KindResource         Kind = "resource"           // this machine has no descriptor, port or memory for a connection just now
	KindCanceled         Kind = "canceled"           // the task was cancelled
)

// Kinds returns all there are, in the order in which an exchange meets them.
func Kinds() []Kind {
	return []Kind{
		KindScheme, KindResource, KindDNS, KindBlocked, KindConnect, KindProxy, KindDialTimeout, KindTLS, KindTLSTimeout,
		KindFirstByteTimeout, KindIdleTimeout, KindTooSlow, KindTimeout, KindReset, KindEarlyEnd,
		KindProtocol, KindTooLarge, KindEncoding, KindBomb, KindCanceled,
	}
}

// ErrNoRoom is matched by errors of KindResource that say that an answer has waited for room in
// Options.Meter for as long as an exchange may take. Another time there is some: of those that
// wait at once, one always goes on.
var ErrNoRoom = errors.New("no room in memory for the rest of the answer")

// ErrHeldUp is matched by errors of KindTooSlow that say that an answer has come so slowly, while it
// held memory that others waited for, that it was ended before its other limits: see Options.Meter.
var ErrHeldUp = errors.New("the answer comes too slowly to hold memory that others wait for")

// Error is what Do returns.
type Error struct {
	Kind   Kind
	Err    error
	Timing Timing         // until the failure
	Addr   netip.AddrPort // of the server, once connected; else, or if a proxy has looked it up, invalid
	Wire   int64          // bytes of the answer received, interim answers included
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case KindDNS:
		var dns *net.DNSError
		return !errors.As(e.Err, &dns) || !dns.IsNotFound
	case KindProxy:
		var no *refusal
		return !errors.As(e.Err, &no) || !no.lasting
	case KindResource, KindConnect, KindDialTimeout, KindTLSTimeout, KindFirstByteTimeout, KindIdleTimeout,
		KindTooSlow, KindTimeout, KindReset, KindEarlyEnd:
		return true
	}
	return false
}

func fail(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Err: fmt.Errorf(format, args...)}
}

// classify makes an *Error of an error from the network that is no time-out of ours:
// see limit.classify. What is none of the list is of kind otherwise.
func classify(err error, otherwise Kind) *Error {
	var e *Error
	var dns *net.DNSError
	kind := otherwise
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, aio.ErrCanceled):
		kind = KindCanceled
	case errors.As(err, &dns):
		kind = KindDNS
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOBUFS),
		errors.Is(err, syscall.ENOMEM):
		kind = KindResource
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		kind = KindReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		kind = KindEarlyEnd
	}
	return &Error{Kind: kind, Err: err}
}

// noPort reports whether err, of connecting to addresses, says that this machine has no
// local port left. EADDRNOTAVAIL is what the system says of that; of an IPv6 address also
// where there is none to connect from, as on a machine without IPv6. So it is not believed
// of IPv6 alone, nor beside another error.
func noPort(err error, to []netip.AddrPort) bool {
	errs := []error{err}
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		errs = several.Unwrap()
	}
	other := func(err error) bool { return !errors.Is(err, syscall.EADDRNOTAVAIL) }
	is4 := func(to netip.AddrPort) bool { return to.Addr().Unmap().Is4() }
	return !slices.ContainsFunc(errs, other) && slices.ContainsFunc(to, is4)
}
