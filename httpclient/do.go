package httpclient

import (
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Do sends req and waits for the whole response. Response.Close returns its buffer.
//
// The error is an *Error. With an error, the Response holds what arrived of it, without its body;
// it is nil if no head arrived.
func (c *Client) Do(t *aio.Task, req Request) (*Response, error) {
	k, err := c.call(t, &req)
	if err != nil {
		return nil, err
	}
	res, err, _ := k.run(t)
	return res, err
}

// DoThen is Do for a task that goes on with next, and has no stack until something of the response
// arrives: thousands of requests in flight take a third of the memory. It must be the last that the
// task's function does: see aio.Lot.Then.
//
//	return client.DoThen(t, &req, func(t *aio.Task, res *httpclient.Response, err error) error { … })
func (c *Client) DoThen(t *aio.Task, req *Request, next func(t *aio.Task, res *Response, err error) error) error {
	k, err := c.call(t, req)
	if err != nil {
		return next(t, nil, err)
	}
	k.next = next
	return k.proceed(t)
}

// proceed is run, and what follows it.
func (k *call) proceed(t *aio.Task) error {
	res, err, waits := k.run(t)
	if waits {
		return k.try.when(t, k, k.proceed)
	}
	return k.next(t, res, err)
}

// call prepares a request.
func (c *Client) call(t *aio.Task, req *Request) (*call, error) {
	if c.invalid != nil {
		return nil, c.invalid
	}
	if err := req.check(); err != nil {
		return nil, err
	}
	if err := t.Checkpoint(); err != nil {
		return nil, classify(err, KindConnect)
	}
	k := &call{client: c, req: req, began: c.loop.Now(), via: c.via(req)}
	k.total = k.total.within(c.opt.Timeout, k.began, KindTimeout)
	if k.via != nil {
		if err := c.permitThrough(req); err != nil {
			return nil, err
		}
	}
	if c.opt.Cookies != nil && !req.Stranger {
		k.page = pageOf(req)
	}
	c.addFields(t, req, k.page, routeOf(req, k.via))
	return k, nil
}

// run goes on until the response is there, or with DoThen until nothing has arrived yet of it.
func (k *call) run(t *aio.Task) (res *Response, err error, waits bool) {
	for {
		var failed *Error
		if k.try == nil {
			if failed = k.connect(t); failed != nil {
				return nil, failed, false
			}
			failed = k.try.send(t, k)
			k.sent = k.client.loop.Time()
			if failed == nil && k.next != nil {
				return nil, nil, true
			}
		}
		if failed == nil {
			if failed, waits = k.try.receive(t, k); waits {
				return nil, nil, true
			}
		}
		res, failed, again := k.try.end(t, k, failed)
		k.try = nil
		k.tried++
		if again {
			if res != nil {
				res.Close()
			}
			continue
		}
		if k.page != nil && res != nil {
			k.client.takeCookies(t, k.page, res.Header)
		}
		if failed != nil {
			return res, failed, false
		}
		return res, nil, false
	}
}

// connect begins an exchange.
func (k *call) connect(t *aio.Task) *Error {
	c := k.client
	var tm Timing
	to, patience := routeOf(k.req, k.via), k.total
	if c.muxes.habit(to).barred { // it may not speak HTTP/1.1, and not say so
		patience = patience.within(silence, c.loop.Now(), KindTLSTimeout)
	}
	if failed := k.pause(t); failed != nil {
		return failed
	}
	cn, failed := c.connection(t, k.req, to, int(k.tried), &patience, &tm)
	if failed != nil && failed.securing() && c.muxes.habit(to).barred {
		c.muxes.unwants1(to)
		cn, failed = c.connection(t, k.req, to, int(k.tried), &k.total, &tm)
	}
	switch {
	case failed != nil:
		failed.Timing = tm
		failed.Timing.Total = c.loop.Now().Sub(k.began)
		return failed
	case cn.mux != nil:
		k.try = c.newStream(cn, k.req, tm)
		return nil
	case cn.reused:
		cn.exchange.hold, cn.exchange.waited = c.opt.Meter.Open(k.req.Prompt), 0
	}
	cn.exchange.begin(k.req, tm)
	k.try = cn
	return nil
}

// pause waits before a request is sent again to a server that refuses it and then allows none. Most
// such requests wait over the connection that has told so; where it is not kept, each would meet a
// new one.
func (k *call) pause(t *aio.Task) *Error {
	if k.barred < 2 {
		return nil
	}
	wait := min(50*time.Millisecond<<min(k.barred-2, 10), silence)
	if at := k.total.at; !at.IsZero() {
		wait = min(wait, max(0, at.Sub(k.client.loop.Now())))
	}
	if err := t.Sleep(wait); err != nil {
		return classify(err, KindConnect)
	}
	return nil
}
