package weburl

import (
	"errors"
	"fmt"
)

// The errors of a URL. Parse and Resolve return an *Error that wraps one of these.
var (
	// ErrRelative is returned when a reference has no scheme and there is no
	// base, or the base has an opaque path.
	ErrRelative = errors.New("relative without a base")
	// ErrNoHost is returned when a host is required and missing.
	ErrNoHost = errors.New("no host")
	// ErrHost is returned when a host has a character that no host can have.
	ErrHost = errors.New("invalid host")
	// ErrIDNA is returned when a host name is not valid under UTS #46.
	ErrIDNA = errors.New("invalid international host name")
	// ErrIPv4 is returned when a host ends in a number but is not an IPv4 address.
	ErrIPv4 = errors.New("invalid IPv4 address")
	// ErrIPv6 is returned when a bracketed host is not an IPv6 address.
	ErrIPv6 = errors.New("invalid IPv6 address")
	// ErrPort is returned when a port is not a number from 0 to 65535.
	ErrPort = errors.New("invalid port")
	// ErrTooLong is returned when a URL is longer than MaxLength.
	ErrTooLong = errors.New("too long")
)

// Error names the URL or reference that could not be parsed. It holds no more than its first 128
// bytes, since the Web writes them.
type Error struct {
	Input string // as given, cut to 128 bytes
	Err   error  // one of the sentinels above
}

const maxErrorInput = 128

func newError(input string, err error) *Error {
	if len(input) > maxErrorInput {
		// A copy: an error that is kept must not keep the page.
		input = string([]byte(input[:maxErrorInput]))
	}
	return &Error{Input: input, Err: err}
}

func (e *Error) Error() string { return fmt.Sprintf("weburl: %q: %v", e.Input, e.Err) }

func (e *Error) Unwrap() error { return e.Err }
