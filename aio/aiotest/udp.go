package aiotest

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Answer handles a datagram at a UDP server. It may call reply any number of times, at once or
// later, on the loop.
type Answer func(datagram []byte, reply func(datagram []byte))

// AnswerUDP calls answer for each datagram that arrives at on, ADDR:PORT; a nil answer ends that.
// Each datagram is lost with the probability Loss of the options and travels by itself: with
// Jitter one may overtake another. Where nobody answers, the sender gets ECONNREFUSED; from a
// blackhole, nothing.
func (n *Net) AnswerUDP(on string, answer Answer) {
	at := netip.MustParseAddrPort(on)
	if answer == nil {
		delete(n.answers, at)
		return
	}
	n.answers[at] = answer
}

// datagrams is a socket connected to a UDP server.
type datagrams struct {
	net           *Net
	local, remote *net.UDPAddr
	at            netip.AddrPort // remote

	arrived [][]byte
	held    int // bytes in the queue
	failed  error
	read    half
	closed  bool
}

var _ aio.Conn = (*datagrams)(nil)

func (n *Net) connectUDP(to *net.UDPAddr) *datagrams {
	at := to.AddrPort()
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	from := client4
	if at.Addr().Is6() {
		from = client6
	}
	local := net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, n.nextPort()))
	d := &datagrams{net: n, local: local, remote: to, at: at, read: half{loop: n.loop}}
	n.open[d] = fmt.Sprintf("datagram socket to %v", to)
	return d
}

func (d *datagrams) Write(task *aio.Task, p []byte) (int, error) {
	if err := task.Checkpoint(); err != nil {
		return 0, d.opError("write", err)
	}
	return d.Send(p, nil)
}

// Send never has a rest.
func (d *datagrams) Send(p []byte, _ func()) (int, error) {
	if err := d.fault(); err != nil {
		return 0, d.opError("write", err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	data := bytes.Clone(p)
	d.net.carry(func() {
		answer := d.net.answers[d.at]
		switch {
		case d.net.black[d.at.Addr()]:
		case answer == nil:
			d.net.carry(func() { d.fail(syscall.ECONNREFUSED) })
		default:
			answer(data, func(reply []byte) {
				reply = bytes.Clone(reply)
				d.net.carry(func() { d.take(reply) })
			})
		}
	})
	return len(p), nil
}

// carry calls arrive when a datagram that is sent now arrives, if it does.
func (n *Net) carry(arrive func()) {
	if !n.happens(n.opt.Loss) {
		n.loop.CallLater(n.latency(), arrive)
	}
}

func (d *datagrams) take(datagram []byte) {
	if d.closed || d.held+len(datagram) > d.net.opt.Buffer {
		return
	}
	d.arrived = append(d.arrived, datagram)
	d.held += len(datagram)
	d.read.wake()
}

func (d *datagrams) fail(err error) {
	d.failed = err
	d.read.wake()
}

// fault returns why d cannot continue, or nil. A network error is returned once.
func (d *datagrams) fault() error {
	if d.closed {
		return aio.ErrClosed
	}
	err := d.failed
	d.failed = nil
	return err
}

func (d *datagrams) Read(task *aio.Task, p []byte) (int, error) {
	if err := d.WaitReadable(task); err != nil {
		return 0, err
	}
	if err := d.fault(); err != nil {
		return 0, d.opError("read", err)
	}
	datagram := d.arrived[0]
	d.arrived = d.arrived[1:]
	d.held -= len(datagram)
	return copy(p, datagram), nil
}

func (d *datagrams) WaitReadable(task *aio.Task) error {
	err := task.Checkpoint()
	for err == nil {
		switch {
		case d.closed:
			err = aio.ErrClosed
		case d.read.expired():
			err = aio.ErrTimeout
		case d.Ready():
			return nil
		default:
			err = d.read.wait(task, "a datagram")
		}
	}
	return d.opError("read", err)
}

func (d *datagrams) WhenReadable(task *aio.Task, until time.Time, next func(*aio.Task) error) error {
	return d.read.then(task, "a datagram", d.Ready(), until, next)
}

func (d *datagrams) Ready() bool { return d.closed || d.failed != nil || len(d.arrived) > 0 }

func (d *datagrams) CloseWrite() error { return d.opError("close", syscall.EOPNOTSUPP) }

func (d *datagrams) Close() error {
	if !d.closed {
		d.closed = true
		delete(d.net.open, d)
		d.arrived = nil
		d.read.close()
	}
	return nil
}

func (d *datagrams) SetDeadline(at time.Time) error { return d.SetReadDeadline(at) }

func (d *datagrams) SetReadDeadline(at time.Time) error {
	if d.closed {
		return d.opError("set", aio.ErrClosed)
	}
	d.read.setDeadline(at)
	return nil
}

// SetWriteDeadline does nothing: a write does not wait.
func (d *datagrams) SetWriteDeadline(time.Time) error { return nil }

func (d *datagrams) LocalAddr() net.Addr  { return d.local }
func (d *datagrams) RemoteAddr() net.Addr { return d.remote }

func (d *datagrams) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: d.local, Addr: d.remote, Err: err}
}
