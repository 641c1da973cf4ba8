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
)

// Options say where a crawl's servers are. The zero value of each but Name is its default.
type Options struct {
	Servers    []string      // such as nats://HOST:4222, each of one cluster; empty: that of this machine
	Name       string        // of the crawl
	Creds      string        // a file of NATS credentials, or with the seed of an NKey
	CA         string        // a file of certificates, PEM: who signs those of the servers
	Cert, Key  string        // files, PEM: the certificate that the servers ask for
	Replicas   int           // copies of what the servers store; 0: three if they form a cluster, else one
	Partitions int           // of a crawl that begins; 0: DefaultPartitions
	Wait       time.Duration // for servers that are not there yet; 0: none
	OnWarning  func(error)
	OnChange   func(Share) // what this node has of the crawl has changed

	again        bool          // a node that was cut off joins again
	beat         time.Duration // see ownership.Config; tests make it shorter
	compactAfter int           // see defaultCompactAfter; tests make it less
}

// defaultBeat is how often a node says that it is alive.
const defaultBeat = 2 * time.Second

// beatsOfSilence are those after which a node is dead.
const beatsOfSilence = 5

// requestTimeout is how long a request to the servers may take.
const requestTimeout = 5 * time.Second

// Client is a connection to the servers of a crawl.
type Client struct {
	layout
	servers      string // for messages
	conn         *nats.Conn
	js           jetstream.JetStream
	replicas     int
	again        bool          // see Options
	began        bool          // this process has begun the crawl
	skew         time.Duration // of this machine's clock, in tests
	until        time.Time     // for how long to wait for servers
	partitions   int
	beat         time.Duration
	compactAfter int
	warn         func(error)
	change       func(Share)
	login        *login
}

// schemes are those of the addresses of servers.
var schemes = []string{"nats", "tls", "ws", "wss"}

// Dial connects to the servers of a crawl. Its error is one line.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if err := checkName(o.Name); err != nil {
		return nil, err
	}
	return connect(ctx, o)
}

// connect is Dial without a crawl.
func connect(ctx context.Context, o Options) (*Client, error) {
	for _, server := range o.Servers {
		if scheme, _, ok := strings.Cut(server, "://"); ok && !slices.Contains(schemes, scheme) {
			return nil, fmt.Errorf("server %.100q: expected nats://, tls://, ws:// or wss://", withoutLogins(server))
		} else if !ok {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil { // it quotes the URL, perhaps with a password
			return nil, errors.New("servers: expected nats://[USER:PASSWORD@]HOST[:PORT] each, with %2F for / and %2C for a comma in a password")
		}
		if _, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err != nil {
			return nil, fmt.Errorf("server %.100q: expected a port up to 65535", withoutLogins(server))
		}
	}
	if err := checkCredentials(o.Creds); err != nil {
		return nil, err
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, errors.New("a certificate and its key: expected both or none")
	}
	c := &Client{
		layout: layout(o.Name), servers: cmp.Or(strings.Join(o.Servers, ","), nats.DefaultURL),
		replicas: o.Replicas, partitions: o.Partitions,
		beat: cmp.Or(o.beat, defaultBeat), compactAfter: cmp.Or(o.compactAfter, defaultCompactAfter), again: o.again,
		warn: o.OnWarning, login: new(login),
	}
	if c.warn == nil {
		c.warn = func(error) {}
	}
	if c.change = o.OnChange; c.change == nil {
		c.change = func(Share) {}
	}
	c.until = time.Now().Add(o.Wait)
	return c, c.insist(ctx, func() error { return c.dial(ctx, &o) })
}

// insist calls fn until the servers are there, or that has taken too long.
func (c *Client) insist(ctx context.Context, fn func() error) error {
	for said := false; ; said = true {
		err := fn()
		var away *absent
		if !errors.As(err, &away) || time.Now().After(c.until) || ctx.Err() != nil {
			return err
		}
		if !said {
			c.warn(fmt.Errorf("%w; trying again", err))
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// dial connects to the servers, and checks that they can carry a crawl.
func (c *Client) dial(ctx context.Context, o *Options) (err error) {
	if !c.again { // they were NATS servers before; what stands before them may say by HTTP that they are away
		if err := refuseWeb(ctx, o.Servers); err != nil {
			return err
		}
	}
	if c.conn, err = nats.Connect(c.servers, c.options(o)...); err != nil {
		if o.overTLS() && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
			err = fmt.Errorf("%w: %w", nats.ErrTLS, err) // a server that refuses a certificate may hang up before its reason is read
		}
		return c.refused(err)
	}
	if err = c.checkVersion(); err == nil {
		err = c.checkPayload()
	}
	if err == nil {
		err = c.checkJetStream(ctx)
	}
	if err != nil {
		c.conn.Close()
		return c.refused(err)
	}
	return nil
}

// overTLS reports whether the options are for servers that speak TLS.
func (o *Options) overTLS() bool {
	return o.CA != "" || o.Cert != "" || slices.ContainsFunc(o.Servers, func(s string) bool { return strings.HasPrefix(s, "tls://") })
}

// checkVersion refuses servers that are too old: a consumer of theirs reads one subject.
func (c *Client) checkVersion() error {
	var major, minor int
	version := c.conn.ConnectedServerVersion()
	if _, err := fmt.Sscanf(version, "%d.%d.", &major, &minor); err != nil || major < 2 || major == 2 && minor < 10 {
		return fmt.Errorf("the servers run NATS %.32q, expected 2.10 or later", version)
	}
	return nil
}

// leastPayload is the length of messages that servers have to take: a URL in a link has 16 KiB at most.
const leastPayload = 64 << 10

// checkPayload refuses servers that take short messages only.
func (c *Client) checkPayload() error {
	if n := c.conn.MaxPayload(); n < leastPayload {
		return fmt.Errorf("the servers take messages of %d bytes, expected a max_payload of %d or more", n, leastPayload)
	}
	return nil
}

// options are those of the connection. What cannot be sent at once fails: it is sent again by those
// who know whether it still holds.
func (c *Client) options(o *Options) []nats.Option {
	all := []nats.Option{
		nats.Name("weft " + o.Name), nats.Timeout(requestTimeout), nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(1), nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.warn(fmt.Errorf("the connection to the servers is lost: %w", err))
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			c.login.accept()
			c.warn(fmt.Errorf("reconnected to %s", withoutLogins(conn.ConnectedUrl())))
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			switch {
			case errors.Is(err, nats.ErrSlowConsumer): // an ordered consumer has missed a message, and starts over
			case errors.Is(err, nats.ErrPermissionViolation):
				c.login.lacks(err)
			case !loginRefused(err):
				c.warn(err)
			case c.login.refuse(err): // it is tried again, and again
				c.warn(c.refused(err))
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

// credentials are what a file has: a JWT and its key, or the seed of an NKey.
func credentials(path string) nats.Option {
	if text, err := os.ReadFile(path); err == nil && !bytes.Contains(text, []byte("NATS USER JWT")) {
		if key, err := nats.NkeyOptionFromSeed(path); err == nil {
			return key
		}
	}
	return nats.UserCredentials(path) // which says what is wrong with it
}

// checkJetStream finds out whether the servers store anything, and how many copies.
func (c *Client) checkJetStream(ctx context.Context) (err error) {
	c.js, err = jetstream.New(c.conn, jetstream.WithDefaultTimeout(requestTimeout),
		jetstream.WithPublishAsyncTimeout(requestTimeout), jetstream.WithPublishAsyncMaxPending(4096))
	if err != nil {
		return err
	}
	if err = c.chosen(ctx, func(ctx context.Context) error { _, err := c.js.AccountInfo(ctx); return err }); err != nil {
		return err
	}
	if c.replicas == 0 {
		c.replicas = 1
		if c.conn.ConnectedClusterName() != "" {
			c.replicas = 3
		}
	}
	return nil
}

// chosen calls fn again, which may be repeated, while the servers choose who answers for a stream: that takes
// them a moment when it is new or a server has failed, and what they are asked meanwhile may be lost.
func (c *Client) chosen(ctx context.Context, fn func(context.Context) error) error {
	late := time.Now().Add(2 * requestTimeout)
	for {
		try, stop := context.WithTimeout(ctx, requestTimeout/4)
		err := fn(try)
		stop()
		if !isSilence(err) || time.Now().After(late) || c.login.lacked() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Close ends the connection.
func (c *Client) Close() { c.conn.Close() }
