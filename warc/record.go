package warc

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Type is that of a record. Readers keep types that they do not know (ISO 28500, section 6.1).
type Type string

// The types of WARC 1.1.
const (
	Warcinfo     Type = "warcinfo"
	Response     Type = "response"
	Request      Type = "request"
	Revisit      Type = "revisit"
	Metadata     Type = "metadata"
	Resource     Type = "resource"
	Conversion   Type = "conversion"
	Continuation Type = "continuation"
)

// Profiles of revisit records (ISO 28500, annex A).
const (
	SamePayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	NotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// Content-Types of blocks.
const (
	typeRequest  = "application/http;msgtype=request"
	typeResponse = "application/http;msgtype=response"
	TypeFields   = "application/warc-fields"
)

// Reasons of WARC-Truncated: why a block is not whole.
const (
	CutLength     = "length"
	CutTime       = "time"
	CutDisconnect = "disconnect"

	CutUnspecified = "unspecified"
)

// Field is one named field of a record or of an HTTP message.
type Field struct{ Name, Value string }

// Header is the fields of a record or of an HTTP message, in their order.
type Header []Field

// Get returns the value of the first field with a name, in any case of letters, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// all returns the values of all fields with a name.
func (h Header) all(name string) (values []string) {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// list returns the values of all fields with a name, as one list.
func (h Header) list(name string) string { return strings.Join(h.all(name), ",") }

// ID identifies a record: 16 bytes, written as a UUID of version 4.
type ID [16]byte

// NewID makes an ID of 16 random bytes.
func NewID(random [16]byte) ID {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	return ID(random)
}

// IsZero reports whether there is no ID.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the ID as records have it: <urn:uuid:…>.
func (id ID) String() string { return string(id.append(nil)) }

func (id ID) append(b []byte) []byte {
	b = append(b, "<urn:uuid:"...)
	for i, group := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, group)
	}
	return append(b, '>')
}

// Record is a record as it was read. Its block is read from it; the next call of [Reader.Next]
// ends that.
type Record struct {
	Version string // as in the file: "WARC/1.1", "ARC/1"
	Header  Header // those of ARC have the names of WARC

	Offset int64 // of the member that holds the record, or of the record if nothing is compressed
	Packed bool  // it is in a gzip member
	Shared bool  // the member holds several records: this one cannot be read from Offset alone
	Length int64 // of the block, as its header says

	block io.Reader
}

// Type returns the record's type.
func (r *Record) Type() Type { return Type(strings.ToLower(r.Header.Get("WARC-Type"))) }

// ID returns the record's identifier as it is written, with its brackets.
func (r *Record) ID() string { return r.Header.Get("WARC-Record-ID") }

// URL returns what the record is about, or "". Some writers put it into angle brackets. Bytes that
// are not UTF-8 are percent-encoded.
func (r *Record) URL() string {
	url := bare(r.Header.Get("WARC-Target-URI"))
	if utf8.ValidString(url) {
		return url
	}
	var b strings.Builder
	for i, c := range url {
		if c == utf8.RuneError && !strings.HasPrefix(url[i:], string(utf8.RuneError)) {
			fmt.Fprintf(&b, "%%%02X", url[i])
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// IsNotModified reports whether a revisit says that the server answered 304, by the profile of any
// version of the standard.
func (r *Record) IsNotModified() bool {
	return strings.HasSuffix(bare(r.Header.Get("WARC-Profile")), "/revisit/server-not-modified")
}

// Date returns when the record was made, or the zero time if its date cannot be read.
func (r *Record) Date() time.Time {
	at, _ := ParseDate(r.Header.Get("WARC-Date"))
	return at
}

// ParseDate reads the date of a field: a year, a month, a day, or a time up to the nanosecond (ISO
// 28500, section 5.4, which asks for UTC: other offsets are read all the same). It returns false if
// it is none.
func ParseDate(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// Read reads the block. Its end is io.EOF; if the file ends before, io.ErrUnexpectedEOF.
func (r *Record) Read(p []byte) (int, error) { return r.block.Read(p) }

func bare(uri string) string {
	if strings.HasPrefix(uri, "<") && strings.HasSuffix(uri, ">") {
		return uri[1 : len(uri)-1]
	}
	return uri
}
