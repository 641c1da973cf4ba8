package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// messageLines are the messages of a client, a line each. The SDK ends a session at the first line
// that is no message; here, such a line has an error for its answer and goes no further.
type messageLines struct {
	io.Closer
	in   *bufio.Reader
	out  *wholeWriter
	left []byte // of the message that is being read
}

// wholeWriter writes one message at a time. Closing it leaves what is below it open.
type wholeWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *wholeWriter) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(message)
}

func (w *wholeWriter) Close() error { return nil }

// lines returns a transport of messages, a line each.
func lines(in io.ReadCloser, out io.Writer) sdk.Transport {
	w := &wholeWriter{to: out}
	return finished{&sdk.IOTransport{Reader: &messageLines{Closer: in, in: bufio.NewReader(in), out: w}, Writer: w, MaxLineLength: mostLine + 1}}
}

// Read reads messages.
func (m *messageLines) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		line, err := m.line()
		if line = bytes.TrimSpace(line); len(line) > 0 || errors.Is(err, errLong) {
			if wrong := checkMessage(line, err); wrong != nil {
				if err := m.refuse(line, wrong); err != nil {
					return 0, err
				}
			} else {
				m.left = append(line, '\n')
			}
		}
		if err != nil && !errors.Is(err, errLong) && len(m.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

var (
	errLong   = errors.New("a line of more than 4 MiB")
	errNoJSON = errors.New("a line that is no JSON, or is nested too deeply")
	errBatch  = errors.New("a batch, expected one message in a line")
)

// line reads a line; of one that is too long, nothing is kept.
func (m *messageLines) line() (line []byte, err error) {
	long := false
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > mostLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil && long:
			return nil, errLong
		}
		return line, err
	}
}

// checkMessage returns what is wrong with a line; err is that of reading it.
func checkMessage(line []byte, err error) error {
	switch {
	case errors.Is(err, errLong):
		return err
	case !json.Valid(line): // the SDK takes a line that only begins as one
		return errNoJSON
	case line[0] == '[':
		return errBatch
	}
	_, err = jsonrpc.DecodeMessage(line)
	return err
}

// refuse answers a line that is no message, by its ID if it has one.
func (m *messageLines) refuse(line []byte, wrong error) error {
	var request struct {
		ID json.RawMessage `json:"id"`
	}
	code := jsonrpc.CodeInvalidRequest
	if json.Unmarshal(line, &request) != nil {
		code = jsonrpc.CodeParseError
	}
	if id := request.ID; len(id) == 0 || len(id) > 256 || id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		request.ID = json.RawMessage("null")
	}
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": request.ID,
		"error": map[string]any{"code": code, "message": limited(wrong.Error(), 300)},
	})
	if err == nil {
		_, err = m.out.Write(append(text, '\n'))
	}
	return err
}

// finished is a transport whose connection finishes what it has read. The SDK breaks off all calls
// at the end of the input, which a file reaches before the first of them is answered.
type finished struct{ sdk.Transport }

// Connect connects.
func (t finished) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &finishing{Connection: c, answered: make(chan struct{}), calls: make(map[jsonrpc.ID]bool)}, err
}

// finishing is its connection.
type finishing struct {
	sdk.Connection
	answered chan struct{} // closed when no answer is to come any more

	mu     sync.Mutex
	calls  map[jsonrpc.ID]bool // that have been read and not answered
	ended  bool                // nothing more is read
	broken bool                // nothing more is written
	closed bool                // answered is
}

// Read reads a message. The end of the input waits for the answers.
func (c *finishing) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, is := m.(*jsonrpc.Request); is && err == nil && r.IsCall() {
		c.note(func() { c.calls[r.ID] = true }) // one with the ID of another has no answer
	}
	if err == nil {
		return m, nil
	}
	c.note(func() { c.ended = true })
	select {
	case <-c.answered:
	case <-ctx.Done():
	}
	return nil, err
}

// Write writes a message. A call that is canceled has an answer, too.
func (c *finishing) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	c.note(func() {
		if r, is := m.(*jsonrpc.Response); is {
			delete(c.calls, r.ID)
		}
		c.broken = c.broken || err != nil // the SDK writes nothing more
	})
	return err
}

// Close closes the connection, which ends the waiting for answers.
func (c *finishing) Close() error {
	c.note(func() { c.broken = true })
	return c.Connection.Close()
}

// note takes in a change.
func (c *finishing) note(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	if !c.closed && (c.broken || c.ended && len(c.calls) == 0) {
		c.closed = true
		close(c.answered)
	}
}
