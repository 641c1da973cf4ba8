package archive

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"sort"

	"github.com/weftcrawl/weft/warc"
)

// maxLine bounds the lines of an index and of a list of pages.
const maxLine = 1 << 20

// index is the sorted lines of a source.
type index struct {
	name string // of the file, for errors
	from io.ReaderAt
	size int64
	file *os.File // to close; nil: none
}

func (x *index) close() {
	if x.file != nil {
		x.file.Close()
	}
}

// prefixed yields the lines that begin with a prefix. An error ends it.
func (x *index) prefixed(prefix string) iter.Seq2[warc.Index, error] {
	return func(yield func(warc.Index, error) bool) {
		at, err := x.search(prefix)
		lines := x.lines(at)
		for err == nil {
			var line []byte
			if line, err = lines.next(); err != nil || !bytes.HasPrefix(line, []byte(prefix)) {
				break
			}
			if line[0] == '!' || line[0] == ' ' { // what is there besides captures: "!meta", " CDX"
				continue
			}
			capture, bad := warc.ParseIndex(string(line))
			if bad != nil {
				err = fmt.Errorf("%s: offset %d: %w", x.name, lines.at-int64(len(line)), bad)
				break
			}
			if !yield(capture, nil) {
				return
			}
		}
		if err != nil && err != io.EOF {
			yield(warc.Index{}, err)
		}
	}
}

// search returns where the first line that is not less than want begins.
func (x *index) search(want string) (int64, error) {
	var failed error
	// Found is the least at such that the first line beginning at or after it is not less.
	found := sort.Search(int(x.size), func(at int) bool {
		if failed != nil {
			return true
		}
		from, err := x.lineFrom(int64(at))
		if err == nil {
			var line []byte
			if line, err = x.lines(from).next(); err == nil {
				return string(bytes.TrimSuffix(line, []byte("\n"))) >= want
			}
		}
		if err != io.EOF {
			failed = err
		}
		return true
	})
	if failed != nil {
		return 0, failed
	}
	from, err := x.lineFrom(int64(found))
	if err == io.EOF {
		from, err = x.size, nil
	}
	return from, err
}

// lineFrom returns the beginning of the first line that begins at or after an offset.
func (x *index) lineFrom(at int64) (int64, error) {
	if at == 0 {
		return 0, nil
	}
	lines := x.lines(at - 1)
	_, err := lines.next()
	return lines.at, err
}

// lines reads lines from an offset.
func (x *index) lines(at int64) *lines {
	l := newLines(x.name, io.NewSectionReader(x.from, at, x.size-at))
	l.at = at
	return l
}

// lines reads the lines of a file.
type lines struct {
	name string
	at   int64 // of the next line
	in   *bufio.Reader
	line []byte
}

func newLines(name string, from io.Reader) *lines {
	return &lines{name: name, in: bufio.NewReader(from)}
}

// next returns the next line with its end, or io.EOF. The line is valid until the next call.
func (l *lines) next() ([]byte, error) {
	l.line = l.line[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		if len(l.line)+len(part) > maxLine {
			return nil, fmt.Errorf("%s: offset %d: a line of more than %d bytes", l.name, l.at, maxLine)
		}
		l.line = append(l.line, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.line) > 0:
			err = nil
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		l.at += int64(len(l.line))
		return l.line, err
	}
}
