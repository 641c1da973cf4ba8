package http1

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/weftcrawl/weft/aio"
)

// Options configure a client. The zero value is the default.
type Options struct {
	Timeout   time.Duration // of a Get, connecting and a second try included; 0: 30 s, negative: none
	MaxHead   int           // bytes of a header, and of chunk extensions and trailers; 0 or negative: 64 KiB
	MaxBody   int           // bytes of a body, as sent and as decoded; 0 or negative: 16 MiB
	MaxIdle   int           // connections kept open without use; 0: 1,024, negative: none
	UserAgent string        // empty: none is sent
}

const (
	defaultTimeout = 30 * time.Second
	defaultMaxHead = 64 << 10
	defaultMaxBody = 16 << 20
	defaultMaxIdle = 1024
)

// At most keptBodies body buffers of at most keptBody bytes are kept for answers to come.
const (
	keptBodies = 64
	keptBody   = 512 << 10
)

// Client fetches over HTTP/1.1. It belongs to one loop.
type Client struct {
	loop   *aio.Loop
	opt    Options
	idle   pool
	bodies []*[]byte    // free buffers
	gzip   *gzip.Reader // decoding is done without a wait, so one is enough
	common string       // the header lines that every request has
}

// NewClient returns a client for tasks of l. Close it when it is not used any more.
func NewClient(l *aio.Loop, opt Options) *Client {
	if opt.Timeout == 0 {
		opt.Timeout = defaultTimeout
	}
	if opt.MaxHead <= 0 {
		opt.MaxHead = defaultMaxHead
	}
	if opt.MaxBody <= 0 {
		opt.MaxBody = defaultMaxBody
	}
	if opt.MaxIdle == 0 {
		opt.MaxIdle = defaultMaxIdle
	}
	c := &Client{loop: l, opt: opt, idle: newPool(opt.MaxIdle)}
	if opt.UserAgent != "" {
		c.common = "User-Agent: " + opt.UserAgent + "\r\n"
	}
	c.common += "Accept: */*\r\nAccept-Encoding: gzip\r\n\r\n"
	return c
}

// Close closes the connections that are not in use; those that are will be closed
// after it.
func (c *Client) Close() { c.idle.close() }

// Request is a GET.
type Request struct {
	Scheme string // "http"
	Host   string // HOST or HOST:PORT, as in the URL
	Target string // path and query, beginning with "/"
}

// check refuses what would not arrive as the request that it is.
func (r *Request) check() *Error {
	switch {
	case r.Scheme != "http":
		return fail(KindScheme, "%q, expected http", r.Scheme)
	case r.Host == "" || !visible(r.Host):
		return fail(KindScheme, "host %.64q, expected HOST or HOST:PORT", r.Host)
	case !strings.HasPrefix(r.Target, "/") || !visible(r.Target):
		return fail(KindScheme, "target %.64q, expected a path and query, percent-encoded", r.Target)
	}
	return nil
}

// visible reports whether s has no spaces and control characters.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// address is what to connect to.
func (r *Request) address() string {
	if i := strings.LastIndexByte(r.Host, ':'); i < 0 || strings.HasSuffix(r.Host, "]") {
		return r.Host + ":80"
	}
	return r.Host
}

// conn is a connection and what reads answers from it; made once, used for all of
// its exchanges.
type conn struct {
	aio.Conn
	client  *Client
	address string
	reader  *aio.Reader
	parser  parser
	step    func() // feed, on the loop's stack
	got     []byte // for feed: what has arrived
	used    int    // by feed: how much of it
	err     *Error // by feed
	reused  bool

	older, newer *conn // in the pool
}

// Close gives the reader's buffer back too.
func (cn *conn) Close() error {
	cn.reader.Close()
	return cn.Conn.Close()
}

// Get sends req and waits for the whole answer. Close gives its buffers back.
// The error is an *Error.
func (c *Client) Get(t *aio.Task, req Request) (*Response, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if err := t.Checkpoint(); err != nil {
		return nil, classify(err, KindConnect)
	}
	var deadline time.Time
	if c.opt.Timeout > 0 {
		deadline = c.loop.Now().Add(c.opt.Timeout)
	}
	address := req.address()
	cn := c.kept(address)
	for {
		if cn == nil {
			var err error
			if cn, err = c.connect(t, address, deadline); err != nil {
				return nil, classify(err, KindConnect)
			}
		}
		res, failed := cn.exchange(t, req, deadline)
		if failed == nil {
			if cn.parser.close || cn.reader.Buffered() > 0 { // bytes beyond the answer: not ours to guess
				cn.Close()
			} else {
				cn.reused = true // from now on
				c.idle.put(cn)
			}
			return res, nil
		}
		cn.Close()
		c.giveBody(cn.parser.body)
		// A kept connection may have been closed by the server just when it was used
		// again. Then no answer began, and the request is sent once more, over a new
		// one: the others that were kept have likely been closed too.
		if cn.reused && cn.parser.empty() && (failed.Kind == KindEarlyEnd || failed.Kind == KindReset) {
			cn = nil
			continue
		}
		return nil, failed
	}
}

// kept returns a connection to be used again, or nil. One over which something has
// come while it was not used has ended, or brings bytes that nobody asked for, such
// as a 408: they would be taken for the answer to the next request.
func (c *Client) kept(address string) *conn {
	for {
		cn := c.idle.take(address)
		if cn == nil || !cn.Ready() {
			return cn
		}
		cn.Close()
	}
}

func (c *Client) connect(t *aio.Task, address string, deadline time.Time) (*conn, error) {
	var raw aio.Conn
	dial := func(t *aio.Task) (err error) {
		raw, err = aio.Dial(t, "tcp", address)
		return err
	}
	var err error
	if deadline.IsZero() {
		err = dial(t)
	} else {
		err = t.Deadline(deadline, dial)
	}
	if err != nil {
		return nil, err
	}
	cn := &conn{Conn: raw, client: c, address: address, reader: aio.NewReader(c.loop, raw)}
	cn.step = cn.feed
	return cn, nil
}

// exchange sends req and reads the answer. A zero deadline is none.
func (cn *conn) exchange(t *aio.Task, req Request, deadline time.Time) (*Response, *Error) {
	c := cn.client
	cn.parser = parser{maxHead: c.opt.MaxHead, maxBody: c.opt.MaxBody}
	_ = cn.SetDeadline(deadline) // fails only for a closed connection, as will all that follows
	if err := cn.send(t, req); err != nil {
		return nil, classify(err, KindReset)
	}
	for cn.parser.state != whole {
		b, err := cn.reader.Peek(t)
		if errors.Is(err, io.EOF) {
			if e := cn.parser.eof(); e != nil {
				return nil, e
			}
		} else if err != nil {
			return nil, classify(err, KindReset)
		}
		cn.got = b
		t.OnLoop(cn.step)
		cn.got = nil
		cn.reader.Discard(cn.used)
		if cn.err != nil {
			return nil, cn.err
		}
	}
	return cn.parser.res, nil
}

// feed takes in what has arrived and, when that makes the answer whole, decodes it.
func (cn *conn) feed() {
	p := &cn.parser
	if p.body == nil { // not before an answer comes: a request that waits holds no buffer
		p.body = cn.client.takeBody()
	}
	if cn.used, cn.err = p.feed(cn.got); cn.err == nil && p.state == whole {
		p.res.client, p.res.whole, p.res.Wire = cn.client, p.body, p.wire
		cn.err = p.res.decode()
	}
}

func (cn *conn) send(t *aio.Task, req Request) error {
	c := cn.client
	buf := c.takeBody()
	defer c.giveBody(buf)
	b := append(*buf, "GET "...)
	b = append(b, req.Target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, req.Host...)
	b = append(b, "\r\n"...)
	b = append(b, c.common...)
	*buf = b
	_, err := cn.Write(t, b)
	return err
}

// decode undoes the Content-Encoding.
func (r *Response) decode() *Error {
	r.Body = *r.whole
	encoding := strings.ToLower(r.Header.list("Content-Encoding"))
	switch encoding {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
	default:
		return fail(KindEncoding, "Content-Encoding %.64q, expected gzip", encoding)
	}
	r.Encoding = "gzip"
	if len(r.Body) == 0 {
		return nil
	}
	c := r.client
	decoded := c.takeBody()
	err := c.gunzip(decoded, r.Body)
	if err != nil {
		c.giveBody(decoded)
		return err
	}
	c.giveBody(r.whole)
	r.whole, r.Body = decoded, *decoded
	return nil
}

// gunzip appends what src decodes to, at most MaxBody bytes.
func (c *Client) gunzip(dst *[]byte, src []byte) *Error {
	in := bytes.NewReader(src)
	var err error
	if c.gzip == nil {
		c.gzip, err = gzip.NewReader(in)
	} else {
		err = c.gzip.Reset(in)
	}
	b := *dst
	for err == nil && len(b) <= c.opt.MaxBody {
		b = slices.Grow(b, 1)
		var n int
		n, err = c.gzip.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
	}
	*dst = b
	switch {
	case len(b) > c.opt.MaxBody:
		return fail(KindBomb, "%d compressed bytes become more than %d", len(src), c.opt.MaxBody)
	case !errors.Is(err, io.EOF):
		return fail(KindEncoding, "gzip: %w", err)
	}
	return nil
}

// Close gives the buffer of the body back: Body is not valid any more.
func (r *Response) Close() {
	if r.whole != nil {
		r.client.giveBody(r.whole)
		r.whole, r.Body = nil, nil
	}
}

func (c *Client) takeBody() *[]byte {
	if n := len(c.bodies); n > 0 {
		b := c.bodies[n-1]
		c.bodies = c.bodies[:n-1]
		return b
	}
	b := make([]byte, 0, 512)
	return &b
}

func (c *Client) giveBody(b *[]byte) {
	if b != nil && cap(*b) <= keptBody && len(c.bodies) < keptBodies {
		*b = (*b)[:0]
		c.bodies = append(c.bodies, b)
	}
}
