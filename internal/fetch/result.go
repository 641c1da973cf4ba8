package fetch

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
)

// resultOf says what a response teaches about the host's pace.
func resultOf(res *httpclient.Response, now time.Time) frontier.Result {
	a := frontier.Result{
		Took:     res.Timing.FirstByte,
		Total:    res.Timing.Total,
		Addr:     res.Addr.Addr(),
		Overload: res.Status == 429 || res.Status == 503,
	}
	if a.Overload {
		a.Status = res.Status
		a.RetryAfter = retryAfter(res.Header.Get("Retry-After"), now)
	}
	return a
}

// blameHost takes in an error that is the host's: it did not answer at all. Others are of one page,
// or of this machine.
func blameHost(a *frontier.Result, e *httpclient.Error) {
	switch e.Kind {
	case httpclient.KindFirstByteTimeout, httpclient.KindTimeout, httpclient.KindReset, httpclient.KindEarlyEnd:
		a.Silent = true
	case httpclient.KindConnect, httpclient.KindDialTimeout, httpclient.KindTLSTimeout:
		a.Unreached = true
	case httpclient.KindDNS:
		a.Unreached, a.Absent = e.Temporary(), !e.Temporary()
	case httpclient.KindTLS:
	default:
		return
	}
	a.Failure, a.Reason = string(e.Kind), frontier.Brief(e.Err.Error())
}

// retryAfter reads a Retry-After field (RFC 9110, section 10.2.3): any number of seconds, or a
// date. Some servers send seconds with a fraction, which are rounded up.
func retryAfter(value string, now time.Time) time.Duration {
	whole, fraction, point := strings.Cut(value, ".")
	if _, err := strconv.ParseUint(fraction, 10, 64); point && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return retryAfter(whole, now) + time.Second
	}
	s, err := strconv.ParseUint(value, 10, 31)
	switch {
	case err == nil:
		return time.Duration(s) * time.Second
	case errors.Is(err, strconv.ErrRange):
		return frontier.MaxRetryAfter
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// mayPass reports whether a later response may have another status.
func mayPass(status int) bool {
	return status == 429 || status == 502 || status == 503 || status == 504
}
