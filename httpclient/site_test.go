package httpclient_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/httpclient"
)

// latency is the one-way transit time: a connection costs 20 ms.
const latency = 10 * time.Millisecond

// play runs a client and a server, each a script in a task of its own, over an in-memory network
// on virtual time. The client is closed when its script has ended; a connection that is still open
// when both have ended fails the test.
//
// The server has the names www.example and other.example; hole.example is a host that does not
// respond, holes.example one with two addresses, neither of which responds.
func play(t *testing.T, opt httpclient.Options, server func(s *site), client func(b *browser)) {
	t.Helper()
	playOver(t, latency, opt, server, client)
}

func playOver(t *testing.T, latency time.Duration, opt httpclient.Options, server func(s *site), client func(b *browser)) {
	t.Helper()
	network := aiotest.NewNet(aiotest.NetOptions{Latency: latency})
	network.Host("www.example", "192.0.2.1")
	network.Host("other.example", "192.0.2.1")
	network.Host("hole.example", "192.0.2.2")
	network.Host("holes.example", "192.0.2.2", "192.0.2.3")
	network.Blackhole("192.0.2.2")
	network.Blackhole("192.0.2.3")
	network.Run(t, func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			g.Go("server", func(task *aio.Task) error {
				s := &site{t: t, task: task, ln: ln}
				defer s.close()
				server(s)
				return nil
			})
			c := httpclient.NewClient(task.Loop(), opt)
			defer c.Close()
			client(&browser{t: t, task: task, client: c})
			return nil
		})
	})
}

// site is the server's side.
type site struct {
	t     *testing.T
	task  *aio.Task
	ln    aio.Listener
	peers []*peer

	streams bool // over HTTP/2
	wire    *wire
}

// accept waits for a connection.
func (s *site) accept() *peer {
	s.t.Helper()
	if s.streams {
		return s.acceptStream()
	}
	c, err := s.ln.Accept(s.task)
	if err != nil {
		s.t.Fatal("server: ", err)
	}
	p := &peer{site: s, conn: c, reader: aio.NewReader(s.task.Loop(), c)}
	s.peers = append(s.peers, p)
	return p
}

// serve accepts a connection and responds to one request over it.
func (s *site) serve(target, response string) *peer {
	s.t.Helper()
	p := s.accept()
	p.serve(target, response)
	return p
}

// ignore accepts a connection and does not respond to the request over it.
func (s *site) ignore(target string) {
	s.t.Helper()
	p := s.accept()
	p.request(target)
	p.ended()
}

// until waits until d after the start.
func (s *site) until(d time.Duration) { until(s.t, s.task, d) }

func (s *site) close() {
	for _, p := range s.peers {
		p.close()
	}
}

// peer is the server's end of a connection.
type peer struct {
	*site
	conn   aio.Conn
	reader *aio.Reader
	stream *stream // over HTTP/2
}

// request reads a request for target and returns it.
func (p *peer) request(target string) string {
	p.t.Helper()
	var head []byte
	var err error
	if p.stream != nil {
		head, err = []byte(p.stream.request()), p.stream.err
	} else {
		head, err = p.reader.ReadUntil(p.task, []byte("\r\n\r\n"), 64<<10)
	}
	if err != nil {
		p.t.Fatalf("server: waits for a request for %s: %v", target, err)
	}
	_, rest, _ := strings.Cut(string(head), " ") // each test checks the method itself
	if !strings.HasPrefix(rest, target+" HTTP/1.1\r\n") {
		p.t.Fatalf("server: got %q, want a request for %s", head, target)
	}
	return string(head)
}

// send sends bytes and reports whether the client took them.
func (p *peer) send(bytes string) bool {
	if p.stream != nil {
		return p.stream.send(bytes)
	}
	_, err := p.conn.Write(p.task, []byte(bytes))
	return err == nil
}

func (p *peer) serve(target, response string) {
	p.t.Helper()
	p.request(target)
	p.send(response)
}

// ended waits until the client closes the connection, and fails on another request.
func (p *peer) ended() {
	p.t.Helper()
	if p.stream != nil {
		p.stream.ended()
		return
	}
	if b, err := p.reader.Peek(p.task); err == nil {
		p.t.Fatalf("server: got %q, want the end", b)
	}
}

func (p *peer) close() {
	if p.stream != nil {
		p.stream.close()
	}
	p.conn.Close()
}

// browser is the client's side.
type browser struct {
	t      *testing.T
	task   *aio.Task
	client *httpclient.Client
	then   bool // by DoThen, in a task of its own
}

func (b *browser) until(d time.Duration) { until(b.t, b.task, d) }

// get fetches from www.example.
func (b *browser) get(target string) (*httpclient.Response, error) {
	return b.send(httpclient.Request{Scheme: "http", Host: "www.example", Target: target})
}

// send sends a request and waits for its response.
func (b *browser) send(req httpclient.Request) (res *httpclient.Response, err error) {
	if !b.then {
		return b.client.Do(b.task, req)
	}
	took := func(_ *aio.Task, r *httpclient.Response, e error) error {
		res, err = r, e
		return nil
	}
	failed := b.task.Group(func(g *aio.Group) error {
		g.Go("request", func(t *aio.Task) error { return b.client.DoThen(t, &req, took) })
		return nil
	})
	if failed != nil {
		return nil, failed
	}
	return res, err
}

// reads fetches target and expects body.
func (b *browser) reads(target, body string) {
	b.t.Helper()
	res, err := b.get(target)
	if err != nil {
		b.t.Fatalf("GET %s: %v", target, err)
	}
	if string(res.Body) != body {
		b.t.Errorf("GET %s: body %q, want %q", target, res.Body, body)
	}
	res.Close()
}

// fails fetches target and expects an error.
func (b *browser) fails(target string, kind httpclient.Kind) {
	b.t.Helper()
	_, err := b.get(target)
	expectKind(b.t, err, kind)
}

func expectKind(t *testing.T, err error, kind httpclient.Kind) {
	t.Helper()
	var e *httpclient.Error
	switch {
	case err == nil:
		t.Fatalf("no error, want one of kind %s", kind)
	case !errors.As(err, &e):
		t.Errorf("error %v is not an *Error", err)
	case e.Kind != kind:
		t.Errorf("error of kind %s (%v), want %s", e.Kind, err, kind)
	}
}

func until(t *testing.T, task *aio.Task, d time.Duration) {
	t.Helper()
	if now(task) > d {
		t.Fatalf("it is %v, and the script wants to wait until %v", now(task), d)
	}
	if err := task.SleepUntil(aiotest.Epoch.Add(d)); err != nil {
		t.Fatal(err)
	}
}

// now returns the time since the start.
func now(task *aio.Task) time.Duration { return task.Loop().Now().Sub(aiotest.Epoch) }

// ok returns a response with a body.
func ok(body string) string { return response("", body) }

// response returns a response with additional fields, each with its line end.
func response(fields, body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n" + fields + "\r\n" + body
}
