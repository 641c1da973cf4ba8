package parquetfile

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	magic      = "PAR1" // at the file's beginning and end
	groupRows  = 100_000
	groupBytes = 64 << 20 // of compressed pages, after which a group ends early
)

// Type is the type of a column's values.
type Type int

// The types of values: string in UTF-8; int64; float64, which is not NaN; bool; time.Time, of which
// microseconds are kept.
const (
	Text Type = iota
	Integer
	Number
	Boolean
	Time
)

// Repetition is the number of values that a row may have in a column.
type Repetition int

// The repetitions, with the numbers of the format: one; one or none; any number, of texts.
const (
	Required Repetition = iota
	Optional
	Repeated
)

// Column is a column of a table.
type Column struct {
	Name       string
	Type       Type
	Repetition Repetition
	Few        bool // its values repeat: a dictionary makes them small
}

// physical are the format's numbers of the types that hold those of values.
var physical = map[Type]int{Boolean: 0, Integer: 2, Time: 2, Number: 5, Text: 6}

// Writer writes a table. Owner: one goroutine.
type Writer struct {
	to      io.Writer
	offset  int64 // in the file
	err     error // of writing
	name    string
	creator string
	chunks  []*chunk
	rows    int64    // of complete groups
	inGroup int      // rows of the group in its making
	groups  [][]byte // descriptions of the complete ones
}

// New returns a writer of a table with a name. The creator is named in the file, as "NAME version
// VERSION (build BUILD)".
func New(to io.Writer, name, creator string, columns []Column) (*Writer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	w := &Writer{to: to, name: name, creator: creator}
	for _, column := range columns {
		c := &chunk{Column: column, zstd: z, words: make(map[string]uint32)}
		c.begin()
		w.chunks = append(w.chunks, c)
	}
	w.write([]byte(magic))
	return w, w.err
}

// Add adds a row: a value of its type for each column, nil if there is none, []string if there may
// be several. After an error, the file cannot be completed.
func (w *Writer) Add(values []any) error {
	held := 0
	for i, c := range w.chunks {
		if err := c.add(values[i]); err != nil {
			return err
		}
		held += len(c.pages)
	}
	if w.inGroup++; w.inGroup == groupRows || held >= groupBytes {
		w.endGroup()
	}
	return w.err
}

// Close completes the file: without it the file is none. It does not close what it writes to.
func (w *Writer) Close() error {
	if w.inGroup > 0 {
		w.endGroup()
	}
	var footer compact
	footer.element(func() { w.describe(&footer) })
	b := binary.LittleEndian.AppendUint32(footer.bytes, uint32(len(footer.bytes)))
	w.write(append(b, magic...))
	return w.err
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
		w.offset += int64(len(b))
	}
}

// endGroup writes the group in its making and begins the next.
func (w *Writer) endGroup() {
	var group compact
	group.element(func() {
		begin, plain := w.offset, int64(0)
		group.list(1, thriftStruct, len(w.chunks))
		for _, c := range w.chunks {
			at := w.offset
			dictionary, pages := c.end()
			w.write(dictionary)
			w.write(pages)
			c.describe(&group, at, len(dictionary), len(pages))
			plain += c.plain
			c.begin()
		}
		group.i64(2, plain)
		group.i64(3, int64(w.inGroup))
		group.i64(5, begin)
		group.i64(6, w.offset-begin)
	})
	w.groups = append(w.groups, group.bytes)
	w.rows += int64(w.inGroup)
	w.inGroup = 0
}

// describe adds the metadata of a chunk that is at an offset of the file.
func (c *chunk) describe(to *compact, at int64, dictionary, pages int) {
	to.element(func() {
		to.i64(2, 0) // an offset that is no longer used
		to.structure(3, func() {
			to.i32(1, physical[c.Type])
			encodings := []int64{encodingPlain, encodingRuns, encodingDictionary}
			if dictionary == 0 {
				encodings = encodings[:2]
			}
			to.list(2, thriftI32, len(encodings))
			for _, e := range encodings {
				to.bytes = binary.AppendVarint(to.bytes, e)
			}
			to.list(3, thriftBinary, 1)
			to.bytes = append(binary.AppendUvarint(to.bytes, uint64(len(c.Name))), c.Name...)
			to.i32(4, codecZstd)
			to.i64(5, c.values)
			to.i64(6, c.plain)
			to.i64(7, int64(dictionary+pages))
			to.i64(9, at+int64(dictionary))
			if dictionary > 0 {
				to.i64(11, at)
			}
			to.structure(12, func() {
				to.i64(3, c.nulls)
				if there := c.values > c.nulls; there && len(c.max) <= boundBytes && len(c.min) <= boundBytes {
					to.binary(5, c.max)
					to.binary(6, c.min)
				}
			})
		})
	})
}

// describe adds the metadata of the file.
func (w *Writer) describe(to *compact) {
	to.i32(1, 2) // version of the format
	to.list(2, thriftStruct, len(w.chunks)+1)
	to.element(func() {
		to.binary(4, []byte(w.name))
		to.i32(5, len(w.chunks))
	})
	for _, c := range w.chunks {
		to.element(func() { c.Column.describe(to) })
	}
	to.i64(3, w.rows)
	to.list(4, thriftStruct, len(w.groups))
	for _, group := range w.groups {
		to.bytes = append(to.bytes, group...)
	}
	to.binary(6, []byte(w.creator))
	to.list(7, thriftStruct, len(w.chunks)) // the order of each column's values: that of its type
	for range w.chunks {
		to.element(func() { to.structure(1, func() {}) })
	}
}

// describe adds the schema of a column. Types are named twice, for readers from before 2018, too.
func (c *Column) describe(to *compact) {
	to.i32(1, physical[c.Type])
	to.i32(3, int(c.Repetition))
	to.binary(4, []byte(c.Name))
	switch c.Type {
	case Text:
		to.i32(6, 0)
		to.structure(10, func() { to.structure(1, func() {}) })
	case Time:
		to.i32(6, 10)
		to.structure(10, func() {
			to.structure(8, func() {
				to.isTrue(1)                                           // of UTC
				to.structure(2, func() { to.structure(2, func() {}) }) // in microseconds
			})
		})
	}
}
