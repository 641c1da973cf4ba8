package http2

// input is the frame that is arriving.
type input struct {
	head    [headLen]byte
	got     int // bytes of head
	frame   frame
	left    int    // of its payload
	payload []byte // the part that has arrived, unless it is DATA
	data    *Stream
	padding int  // bytes at the end of DATA; -1: the length of it comes first
	moved   bool // there was some of a body in it
}

// addHead takes some of the head, and returns how much.
func (in *input) addHead(b []byte) int {
	n := copy(in.head[in.got:], b)
	if in.got += n; in.got == headLen {
		in.frame = readHead(in.head[:])
		in.left = in.frame.length
	}
	return n
}

// piece takes some of the payload, and returns it.
func (in *input) piece(b []byte) []byte {
	b = b[:min(len(b), in.left)]
	in.left -= len(b)
	return b
}

// gather returns what has arrived of the payload, with a piece that does. It keeps none that is the
// whole.
func (in *input) gather(b []byte) []byte {
	if in.left == 0 && len(in.payload) == 0 {
		return b
	}
	in.payload = append(in.payload, b...)
	return in.payload
}

// expect begins DATA of a stream, or of one that was closed: nil.
func (in *input) expect(s *Stream) {
	in.data, in.padding, in.moved = s, 0, false
	if in.frame.has(flagPadded) {
		in.padding = -1
	}
}

// unpad returns a piece of DATA without padding; ok is false if that is longer than the payload.
func (in *input) unpad(b []byte) (content []byte, ok bool) {
	if in.padding < 0 {
		if in.padding, b = int(b[0]), b[1:]; in.padding > in.frame.length-1 {
			return nil, false
		}
	}
	// What has arrived of the padding is at the end.
	return b[:max(0, len(b)-max(0, in.padding-in.left))], true
}

// coming returns how many bytes of the frame are still to come for a stream.
func (in *input) coming(s *Stream) int {
	if in.data == s {
		return in.left
	}
	return 0
}

// end forgets the frame.
func (in *input) end() { in.got, in.payload = 0, kept(in.payload) }
