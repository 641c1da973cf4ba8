package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrAbsent is wrapped by errors of requests that may succeed later: no server answers, or the servers have no room.
var ErrAbsent = errors.New("the servers cannot serve now")

// absent is why a request failed that may succeed when it is sent again.
type absent struct{ text string }

func (e *absent) Error() string { return e.text }

func (e *absent) Is(target error) bool { return target == ErrAbsent }

// noPeers is the code of the error that there are fewer servers than replicas.
const noPeers = 10005

// noRoom are the codes of JetStream's errors for a full disk, stream or account.
var noRoom = []jetstream.ErrorCode{10002, 10023, 10028, 10047, 10077}

// tooSmall says what an account must allow, by the code of the error if it does not.
var tooSmall = map[jetstream.ErrorCode]string{
	10026: "two consumers on a stream for each node",
	10027: "three streams for each crawl (weft cluster list shows crawls that are over)",
	10113: "streams of unlimited size",
}

// refused adds to an error of the servers what it takes to succeed.
func (c *Client) refused(err error) error {
	var api *jetstream.APIError
	var before *absent
	var broken *net.OpError
	var unknown x509.UnknownAuthorityError
	var wrong *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case errors.As(err, &before):
		return err
	case loginRefused(err) && !c.again:
		err = errors.New(turnedAway(err) + ", expected that of nats://USER:PASSWORD@HOST or of a file of credentials")
	case loginRefused(err): // it was right before, and may be again
		err = &absent{turnedAway(err)}
	case c.login.refused() != nil:
		err = &absent{turnedAway(c.login.refused())}
	case isSilence(err) && c.login.lacked() != nil:
		err = c.login.lacked()
	case errors.As(err, &unknown):
		err = errors.New("the servers' certificate is signed by an unknown authority, expected one of this machine, or of --cluster-ca")
	case errors.As(err, &wrong):
		err = fmt.Errorf("the servers' certificate is refused: %s", strings.TrimPrefix(wrong.Err.Error(), "x509: "))
	case errors.Is(err, nats.ErrSecureConnWanted):
		err = errors.New("the servers do not speak TLS, expected nats:// and no certificates")
	case errors.Is(err, nats.ErrNkeysNotSupported):
		err = errors.New("the servers have no NKeys, expected no file with one")
	case errors.As(err, &name) && name.IsNotFound && !c.again:
		err = fmt.Errorf("there is no host %.128q, expected the name or the address of a server", name.Name)
	case errors.As(err, &broken) && broken.Op == "dial":
		err = &absent{"no server answers: " + strings.TrimLeft(strings.TrimPrefix(broken.Error(), "dial tcp"), ": ")}
	case errors.As(err, &broken) && broken.Op == "remote error":
		err = fmt.Errorf("the servers refuse this node's certificate, or require one: %w", broken.Err)
	case errors.Is(err, nats.ErrTLS) && (broken != nil || errors.Is(err, io.EOF)): // they did not say why
		err = &absent{"the servers refuse this node's certificate, or require one, or the connection broke: " + bare(err)}
	case errors.Is(err, io.EOF), errors.As(err, &broken), errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrStaleConnection):
		err = &absent{"the connection broke: " + err.Error()}
	case errors.Is(err, nats.ErrMaxPayload):
		err = fmt.Errorf("a message of more than the %d bytes that the servers take, expected a higher max_payload", c.conn.MaxPayload())
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrReconnectBufExceeded):
		err = &absent{"no server answers"}
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		err = errors.New("the servers run without JetStream, expected with it (nats-server -js)")
	case errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode):
		err = &absent{"the servers have no room: " + api.Description}
	case isSilence(err), errors.As(err, &api) && (api.Code == 503 || api.ErrorCode == noPeers):
		err = &absent{"JetStream does not answer: " + c.whySilent()}
	case api != nil && tooSmall[api.ErrorCode] != "":
		err = fmt.Errorf("%s, expected an account with %s", api.Description, tooSmall[api.ErrorCode])
	case api != nil:
		err = described{api}
	default:
		err = errors.New(bare(err))
	}
	return fmt.Errorf("cluster %s: %w", withoutLogins(c.servers), err)
}

// whySilent says what may keep JetStream from answering.
func (c *Client) whySilent() string {
	if c.conn != nil && c.conn.IsConnected() && c.conn.ConnectedClusterName() == "" {
		return "the server is busy, or its disk is full"
	}
	return "fewer than half of the servers may be up"
}

// described is an error of JetStream that says no codes.
type described struct{ *jetstream.APIError }

func (e described) Error() string { return e.Description }

// isSilence reports whether an error means that nobody has answered a request.
func isSilence(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, jetstream.ErrNoStreamResponse)
}

// bare is the text of an error of the NATS client, without its prefix.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "nats: ") }

// login is what the servers refuse to the login of a connection. They report that apart from the requests that
// fail because of it.
type login struct {
	mu   sync.Mutex
	away error     // why the login itself was refused, since the connection broke
	lack string    // the last permission that the servers have refused
	at   time.Time // when they refused it
}

// loginRefused reports whether an error means that the servers do not, or no longer, accept a login.
func loginRefused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrAccountAuthExpired)
}

func turnedAway(err error) string {
	return "the servers refuse the login: " + strings.ToLower(bare(err))
}

// refuse notes that the servers refuse the login, and reports whether that is new.
func (l *login) refuse(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.away
	l.away = err
	return was == nil
}

// accept notes that the servers accept the login.
func (l *login) accept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away, l.lack = nil, ""
}

// refused returns why the servers refuse the login; nil: they do not.
func (l *login) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away
}

// lacks notes a permission that the login lacks.
func (l *login) lacks(err error) {
	text := bare(err)
	if _, what, ok := strings.Cut(text, "Permissions Violation for "); ok {
		text = what
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lack, l.at = text, time.Now()
}

// lacked returns the permission that the login lacks, if a recent request may have failed because of it.
func (l *login) lacked() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lack == "" || time.Since(l.at) > 2*requestTimeout {
		return nil
	}
	return fmt.Errorf("the login lacks a permission: %.200s; docs/cluster.md lists those of a node", l.lack)
}

// mayTell refuses a login that may not publish or receive the messages between nodes. Nobody answers these, so that otherwise
// nobody would notice.
func (n *node) mayTell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := n.conn.Publish(n.aboutAddresses("nobody"), nil)
	if err == nil {
		err = n.conn.FlushWithContext(ctx)
	}
	if last := n.conn.LastError(); err == nil && errors.Is(last, nats.ErrPermissionViolation) {
		n.login.lacks(last)
		err = n.login.lacked()
	}
	if err != nil {
		return n.refused(err)
	}
	return nil
}

var loginOf = regexp.MustCompile(`//[^/,]*@|^[^/,]*@|,[^/,]*@`)

// withoutLogins returns servers without their logins, for messages.
func withoutLogins(servers string) string {
	return loginOf.ReplaceAllStringFunc(servers, func(s string) string {
		return s[:len(s)-len(strings.TrimLeft(s, "/,"))] + "…@"
	})
}
