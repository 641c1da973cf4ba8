package diff

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// Source names a side of a comparison.
type Source struct {
	Path  string // a job, or a WACZ, WARC or ARC file
	Visit int    // of a job: its pages as they were after that visit; 0: after the last one
}

// Visits returns the number of visits that a job has had.
func Visits(ctx context.Context, dir string) (last int, err error) {
	for l, err := range results.Lines(ctx, dir, results.Pages, nil) {
		if err != nil {
			return 0, err
		}
		last = max(last, int(l.Visit()))
	}
	return last, nil
}

// page is a URL of a side.
type page struct {
	record record.Record
	before *record.Record // at the visit before; nil: it is not known
	print  uint64         // the same of two pages: they differ in header fields at most
}

// side is an open side.
type side struct {
	Side
	of      Source
	job     bool
	archive *archive.Archive // of what is no job
	heads   archive.Heads    // of the same
	bodies  *results.Bodies  // of a job
	sorted  *extsort.Sorter  // lines: see lineOf
	wants   func(url string) bool
}

// openSide reads the list of pages of a source. Close it.
func openSide(ctx context.Context, of Source, temp string, wants func(url string) bool) (*side, error) {
	s := &side{of: of, sorted: extsort.New(temp), wants: wants}
	s.Path = of.Path
	if err := s.open(ctx); err != nil {
		s.close()
		return nil, fmt.Errorf("%s: %w", of.Path, err)
	}
	return s, nil
}

func (s *side) open(ctx context.Context) error {
	info, err := os.Stat(s.of.Path)
	if err != nil {
		return reason(err)
	}
	if s.job = info.IsDir(); !s.job {
		if s.archive, err = archive.Open(s.of.Path); err != nil {
			return err
		}
		s.Damage = len(s.archive.Damage)
		return s.addCaptures(ctx)
	}
	if s.bodies, err = results.OpenBodies(s.of.Path); err != nil {
		return err
	}
	s.Brief = !s.bodies.Any()
	return s.addRecords(ctx)
}

// reason is an error of the file system without its path.
func reason(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

func (s *side) close() {
	s.sorted.Close()
	if s.bodies != nil {
		s.bodies.Close()
	}
	if s.archive != nil {
		s.heads.Close()
		s.archive.Close()
	}
}

// addRecords adds the records of a job, up to those of its visit.
func (s *side) addRecords(ctx context.Context) error {
	visit, latest := 1, true
	for l, err := range results.Lines(ctx, s.of.Path, results.Pages, nil) {
		if err != nil {
			return err
		}
		at := int(l.Visit())
		if s.of.Visit != 0 && at > s.of.Visit {
			latest = false
			continue
		}
		visit = max(visit, at)
		var r record.Record
		if err := l.Into(&r); err != nil {
			return err
		}
		if r.Role != "" || r.Method == "POST" {
			continue
		}
		if at == cmp.Or(s.of.Visit, visit) {
			s.note(&r)
		}
		text := l.Bytes()
		if len(text) > extsort.MaxLine/2 {
			r.From, r.Error = "", r.Error[:min(len(r.Error), MaxText)]
			text = r.Line()
		}
		if err := s.add(&r, at, l.N, text); err != nil {
			return err
		}
	}
	s.Visit = visit
	if latest {
		s.Left = leftOf(ctx, s.of.Path)
	}
	return nil
}

// leftOf returns the number of URLs that a crawl has not come to, or has left to its limits; 0 for
// results without a state.
func leftOf(ctx context.Context, dir string) int {
	job, err := weft.OpenJob(ctx, dir)
	if err != nil {
		return 0
	}
	defer job.Close()
	status, err := job.Status(ctx)
	if err != nil {
		return 0
	}
	return status.Pending + status.InFlight + status.OverLimit
}

// note takes the time of a response in.
func (s *side) note(r *record.Record) {
	if s.From.IsZero() || r.Started.Before(s.From) {
		s.From = r.Started.UTC()
	}
	if r.Started.After(s.To) {
		s.To = r.Started.UTC()
	}
}

// addCaptures adds the captures of an archive.
func (s *side) addCaptures(ctx context.Context) error {
	for c, err := range s.archive.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		u, bad := weburl.Parse(c.URL)
		if bad != nil || !u.IsHTTP() || c.Method != "" && c.Method != "GET" || c.Filename == "" {
			continue
		}
		r := record.Record{URL: u.Canonical().String(), Status: c.Status, ContentType: c.MIME, Started: c.Date, WARCFile: c.Filename, WARCOffset: c.Offset, From: c.URL}
		if c.MIME == "warc/revisit" {
			r.ContentType = ""
		}
		if c.Status == 200 {
			r.SHA256 = c.Digest
		}
		s.note(&r)
		if err := s.add(&r, 1, uint64(c.Date.UnixNano()), r.Line()); err != nil {
			return err
		}
	}
	return nil
}

// add adds a line of a URL: host, URL, visit, number, print and the record. The last line of a URL
// counts.
func (s *side) add(r *record.Record, visit int, n uint64, text []byte) error {
	if len(r.URL) > MaxText || isLeftOut(r) || !s.wants(r.URL) {
		return nil // longer than a crawl follows, no page, or not asked for
	}
	line := make([]byte, 0, len(text)+2*len(r.URL)+64)
	line = append(append(line, hostOf(r.URL)...), 0)
	line = append(append(line, r.URL...), 0)
	line = binary.BigEndian.AppendUint32(line, uint32(visit))
	line = binary.BigEndian.AppendUint64(line, n)
	line = binary.BigEndian.AppendUint64(line, printOf(r))
	return s.sorted.Add(append(line, bytes.TrimSuffix(text, []byte("\n"))...))
}

const lineHead = 4 + 8 + 8

// hostOf is the host of a URL, with its port.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// isLeftOut reports whether a URL is no page: part of others, or a list of them.
func isLeftOut(r *record.Record) bool {
	of := record.MediaType(r.Type())
	kind, _, _ := strings.Cut(of, "/")
	return r.Sitemap != "" || kind == "image" || kind == "font" || kind == "audio" || kind == "video" || leftOut[of]
}

var leftOut = setOf(`text/css text/javascript application/javascript application/x-javascript application/wasm
	application/rss+xml application/atom+xml application/feed+json application/xml text/xml application/manifest+json
	application/font-woff application/vnd.ms-fontobject`)

// printOf hashes all that a record says of a page, but for what makes no difference; 0: it says too
// little. Pages with the same are the same.
func printOf(r *record.Record) uint64 {
	if r.SHA256 == "" || r.Error != "" || r.Redirect != "" || r.Status/100 != 2 && r.Status != 304 {
		return 0
	}
	var d xxhash.Digest
	d.Reset()
	for _, part := range []string{r.SHA256, r.Type(), r.Headers.JSON()} {
		d.WriteString(part)
		d.WriteString("\x00")
	}
	if r.Rendered != nil {
		d.WriteString(r.Rendered.SHA256)
	}
	if r.Status != 304 && r.Status != 200 {
		d.WriteString(strconv.Itoa(r.Status))
	}
	return d.Sum64()
}

// entry is a URL of a side before its record is read.
type entry struct {
	host, url string
	print     uint64
	text      []byte // of the record
	before    []byte // of that of the visit before; nil: none
}

// entries yields the URLs of a side, by host and URL.
func (s *side) entries() iter.Seq2[*entry, error] {
	return func(yield func(*entry, error) bool) {
		var last *entry
		visit := uint32(0)
		err := s.sorted.Each(func(line []byte) error {
			host, rest, _ := bytes.Cut(line, []byte{0})
			url, rest, _ := bytes.Cut(rest, []byte{0})
			at := binary.BigEndian.Uint32(rest)
			print := binary.BigEndian.Uint64(rest[12:])
			if last != nil && last.url == string(url) {
				if at > visit {
					last.before = last.text
				}
				last.text, last.print, visit = bytes.Clone(rest[lineHead:]), print, at
				return nil
			}
			if last != nil && !yield(last, nil) {
				return errEnough
			}
			last, visit = &entry{string(host), string(url), print, bytes.Clone(rest[lineHead:]), nil}, at
			return nil
		})
		switch {
		case errors.Is(err, errEnough):
		case err != nil:
			yield(nil, err)
		case last != nil:
			yield(last, nil)
		}
	}
}

var errEnough = errors.New("enough")

// capture reads the part of an entry that finds its response in an archive.
func (e *entry) capture() (*record.Record, error) {
	var c struct {
		From        string          `json:"from"`
		WARCFile    string          `json:"warc_file"`
		WARCOffset  int64           `json:"warc_offset"`
		ContentType string          `json:"content_type"`
		UnchangedBy record.Sameness `json:"unchanged_by"`
	}
	err := json.Unmarshal(e.text, &c)
	return &record.Record{URL: e.url, From: c.From, WARCFile: c.WARCFile, WARCOffset: c.WARCOffset, ContentType: c.ContentType, UnchangedBy: c.UnchangedBy}, err
}

// page reads the record of an entry.
func (e *entry) page() (*page, error) {
	p := &page{print: e.print}
	if err := json.Unmarshal(e.text, &p.record); err != nil {
		return nil, err
	}
	if e.before != nil {
		p.before = new(record.Record)
		if err := json.Unmarshal(e.before, p.before); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// read returns the response of a page.
func (s *side) read(r *record.Record) (*response, error) {
	if s.job {
		all, err := s.bodies.Response(r)
		if errors.Is(err, results.ErrNoBody) {
			return nil, errUnread
		}
		return &response{all.Header, all.Body}, err
	}
	capture, err := s.archive.Read(s.capture(r))
	if err != nil {
		return nil, err
	}
	defer capture.Close()
	all := &response{}
	if m := capture.Message; m != nil {
		all.header = m.Header
		if r.ContentType == "" {
			r.ContentType = m.Header.Get("Content-Type")
		}
	}
	decoded, err := capture.Body()
	if err != nil {
		return nil, err
	}
	if all.body, err = io.ReadAll(io.LimitReader(decoded, results.MaxBody)); len(all.body) > 0 {
		err = nil // what was received counts
	}
	return all, err
}

// capture is that of a record of an archive. From has the URL as it is spelt there.
func (s *side) capture(r *record.Record) archive.Capture {
	return s.archive.At(r.From, r.WARCFile, r.WARCOffset)
}

// header returns the header fields of a page, as they came with it; nil: they are not known.
func (s *side) header(r *record.Record) warc.Header {
	if s.job {
		header, _ := s.bodies.Header(r)
		return header
	}
	header, _ := s.heads.Read(s.capture(r))
	return header
}

// redirect finds where a redirect of an archive leads.
func (s *side) redirect(r *record.Record) {
	if s.job || !record.IsRedirect(r.Status) || r.Redirect != "" {
		return
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return
	}
	location := s.header(r).Get("Location")
	if to, err := u.Resolve(location); err == nil && location != "" && to.IsHTTP() {
		r.Redirect = to.Canonical().String()
	}
}
