package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/weftcrawl/weft/internal/frontier/store"
)

// Options name a crawl and its servers. The zero value of each but Name is its default.
type Options struct {
	Servers    []string      // such as nats://HOST:4222, of one cluster; empty: this machine's
	Name       string        // of the crawl
	Creds      string        // a file of NATS credentials, or with the seed of an NKey
	CA         string        // a file of certificates, PEM: who signs those of the servers
	Cert, Key  string        // files, PEM: the certificate that the servers ask for
	Replicas   int           // of what the servers store; 0: three if they form a cluster, else one
	Partitions int           // of a crawl that begins; 0: DefaultPartitions
	Wait       time.Duration // for servers that are not there yet; 0: none
	OnWarning  func(error)
	OnChange   func(Share) // called when the share of this node in the crawl has changed

	again        bool          // a node that was cut off joins again
	beat         time.Duration // see ownership.Config; tests make it shorter
	compactAfter int           // see defaultCompactAfter; tests make it less
	files        store.FS      // of the job; nil: the disk of the machine
}

// requestTimeout bounds a request to the servers.
const requestTimeout = 5 * time.Second

// servers is a connection to the servers. Any goroutine may use it.
type servers struct {
	addresses string // for messages
	conn      *nats.Conn
	js        jetstream.JetStream
	replicas  int       // of what they store
	again     bool      // see Options
	until     time.Time // end of the wait for servers that are not there yet
	warn      func(error)
	login     *login
	skew      time.Duration // of this machine's clock, in tests
}

// schemes are those of the addresses of servers.
var schemes = []string{"nats", "tls", "ws", "wss"}

// connect connects to servers, when they are there.
func connect(ctx context.Context, o *Options) (*servers, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &servers{
		addresses: cmp.Or(strings.Join(o.Servers, ","), nats.DefaultURL),
		replicas:  o.Replicas, again: o.again, until: time.Now().Add(o.Wait), warn: o.OnWarning, login: new(login),
	}
	if s.warn == nil {
		s.warn = func(error) {}
	}
	return s, s.insist(ctx, func() error { return s.dial(ctx, o) })
}

// check refuses options with which there can be no connection. Its error is one line.
func (o *Options) check() error {
	for _, server := range o.Servers {
		if scheme, _, ok := strings.Cut(server, "://"); ok && !slices.Contains(schemes, scheme) {
			return fmt.Errorf("server %.100q: expected nats://, tls://, ws:// or wss://", withoutLogins(server))
		} else if !ok {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil { // it quotes the URL, perhaps with a password
			return errors.New("servers: expected nats://[USER:PASSWORD@]HOST[:PORT] each, with %2F for / and %2C for a comma in a password")
		}
		if _, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err != nil {
			return fmt.Errorf("server %.100q: expected a port up to 65535", withoutLogins(server))
		}
	}
	if err := checkCredentials(o.Creds); err != nil {
		return err
	}
	if (o.Cert == "") != (o.Key == "") {
		return errors.New("a certificate and its key: expected both or none")
	}
	return nil
}

// insist calls fn until the servers are there, or that has taken too long.
func (s *servers) insist(ctx context.Context, fn func() error) error {
	for said := false; ; said = true {
		err := fn()
		var away *absent
		if !errors.As(err, &away) || time.Now().After(s.until) || ctx.Err() != nil {
			return err
		}
		if !said {
			s.warn(fmt.Errorf("%w; trying again", err))
		}
		_ = pause(ctx, 250*time.Millisecond) // then fn says why it fails
	}
}

// dial connects to the servers, and checks that they can carry a crawl.
func (s *servers) dial(ctx context.Context, o *Options) (err error) {
	if !s.again {
		// They were NATS servers before; what stands before them may say by HTTP that they are away.
		if err := refuseWeb(ctx, o.Servers); err != nil {
			return err
		}
	}
	if s.conn, err = nats.Connect(s.addresses, s.options(o)...); err != nil {
		if o.overTLS() && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
			// A server that refuses a certificate may hang up before its reason is read.
			err = fmt.Errorf("%w: %w", nats.ErrTLS, err)
		}
		return s.refused(err)
	}
	if err = s.checkVersion(); err == nil {
		err = s.checkPayload()
	}
	if err == nil {
		err = s.checkJetStream(ctx)
	}
	if err != nil {
		s.conn.Close()
		return s.refused(err)
	}
	return nil
}

// overTLS reports whether the options are for servers that speak TLS.
func (o *Options) overTLS() bool {
	return o.CA != "" || o.Cert != "" || slices.ContainsFunc(o.Servers, func(s string) bool { return strings.HasPrefix(s, "tls://") })
}

// checkVersion refuses servers that are too old: a consumer of theirs reads one subject.
func (s *servers) checkVersion() error {
	var major, minor int
	version := s.conn.ConnectedServerVersion()
	if _, err := fmt.Sscanf(version, "%d.%d.", &major, &minor); err != nil || major < 2 || major == 2 && minor < 10 {
		return fmt.Errorf("the servers run NATS %.32q, expected 2.10 or later", version)
	}
	return nil
}

// leastPayload is the length of messages that servers have to take: a URL in a link has 16 KiB at
// most.
const leastPayload = 64 << 10

// checkPayload refuses servers that take short messages only.
func (s *servers) checkPayload() error {
	if n := s.conn.MaxPayload(); n < leastPayload {
		return fmt.Errorf("the servers take messages of %d bytes, expected a max_payload of %d or more", n, leastPayload)
	}
	return nil
}

// options are those of the connection. What cannot be sent at once fails: it is sent again by those
// who know whether it still holds.
func (s *servers) options(o *Options) []nats.Option {
	all := []nats.Option{
		nats.Name("weft " + o.Name), nats.Timeout(requestTimeout), nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(1), nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				s.warn(fmt.Errorf("the connection to the servers is lost: %w", err))
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			s.login.accept()
			s.warn(fmt.Errorf("reconnected to %s", withoutLogins(conn.ConnectedUrl())))
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			switch {
			case errors.Is(err, nats.ErrSlowConsumer):
				// An ordered consumer has missed a message, and starts over.
			case errors.Is(err, nats.ErrPermissionViolation):
				s.login.lacks(err)
			case !loginRefused(err):
				s.warn(err)
			case s.login.refuse(err): // it is tried again, and again
				s.warn(s.refused(err))
			}
		}),
	}
	if o.Creds != "" {
		all = append(all, credentials(o.Creds))
	}
	if o.CA != "" {
		all = append(all, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		all = append(all, nats.ClientCert(o.Cert, o.Key))
	}
	return all
}

// checkCredentials refuses a file without credentials, in fewer words than NATS.
func checkCredentials(path string) error {
	if path == "" {
		return nil
	}
	_, err := nats.NkeyOptionFromSeed(path)
	if err == nil {
		return nil
	}
	var away *fs.PathError
	if errors.As(err, &away) {
		return away // it names the server
	}
	return fmt.Errorf("%.128q: expected NATS credentials, or the seed of an NKey of a user", path)
}

// credentials are those of a file: a JWT and its key, or the seed of an NKey.
func credentials(path string) nats.Option {
	if text, err := os.ReadFile(path); err == nil && !bytes.Contains(text, []byte("NATS USER JWT")) {
		if key, err := nats.NkeyOptionFromSeed(path); err == nil {
			return key
		}
	}
	return nats.UserCredentials(path) // which says what is wrong with it
}

// checkJetStream finds out whether the servers store anything, and how many copies.
func (s *servers) checkJetStream(ctx context.Context) (err error) {
	s.js, err = jetstream.New(s.conn, jetstream.WithDefaultTimeout(requestTimeout),
		jetstream.WithPublishAsyncTimeout(requestTimeout), jetstream.WithPublishAsyncMaxPending(4096))
	if err != nil {
		return err
	}
	if err = s.chosen(ctx, func(ctx context.Context) error { _, err := s.js.AccountInfo(ctx); return err }); err != nil {
		return err
	}
	if s.replicas == 0 {
		s.replicas = 1
		if s.conn.ConnectedClusterName() != "" {
			s.replicas = 3
		}
	}
	return nil
}

// chosen calls fn again, which may be repeated, while the servers choose who answers for a stream:
// that takes them a moment when it is new or a server has failed, and what they are asked meanwhile
// may be lost.
func (s *servers) chosen(ctx context.Context, fn func(context.Context) error) error {
	late := time.Now().Add(2 * requestTimeout)
	for {
		try, stop := context.WithTimeout(ctx, requestTimeout/4)
		err := fn(try)
		stop()
		if !isSilence(err) || time.Now().After(late) || s.login.lacked() != nil {
			return err
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// mostData is the most bytes of data of a message.
func (s *servers) mostData() int { return int(s.conn.MaxPayload()) - 1024 } // for the header

// wall is this machine's clock.
func (s *servers) wall() time.Time { return time.Now().Add(s.skew) }

func (s *servers) close() { s.conn.Close() }
