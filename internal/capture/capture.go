// Package capture makes archive records of exchanges: the type and identifier of each, and the
// reference to an earlier capture with the same payload.
//
// A capture is encoded where it was fetched, by any fetch loop. The coordinator places it: it
// appends the records to a file, in the order of its batches, and only then may others refer to it
// ([Archive.Placed]). So what a revisit refers to always precedes it, and a crash takes both or
// the revisit alone.
package capture

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/warc"
)

// Capture is an exchange as it goes into the archive.
type Capture struct {
	Records []byte     // members: of the response or revisit, then of the request
	Index   warc.Index // of the first, but for the name of the file; Offset is 0
	Past    frontier.Capture

	key   [16]byte
	whole bool // a response with its whole payload, long enough to refer to
}

// MinPayload is the least length of a payload for a revisit, in bytes: the record of a revisit is
// not much shorter than that of a short response.
const MinPayload = 1 << 10

// Archive makes the captures of a job. Any goroutine may use it.
type Archive struct {
	Metadata bool     // there are notes: see Note
	Secret   []string // names of fields that are left out of requests: see Public

	// Holds reports whether a field of a request has a secret in it; nil: none has.
	Holds func(field string) bool

	salt     Salt
	encoders sync.Pool // *warc.Encoder
	captures sync.Pool // *Capture, with room for records

	mu struct {
		sync.Mutex
		young, old map[[16]byte]original // by payload
		size, was  int                   // of young, and of old, in bytes
	}
	most int // bytes of each map
}

// Salt makes the identifiers of a job's records differ from those of all others.
type Salt [16]byte

type original struct {
	url string
	at  int64 // Unix time in microseconds
}

// originalBytes is the memory of an original without its URL.
const originalBytes = 100

// New returns an archive that remembers originals in a number of bytes.
func New(salt Salt, digest warc.Algorithm, size int) *Archive {
	a := &Archive{salt: salt, most: size / 2}
	a.encoders.New = func() any { return warc.NewEncoder(warc.Options{Digest: digest}) }
	a.captures.New = func() any { return new(Capture) }
	return a
}

// ID returns the identifier of the response record of a URL that was requested at a time. It is
// the same whenever it is asked for, so that a later run can refer to it.
func (a *Archive) ID(url string, at time.Time) warc.ID {
	var short [256]byte // URLs are hardly ever longer
	text := binary.BigEndian.AppendUint64(append(short[:0], a.salt[:]...), uint64(at.UnixMicro()))
	sum := sha256.Sum256(append(text, url...))
	return warc.NewID([16]byte(sum[:16]))
}

// overhead is more than the fields of the two records take, in bytes.
const overhead = 2 << 10

// Post is the body that the request of an exchange has sent.
type Post struct {
	Identity string // of the URL: see weburl.URL.Identity
	Type     string
	Body     []byte
}

// EncodePost is Encode for a POST. Its response is whole: a revisit is found by a URL, which others
// have too.
func (a *Archive) EncodePost(x *warc.Exchange, p Post, mime string) *Capture {
	e := a.encoders.Get().(*warc.Encoder)
	defer a.encoders.Put(e)
	x.ID = a.ID(p.Identity, x.Date)
	x.Request = append(x.Request, p.Body...)
	c := a.captures.Get().(*Capture)
	var made warc.Capture
	c.Records, made = e.Exchange(c.Records, x)
	c.Index = indexOf(x, mime, &made)
	c.Index.Posted(p.Type, p.Body)
	return c
}

// Encode makes the capture of an exchange, whose parts are known. Its date must be whole
// microseconds, as the records have it. past is the last capture of the URL, of an earlier visit;
// mime is the media type of the response.
func (a *Archive) Encode(x *warc.Exchange, past frontier.Capture, mime string) *Capture {
	e := a.encoders.Get().(*warc.Encoder)
	defer a.encoders.Put(e)
	c := a.captures.Get().(*Capture)
	x.ID = a.ID(x.URL, x.Date)
	x.Find = func(payload warc.Digest, length int) *warc.Original {
		switch {
		case x.Parts.Status == 304 && !past.At.IsZero():
			return a.refer(x.URL, past.At)
		case payload.Sum == nil || length < MinPayload:
			return nil
		}
		copy(c.key[:], payload.Sum)
		if past.Payload == c.key {
			return a.refer(x.URL, past.At)
		}
		if o, ok := a.find(c.key); ok {
			return a.refer(o.url, time.UnixMicro(o.at))
		}
		c.whole = true
		return nil
	}
	room := len(x.Response)
	for _, piece := range x.Rest {
		room += len(piece)
	}
	if !x.Parts.Coded {
		room /= 3 // compressed, hardly any page is longer
	}
	if room += len(x.Request) + overhead; cap(c.Records) < room {
		c.Records = make([]byte, 0, room)
	}
	var made warc.Capture
	c.Records, made = e.Exchange(c.Records, x)
	c.Index = indexOf(x, mime, &made)
	switch {
	case made.Type == warc.Revisit:
		c.Index.MIME = "warc/revisit"
		if x.Original.URL == x.URL { // still there, as it was
			c.Past = past
		}
	case made.Payload.Sum != nil:
		c.Past.At = x.Date
		copy(c.Past.Payload[:], made.Payload.Sum)
	}
	return c
}

// indexOf returns the line of an exchange.
func indexOf(x *warc.Exchange, mime string, made *warc.Capture) warc.Index {
	line := warc.Index{Key: warc.SURT(x.URL), Date: x.Date, URL: x.URL, MIME: mime, Status: made.Status, Length: int64(made.Length)}
	if made.Payload.Sum != nil {
		line.Digest = made.Payload.String()
	}
	return line
}

// Failure makes a metadata record of a URL without a response.
func (a *Archive) Failure(r *record.Record) *Capture {
	return a.Note(r.URL, r.Started, warc.Header{
		{Name: "error", Value: r.ErrorKind}, {Name: "message", Value: r.Error}, {Name: "tries", Value: strconv.Itoa(r.Tries)},
	})
}

// Note makes a metadata record about a URL. It is in no index.
func (a *Archive) Note(url string, at time.Time, fields warc.Header) *Capture {
	e := a.encoders.Get().(*warc.Encoder)
	defer a.encoders.Put(e)
	url, _, _ = strings.Cut(url, "#") // of a POST
	records, _ := e.Note(nil, &warc.Note{Type: warc.Metadata, URL: url, Date: at, ContentType: warc.TypeFields, Block: warc.Fields(fields)})
	return &Capture{Records: records}
}

// Rendered makes the record of a rendered document, or of a picture of one, of a type: a conversion
// of the response to a URL that was requested at a time. It is in no index: see
// archive.Archive.Rendered.
func (a *Archive) Rendered(url string, requested, at time.Time, contentType string, block []byte) *Capture {
	e := a.encoders.Get().(*warc.Encoder)
	defer a.encoders.Put(e)
	records, _ := e.Note(nil, &warc.Note{
		Type: warc.Conversion, URL: url, Date: at, RefersTo: a.ID(url, requested), ContentType: contentType, Block: block,
	})
	return &Capture{Records: records}
}

func (a *Archive) refer(url string, at time.Time) *warc.Original {
	return &warc.Original{ID: a.ID(url, at), URL: url, Date: at}
}

// keptBuffer is the longest buffer that is used again, in bytes.
const keptBuffer = 256 << 10

// Placed lets later captures refer to one that has been placed, and takes it back: others use its
// memory.
func (a *Archive) Placed(c *Capture) {
	if c.whole {
		a.remember(c)
	}
	records := c.Records[:0]
	if cap(records) > keptBuffer {
		records = nil
	}
	*c = Capture{Records: records}
	a.captures.Put(c)
}

// remember lets later captures refer to one.
func (a *Archive) remember(c *Capture) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.size >= a.most || a.mu.young == nil {
		a.mu.old, a.mu.young, a.mu.was, a.mu.size = a.mu.young, make(map[[16]byte]original), a.mu.size, 0
	}
	a.mu.size += originalBytes + len(c.Index.URL)
	a.mu.young[c.key] = original{c.Index.URL, c.Index.Date.UnixMicro()}
}

// Bytes returns the memory of the captures that later ones may refer to.
func (a *Archive) Bytes() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.size + a.mu.was
}

func (a *Archive) find(key [16]byte) (o original, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok = a.mu.young[key]; !ok {
		o, ok = a.mu.old[key]
	}
	return o, ok
}

// secret are the fields of a request that are not archived, besides the user's own.
var secret = []string{"Authorization", "Cookie", "Proxy-Authorization"}

// plain are names of fields that are no script's: what is in them and in a session, such as the
// name of a site, is no secret. Without them an archive has no request.
var plain = []string{
	"Host", "User-Agent", "Accept", "Accept-Encoding", "Accept-Language", "Referer", "Origin",
	"Connection", "Content-Type", "Content-Length",
}

// Public appends a request without what may be secret, which a job never has on the disk:
// credentials, cookies, the fields of Secret, and those with a secret in them.
func (a *Archive) Public(b []byte, request string) []byte {
	first := true // the line with the URL, which the record has anyway
	for line := range strings.Lines(request) {
		if !named(secret, line) && !named(a.Secret, line) && (first || a.Holds == nil || named(plain, line) || !a.Holds(line)) {
			b = append(b, line...)
		}
		first = false
	}
	return b
}

// named reports whether a line is a field with one of some names.
func named(names []string, line string) bool {
	for _, name := range names {
		if n := len(name); len(line) > n && line[n] == ':' && strings.EqualFold(name, line[:n]) {
			return true
		}
	}
	return false
}
