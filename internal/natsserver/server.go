//go:build unix

package natsserver

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
	"github.com/weftcrawl/weft/internal/natslogin"
)

// Version is that of NATS.
const Version = server.VERSION

// Server is a running server.
type Server struct {
	nats   *server.Server
	at     *net.TCPAddr // of clients
	log    *logger
	lock   *os.File
	login  string // that clients give
	forget func() // of a login that is kept; nil: none is
	close  sync.Once
	ended  chan struct{} // closed by Close
	fail   func()        // see Options.Failed
	watch  sync.WaitGroup
}

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
	if o.KeepLogin {
		if o.Login, err = natslogin.Kept(o.Store); err == nil {
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
		err = findPorts(s, so)
	}
	if err == nil && o.KeepLogin { // before a node may be refused
		s.forget, err = natslogin.Keep(o.Store, s.LoginURL())
	}
	if err == nil {
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
	return s, nil
}

// findPorts refuses addresses at which nobody can listen: NATS looks at its store first, for
// minutes if that is large, and reports the address last. In place of port 0 it finds one.
func findPorts(s *Server, so *server.Options) (err error) {
	if s.at, err = free(so.Host, so.Port); err != nil {
		return err
	}
	so.Port = s.at.Port
	if so.Cluster.Name != "" {
		var peers *net.TCPAddr
		if peers, err = free(so.Cluster.Host, so.Cluster.Port); err == nil {
			so.Cluster.Port = peers.Port
		}
	}
	return err
}

func start(s *Server, so *server.Options) error {
	nats, err := server.NewServer(so)
	if err != nil {
		return err
	}
	s.nats = nats
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

// free returns an address at which a server can listen.
func free(host string, port int) (*net.TCPAddr, error) {
	at := net.JoinHostPort(host, strconv.Itoa(port))
	l, err := net.Listen("tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: in use, expected a free address: a server may run there already", at)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s: expected an address of this machine", at)
	case err != nil:
		return nil, err
	}
	return l.Addr().(*net.TCPAddr), l.Close()
}

// URL is the server's address for clients of this machine, without its login.
func (s *Server) URL() string {
	at := *s.at
	if at.IP.IsUnspecified() {
		at.IP = net.IPv4(127, 0, 0, 1)
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
		if s.forget != nil {
			s.forget()
		}
		_ = s.lock.Close() // nothing was written
	})
}
