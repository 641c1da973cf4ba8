package results

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"

	"github.com/weftcrawl/weft/archive"
)

// longest bounds a line of a file of records, in bytes.
const longest = 16 << 20

// Lines yields the lines of a file of records of a job, pages.jsonl or another of its lists, that
// are not in old. Each holds until the next. An error ends it.
func Lines(ctx context.Context, dir, name string, old Set) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := openFile(dir, name)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer f.Close()
		for l := range f.lines() {
			if err := ctx.Err(); err != nil {
				yield(Line{}, err)
				return
			}
			if !old.Has(l.N) && !yield(l, nil) {
				return
			}
		}
	}
}

// Each is Lines, each read as a T.
func Each[T any](ctx context.Context, dir, name string, old Set) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for l, err := range Lines(ctx, dir, name, old) {
			v := new(T)
			if err == nil {
				err = l.Into(v)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// file is a file of records, as long as it was when it was opened.
type file struct {
	*os.File
	name string
	size int64
}

func openFile(dir, name string) (*file, error) {
	f, err := archive.OpenRegular(filepath.Join(dir, name))
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
func (f *file) lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		r := bufio.NewReaderSize(io.NewSectionReader(f, 0, f.size), 256<<10)
		var long []byte
		at := int64(0)
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
			if !yield(Line{N: n, file: f, at: at, text: text, err: err}) || err != nil {
				return
			}
			at += int64(len(text))
		}
	}
}

// Line is a line of a file, or the error of reading it.
type Line struct {
	N    uint64 // its number, from 0
	file *file
	at   int64 // in the file
	text []byte
	err  error
}

// Bytes returns the line, without its end. It holds until the next line.
func (l *Line) Bytes() []byte { return bytes.TrimSuffix(l.text, []byte{'\n'}) }

// Into reads the line as JSON.
func (l *Line) Into(v any) error {
	err := l.err
	if err == nil {
		err = json.Unmarshal(l.text, v)
	}
	if err != nil {
		return fmt.Errorf("%s: line %d: %w", l.file.name, l.N+1, err)
	}
	return nil
}

// Plain returns the value of a text field that a line begins with: no backslash is in it. Lines
// that Weft writes begin so.
func (l *Line) Plain(field string) (value []byte, ok bool) {
	rest, begins := bytes.CutPrefix(l.text, []byte(`{"`+field+`":"`))
	value, _, ends := bytes.Cut(rest, []byte{'"'})
	return value, l.err == nil && begins && ends && bytes.IndexByte(value, '\\') < 0
}

// URL returns the URL and the visit of a record.
func (l *Line) URL() (url []byte, visit uint32, err error) {
	if url, ok := l.Plain("url"); ok {
		return url, l.Visit(), nil
	}
	var r struct {
		URL   string `json:"url"`
		Visit uint32 `json:"visit"`
	}
	err = l.Into(&r)
	return []byte(r.URL), max(r.Visit, 1), err
}

// Visit returns the number of a visit that a line of Weft names; 1 is the first. The quote of a key
// that a text quotes has a backslash in front.
func (l *Line) Visit() uint32 {
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

// Has reports whether a line is in it.
func (s Set) Has(line uint64) bool {
	return line/64 < uint64(len(s)) && s[line/64]&(1<<(line%64)) != 0
}
