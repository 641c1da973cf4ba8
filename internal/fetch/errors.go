package fetch

import (
	"errors"

	"github.com/weftcrawl/weft/httpclient"
)

// kindOf returns the kind of an error of the exchange.
func kindOf(err error) httpclient.Kind {
	var e *httpclient.Error
	errors.As(err, &e)
	return e.Kind
}

// endsCrawl reports whether an error of the client is that of a cancelled task, and not of the
// exchange.
func endsCrawl(err error) bool {
	var e *httpclient.Error
	return !errors.As(err, &e) || e.Kind == httpclient.KindCanceled
}
