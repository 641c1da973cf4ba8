package httpclient

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// maxRecord is the most that one TLS record carries (RFC 8446, section 5.1).
const maxRecord = 16 << 10

// newTLSConfig returns the configuration that all TLS connections of a client share.
func newTLSConfig(l *aio.Loop, opt *Options) *tls.Config {
	return &tls.Config{
		RootCAs:            opt.RootCAs,
		InsecureSkipVerify: opt.Insecure,
		Time:               l.Wall,
	}
}

// channel is the TLS layer of a connection. The handshake waits for the network inside crypto/tls,
// on the stack of its task. After it nothing waits there: arriving bytes are put into in and
// decrypted on the loop's stack until crypto/tls wants more than there is, and its output collects
// in out. So a waiting connection holds no buffer of ours, and its task needs no deep stack.
type channel struct {
	net.Conn // bound to a task during the handshake, then nil
	tls      *tls.Conn
	state    *tls.ConnectionState // a copy: keeping it does not keep the connection
	in       []byte               // arrived, not yet taken
	ended    bool                 // nothing comes after in
	torn     bool                 // crypto/tls has met that end without a preceding close_notify
	out      []byte               // to be sent

	// The memory of the handshake: see sessions.
	arrived  func(n int) error // during the handshake, called for all bytes so far
	came     int               // bytes during the handshake
	chain    int               // memory of the server's certificates
	resumed  int               // chain of the session that was offered to the server
	sessions *sessions
	server   string                  // of session
	session  *tls.ClientSessionState // put during the handshake
}

// errMore is what crypto/tls gets when it wants more than has arrived. It treats a temporary error
// as one after which it can try again.
var errMore net.Error = wantsMore{}

type wantsMore struct{}

func (wantsMore) Error() string   { return "nothing more has arrived" }
func (wantsMore) Timeout() bool   { return true }
func (wantsMore) Temporary() bool { return true }

func (ch *channel) Read(p []byte) (int, error) {
	if ch.Conn != nil {
		n, err := ch.Conn.Read(p)
		if ch.came += n; err == nil {
			err = ch.arrived(ch.came)
		}
		return n, err
	}
	if len(ch.in) == 0 {
		if ch.ended {
			ch.torn = true
			return 0, io.EOF
		}
		return 0, errMore
	}
	n := copy(p, ch.in)
	ch.in = ch.in[n:]
	return n, nil
}

func (ch *channel) Write(p []byte) (int, error) {
	if ch.Conn != nil {
		return ch.Conn.Write(p)
	}
	ch.out = append(ch.out, p...)
	return len(p), nil
}

// SetWriteDeadline is called by crypto/tls before it sends an alert.
func (ch *channel) SetWriteDeadline(at time.Time) error {
	if ch.Conn != nil {
		return ch.Conn.SetWriteDeadline(at)
	}
	return nil
}

// handshake starts TLS over raw, for use by t, with the server of a name, and offers it protocols. arrived is called with
// the number of bytes that have arrived.
func (c *Client) handshake(t *aio.Task, raw aio.Conn, name string, protocols []string, arrived func(n int) error) (*channel, error) {
	ch := &channel{Conn: aio.NewNetConn(t, raw), sessions: &c.sessions, arrived: arrived}
	config := c.tls.Clone()
	config.ServerName, config.ClientSessionCache, config.NextProtos = name, ch, protocols
	ch.tls = tls.Client(ch, config)
	if err := ch.tls.Handshake(); err != nil {
		return nil, err
	}
	ch.Conn, ch.arrived = nil, nil
	state := ch.tls.ConnectionState()
	ch.state = &state
	if ch.chain = ch.resumed; !state.DidResume {
		ch.chain = weighChain(state.PeerCertificates)
	}
	if ch.session != nil && ch.lasting() {
		ch.sessions.put(ch.server, ch.session, ch.chain)
	}
	ch.session = nil
	return ch, nil
}

// lasting reports whether the connection may be kept, and its session remembered: the server has
// not sent more certificates than are of use.
func (ch *channel) lasting() bool { return ch.came <= maxChain }

// weight returns the memory of the connection that the server chooses: its certificates, and
// crypto/tls's buffer of the longest message of the handshake, which doubles as it grows.
func (ch *channel) weight() int { return ch.chain + 2*ch.came }

// sendCloseNotify sends a close_notify, which must precede the end of a connection (RFC 9112,
// section 9.8), if the peer accepts it at once.
func (cn *conn) sendCloseNotify(t *aio.Task) {
	if cn.tls == nil {
		return
	}
	t.OnLoop(func() { _ = cn.tls.tls.CloseWrite() })
	_ = cn.SetWriteDeadline(cn.client.loop.Now().Add(1))
	_, _ = cn.Write(t, cn.tls.out)
}

// open decrypts what has arrived into buf, and calls take for each piece. It returns nil when it
// needs more, io.EOF at the end of the stream, or the error. To crypto/tls an end between two
// records is io.EOF with or without a close_notify: torn tells them apart.
func (ch *channel) open(buf, arrived []byte, take func([]byte)) error {
	ch.in = arrived
	for {
		n, err := ch.tls.Read(buf)
		if n > 0 {
			take(buf[:n])
		}
		if err != nil {
			ch.in = nil // a borrowed buffer
			if errors.Is(err, errMore) {
				return nil
			}
			return err
		}
	}
}
