package replay

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// cut leaves of an answer the range that a request is for (RFC 9110, section 14): browsers seek in
// audio and video so. An answer whose size is not known stays whole, and so does one of which
// several ranges are wanted.
func (a *answer) cut(h http.Header, r *http.Request) {
	if a.status != http.StatusOK || a.size < 0 {
		return
	}
	h.Set("Accept-Ranges", "bytes")
	from, length, ok := rangeOf(r.Header.Get("Range"), a.size)
	if !ok || r.Method != http.MethodGet || r.Header.Get("If-Range") != "" {
		return
	}
	if length <= 0 {
		h.Set("Content-Range", fmt.Sprintf("bytes */%d", a.size))
		a.status, a.body = http.StatusRequestedRangeNotSatisfiable, strings.NewReader("")
		return
	}
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+length-1, a.size))
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	a.status = http.StatusPartialContent
	_, _ = io.CopyN(io.Discard, a.body, from) // an error comes again
	a.body = io.LimitReader(a.body, length)
}

// rangeOf reads a range; none of the content has no length.
func rangeOf(field string, size int64) (from, length int64, ok bool) {
	unit, spec, _ := strings.Cut(field, "=")
	first, last, ok := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return 0, 0, false
	}
	number := func(s string) (n int64) {
		u, err := strconv.ParseUint(s, 10, 63)
		ok = ok && err == nil
		return int64(u)
	}
	switch {
	case first == "":
		length = min(number(last), size)
		return size - length, length, ok
	case last == "":
		from = number(first)
		return from, size - from, ok
	}
	from, to := number(first), number(last)
	return from, min(to, size-1) + 1 - from, ok && from <= to
}
