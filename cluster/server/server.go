//go:build unix

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Server is a running server.
type Server struct {
	nats    natsServer
	account natsAccount // of all clients
	log     *logger
	lock    *os.File
	login   string // that clients give
	pointer string // see pointTo; empty: there is none
	close   sync.Once
	ended   chan struct{} // closed by Close
	fail    func()        // see Options.Failed
	watch   sync.WaitGroup
}

// natsServer is the part of NATS's server that is used, and natsAccount that of its account.
//
// They keep the types of NATS out of Server and its methods: a package that reaches them compiles
// their generic ones again, in the command 640 functions.
type (
	natsServer interface {
		Addr() net.Addr
		NumRemotes() int
		NumClients() int
		JetStreamEnabled() bool
		JetStreamIsCurrent() bool
		Shutdown()
		WaitForShutdown()
	}
	natsAccount interface {
		UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits) error
	}
)

// startsWithin is the longest time for which a server reads its store before it takes connections.
const startsWithin = time.Minute

// Start starts a server. Its errors name what is wrong in one line: an option, a store that cannot
// be written or that another server has, an address that is in use.
func Start(o Options) (*Server, error) {
	so, err := natsOptions(o)
	if err != nil {
		return nil, err
	}
	lock, err := lockStore(o.Store)
	if err != nil {
		return nil, err
	}
	if o.KeepLogin && o.Login == "" {
		if o.Login, err = keptLogin(o.Store); err == nil {
			so, err = natsOptions(o)
		}
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	s := &Server{login: o.Login, lock: lock, log: newLogger(o.Warn), ended: make(chan struct{}), fail: o.Failed}
	if s.fail == nil {
		s.fail = func() {}
	}
	if err = hasRoom(o.Store); err == nil {
		err = start(s, so)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	disk := diskWatch{server: s, store: o.Store, alone: len(o.Peers) == 0}
	s.every(lookAtDisk, disk.look)
	if n := len(o.Peers); n > 0 {
		peers := peerWatch{server: s, all: n, since: time.Now()}
		s.every(lookEvery, peers.look)
	}
	if o.KeepLogin {
		if err := keepLogin(o.Store, s.LoginURL()); err != nil {
			s.Close()
			return nil, err
		}
		s.pointer = pointTo(o.Store, s.URL())
	}
	return s, nil
}

func start(s *Server, so *server.Options) error {
	// NATS looks at its store first, for minutes if that is large, and reports the address last.
	err := isFree(so.Host, so.Port)
	if err == nil && so.Cluster.Port != 0 {
		err = isFree(so.Cluster.Host, so.Cluster.Port)
	}
	if err != nil {
		return err
	}
	nats, err := server.NewServer(so)
	if err != nil {
		return err
	}
	s.nats, s.account = nats, nats.GlobalAccount()
	nats.SetLoggerV2(s.log, false, false, false)
	nats.Start()
	if ready := nats.ReadyForConnections(startsWithin); ready && s.log.fatal() == nil {
		return nil
	}
	if err := s.log.fatal(); err != nil {
		return err
	}
	return fmt.Errorf("the server in %.128q takes no connections after %v", so.StoreDir, startsWithin)
}

// every has look called now and then, on a goroutine of its own, until it returns false or the
// server is closed.
func (s *Server) every(d time.Duration, look func() (more bool)) {
	s.watch.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for more := true; more; {
			select {
			case <-tick.C:
				more = look()
			case <-s.ended:
				return
			}
		}
	})
}

// isFree reports an address at which nobody can listen.
func isFree(host string, port int) error {
	at := net.JoinHostPort(host, strconv.Itoa(max(0, port)))
	l, err := net.Listen("tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: in use, expected a free address: a server may run there already", at)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: expected an address of this machine", at)
	case err != nil:
		return err
	}
	return l.Close()
}

// URL is the server's address for clients of this machine, without its login.
func (s *Server) URL() string {
	at := s.nats.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		at = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at.Port}
	}
	return (&url.URL{Scheme: "nats", Host: at.String()}).String()
}

// LoginURL is URL with the login.
func (s *Server) LoginURL() string {
	at, _ := url.Parse(s.URL())
	if user, password, ok := strings.Cut(s.login, ":"); ok {
		at.User = url.UserPassword(user, password)
	} else if s.login != "" {
		at.User = url.User(s.login)
	}
	return at.String()
}

// Local reports whether only this machine reaches the server.
func (s *Server) Local() bool { return s.nats.Addr().(*net.TCPAddr).IP.IsLoopback() }

// Ready waits until the server can be used: of several, most are there and have elected a leader.
func (s *Server) Ready(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !s.nats.JetStreamIsCurrent() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// Deserted waits until no client is connected, or for the end of ctx.
func (s *Server) Deserted(ctx context.Context) error {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for s.nats.NumClients() > 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// closesWithin is the longest wait of Close for a server that may be stuck in its store.
const closesWithin = 15 * time.Second

// Close ends the server, and returns when its store is complete. A server whose disk was full may
// be stuck, and ends with the process: its store is as complete as that of one that is killed.
func (s *Server) Close() {
	s.close.Do(func() {
		close(s.ended)
		s.watch.Wait()
		if s.nats != nil {
			down := make(chan struct{})
			go func() {
				defer close(down)
				s.nats.Shutdown()
				s.nats.WaitForShutdown()
			}()
			select {
			case <-down:
			case <-time.After(closesWithin):
				s.log.tell("the server is stuck in its store, and ends with this process")
				return // its lock stays
			}
		}
		if s.pointer != "" {
			_ = os.Remove(s.pointer) // one that is left leads to a store whose login is wrong
		}
		_ = s.lock.Close() // nothing was written
	})
}
