package http1

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/weftcrawl/weft/aio"
)

// Options configure a client. The zero value is the default.
type Options struct {
	Timeout   time.Duration // of a whole exchange, connecting included; 0: 30 s, negative: none
	MaxHead   int           // bytes of a header; 0: 64 KiB
	MaxBody   int           // bytes of a body, as sent and as decoded; 0: 16 MiB
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
	idle   map[string][]*conn // by address, the one used last at the end
	nIdle  int
	bodies []*[]byte    // free buffers
	gzip   *gzip.Reader // decoding is done without a wait, so one is enough
	common string       // the header lines that every request has
}

// NewClient returns a client for tasks of l. Close it when it is not used any more.
func NewClient(l *aio.Loop, opt Options) *Client {
	if opt.Timeout == 0 {
		opt.Timeout = defaultTimeout
	}
	if opt.MaxHead == 0 {
		opt.MaxHead = defaultMaxHead
	}
	if opt.MaxBody == 0 {
		opt.MaxBody = defaultMaxBody
	}
	if opt.MaxIdle == 0 {
		opt.MaxIdle = defaultMaxIdle
	}
	c := &Client{loop: l, opt: opt, idle: make(map[string][]*conn)}
	if opt.UserAgent != "" {
		c.common = "User-Agent: " + opt.UserAgent + "\r\n"
	}
	c.common += "Accept: */*\r\nAccept-Encoding: gzip\r\n\r\n"
	return c
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	for address, conns := range c.idle {
		for _, cn := range conns {
			cn.Close()
		}
		delete(c.idle, address)
	}
	c.nIdle = 0
}

// Request is a GET.
type Request struct {
	Scheme string // "http"
	Host   string // HOST or HOST:PORT, as in the URL
	Target string // path and query, beginning with "/"
}

// conn is a connection and what reads answers from it; made once, used for all of
// its exchanges.
type conn struct {
	aio.Conn
	client *Client
	reader *aio.Reader
	parser parser
	step   func() // feeds parser, on the loop's stack
	got    []byte // for step: what has arrived
	used   int    // by step: how much of it
	err    *Error // by step
	reused bool
}

// Get sends req and waits for the whole answer. Close gives its buffers back.
// The error is an *Error.
func (c *Client) Get(t *aio.Task, req Request) (*Response, error) {
	if req.Scheme != "http" {
		return nil, fail(KindScheme, "%q, expected http", req.Scheme)
	}
	address := req.Host
	if i := strings.LastIndexByte(address, ':'); i < 0 || strings.HasSuffix(address, "]") {
		address += ":80"
	}
	for fresh := false; ; fresh = true {
		cn, err := c.connection(t, address, fresh)
		if err != nil {
			return nil, classify(err, KindConnect)
		}
		res, failed := cn.exchange(t, req)
		if failed == nil {
			if cn.parser.close || cn.reader.Buffered() > 0 { // bytes beyond the answer: not ours to guess
				cn.Close()
			} else {
				c.keep(address, cn)
			}
			return res, nil
		}
		cn.Close()
		c.giveBody(cn.parser.body)
		// A kept connection may have been closed by the server just before it was
		// used again. Then no answer began, and the request is sent once more, on a
		// connection that is new.
		if cn.reused && cn.parser.empty() && (failed.Kind == KindEarlyEnd || failed.Kind == KindReset) {
			continue
		}
		return nil, failed
	}
}

// connection takes a kept connection, unless it is to be a fresh one, or makes one.
func (c *Client) connection(t *aio.Task, address string, fresh bool) (*conn, error) {
	if conns := c.idle[address]; len(conns) > 0 && !fresh {
		cn := conns[len(conns)-1]
		conns[len(conns)-1] = nil
		c.idle[address] = conns[:len(conns)-1]
		c.nIdle--
		cn.reused = true
		return cn, nil
	}
	var raw aio.Conn
	dial := func(t *aio.Task) (err error) {
		raw, err = aio.Dial(t, "tcp", address)
		return err
	}
	var err error
	if c.opt.Timeout > 0 {
		err = t.Timeout(c.opt.Timeout, dial)
	} else {
		err = dial(t)
	}
	if err != nil {
		return nil, err
	}
	cn := &conn{Conn: raw, client: c, reader: aio.NewReader(c.loop, raw)}
	cn.step = cn.feed
	return cn, nil
}

func (c *Client) keep(address string, cn *conn) {
	if c.nIdle >= c.opt.MaxIdle {
		cn.Close()
		return
	}
	c.idle[address] = append(c.idle[address], cn)
	c.nIdle++
}

func (cn *conn) exchange(t *aio.Task, req Request) (*Response, *Error) {
	c := cn.client
	cn.parser = parser{maxHead: c.opt.MaxHead, maxBody: c.opt.MaxBody}
	if c.opt.Timeout > 0 {
		cn.SetDeadline(c.loop.Now().Add(c.opt.Timeout))
	}
	if err := cn.send(t, req); err != nil {
		return nil, classify(err, KindReset)
	}
	for cn.parser.state != whole {
		b, err := cn.reader.Peek(t)
		if errors.Is(err, io.EOF) {
			if e := cn.parser.eof(); e != nil {
				return nil, e
			}
			break
		}
		if err != nil {
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
	res := cn.parser.res
	res.client, res.whole, res.Wire = c, cn.parser.body, cn.parser.wire
	var failed *Error
	t.OnLoop(func() { failed = res.decode() })
	if failed != nil {
		return nil, failed
	}
	return res, nil
}

func (cn *conn) feed() {
	if cn.parser.body == nil { // not before an answer comes: a request that waits holds no buffer
		cn.parser.body = cn.client.takeBody()
	}
	cn.used, cn.err = cn.parser.feed(cn.got)
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
	encoding := strings.ToLower(r.Header.Get("Content-Encoding"))
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
	for err == nil {
		if len(b) > c.opt.MaxBody {
			return fail(KindBomb, "%d compressed bytes become more than %d", len(src), c.opt.MaxBody)
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		var n int
		n, err = c.gzip.Read(b[len(b):min(cap(b), c.opt.MaxBody+1)])
		b = b[:len(b)+n]
	}
	*dst = b
	if !errors.Is(err, io.EOF) {
		return fail(KindEncoding, "gzip: %w", err)
	}
	if len(b) > c.opt.MaxBody {
		return fail(KindBomb, "%d compressed bytes become more than %d", len(src), c.opt.MaxBody)
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
