package http1

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/inflate"
)

// maxCodings bounds how many codings are undone one after the other.
const maxCodings = 4

// codingsOf reads a Content-Encoding: the codings in the order in which they were applied.
func codingsOf(list string) ([]coding, *Error) {
	var all []coding
	for name := range strings.SplitSeq(list, ",") {
		name = strings.ToLower(trim(name))
		if name == "" || name == "identity" {
			continue
		}
		i := slices.IndexFunc(codings, func(c coding) bool { return c.name == name || name == "x-gzip" && c.name == "gzip" })
		if i < 0 {
			return nil, fail(KindEncoding, "Content-Encoding %.64q, expected gzip, deflate, br or zstd", list)
		}
		if all = append(all, codings[i]); len(all) > maxCodings {
			return nil, fail(KindEncoding, "Content-Encoding %.64q, expected at most %d codings", list, maxCodings)
		}
	}
	return all, nil
}

// decode undoes the Content-Encoding of an answer that is whole: to at most maxBody bytes
// in each step, and what goes beyond is cut or an error.
func (cn *conn) decode(t *aio.Task) *Error {
	r := cn.parser.res
	list := r.Header.list("Content-Encoding")
	if list == "" || len(r.Body) == 0 { // of no body, whatever it says
		return nil
	}
	all, err := codingsOf(list)
	if err != nil {
		return err
	}
	for i, c := range all {
		if i > 0 {
			r.Encoding += ", "
		}
		r.Encoding += c.name
	}
	for _, c := range slices.Backward(all) {
		if err := cn.undo(t, c); err != nil {
			return err
		}
	}
	return nil
}

// undo undoes one coding of the body, in a turn in which there is time for a long one. As
// nothing tells how long it becomes, it is tried as a short one first if there is none.
func (cn *conn) undo(t *aio.Task, from coding) *Error {
	c, p, r := cn.client, &cn.parser, cn.parser.res
	decoded := c.decoded.take()
	var err error
	room := p.maxBody
	undo := func() { err = c.undo(from, decoded, r.Body, room) }
	if !c.decoding.Free() {
		room = min(room, shortBody)
	}
	t.OnLoop(undo)
	if errors.Is(err, errBomb) && room < p.maxBody {
		*decoded, room = (*decoded)[:0], p.maxBody
		if err = c.decoding.Take(t); err == nil {
			t.OnLoop(undo)
		}
	}
	if n := len(*decoded); n > shortBody {
		c.decoding.Spend(n)
	}
	switch {
	case err == nil:
	case errors.Is(err, errBomb) && p.cut:
		r.Truncated = true
	case errors.Is(err, errBomb):
		c.decoded.give(decoded)
		return fail(KindBomb, "%s: %d bytes become more than %d", from.name, len(r.Body), p.maxBody)
	case errors.Is(err, aio.ErrCanceled):
		c.decoded.give(decoded)
		return classify(err, KindCanceled)
	case errors.Is(err, io.ErrUnexpectedEOF) && r.Truncated: // so it was cut: this is what it was
	default:
		c.decoded.give(decoded)
		return fail(KindEncoding, "%s: %w", from.name, err)
	}
	r.from.give(r.whole)
	r.from, r.whole, r.Body = &c.decoded, decoded, *decoded
	return nil
}

// errBomb is what undo returns for a body that becomes longer than it may.
var errBomb = inflate.ErrTooLong

// undo appends what src decodes to, at most max bytes. Those that were decoded before
// an error are there, unless a decoder has panicked: bytes that do that to one of ours
// or of a library are as broken as others, and do not end the crawl.
func (c *Client) undo(from coding, dst *[]byte, src []byte, max int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.decoders = decoders{} // who knows what it was at
			err = fmt.Errorf("the decoder panicked: %v", r)
		}
	}()
	*dst, err = from.undo(&c.decoders, *dst, src, max)
	return err
}
