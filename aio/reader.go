package aio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// bufferSize is the size of the buffers that readers borrow from their loop.
const bufferSize = 32 << 10

// keptBuffers is the most free buffers that a loop keeps.
const keptBuffers = 64

// Reader reads a Conn through a buffer that it borrows when bytes have arrived and returns before
// it waits: a connection that waits for its peer holds no buffer, except for the bytes of an
// unfinished unit.
type Reader struct {
	conn Conn
	loop *Loop
	buf  []byte // borrowed, or a copy of just the unread bytes; nil while empty
	r, w int    // buf[r:w] is unread
	err  error  // returned after the unread bytes
}

// NewReader returns a reader of c, a connection of loop l.
func NewReader(l *Loop, c Conn) *Reader { return &Reader{loop: l, conn: c} }

// Buffered returns the number of bytes that have arrived and were not read.
func (r *Reader) Buffered() int { return r.w - r.r }

// Read reads what has arrived, at most len(p) bytes, and waits while nothing has.
func (r *Reader) Read(t *Task, p []byte) (int, error) {
	if err := t.Checkpoint(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if r.r == r.w && r.err == nil && len(p) >= bufferSize {
		n, err := r.conn.Read(t, p) // no need to copy
		r.note(err)
		return n, err
	}
	if r.r == r.w {
		if err := r.fill(t); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buf[r.r:r.w])
	r.Discard(n)
	return n, nil
}

// Peek returns all bytes that have arrived, waiting while there are none. They are valid until the
// next call; Discard marks how many were used.
func (r *Reader) Peek(t *Task) ([]byte, error) {
	if err := t.Checkpoint(); err != nil {
		return nil, err
	}
	if r.r == r.w {
		if err := r.fill(t); err != nil {
			return nil, err
		}
	}
	return r.buf[r.r:r.w], nil
}

// More waits for bytes beyond the bytes that Peek returned and returns them all. At the end of the
// stream it returns the earlier bytes and io.EOF.
func (r *Reader) More(t *Task) ([]byte, error) {
	if err := t.Checkpoint(); err != nil {
		return nil, err
	}
	err := r.fill(t)
	return r.buf[r.r:r.w], err
}

// Discard drops the first n bytes that have arrived.
func (r *Reader) Discard(n int) {
	if n < 0 || n > r.w-r.r {
		panic(fmt.Sprintf("aio: Reader.Discard(%d) with %d bytes available", n, r.w-r.r))
	}
	r.r += n
	if r.r == r.w {
		r.release()
	}
}

// ReadFull reads exactly len(p) bytes. If the stream ends earlier, it returns how many there were,
// and io.EOF if none, otherwise io.ErrUnexpectedEOF.
func (r *Reader) ReadFull(t *Task, p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := r.Read(t, p[n:])
		n += m
		if err != nil {
			if n > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
	}
	return n, nil
}

// ReadUntil reads up to and including the first occurrence of sep, at most limit bytes in all. The
// result is valid until the next call. Errors: ErrLimit if the first limit bytes, which stay
// unread, contain no sep; at the end of the stream io.EOF if nothing was left, otherwise
// io.ErrUnexpectedEOF with the remaining bytes.
func (r *Reader) ReadUntil(t *Task, sep []byte, limit int) ([]byte, error) {
	if len(sep) == 0 {
		panic("aio: Reader.ReadUntil without a separator")
	}
	b, err := r.Peek(t)
	searched := 0
	for {
		if err != nil {
			if len(b) > 0 && errors.Is(err, io.EOF) {
				r.r = r.w
				return b, io.ErrUnexpectedEOF
			}
			return nil, err
		}
		window := b[:min(len(b), limit)]
		if i := bytes.Index(window[searched:], sep); i >= 0 {
			n := searched + i + len(sep)
			r.r += n
			return b[:n], nil // the next call returns the buffer
		}
		if len(b) >= limit {
			return nil, ErrLimit
		}
		searched = max(0, len(b)-len(sep)+1)
		b, err = r.More(t)
	}
}

// ReadAll reads to the end of the stream; ErrLimit if that is more than limit bytes.
func (r *Reader) ReadAll(t *Task, limit int) ([]byte, error) {
	var all []byte
	for {
		b, err := r.Peek(t)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all, err
		}
		if len(all)+len(b) > limit {
			return all, ErrLimit
		}
		all = append(all, b...)
		r.Discard(len(b))
	}
}

// Close returns the buffer. It does not close the connection.
func (r *Reader) Close() {
	r.r = r.w
	r.release()
	if r.err == nil {
		r.err = ErrClosed
	}
}

// fill reads once, after waiting without a borrowed buffer.
func (r *Reader) fill(t *Task) error {
	if r.err != nil {
		return r.err
	}
	if r.r == r.w {
		r.release()
	} else if cap(r.buf) == bufferSize && r.w-r.r <= bufferSize/4 {
		r.shrink()
	}
	if err := r.conn.WaitReadable(t); err != nil {
		return err
	}
	r.grow()
	n, err := r.conn.Read(t, r.buf[r.w:])
	r.w += n
	if n > 0 {
		return nil
	}
	if r.r == r.w {
		r.release()
	}
	r.note(err)
	return err
}

// note keeps the end of the stream. Other errors may be temporary: another call can follow a
// cancelled wait or a deadline.
func (r *Reader) note(err error) {
	if errors.Is(err, io.EOF) {
		r.err = io.EOF
	}
}

// shrink keeps only the unread bytes, so that the big buffer can be returned.
func (r *Reader) shrink() {
	kept := append(make([]byte, 0, r.w-r.r), r.buf[r.r:r.w]...)
	r.w -= r.r
	r.r = 0
	r.loop.giveBuffer(r.buf)
	r.buf = kept
}

// grow makes room for at least half a borrowed buffer after the unread bytes.
func (r *Reader) grow() {
	switch {
	case r.buf == nil:
		r.buf = r.loop.takeBuffer()
	case len(r.buf)-r.w >= bufferSize/2:
	default:
		old := r.buf
		unread := old[r.r:r.w]
		if len(unread) <= bufferSize/2 {
			r.buf = r.loop.takeBuffer()
		} else {
			r.buf = make([]byte, 2*len(unread)+bufferSize)
		}
		r.w = copy(r.buf, unread)
		r.r = 0
		r.loop.giveBuffer(old)
	}
}

func (r *Reader) release() {
	if r.buf != nil {
		r.loop.giveBuffer(r.buf)
		r.buf = nil
	}
	r.r, r.w = 0, 0
}

func (l *Loop) takeBuffer() []byte {
	if n := len(l.buffers); n > 0 {
		b := l.buffers[n-1]
		l.buffers[n-1] = nil
		l.buffers = l.buffers[:n-1]
		return b
	}
	return make([]byte, bufferSize)
}

// giveBuffer keeps b for the next reader if b was borrowed.
func (l *Loop) giveBuffer(b []byte) {
	if cap(b) == bufferSize && len(l.buffers) < keptBuffers {
		l.buffers = append(l.buffers, b[:bufferSize])
	}
}
