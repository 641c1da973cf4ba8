package httpclient_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

// playBoth is play over each protocol. Over HTTP/2 the scripts of the server are the same: what
// they send is text of HTTP/1.1, which goes out as frames, and each peer is a stream.
func playBoth(t *testing.T, opt httpclient.Options, server func(s *site), client func(b *browser)) {
	t.Helper()
	for name, play := range overEach {
		t.Run(name, func(t *testing.T) { play(t, opt, server, client) })
	}
}

// overEach has a play for each protocol and way to wait, by its name.
var overEach = map[string]func(t *testing.T, opt httpclient.Options, server func(s *site), client func(b *browser)){
	"http/1.1": play,
	"http/1.1 by DoThen": func(t *testing.T, opt httpclient.Options, server func(s *site), client func(b *browser)) {
		t.Helper()
		play(t, opt, server, func(b *browser) { b.then = true; client(b) })
	},
	"h2 by DoThen": func(t *testing.T, opt httpclient.Options, server func(s *site), client func(b *browser)) {
		t.Helper()
		opt.HTTP2 = true
		play(t, opt, func(s *site) { s.streams = true; server(s) }, func(b *browser) { b.then = true; client(b) })
	},
	"h2": func(t *testing.T, opt httpclient.Options, server func(s *site), client func(b *browser)) {
		t.Helper()
		opt.HTTP2 = true
		play(t, opt, func(s *site) { s.streams = true; server(s) }, client)
	},
}

// fields returns the text of fields as the scripts see them: over HTTP/2 their names have lost
// their case.
func (s *site) fields(text string) string {
	if !s.streams {
		return text
	}
	return regexp.MustCompile(`(?m)(^|\b)[a-zA-Z-]+: `).ReplaceAllStringFunc(text, func(name string) string {
		return textproto.CanonicalMIMEHeaderKey(strings.TrimSuffix(name, ": ")) + ": "
	})
}

// wire is the server's end of a connection of HTTP/2.
type wire struct {
	*http2.Framer
	conn  aio.Conn
	heads []*http2.MetaHeadersFrame // of requests that nobody has taken
	first int                       // the credit of a stream at first
	more  map[uint32]int            // and what it got besides
	reset map[uint32]bool
	pings int // that have come
	err   error
}

// onTask reads and writes a connection for a task.
type onTask struct {
	task *aio.Task
	conn aio.Conn
	from *aio.Reader
}

func (o onTask) Read(b []byte) (int, error)  { return o.from.Read(o.task, b) }
func (o onTask) Write(b []byte) (int, error) { return o.conn.Write(o.task, b) }

func newWire(task *aio.Task, conn aio.Conn) *wire {
	on := onTask{task, conn, aio.NewReader(task.Loop(), conn)}
	w := &wire{
		Framer: http2.NewFramer(on, on), conn: conn, first: 1<<16 - 1,
		more: make(map[uint32]int), reset: make(map[uint32]bool),
	}
	w.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, w.err = io.ReadFull(on, make([]byte, len(http2.ClientPreface))); w.err == nil {
		w.err = w.WriteSettings()
	}
	return w
}

// read takes a frame.
func (w *wire) read() {
	var f http2.Frame
	if f, w.err = w.ReadFrame(); w.err != nil {
		return
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if n, ok := f.Value(http2.SettingInitialWindowSize); ok {
			w.first = int(n)
		}
		if !f.IsAck() {
			w.err = w.WriteSettingsAck()
		}
	case *http2.WindowUpdateFrame:
		w.more[f.StreamID] += int(f.Increment)
	case *http2.RSTStreamFrame:
		w.reset[f.StreamID] = true
	case *http2.PingFrame:
		w.pings++
		w.err = w.WritePing(true, f.Data)
	case *http2.MetaHeadersFrame:
		w.heads = append(w.heads, f)
	}
}

// next returns the head of the next request; nil: the connection has ended.
func (w *wire) next() *http2.MetaHeadersFrame {
	for len(w.heads) == 0 && w.err == nil {
		w.read()
	}
	if len(w.heads) == 0 {
		return nil
	}
	f := w.heads[0]
	w.heads = w.heads[1:]
	return f
}

// stream is a peer's end of a stream.
type stream struct {
	*wire
	id     uint32
	unread *http2.MetaHeadersFrame // the request, unless it was read
	text   []byte                  // of a response whose head is not complete
	headed bool
	left   int // bytes of the body; -1: it ends with the connection
	method string
}

// acceptStream waits for a request, over the connection that there is or over a new one.
func (s *site) acceptStream() *peer {
	s.t.Helper()
	for {
		if s.wire == nil || s.wire.err != nil {
			c, err := s.ln.Accept(s.task)
			if err != nil {
				s.t.Fatal("server: ", err)
			}
			s.wire = newWire(s.task, c)
			p := &peer{site: s, conn: c, stream: &stream{wire: s.wire}}
			s.peers = append(s.peers, p)
			return p
		}
		if f := s.wire.next(); f != nil {
			p := &peer{site: s, conn: s.wire.conn, stream: &stream{wire: s.wire, unread: f}}
			s.peers = append(s.peers, p)
			return p
		}
	}
}

// request returns the next request as HTTP/1.1 has it.
func (st *stream) request() string {
	f := st.unread
	if st.unread = nil; f == nil {
		if f = st.next(); f == nil {
			return ""
		}
	}
	st.id, st.headed, st.left, st.text = f.StreamID, false, 0, nil
	st.method = f.PseudoValue("method")
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", st.method, f.PseudoValue("path"), f.PseudoValue("authority"))
	for _, field := range f.RegularFields() {
		fmt.Fprintf(&b, "%s: %s\r\n", textproto.CanonicalMIMEHeaderKey(field.Name), field.Value)
	}
	return b.String() + "\r\n"
}

// send sends some of a response, and reports whether the client takes it.
func (st *stream) send(text string) bool {
	for st.err == nil && st.conn.Ready() {
		st.read()
	}
	if st.err != nil || st.reset[st.id] {
		return false
	}
	if st.headed {
		return st.data([]byte(text))
	}
	st.text = append(st.text, text...)
	for !st.headed {
		end := bytes.Index(st.text, []byte("\r\n\r\n")) + 4
		if end < 4 {
			return true
		}
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(st.text)), &http.Request{Method: st.method})
		if err != nil {
			st.err = err
			st.conn.Close()
			return false
		}
		body := st.text[end:]
		if len(res.TransferEncoding) > 0 {
			if body, err = io.ReadAll(res.Body); err == nil {
				res.ContentLength = int64(len(body))
			}
		}
		st.head(string(st.text[:end]), res)
		if st.text = body; st.headed {
			return st.data(body)
		}
	}
	return true
}

// head sends a head.
func (st *stream) head(text string, res *http.Response) {
	var block bytes.Buffer
	to := hpack.NewEncoder(&block)
	to.WriteField(hpack.HeaderField{Name: ":status", Value: strconv.Itoa(res.StatusCode)})
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n\r\n"), "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && !strings.EqualFold(name, "Transfer-Encoding") && !strings.EqualFold(name, "Connection") {
			to.WriteField(hpack.HeaderField{Name: strings.ToLower(name), Value: strings.TrimSpace(value)})
		}
	}
	none := res.StatusCode == 304 || res.StatusCode == 204 || st.method == "HEAD" || res.ContentLength == 0
	if st.headed = res.StatusCode >= 200; st.headed {
		st.left = int(res.ContentLength)
	}
	p := http2.HeadersFrameParam{StreamID: st.id, EndStream: st.headed && none, EndHeaders: true}
	b := block.Bytes()
	if p.EndHeaders = len(b) <= 16<<10; !p.EndHeaders {
		p.BlockFragment = b[:16<<10]
	} else {
		p.BlockFragment = b
	}
	st.err = st.WriteHeaders(p)
	for b = b[len(p.BlockFragment):]; len(b) > 0 && st.err == nil; {
		n := min(len(b), 16<<10)
		st.err = st.WriteContinuation(st.id, n == len(b), b[:n])
		b = b[n:]
	}
	if p.EndStream {
		st.left = 0
	}
}

// data sends some of a body.
func (st *stream) data(b []byte) bool {
	if st.left >= 0 {
		b = b[:min(len(b), st.left)]
	}
	for len(b) > 0 {
		n := min(len(b), 16<<10, st.first+st.more[st.id])
		for ; n == 0 && st.err == nil && !st.reset[st.id]; n = min(len(b), 16<<10, st.first+st.more[st.id]) {
			st.read()
		}
		if st.err != nil || st.reset[st.id] {
			return false
		}
		if st.left >= 0 {
			st.left -= n
		}
		st.more[st.id] -= n
		if st.err = st.WriteData(st.id, st.left == 0, b[:n]); st.err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

// ended waits until the client has no more to do with the stream.
func (st *stream) ended() {
	for len(st.heads) == 0 && st.err == nil && !st.reset[st.id] {
		st.read()
	}
}

// close ends a body of unknown length, and the connection.
func (st *stream) close() {
	if st.headed && st.left < 0 && st.err == nil {
		_ = st.WriteData(st.id, true, nil)
	}
	st.err = io.EOF
	st.conn.Close()
}
