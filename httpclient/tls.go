package httpclient

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// newTLSConfig returns the configuration that all TLS connections of a client share. Certificates
// are verified by a verifier.
//
// What a client without secrets fetches is public: nobody needs to record it today to decrypt it
// with a quantum computer. So the key exchange is without ML-KEM, a quarter of a handshake's CPU
// time.
func newTLSConfig(l *aio.Loop, secrets bool) *tls.Config {
	config := &tls.Config{InsecureSkipVerify: true, Time: l.Wall}
	if !secrets {
		config.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}
	}
	return config
}

// channel is the TLS layer of a connection. crypto/tls does the handshake, on the stack of a task
// that ends with it. After that nothing waits here: what arrives is decrypted on the loop's stack,
// and what is to be sent collects in out. So a waiting connection holds no buffer, and its task
// needs no deep stack.
//
// The records of TLS 1.3 after the handshake are handled here, in the buffer in which they have
// arrived: crypto/tls would keep, for each connection, buffers for its longest record and its
// longest message. It gets what comes before the first response for the session tickets in it,
// until there is one. Other versions stay with it.
type channel struct {
	state   *tls.ConnectionState // a copy: keeping it does not keep the connection
	secured string               // see Response.Secured
	lib     *tls.Conn            // nil: not needed any more
	in      []byte               // arrived, for lib
	out     []byte               // to be sent
	ended   bool                 // nothing comes after what has arrived
	torn    bool                 // that end has come without a preceding close_notify

	ours      bool // records are handled here
	get, send half
	message   []byte // of the peer, the beginning
	useless   int    // records in a row that carry nothing
	updates   int    // of the peer's keys

	shake *shake // nil after the handshake

	// The memory of the handshake: see sessions.
	came     int // bytes during the handshake
	chain    int // memory of the server's certificates
	sessions *sessions
	origin   string
}

// shake is the extra state of a channel during its handshake.
type shake struct {
	task    *aio.Task
	conn    aio.Conn
	reader  *aio.Reader
	lent    int                            // bytes of reader that are in use
	arrived func(t *aio.Task, n int) error // called for all bytes so far
	verify  func(certs []*x509.Certificate) error
	secrets map[string][]byte       // by label
	resumed int                     // chain of the session that was offered to the server
	session *tls.ClientSessionState // put during the handshake
}

// errMore is the answer to crypto/tls when it wants more than has arrived. It treats a temporary
// error as one after which it can try again.
var errMore net.Error = wantsMore{}

type wantsMore struct{}

func (wantsMore) Error() string   { return "nothing more has arrived" }
func (wantsMore) Timeout() bool   { return true }
func (wantsMore) Temporary() bool { return true }

// below is a channel as crypto/tls sees it: the connection below it, which gives one record at a
// time.
type below struct{ *channel }

func (b below) Read(p []byte) (int, error) {
	if len(b.in) == 0 && b.shake != nil {
		if err := b.nextRecord(); err != nil {
			return 0, err
		}
	}
	if len(b.in) == 0 {
		if b.ended {
			b.torn = true
			return 0, io.EOF
		}
		return 0, errMore
	}
	n := copy(p, b.in)
	b.in = b.in[n:]
	return n, nil
}

func (b below) Write(p []byte) (int, error) {
	b.out = append(b.out, p...)
	return len(p), nil
}

// The connection itself has the deadlines, and is closed elsewhere.

func (below) SetDeadline(time.Time) error      { return nil }
func (below) SetReadDeadline(time.Time) error  { return nil }
func (below) SetWriteDeadline(time.Time) error { return nil }
func (below) LocalAddr() net.Addr              { return nil }
func (below) RemoteAddr() net.Addr             { return nil }
func (below) Close() error                     { return nil }

// nextRecord waits for the next record of the handshake, after it has sent what is to be sent. All
// but the last message of ours is sent here, that one with the first request.
func (ch *channel) nextRecord() error {
	s := ch.shake
	s.reader.Discard(s.lent)
	s.lent = 0
	var b []byte
	var err error
	if s.reader.Buffered() > 0 {
		b, err = s.reader.Peek(s.task)
	}
	n := recordSize(b)
	for err == nil && (n == 0 || n > len(b)) {
		if len(ch.out) > 0 {
			_, err = s.conn.Write(s.task, ch.out)
			ch.out = ch.out[:0]
		}
		if err == nil {
			b, err = s.reader.More(s.task)
			n = recordSize(b)
		}
	}
	switch {
	case len(b) > 0 && errors.Is(err, io.EOF):
		n = len(b)
	case err != nil:
		return err
	}
	ch.in, s.lent = b[:n], n
	ch.came += n
	return s.arrived(s.task, ch.came)
}

// keyLog takes the secrets of a connection from crypto/tls: lines of a label, the client's random
// and a secret.
type keyLog struct{ *shake }

func (k keyLog) Write(line []byte) (int, error) {
	if f := bytes.Fields(line); len(f) == 3 {
		secret := make([]byte, hex.DecodedLen(len(f[2])))
		if _, err := hex.Decode(secret, f[2]); err != nil {
			return 0, err
		}
		k.secrets[string(f[0])] = secret
	}
	return len(line), nil
}

// handshake starts TLS over a connection. arrived is called with the number of bytes that have
// arrived.
func (c *Client) handshake(t *aio.Task, cn *conn, arrived func(t *aio.Task, n int) error) error {
	s := &shake{task: t, conn: cn.Conn, reader: cn.reader, arrived: arrived, secrets: make(map[string][]byte, 4)}
	s.verify = func(certs []*x509.Certificate) error {
		if c.opt.Insecure {
			return nil
		}
		return c.verifier.verify(certs, cn.host, c.loop.Wall())
	}
	ch := &channel{sessions: &c.sessions, origin: cn.route.host, shake: s}
	config := c.tls.Clone()
	config.ServerName, config.ClientSessionCache, config.NextProtos = cn.host, ch, c.muxes.protocols(cn.route)
	config.KeyLogWriter = keyLog{s}
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if state.DidResume { // see Get
			return nil
		}
		return s.verify(state.PeerCertificates)
	}
	ch.lib = tls.Client(below{ch}, config)
	err := ch.lib.Handshake()
	s.reader.Discard(s.lent)
	if err != nil {
		if len(ch.out) > 0 { // an alert, if the peer accepts it at once
			_ = cn.SetWriteDeadline(c.loop.Now().Add(1))
			_, _ = cn.Write(t, ch.out)
		}
		return err
	}
	c.takeOver(ch)
	cn.tls = ch
	return nil
}

// takeOver takes a channel over from crypto/tls after the handshake.
func (c *Client) takeOver(ch *channel) {
	s := ch.shake
	ch.shake = nil
	state := ch.lib.ConnectionState()
	ch.state = &tls.ConnectionState{
		Version: state.Version, HandshakeComplete: true, DidResume: state.DidResume, CipherSuite: state.CipherSuite,
		CurveID: state.CurveID, NegotiatedProtocol: state.NegotiatedProtocol, ServerName: state.ServerName,
		HelloRetryRequest: state.HelloRetryRequest, PeerCertificates: state.PeerCertificates,
	}
	ch.secured = tls.VersionName(state.Version) + ", " + tls.CipherSuiteName(state.CipherSuite)
	if ch.chain = s.resumed; !state.DidResume {
		ch.chain = weighChain(state.PeerCertificates)
	}
	if s.session != nil && ch.lasting() {
		ch.sessions.put(ch.origin, s.session, state.PeerCertificates, ch.chain)
	}
	suite, known := suites[state.CipherSuite]
	get, send := s.secrets["SERVER_TRAFFIC_SECRET_0"], s.secrets["CLIENT_TRAFFIC_SECRET_0"]
	if !known || len(get) == 0 || len(send) == 0 || len(ch.in) > 0 {
		return
	}
	var err error
	if ch.get, err = newHalf(suite, get, &c.warm); err == nil {
		ch.send, err = newHalf(suite, send, &c.warm)
	}
	ch.ours = err == nil
}

// lasting reports whether the connection may be kept, and its session remembered: the server has
// not sent more certificates than are of use, and the keys are not worn.
func (ch *channel) lasting() bool {
	return ch.came <= maxChain && max(ch.get.n, ch.send.n) < maxKeyRecords
}

// weight returns the memory of the connection that the server chooses: its certificates, and
// crypto/tls's buffer of the longest message of the handshake, which doubles as it grows.
func (ch *channel) weight() int { return ch.chain + 2*ch.came }

// seal appends to b what is to be sent before, and plain, encrypted.
func (ch *channel) seal(b, plain []byte) (sealed []byte, err error) {
	b = append(b, ch.out...)
	ch.out = nil
	if len(plain) == 0 {
		return b, nil
	}
	if ch.ours {
		return ch.send.seal(b, applicationRecord, plain), nil
	}
	ch.out = b
	_, err = ch.lib.Write(plain)
	b, ch.out = ch.out, nil
	return b, err
}

// sendCloseNotify sends a close_notify, which must precede the end of a connection (RFC 9112,
// section 9.8), if the peer accepts it at once.
func (cn *conn) sendCloseNotify(t *aio.Task) {
	ch := cn.tls
	if ch == nil {
		return
	}
	t.OnLoop(func() {
		if ch.ours {
			ch.out = ch.send.seal(ch.out, alertRecord, []byte{1, byte(alertCloseNotify)})
		} else {
			_ = ch.lib.CloseWrite()
		}
	})
	_, _ = cn.Send(ch.out, nil)
}

// open decrypts what has arrived, in its place or into buf, and calls take for each piece. It
// returns how much of it it has used: all but the beginning of a record. The error is nil when it
// needs more, and io.EOF at the end of the stream.
func (ch *channel) open(buf, arrived []byte, take func([]byte)) (used int, err error) {
	if !ch.ours {
		return len(arrived), ch.openByLib(buf, arrived, take)
	}
	for {
		b := arrived[used:]
		n := recordSize(b)
		switch {
		case n > 0 && n <= len(b):
			used += n
			if err := ch.openRecord(buf, b[:n], take); err != nil {
				return used, err
			}
		case n > maxSealed:
			return used, ourAlert(alertOverflow)
		case !ch.ended:
			return used, nil
		case len(b) > 0:
			return used, io.ErrUnexpectedEOF
		default:
			ch.torn = true
			return used, io.EOF
		}
	}
}

// openByLib is open by crypto/tls, to which an end between two records is io.EOF with or without a
// close_notify: torn tells them apart.
func (ch *channel) openByLib(buf, arrived []byte, take func([]byte)) error {
	ch.in = arrived
	for {
		n, err := ch.lib.Read(buf)
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

// The peer may send as many records in a row that carry nothing of a response, and change its keys
// as often. crypto/tls has the first limit, too.
const (
	mostUseless = 16
	mostUpdates = 32
)

// Messages after the handshake (RFC 8446, sections 4.6.1 and 4.6.3).
const (
	newSessionTicket = 4
	keyUpdate        = 24
)

// openRecord decrypts a record and does what it says.
func (ch *channel) openRecord(buf, record []byte, take func([]byte)) error {
	var sealed []byte
	if ch.lib != nil {
		sealed = append(buf[:0], record...)
	}
	kind, content, err := ch.get.open(record)
	if err != nil {
		return err
	}
	if len(ch.message) > 0 && kind != handshakeRecord {
		return ourAlert(alertUnexpected)
	}
	if ch.useless++; ch.useless > mostUseless {
		return errUseless
	}
	switch kind {
	case applicationRecord:
		if len(content) > 0 {
			ch.useless = 0
			ch.lib = nil
			take(content)
		}
		return nil
	case handshakeRecord:
		ticket, err := ch.takeMessages(content)
		if err == nil && ch.lib != nil {
			ch.learn(sealed, ticket)
		}
		return err
	case alertRecord:
		switch {
		case len(content) != 2:
			return ourAlert(alertDecode)
		case tls.AlertError(content[1]) == alertCloseNotify:
			return io.EOF
		case tls.AlertError(content[1]) == alertUserCanceled: // crypto/tls says why
			return nil
		}
		return theirAlert(tls.AlertError(content[1]))
	}
	return ourAlert(alertUnexpected)
}

var errUseless = errors.New("too many records without content")

// takeMessages takes messages that come after the handshake. ticket reports that they are whole
// session tickets.
func (ch *channel) takeMessages(content []byte) (ticket bool, err error) {
	ticket = len(ch.message) == 0
	if len(content) == 0 || len(ch.message)+len(content) > 2*maxRecord {
		return false, ourAlert(alertUnexpected)
	}
	b := append(ch.message, content...)
	for len(b) >= 4 {
		n := 4 + (int(b[1])<<16 | int(b[2])<<8 | int(b[3]))
		if n > len(b) {
			break
		}
		switch message := b[:n]; message[0] {
		case newSessionTicket:
		case keyUpdate:
			ticket = false
			if n != 5 || message[4] > 1 || len(b) > n { // the last under its keys
				return false, ourAlert(alertDecode)
			}
			if err := ch.updateKeys(message[4] == 1); err != nil {
				return false, err
			}
		default:
			return false, ourAlert(alertUnexpected)
		}
		b = b[n:]
	}
	if ch.message = nil; len(b) > 0 {
		ch.message, ticket = bytes.Clone(b), false
	}
	return ticket, nil
}

// updateKeys takes in that the peer has new keys, and may want new ones from us.
func (ch *channel) updateKeys(wanted bool) error {
	if ch.updates++; ch.updates > mostUpdates {
		return errors.New("too many changes of keys")
	}
	if err := ch.get.update(); err != nil || !wanted {
		return err
	}
	ch.out = ch.send.seal(ch.out, handshakeRecord, []byte{keyUpdate, 0, 0, 1, 0})
	return ch.send.update()
}

// learn gives a record to crypto/tls, which makes a session of a ticket. With anything else it
// would have keys of its own that differ from ours.
func (ch *channel) learn(record []byte, ticket bool) {
	if !ticket {
		ch.lib = nil
		return
	}
	ch.in = record
	var none [1]byte
	if _, err := ch.lib.Read(none[:]); !errors.Is(err, errMore) {
		ch.lib = nil
	}
	ch.in = nil
}

// Get returns the session of the origin if the certificates that it began with are still valid:
// they are not sent again.
func (ch *channel) Get(string) (*tls.ClientSessionState, bool) {
	n := ch.sessions.get(ch.origin)
	switch {
	case n == nil:
		return nil, false
	case ch.shake.verify(n.certs) != nil:
		ch.sessions.put(ch.origin, nil, nil, 0)
		return nil, false
	}
	ch.shake.resumed = n.chain
	return n.state, true
}

// Put remembers a session. How much its certificates take is known only after the handshake, and
// one is enough.
func (ch *channel) Put(_ string, state *tls.ClientSessionState) {
	switch {
	case state == nil:
		ch.sessions.put(ch.origin, nil, nil, 0)
	case ch.shake != nil:
		ch.shake.session = state
	case ch.lasting():
		ch.sessions.put(ch.origin, state, ch.state.PeerCertificates, ch.chain)
		if ch.ours {
			ch.lib = nil
		}
	}
}
