package archive

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/warc"
)

// source is one of the collections of an archive.
type source struct {
	path    string // as given
	index   *index
	digests digests
	members members
	close   func() error

	// pages opens the list of pages that stands beside the captures: pages.jsonl.
	pages func() (io.ReadCloser, error)
}

// members are the WARC files of a source.
type members interface {
	names() ([]string, error)
	open(name string) (*member, error)
}

// member is an open WARC file.
type member struct {
	io.ReaderAt
	size  int64
	close func() error
}

func openSource(path string, damage func(error)) (*source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	var s *source
	start := make([]byte, 4)
	n, _ := f.ReadAt(start, 0)
	switch {
	case info.IsDir():
		f.Close()
		s, err = openJob(path, damage)
	case string(start[:n]) == "PK\x03\x04":
		s, err = openWACZ(path, f, info.Size(), damage)
	default:
		f.Close()
		s = &source{path: path, members: lone(path), close: func() error { return nil }}
		s.index, err = readMembers(s, damage)
	}
	return s, err
}

// In the folder of a job (docs/records.md).
const (
	archiveDir = "archive"
	pagesFile  = "pages.jsonl"
)

func openJob(dir string, damage func(error)) (*source, error) {
	inside := filepath.Join(dir, archiveDir)
	if info, err := os.Lstat(inside); err != nil || !info.IsDir() {
		// A link would show an archive that is not the job's.
		return nil, fmt.Errorf("%s has no folder %s: expected a job with an archive, or a WARC, ARC or WACZ file", dir, archiveDir)
	}
	s := &source{path: dir, members: folder(inside), close: func() error { return nil },
		pages: func() (io.ReadCloser, error) { return OpenRegular(filepath.Join(dir, pagesFile)) }}
	written, writtenErr := os.Stat(filepath.Join(inside, cdxj.CapturesFile))
	sorted, sortedErr := os.Stat(filepath.Join(inside, cdxj.IndexFile))
	var err error
	switch {
	case sortedErr == nil && (writtenErr != nil || written.Size() == sorted.Size()):
		s.index, err = openIndex(filepath.Join(inside, cdxj.IndexFile))
	case writtenErr == nil:
		s.index, err = sortFile(filepath.Join(inside, cdxj.CapturesFile))
	default:
		s.index, err = readMembers(s, damage)
	}
	return s, err
}

func openIndex(name string) (*index, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &index{name: name, from: f, size: info.Size(), file: f}, nil
}

// sortFile sorts an index that a crawl may be writing: a line without an end is none.
func sortFile(name string) (*index, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return sortLines(name, f, true)
}

func sortLines(name string, from io.Reader, growing bool) (*index, error) {
	s := extsort.New("")
	defer s.Close()
	in := newLines(name, from)
	for {
		line, err := in.next()
		if err == io.EOF {
			return sorted(s, name)
		}
		if err != nil {
			return nil, err
		}
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended && growing {
			continue
		}
		if err := s.Add(text); err != nil {
			return nil, err
		}
	}
}

// folder is the folder of a job's WARC files.
type folder string

func (dir folder) names() (names []string, err error) {
	entries, err := os.ReadDir(string(dir))
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), cdxj.OpenSuffix)
		if strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.gz") {
			names = append(names, name)
		}
	}
	return names, err
}

// open opens a file of the folder. The name comes from an index, and must not lead out of it.
func (dir folder) open(name string) (*member, error) {
	if name != filepath.Base(name) {
		return nil, fmt.Errorf("%.200q is not the name of a file in %s", name, string(dir))
	}
	f, err := openInside(string(dir), name)
	if errors.Is(err, fs.ErrNotExist) {
		var open error
		if f, open = openInside(string(dir), name+cdxj.OpenSuffix); open == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return wholeFile(f)
}

// openInside opens a file in a folder, and does not wait for the writer of a pipe.
func openInside(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func wholeFile(f *os.File) (*member, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", f.Name())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &member{f, info.Size(), f.Close}, nil
}

// lone is a WARC file without an index.
type lone string

func (path lone) names() ([]string, error) { return []string{string(path)}, nil }

func (path lone) open(string) (*member, error) {
	f, err := os.Open(string(path))
	if err != nil {
		return nil, err
	}
	return wholeFile(f)
}

// packed is the members of a WACZ file.
type packed struct {
	path  string
	file  io.ReaderAt
	files map[string]*zip.File
	order []string // names of WARC files
}

func openWACZ(name string, f *os.File, size int64, damage func(error)) (*source, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &packed{path: name, file: f, files: make(map[string]*zip.File)}
	for _, file := range z.File {
		if p.files[file.Name] == nil {
			p.files[file.Name] = file
			if inside, ok := strings.CutPrefix(file.Name, "archive/"); ok && inside != "" {
				p.order = append(p.order, inside)
			}
		}
	}
	s := &source{path: name, members: p, close: f.Close}
	if list := p.files["pages/pages.jsonl"]; list != nil {
		s.pages = func() (io.ReadCloser, error) { return list.Open() }
	}
	if s.index, err = p.index(); s.index == nil && err == nil {
		s.index, err = readMembers(s, damage)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// mostUnpacked bounds an index that is compressed, in bytes.
const mostUnpacked = 4 << 30

// index returns the index in a WACZ file, or nil if there is none. One that is compressed is
// unpacked.
func (p *packed) index() (*index, error) {
	for _, name := range []string{"index.cdx", "index.cdxj", "index.cdx.gz", "index.cdxj.gz"} {
		file := p.files["indexes/"+name]
		if file == nil {
			continue
		}
		name = p.path + ": indexes/" + name
		compressed := strings.HasSuffix(name, ".gz")
		if file.Method == zip.Store && !compressed {
			m, err := p.section(file)
			if err != nil {
				return nil, err
			}
			return &index{name: name, from: m, size: m.size}, nil
		}
		in, err := file.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer in.Close()
		var lines io.Reader = in
		if compressed {
			if lines, err = gzip.NewReader(in); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return sortLines(name, &limited{lines, mostUnpacked}, false)
	}
	return nil, nil
}

// limited is a reader that fails beyond a number of bytes.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("more than %d bytes when unpacked", int64(mostUnpacked))
	}
	return n, err
}

func (p *packed) names() ([]string, error) { return p.order, nil }

func (p *packed) open(name string) (*member, error) {
	file := p.files["archive/"+name]
	if file == nil {
		file = p.files[path.Clean(name)] // some writers have the whole path in the index
	}
	if file == nil {
		return nil, fmt.Errorf("%s: no archive/%.200s in it", p.path, name)
	}
	return p.section(file)
}

// section returns what a member holds, to be read by ranges.
func (p *packed) section(file *zip.File) (*member, error) {
	if file.Method != zip.Store {
		return nil, fmt.Errorf("%s: %.200s is compressed in the zip; a WACZ file stores it", p.path, file.Name)
	}
	at, err := file.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("%s: %.200s: %w", p.path, file.Name, err)
	}
	size := int64(min(file.CompressedSize64, math.MaxInt64/2))
	return &member{io.NewSectionReader(p.file, at, size), size, func() error { return nil }}, nil
}

// readMembers makes an index of all WARC files.
func readMembers(s *source, damage func(error)) (*index, error) {
	names, err := s.members.names()
	if err != nil {
		return nil, err
	}
	x := NewIndexer("")
	defer x.Close()
	for _, name := range names {
		m, err := s.members.open(name)
		if err != nil {
			return nil, err
		}
		err = x.File(name, io.NewSectionReader(m, 0, m.size), func(d *warc.DamageError) { damage(fmt.Errorf("%s: %w", s.nameOf(name), d)) })
		m.close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.nameOf(name), err)
		}
	}
	return sorted(x, s.path)
}

// sorted writes lines into a file without a name: it ends with its descriptor.
func sorted(lines io.WriterTo, name string) (*index, error) {
	f, err := os.CreateTemp("", "weft-index-*")
	if err != nil {
		return nil, err
	}
	size, err := lines.WriteTo(f)
	if err = errors.Join(os.Remove(f.Name()), err); err != nil {
		f.Close()
		return nil, err
	}
	return &index{name: name, from: f, size: size, file: f}, nil
}

// nameOf names a WARC file in messages.
func (s *source) nameOf(member string) string {
	if member == s.path {
		return member
	}
	return s.path + ": " + member
}

func isHTTP(r *warc.Record) bool {
	return mediaType(r.Header.Get("Content-Type")) == "application/http"
}

// mediaType returns a Content-Type without its parameters.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}
