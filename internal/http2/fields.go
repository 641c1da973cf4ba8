package http2

import (
	"bytes"
	"cmp"
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
	for len(block) > 0 && isUpdate(block[0]) && err == nil {
		// They go one by one: the decoder takes a second for a late one.
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
