// Package extsort sorts lines, more of them than fit into memory.
package extsort

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// MaxLine is the length of the longest line, in bytes.
const MaxLine = 1 << 20

const (
	mostHeld = 32 << 20 // bytes of lines and of their slices in memory
	fanIn    = 256      // runs that are merged at once, each with a buffer of 64 KiB
	bufSize  = 64 << 10
	blockLen = MaxLine + 1 // bytes of a block: a line and its end
)

// Sorter sorts lines by their bytes and drops repeated ones: an external merge sort. It holds 32
// MiB of lines in memory, and the rest in a file without a name, which is gone with the process. It
// is used by one goroutine at a time.
type Sorter struct {
	dir    string
	most   int // bytes held
	fanIn  int
	lines  [][]byte // in blocks
	held   int      // bytes of lines and their slices
	blocks [][]byte // the first used are in use
	used   int
	spill  *os.File // sorted runs, one behind the other; nil: all lines are in memory
	end    int64    // of the file
	runs   []run
}

const sliceSize = 24

// run is a part of the file: lines in order, each behind its length.
type run struct{ start, end int64 }

// New returns a sorter that keeps what does not fit into memory in a folder; "" is that for
// temporary files. Close it.
func New(dir string) *Sorter { return NewWithin(dir, mostHeld) }

// NewWithin returns a sorter that holds a number of bytes in memory instead of 32 MiB: at least
// twice [MaxLine].
func NewWithin(dir string, held int) *Sorter { return &Sorter{dir: dir, most: held, fanIn: fanIn} }

// Add takes a line, without its end. It copies it.
func (s *Sorter) Add(line []byte) error {
	if len(line) > MaxLine {
		return fmt.Errorf("line of %d bytes, expected at most %d", len(line), MaxLine)
	}
	if len(s.lines) > 0 && s.held+len(line)+sliceSize > s.most {
		if err := s.flush(); err != nil {
			return err
		}
	}
	b := s.block(len(line))
	start := len(*b)
	*b = append(*b, line...)
	s.lines = append(s.lines, (*b)[start:])
	s.held += len(line) + sliceSize
	return nil
}

// block returns a block with room for a number of bytes, at most MaxLine.
func (s *Sorter) block(room int) *[]byte {
	if s.used > 0 {
		if b := &s.blocks[s.used-1]; len(*b)+room <= cap(*b) {
			return b
		}
	}
	return s.empty()
}

// empty returns a block without lines.
func (s *Sorter) empty() *[]byte {
	if s.used == len(s.blocks) {
		s.blocks = append(s.blocks, make([]byte, 0, blockLen))
	}
	s.used++
	b := &s.blocks[s.used-1]
	*b = (*b)[:0]
	return b
}

func (s *Sorter) sort() { slices.SortFunc(s.lines, bytes.Compare) }

// each calls use for the lines in memory.
func (s *Sorter) each(use func(line []byte) error) error {
	for _, line := range s.lines {
		if err := use(line); err != nil {
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
	err := s.write(s.each)
	s.lines, s.held, s.used = s.lines[:0], 0, 0
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

// Each calls use for each line in order, without its end. The line is valid until use
// returns. Nothing can be added afterwards, but the lines can be read again.
func (s *Sorter) Each(use func(line []byte) error) error {
	if s.spill == nil {
		s.sort()
		return unique(s.each, use)
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.lines, s.blocks = nil, nil
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

// AddAll adds the whole lines of a file, not what follows the last line end.
func (s *Sorter) AddAll(from io.Reader) error {
	var rest []byte // of the last block: the beginning of a line
	for at := int64(0); ; {
		if len(s.lines) > 0 && s.held+blockLen > s.most {
			if err := s.flush(); err != nil {
				return err
			}
		}
		b := s.empty()
		*b = append(*b, rest...) // which may be in the same block
		n, err := io.ReadFull(from, (*b)[len(rest):cap(*b)])
		*b = (*b)[:len(rest)+n]
		for rest = *b; ; {
			line, after, ended := bytes.Cut(rest, []byte("\n"))
			if !ended {
				break
			}
			s.lines = append(s.lines, line)
			s.held += len(line) + sliceSize
			at += int64(len(line)) + 1
			rest = after
		}
		switch {
		case len(rest) > MaxLine:
			return fmt.Errorf("offset %d: line longer than %d bytes", at, MaxLine)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// WriteTo writes the lines in order, each with its end.
func (s *Sorter) WriteTo(w io.Writer) (n int64, err error) {
	out := bufio.NewWriterSize(w, bufSize)
	err = s.Each(func(line []byte) error {
		n += int64(len(line)) + 1
		out.Write(line)
		return out.WriteByte('\n')
	})
	return n, errors.Join(err, out.Flush())
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
