package export

import (
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/weftcrawl/weft"
)

const (
	rowGroup = 100_000 // rows; a group is in memory, compressed
	rowBatch = 64      // rows that are handed over at once
)

// parquetWriter writes a table as Parquet.
type parquetWriter struct {
	*parquet.Writer
	columns []column
	batch   []parquet.Row
}

func newParquet(to io.Writer, name string, columns []column) (rowWriter, error) {
	root := inOrder{Group: make(parquet.Group, len(columns))}
	for _, c := range columns {
		root.Group[c.name] = c.parquet()
	}
	root.fields = root.Group.Fields()
	place := func(f parquet.Field) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == f.Name() })
	}
	slices.SortFunc(root.fields, func(a, b parquet.Field) int { return place(a) - place(b) })
	w := parquet.NewWriter(to, parquet.NewSchema(name, root), parquet.Compression(codec),
		parquet.MaxRowsPerRowGroup(rowGroup), parquet.PageBufferSize(64<<10), parquet.CreatedBy("weft", weft.Version, ""))
	return &parquetWriter{Writer: w, columns: columns}, nil
}

var codec compress.Codec = &zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}

// inOrder is a group whose fields are not in the order of their names.
type inOrder struct {
	parquet.Group
	fields []parquet.Field
}

func (g inOrder) Fields() []parquet.Field { return g.fields }

// parquet returns the type of a column.
func (c *column) parquet() parquet.Node {
	var node parquet.Node
	switch c.kind {
	case integer:
		node = parquet.Int(64)
	case number:
		node = parquet.Leaf(parquet.DoubleType)
	case boolean:
		return parquet.Leaf(parquet.BooleanType)
	case date:
		node = parquet.Timestamp(parquet.Microsecond)
	default:
		node = parquet.String()
	}
	if c.few {
		node = parquet.Encoded(node, &parquet.RLEDictionary)
	}
	switch {
	case c.kind == list:
		return parquet.Repeated(node)
	case c.optional:
		return parquet.Optional(node)
	}
	return node
}

func (w *parquetWriter) row(row reflect.Value) error {
	var values parquet.Row
	for i := range w.columns {
		values = w.columns[i].appendParquet(values, i, row)
	}
	if w.batch = append(w.batch, values); len(w.batch) < rowBatch {
		return nil
	}
	return w.write()
}

func (w *parquetWriter) write() error {
	_, err := w.WriteRows(w.batch)
	w.batch = w.batch[:0]
	return err
}

func (w *parquetWriter) close() error {
	if err := w.write(); err != nil {
		return err
	}
	return w.Close()
}

// appendParquet appends the values of a row's column: several only of a list.
func (c *column) appendParquet(to parquet.Row, at int, row reflect.Value) parquet.Row {
	v, ok := c.value(row)
	if !ok {
		return append(to, parquet.NullValue().Level(0, 0, at))
	}
	if c.kind == list {
		for i, s := range texts(v) {
			to = append(to, parquet.ByteArrayValue([]byte(s)).Level(min(i, 1), 1, at))
		}
		return to
	}
	defined := 0
	if c.optional {
		defined = 1
	}
	return append(to, c.parquetValue(v).Level(0, defined, at))
}

func (c *column) parquetValue(v reflect.Value) parquet.Value {
	switch c.kind {
	case integer:
		return parquet.Int64Value(v.Int())
	case number:
		return parquet.DoubleValue(v.Float())
	case boolean:
		return parquet.BooleanValue(v.Bool())
	case date:
		return parquet.Int64Value(timeOf(v).UnixMicro())
	}
	return parquet.ByteArrayValue([]byte(v.String()))
}
