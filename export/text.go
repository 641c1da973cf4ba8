package export

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"reflect"

	"github.com/weftcrawl/weft/record"
)

// csvWriter writes CSV (RFC 4180) with a header, as a crawl does.
type csvWriter struct {
	*csv.Writer
	columns []column
	cells   []string
}

func newCSV(to io.Writer, _ string, columns []column) (rowWriter, error) {
	w := &csvWriter{csv.NewWriter(to), columns, make([]string, len(columns))}
	for i := range columns {
		w.cells[i] = columns[i].name
	}
	return w, w.Write(w.cells)
}

func (w *csvWriter) row(row reflect.Value) error {
	for i := range w.columns {
		c := &w.columns[i]
		w.cells[i] = ""
		if v, ok := c.value(row); ok {
			w.cells[i] = c.inText(v)
		}
		if c.kind == text || c.kind == list {
			w.cells[i] = record.AsText(w.cells[i])
		}
	}
	return w.Write(w.cells)
}

func (w *csvWriter) close() error {
	w.Flush()
	return w.Error()
}

// jsonWriter writes JSON lines, as pages.jsonl has them.
type jsonWriter struct {
	to      io.Writer
	columns []column
	line    bytes.Buffer
	values  *json.Encoder // to line
}

func newJSONL(to io.Writer, _ string, columns []column) (rowWriter, error) {
	w := &jsonWriter{to: to, columns: columns}
	w.values = json.NewEncoder(&w.line)
	w.values.SetEscapeHTML(false)
	return w, nil
}

func (w *jsonWriter) row(row reflect.Value) error {
	w.line.Reset()
	begin := byte('{')
	for i := range w.columns {
		c := &w.columns[i]
		v, ok := c.value(row)
		if !ok || c.omitted && v.IsZero() {
			continue
		}
		w.line.WriteByte(begin)
		begin = ','
		w.line.WriteByte('"')
		w.line.WriteString(c.name)
		w.line.WriteString(`":`)
		if c.json {
			w.line.WriteString(v.String())
			continue
		}
		if err := w.values.Encode(v.Interface()); err != nil {
			return err
		}
		w.line.Truncate(w.line.Len() - 1) // the end of a line
	}
	if begin == '{' {
		w.line.WriteByte('{')
	}
	w.line.WriteString("}\n")
	_, err := w.to.Write(w.line.Bytes())
	return err
}

func (w *jsonWriter) close() error { return nil }

// writeEdges writes each edge of the link graph as a line: page, tab, target.
func writeEdges(s *source, r rows, to io.Writer) error {
	w := bufio.NewWriterSize(to, 256<<10)
	err := s.eachEdge(r.where, nil, func(l *record.Link) error {
		for _, part := range []string{l.From, "\t", l.To, "\n"} {
			if _, err := w.WriteString(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = w.Flush()
	}
	return err
}
