package httpclient

import (
	"container/list"
	"crypto/tls"
	"crypto/x509"
)

// maxChain is the longest handshake, in bytes of the server, after which a connection and its
// session are kept. Nearly all of it is certificates, and most chains have 2 to 6 KB; crypto/tls
// takes 256 KB.
const maxChain = 32 << 10

// Certificates take much more memory parsed than sent. What they come to was measured on
// certificates with thousands of names, extensions, identifiers and so on: 5 to 14 bytes a byte,
// and 3 in the table of certificates of crypto/tls; URIs take more.
const (
	certBytes = 16      // of memory, for a byte of certificates, at most
	certBase  = 2 << 10 // of memory, for a certificate
	uriBytes  = 256     // of memory, for a URI in a certificate
)

// plainChain is the memory of the certificates of a connection that counts with the connection: see
// budget.PerRequest.
const plainChain = 64 << 10

// weighChain returns the memory that certificates take, in bytes, once parsed.
func weighChain(chain []*x509.Certificate) int {
	n := 0
	for _, c := range chain {
		n += certBase + certBytes*len(c.Raw) + uriBytes*len(c.URIs)
	}
	return n
}

// sessions are the TLS sessions that a client remembers for resumption. crypto/tls keeps the
// certificates of a server with each, so their memory is bounded, not their number: beyond it the
// least recently used are forgotten.
type sessions struct {
	most  int // bytes
	bytes int
	known map[string]*list.Element // by origin: host and port
	used  list.List                // of *session, most recently used first
}

// session is one of them.
type session struct {
	origin string
	state  *tls.ClientSessionState
	certs  []*x509.Certificate // of the server
	chain  int                 // memory of its certificates
	bytes  int                 // of all of it
}

// sessionBytes is the memory of a session without certificates and ticket.
const sessionBytes = 1 << 10

func newSessions(most int) sessions {
	return sessions{most: most, known: make(map[string]*list.Element)}
}

// put remembers the session of an origin, and its certificates, which take chain bytes; state nil:
// forgets it.
func (s *sessions) put(origin string, state *tls.ClientSessionState, certs []*x509.Certificate, chain int) {
	if e := s.known[origin]; e != nil {
		s.remove(e)
	}
	if state == nil {
		return
	}
	ticket, _, err := state.ResumptionState()
	if err != nil {
		return
	}
	n := &session{origin, state, certs, chain, sessionBytes + len(origin) + len(ticket) + chain}
	if n.bytes > s.most {
		return
	}
	s.known[origin] = s.used.PushFront(n)
	for s.bytes += n.bytes; s.bytes > s.most; {
		s.remove(s.used.Back())
	}
}

// get returns the session of an origin, or nil.
func (s *sessions) get(origin string) *session {
	e := s.known[origin]
	if e == nil {
		return nil
	}
	s.used.MoveToFront(e)
	return e.Value.(*session)
}

func (s *sessions) remove(e *list.Element) {
	n := s.used.Remove(e).(*session)
	s.bytes -= n.bytes
	delete(s.known, n.origin)
}

// Get and Put make a channel the tls.ClientSessionCache of its connection.
