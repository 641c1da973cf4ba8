package diff

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
)

// spool is a list on disk, in a file without a name. It is written, then read any number of times.
type spool[T any] struct {
	file *os.File
	out  *bufio.Writer
	enc  *json.Encoder
	n    int
}

func newSpool[T any](temp string) (*spool[T], error) {
	file, err := os.CreateTemp(temp, ".weft-diff-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil { // it goes with its descriptor
		return nil, errors.Join(err, file.Close())
	}
	s := &spool[T]{file: file, out: bufio.NewWriterSize(file, 64<<10)}
	s.enc = json.NewEncoder(s.out)
	s.enc.SetEscapeHTML(false)
	return s, nil
}

func (s *spool[T]) add(v *T) error {
	s.n++
	return s.enc.Encode(v)
}

// each yields the list. Nothing is added meanwhile.
func (s *spool[T]) each() iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		err := s.out.Flush()
		in := json.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(s.file, 0, 1<<62), 64<<10))
		for range s.n {
			v := new(T)
			if err == nil {
				err = in.Decode(v)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// clear empties the list.
func (s *spool[T]) clear() error {
	s.n = 0
	s.out.Reset(s.file)
	_, err := s.file.Seek(0, io.SeekStart)
	return errors.Join(err, s.file.Truncate(0))
}

func (s *spool[T]) close() error { return s.file.Close() }
