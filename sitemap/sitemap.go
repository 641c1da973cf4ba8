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

// A Kind is what an entry leads to.
type Kind uint8

// The kinds.
const (
	Page      Kind = iota
	Alternate      // the page in another language or form, which a page's entry tells of
	Sitemap        // of an index
)

var kindNames = [...]string{"page", "alternate", "sitemap"}

// String returns the name of the kind, such as "page".
func (k Kind) String() string { return kindNames[k] }

// A Type is the format of a sitemap.
type Type uint8

// The types.
const (
	Unknown Type = iota // no sitemap
	URLSet
	Index
	Text
	RSS
	Atom
)

var typeNames = [...]string{"unknown", "urlset", "index", "text", "rss", "atom"}

// String returns the name of the type, such as "urlset".
func (t Type) String() string { return typeNames[t] }

// DefaultPriority is that of an entry which does not say one.
const DefaultPriority = 0.5

// An Entry is a URL that a sitemap tells of. Its strings can be kept.
type Entry struct {
	URL      weburl.URL // http or https
	Kind     Kind
	LastMod  string    // when it was last changed, as written; "" if it is not said
	Modified time.Time // LastMod in UTC; zero if it is not said, or is no date
	Priority float32   // 0 to 1: how much it matters, beside the site's other URLs
}

// A Document is what is read.
type Document struct {
	Base        weburl.URL // its own URL; zero: only absolute URLs are entries
	ContentType string     // as the response has it; only the charset counts
	Body        []byte     // it is not kept, and not changed
	Cut         bool       // the body is the beginning of a longer one
}

// Options are the limits of reading. The zero value of each is its default; less is none.
type Options struct {
	MaxSize    int // bytes of text, gzip undone; default 50 MiB
	MaxEntries int // default 500,000
	MaxURL     int // bytes of a URL, as written; longer ones are skipped; default 16 KiB
}

func (o Options) withDefaults() Options {
	o.MaxSize = max(0, cmp.Or(o.MaxSize, 50<<20))
	o.MaxEntries = max(0, cmp.Or(o.MaxEntries, 500_000))
	o.MaxURL = max(0, cmp.Or(o.MaxURL, 16<<10))
	return o
}

// What [Result].Err wraps.
var (
	// ErrFormat is returned for a body that is no sitemap.
	ErrFormat = errors.New("no sitemap")
	// ErrBroken is returned for a sitemap of which entries are lost, or may be: it ends too early, or
	// is so ill formed that an entry has no URL, or most of what it has is none.
	ErrBroken = errors.New("broken")
	// ErrLimit is returned for a sitemap that was read up to a limit.
	ErrLimit = errors.New("over the limit")
)

// A Result is what became of a sitemap.
type Result struct {
	Type    Type
	Entries int   // yielded
	Skipped int   // what is in the place of a URL, and is none of http or https, or too long
	Read    int   // bytes of the text that were read, of which offsets in errors are
	Err     error // the first thing by which entries are lost, and what has ended the reading; nil if nothing and the end
}

// Read yields the entries of a sitemap in the order in which they stand there, until yield
// returns false. The Result is what was read so far.
func Read(d Document, o Options, yield func(Entry) bool) Result {
	o = o.withDefaults()
	r := reader{options: o, yield: yield, urls: new(weburl.Resolver), room: 4 * o.MaxSize}
	r.urls.Reset(d.Base)
	body, err := r.unpack(d.Body)
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
	case err != nil && !r.stopped:
		r.Err = err // of which whatever is broken comes, most often
	case r.Err == nil && r.Skipped > r.Entries:
		r.Err = fmt.Errorf("%w: %d of %d are no URLs of use, expected http or https, absolute or with a base, of at most %d bytes", ErrBroken, r.Skipped, r.Skipped+r.Entries, r.options.MaxURL)
	}
	r.Read = r.xml.Pos
	return r.Result
}

// unpack undoes gzip, if the body is that; twice, as what is gzip is often sent so once more.
func (r *reader) unpack(body []byte) (text []byte, err error) {
	for range 2 {
		if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) || err != nil {
			break
		}
		body, err = new(inflate.Decoder).Gunzip(nil, body, r.options.MaxSize)
		switch {
		case errors.Is(err, inflate.ErrTooLong):
			err = fmt.Errorf("%w of %d bytes", ErrLimit, r.options.MaxSize)
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = fmt.Errorf("%w: gzip ends too early", ErrBroken)
		case err != nil:
			err = fmt.Errorf("%w: gzip: %w", ErrBroken, err)
		}
	}
	return body, err
}

// looksLikeXML reports whether a body begins with a tag, in whatever encoding, or has
// one that matters not far from its beginning: a page that prints an error first.
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
	Result
	xml     markup.XML
	options Options
	yield   func(Entry) bool
	stopped bool // nothing more is to be read
	cut     bool // the body goes on beyond what is there
	room    int  // bytes that URLs may still have

	urls     *weburl.Resolver
	lastText string    // LastMod of the entry before: those of a sitemap are often the same
	lastTime time.Time // its Modified

	elements
}

// emit yields what has a URL's place in an entry.
func (r *reader) emit(e Entry, url, lastMod []byte) {
	if r.stopped {
		return
	}
	if len(url) > r.options.MaxURL {
		r.Skipped++
		return
	}
	u, err := r.urls.Resolve(url)
	if err != nil || !u.IsHTTP() {
		r.Skipped++
		return
	}
	r.room -= len(u.String())
	switch {
	case r.Entries == r.options.MaxEntries:
		r.stop(fmt.Errorf("%w of %d entries", ErrLimit, r.options.MaxEntries))
		return
	case r.room < 0:
		r.stop(fmt.Errorf("%w of %d bytes of URLs", ErrLimit, 4*r.options.MaxSize))
		return
	}
	if string(lastMod) != r.lastText {
		r.lastText = string(lastMod)
		r.lastTime = parseTime(r.lastText)
	}
	e.URL, e.LastMod, e.Modified = u, r.lastText, r.lastTime
	r.Entries++
	r.stopped = !r.yield(e)
}

// stop ends the reading, for a reason.
func (r *reader) stop(err error) {
	r.stopped = true
	if r.Err != nil {
		err = fmt.Errorf("%w; %w", r.Err, err)
	}
	r.Err = err
}

// broken notes by what entries are lost at a place in the text, if it is the first.
func (r *reader) broken(at int, format string, args ...any) {
	if r.Err == nil {
		line := bytes.Count(r.xml.Body[:at], []byte("\n")) + 1
		r.Err = fmt.Errorf("%w: line %d: %s", ErrBroken, line, fmt.Sprintf(format, args...))
	}
}
