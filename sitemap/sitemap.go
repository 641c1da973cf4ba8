package sitemap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/inflate"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
)

// A Kind is the kind of an entry's target.
type Kind uint8

// The kinds.
const (
	Page      Kind = iota
	Alternate      // another language or form of a page, named in the page's entry
	Sitemap        // a sitemap named in an index
)

var kindNames = [...]string{"page", "alternate", "sitemap"}

// String returns the name of the kind, such as "page".
func (k Kind) String() string { return kindNames[k] }

// A Type is the format of a sitemap.
type Type uint8

// The types.
const (
	Unknown Type = iota // not a sitemap
	URLSet
	Index
	Text
	RSS
	Atom
)

var typeNames = [...]string{"unknown", "urlset", "index", "text", "rss", "atom"}

// String returns the name of the type, such as "urlset".
func (t Type) String() string { return typeNames[t] }

// DefaultPriority is the priority of an entry that does not state one.
const DefaultPriority = 0.5

// An Entry is a URL in a sitemap. Its strings may be kept.
type Entry struct {
	URL      weburl.URL // http or https
	Kind     Kind
	LastMod  string    // date of the last change, as written; "" if missing
	Modified time.Time // LastMod in UTC; zero if missing or no date
	Priority float32   // 0 to 1, relative to the other URLs of the site
}

// A Document is a body to read.
type Document struct {
	Base        weburl.URL // its own URL; zero: only absolute URLs are entries
	ContentType string     // of the response; only its charset counts
	Body        []byte     // neither kept nor changed
	Cut         bool       // the body is only the beginning
}

// Options are the limits of reading. Zero means the default, a negative value 0.
type Options struct {
	MaxSize    int // bytes of text, decompressed; default 50 MiB
	MaxEntries int // default 500,000
	MaxURL     int // bytes of a URL as written; longer ones are skipped; default 16 KiB
}

func (o Options) withDefaults() Options {
	o.MaxSize = max(0, cmp.Or(o.MaxSize, 50<<20))
	o.MaxEntries = max(0, cmp.Or(o.MaxEntries, 500_000))
	o.MaxURL = max(0, cmp.Or(o.MaxURL, 16<<10))
	return o
}

// Errors that [Result].Err wraps.
var (
	// ErrFormat means that the body is not a sitemap.
	ErrFormat = errors.New("no sitemap")
	// ErrBroken means that entries are lost or may be: the sitemap ends too early, is so
	// malformed that an entry has no URL, or most of its URLs are unusable.
	ErrBroken = errors.New("broken")
	// ErrLimit means that the sitemap was read up to a limit.
	ErrLimit = errors.New("over the limit")
)

// A Result is the outcome of reading a sitemap.
type Result struct {
	Type    Type
	Entries int   // yielded
	Skipped int   // URLs that are not http or https, or too long, and entries of sitemaps without one
	Read    int   // bytes of the text that were read
	Err     error // the first loss of entries, and the reason for stopping early; nil if there is none
}

// Read yields the entries of a sitemap in order, until yield returns false. The Result describes
// what was read until then.
func Read(d Document, o Options, yield func(Entry) bool) Result {
	o = o.withDefaults()
	r := reader{out: output{options: o, yield: yield, room: 4 * o.MaxSize}}
	r.out.urls.Reset(d.Base)
	body, err := unpack(d.Body, o.MaxSize)
	if len(body) > o.MaxSize {
		body, err = body[:o.MaxSize], fmt.Errorf("%w of %d bytes", ErrLimit, o.MaxSize)
	}
	if err == nil && d.Cut {
		err = fmt.Errorf("%w: the body is cut", ErrBroken)
	}
	r.cut = err != nil
	_, parameters, _ := strings.Cut(d.ContentType, ";")
	if looksLikeXML(body) {
		r.xml.Body, _ = charset.UTF8("application/xml;"+parameters, body)
		r.readXML()
	} else {
		r.xml.Body, _ = charset.UTF8("text/plain;"+parameters, body)
		r.readText()
	}
	switch {
	case err != nil && !r.out.stopped:
		r.out.Err = err // most often the cause of whatever is broken
	case r.out.Err == nil && r.out.Skipped > r.out.Entries:
		r.out.Err = fmt.Errorf("%w: %d of %d are no URLs of use, expected http or https, absolute or with a base, of at most %d bytes", ErrBroken,
			r.out.Skipped, r.out.Skipped+r.out.Entries, o.MaxURL)
	}
	r.out.Read = r.xml.Pos
	return r.out.Result
}

// unpack decompresses gzip to at most this many bytes, also twice, since files that are gzip are
// often sent gzipped again.
func unpack(body []byte, most int) (text []byte, err error) {
	for range 2 {
		if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) || err != nil {
			break
		}
		body, err = new(inflate.Decoder).Gunzip(nil, body, most)
		switch {
		case errors.Is(err, inflate.ErrTooLong):
			err = fmt.Errorf("%w of %d bytes", ErrLimit, most)
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = fmt.Errorf("%w: gzip ends too early", ErrBroken)
		case err != nil:
			err = fmt.Errorf("%w: gzip: %w", ErrBroken, err)
		}
	}
	return body, err
}

// looksLikeXML reports whether a body begins with a tag, in any encoding, or has a known one near
// its beginning: some scripts print an error first.
func looksLikeXML(body []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(body, "\xef\xbb\xbf\xfe\xff\x00 \t\r\n\f"), []byte("<")) {
		return true
	}
	head := body[:min(len(body), 1<<10)]
	for _, tag := range [...]string{"<?xml", "<urlset", "<sitemapindex", "<rss", "<feed"} {
		if bytes.Contains(head, []byte(tag)) {
			return true
		}
	}
	return false
}

// A reader reads one sitemap.
type reader struct {
	out output
	xml markup.XML
	cut bool // the body is only the beginning
	elements
}
