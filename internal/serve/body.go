package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// A body is long if it takes much memory to read it: for each value in it, hundreds of bytes.
const (
	shortBody   = 256 << 10 // bytes
	shortValues = 20_000
	mostValues  = 150_000
	mostLong    = 8                // requests with a long body at once
	mostOwnLong = 4                // of one token
	longWaits   = 10 * time.Second // for others, at most
	bodyTakes   = time.Minute      // at most
)

// refusal is the answer to a body that is not taken.
type refusal struct {
	status int
	detail string
}

// body reads the body of a request, so that no slow sender holds anything but his connection, and
// returns the request with it. The caller calls leave behind the request.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (with *http.Request, leave func(), no *refusal) {
	leave = func() {}
	if r.Body == nil || r.Body == http.NoBody || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r, leave, nil
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(bodyTakes)) // a recorder of a test has none
	from := http.MaxBytesReader(w, r.Body, mostBody)
	text, err := io.ReadAll(io.LimitReader(from, shortBody+1))
	n := values(text)
	if err == nil && (len(text) > shortBody || n > shortValues) {
		ctx, cancel := context.WithTimeout(r.Context(), longWaits)
		defer cancel()
		if leave, err = s.bodies.Enter(ctx); err != nil {
			return nil, nil, &refusal{http.StatusServiceUnavailable, "too many long requests at once, try again later"}
		}
		var rest []byte
		rest, err = io.ReadAll(from)
		text = append(text, rest...)
		n = values(text)
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		no = &refusal{http.StatusRequestEntityTooLarge, "the body is too long: expected at most 4 MiB"}
	case err != nil:
		no = &refusal{http.StatusBadRequest, "the body did not come"}
	case n > mostValues:
		no = &refusal{http.StatusRequestEntityTooLarge, "the body has too many values: expected at most 150,000"}
	}
	if no != nil {
		leave()
		return nil, nil, no
	}
	_ = conn.SetReadDeadline(time.Now().Add(s.takes.request))
	// The request that the server has keeps its body: behind another one it would not know how much
	// is left of it.
	with = r.WithContext(r.Context())
	with.Body = io.NopCloser(bytes.NewReader(text))
	return with, leave, nil
}

// values returns about the number of values in JSON: of the signs before one.
func values(text []byte) (n int) {
	inside, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case !inside && (c == ',' || c == '[' || c == '{' || c == ':'):
			n++
		}
	}
	return n
}
