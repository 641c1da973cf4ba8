package parquetfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Numbers of the format.
const (
	encodingPlain      = 0
	encodingRuns       = 3
	encodingDictionary = 8

	pageData       = 0
	pageDictionary = 2

	codecZstd = 6
)

const (
	pageBytes       = 128 << 10 // of plain values in a page
	pageValues      = 16 << 10  // in a page, absent ones included
	dictionaryBytes = 1 << 20   // of words; later values are plain
	boundBytes      = 256       // of the least and the greatest value; a longer one is left out
)

// chunk is the column of a group of rows in its making.
type chunk struct {
	Column
	zstd    *zstd.Encoder
	pages   []byte // complete ones, with their headers
	plain   int64  // bytes of pages before they were compressed
	values  int64  // absent ones included
	nulls   int64
	min     []byte // of the values that are there
	max     []byte
	words   map[string]uint32 // numbers of the words of the dictionary
	entries []byte            // the words, plain
	indexed bool              // values are written as numbers of words

	// The page in its making.
	repetitions []uint32 // 0: the first value of a row
	definitions []uint32 // 0: there is none
	numbers     []uint32 // of words, or booleans
	body        []byte   // plain values

	value, scratch, compressed []byte
}

// begin empties the chunk.
func (c *chunk) begin() {
	c.pages, c.entries = c.pages[:0], c.entries[:0]
	c.plain, c.values, c.nulls = 0, 0, 0
	c.indexed = c.Few
	clear(c.words)
}

// add adds a row's value: see [Writer.Add].
func (c *chunk) add(v any) error {
	list, isList := v.([]string)
	switch {
	case v == nil && c.Repetition != Required, isList && len(list) == 0 && c.Repetition == Repeated:
		c.level(0, 0)
		c.nulls++
	case isList && c.Type == Text && c.Repetition == Repeated:
		for i, s := range list {
			c.level(uint32(min(i, 1)), 1)
			c.put(append(c.value[:0], s...))
		}
	default:
		kind, value := c.encoded(v)
		if kind != c.Type || c.Repetition == Repeated {
			return fmt.Errorf("parquetfile: column %s: a value of type %T", c.Name, v)
		}
		c.level(0, 1)
		c.put(value)
	}
	full := c.indexed && len(c.entries) >= dictionaryBytes
	if full || len(c.body) >= pageBytes || len(c.definitions) >= pageValues {
		c.endPage()
	}
	c.indexed = c.indexed && !full
	return nil
}

// encoded returns the bytes of a value, valid until the next, and the type that it has; -1: none.
func (c *chunk) encoded(v any) (Type, []byte) {
	to := c.value[:0]
	switch v := v.(type) {
	case string:
		return Text, append(to, v...)
	case int64:
		return Integer, binary.LittleEndian.AppendUint64(to, uint64(v))
	case float64:
		return Number, binary.LittleEndian.AppendUint64(to, math.Float64bits(v))
	case bool:
		if v {
			return Boolean, append(to, 1)
		}
		return Boolean, append(to, 0)
	case time.Time:
		return Time, binary.LittleEndian.AppendUint64(to, uint64(v.UnixMicro()))
	}
	return -1, nil
}

// level adds the levels of a value: whether it continues a row, and whether there is one.
func (c *chunk) level(repetition, definition uint32) {
	c.values++
	if c.Repetition == Repeated {
		c.repetitions = append(c.repetitions, repetition)
	}
	c.definitions = append(c.definitions, definition)
}

// put adds the bytes of a value that is there.
func (c *chunk) put(value []byte) {
	c.value = value
	first := c.values == c.nulls+1
	if first || c.compare(value, c.min) < 0 {
		c.min = append(c.min[:0], value...)
	}
	if first || c.compare(value, c.max) > 0 {
		c.max = append(c.max[:0], value...)
	}
	switch {
	case c.indexed:
		number, known := c.words[string(value)]
		if !known {
			number = uint32(len(c.words))
			c.words[string(value)] = number
			c.entries = c.appendPlain(c.entries, value)
		}
		c.numbers = append(c.numbers, number)
	case c.Type == Boolean:
		c.numbers = append(c.numbers, uint32(value[0]))
	default:
		c.body = c.appendPlain(c.body, value)
	}
}

func (c *chunk) appendPlain(to, value []byte) []byte {
	if c.Type == Text {
		to = binary.LittleEndian.AppendUint32(to, uint32(len(value)))
	}
	return append(to, value...)
}

// compare compares the bytes of two values.
func (c *chunk) compare(x, y []byte) int {
	switch c.Type {
	case Integer, Time:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(x)), int64(binary.LittleEndian.Uint64(y)))
	case Number:
		return cmp.Compare(math.Float64frombits(binary.LittleEndian.Uint64(x)), math.Float64frombits(binary.LittleEndian.Uint64(y)))
	}
	return bytes.Compare(x, y)
}

// endPage writes the page in its making, if there is one.
func (c *chunk) endPage() {
	if len(c.definitions) == 0 {
		return
	}
	b := c.scratch[:0]
	if c.Repetition == Repeated {
		b = appendLevels(b, c.repetitions)
	}
	if c.Repetition != Required {
		b = appendLevels(b, c.definitions)
	}
	encoding := encodingPlain
	switch {
	case c.indexed && len(c.words) > 0: // readers expect a dictionary only where one is named
		encoding = encodingDictionary
		width := max(1, bits.Len(uint(len(c.words)-1)))
		b = appendRuns(append(b, byte(width)), c.numbers, width)
	case c.Type == Boolean:
		b = appendPacked(b, c.numbers, 1)
	default:
		b = append(b, c.body...)
	}
	c.scratch = b
	count := len(c.definitions)
	c.pages = c.appendPage(c.pages, pageData, b, func(header *compact) {
		header.structure(5, func() {
			header.i32(1, count)
			header.i32(2, encoding)
			header.i32(3, encodingRuns)
			header.i32(4, encodingRuns)
		})
	})
	c.repetitions, c.definitions, c.numbers, c.body = c.repetitions[:0], c.definitions[:0], c.numbers[:0], c.body[:0]
}

// appendLevels appends levels of a page, which are 0 or 1, behind their size.
func appendLevels(b []byte, levels []uint32) []byte {
	at := len(b)
	b = appendRuns(append(b, 0, 0, 0, 0), levels, 1)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendPage appends a page: its header, with what its kind adds, and its compressed bytes.
func (c *chunk) appendPage(to []byte, kind int, plain []byte, more func(header *compact)) []byte {
	c.compressed = c.zstd.EncodeAll(plain, c.compressed[:0])
	var header compact
	header.element(func() {
		header.i32(1, kind)
		header.i32(2, len(plain))
		header.i32(3, len(c.compressed))
		more(&header)
	})
	c.plain += int64(len(header.bytes) + len(plain))
	return append(append(to, header.bytes...), c.compressed...)
}

// end completes the chunk and returns its bytes: the page of the dictionary, and the others.
func (c *chunk) end() (dictionary, pages []byte) {
	c.endPage()
	if len(c.entries) > 0 {
		dictionary = c.appendPage(nil, pageDictionary, c.entries, func(header *compact) {
			header.structure(7, func() {
				header.i32(1, len(c.words))
				header.i32(2, encodingPlain)
			})
		})
	}
	return dictionary, c.pages
}
