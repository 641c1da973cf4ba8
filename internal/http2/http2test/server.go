package http2test

import (
	"encoding/binary"
	"math"
)

// Server takes what the server sends, before the client can have it, in pieces of any size. What is
// no frame of HTTP/2 changes nothing.
func (r *Referee) Server(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.init()
	r.server.bytes = append(r.server.bytes, b...)
	for f, ok := r.server.next(); ok; f, ok = r.server.next() {
		r.learn(f)
	}
}

// learn takes in what a frame of the server allows the client, or no longer does.
func (r *Referee) learn(f frame) {
	s := r.streams[f.id]
	if s == nil {
		s = new(stream) // of no account
	}
	switch f.kind {
	case data:
		s.window -= int64(len(f.payload))
		r.window -= int64(len(f.payload))
		s.serverEnded = s.serverEnded || f.flags&endStream != 0
	case headers: // whose last piece comes with the rest at once
		s.serverEnded = s.serverEnded || f.flags&endStream != 0
	case rstStream:
		s.serverReset = s.serverReset || len(f.payload) == 4
	case settings:
		if f.flags&ack == 0 && f.id == 0 && len(f.payload)%6 == 0 {
			r.terms.propose(f.payload, r.Prompt)
		}
	case ping:
		if f.id == 0 && f.flags&ack == 0 && len(f.payload) == 8 {
			r.pings = append(r.pings, append([]byte(nil), f.payload...))
		}
	case goAway:
		r.barred = r.barred || f.id == 0 && len(f.payload) >= 8
	case windowUpdate:
		if len(f.payload) == 4 {
			n := int64(binary.BigEndian.Uint32(f.payload) & math.MaxInt32)
			if f.id == 0 {
				r.credit += n
			} else {
				s.credit += n
			}
		}
	}
}
