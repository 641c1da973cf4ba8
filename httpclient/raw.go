package httpclient

import "unsafe"

// frames are the bytes of the chunked coding outside the body: sizes, line ends, trailers.
type frames struct {
	text  []byte
	marks []frame
}

// frame is a piece of frames.text: it ends before end, and stands before the body's byte at.
type frame struct{ at, end int }

// add adds bytes that came behind the first at bytes of the body.
func (f *frames) add(at int, b []byte) {
	if f.text == nil { // hardly any body has more
		f.text, f.marks = make([]byte, 0, 64), make([]frame, 0, 8)
	}
	f.text = append(f.text, b...)
	if n := len(f.marks); n > 0 && f.marks[n-1].at == at {
		f.marks[n-1].end = len(f.text)
		return
	}
	f.marks = append(f.marks, frame{at, len(f.text)})
}

// size returns the memory that they take, in bytes.
func (f *frames) size() int { return cap(f.text) + cap(f.marks)*int(unsafe.Sizeof(frame{})) }

// Received returns the body without its transfer coding and with its content coding, as far as it
// arrived. It needs Options.KeepRaw, and is valid until Close.
func (r *Response) Received() []byte {
	if r.wire == nil {
		return nil
	}
	return *r.wire
}

// RawLen returns the length of the response as received, in bytes: of RawHead and what AppendRaw
// appends.
func (r *Response) RawLen() int {
	n := len(r.RawHead) + len(r.frames.text)
	if r.wire != nil {
		n += len(*r.wire)
	}
	return n
}

// manyFrames is the least number of pieces of framing from which AppendRaw copies: a hostile server
// sends a chunk for each byte.
const manyFrames = 256

// AppendRaw appends the pieces of the response that follow RawHead, as received: the body with its
// transfer and content codings, or as much as arrived of it. It needs Options.KeepRaw; the pieces
// are valid until Close.
func (r *Response) AppendRaw(pieces [][]byte) [][]byte {
	if r.wire == nil {
		return pieces
	}
	if len(r.frames.marks) < manyFrames {
		for piece := range r.pieces {
			pieces = append(pieces, piece)
		}
		return pieces
	}
	all := make([]byte, 0, r.RawLen()-len(r.RawHead))
	for piece := range r.pieces {
		all = append(all, piece...)
	}
	return append(pieces, all)
}

// pieces yields the pieces of body and framing.
func (r *Response) pieces(yield func([]byte) bool) {
	body, at, from := *r.wire, 0, 0
	for _, f := range r.frames.marks {
		if !yield(body[at:f.at]) || !yield(r.frames.text[from:f.end]) {
			return
		}
		at, from = f.at, f.end
	}
	yield(body[at:])
}

// spoil gives up the body of a response that arrived whole and could not be decoded.
func (r *Response) spoil() {
	if r.whole != nil && r.whole != r.wire {
		r.from.give(r.whole)
	}
	r.whole, r.Body = nil, nil
}
