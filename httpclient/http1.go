package httpclient

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// The methods of attempt for a conn: an exchange over HTTP/1.1.

// send sends the request of a call.
func (cn *conn) send(t *aio.Task, k *call) *Error {
	// Fails only for a closed connection, and so will everything that follows.
	_ = cn.SetDeadline(k.total.at)
	if err := cn.write(t, k.req); err != nil {
		return k.total.classify(err, KindReset, func() string { return "request not sent" }).lost("while the request was sent")
	}
	return nil
}

// when lets the task wait for something to read: see attempt.
func (cn *conn) when(t *aio.Task, k *call, next func(t *aio.Task) error) error {
	return cn.whenReadable(t, cn.exchange.due(k.patience()), next)
}

// receive reads the response into the parser.
func (cn *conn) receive(t *aio.Task, k *call) (failed *Error, waits bool) {
	c, patience := cn.client, k.patience()
	for {
		b, err := cn.peek(t, patience)
		cn.exchange.arrive()
		p := &cn.exchange.parser
		if errors.Is(err, io.EOF) {
			cn.ended = true
		} else if err != nil {
			return patience.classify(err, KindReset, func() string { return cn.exchange.pending(patience) }).lost(p.place()), false
		}
		arrived := c.loop.Arrival(cn.Conn)
		c.heard(arrived)
		if p.state == inHead {
			b = b[:min(len(b), maxSealed)] // a head counts before more of it is taken
		}
		waited, failed := cn.exchange.makeRoom(t, len(b), &k.total)
		if failed != nil {
			return failed, false
		}
		if waited > 0 {
			_ = cn.SetDeadline(k.total.at)
		}
		if cn.step == nil {
			cn.step = cn.feed
		}
		cn.exchange.got = b
		t.OnLoop(cn.step)
		cn.exchange.got = nil
		cn.use(cn.exchange.used)
		if p.empty() { // those were session tickets
			c.wire.give(p.body)
			p.body = nil
		}
		if cn.exchange.began.IsZero() && !p.empty() {
			cn.exchange.timing.FirstByte = max(0, arrived.Sub(k.sent))
		}
		if !p.empty() {
			cn.exchange.moved(c.loop.Now(), waited)
		}
		cn.exchange.count()
		if cn.exchange.err != nil {
			return cn.exchange.err, false
		}
		if p.state == whole {
			cn.exchange.timing.took(max(0, arrived.Sub(k.sent)))
			return cn.exchange.decode(t, &k.total), false
		}
		if cn.tls != nil && len(cn.tls.out) > 0 { // the server has requested new keys
			out := cn.tls.out
			cn.tls.out = nil
			if _, err := cn.Write(t, out); err != nil {
				return k.total.classify(err, KindReset, func() string { return cn.exchange.pending(k.total) }).lost(p.place()), false
			}
		}
		switch {
		case !cn.exchange.began.IsZero():
			patience = cn.exchange.patience(k.total)
			if failed = cn.exchange.judge(waited); failed != nil {
				return failed, false
			}
		case k.next != nil && cn.reader.Buffered() == 0:
			if cn.exchange.look.IsZero() {
				cn.exchange.arrival = nil
			}
			return nil, true
		}
	}
}

// peek waits for more of the response.
func (cn *conn) peek(t *aio.Task, patience limit) (b []byte, err error) {
	err = cn.exchange.watch(patience, func(until time.Time) error {
		// Fails only for a closed connection, and so will everything that follows.
		_ = cn.SetReadDeadline(until)
		b, err = cn.arrived(t)
		return err
	})
	return b, err
}

// end ends the exchange of a call: see attempt.
func (cn *conn) end(t *aio.Task, k *call, failed *Error) (res *Response, err *Error, again bool) {
	cn.exchange.arrive() // for what is said of a failure
	if failed == nil {
		failed = cn.refused()
	} else {
		failed = cn.exchange.blame(failed)
	}
	if failed != nil {
		cn.exchange.timing.Total = cn.client.loop.Now().Sub(k.began)
	}
	if cn.misjudged(failed) {
		cn.client.muxes.unwants1(cn.route)
		return cn.release(t, failed), failed, true
	}
	again = cn.stale(failed)
	if res = cn.release(t, failed); again && !k.req.repeats() {
		if res != nil {
			res.Close()
		}
		return nil, cn.staleError(failed), false
	}
	return res, failed, again
}

// stale reports whether the server ended a kept connection just when it was used again. Then no
// response began, or the response was not for this request: a 408 (RFC 9110, section 15.5.9). The
// request is sent once more, unless it says otherwise, over a new connection: the other kept ones
// have probably been ended too.
func (cn *conn) stale(failed *Error) bool {
	p := &cn.exchange.parser
	switch {
	case !cn.reused:
		return false
	case failed == nil:
		return p.res.Status == 408 && p.close
	}
	return p.empty() && (failed.Kind == KindEarlyEnd || failed.Kind == KindReset)
}

// misjudged reports whether a server that asked for HTTP/1.1 has responded to it in HTTP/2. It
// understood nothing of the request, so that even a POST may be sent again.
func (cn *conn) misjudged(failed *Error) bool {
	return failed != nil && errors.Is(failed, errHTTP2) && cn.client.muxes.habit(cn.route).wanted && !cn.client.opt.HTTP1
}

// staleError returns the error of a request that is not sent again; failed is nil after a 408.
func (cn *conn) staleError(failed *Error) *Error {
	if failed == nil {
		return &Error{Kind: KindEarlyEnd, Err: ErrStale, Timing: cn.exchange.timing}
	}
	failed.Err = fmt.Errorf("%w: %w", ErrStale, failed.Err)
	return failed
}

// refused returns the error of a proxy that did not forward the request, or nil.
func (cn *conn) refused() *Error {
	if res := cn.exchange.parser.res; cn.route.forwarded() && res.Status == 407 {
		return fail(KindProxy, "%v: %w", cn.route.via, refused(cn.route.via, "request", res.Status))
	}
	return nil
}

// release returns the response, or what arrived of it when the exchange has failed, and keeps or
// closes the connection.
func (cn *conn) release(t *aio.Task, failed *Error) *Response {
	res := cn.exchange.response(cn, failed)
	// Bytes beyond the response are not ours to interpret.
	over := failed != nil || res.Truncated || cn.exchange.parser.close || cn.ended || cn.excess || cn.reader.Buffered() > 0 ||
		cn.tls != nil && !cn.tls.lasting()
	cn.exchange.req, cn.exchange.arrival = nil, nil // which refers to the response
	if over {
		cn.gaveUp = failed != nil
		if failed == nil && !cn.ended {
			cn.sendCloseNotify(t)
		}
		cn.Close()
	} else {
		cn.reused = true // from now on
		cn.client.idle.put(cn)
	}
	return res
}

// write writes req.
func (cn *conn) write(t *aio.Task, req *Request) error {
	c := cn.client
	buf := c.wire.take()
	defer c.wire.give(buf)
	*buf = c.header.append(*buf, req)
	if c.opt.KeepRaw {
		cn.exchange.sent = string(*buf)
	}
	*buf = append(*buf, req.Body...)
	if cn.tls == nil {
		_, err := cn.Write(t, *buf)
		return err
	}
	sealed := c.wire.take()
	defer c.wire.give(sealed)
	var err error
	t.OnLoop(func() { *sealed, err = cn.tls.seal(*sealed, *buf) })
	if err != nil {
		return err
	}
	_, err = cn.Write(t, *sealed)
	return err
}

// feed passes what has arrived to the parser.
func (cn *conn) feed() {
	p := &cn.exchange.parser
	cn.exchange.used = len(cn.exchange.got)
	if cn.tls == nil {
		cn.exchange.used, cn.exchange.err = p.feed(cn.exchange.got)
	} else {
		cn.decrypt()
	}
	if cn.exchange.err == nil && cn.ended {
		cn.exchange.err = p.eof(cn.tls != nil && cn.tls.torn)
	}
	if cn.exchange.err == nil && p.state == whole {
		cn.exchange.complete()
	}
}

func (cn *conn) decrypt() {
	p := &cn.exchange.parser
	cn.tls.ended = cn.ended
	var err error
	cn.exchange.used, err = cn.tls.open(cn.client.record(), cn.exchange.got, func(b []byte) {
		if cn.exchange.err != nil {
			return
		}
		var n int
		n, cn.exchange.err = p.feed(b)
		cn.excess = cn.excess || n < len(b)
	})
	switch {
	case cn.exchange.err != nil || err == nil:
	case errors.Is(err, io.EOF):
		cn.ended = true
	case p.state == whole:
		cn.excess = true // a whole response, then a broken record
	case errors.Is(err, io.ErrUnexpectedEOF):
		cn.exchange.err = fail(KindEarlyEnd, "the connection ended within a TLS record: %w", err)
	default:
		cn.exchange.err = inWords(classify(err, KindTLS))
	}
}
