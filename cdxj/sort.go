package cdxj

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

const (
	mostHeld = 32 << 20 // bytes of lines and of their places in memory
	maxLine  = 1 << 20  // bytes
	fanIn    = 256      // runs that are merged at once, each with a buffer of 64 KiB
	bufSize  = 64 << 10
	enough   = 1 << 20 // bytes of text, for most sorters
)

// Sorter sorts lines by their bytes and drops repeated ones: an external merge sort. It is used by
// one goroutine at a time.
type Sorter struct {
	dir    string
	most   int // bytes held
	fanIn  int
	text   []byte // of the lines held
	places []place
	spill  *os.File // sorted runs, one behind the other; nil: all lines are in memory
	end    int64    // of the file
	runs   []run
}

// place is where a line is in the text.
type place struct{ start, end int32 }

const placeSize = 8

// run is a part of the file: lines in order, each behind its length.
type run struct{ start, end int64 }

// NewSorter returns a sorter that keeps what does not fit into memory in a folder; "" is that for
// temporary files. Close it.
func NewSorter(dir string) *Sorter { return &Sorter{dir: dir, most: mostHeld, fanIn: fanIn} }

// Add takes a line, without its end. It copies it.
func (s *Sorter) Add(line []byte) error {
	if len(line) > maxLine {
		return fmt.Errorf("line of %d bytes, expected at most %d", len(line), maxLine)
	}
	if len(s.places) > 0 && len(s.text)+len(line)+placeSize*len(s.places) > s.most {
		if err := s.flush(); err != nil {
			return err
		}
	}
	start := len(s.text)
	if start > enough && start+len(line) > cap(s.text) {
		s.text = slices.Grow(s.text, s.most-start) // growing in steps would leave as much again behind
	}
	s.text = append(s.text, line...)
	s.places = append(s.places, place{int32(start), int32(len(s.text))})
	return nil
}

func (s *Sorter) sort() {
	slices.SortFunc(s.places, func(a, b place) int {
		return bytes.Compare(s.text[a.start:a.end], s.text[b.start:b.end])
	})
}

// held calls use for the lines in memory.
func (s *Sorter) held(use func(line []byte) error) error {
	for _, p := range s.places {
		if err := use(s.text[p.start:p.end]); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the lines in memory to the file as a run.
func (s *Sorter) flush() error {
	if s.spill == nil {
		f, err := os.CreateTemp(s.dir, ".weft-sort-*")
		if err != nil {
			return err
		}
		s.spill = f
		os.Remove(f.Name()) // the file goes with the last descriptor; where that cannot be, with Close
	}
	s.sort()
	err := s.write(s.held)
	s.text, s.places = s.text[:0], s.places[:0]
	return err
}

// write appends lines to the file as a run.
func (s *Sorter) write(each func(use func(line []byte) error) error) error {
	out := bufio.NewWriterSize(io.NewOffsetWriter(s.spill, s.end), bufSize)
	n := s.end
	err := each(func(line []byte) error {
		size := binary.AppendUvarint(out.AvailableBuffer(), uint64(len(line)))
		n += int64(len(size) + len(line))
		out.Write(size)
		_, err := out.Write(line)
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return err
	}
	s.runs = append(s.runs, run{s.end, n})
	s.end = n
	return nil
}

// Each calls use for each line in order, without its end, once. The line is valid until use
// returns. Nothing can be added afterwards.
func (s *Sorter) Each(use func(line []byte) error) error {
	if s.spill == nil {
		s.sort()
		return unique(s.held, use)
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.text, s.places = nil, nil
	for len(s.runs) > s.fanIn {
		first := s.runs[:s.fanIn]
		s.runs = s.runs[s.fanIn:]
		err := s.write(func(use func([]byte) error) error { return s.merge(first, use) })
		if err != nil {
			return err
		}
	}
	return unique(func(use func([]byte) error) error { return s.merge(s.runs, use) }, use)
}

// unique passes sorted lines on, each once.
func unique(each func(use func(line []byte) error) error, use func(line []byte) error) error {
	var last []byte
	first := true
	return each(func(line []byte) error {
		if !first && bytes.Equal(line, last) {
			return nil
		}
		first, last = false, append(last[:0], line...)
		return use(line)
	})
}

// merge calls use for the lines of several runs in order.
func (s *Sorter) merge(runs []run, use func(line []byte) error) error {
	var heads cursors
	for _, r := range runs {
		c := &cursor{in: bufio.NewReaderSize(io.NewSectionReader(s.spill, r.start, r.end-r.start), bufSize)}
		switch err := c.next(); err {
		case nil:
			heads = append(heads, c)
		case io.EOF:
		default:
			return err
		}
	}
	heap.Init(&heads)
	for len(heads) > 0 {
		c := heads[0]
		if err := use(c.line); err != nil {
			return err
		}
		switch err := c.next(); err {
		case nil:
			heap.Fix(&heads, 0)
		case io.EOF:
			heap.Pop(&heads)
		default:
			return err
		}
	}
	return nil
}

// Close removes what the sorter has on disk.
func (s *Sorter) Close() error {
	if s.spill == nil {
		return nil
	}
	err := s.spill.Close()
	os.Remove(s.spill.Name())
	return err
}

// cursor reads a run.
type cursor struct {
	in   *bufio.Reader
	line []byte
}

// next reads a line. At the end it returns io.EOF.
func (c *cursor) next() error {
	n, err := binary.ReadUvarint(c.in)
	if err != nil {
		return err
	}
	c.line = slices.Grow(c.line[:0], int(n))[:n]
	_, err = io.ReadFull(c.in, c.line)
	return err
}

// cursors is a heap: the least line is first.
type cursors []*cursor

func (c cursors) Len() int           { return len(c) }
func (c cursors) Less(i, j int) bool { return bytes.Compare(c[i].line, c[j].line) < 0 }
func (c cursors) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)        { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
