package httpclient

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
)

// route identifies connections that can be used for the same requests: one scheme, host and port,
// reached in one way. Overrides and the name of the TLS server follow from it.
type route struct {
	tls bool
	// As in the URL, including an explicit port; empty: any host, for requests sent to a proxy.
	host string
	via  *Proxy // nil: direct
}

// routeOf returns the route of req through a proxy; nil: direct.
func routeOf(req *Request, via *Proxy) route {
	to := route{tls: req.Scheme == "https", host: req.Host, via: via}
	if to.forwarded() {
		to.host = ""
	}
	return to
}

// via returns the proxy for req, or nil.
func (c *Client) via(req *Request) *Proxy {
	if c.opt.Proxy == nil {
		return nil
	}
	return c.opt.Proxy(req.Scheme, req.Host)
}

// forwarded reports whether requests are sent to a proxy that forwards them. Otherwise the
// connection leads to the server itself, possibly through a tunnel.
func (to route) forwarded() bool { return to.via != nil && !to.via.socks() && !to.tls }

// exchange is the state of one request and its response. Thousands wait, so it is little until
// something arrives.
type exchange struct {
	client *Client
	req    *Request
	timing Timing
	hold   budget.Hold
	chain  int           // memory of the server's certificates that counts as held
	fields int           // bytes of the request's own fields, as held during the exchange
	sent   string        // the request, with Options.KeepRaw
	waited time.Duration // time spent waiting for room
	*arrival
}

// arrival is the state of a response that arrives; nil before: see exchange.arrive.
type arrival struct {
	parser parser
	err    *Error // of feeding the parser
	progress

	// Over HTTP/1.1.
	got  []byte // input of feed: what has arrived
	used int    // output of feed: how much of got it used

	// Over HTTP/2: when the first and the last of the response arrived; zero: nothing has.
	first, final time.Time
}

// conn is a connection, and one exchange after the other.
type conn struct {
	aio.Conn
	client   *Client
	exchange exchange // the one under way, over HTTP/1.1
	route    route
	host     string          // of the server, without a port
	server   *netip.AddrPort // behind a proxy, invalid if the proxy has looked it up; nil without one
	tls      *channel        // nil for plain http
	mux      *mux            // of HTTP/2, or nil
	reader   *aio.Reader
	step     func() // feed, on the loop's stack; nil: no response has arrived yet
	ended    bool   // input of feed: nothing more comes; output: TLS has ended
	excess   bool   // output of feed: TLS carried bytes beyond the response
	short    bool   // what reader has is the beginning of a TLS record
	reused   bool
	gaveUp   bool // on a request, which the system may still have
	lookup   lookup

	since        time.Time // in the pool
	older, newer *conn
}

// Close also returns the reader's buffer.
func (cn *conn) Close() error {
	cn.reader.Close()
	if cn.tls != nil {
		cn.client.warm.drop(&cn.tls.get, &cn.tls.send)
	}
	if cn.gaveUp { // it must not arrive when the network is back: others may ask this host by then
		return aio.Abort(cn.Conn)
	}
	return cn.Conn.Close()
}

// open returns a new connection for req. On failure tm says where the time went.
func (c *Client) open(t *aio.Task, req *Request, at route, total *limit, tm *Timing) (cn *conn, failed *Error) {
	err := apart(t, "connect", func(t *aio.Task) error {
		cn, failed = c.connect(t, req, at, total, tm)
		return nil
	})
	if cn == nil {
		if failed == nil { // cancelled before its first step
			failed = classify(err, KindConnect)
		}
		return nil, failed
	}
	if at.tls {
		failed = cn.secureInTurn(t, total, tm)
	}
	if failed == nil {
		failed = cn.agree()
	}
	if failed != nil {
		failed.Addr = cn.addr()
		cn.exchange.hold.Release()
		cn.Close()
		return nil, failed
	}
	return cn, nil
}

// apart runs fn in a task of its own, whose stack ends with it: connecting needs a deep one, which
// a task that then waits for its response would keep.
func apart(t *aio.Task, name string, fn func(t *aio.Task) error) error {
	return t.Group(func(g *aio.Group) error {
		g.Go(name, fn)
		return nil
	})
}

// connect looks up the server of req and connects to it, or to its proxy.
func (c *Client) connect(t *aio.Task, req *Request, at route, total *limit, tm *Timing) (*conn, *Error) {
	host, port, bad := req.server()
	if bad != nil {
		return nil, bad
	}
	began := c.loop.Now()
	var raw aio.Conn
	var to []netip.AddrPort
	var server netip.AddrPort
	var found lookup
	patience := total.within(c.opt.DialTimeout, began, KindDialTimeout)
	dial := func(t *aio.Task) (err error) {
		if at.via != nil {
			raw, server, found, err = c.through(t, req, at, host, port, tm)
			return err
		}
		to, err = c.names.resolve(t, host, port)
		tm.DNS = c.loop.Now().Sub(began)
		if err != nil {
			return err
		}
		found = c.lookup(host, port, to)
		if to, err = c.permit(req, host, port, to); err != nil {
			return err
		}
		to = c.prefer(req, host, port, to)
		patience = patience.within(req.ConnectTimeout, c.loop.Now(), KindDialTimeout)
		connect := func(t *aio.Task) (err error) {
			raw, err = aio.Connect(t, to)
			return err
		}
		if req.ConnectTimeout > 0 {
			err = t.Deadline(patience.at, connect)
		} else {
			err = connect(t)
		}
		tm.Connect = c.loop.Now().Sub(began) - tm.DNS
		return err
	}
	var err error
	if patience.at.IsZero() {
		err = dial(t)
	} else {
		err = t.Deadline(patience.at, dial)
	}
	if err != nil {
		if raw != nil { // connected in the very turn in which the time ran out
			raw.Close()
		}
		kind := KindConnect
		if noPort(err, to) {
			kind = KindResource
		}
		bad := patience.classify(err, kind, func() string {
			switch {
			case at.via != nil:
				return fmt.Sprintf("no connection through the proxy %v", at.via)
			case len(to) == 0:
				return fmt.Sprintf("no address of %.64q", host)
			}
			return "no connection to " + join(to)
		})
		bad.local = noRoute(err, to)
		return nil, bad
	}
	cn := &conn{Conn: raw, client: c, route: at, host: host, lookup: found, reader: aio.NewReader(c.loop, raw)}
	if at.via != nil {
		cn.server = &server
	}
	cn.exchange.client, cn.exchange.hold = c, c.opt.Meter.Open(req.Prompt)
	return cn, nil
}

// arrive prepares for what arrives of the response.
func (x *exchange) arrive() {
	if x.arrival != nil {
		return
	}
	opt, req := &x.client.opt, x.req
	x.arrival = &arrival{parser: parser{
		maxHead: opt.MaxHead, maxBody: opt.MaxBody, cut: req.Cut, head: req.Method == "HEAD", keep: opt.KeepRaw,
	}}
	if req.MaxBody > 0 {
		x.parser.maxBody = req.MaxBody
	}
}

// agree settles the protocol.
func (cn *conn) agree() *Error {
	c := cn.client
	switch {
	case c.speaksHTTP2(cn):
		cn.mux = newMux(cn)
		cn.exchange.hold.Set(cn.exchange.chain)
	case c.opt.HTTP2 && !cn.route.forwarded():
		return fail(KindProtocol, "the server does not speak HTTP/2, which was asked for")
	}
	return nil
}

// mostHandshakes is how many TLS handshakes of a client are under way at once: each has a deep
// stack and the buffers of crypto/tls, and more would only compete for the processor until they are
// late. One that takes longHandshake does not count any more, lest silent servers delay others.
const (
	mostHandshakes = 128
	longHandshake  = time.Second
)

// secureInTurn is secure, when few enough handshakes are under way, in a task of its own. Waiting
// for that is not the server's time.
func (cn *conn) secureInTurn(t *aio.Task, total *limit, tm *Timing) (failed *Error) {
	c := cn.client
	if err := c.handshakes.Acquire(t); err != nil {
		return classify(err, KindTLS)
	}
	late := c.loop.CallLater(longHandshake, c.handshakes.Release)
	err := apart(t, "TLS handshake", func(t *aio.Task) error {
		failed = cn.secure(t, total, tm)
		return nil
	})
	if late.Cancel() {
		c.handshakes.Release()
	}
	if failed == nil && err != nil { // cancelled before its first step
		failed = classify(err, KindTLS)
	}
	return failed
}

// secure does the TLS handshake. Time that it waits for room is not the server's.
func (cn *conn) secure(t *aio.Task, total *limit, tm *Timing) *Error {
	c := cn.client
	began := c.loop.Now()
	patience := total.within(c.opt.TLSTimeout, began, KindTLSTimeout)
	_ = cn.SetDeadline(patience.at)
	err := c.handshake(t, cn, func(t *aio.Task, n int) error {
		waited, failed := cn.exchange.holdMore(t, certBytes*n-plainChain-cn.exchange.hold.Size(), &patience)
		if failed != nil {
			return failed
		}
		if waited > 0 {
			total.extend(waited)
			_ = cn.SetDeadline(patience.at)
		}
		return nil
	})
	if err == nil {
		cn.exchange.chain = max(0, cn.tls.weight()-plainChain)
	}
	tm.TLS = c.loop.Now().Sub(began) - cn.exchange.waited
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrCertificate):
		return &Error{Kind: KindTLS, Err: err}
	}
	return inWords(patience.classify(err, KindTLS, func() string { return "TLS handshake not done" })).lost("during the TLS handshake")
}

// join formats addresses for an error.
func join(addrs []netip.AddrPort) string {
	s := addrs[0].String()
	if n := len(addrs) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// addr returns the server's address; invalid if a proxy has looked it up.
func (cn *conn) addr() netip.AddrPort {
	if cn.route.via != nil {
		return *cn.server
	}
	tcp, ok := cn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	to := tcp.AddrPort()
	return netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
}

// quiet reports whether nothing has arrived over cn while it was kept. Anything that has means
// that cn has ended, or carries unrequested bytes such as a 408, which would pass for the response
// to the next request. Only the session tickets that a TLS server may send at any time belong to
// no response.
func (cn *conn) quiet(t *aio.Task) bool {
	if !cn.Ready() {
		return true
	}
	if cn.tls == nil {
		return false
	}
	_ = cn.SetDeadline(time.Time{})
	b, err := cn.arrived(t) // does not wait: cn is ready
	if err != nil {
		return false
	}
	quiet, used := true, 0
	t.OnLoop(func() {
		used, err = cn.tls.open(cn.client.record(), b, func([]byte) { quiet = false })
	})
	cn.use(used)
	return quiet && err == nil && !cn.Ready()
}

// arrived returns the bytes that have arrived, and waits while there are none beyond those that use
// has left.
func (cn *conn) arrived(t *aio.Task) ([]byte, error) {
	if cn.short {
		return cn.reader.More(t)
	}
	return cn.reader.Peek(t)
}

// use drops the first n bytes that have arrived. If there is nothing to drop, more must arrive.
func (cn *conn) use(n int) {
	cn.reader.Discard(n)
	cn.short = n == 0 && cn.reader.Buffered() > 0
}

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
func (cn *conn) when(t *aio.Task, k *call) error {
	return cn.whenReadable(t, cn.exchange.due(k.patience()), k)
}

// whenReadable lets the task wait for something to read, until a time.
func (cn *conn) whenReadable(t *aio.Task, until time.Time, k *call) error {
	if cn.reader.Buffered() > 0 { // session tickets, that came with the end of the handshake
		return t.Then(k.proceed)
	}
	return cn.WhenReadable(t, until, k.proceed)
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
		cn.client.unwants1(cn.route)
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

// refused returns the error of a proxy that did not forward the request, or nil.
func (cn *conn) refused() *Error {
	if res := cn.exchange.parser.res; cn.route.forwarded() && res.Status == 407 {
		return fail(KindProxy, "%v: %w", cn.route.via, refused(cn.route.via, "request", res.Status))
	}
	return nil
}

// pending says what had not happened yet when a limit struck during the response.
func (x *exchange) pending(patience limit) string {
	p := &x.parser
	switch {
	case p.empty():
		return "no response"
	case patience.kind == KindIdleTimeout:
		return "nothing more of the response"
	case patience.kind == KindTooSlow:
		return fmt.Sprintf("response slower than %d bytes a second, only %d", x.client.opt.MinRate, p.wire)
	}
	return "response incomplete"
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
