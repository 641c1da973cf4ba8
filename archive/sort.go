package archive

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"io"
	"os"
	"slices"
)

// runSize is how much of an index is sorted in memory at a time, in bytes.
const runSize = 16 << 20

// sorter sorts the lines of an index by their bytes.
type sorter struct {
	most  int      // bytes to hold in memory
	lines [][]byte // each ends with a newline
	held  int      // bytes of them
	file  *os.File // sorted runs, one after the other; nil: there are none
	runs  []int64  // their lengths
}

func (s *sorter) add(line []byte) error {
	if s.held+len(line) > s.most && s.held > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.lines = append(s.lines, bytes.Clone(line))
	s.held += len(line)
	return nil
}

// spill writes a run.
func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = temporary(); err != nil {
			return err
		}
	}
	slices.SortFunc(s.lines, bytes.Compare)
	out := bufio.NewWriter(s.file)
	for _, line := range s.lines {
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, int64(s.held))
	clear(s.lines)
	s.lines, s.held = s.lines[:0], 0
	return out.Flush()
}

// sorted returns the lines in order. The sorter is used up.
func (s *sorter) sorted(name string) (*index, error) {
	if s.file == nil {
		slices.SortFunc(s.lines, bytes.Compare)
		all := bytes.Join(s.lines, nil)
		return &index{name: name, from: bytes.NewReader(all), size: int64(len(all))}, nil
	}
	defer s.file.Close()
	if err := s.spill(); err != nil {
		return nil, err
	}
	to, err := temporary()
	if err != nil {
		return nil, err
	}
	size, err := s.merge(to)
	if err != nil {
		to.Close()
		return nil, err
	}
	return &index{name: name, from: to, size: size, file: to}, nil
}

// merge writes the lines of all runs in order.
func (s *sorter) merge(to io.Writer) (size int64, err error) {
	out := bufio.NewWriterSize(to, 1<<20)
	var heads runs
	from := int64(0)
	for _, n := range s.runs {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(s.file, from, n), 64<<10)}
		if err := r.next(); err != nil {
			return 0, err
		}
		heads = append(heads, r)
		from += n
	}
	heap.Init(&heads)
	for len(heads) > 0 {
		r := heads[0]
		if _, err := out.Write(r.line); err != nil {
			return 0, err
		}
		size += int64(len(r.line))
		switch err := r.next(); err {
		case nil:
			heap.Fix(&heads, 0)
		case io.EOF:
			heap.Pop(&heads)
		default:
			return 0, err
		}
	}
	return size, out.Flush()
}

// run is what is left of a run of sorted lines.
type run struct {
	in   *bufio.Reader
	line []byte // the first one
}

func (r *run) next() (err error) {
	r.line = r.line[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.line = append(r.line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// runs is a heap, with the least line first.
type runs []*run

func (h runs) Len() int           { return len(h) }
func (h runs) Less(i, j int) bool { return bytes.Compare(h[i].line, h[j].line) < 0 }
func (h runs) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runs) Push(r any)        { *h = append(*h, r.(*run)) }

func (h *runs) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}

// temporary makes a file without a name: it ends with its descriptor.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "weft-index-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
