package serve

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/firecrawl"
	"github.com/weftcrawl/weft/internal/share"
)

// patient writes for as long as somebody reads, and as long as there is room for what he has not
// read.
type patient struct {
	http.ResponseWriter
	conn  *http.ResponseController
	ctx   context.Context // of the request: its account, if there is one, holds what is written
	takes times
	fail  func(w http.ResponseWriter, status int, detail string)

	dir    []byte // the folder of crawls, which nobody is told
	failed bool   // the answer is an error
	status int    // that is to be sent; 0: none
	sent   bool   // a status is
	full   bool   // that there was no room was the answer: nothing more is written
	cut    bool   // there was no room for all of it
}

// Parts of a response.
const (
	mostPart = 64 << 10 // bytes that are written at once, and that need no room
	inMemory = 2        // bytes for one that is written: itself, and the value that it was made of
)

func (s *Server) patient(w http.ResponseWriter, r *http.Request) *patient {
	p := &patient{
		ResponseWriter: w, conn: http.NewResponseController(w), ctx: r.Context(), takes: s.takes, fail: fail,
		dir: []byte(s.o.Crawls.Dir() + "/"),
	}
	if strings.HasPrefix(r.URL.Path, "/v2/") {
		p.fail = firecrawl.Refuse
	}
	return p
}

// WriteHeader begins an answer. Its status is sent with the first part, as there may be no room for
// that.
func (p *patient) WriteHeader(status int) {
	if p.sent || p.status != 0 {
		return
	}
	if p.failed = status >= 400; status == http.StatusTooManyRequests {
		p.Header().Set("Retry-After", "5")
	}
	p.status = status
}

// begin sends the status.
func (p *patient) begin() {
	if p.status != 0 && !p.sent {
		p.ResponseWriter.WriteHeader(p.status)
	}
	p.sent = true
}

// Write writes a part of an answer.
func (p *patient) Write(b []byte) (int, error) {
	all := len(b)
	if all > mostPart && !p.full && !p.cut {
		give, err := share.AtLeast(p.ctx, inMemory*all)
		if err != nil {
			p.refuse()
		} else {
			defer give()
		}
	}
	switch {
	case p.cut:
		return 0, share.ErrFull
	case p.full:
		return all, nil
	}
	if p.failed && bytes.Contains(b, p.dir) {
		b = bytes.ReplaceAll(b, p.dir, nil)
	}
	p.begin()
	for {
		part := b[:min(len(b), mostPart)]
		now := time.Now()
		// A recorder of a test has none.
		_, _ = p.conn.SetWriteDeadline(now.Add(p.takes.write)), p.conn.SetReadDeadline(now.Add(p.takes.request))
		if _, err := p.ResponseWriter.Write(part); err != nil {
			return 0, err
		}
		if b = b[len(part):]; len(b) == 0 {
			return all, nil
		}
	}
}

// refuse answers that there is no room for the answer. If a part of that was sent, nobody must take
// it for the whole.
func (p *patient) refuse() {
	if p.cut = p.sent; p.cut {
		return
	}
	p.status = 0
	for _, name := range []string{"Content-Disposition", "ETag", "Location"} {
		p.Header().Del(name)
	}
	p.fail(p, http.StatusTooManyRequests, share.ErrFull.Error())
	p.full = true
}

// end ends an answer.
func (p *patient) end() {
	if p.cut {
		panic(http.ErrAbortHandler)
	}
	p.begin()
}

// Flush sends what was written.
func (p *patient) Flush() {
	p.begin()
	_ = p.conn.Flush() // whoever asked may have left
}

// Unwrap lets a ResponseController set other times.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
