package render

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// conn is a connection to a browser by the DevTools protocol: JSON over two pipes, each message
// with a NUL behind it. Commands of several goroutines may be under way; events go to one function.
type conn struct {
	in    writer
	event func(*message) // called in the order of arrival; must not wait for a command
	most  int            // bytes of a reply

	mu      sync.Mutex
	text    []byte          // of the last command
	last    int             // id of the last command
	replies map[int]replyTo // of commands under way
	crashed map[string]bool // sessions of tabs whose process has died
	err     error           // the connection has ended, and why
	ended   chan struct{}   // closed when err is set
}

// replyTo is the way of a reply to whoever waits for it.
type replyTo struct {
	session string
	result  any        // that it is read into; nil: what it says does not matter
	to      chan error // of capacity 1: whether it is a refusal
}

// read reads a reply.
func (r *replyTo) read(m *message, text []byte) error {
	switch {
	case m.Error != nil:
		return m.Error
	case r.result == nil:
		return nil
	}
	return json.Unmarshal(text, &struct{ Result any }{r.result})
}

// writer is the way of commands to the browser.
type writer interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// writeTime is the most time that the browser takes to read a command, or a piece of a long one, or
// it hangs.
const writeTime = 10 * time.Second

// pieceOfBody is the part of a body that is written at a time, in bytes. Base64 makes four of each
// three.
const pieceOfBody = 192 << 10

// message is a reply, without its result, or an event.
type message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Error   *protocolError  `json:"error"`
}

// protocolError is a refusal of a command.
type protocolError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *protocolError) Error() string { return e.Message }

// The bounds of a message of the browser, in bytes: a document, with its escapes; an event, such as
// a request with what it posts. The rest of a longer one is dropped. Who waits for a reply gets an
// error, and a request is refused.
const (
	maxMessage = 64 << 20
	eventPart  = 16      // of that, an event may have one
	keptBuffer = 1 << 20 // a larger buffer is not used again
)

var errHuge = &protocolError{Message: "the reply is too long"}

// newConn serves a connection until the browser ends it. Replies have so many bytes at most, and
// events a part of that.
func newConn(out io.Reader, in writer, most int, event func(*message)) *conn {
	c := &conn{in: in, event: event, most: most, replies: make(map[int]replyTo), crashed: make(map[string]bool), ended: make(chan struct{})}
	go c.serve(bufio.NewReaderSize(out, 1<<20))
	return c
}

// serve hands on messages.
func (c *conn) serve(out *bufio.Reader) {
	var err error
	var text []byte
	for {
		if cap(text) > keptBuffer {
			text = nil
		}
		var whole bool
		text, whole, err = readMessage(out, text[:0], c.most)
		if err != nil {
			break
		}
		m := new(message)
		if !whole {
			if !m.begins(text) {
				continue // an event that nobody misses
			}
		} else if err = json.Unmarshal(text, m); err != nil {
			break
		}
		if m.Method != "" {
			if m.Method == "Inspector.targetCrashed" {
				c.crash(m.Session)
			}
			c.event(m)
			continue
		}
		c.mu.Lock()
		reply, waits := c.replies[m.ID]
		delete(c.replies, m.ID)
		c.mu.Unlock()
		if waits { // it is read here: of several long ones, one is in memory twice
			reply.to <- reply.read(m, text)
		}
	}
	if errors.Is(err, io.EOF) {
		err = errGone
	} else {
		err = fmt.Errorf("%w: %w", errGone, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(err)
}

// crash ends the waits of a session: its tab answers no more.
func (c *conn) crash(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crashed[session] = true
	for id, reply := range c.replies {
		if reply.session == session {
			delete(c.replies, id)
			reply.to <- errCrashed
		}
	}
}

// leave forgets a session.
func (c *conn) leave(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.crashed, session)
}

// end notes that the connection has ended. c.mu is held.
func (c *conn) end(err error) {
	if c.err == nil {
		c.err = err
		close(c.ended)
	}
}

// readMessage appends the next message to a buffer, without its NUL. Of one that is too long, such
// as a reply of more than so many bytes, it returns the beginning.
func readMessage(out *bufio.Reader, to []byte, most int) (text []byte, whole bool, err error) {
	for whole = true; ; {
		part, err := out.ReadSlice(0)
		switch {
		case len(to) == 0 && bytes.HasPrefix(part, []byte(`{"method":`)):
			most /= eventPart
		case len(to) > most:
			whole, part = false, nil
		}
		to = append(to, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(to, []byte{0}), whole && len(to) <= most, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return to, false, err
		}
	}
}

// begins reads what matters of a message that is too long, if anything does: which reply it is, or
// which request.
func (m *message) begins(text []byte) bool {
	const request = `{"method":"Fetch.requestPaused","params":{"requestId":"`
	text = text[:min(len(text), 256)]
	if _, err := fmt.Sscanf(string(text), `{"id":%d,`, &m.ID); err == nil {
		m.Error = errHuge
		return true
	}
	after, ok := strings.CutPrefix(string(text), request)
	id, _, ended := strings.Cut(after, `"`)
	m.Method, m.Params = "Fetch.requestPaused", []byte(`{"requestId":"`+id+`"}`)
	return ok && ended && !strings.Contains(id, `\`)
}

// send sends a command without waiting for its reply, which reply is for; nil: nobody waits. Params
// are JSON, or nil. If there is a tail, they are the beginning of JSON: a body follows, in base64,
// and the tail. A long body is encoded and written piece by piece.
func (c *conn) send(session, method string, params, body []byte, tail string, reply *replyTo) (id int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if c.crashed[session] {
		return 0, errCrashed
	}
	c.last++
	text := fmt.Appendf(c.text[:0], `{"id":%d,"method":"%s"`, c.last, method)
	if session != "" {
		text = fmt.Appendf(text, `,"sessionId":"%s"`, session)
	}
	if params != nil {
		text = append(append(text, `,"params":`...), params...)
	}
	if reply != nil {
		reply.session = session
		c.replies[c.last] = *reply
	}
	for len(body) > 0 && err == nil {
		piece := body[:min(len(body), pieceOfBody)]
		body = body[len(piece):]
		if text = base64.StdEncoding.AppendEncode(text, piece); len(body) > 0 {
			err = c.write(text)
			text = text[:0]
		}
	}
	if err == nil {
		text = append(append(text, tail...), '}', 0)
		err = c.write(text)
	}
	if c.text = text; cap(text) > keptBuffer {
		c.text = nil
	}
	if err != nil {
		c.end(errGone) // half a command may be on its way
		return 0, errGone
	}
	return c.last, nil
}

// write writes a part of a command. c.mu is held.
func (c *conn) write(text []byte) error {
	_ = c.in.SetWriteDeadline(time.Now().Add(writeTime)) // of a pipe: it has one
	_, err := c.in.Write(text)
	return err
}

// post sends a command whose reply does not matter.
func (c *conn) post(session, method string, params any) error {
	text, err := paramsOf(params)
	if err != nil {
		return err
	}
	_, err = c.send(session, method, text, nil, "", nil)
	return err
}

// call sends a command, and reads its reply into result unless that is nil. A session that has
// hung never answers: ctx ends the wait.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	text, err := paramsOf(params)
	if err != nil {
		return err
	}
	wait, err := c.start(session, method, text, result)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// start is call without the wait for the reply.
func (c *conn) start(session, method string, params []byte, result any) (wait func(context.Context) error, err error) {
	reply := &replyTo{result: result, to: make(chan error, 1)}
	id, err := c.send(session, method, params, nil, "", reply)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return func(ctx context.Context) (err error) {
		select {
		case err = <-reply.to:
		case <-c.ended:
			err = c.forget(id, reply, c.err)
		case <-ctx.Done():
			err = c.forget(id, reply, context.Cause(ctx))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}, nil
}

// forget ends the wait for a reply, for a reason. One that is being read comes soon: result is
// nobody's before.
func (c *conn) forget(id int, reply *replyTo, reason error) error {
	c.mu.Lock()
	_, waits := c.replies[id]
	delete(c.replies, id)
	c.mu.Unlock()
	if waits {
		return reason
	}
	return <-reply.to
}

// paramsOf encodes parameters; bytes are JSON already.
func paramsOf(params any) ([]byte, error) {
	switch p := params.(type) {
	case nil:
		return nil, nil
	case []byte:
		return p, nil
	}
	return json.Marshal(params)
}
