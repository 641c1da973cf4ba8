package httpclient

import (
	"strings"
	"time"
)

// maxValidator bounds the ETag that is sent back: every later request carries it.
const maxValidator = 1024

// Validators returns the fields that make a later request conditional on a change of r (RFC 9110,
// section 13.1): If-None-Match with its ETag, weak or strong, and If-Modified-Since with its
// Last-Modified, each as received, as far as r has them and they are well-formed; nil for none. If
// nothing has changed, the response is a 304: it has no body, whatever its fields say, and its
// connection is used again.
func (r *Response) Validators() (h Header) {
	if tag := r.Header.Get("ETag"); isETag(tag) {
		h = append(h, Field{"If-None-Match", tag})
	}
	if date := r.Header.Get("Last-Modified"); isDate(date) {
		h = append(h, Field{"If-Modified-Since", date})
	}
	return h
}

// isETag reports whether s is an entity tag (RFC 9110, section 8.8.3) that is not too long.
func isETag(s string) bool {
	if len(s) > maxValidator {
		return false
	}
	s = strings.TrimPrefix(s, "W/")
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return false
	}
	for _, c := range []byte(s[1 : len(s)-1]) {
		if c <= ' ' || c == '"' || c == 0x7f {
			return false
		}
	}
	return true
}

// isDate reports whether s is a date in one of the forms of RFC 9110, section 5.6.7.
func isDate(s string) bool {
	for _, form := range [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if _, err := time.Parse(form, s); err == nil {
			return true
		}
	}
	return false
}
