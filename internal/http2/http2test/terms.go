package http2test

import "encoding/binary"

// limits are the bounds that the server's settings set.
type limits struct {
	streams uint32
	window  int64
	frame   int
	table   uint32
}

// terms are the limits of the client, as far as it knows of them.
type terms struct {
	known   limits   // those that it has acknowledged
	pending []limits // those that it has not
}

// allowed returns the most that the server's settings allow as far as the client may know them.
func (t *terms) allowed() limits {
	l := t.known
	for _, p := range t.pending {
		l = limits{max(l.streams, p.streams), max(l.window, p.window), max(l.frame, p.frame), max(l.table, p.table)}
	}
	return l
}

// propose takes settings of the server. A prompt client has read them when it sends more.
func (t *terms) propose(settings []byte, prompt bool) {
	l := t.known
	if n := len(t.pending); n > 0 {
		l = t.pending[n-1]
	}
	for b := settings; len(b) > 0; b = b[6:] {
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
	if prompt {
		t.known.streams, t.known.window, t.known.frame = l.streams, l.window, l.frame
		for i := range t.pending {
			p := &t.pending[i]
			p.streams, p.window, p.frame = l.streams, l.window, l.frame
		}
	}
	t.pending = append(t.pending, l)
}

// acknowledge notes that the client knows the oldest pending limits; false: there are none.
func (t *terms) acknowledge() bool {
	if len(t.pending) == 0 {
		return false
	}
	t.known, t.pending = t.pending[0], t.pending[1:]
	return true
}
