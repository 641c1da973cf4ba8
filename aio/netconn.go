package aio

import (
	"net"
	"time"
)

// NetConn binds a Conn to one task as a net.Conn, for code that was written for goroutines, such
// as crypto/tls. A call suspends the task, not a thread, so only that task may use whatever wraps
// the NetConn. A call while the task is not running panics.
//
// With crypto/tls use Handshake, not HandshakeContext with a context that can be done: the latter
// closes the connection from another goroutine.
type NetConn struct {
	task *Task
	conn Conn
}

var _ net.Conn = (*NetConn)(nil)

// NewNetConn binds c to t.
func NewNetConn(t *Task, c Conn) *NetConn { return &NetConn{task: t, conn: c} }

// Bind binds the connection to another task of the loop, between two calls.
func (n *NetConn) Bind(t *Task) { n.task = t }

// Conn returns the connection itself.
func (n *NetConn) Conn() Conn { return n.conn }

func (n *NetConn) Read(p []byte) (int, error)  { return n.conn.Read(n.task, p) }
func (n *NetConn) Write(p []byte) (int, error) { return n.conn.Write(n.task, p) }

// CloseWrite is a method that crypto/tls looks for.
func (n *NetConn) CloseWrite() error { n.task.check(); return n.conn.CloseWrite() }

func (n *NetConn) Close() error                        { n.task.check(); return n.conn.Close() }
func (n *NetConn) LocalAddr() net.Addr                 { return n.conn.LocalAddr() }
func (n *NetConn) RemoteAddr() net.Addr                { return n.conn.RemoteAddr() }
func (n *NetConn) SetDeadline(at time.Time) error      { return n.conn.SetDeadline(at) }
func (n *NetConn) SetReadDeadline(at time.Time) error  { return n.conn.SetReadDeadline(at) }
func (n *NetConn) SetWriteDeadline(at time.Time) error { return n.conn.SetWriteDeadline(at) }
