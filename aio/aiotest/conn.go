package aiotest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// conn is one end of a connection.
type conn struct {
	net           *Net
	peer          *conn
	wire          wire // to the peer
	local, remote net.Addr

	arrived bytes.Buffer
	read    half
	write   half

	room     int   // bytes that the direction to the peer can still hold
	finished bool  // the end has been sent: no more writes
	ended    bool  // the peer's end has arrived
	readErr  error // returned after what has arrived
	writeErr error
	closed   bool
}

var _ aio.Conn = (*conn)(nil)

// pair returns both ends of a connection that is being made.
func (n *Net) pair(at endpoint, to net.Addr) (client, server *conn) {
	var from net.Addr
	switch {
	case at.path != "":
		from = &net.UnixAddr{Net: "unix"}
	case at.ip.Is6():
		from = &net.TCPAddr{IP: client6.AsSlice(), Port: int(n.nextPort())}
	default:
		from = &net.TCPAddr{IP: client4.AsSlice(), Port: int(n.nextPort())}
	}
	end := func(local, remote net.Addr) *conn {
		return &conn{
			net: n, wire: wire{loop: n.loop}, local: local, remote: remote,
			read: half{loop: n.loop}, write: half{loop: n.loop}, room: n.opt.Buffer,
		}
	}
	client, server = end(from, to), end(to, from)
	client.peer, server.peer = server, client
	return client, server
}

func (c *conn) Read(task *aio.Task, p []byte) (int, error) {
	if err := task.Checkpoint(); err != nil {
		return 0, c.opError("read", err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch {
		case c.closed:
			return 0, c.opError("read", aio.ErrClosed)
		case c.read.expired():
			return 0, c.opError("read", aio.ErrTimeout)
		case c.arrived.Len() > 0:
			n, _ := c.arrived.Read(p)
			c.makeRoom(n)
			return n, nil
		case c.readErr != nil:
			return 0, c.opError("read", c.readErr)
		case c.ended:
			return 0, io.EOF
		}
		if err := c.read.wait(task, "bytes to read"); err != nil {
			return 0, c.opError("read", err)
		}
	}
}

func (c *conn) WaitReadable(task *aio.Task) error {
	if err := task.Checkpoint(); err != nil {
		return c.opError("read", err)
	}
	for c.closed || !c.Ready() {
		if c.closed {
			return c.opError("read", aio.ErrClosed)
		}
		if err := c.read.wait(task, "bytes to read"); err != nil {
			return c.opError("read", err)
		}
	}
	return nil
}

func (c *conn) WhenReadable(task *aio.Task, until time.Time, next func(*aio.Task) error) error {
	return c.read.then(task, "bytes to read", c.Ready(), until, next)
}

func (c *conn) Ready() bool {
	return c.closed || c.arrived.Len() > 0 || c.readErr != nil || c.ended
}

func (c *conn) Write(task *aio.Task, p []byte) (int, error) {
	if err := task.Checkpoint(); err != nil {
		return 0, c.opError("write", err)
	}
	done := 0
	for {
		if !c.closed && c.write.expired() {
			return done, c.opError("write", aio.ErrTimeout)
		}
		n, err := c.put(p[done:])
		if done += n; err != nil || done == len(p) {
			return done, err
		}
		if err := c.write.wait(task, "the peer to take bytes"); err != nil {
			return done, c.opError("write", err)
		}
	}
}

// put writes what there is room for now.
func (c *conn) put(p []byte) (done int, err error) {
	for {
		switch {
		case c.closed:
			return done, c.opError("write", aio.ErrClosed)
		case done == len(p):
			return done, nil
		case c.writeErr != nil:
			return done, c.opError("write", c.writeErr)
		case c.finished:
			return done, c.opError("write", syscall.EPIPE)
		case c.room == 0:
			return done, nil
		}
		n := min(c.room, len(p)-done, segmentSize)
		data := bytes.Clone(p[done : done+n])
		done += n
		c.room -= n
		c.transmit(func() { c.peer.take(data) })
	}
}

func (c *conn) Send(p []byte, later func()) (int, error) {
	if c.write.busy() {
		return 0, c.opError("write", aio.ErrBusy)
	}
	n, err := c.put(p)
	if err == nil && n < len(p) {
		c.write.later = later
	}
	return n, err
}

func (c *conn) CloseWrite() error {
	if c.closed {
		return c.opError("close", aio.ErrClosed)
	}
	c.finish()
	c.write.wake()
	return nil
}

// Close lets the peer read what is in transit, and then the end. Anything the peer writes from
// then on causes a reset.
func (c *conn) Close() error {
	if c.closed {
		return nil
	}
	c.finish()
	c.makeRoom(c.arrived.Len()) // a peer that waits for room must write, and find out
	c.abandon()
	return nil
}

// abandon ends this end without notifying the other.
func (c *conn) abandon() {
	c.closed = true
	delete(c.net.open, c)
	c.arrived = bytes.Buffer{}
	c.read.close()
	c.write.close()
}

func (c *conn) SetDeadline(at time.Time) error {
	_ = c.SetReadDeadline(at)
	return c.SetWriteDeadline(at)
}

func (c *conn) SetReadDeadline(at time.Time) error  { return c.setDeadline(&c.read, at) }
func (c *conn) SetWriteDeadline(at time.Time) error { return c.setDeadline(&c.write, at) }

func (c *conn) setDeadline(h *half, at time.Time) error {
	if c.closed {
		return c.opError("set", aio.ErrClosed)
	}
	h.setDeadline(at)
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// opError wraps err with the operation and the connection, as package net does.
func (c *conn) opError(op string, err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: c.remote.Network(), Source: c.local, Addr: c.remote, Err: err}
}

// What goes over the wire.

// transmit sends a piece of the stream, or its end: it may be lost, and then comes later, or break
// the connection.
func (c *conn) transmit(arrive func()) {
	if c.net.happens(c.net.opt.Reset) {
		arrive = func() {
			c.peer.reset()
			c.peer.sendReset()
		}
	}
	c.wire.send(c.net.losses()+c.net.latency(), arrive)
}

// finish sends the end of the stream.
func (c *conn) finish() {
	if !c.finished && c.writeErr == nil {
		c.transmit(c.peer.end)
	}
	c.finished = true
}

// makeRoom tells the peer that n bytes of its direction are free again.
func (c *conn) makeRoom(n int) {
	if n == 0 || c.ended || c.readErr != nil { // the peer writes no more
		return
	}
	c.wire.send(c.net.latency(), func() {
		c.peer.room += n
		c.peer.write.wake()
	})
}

func (c *conn) sendReset() { c.wire.send(c.net.latency(), c.peer.reset) }

// What arrives from the peer.

// take handles the arrival of bytes.
func (c *conn) take(data []byte) {
	switch {
	case c.closed:
		c.sendReset()
	case c.readErr == nil:
		c.arrived.Write(data)
		c.read.wake()
	}
}

// end handles the arrival of the end of the stream.
func (c *conn) end() {
	if !c.closed && c.readErr == nil {
		c.ended = true
		c.read.wake()
	}
}

// reset handles the arrival of a reset. As on Linux, earlier bytes can still be read, and a reader
// of the end of the stream gets EPIPE when writing.
func (c *conn) reset() {
	switch {
	case c.closed || c.writeErr != nil:
		return
	case c.ended:
		c.writeErr = syscall.EPIPE
	default:
		c.readErr, c.writeErr = syscall.ECONNRESET, syscall.ECONNRESET
	}
	c.read.wake()
	c.write.wake()
}

// half is one direction of a connection as its user sees it: at most one task waits, until there
// is news or its deadline has passed, or one callback.
type half struct {
	loop  *aio.Loop
	lot   aio.Lot
	later func()    // called when there is news; nil: none
	limit time.Time // the deadline; zero: none
	alarm *aio.Callback
}

// wait suspends task until there is news; the caller then looks again.
func (h *half) wait(task *aio.Task, what string) error {
	switch {
	case h.busy():
		return aio.ErrBusy
	case h.expired():
		return aio.ErrTimeout
	}
	return h.lot.Park(task, what)
}

// then is wait for a task that waits without a stack, unless it is ready.
func (h *half) then(task *aio.Task, what string, ready bool, until time.Time, next func(*aio.Task) error) error {
	if ready || h.busy() || h.expired() {
		return task.Then(next)
	}
	return h.lot.Then(task, what, until, next)
}

func (h *half) busy() bool { return h.lot.Len() > 0 || h.later != nil }

func (h *half) wake() {
	h.lot.Unpark(nil)
	if h.later != nil {
		h.loop.CallSoon(func() {
			if fn := h.later; fn != nil {
				h.later = nil
				fn()
			}
		})
	}
}

func (h *half) expired() bool { return !h.limit.IsZero() && !h.limit.After(h.loop.Now()) }

func (h *half) setDeadline(at time.Time) {
	h.disarm()
	h.limit = at
	if !at.IsZero() {
		h.alarm = h.loop.CallAt(at, h.wake) // at once, if it has passed
	}
}

func (h *half) disarm() {
	if h.alarm != nil {
		h.alarm.Cancel()
	}
}

func (h *half) close() {
	h.disarm()
	h.later = nil
	h.lot.UnparkAll(aio.ErrClosed)
}

// listener is the end at which connections arrive.
type listener struct {
	net     *Net
	at      endpoint
	addr    net.Addr
	backlog []*conn // made, not accepted yet
	lot     aio.Lot
	closed  bool
}

func (ln *listener) Addr() net.Addr { return ln.addr }

func (ln *listener) Accept(task *aio.Task) (aio.Conn, error) {
	if err := task.Checkpoint(); err != nil {
		return nil, ln.opError("accept", err)
	}
	for {
		switch {
		case ln.closed:
			return nil, ln.opError("accept", aio.ErrClosed)
		case len(ln.backlog) > 0:
			c := ln.backlog[0]
			ln.backlog = ln.backlog[1:]
			ln.net.open[c] = fmt.Sprintf("connection from %v", c.remote)
			return c, nil
		case ln.lot.Len() > 0:
			return nil, ln.opError("accept", aio.ErrBusy)
		}
		if err := ln.lot.Park(task, "a connection"); err != nil {
			return nil, ln.opError("accept", err)
		}
	}
}

// Close resets the connections that were not accepted.
func (ln *listener) Close() error {
	if ln.closed {
		return nil
	}
	ln.closed = true
	delete(ln.net.listeners, ln.at)
	delete(ln.net.open, ln)
	for _, c := range ln.backlog {
		ln.turnAway(c)
	}
	ln.backlog = nil
	ln.lot.UnparkAll(aio.ErrClosed)
	return nil
}

// arrive is the last step of making a connection.
func (ln *listener) arrive(c *conn) {
	if ln.closed {
		ln.turnAway(c)
		return
	}
	ln.backlog = append(ln.backlog, c)
	ln.lot.Unpark(nil)
}

func (ln *listener) turnAway(c *conn) {
	c.abandon()
	c.sendReset()
}

func (ln *listener) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: ln.addr.Network(), Addr: ln.addr, Err: err}
}
