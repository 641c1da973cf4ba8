package httpclient

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

// maxCodings is the most codings that are decoded one after the other.
const maxCodings = 4

// The bytes between two codings are compressed, and decoding them hardly expands them: they may be
// maxBetween times as many as before, or minBetween. If they could reach the size of a page, a few
// kilobytes could become megabytes that take seconds to decode.
const (
	minBetween = 64 << 10
	maxBetween = 32
)

// codingsOf parses a Content-Encoding: the codings in the order in which they were applied. What is
// no coding, such as none, utf-8 or binary, means that there is none, as in browsers.
func codingsOf(list string) ([]coding, *Error) {
	var all []coding
	for name := range strings.SplitSeq(list, ",") {
		name = strings.ToLower(trim(name))
		i := slices.IndexFunc(codings, func(c coding) bool { return c.name == name || name == "x-gzip" && c.name == "gzip" })
		switch {
		case slices.Contains(undecodable, name):
			return nil, fail(KindEncoding, "Content-Encoding %.64q, expected gzip, deflate, br or zstd", list)
		case i < 0:
			continue
		}
		if all = append(all, codings[i]); len(all) > maxCodings {
			return nil, fail(KindEncoding, "Content-Encoding %.64q, expected at most %d codings", list, maxCodings)
		}
	}
	return all, nil
}

// decode decodes the body of a complete response, to at most maxBody bytes in each step; anything
// beyond is cut or an error.
func (x *exchange) decode(t *aio.Task, total *limit) *Error {
	r := x.parser.res
	list := r.Header.list("Content-Encoding")
	if list == "" || len(r.Body) == 0 { // an empty body is not decoded, whatever the field says
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
		room := x.parser.maxBody
		if i > 0 {
			room = min(room, minBetween+maxBetween*len(r.Body))
		}
		if err := x.decodeStep(t, c, room, total); err != nil {
			return err
		}
	}
	return nil
}

// longSource is the longest source that is decoded on the loop. Empty blocks, which any coding
// has, take work and yield nothing, so a source of nothing but empty blocks may take a hundred
// times as long as a page of its length, and only decoding it finds out.
const longSource = 256 << 10

// blockCost is the time that a byte of source may cost, in bytes of output.
const blockCost = 8

// decodeStep decodes one coding of the body, to at most room bytes: on the loop, in a turn that
// has time for it; a long source off the loop, one at a time. What it makes counts before it is
// made: as long as the source says, or as is likely. If that is not enough it starts over with
// more.
func (x *exchange) decodeStep(t *aio.Task, from coding, room int, total *limit) *Error {
	c, r := x.client, x.parser.res
	want := from.expect(r.Body)
	want.size = min(want.size, room)
	var decoded *[]byte
	var err error
	for {
		held := x.base(0) + cap(*r.whole) + want.size + want.window
		if _, failed := x.holdMore(t, held-x.hold.Size(), total); failed != nil {
			c.decoded.give(decoded)
			return failed
		}
		if decoded == nil {
			decoded = x.takeDecoded(want)
		}
		err = x.decodeInTurn(t, from, decoded, want.size, total)
		if n := len(*decoded); len(r.Body) <= longSource && max(n, len(r.Body)) > shortBody {
			c.decoding.Spend(max(n, blockCost*len(r.Body)))
		}
		if !errors.Is(err, errBomb) || want.size == room {
			break
		}
		want.size = min(room, 4*want.size+shortBody)
		*decoded = (*decoded)[:0]
	}
	if failed := x.decodeFailed(err, from, room, total); failed != nil {
		c.decoded.give(decoded)
		return failed
	}
	if r.whole != r.wire {
		r.from.give(r.whole)
	}
	r.from, r.whole, r.Body = &c.decoded, decoded, *decoded
	x.count()
	return nil
}

// takeDecoded returns a buffer for a decoded body of a size that is held already. If the size is
// certain it has that capacity, as growing would leave garbage.
func (x *exchange) takeDecoded(want expected) *[]byte {
	c := x.client
	buf := c.decoded.take()
	if more := cap(*buf) - want.size; more > 0 && !x.hold.Try(more) {
		c.decoded.give(buf)
		buf = new([]byte)
	}
	if want.certain && want.size > cap(*buf) && want.size > keptBody {
		*buf = make([]byte, 0, want.size+inflate.Spare)
	}
	return buf
}

// decodeInTurn appends the decoded body, at most most bytes, to dst, once there is time for it. A
// short source that may become long is tried as a short body first.
func (x *exchange) decodeInTurn(t *aio.Task, from coding, dst *[]byte, most int, total *limit) (err error) {
	c, body := x.client, x.parser.res.Body
	decode := func(max int) {
		t.OnLoop(func() { err = c.decoders.decode(from, dst, body, max) })
	}
	switch {
	case len(body) > longSource:
		return x.decodeOffLoop(t, total, from, dst, most)
	case c.decoding.Free():
		decode(most)
		return err
	case len(body) <= shortBody:
		decode(min(most, shortBody))
		if !errors.Is(err, errBomb) || most <= shortBody {
			return err
		}
	}
	*dst = (*dst)[:0]
	if err = c.decoding.Take(t); err == nil {
		decode(most)
	}
	return err
}

// decodeFailed returns the error of a body that cannot be decoded; nil if it was decoded, or as
// much of it as was wanted.
func (x *exchange) decodeFailed(err error, from coding, room int, total *limit) *Error {
	r := x.parser.res
	var failed *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, errBomb) && x.parser.cut:
		r.Truncated = true
		return nil
	case errors.Is(err, errBomb):
		return fail(KindBomb, "%s: %d bytes become more than %d", from.name, len(r.Body), room)
	case errors.Is(err, aio.ErrCanceled):
		return classify(err, KindCanceled)
	case errors.Is(err, aio.ErrTimeout):
		return total.classify(err, KindTimeout, func() string { return "response not decoded" })
	case errors.Is(err, io.ErrUnexpectedEOF) && r.Truncated:
		return nil // the body was cut: this is its beginning
	}
	return fail(KindEncoding, "%s: %w", from.name, err)
}

// errBomb is the error of a body that becomes longer than the limit.
var errBomb = inflate.ErrTooLong

// decodeOffLoop runs decoders.decode on a goroutine of its own while the loop continues. A task
// waits for its turn no longer than for the response; decoding that has started runs to its end.
func (x *exchange) decodeOffLoop(t *aio.Task, total *limit, from coding, dst *[]byte, max int) error {
	c, src := x.client, x.parser.res.Body
	decode := func(t *aio.Task) error {
		if err := c.offLoop.turn.Lock(t); err != nil {
			return err
		}
		defer c.offLoop.turn.Unlock(t)
		_, err := aio.Offload(t, func(context.Context) (struct{}, error) {
			return struct{}{}, c.offLoop.decoders.decode(from, dst, src, max)
		})
		return err
	}
	if total.at.IsZero() {
		return decode(t)
	}
	return t.Deadline(total.at, decode)
}

// decode appends the decoded src, at most max bytes. With an error dst holds what was decoded
// before it, unless a decoder has panicked: bytes that make a decoder panic are broken like
// others, and do not end the crawl.
func (d *decoders) decode(from coding, dst *[]byte, src []byte, max int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			*d = decoders{} // its state is unknown
			err = fmt.Errorf("the decoder panicked: %v", r)
		}
	}()
	*dst, err = from.decode(d, *dst, src, max)
	if len(*dst) > keptBody { // these keep a window as long as the body
		d.br, d.zstd = nil, nil
	}
	return err
}
