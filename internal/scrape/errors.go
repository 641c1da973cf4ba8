package scrape

import (
	"context"
	"errors"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/option"
)

// Kind is the kind of an Error.
type Kind string

// Kinds.
const (
	KindMistake     Kind = "invalid"         // the call itself is wrong
	KindBlocked     Kind = "blocked-address" // it, or a redirect, leads where strangers may not
	KindNetwork     Kind = "unreachable"     // no response: Error.Cause says why
	KindTimeout     Kind = "timeout"         // in the time of the call, or in one of its parts
	KindTooLong     Kind = "too-long"        // of a body
	KindNoText      Kind = "no-text"         // the content is none that texts are made of
	KindNeedScripts Kind = "needs-scripts"   // the page is empty until its scripts run
	KindNoRendering Kind = "no-rendering"    // it is not allowed, there is no browser, or it failed
	KindPart        Kind = "partial"         // something is missing: Detail says what
	KindBusy        Kind = "busy"            // too many calls wait, or results
	KindCanceled    Kind = "canceled"        // by the caller
)

// Error is the reason for which there is no result, or a part of one is missing.
type Error struct {
	Kind   Kind
	URL    string // as asked for; of a failed fetch, where redirects have led
	Cause  string // error kind of weft.Kinds; or empty
	Detail string
}

func (e *Error) Error() string {
	cause := string(e.Kind)
	if e.Cause != "" && e.Cause != cause {
		cause += " (" + e.Cause + ")"
	}
	return e.URL + ": " + cause + ": " + e.Detail
}

// PrivateHint helps a caller with an address that is not public.
const PrivateHint = "the operator may allow it with --allow-private"

// Advised is the error, with what helps a caller.
func (e *Error) Advised() string {
	if e.Kind == KindBlocked {
		return e.Error() + ": " + PrivateHint
	}
	return e.Error()
}

// problemOf says what an error of a fetch means; nil: there is none.
func problemOf(url string, err error) *Error {
	var failed *weft.FetchError
	var wrong *option.Error
	e := &Error{URL: url}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, errBusy), errors.Is(err, share.ErrFull):
		e.Kind, e.Detail = KindBusy, err.Error()
	case errors.Is(err, context.Canceled):
		e.Kind, e.Detail = KindCanceled, "the call was canceled"
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Detail = KindTimeout, "the time of the call is over"
	case errors.As(err, &failed):
		r := failed.Record
		e.Kind, e.URL, e.Cause, e.Detail = kindOf(httpclient.Kind(r.ErrorKind)), r.URL, r.ErrorKind, r.Error
	case errors.As(err, &wrong):
		e.Kind, e.Detail = KindMistake, err.Error()
	case errors.Is(err, weft.ErrNoBrowser):
		e.Kind, e.Detail = KindNoRendering, "there is no browser"
	default:
		e.Kind, e.Detail = KindNetwork, err.Error()
	}
	return e
}

func kindOf(k httpclient.Kind) Kind {
	switch k {
	case httpclient.KindBlocked:
		return KindBlocked
	case httpclient.KindTooLarge, httpclient.KindBomb:
		return KindTooLong
	case httpclient.KindScheme:
		return KindMistake
	case httpclient.KindTimeout, httpclient.KindDialTimeout, httpclient.KindTLSTimeout, httpclient.KindFirstByteTimeout, httpclient.KindIdleTimeout, httpclient.KindTooSlow:
		return KindTimeout
	}
	return KindNetwork
}

// short is the beginning of what a caller has sent.
func short(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
