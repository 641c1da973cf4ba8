package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
)

// longest bounds a line of a file of records, in bytes.
const longest = 16 << 20

// file is a file of records, as long as it was when it was opened.
type file struct {
	*os.File
	name string
	size int64
}

func openFile(dir, name string) (*file, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{f, name, info.Size()}, nil
}

// lines yields the complete lines. A line holds until the next.
func (f *file) lines() iter.Seq[line] {
	return func(yield func(line) bool) {
		r := bufio.NewReaderSize(io.NewSectionReader(f, 0, f.size), 256<<10)
		var long []byte
		for n := uint64(0); ; n++ {
			text, err := r.ReadSlice('\n')
			if err == bufio.ErrBufferFull {
				long = append(long[:0], text...)
				for err == bufio.ErrBufferFull && len(long) <= longest {
					text, err = r.ReadSlice('\n')
					long = append(long, text...)
				}
				text = long
			}
			switch {
			case err == io.EOF: // half a line is none yet
				return
			case len(text) > longest:
				err = fmt.Errorf("longer than %d bytes", longest)
			}
			if !yield(line{f, n, text, err}) || err != nil {
				return
			}
		}
	}
}

// line is a line of a file, or the error of reading it.
type line struct {
	file *file
	n    uint64 // its number, from 0
	text []byte
	err  error
}

// into reads the line as JSON.
func (l *line) into(v any) error {
	err := l.err
	if err == nil {
		err = json.Unmarshal(l.text, v)
	}
	if err != nil {
		return fmt.Errorf("%s: line %d: %w", l.file.name, l.n+1, err)
	}
	return nil
}

// plain returns the value of a text field that a line begins with: no backslash is in it. Lines that
// Weft writes begin so.
func (l *line) plain(field string) (value []byte, ok bool) {
	rest, begins := bytes.CutPrefix(l.text, []byte(`{"`+field+`":"`))
	value, _, ends := bytes.Cut(rest, []byte{'"'})
	return value, l.err == nil && begins && ends && bytes.IndexByte(value, '\\') < 0
}

// visit returns the number of a visit that a line of Weft names; 1 is the first. The quote of a key
// that a text quotes has a backslash in front.
func (l *line) visit() uint32 {
	_, rest, found := bytes.Cut(l.text, []byte(`,"visit":`))
	end := bytes.IndexAny(rest, ",}")
	if !found || end < 0 {
		return 1
	}
	n, err := strconv.ParseUint(string(rest[:end]), 10, 32)
	if err != nil || n == 0 {
		return 1
	}
	return uint32(n)
}
