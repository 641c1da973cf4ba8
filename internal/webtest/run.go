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

// Addresses are the addresses on which Run serves a web.
type Addresses struct {
	// HTTP is HOST:PORT. Empty: a free port of 127.0.0.1 for one host, otherwise of all addresses, so
	// that each host has its own.
	HTTP string
	DNS  string    // HOST:PORT; empty: a free port of 127.0.0.1
	Log  io.Writer // see NewLog; nil: in memory

	// Rule makes a Referee judge the crawl, instead of a Log; nil: no referee.
	Rule *Rule
}

// Running is a web served on sockets of this machine.
type Running struct {
	Web  *Web
	Log  *Log
	Addr net.Addr // of the listener
	DNS  *NameServer

	Referee *Referee      // nil: see Addresses.Rule
	Lag     time.Duration // after Close, with a Referee: the longest wait of a request in a turn

	dead []io.Closer // reserved ports of refusing and mute hosts

	stop  context.CancelFunc
	ended chan error
}

// Run serves the web of cfg until Close. The listener's port replaces cfg.Port; its address
// replaces an empty cfg.Host if there is one host.
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
			err = server.Serve(t, within{ln, r.Web.cfg.Network})
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

// within is a listener for the clients of a web. It listens on all addresses, to give each host its
// own, and closes connections to addresses of other networks.
type within struct {
	aio.Listener
	network byte // the first byte of its addresses
}

func (l within) Accept(t *aio.Task) (aio.Conn, error) {
	for {
		c, err := l.Listener.Accept(t)
		if err != nil || addressOf(c).Is4() && addressOf(c).As4()[0] == l.network {
			return c, err
		}
		c.Close()
	}
}

// open makes the web for the listener's address, and its name server.
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

// hold reserves a port until Close.
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

// Close stops serving and waits for the end; then the log is complete. It returns the first error
// of the run.
func (r *Running) Close() error {
	r.stop()
	err := <-r.ended
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, r.DNS.Close(), r.Log.Flush(), r.release())
}

// TB is the part of a testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Start is Run for a test: on free ports, until the test ends.
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
