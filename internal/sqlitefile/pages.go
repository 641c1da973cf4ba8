package sqlitefile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

const (
	pageSize = 4096
	lockPage = 1<<30/pageSize + 1 // programs lock bytes of it: it holds nothing
)

// pages are those of a file from the second on, written in order.
type pages struct {
	out  *bufio.Writer
	next uint32 // the number of a page
}

func newPages(file io.WriterAt) *pages {
	return &pages{bufio.NewWriterSize(io.NewOffsetWriter(file, pageSize), 256<<10), 2}
}

// append writes the next page and returns its number.
func (p *pages) append(page []byte) (uint32, error) {
	if p.next == lockPage {
		if _, err := p.out.Write(make([]byte, pageSize)); err != nil {
			return 0, err
		}
	}
	number := p.number()
	p.next = number + 1
	if p.next == 0 {
		return 0, errors.New("sqlitefile: no page is left")
	}
	_, err := p.out.Write(page)
	return number, err
}

// number returns the number that the next page gets.
func (p *pages) number() uint32 {
	if p.next == lockPage {
		return lockPage + 1
	}
	return p.next
}

// overflow writes what a payload has beyond its cell as a chain of pages, and returns the first.
func (p *pages) overflow(rest []byte) (first uint32, err error) {
	first = p.number()
	for len(rest) > 0 {
		var page [pageSize]byte
		n := copy(page[4:], rest)
		if rest = rest[n:]; len(rest) > 0 {
			following := p.number() + 1
			if following == lockPage {
				following++
			}
			binary.BigEndian.PutUint32(page[:], following)
		}
		if _, err := p.append(page[:]); err != nil {
			return 0, err
		}
	}
	return first, nil
}
