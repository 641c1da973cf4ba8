package parquetfile

import "encoding/binary"

// Types of fields in Thrift's compact protocol:
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
const (
	thriftTrue   = 1
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// compact is a struct of Thrift's compact protocol in its making. Its fields come in the order of
// their numbers, none of which is 16 or more above the one before.
type compact struct {
	bytes []byte
	last  int // number of the last field
}

func (c *compact) field(number int, kind byte) {
	c.bytes = append(c.bytes, byte(number-c.last)<<4|kind)
	c.last = number
}

func (c *compact) isTrue(number int) { c.field(number, thriftTrue) }

func (c *compact) i32(number, v int) {
	c.field(number, thriftI32)
	c.bytes = binary.AppendVarint(c.bytes, int64(v))
}

func (c *compact) i64(number int, v int64) {
	c.field(number, thriftI64)
	c.bytes = binary.AppendVarint(c.bytes, v)
}

func (c *compact) binary(number int, v []byte) {
	c.field(number, thriftBinary)
	c.bytes = append(binary.AppendUvarint(c.bytes, uint64(len(v))), v...)
}

// list begins a list, whose elements follow.
func (c *compact) list(number int, kind byte, elements int) {
	c.field(number, thriftList)
	if elements < 15 {
		c.bytes = append(c.bytes, byte(elements)<<4|kind)
		return
	}
	c.bytes = binary.AppendUvarint(append(c.bytes, 15<<4|kind), uint64(elements))
}

// structure adds a struct that is a field.
func (c *compact) structure(number int, fields func()) {
	c.field(number, thriftStruct)
	c.element(fields)
}

// element adds a struct that is an element of a list, or the outermost.
func (c *compact) element(fields func()) {
	outer := c.last
	c.last = 0
	fields()
	c.bytes = append(c.bytes, 0)
	c.last = outer
}
