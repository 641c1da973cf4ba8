package httpclient

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

// Kind classifies the failure of an exchange.
type Kind string

const (
	KindDNS              Kind = "dns"                // the host name could not be resolved
	KindBlocked          Kind = "blocked-address"    // Request.Allow refuses all of its addresses
	KindConnect          Kind = "connect"            // no connection could be made
	KindProxy            Kind = "proxy"              // the proxy is unreachable or does not connect
	KindTLS              Kind = "tls"                // the handshake failed, or a record is corrupt
	KindDialTimeout      Kind = "dial-timeout"       // look-up and connecting exceeded DialTimeout
	KindTLSTimeout       Kind = "tls-timeout"        // the handshake exceeded TLSTimeout
	KindFirstByteTimeout Kind = "first-byte-timeout" // no response began within FirstByteTimeout
	KindIdleTimeout      Kind = "idle-timeout"       // a response paused longer than IdleTimeout
	KindTimeout          Kind = "timeout"            // the whole exchange exceeded Timeout
	KindTooSlow          Kind = "too-slow"           // a response came slower than MinRate
	KindReset            Kind = "reset"              // the connection broke
	KindEarlyEnd         Kind = "early-end"          // the connection ended before the response did
	KindProtocol         Kind = "protocol"           // no valid HTTP, or of doubtful length
	KindTooLarge         Kind = "too-large"          // head or body exceed their limit
	KindEncoding         Kind = "encoding"           // not decoded here, or the body does not match it
	KindBomb             Kind = "bomb"               // a compressed body grows beyond the limit
	KindScheme           Kind = "scheme"             // the request cannot be sent as it is
	KindResource         Kind = "resource"           // no descriptor, port or memory at the moment
	KindCanceled         Kind = "canceled"           // the task was cancelled
)

// Kinds returns all kinds, in the order in which an exchange meets them.
func Kinds() []Kind {
	return []Kind{
		KindScheme, KindResource, KindDNS, KindBlocked, KindConnect, KindProxy, KindDialTimeout, KindTLS, KindTLSTimeout,
		KindFirstByteTimeout, KindIdleTimeout, KindTooSlow, KindTimeout, KindReset, KindEarlyEnd,
		KindProtocol, KindTooLarge, KindEncoding, KindBomb, KindCanceled,
	}
}

// ErrNoRoom matches errors of KindResource of a response that has waited for room in Options.Meter
// as long as an exchange may take. A later attempt finds room: of several responses that wait at
// the same time, one always proceeds.
var ErrNoRoom = errors.New("no room in memory for the rest of the response")

// ErrHeldUp matches errors of KindTooSlow of a response that was ended before its other limits,
// because it came too slowly while it held memory that others waited for: see Options.Meter.
var ErrHeldUp = errors.New("the response comes too slowly to hold memory that others wait for")

// ErrStale matches the error of a request that was sent over a kept connection just when the server
// ended that: nothing is wrong with either, and the request may be sent again. See Request.Once.
var ErrStale = errors.New("the server has ended the kept connection")

// ErrCertificate matches errors of KindTLS of a server whose certificate is not accepted.
var ErrCertificate = errors.New("certificate not accepted")

// Error is the error of Do.
type Error struct {
	Kind   Kind
	Err    error
	Timing Timing         // until the failure
	Addr   netip.AddrPort // of the server; invalid if not connected or not known
	Wire   int64          // bytes of the response received, including interim responses

	local      bool // see Local
	unseen     bool // see Unsent
	overloaded bool // see Overloaded
	alone      bool // see Alone
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
		return !errors.As(e.Err, &no) || !no.permanent
	case KindResource, KindConnect, KindDialTimeout, KindTLSTimeout, KindFirstByteTimeout, KindIdleTimeout,
		KindTooSlow, KindTimeout, KindReset, KindEarlyEnd:
		return true
	}
	return false
}

// Unsent reports whether the server cannot have taken the request: nothing of it has arrived, or
// the server says that it has not looked at it.
func (e *Error) Unsent() bool {
	if e.unseen {
		return true
	}
	switch e.Kind {
	case KindScheme, KindDNS, KindBlocked, KindConnect, KindProxy, KindDialTimeout, KindTLSTimeout:
		return true
	case KindResource:
		return !errors.Is(e, ErrNoRoom)
	}
	return false
}

// Overloaded reports whether a server wants to be left alone, as 429 says in HTTP: over HTTP/2 it
// has refused the request or asked for calm. Alone reports whether there was no other request over
// the connection, so that this one may be what it has asked for calm for.
func (e *Error) Overloaded() bool { return e.overloaded }
func (e *Error) Alone() bool      { return e.alone }

// securing reports whether a connection was made, and TLS was not agreed upon.
func (e *Error) securing() bool {
	switch e.Kind {
	case KindTLS, KindTLSTimeout, KindReset, KindEarlyEnd:
		return true
	}
	return false
}

// Refused reports whether a host answered that it takes no connection.
func (e *Error) Refused() bool { return errors.Is(e.Err, syscall.ECONNREFUSED) }

// NoProxy reports whether there is no host of the proxy's name.
func (e *Error) NoProxy() bool {
	var dns *net.DNSError
	return e.Kind == KindProxy && errors.As(e.Err, &dns) && dns.IsNotFound
}

// Local reports whether the failure can only be that of this machine's own network: it has no
// route, its name servers are not there, or its proxy does not respond.
func (e *Error) Local() bool {
	switch e.Kind {
	case KindProxy:
		var no *refusal
		return !errors.As(e.Err, &no)
	case KindDNS:
		var dns *net.DNSError
		return errors.As(e.Err, &dns) && slices.ContainsFunc(noNetwork, func(errno syscall.Errno) bool {
			return dns.Err == errno.Error()
		})
	}
	return e.local
}

// noNetwork are the errors of a machine without a network. A name server is often this machine.
var noNetwork = []syscall.Errno{
	syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTUNREACH, syscall.ECONNREFUSED,
}

// noRoute reports whether err, from connecting to addresses, means that this machine has no route
// anywhere. That there is none for IPv6 alone is usual.
func noRoute(err error, to []netip.AddrPort) bool {
	if !errors.Is(err, syscall.ENETUNREACH) && !errors.Is(err, syscall.ENETDOWN) {
		return false
	}
	is4 := func(to netip.AddrPort) bool { return to.Addr().Unmap().Is4() }
	return slices.ContainsFunc(to, is4) && !errors.Is(err, syscall.ECONNREFUSED)
}

func fail(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Err: fmt.Errorf(format, args...)}
}

// lost puts the loss of a connection in words that say when it happened.
func (e *Error) lost(place string) *Error {
	switch e.Kind {
	case KindReset:
		e.Err = &reworded{"the connection was reset " + place, e.Err}
	case KindEarlyEnd:
		e.Err = &reworded{"the connection ended " + place, e.Err}
	}
	return e
}

// classify makes an *Error of a network error that is not one of our time-outs: see
// limit.classify. An unlisted error gets the kind otherwise.
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

// noPort reports whether err, from connecting to addresses, means that this machine has no local
// port left. The system reports that as EADDRNOTAVAIL, which for an IPv6 address can also mean
// that there is no address to connect from, as on a machine without IPv6. So it does not count for
// IPv6 alone, nor together with another error.
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
