package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"

	"github.com/weftcrawl/weft/internal/extsort"
)

// joins brings together what one page says of another: that it has an element of a name, or a page in
// another language. What a page has comes first in the order of the lines, then what others say of
// it. A line is a sort of join, the page, the name, whether it is had (0) or mentioned (1), and the
// finding to report if it is not had.
type joins struct{ lines *extsort.Sorter }

const (
	joinAnchor = 'a' // a page has an element; others mention it
	joinReturn = 'r' // a page has another as an alternate; that has it, too
)

const (
	had       = 0
	mentioned = 1
)

// whole is the name under which a page says that it has been read.
const whole = 0

func newJoins(dir string) *joins { return &joins{extsort.New(dir)} }

func line(sort byte, of key, name uint64, what byte, f *Finding) []byte {
	b := append([]byte{sort}, of[:]...)
	b = append(binary.BigEndian.AppendUint64(b, name), what)
	if f != nil {
		f.clip()
		text, _ := json.Marshal(f) // a struct of strings and numbers
		b = append(b, text...)
	}
	return b
}

const lineHead = 1 + len(key{}) + 8 + 1

// read says that a page has been read, and has elements of these names.
func (j *joins) read(of key, anchors []uint64) error {
	err := j.lines.Add(line(joinAnchor, of, whole, had, nil))
	for _, name := range anchors {
		if err == nil {
			err = j.lines.Add(line(joinAnchor, of, name, had, nil))
		}
	}
	return err
}

// mention says that a link leads to a name on a page. If that has been read, and has none, f is a
// finding.
func (j *joins) mention(of key, name uint64, f *Finding) error {
	return j.lines.Add(line(joinAnchor, of, name, mentioned, f))
}

// alternate says that a page has another as an alternate. If that has been read, and does not have
// the page in turn, f is a finding.
func (j *joins) alternate(page, other key, f *Finding) error {
	err := j.lines.Add(line(joinReturn, page, short(other), had, nil))
	if err == nil {
		err = j.lines.Add(line(joinReturn, other, short(page), mentioned, f))
	}
	return err
}

// alternatesRead says that the alternates of a page have been read.
func (j *joins) alternatesRead(page key) error {
	return j.lines.Add(line(joinReturn, page, whole, had, nil))
}

func short(k key) uint64 { return max(1, binary.BigEndian.Uint64(k[:])) }

// each calls use for what is mentioned, and not had by a page that was read.
func (j *joins) each(ctx context.Context, use func(Finding)) error {
	var read, has []byte // the beginnings of lines
	return j.lines.Each(func(l []byte) error {
		head := l[:lineHead-1]
		page := head[:len(head)-8]
		switch {
		case l[lineHead-1] == had && binary.BigEndian.Uint64(head[len(page):]) == whole:
			read = append(read[:0], page...)
		case l[lineHead-1] == had:
			has = append(has[:0], head...)
		case bytes.Equal(page, read) && !bytes.Equal(head, has):
			var f Finding
			if err := json.Unmarshal(l[lineHead:], &f); err != nil {
				return err
			}
			use(f)
		}
		return ctx.Err()
	})
}

func (j *joins) close() error { return j.lines.Close() }
