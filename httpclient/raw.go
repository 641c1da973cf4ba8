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

// RawLen returns the length of what AppendRaw appends, in bytes.
func (r *Response) RawLen() int {
	n := len(r.RawHead) + len(r.frames.text)
	if r.wire != nil {
		n += len(*r.wire)
	}
	return n
}

// AppendRaw appends the response as received, without interim responses: status line, fields and
// body with their transfer and content codings, or as much as arrived of them. It needs
// Options.KeepRaw, and must be called before Close.
func (r *Response) AppendRaw(b []byte) []byte {
	b = append(b, r.RawHead...)
	if r.wire == nil {
		return b
	}
	body, at, from := *r.wire, 0, 0
	for _, f := range r.frames.marks {
		b = append(b, body[at:f.at]...)
		b = append(b, r.frames.text[from:f.end]...)
		at, from = f.at, f.end
	}
	return append(b, body[at:]...)
}

// spoil gives up the body of a response that arrived whole and could not be decoded.
func (r *Response) spoil() {
	if r.whole != nil && r.whole != r.wire {
		r.from.give(r.whole)
	}
	r.whole, r.Body = nil, nil
}
