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

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrAbsent is wrapped by errors of requests that may succeed later: no server answers, or the
// servers have no room.
var ErrAbsent = errors.New("the servers cannot serve now")

// absent is the failure of a request that may succeed when it is sent again.
type absent struct{ text string }

func (e *absent) Error() string { return e.text }

func (e *absent) Is(target error) bool { return target == ErrAbsent }

// noPeers is the code of the error that there are fewer servers than replicas.
const noPeers = 10005

// noRoom are the codes of JetStream's errors for a full disk, stream or account.
var noRoom = []jetstream.ErrorCode{10002, 10023, 10028, 10047, 10077}

// tooSmall has the needs of a crawl that an account may refuse, by the code of the error.
var tooSmall = map[jetstream.ErrorCode]string{
	10026: "two consumers on a stream for each node",
	10027: "three streams for each crawl (weft cluster list shows crawls that are over)",
	10113: "streams of unlimited size",
}

// refused adds to an error of the servers what it takes to succeed.
func (s *servers) refused(err error) error {
	var api *jetstream.APIError
	var before *absent
	var broken *net.OpError
	var unknown x509.UnknownAuthorityError
	var wrong *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case errors.As(err, &before):
		return err
	case loginRefused(err) && !s.again:
		err = errors.New(turnedAway(err) + ", expected that of nats://USER:PASSWORD@HOST or of a file of credentials")
	case loginRefused(err): // it was right before, and may be again
		err = &absent{turnedAway(err)}
	case s.login.refused() != nil:
		err = &absent{turnedAway(s.login.refused())}
	case isSilence(err) && s.login.lacked() != nil:
		err = s.login.lacked()
	case errors.As(err, &unknown):
		err = errors.New("the servers' certificate is signed by an unknown authority, expected one of this machine, or of --cluster-ca")
	case errors.As(err, &wrong):
		err = fmt.Errorf("the servers' certificate is refused: %s", strings.TrimPrefix(wrong.Err.Error(), "x509: "))
	case errors.Is(err, nats.ErrSecureConnWanted):
		err = errors.New("the servers do not speak TLS, expected nats:// and no certificates")
	case errors.Is(err, nats.ErrNkeysNotSupported):
		err = errors.New("the servers have no NKeys, expected no file with one")
	case errors.As(err, &name) && name.IsNotFound && !s.again:
		err = fmt.Errorf("there is no host %.128q, expected the name or the address of a server", name.Name)
	case errors.As(err, &broken) && broken.Op == "dial":
		err = &absent{"no server answers: " + strings.TrimLeft(strings.TrimPrefix(broken.Error(), "dial tcp"), ": ")}
	case errors.As(err, &broken) && broken.Op == "remote error":
		err = fmt.Errorf("the servers refuse this node's certificate, or require one: %w", broken.Err)
	case errors.Is(err, nats.ErrTLS) && (broken != nil || errors.Is(err, io.EOF)):
		// They did not say why.
		err = &absent{"the servers refuse this node's certificate, or require one, or the connection broke: " + bare(err)}
	case errors.Is(err, io.EOF), errors.As(err, &broken), errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrStaleConnection):
		err = &absent{"the connection broke: " + err.Error()}
	case errors.Is(err, nats.ErrMaxPayload):
		err = fmt.Errorf("a message of more than the %d bytes that the servers take, expected a higher max_payload", s.conn.MaxPayload())
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrReconnectBufExceeded):
		err = &absent{"no server answers"}
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		err = errors.New("the servers run without JetStream, expected with it (nats-server -js)")
	case errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode):
		err = &absent{"the servers have no room: " + api.Description}
	case isSilence(err), errors.As(err, &api) && (api.Code == 503 || api.ErrorCode == noPeers):
		err = &absent{"JetStream does not answer: " + s.whySilent()}
	case api != nil && tooSmall[api.ErrorCode] != "":
		err = fmt.Errorf("%s, expected an account with %s", api.Description, tooSmall[api.ErrorCode])
	case api != nil:
		err = described{api}
	default:
		err = errors.New(bare(err))
	}
	return fmt.Errorf("cluster %s: %w", withoutLogins(s.addresses), err)
}

// whySilent says what may keep JetStream from answering.
func (s *servers) whySilent() string {
	if s.conn != nil && s.conn.IsConnected() && s.conn.ConnectedClusterName() == "" {
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

// loginRefused reports whether an error means that the servers do not, or no longer, accept a
// login.
func loginRefused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrAccountAuthExpired)
}

func turnedAway(err error) string {
	return "the servers refuse the login: " + strings.ToLower(bare(err))
}

var loginOf = regexp.MustCompile(`//[^/,]*@|^[^/,]*@|,[^/,]*@`)

// withoutLogins returns servers without their logins, for messages.
func withoutLogins(servers string) string {
	return loginOf.ReplaceAllStringFunc(servers, func(s string) string {
		return s[:len(s)-len(strings.TrimLeft(s, "/,"))] + "…@"
	})
}
