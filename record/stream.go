package record

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Format is the notation of records in a stream.
type Format string

// Formats.
const (
	FormatJSONL Format = "jsonl" // one Record as JSON a line
	FormatURLs  Format = "urls"  // URLs with a status of 2xx, or unchanged
	FormatCSV   Format = "csv"   // one Record a line, after a header line (RFC 4180)
)

// ParseFormat reads the name of a format; the empty name is FormatJSONL.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case "":
		return FormatJSONL, nil
	case FormatJSONL, FormatURLs, FormatCSV:
		return f, nil
	}
	return "", fmt.Errorf("format %.64q, expected jsonl, urls or csv", name)
}

// CheckFields returns an error if there is no such column of CSV, or one is named twice.
func CheckFields(names []string) error {
	for i, name := range names {
		switch {
		case !slices.Contains(csvHeader, name):
			return fmt.Errorf("unknown field %.64q, expected one of %s", name, strings.Join(csvHeader, ", "))
		case slices.Contains(names[:i], name):
			return fmt.Errorf("field %s is named twice", name)
		}
	}
	return nil
}

// Form is a format with its columns.
type Form struct {
	Format Format
	Fields []string // the columns of CSV, as CheckFields accepts them; empty: all
}

// Stream encodes records. Owner: one loop.
type Stream struct {
	format Format
	batch  bytes.Buffer
	csv    *csv.Writer // into batch
	fields []int       // the columns of CSV; nil: all
}

// NewStream returns an empty stream; first asks for the header line of CSV, which the later
// runs of a job leave out.
func NewStream(f Form, first bool) *Stream {
	s := &Stream{format: f.Format}
	if f.Format != FormatCSV {
		return s
	}
	s.csv = csv.NewWriter(&s.batch)
	for _, name := range f.Fields {
		s.fields = append(s.fields, slices.Index(csvHeader, name))
	}
	if first {
		_ = s.csv.Write(s.chosen(csvHeader)) // into memory
	}
	return s
}

// chosen returns the cells of a row that are asked for.
func (s *Stream) chosen(row []string) []string {
	if s.fields == nil {
		return row
	}
	cells := make([]string, len(s.fields))
	for i, at := range s.fields {
		cells[i] = row[at]
	}
	return cells
}

// Add appends a record, whose line of JSON the caller has.
func (s *Stream) Add(r *Record, line []byte) {
	switch {
	case s.format == FormatJSONL:
		s.batch.Write(line)
	case s.format == FormatCSV:
		row := s.chosen(r.csv())
		for i, cell := range row {
			row[i] = AsText(cell)
		}
		_ = s.csv.Write(row)
	case r.IsFetched():
		s.batch.WriteString(r.URL)
		s.batch.WriteByte('\n')
	}
}

// Header returns the line that a stream of this form begins with; nil: none.
func Header(f Form) []byte {
	if f.Format != FormatCSV {
		return nil
	}
	return NewStream(f, true).Take()
}

// AsText keeps spreadsheets from reading a cell as a formula, which could send other cells to the
// site that wrote it: text that begins as formulas do gets an apostrophe in front, as OWASP
// recommends. So does text that begins with an apostrophe: without the first one, every cell is
// what it was.
func AsText(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); strings.ContainsRune("=+-@'\t\r\n\x00＝＋－＠", first) {
		return "'" + cell
	}
	return cell
}

// Len returns the size of what was added since the last Take, in bytes, but for CSV that is
// still buffered.
func (s *Stream) Len() int { return s.batch.Len() }

// Take returns what was added since the last call; the caller owns it.
func (s *Stream) Take() []byte {
	if s.csv != nil {
		s.csv.Flush()
	}
	batch := bytes.Clone(s.batch.Bytes())
	s.batch.Reset()
	return batch
}

// Columns returns the names of the columns of CSV, in order: every field of a Record.
func Columns() []string { return slices.Clone(csvHeader) }

var csvHeader = []string{
	"url", "status", "error_kind", "error", "redirect", "depth", "from", "content_type", "charset", "encoding", "bytes", "body_bytes",
	"links", "new_links", "title", "sitemap", "robots", "tries", "ip", "started", "dns_ms", "connect_ms", "tls_ms", "ttfb_ms", "total_ms", "sha256",
	"text_hash", "simhash", "duplicate_of", "near_duplicate_of", "pruned",
	"visit", "change", "unchanged_by", "changed_at",
	"sniffed_type", "cut",
	"warc_file", "warc_offset",
	"role", "method",
	"protocol", "tls", "needs_scripts",
	"description", "h1", "canonical", "words", "indexability", "headers", "rendered",
}

func (r *Record) csv() []string {
	status := ""
	if r.Status != 0 {
		status = strconv.Itoa(r.Status)
	}
	visit, changed, offset, words := "", "", "", ""
	if r.Words != 0 {
		words = strconv.Itoa(r.Words)
	}
	if r.WARCFile != "" {
		offset = strconv.FormatInt(r.WARCOffset, 10)
	}
	if r.Visit != 0 {
		visit = strconv.Itoa(r.Visit)
	}
	if !r.ChangedAt.IsZero() {
		changed = r.ChangedAt.Format(time.RFC3339Nano)
	}
	ms := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return []string{
		r.URL, status, r.ErrorKind, r.Error, r.Redirect, strconv.Itoa(r.Depth), r.From, r.ContentType, r.Charset, r.Encoding,
		strconv.FormatInt(r.Bytes, 10), strconv.Itoa(r.BodyBytes), strconv.Itoa(r.Links), strconv.Itoa(r.NewLinks), r.Title,
		r.Sitemap, strings.Join(r.Robots, ", "), strconv.Itoa(r.Tries), r.IP, r.Started.Format(time.RFC3339Nano), ms(r.DNSMS), ms(r.ConnectMS), ms(r.TLSMS), ms(r.TTFBMS), ms(r.TotalMS), r.SHA256,
		r.TextHash, r.Simhash, r.DuplicateOf, r.NearDuplicateOf, strconv.FormatBool(r.Pruned),
		visit, string(r.Change), string(r.UnchangedBy), changed,
		r.SniffedType, r.Cut,
		r.WARCFile, offset,
		string(r.Role), r.Method,
		r.Protocol, r.TLS, r.NeedsScripts,
		r.Description, r.H1, r.Canonical, words, string(r.Indexability), r.Headers.JSON(), r.Rendered.JSON(),
	}
}
