package mcp

import (
	"bufio"
	"bytes"
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
	return &sdk.IOTransport{Reader: &messageLines{Closer: in, in: bufio.NewReader(in), out: w}, Writer: w, MaxLineLength: mostLine + 1}
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
