package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Message is the block of a request or response: a start line, fields and a body.
type Message struct {
	Start  string // such as "HTTP/1.1 200 OK"
	Header Header
	Head   int // length of start line and fields with the empty line, in bytes

	// Rest is the rest of the block as it is: the body with its transfer coding.
	Rest io.Reader
}

// MessageOf reads the block of a record as HTTP, or returns nil if it is something else.
func MessageOf(r *Record) *Message {
	mediaType := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Type")))
	if !strings.HasPrefix(mediaType, "application/http") {
		return nil
	}
	m, err := ReadMessage(r)
	if err != nil {
		return nil
	}
	return m
}

// ReadMessage reads the head of an HTTP message. It accepts lines that end with LF alone, and a
// head without an empty line at its end.
func ReadMessage(block io.Reader) (*Message, error) {
	in := bufio.NewReader(block)
	m := &Message{Rest: in}
	lines, n, err := readHead(in, maxHead, maxFields)
	if err != nil {
		return nil, fmt.Errorf("head of an HTTP message: %w", err)
	}
	if len(lines) == 0 {
		return nil, errors.New("head of an HTTP message: none")
	}
	m.Start, m.Head, m.Header = lines[0], n, fields(lines[1:])
	return m, nil
}

// Status returns that of a response, or 0.
func (m *Message) Status() int {
	proto, rest, _ := strings.Cut(m.Start, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err := strconv.Atoi(code)
	if err != nil || !strings.HasPrefix(proto, "HTTP/") || status < 100 || status > 999 {
		return 0
	}
	return status
}

// Payload returns the body without its transfer coding. Some archives name a chunked coding that
// their writers have removed: a body that does not begin like a chunk is the payload itself.
func (m *Message) Payload() io.Reader {
	if !m.chunked() {
		return m.Rest
	}
	in := bufio.NewReaderSize(m.Rest, sample)
	if start, err := in.Peek(sample); !beginsChunk(start, err != nil) {
		return in
	}
	return &chunks{in: in}
}

func (m *Message) chunked() bool {
	codings := strings.Split(m.Header.list("Transfer-Encoding"), ",")
	return strings.EqualFold(strings.TrimSpace(codings[len(codings)-1]), "chunked")
}

// maxSizeLine bounds the line before a chunk, in bytes; its extensions mean nothing here.
const maxSizeLine = 4 << 10

// chunks removes the chunked coding (RFC 9112, section 7.1).
type chunks struct {
	in   *bufio.Reader
	left int64 // of the chunk
	next bool  // its end of line is to be read first
	err  error
}

func (c *chunks) Read(p []byte) (int, error) {
	for c.left == 0 && c.err == nil {
		c.err = c.size()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.in.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	c.err = err
	return n, err
}

// size reads the line before a chunk. After the last one it returns io.EOF.
func (c *chunks) size() error {
	line, err := c.in.ReadSlice('\n')
	if c.next && err == nil {
		if strings.TrimRight(string(line), "\r\n") != "" {
			return errors.New("chunk longer than its announced size")
		}
		line, err = c.in.ReadSlice('\n')
	}
	switch {
	case err == bufio.ErrBufferFull:
		return errors.New("line before a chunk too long")
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	n, ok := chunkSize(line)
	switch {
	case !ok:
		return fmt.Errorf("chunk size %.40q, expected a hexadecimal number", line)
	case n == 0:
		return io.EOF
	}
	c.left, c.next = n, true
	return nil
}

func chunkSize(line []byte) (int64, bool) {
	size, _, _ := strings.Cut(string(line), ";")
	n, err := strconv.ParseInt(strings.Trim(size, " \t\r\n"), 16, 63)
	return n, err == nil && n >= 0 && size[0] != '+'
}

// beginsChunk reports whether a body that begins with start, or is all of it, begins with a chunk:
// a line with its size, and behind the chunk the end of a line. Numbers in a text may look like
// that, so that lines without CR count only where all of start consists of chunks.
func beginsChunk(start []byte, whole bool) bool {
	for first := true; ; first = false {
		line, rest, found := bytes.Cut(start, []byte("\n"))
		n, ok := chunkSize(line)
		switch strict := bytes.HasSuffix(line, []byte("\r")); {
		case !found || !ok || len(line) > maxSizeLine:
			return !first && !whole && len(line) <= maxSizeLine
		case n == 0: // the last: an empty line follows, or fields
			line, _, _ = bytes.Cut(rest, []byte("\n"))
			return len(bytes.TrimSpace(line)) == 0 || bytes.ContainsRune(line, ':')
		case n >= int64(len(rest)): // start ends within the chunk
			return strict || !first && !whole
		case strict && bytes.HasPrefix(rest[n:], []byte("\r\n")):
			return true
		case rest[n] != '\n':
			return false
		}
		start = rest[n+1:]
	}
}

// maxFields bounds the lines of a head.
const maxFields = 10_000

// readHead reads lines up to an empty one, to the end, or to a number of lines, and returns them
// with the number of bytes read. If there is nothing to read, it returns io.EOF.
func readHead(in *bufio.Reader, most, count int) (lines []string, n int, err error) {
	for len(lines) < count {
		line, err := readLine(in, most-n)
		n += len(line)
		if err != nil && err != io.EOF {
			return nil, n, err
		}
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			lines = append(lines, text)
		} else if err == nil || len(lines) > 0 {
			return lines, n, nil
		}
		if err == io.EOF && len(lines) == 0 {
			return nil, n, err
		}
	}
	return lines, n, nil
}

// readLine reads a line with its end. At the end of what is read it returns the rest and io.EOF.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errLongHead
		}
		if line = append(line, part...); err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

var errLongHead = errors.New("too long")

// fields reads "name: value" lines. A line that begins with a space continues the one before it;
// one without a colon is left out.
func fields(lines []string) (h Header) {
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && (lines[n][0] == ' ' || lines[n][0] == '\t') {
			n++
		}
		line := lines[0]
		if n > 1 { // joined at once: lines one by one would cost the square of their number
			parts := slices.Clone(lines[:n])
			for i := range parts {
				parts[i] = strings.Trim(parts[i], " \t")
			}
			line = strings.Join(parts, " ")
		}
		if name, value, ok := strings.Cut(line, ":"); ok {
			h = append(h, Field{strings.TrimRight(name, " \t"), strings.Trim(value, " \t")})
		}
		lines = lines[n:]
	}
	return h
}
