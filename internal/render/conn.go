package render

import (
	"bufio"
	"bytes"
	"context"
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

	mu      sync.Mutex
	last    int             // id of the last command
	replies map[int]replyTo // of commands under way
	crashed map[string]bool // sessions of tabs whose process has died
	err     error           // the connection has ended, and why
	ended   chan struct{}   // closed when err is set
}

// replyTo is the way of a reply to whoever waits for it.
type replyTo struct {
	session string
	to      chan *message // of capacity 1
}

// writer is the way of commands to the browser.
type writer interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// writeTime is the most time that the browser takes to read a command, or it hangs.
const writeTime = 10 * time.Second

// message is a reply or an event.
type message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
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
	maxEvent   = 4 << 20
	keptBuffer = 1 << 20 // a larger buffer is not used again
)

var errHuge = &protocolError{Message: "the reply is too long"}

// newConn serves a connection until the browser ends it.
func newConn(out io.Reader, in writer, event func(*message)) *conn {
	c := &conn{in: in, event: event, replies: make(map[int]replyTo), crashed: make(map[string]bool), ended: make(chan struct{})}
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
		text, whole, err = readMessage(out, text[:0])
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
		if waits {
			reply.to <- m
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
			close(reply.to)
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

// readMessage appends the next message to a buffer, without its NUL. Of one that is too long it
// returns the beginning.
func readMessage(out *bufio.Reader, to []byte) (text []byte, whole bool, err error) {
	most := maxMessage
	for whole = true; ; {
		part, err := out.ReadSlice(0)
		switch {
		case len(to) == 0 && bytes.HasPrefix(part, []byte(`{"method":`)):
			most = maxEvent
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

// start sends a command without waiting for its reply. Params are JSON, or nil.
func (c *conn) start(session, method string, params []byte) (id int, reply <-chan *message, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	if c.crashed[session] {
		return 0, nil, errCrashed
	}
	c.last++
	text := fmt.Appendf(make([]byte, 0, len(method)+len(session)+len(params)+64), `{"id":%d,"method":"%s"`, c.last, method)
	if session != "" {
		text = fmt.Appendf(text, `,"sessionId":"%s"`, session)
	}
	if params != nil {
		text = append(append(text, `,"params":`...), params...)
	}
	to := make(chan *message, 1)
	c.replies[c.last] = replyTo{session, to}
	_ = c.in.SetWriteDeadline(time.Now().Add(writeTime)) // of a pipe: it has one
	if _, err := c.in.Write(append(text, '}', 0)); err != nil {
		c.end(errGone) // half a command may be on its way
		return 0, nil, errGone
	}
	return c.last, to, nil
}

// post sends a command whose reply does not matter.
func (c *conn) post(session, method string, params any) error {
	text, err := paramsOf(params)
	if err != nil {
		return err
	}
	id, _, err := c.start(session, method, text)
	if err == nil {
		c.forget(id)
	}
	return err
}

func (c *conn) forget(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.replies, id)
}

// call sends a command, and reads its reply into result unless that is nil. A session that has
// hung never answers: ctx ends the wait.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	text, err := paramsOf(params)
	if err != nil {
		return err
	}
	id, reply, err := c.start(session, method, text)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return c.await(ctx, method, id, reply, result)
}

// await reads the reply to a command that was sent.
func (c *conn) await(ctx context.Context, method string, id int, reply <-chan *message, result any) error {
	select {
	case m := <-reply:
		if m == nil {
			return fmt.Errorf("%s: %w", method, errCrashed)
		}
		if m.Error != nil {
			return fmt.Errorf("%s: %w", method, m.Error)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-c.ended:
		return fmt.Errorf("%s: %w", method, c.err)
	case <-ctx.Done():
		c.forget(id)
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
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
