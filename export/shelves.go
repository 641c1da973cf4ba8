package export

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// mostHeld bounds the entries in memory, 2 MiB.
const mostHeld = 1 << 16

// shelves bring together what belongs to the same key: on disk, if it is much. Then the entries of a
// 256th of the keys are in memory at a time.
type shelves struct {
	dir   string
	held  []entry
	files []*shelf // by the first byte of a key; none: all entries are held
}

type shelf struct {
	file *os.File
	new  *bufio.Writer // to the file
}

// key is a hash of a URL, or of a pair.
type key [16]byte

func keyOf(urls ...string) key {
	sum := sha256.Sum256([]byte(strings.Join(urls, "\x00")))
	return key(sum[:16])
}

// entry is a line of a file under a key.
type entry struct {
	key   key
	line  uint64 // its number in the file
	visit uint32
	role  uint32 // of the line for the key
}

const entrySize = 16 + 8 + 4 + 4

func (s *shelves) close() (err error) {
	for _, f := range s.files {
		err = errors.Join(err, f.file.Close())
	}
	return err
}

func (s *shelves) add(e entry) error {
	if s.held = append(s.held, e); len(s.held) < mostHeld {
		return nil
	}
	return s.put()
}

// put puts the entries that are held on the shelves, which it makes the first time: files without a
// name, gone with the process whatever happens.
func (s *shelves) put() error {
	for len(s.files) < 256 {
		f, err := os.CreateTemp(s.dir, ".weft-export-*")
		if err != nil {
			return err
		}
		s.files = append(s.files, &shelf{f, bufio.NewWriterSize(f, 8<<10)})
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	var b [entrySize]byte
	for _, e := range s.held {
		copy(b[:], e.key[:])
		binary.LittleEndian.PutUint64(b[16:], e.line)
		binary.LittleEndian.PutUint32(b[24:], e.visit)
		binary.LittleEndian.PutUint32(b[28:], e.role)
		if _, err := s.files[e.key[0]].new.Write(b[:]); err != nil {
			return err
		}
	}
	s.held = s.held[:0]
	return nil
}

// groups hands the entries of each key to judge, by role, then by line.
func (s *shelves) groups(judge func([]entry)) error {
	if len(s.files) == 0 {
		judgeAll(s.held, judge)
		return nil
	}
	if err := s.put(); err != nil {
		return err
	}
	for _, f := range s.files {
		var err error
		if s.held, err = f.entries(s.held[:0]); err != nil {
			return err
		}
		judgeAll(s.held, judge)
	}
	return nil
}

func judgeAll(all []entry, judge func([]entry)) {
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.role, b.role), cmp.Compare(a.line, b.line))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].key == all[0].key {
			n++
		}
		judge(all[:n])
		all = all[n:]
	}
}

// entries reads a shelf.
func (f *shelf) entries(all []entry) ([]entry, error) {
	if err := f.new.Flush(); err != nil {
		return nil, err
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(f.file, 64<<10)
	var b [entrySize]byte
	for {
		if _, err := io.ReadFull(r, b[:]); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, entry{
			key: key(b[:16]), line: binary.LittleEndian.Uint64(b[16:]),
			visit: binary.LittleEndian.Uint32(b[24:]), role: binary.LittleEndian.Uint32(b[28:]),
		})
	}
}

// bitmap is a set of lines; nil is empty.
type bitmap []uint64

func (b *bitmap) set(line uint64) {
	for uint64(len(*b)) <= line/64 {
		*b = append(*b, 0)
	}
	(*b)[line/64] |= 1 << (line % 64)
}

func (b bitmap) has(line uint64) bool {
	return line/64 < uint64(len(b)) && b[line/64]&(1<<(line%64)) != 0
}
