package http1

import (
	"context"
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

// What is between two codings was compressed, and hardly becomes longer when the second is
// undone: it may have maxBetween times as many bytes, and minBetween. If it could have as many
// as a page, a few kilobytes could become megabytes that take seconds to decode.
const (
	minBetween = 64 << 10
	maxBetween = 32
)

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
func (cn *conn) decode(t *aio.Task, total *limit) *Error {
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
	for i, c := range slices.Backward(all) {
		room := cn.parser.maxBody
		if i > 0 {
			room = min(room, minBetween+maxBetween*len(r.Body))
		}
		if err := cn.undo(t, c, room, total); err != nil {
			return err
		}
	}
	return nil
}

// longSource is how long a source is decoded on the loop. An empty block of any coding takes
// work and becomes nothing, so a source that is nothing but such blocks may take a hundred
// times as long as a page of its length, and only decoding it tells.
const longSource = 256 << 10

// blockCost is how many bytes of text a byte of a source may cost, in time.
const blockCost = 8

// undo undoes one coding of the body, at most up to room bytes: on the loop, in a turn in
// which there is time for it; a long source, of which one at a time is enough, beside the loop.
// As nothing tells how long a short one becomes, it is tried as a short body first if there is
// no time.
//
// What a body becomes is counted when it is there, as nothing tells it before. So one is undone
// only while there is room for something, which is looked at just before.
func (cn *conn) undo(t *aio.Task, from coding, room int, total *limit) *Error {
	c, p, r := cn.client, &cn.parser, cn.parser.res
	decoded := c.decoded.take()
	var err error
	undo := func(max int) {
		t.OnLoop(func() { err = c.decoders.undo(from, decoded, r.Body, max) })
	}
	switch {
	case len(r.Body) > longSource:
		err = cn.undoBeside(t, total, from, decoded, room)
	case c.decoding.Free() && cn.hold.Try(1):
		undo(room)
	default:
		waits := len(r.Body) > shortBody
		if !waits {
			undo(min(room, shortBody))
			waits = errors.Is(err, errBomb) && room > shortBody
		}
		if waits {
			*decoded = (*decoded)[:0]
			for err = c.decoding.Take(t); err == nil && !cn.hold.Try(1); err = c.decoding.Take(t) {
				if _, failed := cn.holdMore(t, 1, total); failed != nil {
					err = failed
					break
				}
			}
			if err == nil {
				undo(room)
			}
		}
	}
	cn.hold.Set(cap(*r.whole) + cap(*decoded))
	if n := len(*decoded); len(r.Body) <= longSource && max(n, len(r.Body)) > shortBody {
		c.decoding.Spend(max(n, blockCost*len(r.Body)))
	}
	var failed *Error
	switch {
	case err == nil:
	case errors.As(err, &failed):
		c.decoded.give(decoded)
		return failed
	case errors.Is(err, errBomb) && p.cut:
		r.Truncated = true
	case errors.Is(err, errBomb):
		c.decoded.give(decoded)
		return fail(KindBomb, "%s: %d bytes become more than %d", from.name, len(r.Body), room)
	case errors.Is(err, aio.ErrCanceled):
		c.decoded.give(decoded)
		return classify(err, KindCanceled)
	case errors.Is(err, aio.ErrTimeout):
		c.decoded.give(decoded)
		return total.classify(err, KindTimeout, func() string { return "answer not decoded" })
	case errors.Is(err, io.ErrUnexpectedEOF) && r.Truncated: // so it was cut: this is what it was
	default:
		c.decoded.give(decoded)
		return fail(KindEncoding, "%s: %w", from.name, err)
	}
	r.from.give(r.whole)
	cn.hold.Set(cap(*decoded))
	r.from, r.whole, r.Body = &c.decoded, decoded, *decoded
	return nil
}

// errBomb is what undo returns for a body that becomes longer than it may.
var errBomb = inflate.ErrTooLong

// undoBeside is decoders.undo of the body on a goroutine of its own, while others go on. A task
// waits for its turn no longer than for the answer; decoding that has begun ends. Who has to wait
// for room gives its turn up: the one that is favoured may be behind it.
func (cn *conn) undoBeside(t *aio.Task, total *limit, from coding, dst *[]byte, max int) error {
	c, src := cn.client, cn.parser.res.Body
	crowded := false
	undo := func(t *aio.Task) error {
		if err := c.beside.turn.Lock(t); err != nil {
			return err
		}
		defer c.beside.turn.Unlock(t)
		if crowded = !cn.hold.Try(1); crowded {
			return nil
		}
		_, err := aio.Offload(t, func(context.Context) (struct{}, error) {
			return struct{}{}, c.beside.decoders.undo(from, dst, src, max)
		})
		return err
	}
	for {
		var err error
		if total.at.IsZero() {
			err = undo(t)
		} else {
			err = t.Deadline(total.at, undo)
		}
		if err != nil || !crowded {
			return err
		}
		if _, failed := cn.holdMore(t, 1, total); failed != nil {
			return failed
		}
	}
}

// undo appends what src decodes to, at most max bytes. Those that were decoded before
// an error are there, unless a decoder has panicked: bytes that do that to one of ours
// or of a library are as broken as others, and do not end the crawl.
func (d *decoders) undo(from coding, dst *[]byte, src []byte, max int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			*d = decoders{} // who knows what it was at
			err = fmt.Errorf("the decoder panicked: %v", r)
		}
	}()
	*dst, err = from.undo(d, *dst, src, max)
	return err
}
