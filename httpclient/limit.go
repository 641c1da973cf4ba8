package httpclient

import (
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// limit is a deadline and the kind of error for missing it. The zero limit is none.
type limit struct {
	at   time.Time // zero: never
	kind Kind      // of the error
	span time.Duration
}

// within returns the earlier of l and d after from; a d of 0 is no limit.
func (l limit) within(d time.Duration, from time.Time, kind Kind) limit {
	if d > 0 {
		if at := from.Add(d); l.at.IsZero() || at.Before(l.at) {
			return limit{at, kind, d}
		}
	}
	return l
}

// extend moves a deadline by d.
func (l *limit) extend(d time.Duration) {
	if !l.at.IsZero() {
		l.at = l.at.Add(d)
	}
}

// limitNames are the names of the limits in the text of an error.
var limitNames = map[Kind]string{
	KindDialTimeout:      "dial timeout",
	KindTLSTimeout:       "TLS timeout",
	KindFirstByteTimeout: "first-byte timeout",
	KindIdleTimeout:      "idle timeout",
	KindTooSlow:          "minimum rate",
	KindTimeout:          "timeout of the whole fetch",
}

// classify makes an *Error of a network error. For a time-out the text says what was pending when
// which limit struck, instead of which call was interrupted.
func (l limit) classify(err error, otherwise Kind, pending func() string) *Error {
	if !errors.Is(err, aio.ErrTimeout) {
		return classify(err, otherwise)
	}
	text := fmt.Sprintf("%s within %v (%s)", pending(), l.span, limitNames[l.kind])
	return &Error{Kind: l.kind, Err: &reworded{text, err}}
}

// reworded is an error with a text that suits its kind.
type reworded struct {
	text  string
	cause error
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.cause }
