package warc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Reader reads records from a file or stream: WARC or ARC, in gzip members or plain. It keeps two
// buffers and the fields of one record in memory.
type Reader struct {
	from counter
	in   *bufio.Reader // of the file

	gzip   gzip.Reader
	member *bufio.Reader // the content of the gzip member at hand
	within bool          // there is one at hand
	held   int           // records of it

	at     int64 // offset of the member, or of the plain record
	arc    bool  // the record at hand is one of ARC
	block  block
	open   bool // its end was not read yet
	lost   bool // the next record has to be searched for
	packed bool // the last record was in a member, or should have been

	reread int64 // bytes that searches have gone back, in all
}

// DamageError reports that a part of a file cannot be read, or is not as it should be. Reading goes
// on behind it.
type DamageError struct {
	Offset int64 // of the member or record, in bytes
	Err    error
}

func (e *DamageError) Error() string { return fmt.Sprintf("offset %d: %v", e.Offset, e.Err) }
func (e *DamageError) Unwrap() error { return e.Err }

const bufferSize = 64 << 10

// NewReader returns a reader. If from is an io.Seeker, what follows a damaged member is searched
// for within that member too, otherwise from where the damage was noticed.
func NewReader(from io.Reader) *Reader {
	r := &Reader{from: counter{r: from}, member: bufio.NewReaderSize(nil, bufferSize)}
	r.in = bufio.NewReaderSize(&r.from, bufferSize)
	return r
}

// Reset makes the reader one of another file, and keeps its buffers.
func (r *Reader) Reset(from io.Reader) {
	*r = Reader{from: counter{r: from}, in: r.in, gzip: r.gzip, member: r.member}
	r.in.Reset(&r.from)
	r.member.Reset(nil)
}

// Next returns the next record, or io.EOF at the end. After a *DamageError, Next may be called
// again. Other errors are those of the file, and last.
func (r *Reader) Next() (*Record, error) {
	if r.open {
		r.open = false
		if err := r.finish(); err != nil {
			return nil, err
		}
	}
	if r.lost {
		if err := r.search(); err != nil {
			return nil, err
		}
	}
	if err := r.advance(); err != nil {
		return nil, err
	}
	record, err := r.record()
	if err != nil {
		return nil, r.lose(err)
	}
	r.held++
	r.open = true
	return record, nil
}

// text is the stream that records are read from.
func (r *Reader) text() *bufio.Reader {
	if r.within {
		return r.member
	}
	return r.in
}

// offset is that of the next byte of the file.
func (r *Reader) offset() int64 { return r.from.n - int64(r.in.Buffered()) }

// lose gives up the member or record at hand because of an error.
func (r *Reader) lose(err error) error {
	if r.from.err != nil {
		return r.from.err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if s, ok := r.from.r.(io.Seeker); ok && r.within {
		r.rewind(s)
	}
	r.lost, r.within = true, false
	return &DamageError{r.at, err}
}

// mostReread is the most bytes of a file that are read again, beyond its own size: members could be
// made so that each swallows all others.
const mostReread = 64 << 20

// rewind goes back to behind the first byte of a member.
func (r *Reader) rewind(s io.Seeker) {
	back := r.offset() - r.at - 1
	if r.reread+back > r.from.n+mostReread {
		return
	}
	if at, err := s.Seek(r.at+1, io.SeekStart); err == nil {
		r.reread += back
		r.from.n = at
		r.in.Reset(&r.from)
	}
}

// finish reads the rest of the last record.
func (r *Reader) finish() error {
	if _, err := io.Copy(io.Discard, &r.block); err != nil {
		return r.lose(err)
	}
	want := recordEnd
	if r.arc {
		want = "\n"
	}
	end, err := r.text().Peek(len(want))
	if string(end) == want {
		_, err = r.text().Discard(len(want))
		return err
	}
	if err != nil && err != io.EOF {
		return r.lose(err)
	}
	return &DamageError{r.at, fmt.Errorf("%q behind the block, expected %q", end, want)}
}

// advance goes to the next record. Empty lines before it mean nothing.
func (r *Reader) advance() error {
	for {
		if r.within {
			start, err := r.member.Peek(1)
			switch {
			case err == io.EOF:
				r.within = false
			case err != nil:
				return r.lose(err)
			case isSpace(start[0]):
				r.member.Discard(1)
				continue
			default:
				return nil
			}
		}
		r.at, r.held = r.offset(), 0
		start, err := r.in.Peek(2)
		switch {
		case r.from.err != nil:
			return r.from.err
		case len(start) == 0:
			return err
		case string(start) == gzipMagic:
			r.packed = true
			if err := r.enter(); err != nil {
				return r.lose(err)
			}
		case isSpace(start[0]):
			r.in.Discard(1)
		default:
			if line, _ := r.in.Peek(maxLine); !isHead(line) {
				return r.lose(notHead(line))
			}
			r.packed = false
			return nil
		}
	}
}

const gzipMagic = "\x1f\x8b"

func isSpace(c byte) bool { return c == '\r' || c == '\n' }

// enter begins to read a member.
func (r *Reader) enter() error {
	if err := r.gzip.Reset(r.in); err != nil {
		return err
	}
	r.gzip.Multistream(false)
	r.member.Reset(&r.gzip)
	r.within = true
	return nil
}

// maxHead bounds the fields of a record and the head of an HTTP message, in bytes.
const maxHead = 1 << 20

// record reads the head of a record.
func (r *Reader) record() (*Record, error) {
	record := &Record{Offset: r.at, Packed: r.within, Shared: r.within && r.held > 0}
	lines, _, err := readHead(r.text(), maxHead, 1)
	if err != nil {
		return nil, fmt.Errorf("head of a record: %w", err)
	}
	first := lines[0]
	if r.arc = !strings.HasPrefix(first, "WARC/"); r.arc {
		if record.Header, err = arcHeader(first); err != nil {
			return nil, err
		}
		record.Version = "ARC/1"
	} else {
		if lines, _, err = readHead(r.text(), maxHead, maxFields); err != nil {
			return nil, fmt.Errorf("fields of a record: %w", err)
		}
		if len(lines) == maxFields {
			return nil, fmt.Errorf("fields of a record: more than %d", maxFields)
		}
		record.Version, record.Header = first, fields(lines)
	}
	length := record.Header.Get("Content-Length")
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("Content-Length %.40q, expected a number of bytes", length)
	}
	r.block = block{r.text(), n}
	record.Length, record.block = n, &r.block
	return record, nil
}

// block reads the bytes of a block. If there are fewer, it returns io.ErrUnexpectedEOF.
type block struct {
	from *bufio.Reader
	left int64
}

func (b *block) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	if b.left -= int64(n); err == io.EOF && b.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// search goes to the next beginning of a member or record behind the one that was lost.
func (r *Reader) search() error {
	for {
		window, err := r.in.Peek(bufferSize)
		if len(window) == 0 {
			return err
		}
		whole := err != nil // there is no more
		skip := len(window)
		for i := range window {
			if i > bufferSize/2 && !whole { // too little is left to judge by
				skip = i
				break
			}
			if r.begins(window[i:]) {
				r.in.Discard(i)
				r.lost = false
				return nil
			}
		}
		r.in.Discard(skip)
	}
}

// begins reports whether b begins with a record: plain, or at the start of a member.
func (r *Reader) begins(b []byte) bool {
	switch {
	case bytes.HasPrefix(b, []byte("WARC/")):
		return !r.packed // in a member, a stored record looks like that
	case len(b) < 18 || string(b[:2]) != gzipMagic || b[2] != 8 || b[3]&0xe0 != 0:
		return false
	case b[3]&4 != 0 && b[11] > 0:
		// An extra field of 256 bytes or more, where the next member would fit.
		return false
	}
	if r.gzip.Reset(bytes.NewReader(b)) != nil {
		return false
	}
	var start [5]byte
	_, err := io.ReadFull(&r.gzip, start[:])
	return err == nil && (string(start[:]) == "WARC/" || string(start[:4]) == "http" || string(start[:4]) == "file")
}

// counter counts the bytes of a file, and keeps an error of it that is not its end.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// maxLine bounds the line before a block of an ARC file.
const maxLine = 16 << 10

// isHead reports whether b begins like a record of WARC or ARC.
func isHead(b []byte) bool {
	if bytes.HasPrefix(b, []byte("WARC/")) {
		return true
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	_, err := arcHeader(string(line))
	return err == nil
}

func notHead(b []byte) error {
	return fmt.Errorf("%.60q, expected a gzip member, WARC/1.1 or the five fields of ARC", b)
}

// arcDate turns the 14 digits of a date into one of WARC.
func arcDate(digits string) (string, error) {
	at, err := time.Parse("20060102150405", digits)
	return at.Format(time.RFC3339), err
}

// arcHeader translates the line before a block of an ARC file (version 1: URL, address, date, type,
// length; version 2 has more fields between type and length) into fields of WARC.
func arcHeader(line string) (Header, error) {
	words := strings.Fields(line)
	if len(words) < 5 || len(words) > 10 || !strings.Contains(words[0], ":") {
		return nil, notHead([]byte(line))
	}
	date, err := arcDate(words[2])
	if err != nil {
		return nil, notHead([]byte(line))
	}
	is, of := Response, typeResponse
	switch {
	case strings.HasPrefix(words[0], "filedesc:"):
		is, of = Warcinfo, words[3]
	case !strings.HasPrefix(strings.ToLower(words[0]), "http"):
		is, of = Resource, words[3]
	}
	return Header{
		{"WARC-Type", string(is)},
		{"WARC-Target-URI", words[0]},
		{"WARC-IP-Address", words[1]},
		{"WARC-Date", date},
		{"Content-Type", of},
		{"Content-Length", words[len(words)-1]},
	}, nil
}
