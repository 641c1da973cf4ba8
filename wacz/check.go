package wacz

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/warc"
)

// Fault is something wrong in a package.
type Fault struct {
	Entry  string // "": the package as a whole
	Offset int64  // in the entry, not compressed, in bytes; -1: all of it
	Err    error
}

func (f Fault) Error() string {
	switch {
	case f.Entry == "":
		return f.Err.Error()
	case f.Offset < 0:
		return fmt.Sprintf("%s: %v", f.Entry, f.Err)
	}
	return fmt.Sprintf("%s: offset %d: %v", f.Entry, f.Offset, f.Err)
}

// Checked counts the parts of a package.
type Checked struct{ Archives, Captures, Pages int }

// Check checks a package: its structure, the digests and lengths of its resources, that archives
// are stored as they are, that each line of an index leads to a record of its URL, and that pages
// have a capture. The error is that of a reader, not of the package.
func Check(file io.ReaderAt, size int64, report func(Fault)) (Checked, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		if errors.Is(err, zip.ErrFormat) {
			err = errors.New("no ZIP file")
		}
		report(Fault{Err: err})
		return Checked{}, nil
	}
	c := &checker{file: file, entries: make(map[string]*zip.File), report: report, captured: extsort.New(""), records: extsort.New("")}
	defer c.captured.Close()
	defer c.records.Close()
	left := uint64(size)
	for _, f := range z.File {
		if f.CompressedSize64 > left {
			report(Fault{Err: errors.New("entries overlap: together they are longer than the file")})
			return Checked{}, nil
		}
		left -= f.CompressedSize64
		if c.entries[f.Name] != nil {
			c.fault(f.Name, -1, errors.New("a second entry of that name"))
		}
		c.entries[f.Name] = f
		if !strings.HasSuffix(f.Name, "/") {
			c.names = append(c.names, f.Name)
		}
	}
	slices.Sort(c.names)
	for _, step := range []func() error{c.manifest, c.archives, c.indexes, c.lookups, c.pages} {
		if err := step(); err != nil {
			return c.Checked, err
		}
	}
	return c.Checked, nil
}

// checker checks one package.
type checker struct {
	Checked
	file     io.ReaderAt
	entries  map[string]*zip.File
	names    []string // of files, sorted
	report   func(Fault)
	records  *extsort.Sorter // the references of index lines
	captured *extsort.Sorter // URLs of index lines, and pages: see checker.page
}

func (c *checker) fault(entry string, offset int64, err error) {
	c.report(Fault{entry, offset, err})
}

// mostManifest bounds the JSON files, in bytes: it is enough for ten thousand archives.
const mostManifest = 4 << 20

// object reads a JSON file. It reports what is wrong with it.
func (c *checker) object(name string, into any) (raw []byte, ok bool) {
	f := c.entries[name]
	if f == nil {
		c.fault(name, -1, errors.New("missing"))
		return nil, false
	}
	in, err := f.Open()
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(in, mostManifest))
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		c.fault(name, -1, err)
	}
	return raw, err == nil
}

// manifest checks the description of the package, and what it says about the entries.
func (c *checker) manifest() error {
	if c.entries[packageFile] == nil && c.entries["webarchive.yaml"] != nil {
		c.fault("webarchive.yaml", -1, errors.New("WACZ 0.1.0, expected 1.0.0 or later"))
		return nil
	}
	var about struct {
		dataPackage
		Resources []describedResource `json:"resources"`
	}
	raw, ok := c.object(packageFile, &about)
	if !ok {
		return nil
	}
	if about.Profile != "data-package" {
		c.fault(packageFile, -1, fmt.Errorf("profile %.40q, expected data-package", about.Profile))
	}
	if about.Version == "" {
		c.fault(packageFile, -1, errors.New("no wacz_version"))
	}
	listed := map[string]bool{packageFile: true, digestFile: true}
	for _, r := range about.Resources {
		if listed[r.Path] {
			c.fault(r.Path, -1, errors.New("a second time among the resources of "+packageFile))
			continue
		}
		listed[r.Path] = true
		if err := c.resource(r.latest()); err != nil {
			c.fault(r.Path, -1, err)
		}
	}
	for _, name := range c.names {
		if !listed[name] {
			c.fault(name, -1, errors.New("not among the resources of "+packageFile))
		}
	}
	if c.entries[digestFile] == nil { // the specification asks for it, and does not demand it
		return nil
	}
	var digest packageDigest
	if _, ok := c.object(digestFile, &digest); !ok {
		return nil
	}
	if digest.Path != packageFile {
		c.fault(digestFile, -1, fmt.Errorf("path %.80q, expected %s", digest.Path, packageFile))
	}
	if err := matches(digest.Hash, bytes.NewReader(raw), int64(len(raw))); err != nil {
		c.fault(packageFile, -1, err)
	}
	return nil
}

// describedResource is a resource as WACZ 1.1.0 and later describe it, or 1.0.0.
type describedResource struct {
	resource
	Stats struct {
		Hash  string `json:"hash"`
		Bytes int64  `json:"bytes"`
	} `json:"stats"`
	Hashing string `json:"hashing"`
}

func (r *describedResource) latest() resource {
	if r.Hash == "" && r.Stats.Hash != "" {
		r.Hash, r.Bytes = cmp.Or(r.Hashing, "sha256")+":"+r.Stats.Hash, r.Stats.Bytes
	}
	return r.resource
}

// resource compares an entry with its description.
func (c *checker) resource(r resource) error {
	f := c.entries[r.Path]
	if f == nil {
		return errors.New("missing, and among the resources of " + packageFile)
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	return matches(r.Hash, in, r.Bytes)
}

// matches compares what is read with its digest and length.
func matches(digest string, from io.Reader, size int64) error {
	want, err := warc.ParseDigest(digest)
	if err != nil {
		return err
	}
	sum := want.Algorithm.New()
	n, err := io.Copy(sum, from)
	switch {
	case err != nil:
		return err
	case n != size:
		return fmt.Errorf("%d bytes, expected %d", n, size)
	case !want.Equal(warc.Digest{Algorithm: want.Algorithm, Sum: sum.Sum(nil)}):
		return fmt.Errorf("does not match its digest %s", digest)
	}
	return nil
}

func (c *checker) archives() error {
	for _, name := range c.names {
		if !strings.HasPrefix(name, archives) {
			continue
		}
		c.Archives++
		f := c.entries[name]
		if f.Method != zip.Store {
			c.fault(name, -1, errors.New("compressed in the ZIP file, expected stored as it is"))
		}
		if !strings.HasSuffix(name, ".warc") && !strings.HasSuffix(name, ".warc.gz") {
			c.fault(name, -1, errors.New("expected a name that ends in .warc or .warc.gz"))
		}
	}
	if c.Archives == 0 {
		c.fault(archives, -1, errors.New("no WARC file"))
	}
	return nil
}

func (c *checker) indexes() error {
	found := false
	for _, name := range c.names {
		if !strings.HasPrefix(name, "indexes/") {
			continue
		}
		var err error
		switch {
		case strings.HasSuffix(name, ".cdx.gz"):
			found = true
			if c.entries[name].Method != zip.Store {
				c.fault(name, -1, errors.New("compressed in the ZIP file, expected stored as it is"))
				continue
			}
			err = c.text(name, true, c.indexLine(name))
		case strings.HasSuffix(name, ".cdx"), strings.HasSuffix(name, ".cdxj"):
			found = true
			err = c.text(name, false, c.indexLine(name))
		case strings.HasSuffix(name, ".idx"):
			err = c.text(name, false, c.blockLine(name))
		}
		if err != nil {
			return err
		}
	}
	if !found {
		c.fault("indexes/", -1, errors.New("no index"))
	}
	return nil
}

// mostURL bounds the URLs of indexes and pages, in bytes.
const mostURL = 256 << 10

// sortingError is an error of this machine, not of the package.
type sortingError struct{ error }

// text calls use for the lines of an entry. What cannot be read is a fault.
func (c *checker) text(name string, compressed bool, use func(line []byte, at int64) error) error {
	in, err := c.entries[name].Open()
	from := io.Reader(in)
	if err == nil && compressed {
		from, err = gzip.NewReader(in)
	}
	if err == nil {
		err = eachLine(from, func(line []byte, at int64) error { return use(bytes.TrimRight(line, "\r\n"), at) })
	}
	var own sortingError
	if errors.As(err, &own) {
		return own.error
	}
	if err != nil {
		c.fault(name, -1, err)
	}
	return nil
}

// indexLine returns what checks a line of an index, and notes what it leads to.
func (c *checker) indexLine(name string) func(line []byte, at int64) error {
	var last []byte
	return func(line []byte, at int64) error {
		if bytes.HasPrefix(line, []byte("!")) { // a header
			return nil
		}
		if bytes.Compare(line, last) < 0 {
			c.fault(name, at, errors.New("line that belongs before the one above it"))
		}
		last = append(last[:0], line...)
		x, err := warc.ParseIndex(string(line))
		if err != nil {
			c.fault(name, at, err)
			return nil
		}
		c.Captures++
		if len(x.URL)+len(x.Filename) > mostURL || strings.Contains(x.URL+x.Filename, "\x00") {
			c.fault(name, at, errors.New("not a URL, or not the name of a file"))
			return nil
		}
		if err := c.captured.Add(append([]byte(x.URL), 0)); err != nil {
			return sortingError{err}
		}
		r := reference{x.Filename, x.Offset, x.Length, name, at, x.URL}
		if err := c.records.Add(r.line()); err != nil {
			return sortingError{err}
		}
		return nil
	}
}

// blockLine returns what checks a line of the list of an index's blocks.
func (c *checker) blockLine(name string) func(line []byte, at int64) error {
	of, end := "", int64(0)
	return func(line []byte, at int64) error {
		start := bytes.IndexByte(line, '{')
		var b struct {
			block
			Filename string `json:"filename"`
		}
		if start < 0 || json.Unmarshal(line[start:], &b) != nil {
			c.fault(name, at, fmt.Errorf("%.80q, expected a key, a date and a JSON object", line))
			return nil
		}
		if bytes.HasPrefix(line, []byte("!")) {
			of = b.Filename
			return nil
		}
		if b.Filename == "" {
			b.Filename = of
		}
		if b.Filename != of {
			of, end = b.Filename, 0
		}
		if b.Offset < end { // reading blocks over and over would take long
			c.fault(name, at, fmt.Errorf("block at offset %d of %.200s, expected one behind that of the line above", b.Offset, of))
			return nil
		}
		if err := c.block("indexes/"+of, b.block, line[:start]); err != nil {
			c.fault(name, at, err)
			return nil
		}
		end = b.Offset + b.Length
		return nil
	}
}

// block checks that a block of an index begins with a key and date.
func (c *checker) block(name string, b block, prefix []byte) error {
	f := c.entries[name]
	if f == nil {
		return fmt.Errorf("block of %.200s, which is missing", name)
	}
	in, err := c.part(f, b.Offset, b.Length)
	if err != nil {
		return err
	}
	if b.Digest != "" {
		if err := matches(b.Digest, in, b.Length); err != nil {
			return fmt.Errorf("block at offset %d of %s: %w", b.Offset, name, err)
		}
		in.Seek(0, io.SeekStart)
	}
	begins := make([]byte, len(prefix))
	z, err := gzip.NewReader(in)
	if err == nil {
		_, err = io.ReadFull(z, begins)
	}
	if err == nil && !bytes.Equal(begins, prefix) {
		err = fmt.Errorf("begins with %.80q, expected %.80q", begins, prefix)
	}
	if err != nil {
		return fmt.Errorf("block at offset %d of %s: %w", b.Offset, name, err)
	}
	return nil
}

// part returns bytes of a stored entry.
func (c *checker) part(f *zip.File, offset, length int64) (*io.SectionReader, error) {
	start, err := f.DataOffset()
	if err != nil {
		return nil, err
	}
	size := int64(f.CompressedSize64)
	if f.Method != zip.Store || offset < 0 || length <= 0 || offset > size || length > size-offset {
		return nil, fmt.Errorf("%d bytes at offset %d, expected a part of %s, which has %d", length, offset, f.Name, size)
	}
	return io.NewSectionReader(c.file, start+offset, length), nil
}

// reference is an index line, by what it leads to.
type reference struct {
	archive        string
	offset, length int64
	index          string
	at             int64
	url            string
}

// line writes a reference so that references are sorted by their place in an archive.
func (r *reference) line() []byte {
	return fmt.Appendf(nil, "%s\x00%016x\x00%x\x00%s\x00%x\x00%s", r.archive, uint64(r.offset), uint64(r.length), r.index, r.at, r.url)
}

func readReference(line []byte) (r reference) {
	parts := strings.SplitN(string(line), "\x00", 6)
	number := func(s string) int64 {
		n, _ := strconv.ParseUint(s, 16, 64)
		return int64(n)
	}
	return reference{parts[0], number(parts[1]), number(parts[2]), parts[3], number(parts[4]), parts[5]}
}

// lookups reads the record of each index line, in the order of the archives, and each record once.
func (c *checker) lookups() error {
	var last reference
	return c.records.Each(func(line []byte) error {
		r := readReference(line)
		if r.archive == last.archive && r.offset < last.offset+last.length {
			if r.offset != last.offset || r.length != last.length || r.url != last.url {
				// Another index may have it too.
				c.fault(r.index, r.at, fmt.Errorf("record at offset %d of %.200s, within the one at %d", r.offset, r.archive, last.offset))
			}
			return nil
		}
		last = r
		if err := c.lookup(r); err != nil {
			c.fault(r.index, r.at, err)
		}
		return nil
	})
}

func (c *checker) lookup(r reference) error {
	f := c.entries[archives+strings.TrimPrefix(r.archive, archives)] // some tools name the entry
	if f == nil {
		return fmt.Errorf("record of %.200s, which is missing", r.archive)
	}
	in, err := c.part(f, r.offset, r.length)
	if err != nil {
		return err
	}
	records := warc.NewReader(in)
	record, err := records.Next()
	wrong := func(err error) error {
		if d := (*warc.DamageError)(nil); errors.As(err, &d) {
			err = d.Err
		}
		return fmt.Errorf("record at offset %d of %s: %w", r.offset, f.Name, err)
	}
	if err != nil {
		return wrong(err)
	}
	switch record.Type() {
	case warc.Response, warc.Revisit, warc.Resource, warc.Metadata, warc.Conversion:
	default:
		return wrong(fmt.Errorf("%.40q, expected a response, revisit, resource, metadata or conversion", record.Type()))
	}
	if record.URL() != r.url {
		return wrong(fmt.Errorf("of %.200s, expected %.200s", record.URL(), r.url))
	}
	if _, err := records.Next(); err == nil {
		return wrong(fmt.Errorf("ends before %d bytes", r.length))
	} else if err != io.EOF {
		return wrong(err)
	}
	return nil
}

// pages checks the list of pages, and that each has a capture.
func (c *checker) pages() error {
	if c.entries[pagesFile] == nil {
		c.fault(pagesFile, -1, errors.New("missing"))
		return nil
	}
	if err := c.text(pagesFile, false, c.page); err != nil {
		return err
	}
	var captured []byte
	return c.captured.Each(func(line []byte) error {
		url, at, _ := bytes.Cut(line, []byte{0})
		if len(at) == 0 {
			captured = append(captured[:0], url...)
		} else if !bytes.Equal(url, captured) {
			offset, _ := strconv.ParseInt(string(at), 16, 64)
			c.fault(pagesFile, offset, fmt.Errorf("%.200s is not in the index", url))
		}
		return nil
	})
}

// page checks a line of the list. It comes behind its URL's captures when sorted.
func (c *checker) page(line []byte, at int64) error {
	var p struct {
		page
		Format string `json:"format"`
	}
	err := json.Unmarshal(line, &p)
	switch {
	case err != nil:
	case at == 0:
		if p.Format == "" {
			err = errors.New("no format, expected a header such as " + pagesHead)
		}
	case p.URL == "":
		err = errors.New("no url")
	case len(p.URL) > mostURL, strings.Contains(p.URL, "\x00"):
		err = errors.New("not a URL")
	default:
		if _, wrong := time.Parse(time.RFC3339, p.Date); wrong != nil {
			err = fmt.Errorf("ts %.40q, expected a date such as 2026-11-22T12:00:00Z", p.Date)
		}
	}
	if err != nil {
		c.fault(pagesFile, at, err)
		return nil
	}
	if at == 0 {
		return nil
	}
	c.Pages++
	if err := c.captured.Add(fmt.Appendf(nil, "%s\x00%016x", p.URL, at)); err != nil {
		return sortingError{err}
	}
	return nil
}
