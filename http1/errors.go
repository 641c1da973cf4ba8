package http1

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/weftcrawl/weft/aio"
)

// Kind classifies what went wrong with an exchange.
type Kind string

const (
	KindDNS      Kind = "dns"       // the host name could not be resolved
	KindConnect  Kind = "connect"   // no connection could be made
	KindTimeout  Kind = "timeout"   // the time for the exchange ran out
	KindReset    Kind = "reset"     // the connection broke
	KindEarlyEnd Kind = "early-end" // the connection ended before the answer did
	KindProtocol Kind = "protocol"  // the answer is not HTTP/1, or its length is in doubt
	KindTooLarge Kind = "too-large" // head or body are beyond the limit
	KindEncoding Kind = "encoding"  // the Content-Encoding is unknown, or the body is not what it says
	KindBomb     Kind = "bomb"      // a compressed body grows beyond the limit
	KindScheme   Kind = "scheme"    // the URL is not one this client can fetch
	KindResource Kind = "resource"  // this machine has no descriptor, port or memory for a connection just now
	KindCanceled Kind = "canceled"  // the task was cancelled
)

// Error is what Get returns.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case KindResource, KindDNS, KindConnect, KindTimeout, KindReset, KindEarlyEnd:
		return true
	}
	return false
}

func fail(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Err: fmt.Errorf(format, args...)}
}

// classify makes an *Error of an error from the network.
func classify(err error, otherwise Kind) *Error {
	var e *Error
	var dns *net.DNSError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, aio.ErrTimeout):
		return &Error{Kind: KindTimeout, Err: err}
	case errors.Is(err, aio.ErrCanceled):
		return &Error{Kind: KindCanceled, Err: err}
	case errors.As(err, &dns):
		return &Error{Kind: KindDNS, Err: err}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOBUFS),
		errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EADDRNOTAVAIL):
		return &Error{Kind: KindResource, Err: err}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return &Error{Kind: KindReset, Err: err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Kind: KindEarlyEnd, Err: err}
	}
	return &Error{Kind: otherwise, Err: err}
}
