package http2

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// maxFields is the most fields of a head. Each takes memory beside its text.
const maxFields = 2000

// usualFields is a number of fields that most heads do not exceed.
const usualFields = 8

// fieldSize is the size of a field beside its text, in bytes (RFC 9113, section 6.5.2).
const fieldSize = 32

// fields holds the state of HPACK (RFC 7541), and the fields that are arriving.
type fields struct {
	max     int
	encoder *hpack.Encoder
	encoded bytes.Buffer
	decoder *hpack.Decoder
	list    []Field
	size    int  // of the list, as decoded
	over    bool // it is longer than max

	open  uint32 // stream whose fields are arriving; 0: none
	last  bool   // they end the stream
	block []byte
}

func (f *fields) init(limit int) {
	f.max = limit
	f.encoder = hpack.NewEncoder(&f.encoded)
	f.decoder = hpack.NewDecoder(tableSize, f.add)
	f.decoder.SetMaxStringLength(limit)
}

// encode returns the block of a request, which holds until the next.
func (f *fields) encode(request []Field) []byte {
	f.encoded.Reset()
	for _, field := range request {
		_ = f.encoder.WriteField(field) // to memory
	}
	return f.encoded.Bytes()
}

// add takes a field that was decoded.
func (f *fields) add(field Field) {
	if f.size += len(field.Name) + len(field.Value) + fieldSize; f.size > f.max || len(f.list) == maxFields {
		f.over, f.list = true, nil
		f.decoder.SetEmitEnabled(false) // the table is kept up to date
		return
	}
	f.list = append(f.list, field)
}

// decode reads the block that has arrived.
func (f *fields) decode(block []byte) (list []Field, over bool, err error) {
	f.list, f.size, f.over = make([]Field, 0, usualFields), 0, false
	f.decoder.SetEmitEnabled(true)
	for len(block) > 0 && isUpdate(block[0]) && err == nil { // one by one: the decoder takes a second for a late one
		n := fieldLen(block)
		_, err = f.decoder.Write(block[:n])
		err = cmp.Or(err, f.decoder.Close())
		block = block[n:]
	}
	if err == nil && updatesLate(block) {
		err = errLateUpdate
	}
	if err == nil {
		_, err = f.decoder.Write(block)
		err = cmp.Or(err, f.decoder.Close())
	}
	list, f.list = f.list, nil
	return list, f.over, err
}

// headers takes HEADERS.
func (c *Conn) headers(f frame, b []byte) {
	if f.id >= c.next || f.id%2 == 0 {
		c.broken(ProtocolError, "HEADERS on stream %d, which was not opened", f.id)
		return
	}
	b, ok := f.unpad(b)
	if ok && f.has(flagPriority) {
		if ok = len(b) >= 5; ok {
			b = b[5:]
		}
	}
	if !ok {
		c.broken(ProtocolError, "HEADERS shorter than its padding")
		return
	}
	c.fields.last = f.has(flagEndStream)
	if f.has(flagEndHeaders) {
		c.decode(f.id, b)
		return
	}
	c.fields.open = f.id
	c.fields.block = append(c.fields.block, b...)
}

// continuation takes CONTINUATION.
func (c *Conn) continuation(f frame, b []byte) {
	if c.fields.open == 0 {
		c.broken(ProtocolError, "CONTINUATION without HEADERS")
		return
	}
	if c.idle(); c.err != nil {
		return
	}
	if len(c.fields.block)+len(b) > c.fields.max {
		c.fault(f.id, &Error{Code: EnhanceYourCalm, Text: "more than " + strconv.Itoa(c.fields.max) + " bytes of fields", Excess: true})
		return
	}
	c.fields.block = append(c.fields.block, b...)
	if f.has(flagEndHeaders) {
		c.fields.open = 0
		c.decode(f.id, c.fields.block)
		c.fields.block = nil
	}
}

// decode takes the fields of a stream. Those of one that was closed keep the table up to date.
func (c *Conn) decode(id uint32, block []byte) {
	list, over, err := c.fields.decode(block)
	if errors.Is(err, hpack.ErrStringLength) { // the table cannot be kept up to date
		c.fault(id, &Error{Code: EnhanceYourCalm, Text: "a field of more than " + strconv.Itoa(c.fields.max) + " bytes", Excess: true})
		return
	}
	if err != nil {
		c.broken(CompressionError, "fields that cannot be decoded: %v", err)
		return
	}
	s := c.streams[id]
	switch {
	case s == nil:
		c.idle()
	case over:
		s.abort(Cancel, &Error{Code: EnhanceYourCalm, Text: "more than " + strconv.Itoa(c.fields.max) + " bytes or " + strconv.Itoa(maxFields) + " fields in a head", Excess: true})
	case s.headed:
		s.trailer(list, c.fields.last)
	default:
		s.head(list, c.fields.last)
	}
}

// head takes the head of a response, or an interim one.
func (s *Stream) head(list []Field, last bool) {
	status, bad := statusOf(list)
	if bad == nil {
		list = list[1:]
		bad = check(list)
	}
	if bad == nil && status < 200 {
		if status == 101 || last {
			bad = malformed("interim response %d, expected one that a response follows", status)
		} else {
			s.conn.idle()
			if !s.closed {
				s.to.Interim(status, sizeOf(list))
			}
			return
		}
	}
	if bad == nil {
		s.noBody = s.noBody || status == 204 || status == 304
		s.left, bad = lengthOf(list)
	}
	if bad != nil {
		s.abort(ProtocolError, bad)
		return
	}
	s.headed = true
	s.conn.flood.moved()
	s.to.Head(status, list)
	if last && !s.closed {
		s.end(nil)
	}
}

// trailer takes the fields behind a body.
func (s *Stream) trailer(list []Field, last bool) {
	bad := check(list)
	if !last {
		bad = malformed("HEADERS in the body of a response")
	}
	if bad != nil {
		s.abort(ProtocolError, bad)
		return
	}
	s.end(list)
}

func sizeOf(list []Field) (n int) {
	for _, f := range list {
		n += len(f.Name) + len(f.Value)
	}
	return n
}

// statusOf returns the status of a response, whose first field it is (RFC 9113, section 8.3).
func statusOf(list []Field) (int, *Error) {
	if len(list) == 0 || list[0].Name != ":status" {
		return 0, malformed("a response that does not begin with its status")
	}
	v := list[0].Value
	if len(v) != 3 || v[0] < '1' || v[0] > '9' || !isDigit(v[1]) || !isDigit(v[2]) {
		return 0, malformed("status %.16q, expected three digits", v)
	}
	return int(v[0]-'0')*100 + int(v[1]-'0')*10 + int(v[2]-'0'), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// check returns what is wrong with fields behind those of the protocol (RFC 9113, section 8.2).
func check(list []Field) *Error {
	for _, f := range list {
		switch {
		case f.Name == "" || f.Name[0] == ':':
			return malformed("field %.32q, expected none of the protocol", f.Name)
		case !isName(f.Name):
			return malformed("field %.32q, expected a name in lower case", f.Name)
		case strings.ContainsAny(f.Value, "\r\n\x00"):
			return malformed("field %s with a line break in its value", f.Name)
		case f.Value != strings.Trim(f.Value, " \t"):
			return malformed("field %s with a blank at an end of its value", f.Name)
		}
		switch f.Name {
		case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
			return malformed("field %s, which belongs to HTTP/1", f.Name)
		}
	}
	return nil
}

// isName reports whether a name is a token in lower case.
func isName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' || c == ':' {
			return false
		}
	}
	return true
}

// lengthOf returns the length of a body; -1: the head does not say it.
func lengthOf(list []Field) (int64, *Error) {
	length := int64(-1)
	for _, f := range list {
		if f.Name != "content-length" {
			continue
		}
		n, err := strconv.ParseUint(f.Value, 10, 63)
		if err != nil || length >= 0 && int64(n) != length {
			return 0, malformed("content-length %.32q", f.Value)
		}
		length = int64(n)
	}
	return length, nil
}
