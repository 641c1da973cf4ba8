package http1

import (
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// limit is when something has to be done, and what has run out if it is not. The
// zero limit is none.
type limit struct {
	at   time.Time // zero: never
	kind Kind      // of the error
	span time.Duration
}

// within returns the sooner of l and d from a time on; 0 is none.
func (l limit) within(d time.Duration, from time.Time, kind Kind) limit {
	if d > 0 {
		if at := from.Add(d); l.at.IsZero() || at.Before(l.at) {
			return limit{at, kind, d}
		}
	}
	return l
}

// limitNames is what the limits are called in the text of an error.
var limitNames = map[Kind]string{
	KindDialTimeout:      "dial timeout",
	KindTLSTimeout:       "TLS timeout",
	KindFirstByteTimeout: "first-byte timeout",
	KindIdleTimeout:      "idle timeout",
	KindTooSlow:          "minimum rate",
	KindTimeout:          "timeout of the whole fetch",
}

// classify makes an *Error of an error from the network; of a time-out one that says
// what was undone when which limit struck, instead of which call it met.
func (l limit) classify(err error, otherwise Kind, undone func() string) *Error {
	if !errors.Is(err, aio.ErrTimeout) {
		return classify(err, otherwise)
	}
	text := fmt.Sprintf("%s within %v (%s)", undone(), l.span, limitNames[l.kind])
	return &Error{Kind: l.kind, Err: &timeoutError{text, err}}
}

// timeoutError is a time-out in words. It matches aio.ErrTimeout.
type timeoutError struct {
	text  string
	cause error
}

func (e *timeoutError) Error() string { return e.text }
func (e *timeoutError) Unwrap() error { return e.cause }
