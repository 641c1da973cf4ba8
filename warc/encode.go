package warc

import (
	"bytes"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/deflate"
)

// Options are the form of the records that are written.
type Options struct {
	Digest Algorithm // of blocks and payloads; default SHA256
	NewID  func() ID // default: random
	Info   ID        // the warcinfo record that describes the others; zero: none
}

// Encoder appends records to slices of bytes. It is used by one goroutine at a time.
type Encoder struct {
	opt     Options
	hash    hash.Hash
	deflate deflate.Encoder
	fields  []byte
	about   []byte   // fields that both records of an exchange have
	sum     []byte   // scratch
	parts   [][]byte // scratch
}

// NewEncoder returns an encoder.
func NewEncoder(opt Options) *Encoder {
	if opt.Digest == "" {
		opt.Digest = SHA256
	}
	if opt.NewID == nil {
		opt.NewID = func() ID { // unique, not secret
			var random [16]byte
			binary.LittleEndian.PutUint64(random[:8], rand.Uint64())
			binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
			return NewID(random)
		}
	}
	return &Encoder{opt: opt, hash: opt.Digest.New()}
}

// Exchange is a request and its response.
type Exchange struct {
	ID        ID // of the response or revisit record; zero: see Options.NewID
	URL       string
	Date      time.Time  // of the request
	IP        netip.Addr // the server's; invalid: not known
	Protocols []string   // such as "http/1.1", "tls/1.3"
	Cipher    string     // of TLS, by its IANA name

	Request   []byte   // as sent; nil: not kept
	Response  []byte   // as received, without interim responses
	Rest      [][]byte // pieces that follow Response; with Parts, Response has at least the head
	Parts     *Parts   // of Response; nil: it is read to find them
	Truncated string   // the reason why the response is not whole, as [CutLength]; "": it is

	// Original is a capture with the same payload: the response is written as a revisit, without
	// its body. For a 304 it is the capture that still holds.
	Original *Original

	// Find is called where there is no Original, and returns one or nil. The payload has no digest
	// if it is not whole; length is that of the payload in bytes.
	Find func(payload Digest, length int) *Original
}

// Parts are the parts of a response.
type Parts struct {
	Status  int    // 0: it has no status line
	Head    int    // length of status line and fields with the empty line, in bytes
	Payload []byte // the body without its transfer coding
	Digest  Digest // of Payload; without a sum it is computed
	Coded   bool   // the body has a content coding
}

// parts reads a response. What has no head is kept as it is.
func parts(response []byte) *Parts {
	m, err := ReadMessage(bytes.NewReader(response))
	if err != nil {
		return &Parts{Head: len(response)}
	}
	p := &Parts{Status: m.Status(), Head: m.Head, Payload: response[m.Head:], Coded: m.Header.Get("Content-Encoding") != ""}
	if m.chunked() {
		m.Rest = bytes.NewReader(response[m.Head:])
		if p.Payload, err = io.ReadAll(m.Payload()); err != nil {
			p.Payload = nil // it cannot be told
		}
	}
	return p
}

// Original is a response record with its whole payload, to which revisits refer.
type Original struct {
	ID   ID
	URL  string
	Date time.Time
}

// Capture is an exchange as an archive has it.
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
	p := x.Parts
	if p == nil {
		p = parts(x.Response)
	}
	block, rest := x.Response, x.Rest
	c.Status = p.Status
	if x.Truncated == "" && (p.Payload != nil || p.Head == len(block) && len(rest) == 0) {
		c.Payload = e.digest(p)
	}
	if x.Original == nil && x.Find != nil {
		x.Original = x.Find(c.Payload, len(p.Payload))
	}
	profile := ""
	if x.Original != nil {
		c.Type, profile = Revisit, SamePayload
		if p.Status == 304 {
			profile, c.Payload = NotModified, Digest{}
		}
		block, rest = block[:p.Head], nil
	}

	e.describe(x)
	e.begin(c.Type, c.ID)
	e.fields = append(e.fields, e.about...)
	e.field("WARC-Truncated", x.Truncated)
	e.field("WARC-Profile", profile)
	if o := x.Original; o != nil {
		e.id("WARC-Refers-To", o.ID)
		e.field("WARC-Refers-To-Target-URI", o.URL)
		e.date("WARC-Refers-To-Date", o.Date)
	}
	if c.Payload.Sum != nil {
		e.digestField("WARC-Payload-Digest", c.Payload)
	}
	e.field("Content-Type", typeResponse)
	b = e.end(b, c.Type == Response && !p.Coded, block, rest...)
	c.Length = len(b) - c.Start

	if x.Request != nil {
		e.begin(Request, e.opt.NewID())
		e.fields = append(e.fields, e.about...)
		e.id("WARC-Concurrent-To", c.ID)
		e.field("Content-Type", typeRequest)
		b = e.end(b, false, x.Request)
	}
	return b, c
}

// Info appends a warcinfo record, which describes the records behind it.
func (e *Encoder) Info(b []byte, id ID, at time.Time, filename string, about Header) []byte {
	e.begin(Warcinfo, id)
	e.date("WARC-Date", at)
	e.field("WARC-Filename", filename)
	e.field("Content-Type", TypeFields)
	return e.end(b, true, encodeFields(about))
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
	e.begin(n.Type, id)
	e.date("WARC-Date", n.Date)
	e.field("WARC-Target-URI", n.URL)
	e.id("WARC-Warcinfo-ID", e.opt.Info)
	e.id("WARC-Concurrent-To", n.ConcurrentTo)
	e.id("WARC-Refers-To", n.RefersTo)
	e.field("Content-Type", n.ContentType)
	return e.end(b, true, n.Block), id
}

// Fields returns the block of a record of [TypeFields].
func Fields(h Header) []byte { return encodeFields(h) }

func encodeFields(h Header) (b []byte) {
	for _, f := range h {
		b = appendField(b, f.Name, f.Value)
	}
	return b
}

// digest returns the digest of a payload.
func (e *Encoder) digest(p *Parts) Digest {
	if p.Digest.Sum != nil && p.Digest.Algorithm == e.opt.Digest {
		return p.Digest
	}
	e.hash.Reset()
	e.hash.Write(p.Payload)
	return Digest{e.opt.Digest, e.hash.Sum(nil)}
}

func (e *Encoder) begin(is Type, id ID) {
	e.fields = append(e.fields[:0], "WARC/1.1\r\n"...)
	e.field("WARC-Type", string(is))
	e.id("WARC-Record-ID", id)
}

// describe sets about.
func (e *Encoder) describe(x *Exchange) {
	e.fields = e.fields[:0]
	e.date("WARC-Date", x.Date)
	e.field("WARC-Target-URI", x.URL)
	if x.IP.IsValid() {
		e.fields = endField(x.IP.AppendTo(beginField(e.fields, "WARC-IP-Address")))
	}
	for _, p := range x.Protocols {
		e.field("WARC-Protocol", p)
	}
	e.field("WARC-Cipher-Suite", x.Cipher)
	e.id("WARC-Warcinfo-ID", e.opt.Info)
	e.about, e.fields = e.fields, e.about
}

// field writes a field, unless it is empty.
func (e *Encoder) field(name, value string) {
	if value != "" {
		e.fields = appendField(e.fields, name, value)
	}
}

// id writes a field, unless there is no identifier.
func (e *Encoder) id(name string, id ID) {
	if !id.IsZero() {
		e.fields = endField(id.append(beginField(e.fields, name)))
	}
}

// date has microseconds: ISO 28500, section 5.4 allows up to nine digits.
func (e *Encoder) date(name string, at time.Time) {
	b := at.UTC().AppendFormat(beginField(e.fields, name), time.RFC3339) // which time formats fast
	b = strconv.AppendInt(b[:len(b)-1], int64(1e6+at.Nanosecond()/1e3), 10)
	b[len(b)-7] = '.'
	e.fields = endField(append(b, 'Z'))
}

func (e *Encoder) digestField(name string, d Digest) {
	e.fields = endField(d.append(beginField(e.fields, name)))
}

func beginField(b []byte, name string) []byte { return append(append(b, name...), ": "...) }

func endField(b []byte) []byte { return append(b, "\r\n"...) }

// appendField writes a field; the value cannot begin a line.
func appendField(b []byte, name, value string) []byte {
	b = beginField(b, name)
	from := len(b)
	b = append(b, value...)
	for i, c := range b[from:] {
		if c == '\r' || c == '\n' || c == 0 {
			b[from+i] = ' '
		}
	}
	return endField(b)
}

// minCompressed is the length of a block, in bytes, from which it is compressed: for less, the
// codes take most of the time of a record and save some hundred bytes.
const minCompressed = 512

// end completes the fields and appends the record with the parts of its block, compressed or
// stored.
func (e *Encoder) end(b []byte, compress bool, block []byte, rest ...[]byte) []byte {
	e.hash.Reset()
	e.hash.Write(block)
	n := len(block)
	for _, part := range rest {
		e.hash.Write(part)
		n += len(part)
	}
	e.sum = e.hash.Sum(e.sum[:0])
	e.digestField("WARC-Block-Digest", Digest{e.opt.Digest, e.sum})
	e.fields = endField(strconv.AppendInt(beginField(e.fields, "Content-Length"), int64(n), 10))
	e.fields = endField(e.fields)
	e.parts = append(append(append(e.parts[:0], e.fields, block), rest...), recordEndBytes)
	b = e.member(b, compress && n >= minCompressed, e.parts)
	clear(e.parts)
	return b
}

// recordEnd follows each block.
const recordEnd = "\r\n\r\n"

var recordEndBytes = []byte(recordEnd)

// member appends a gzip member (RFC 1952) with the parts of a record.
func (e *Encoder) member(b []byte, compress bool, parts [][]byte) []byte {
	b = append(b, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff) // no name, no time, system unknown
	sum, n := uint32(0), 0
	for _, part := range parts {
		sum, n = crc32.Update(sum, crc32.IEEETable, part), n+len(part)
	}
	if compress {
		b = e.deflate.Append(b, parts...)
	} else {
		b = appendStored(b, n, parts)
	}
	b = binary.LittleEndian.AppendUint32(b, sum)
	return binary.LittleEndian.AppendUint32(b, uint32(n))
}

// appendStored appends parts of n bytes together as stored blocks of DEFLATE (RFC 1951, section
// 3.2.4).
func appendStored(b []byte, n int, parts [][]byte) []byte {
	const longest = 1<<16 - 1
	b = slices.Grow(b, n+n/1000+64)
	room := 0 // in the block
	for _, part := range parts {
		for len(part) > 0 {
			if room == 0 {
				room = min(n, longest)
				n -= room
				last := byte(0)
				if n == 0 {
					last = 1
				}
				b = append(b, last)
				b = binary.LittleEndian.AppendUint16(b, uint16(room))
				b = binary.LittleEndian.AppendUint16(b, ^uint16(room))
			}
			k := min(len(part), room)
			b = append(b, part[:k]...)
			part, room = part[k:], room-k
		}
	}
	return b
}

// plain are the protocols of most exchanges without TLS.
var plain = []string{"http/1.1"}

// Protocols names the protocols of an exchange as WARC-Protocol has them: that of HTTP by the
// response's start line, then that of TLS, such as "TLS 1.3", or "". The
// result must not be changed.
func Protocols(http, tls string) []string {
	if http == "HTTP/1.1" && tls == "" {
		return plain
	}
	names := []string{strings.ToLower(http)}
	if http == "HTTP/2" {
		names[0] = "h2"
	}
	if version, ok := strings.CutPrefix(tls, "TLS "); ok {
		names = append(names, "tls/"+version)
	}
	return names
}
