package warc

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
)

// Options say how records are written.
type Options struct {
	Digest Algorithm // of blocks and payloads; default SHA256
	NewID  func() ID // default: random
	Info   ID        // the warcinfo record that describes the others; zero: none
}

// Encoder appends records to slices of bytes. It is used by one goroutine at a time.
type Encoder struct {
	opt     Options
	hash    hash.Hash
	deflate *flate.Writer
	out     appender
	fields  []byte
	body    *bufio.Reader
}

// NewEncoder returns an encoder.
func NewEncoder(opt Options) *Encoder {
	if opt.Digest == "" {
		opt.Digest = SHA256
	}
	if opt.NewID == nil {
		opt.NewID = func() ID {
			var random [16]byte
			rand.Read(random[:])
			return NewID(random)
		}
	}
	e := &Encoder{opt: opt, hash: opt.Digest.New(), body: bufio.NewReader(nil)}
	e.deflate, _ = flate.NewWriter(&e.out, flate.BestSpeed) // no error at this level
	return e
}

// Exchange is a request and its response.
type Exchange struct {
	ID        ID // of the response or revisit record; zero: see Options.NewID
	URL       string
	Date      time.Time  // of the request
	IP        netip.Addr // the server's; invalid: not known
	Protocols []string   // such as "http/1.1", "tls/1.3"
	Cipher    string     // of TLS, by its IANA name

	Request   []byte // as sent; nil: not kept
	Response  []byte // as received, without interim responses
	Truncated string // why the response is not whole: [CutLength] and others; "": it is

	// Original is a capture with the same payload: the response is written as a revisit, without
	// its body. For a 304 it is the capture that still holds.
	Original *Original

	// Find is called where there is no Original, and returns one or nil. The payload has no digest
	// if it is not whole; length is that of the payload in bytes.
	Find func(m *Message, payload Digest, length int) *Original
}

// Original is what a revisit refers to: a response record with its whole payload.
type Original struct {
	ID   ID
	URL  string
	Date time.Time
}

// Capture is what became of an exchange.
type Capture struct {
	ID      ID     // of the response or revisit record
	Type    Type   // Response or Revisit
	Status  int    // of the response; 0: it has no status line
	Payload Digest // no sum if the payload is not whole
	Start   int    // of its member in what was appended to, in bytes
	Length  int    // of its member
}

// Exchange appends a response or revisit record, and that of its request.
func (e *Encoder) Exchange(b []byte, x *Exchange) ([]byte, Capture) {
	c := Capture{ID: x.ID, Type: Response, Start: len(b)}
	if c.ID.IsZero() {
		c.ID = e.opt.NewID()
	}
	m, _ := ReadMessage(bytes.NewReader(x.Response)) // no head: all of it is kept as it is
	if m == nil {
		m = &Message{Head: len(x.Response)}
	}
	block, length := x.Response, 0
	c.Status = m.Status()
	if x.Truncated == "" {
		c.Payload, length = e.payload(m, block)
	}
	if x.Original == nil && x.Find != nil {
		x.Original = x.Find(m, c.Payload, length)
	}
	profile := ""
	if x.Original != nil {
		c.Type, profile = Revisit, SamePayload
		if m.Status() == 304 {
			profile, c.Payload = NotModified, Digest{}
		}
		block = block[:m.Head]
	}

	e.begin(c.Type, c.ID, x.Date)
	e.about(x)
	e.field("WARC-Truncated", x.Truncated)
	e.field("WARC-Profile", profile)
	if o := x.Original; o != nil {
		if !o.ID.IsZero() {
			e.field("WARC-Refers-To", o.ID.String())
		}
		e.field("WARC-Refers-To-Target-URI", o.URL)
		e.field("WARC-Refers-To-Date", date(o.Date))
	}
	if c.Payload.Sum != nil {
		e.field("WARC-Payload-Digest", c.Payload.String())
	}
	e.field("Content-Type", typeResponse)
	head, body := block[:m.Head], block[m.Head:]
	if m.Header.Get("Content-Encoding") == "" {
		head, body = block, nil
	}
	b = e.end(b, head, body)
	c.Length = len(b) - c.Start

	if x.Request != nil {
		e.begin(Request, e.opt.NewID(), x.Date)
		e.about(x)
		e.field("WARC-Concurrent-To", c.ID.String())
		e.field("Content-Type", typeRequest)
		b = e.end(b, x.Request, nil)
	}
	return b, c
}

// Info appends a warcinfo record, which describes the records behind it.
func (e *Encoder) Info(b []byte, id ID, at time.Time, filename string, about Header) []byte {
	e.begin(Warcinfo, id, at)
	e.field("WARC-Filename", filename)
	e.field("Content-Type", TypeFields)
	return e.end(b, encodeFields(about), nil)
}

// Note is a record that is about a URL: metadata, a resource, a conversion.
type Note struct {
	Type         Type
	URL          string
	Date         time.Time
	ContentType  string
	ConcurrentTo ID // a record of the same exchange; zero: none
	RefersTo     ID // the record that it describes or was made from; zero: none
	Block        []byte
}

// Note appends a record.
func (e *Encoder) Note(b []byte, n *Note) ([]byte, ID) {
	id := e.opt.NewID()
	e.begin(n.Type, id, n.Date)
	e.field("WARC-Target-URI", n.URL)
	e.warcinfo()
	if !n.ConcurrentTo.IsZero() {
		e.field("WARC-Concurrent-To", n.ConcurrentTo.String())
	}
	if !n.RefersTo.IsZero() {
		e.field("WARC-Refers-To", n.RefersTo.String())
	}
	e.field("Content-Type", n.ContentType)
	return e.end(b, n.Block, nil), id
}

// Fields returns the block of a record of [TypeFields].
func Fields(h Header) []byte { return encodeFields(h) }

func encodeFields(h Header) (b []byte) {
	for _, f := range h {
		b = appendField(b, f.Name, f.Value)
	}
	return b
}

// payload returns the digest of a response's payload, or none if it cannot be told, and its length.
func (e *Encoder) payload(m *Message, block []byte) (Digest, int) {
	e.hash.Reset()
	length := len(block) - m.Head
	if !m.chunked() {
		e.hash.Write(block[m.Head:])
	} else {
		m.Rest = bytes.NewReader(block[m.Head:])
		n, err := io.Copy(e.hash, m.Payload())
		if err != nil {
			return Digest{}, 0
		}
		length = int(n)
	}
	return Digest{e.opt.Digest, e.hash.Sum(nil)}, length
}

func (e *Encoder) begin(is Type, id ID, at time.Time) {
	e.fields = append(e.fields[:0], "WARC/1.1\r\n"...)
	e.field("WARC-Type", string(is))
	e.field("WARC-Record-ID", id.String())
	e.field("WARC-Date", date(at))
}

// about writes what both records of an exchange say.
func (e *Encoder) about(x *Exchange) {
	e.field("WARC-Target-URI", x.URL)
	if x.IP.IsValid() {
		e.field("WARC-IP-Address", x.IP.String())
	}
	for _, p := range x.Protocols {
		e.field("WARC-Protocol", p)
	}
	e.field("WARC-Cipher-Suite", x.Cipher)
	e.warcinfo()
}

func (e *Encoder) warcinfo() {
	if !e.opt.Info.IsZero() {
		e.field("WARC-Warcinfo-ID", e.opt.Info.String())
	}
}

// field writes a field, unless it is empty.
func (e *Encoder) field(name, value string) {
	if value != "" {
		e.fields = appendField(e.fields, name, value)
	}
}

// appendField writes a field; the value cannot begin a line.
func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	for i := range len(value) {
		if c := value[i]; c == '\r' || c == '\n' || c == 0 {
			b = append(b, ' ')
		} else {
			b = append(b, c)
		}
	}
	return append(b, "\r\n"...)
}

// date has microseconds: ISO 28500, section 5.4 allows up to nine digits.
func date(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

// end completes the fields and appends the record. The second part of the block is stored as it is.
func (e *Encoder) end(b []byte, block, stored []byte) []byte {
	e.hash.Reset()
	e.hash.Write(block)
	e.hash.Write(stored)
	e.field("WARC-Block-Digest", Digest{e.opt.Digest, e.hash.Sum(nil)}.String())
	e.field("Content-Length", strconv.Itoa(len(block)+len(stored)))
	e.fields = append(e.fields, "\r\n"...)
	return e.member(b, stored, e.fields, block)
}

// recordEnd follows each block.
const recordEnd = "\r\n\r\n"

// member appends a gzip member (RFC 1952) with a record: some parts compressed, then one stored.
func (e *Encoder) member(b []byte, stored []byte, compressed ...[]byte) []byte {
	b = append(b, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff) // no name, no time, system unknown
	sum, n := uint32(0), len(stored)+len(recordEnd)
	e.out.b = slices.Grow(b, 512+len(stored))
	e.deflate.Reset(&e.out)
	for _, part := range compressed {
		sum, n = crc32.Update(sum, crc32.IEEETable, part), n+len(part)
		e.deflate.Write(part)
	}
	sum = crc32.Update(sum, crc32.IEEETable, stored)
	sum = crc32.Update(sum, crc32.IEEETable, []byte(recordEnd))
	if len(stored) == 0 {
		e.deflate.Write([]byte(recordEnd))
		e.deflate.Close()
		b = e.out.b
	} else {
		e.deflate.Flush() // up to a whole byte
		b = appendStored(e.out.b, stored, false)
		b = appendStored(b, []byte(recordEnd), true)
	}
	e.out.b = nil
	b = binary.LittleEndian.AppendUint32(b, sum)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	return b
}

// appendStored appends stored blocks of DEFLATE (RFC 1951, section 3.2.4).
func appendStored(b, data []byte, last bool) []byte {
	for part := range slices.Chunk(data, 1<<16-1) {
		head := byte(0)
		if last {
			head = 1
		}
		n := uint16(len(part))
		b = append(b, head)
		b = binary.LittleEndian.AppendUint16(b, n)
		b = binary.LittleEndian.AppendUint16(b, ^n)
		b = append(b, part...)
	}
	return b
}

// appender is a writer to a slice.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// Protocols names the protocols of an exchange as WARC-Protocol has them: that of HTTP by the
// response's start line, then that of TLS, such as "TLS 1.3", or "".
func Protocols(http, tls string) []string {
	names := []string{strings.ToLower(http)}
	if version, ok := strings.CutPrefix(tls, "TLS "); ok {
		names = append(names, "tls/"+version)
	}
	return names
}
