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
		r.learnSettings(f)
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

func (r *Referee) learnSettings(f frame) {
	if f.flags&ack != 0 || f.id != 0 || len(f.payload)%6 != 0 {
		return
	}
	l := r.limits
	if n := len(r.pending); n > 0 {
		l = r.pending[n-1]
	}
	for b := f.payload; len(b) > 0; b = b[6:] {
		switch id, value := binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:]); {
		case id == 1:
			l.table = value
		case id == 3:
			l.streams = value
		case id == 4 && value <= maxWindow:
			l.window = int64(value)
		case id == 5 && value >= firstFrame && value <= largestFrame:
			l.frame = int(value)
		}
	}
	if r.Prompt { // the client has read them when it sends more
		r.limits.streams, r.limits.window, r.limits.frame = l.streams, l.window, l.frame
		for i := range r.pending {
			p := &r.pending[i]
			p.streams, p.window, p.frame = l.streams, l.window, l.frame
		}
	}
	r.pending = append(r.pending, l)
}
