package export

import (
	"io"
	"reflect"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/parquetfile"
)

// parquetWriter writes a table as Parquet.
type parquetWriter struct {
	*parquetfile.Writer
	columns []column
	values  []any
}

// parquetTypes are the types of columns; that of the others is a text.
var parquetTypes = map[kind]parquetfile.Type{
	integer: parquetfile.Integer, number: parquetfile.Number, boolean: parquetfile.Boolean, date: parquetfile.Time,
}

func newParquet(to io.Writer, name string, columns []column) (rowWriter, error) {
	all := make([]parquetfile.Column, len(columns))
	for i, c := range columns {
		all[i] = parquetfile.Column{Name: c.name, Type: parquetTypes[c.kind], Few: c.few}
		switch {
		case c.kind == list:
			all[i].Repetition = parquetfile.Repeated
		case c.optional:
			all[i].Repetition = parquetfile.Optional
		}
	}
	w, err := parquetfile.New(to, name, "weft version "+weft.Version+" (build )", all)
	return &parquetWriter{w, columns, make([]any, len(columns))}, err
}

func (w *parquetWriter) row(row reflect.Value) error {
	for i := range w.columns {
		w.values[i] = w.columns[i].parquet(row)
	}
	return w.Add(w.values)
}

func (w *parquetWriter) close() error { return w.Close() }

func (c *column) parquet(row reflect.Value) any {
	v, ok := c.value(row)
	if !ok {
		return nil
	}
	switch c.kind {
	case integer:
		return v.Int()
	case number:
		return v.Float()
	case boolean:
		return v.Bool()
	case date:
		return timeOf(v)
	case list:
		return texts(v)
	}
	return v.String()
}
