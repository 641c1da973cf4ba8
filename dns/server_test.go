package dns_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/dns"
	"golang.org/x/net/dns/dnsmessage"
)

// latency is the one-way transit time of a datagram: an exchange takes 20 ms.
const latency = 10 * time.Millisecond

// The servers of most tests.
const (
	first  = "192.0.2.53:53"
	second = "192.0.2.54:53"
)

// play runs main, with a resolver, on virtual time and an in-memory network.
func play(t *testing.T, opt dns.Options, servers []*server, main func(task *aio.Task, r *dns.Resolver)) {
	t.Helper()
	playOver(t, aiotest.NewNet(aiotest.NetOptions{Latency: latency}), opt, servers, main)
}

func playOver(t *testing.T, n *aiotest.Net, opt dns.Options, servers []*server, main func(task *aio.Task, r *dns.Resolver)) {
	t.Helper()
	for _, s := range servers {
		s.t = t
		n.AnswerUDP(s.at, s.datagram)
		opt.Servers = append(opt.Servers, netip.MustParseAddrPort(s.at))
	}
	n.Run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			defer g.Cancel()
			for _, s := range servers {
				s.loop = task.Loop()
				if s.tcp {
					g.Go("server", s.streams)
				}
			}
			_ = task.Yield() // the servers start listening
			main(task, dns.New(task.Loop(), opt))
			return nil
		})
	})
}

// server is a name server that plays a script.
type server struct {
	at     string
	tcp    bool // it also listens for streams
	pieces int  // bytes per write to a stream; 0: any
	script func(q *query)

	t     *testing.T
	loop  *aio.Loop
	asked []string // the questions, as query.String formats them
}

// query is a question that a server has received.
type query struct {
	dnsmessage.Question
	server *server
	id     uint16
	tcp    bool
	edns   bool
	nth    int // 1: the first of its kind
	send   func(message []byte)
}

// String returns "www.example. A", or "www.example. A tcp".
func (q *query) String() string {
	s := q.Name.String() + " " + strings.TrimPrefix(q.Type.String(), "Type")
	if q.tcp {
		s += " tcp"
	}
	return s
}

func (s *server) datagram(message []byte, send func([]byte)) { s.serve(message, false, send) }

func (s *server) serve(message []byte, tcp bool, send func([]byte)) {
	var m dnsmessage.Message
	if err := m.Unpack(message); err != nil || len(m.Questions) != 1 || !m.RecursionDesired {
		s.t.Errorf("asked %x, expected a question (%v)", message, err)
		return
	}
	q := &query{Question: m.Questions[0], server: s, id: m.ID, tcp: tcp, send: send, nth: 1}
	for _, extra := range m.Additionals {
		q.edns = q.edns || extra.Header.Type == dnsmessage.TypeOPT && extra.Header.Class == 1232
	}
	for _, before := range s.asked {
		if before == q.String() {
			q.nth++
		}
	}
	s.asked = append(s.asked, q.String())
	s.script(q)
}

// streams answers over TCP.
func (s *server) streams(task *aio.Task) error {
	ln, err := aio.Listen(task, "tcp", s.at)
	if err != nil {
		return err
	}
	defer ln.Close()
	return task.Group(func(g *aio.Group) error {
		for {
			c, err := ln.Accept(task)
			if err != nil {
				return err
			}
			g.Go("stream", func(task *aio.Task) error {
				defer c.Close()
				reader := aio.NewReader(task.Loop(), c)
				defer reader.Close()
				for {
					var length [2]byte
					if _, err := reader.ReadFull(task, length[:]); err != nil {
						return nil // the client has closed
					}
					message := make([]byte, binary.BigEndian.Uint16(length[:]))
					if _, err := reader.ReadFull(task, message); err != nil {
						return nil
					}
					var replies []byte
					s.serve(message, true, func(reply []byte) {
						replies = append(binary.BigEndian.AppendUint16(replies, uint16(len(reply))), reply...)
					})
					for len(replies) > 0 {
						n := len(replies)
						if s.pieces > 0 {
							n = min(n, s.pieces)
						}
						if _, err := c.Write(task, replies[:n]); err != nil {
							return nil
						}
						replies = replies[n:]
						if err := task.Sleep(time.Millisecond); err != nil {
							return err
						}
					}
				}
			})
		}
	})
}

// message returns an answer to q; records have the form "www.example. 300 A 192.0.2.1". An SOA
// goes into the authority section.
func (q *query) message(code dnsmessage.RCode, records ...string) dnsmessage.Message {
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: q.id, Response: true, RecursionDesired: true, RecursionAvailable: true, RCode: code},
		Questions: []dnsmessage.Question{q.Question},
	}
	for _, text := range records {
		if r := record(text); r.Header.Type == dnsmessage.TypeSOA {
			m.Authorities = append(m.Authorities, r)
		} else {
			m.Answers = append(m.Answers, r)
		}
	}
	return m
}

func record(text string) dnsmessage.Resource {
	f := strings.Fields(text)
	ttl, err := strconv.ParseUint(f[1], 10, 32)
	if err != nil {
		panic(err)
	}
	r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(f[0]), Class: dnsmessage.ClassINET, TTL: uint32(ttl)}}
	switch f[2] {
	case "A":
		r.Header.Type, r.Body = dnsmessage.TypeA, &dnsmessage.AResource{A: netip.MustParseAddr(f[3]).As4()}
	case "AAAA":
		r.Header.Type, r.Body = dnsmessage.TypeAAAA, &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(f[3]).As16()}
	case "CNAME":
		r.Header.Type, r.Body = dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(f[3])}
	case "TXT":
		r.Header.Type, r.Body = dnsmessage.TypeTXT, &dnsmessage.TXTResource{TXT: f[3:]}
	case "SOA":
		least, err := strconv.ParseUint(f[3], 10, 32)
		if err != nil {
			panic(err)
		}
		ns := dnsmessage.MustNewName("ns.example.")
		r.Header.Type, r.Body = dnsmessage.TypeSOA, &dnsmessage.SOAResource{NS: ns, MBox: ns, MinTTL: uint32(least)}
	default:
		panic(text)
	}
	return r
}

func (q *query) sendMessage(m dnsmessage.Message) {
	b, err := m.Pack()
	if err != nil {
		q.server.t.Fatal(err)
	}
	q.send(b)
}

func (q *query) reply(code dnsmessage.RCode, records ...string) {
	q.sendMessage(q.message(code, records...))
}

// zone returns a script that answers with the records of the name and type. Other names do not
// exist, for 60 s.
func zone(records ...string) func(q *query) {
	return func(q *query) {
		var answer []string
		exists := false
		for name, links := q.Name.String(), 0; links < 20; links++ {
			next := ""
			for _, text := range records {
				f := strings.Fields(text)
				if !strings.EqualFold(f[0], name) {
					continue
				}
				exists = true
				if f[2] == "CNAME" {
					next = f[3]
				} else if "Type"+f[2] != q.Type.String() {
					continue
				}
				answer = append(answer, text)
			}
			if next == "" {
				break
			}
			name = next
		}
		switch {
		case !exists:
			q.reply(dnsmessage.RCodeNameError, "example. 60 SOA 60")
		case len(answer) == 0:
			q.reply(dnsmessage.RCodeSuccess, "example. 60 SOA 60")
		default:
			q.reply(dnsmessage.RCodeSuccess, answer...)
		}
	}
}

// outcome formats the result of Lookup: addresses, or the error and its kind.
func outcome(addrs []netip.Addr, err error) string {
	var e *net.DNSError
	switch {
	case err == nil:
		return strings.Trim(fmt.Sprint(addrs), "[]")
	case !errors.As(err, &e):
		return err.Error()
	case e.IsNotFound && !e.IsTemporary && !e.IsTimeout:
		return "not found: " + e.Err
	case e.IsTimeout && e.IsTemporary && !e.IsNotFound:
		return "timeout: " + e.Err
	case e.IsTemporary && !e.IsNotFound:
		return "temporary: " + e.Err
	}
	return fmt.Sprintf("%#v", e)
}

func expectLookup(t *testing.T, task *aio.Task, r *dns.Resolver, host, want string) {
	t.Helper()
	if got := outcome(r.Lookup(task, host)); got != want {
		t.Errorf("%s at %v: got %q, want %q", host, now(task), got, want)
	}
}

func expectAsked(t *testing.T, s *server, want ...string) {
	t.Helper()
	if got := strings.Join(s.asked, ", "); got != strings.Join(want, ", ") {
		t.Errorf("%s was asked %s\nwant %s", s.at, got, strings.Join(want, ", "))
	}
}

func now(task *aio.Task) time.Duration { return task.Loop().Now().Sub(aiotest.Epoch) }

// until waits until d after the start.
func until(t *testing.T, task *aio.Task, d time.Duration) {
	t.Helper()
	if err := task.SleepUntil(aiotest.Epoch.Add(d)); err != nil {
		t.Fatal(err)
	}
}
