package cluster

import (
	"context"
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

// absent is why a request failed of which another one may succeed.
type absent struct{ text string }

func (e *absent) Error() string { return e.text }

// noPeers is the code of the error that fewer servers are there than copies are wanted.
const noPeers = 10005

// noRoom are the codes of what JetStream answers when its disk, a stream or the account is full.
var noRoom = []jetstream.ErrorCode{10002, 10023, 10028, 10047, 10077}

// tooSmall says what an account has to allow, by the code of the error that it does not.
var tooSmall = map[jetstream.ErrorCode]string{
	10026: "two on a stream for each node",
	10027: "three for each crawl (weft cluster list shows those that are over)",
	10113: "streams without a bound",
}

// refused returns an error of the servers with what is to be done about it.
func (c *Client) refused(err error) error {
	var api *jetstream.APIError
	var before *absent
	var broken *net.OpError
	switch {
	case errors.As(err, &before):
		return err
	case loginRefused(err) && !c.again:
		err = errors.New(turnedAway(err))
	case loginRefused(err): // it was right before, and may be again
		err = &absent{turnedAway(err)}
	case c.login.refused() != nil:
		err = &absent{turnedAway(c.login.refused())}
	case isSilence(err) && c.login.lacked() != nil:
		err = c.login.lacked()
	case errors.As(err, &broken) && broken.Op == "remote error":
		err = fmt.Errorf("the servers refuse this node's certificate, or want one: %w", broken.Err)
	case errors.Is(err, nats.ErrTLS) && (broken != nil || errors.Is(err, io.EOF)): // they did not say why
		err = &absent{"the servers refuse this node's certificate, or want one, or the connection broke: " + bare(err)}
	case errors.Is(err, io.EOF), errors.As(err, &broken), errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrStaleConnection):
		err = &absent{"the connection broke: " + err.Error()}
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrReconnectBufExceeded):
		err = &absent{"no server answers"}
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		err = errors.New("the servers run without JetStream, expected with it (nats-server -js)")
	case errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode):
		err = &absent{"the servers have no room: " + api.Description}
	case isSilence(err), errors.As(err, &api) && (api.Code == 503 || api.ErrorCode == noPeers):
		err = &absent{"JetStream does not answer: fewer than half of the servers may be up"}
	case api != nil && tooSmall[api.ErrorCode] != "":
		err = fmt.Errorf("%s, expected an account with %s", api.Description, tooSmall[api.ErrorCode])
	case api != nil:
		err = errors.New(api.Description)
	default:
		err = errors.New(bare(err))
	}
	return fmt.Errorf("cluster %s: %w", withoutLogins(c.servers), err)
}

// isSilence reports whether an error is that nobody has answered a request.
func isSilence(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, jetstream.ErrNoStreamResponse)
}

// bare is the text of an error of the client.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "nats: ") }

// login is what the servers refuse to the login of a connection. They say so apart from the requests that
// fail by it.
type login struct {
	mu   sync.Mutex
	away error     // why the login itself was refused, since the connection broke
	lack string    // what it may not do, as the servers have said last
	at   time.Time // when that was
}

// loginRefused reports whether an error is that the servers do not accept a login, or no longer.
func loginRefused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrAccountAuthExpired)
}

func turnedAway(err error) string {
	return "the servers refuse the login: " + strings.ToLower(bare(err))
}

// refuse takes in that the servers refuse the login, and reports whether that is news.
func (l *login) refuse(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.away
	l.away = err
	return was == nil
}

// accept takes in that the servers accept the login.
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

// lacks takes in that the login may not do something.
func (l *login) lacks(err error) {
	text := bare(err)
	if _, what, ok := strings.Cut(text, "Permissions Violation for "); ok {
		text = what
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lack, l.at = text, time.Now()
}

// lacked returns what the login may not do, if a request may just have failed by that.
func (l *login) lacked() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lack == "" || time.Since(l.at) > 2*requestTimeout {
		return nil
	}
	return fmt.Errorf("the login lacks a permission: %.200s; docs/cluster.md lists those of a node", l.lack)
}

// mayTell refuses a login that may not say or hear what nodes tell each other, which nothing answers.
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

// withoutLogins returns servers, as a message may name them.
func withoutLogins(servers string) string {
	return loginOf.ReplaceAllStringFunc(servers, func(s string) string {
		return s[:len(s)-len(strings.TrimLeft(s, "/,"))] + "…@"
	})
}
