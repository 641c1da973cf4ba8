package webtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// NameServer answers DNS queries for the names of a web: A records, and empty answers for other
// types. Dead and unknown hosts are NXDOMAIN.
type NameServer struct {
	web  *Web
	udp  net.PacketConn
	tcp  net.Listener
	done sync.WaitGroup

	mu struct {
		sync.Mutex
		open  map[net.Conn]bool // nil: closed
		asked map[int]int       // queries by host
	}
}

// nameTTL is the TTL of answers, in seconds.
const nameTTL = 300

// ListenDNS answers on addr, HOST:PORT, over UDP and TCP, until Close. Port 0 means a free one.
func ListenDNS(w *Web, addr string) (*NameServer, error) {
	for tries := 0; ; tries++ {
		tcp, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("dns: %w", err)
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err != nil {
			tcp.Close()
			if tries < 10 { // a port that is free for TCP may not be for UDP
				continue
			}
			return nil, fmt.Errorf("dns: %w", err)
		}
		// As much as the system allows: a crawl sends many queries at once.
		_ = udp.(*net.UDPConn).SetReadBuffer(4 << 20)
		s := &NameServer{web: w, udp: udp, tcp: tcp}
		s.mu.open, s.mu.asked = make(map[net.Conn]bool), make(map[int]int)
		s.done.Go(s.datagrams)
		s.done.Go(s.streams)
		return s, nil
	}
}

// Addr returns the server's address, HOST:PORT.
func (s *NameServer) Addr() string { return s.tcp.Addr().String() }

// Asked returns the number of queries for A records of host i.
func (s *NameServer) Asked(i int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.asked[i]
}

// count counts a query for A records of a host.
func (s *NameServer) count(name string) {
	if i, ok := s.web.Index(name); ok {
		s.mu.Lock()
		s.mu.asked[i]++
		s.mu.Unlock()
	}
}

// Close stops the server and waits for its end.
func (s *NameServer) Close() error {
	err := errors.Join(s.udp.Close(), s.tcp.Close())
	s.mu.Lock()
	for c := range s.mu.open {
		c.Close()
	}
	s.mu.open = nil
	s.mu.Unlock()
	s.done.Wait()
	return err
}

func (s *NameServer) datagrams() {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := s.udp.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an ICMP message about an earlier answer
		}
		if reply := s.reply(buf[:n]); reply != nil {
			_, _ = s.udp.WriteTo(reply, from) // a client that misses it asks again
		}
	}
}

func (s *NameServer) streams() {
	for {
		c, err := s.tcp.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		s.mu.Lock()
		if s.mu.open == nil {
			c.Close()
		} else {
			s.mu.open[c] = true
			s.done.Go(func() { s.stream(c) })
		}
		s.mu.Unlock()
	}
}

// stream answers the queries of a connection, each preceded by its length (RFC 1035, section
// 4.2.2).
func (s *NameServer) stream(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.mu.open, c)
		s.mu.Unlock()
	}()
	for {
		// Fails only after Close, and then so does the next read.
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		var length [2]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		reply := s.reply(question)
		if reply == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// reply returns the answer to a message; nil if it is not a query.
func (s *NameServer) reply(message []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(message)
	if err != nil || h.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	name := strings.TrimSuffix(q.Name.String(), ".")
	addr, ok := s.web.Resolve(name)
	h = dnsmessage.Header{ID: h.ID, Response: true, Authoritative: true, OpCode: h.OpCode, RecursionDesired: h.RecursionDesired, RecursionAvailable: true}
	switch {
	case h.OpCode != 0:
		h.RCode = dnsmessage.RCodeNotImplemented
	case !ok:
		h.RCode = dnsmessage.RCodeNameError
	}
	b := dnsmessage.NewBuilder(nil, h)
	err = errors.Join(b.StartQuestions(), b.Question(q), b.StartAnswers())
	if q.Type == dnsmessage.TypeA && h.OpCode == 0 {
		s.count(name)
		if ok {
			err = errors.Join(err, b.AResource(
				dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: nameTTL},
				dnsmessage.AResource{A: addr.As4()}))
		}
	}
	reply, finish := b.Finish()
	if errors.Join(err, finish) != nil {
		return nil
	}
	return reply
}
