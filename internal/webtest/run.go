package webtest

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Addresses are where Run serves a web.
type Addresses struct {
	HTTP string    // HOST:PORT; empty: 127.0.0.1 for one host, else all addresses, so that each host has its own; and a free port
	DNS  string    // HOST:PORT; empty: 127.0.0.1 and a free port
	Log  io.Writer // see NewLog; nil: in memory

	// Rule makes a Referee judge the crawl, in the place of a Log; nil: nobody does.
	Rule *Rule
}

// Running is a web that is being served on sockets of this machine, loopback only.
type Running struct {
	Web  *Web
	Log  *Log
	Addr net.Addr // that it listens on
	DNS  *NameServer

	Referee *Referee      // nil: see Addresses.Rule
	Lag     time.Duration // after Close, with a Referee: the longest that a request had to wait for others in its turn of the loop

	dead []io.Closer // ports of hosts that refuse connections, or are mute

	stop  context.CancelFunc
	ended chan error
}

// Run serves the web of cfg, whose Port is replaced by that of the listener; and so
// is, for one host without a name, its Host. It goes on until Close.
func Run(cfg Config, at Addresses) (*Running, error) {
	if at.HTTP == "" {
		at.HTTP = ":0"
		if cfg.Hosts <= 1 {
			at.HTTP = "127.0.0.1:0"
		}
	}
	if at.DNS == "" {
		at.DNS = "127.0.0.1:0"
	}
	ctx, stop := context.WithCancel(context.Background())
	if at.Rule != nil {
		at.Log = io.Discard
	}
	r := &Running{Log: NewLog(at.Log), stop: stop, ended: make(chan error, 1)}
	ready := make(chan error, 1)
	go func() {
		r.ended <- aio.Run(ctx, func(t *aio.Task) error {
			ln, err := aio.Listen(t, "tcp4", at.HTTP)
			if err != nil {
				ready <- err
				return err
			}
			defer ln.Close()
			if err := r.open(cfg, at, ln.Addr()); err != nil {
				ready <- err
				return err
			}
			server := NewServer(r.Web, r.Log)
			server.referee = r.Referee
			ready <- nil
			err = server.Serve(t, loopback{ln})
			r.Lag = server.lag
			return err
		})
	}()
	if err := <-ready; err != nil {
		stop()
		<-r.ended
		return nil, errors.Join(err, r.release())
	}
	return r, nil
}

// loopback is a listener for clients on this machine. To give each host an address
// of its own, all addresses must be listened on; the others are nobody's business.
type loopback struct{ aio.Listener }

func (l loopback) Accept(t *aio.Task) (aio.Conn, error) {
	for {
		c, err := l.Listener.Accept(t)
		if err != nil || addressOf(c).IsLoopback() {
			return c, err
		}
		c.Close()
	}
}

// open makes the web for the address that was got, and its name server.
func (r *Running) open(cfg Config, at Addresses, on net.Addr) error {
	host, port, err := net.SplitHostPort(on.String())
	if err != nil {
		return err
	}
	if cfg.Port, err = strconv.Atoi(port); err != nil {
		return err
	}
	if cfg.Hosts <= 1 && cfg.Host == "" {
		cfg.Host = host
	}
	r.Addr = on
	if cfg.Rates.Refusing > 0 {
		if cfg.RefusingPort, err = r.hold(refusingPort); err != nil {
			return err
		}
	}
	if cfg.Rates.Mute > 0 {
		if cfg.MutePort, err = r.hold(mutePort); err != nil {
			return err
		}
	}
	if r.Web, err = New(cfg); err != nil {
		return err
	}
	if at.Rule != nil {
		r.Referee = NewReferee(r.Web, *at.Rule)
	}
	r.DNS, err = ListenDNS(r.Web, at.DNS)
	return err
}

// hold takes a port until Close.
func (r *Running) hold(take func() (int, io.Closer, error)) (port int, err error) {
	port, c, err := take()
	if err == nil {
		r.dead = append(r.dead, c)
	}
	return port, err
}

func (r *Running) release() (err error) {
	for _, c := range r.dead {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Close ends it and waits until it has ended; then the log is whole. The error is
// what went wrong while it ran.
func (r *Running) Close() error {
	r.stop()
	err := <-r.ended
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, r.DNS.Close(), r.Log.Flush(), r.release())
}

// TB is what Start needs of a testing.TB.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Start is Run for a test: on free ports, closed when the test ends.
func Start(tb TB, cfg Config) *Running {
	tb.Helper()
	r, err := Run(cfg, Addresses{})
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Errorf("synthetic web: %v", err)
		}
	})
	return r
}
