package export

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/record"
)

// kind is the type of a column.
type kind int

const (
	text kind = iota
	integer
	number
	boolean
	date
	list   // of texts
	object // a record, or a list of other than texts: a text column that holds JSON
)

// column is a field of a table's rows.
type column struct {
	name     string // in JSON
	kind     kind
	index    []int // in the row's struct
	optional bool  // its zero value says that there is none
	omitted  bool  // JSON leaves its zero value out
	few      bool  // its values repeat
	nan      bool  // not zero, but NaN says that there is none
	json     bool  // its text is JSON
}

// few are the columns whose values repeat: a dictionary makes them small.
var few = []string{
	"status", "error_kind", "depth", "content_type", "sniffed_type", "charset", "encoding", "sitemap", "robots", "tries", "ip", "visit",
	"change", "unchanged_by", "cut", "warc_file", "host", "state", "role", "method", "protocol", "tls", "needs_scripts", "indexability", "tag", "attr", "rel", "kind", "from", "origin",
}

// columnsOf returns the columns of a struct: the named ones, then the others in its order.
func columnsOf(t reflect.Type, first []string) (all []column) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		k, known := kindOf(f.Type)
		if name == "" || !known {
			continue
		}
		omitted := strings.Contains(options, "omit")
		optional := k == text || k == list || k == date || k == object || k != boolean && omitted
		isJSON := f.Tag.Get("holds") == "json" || k == object
		all = append(all, column{name, k, f.Index, optional, omitted, slices.Contains(few, name), false, isJSON})
	}
	place := func(c column) int {
		if at := slices.Index(first, c.name); at >= 0 {
			return at
		}
		return len(first)
	}
	slices.SortStableFunc(all, func(a, b column) int { return place(a) - place(b) })
	return all
}

func kindOf(t reflect.Type) (kind, bool) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return date, true
	case t == reflect.TypeFor[[]string]():
		return list, true
	case t == reflect.TypeFor[record.Headers](), t == reflect.TypeFor[*record.Rendered]():
		return object, true
	}
	switch t.Kind() {
	case reflect.String:
		return text, true
	case reflect.Int, reflect.Int64:
		return integer, true
	case reflect.Float64:
		return number, true
	case reflect.Bool:
		return boolean, true
	}
	return 0, false
}

// value returns the column's value in a row; ok: there is one.
func (c *column) value(row reflect.Value) (v reflect.Value, ok bool) {
	v = row.FieldByIndex(c.index)
	if c.nan {
		return v, !math.IsNaN(v.Float())
	}
	if h, ok := v.Interface().(record.Headers); ok {
		v = reflect.ValueOf(h.JSON())
	}
	if r, ok := v.Interface().(*record.Rendered); ok {
		v = reflect.ValueOf(r.JSON())
	}
	return v, !c.optional || !v.IsZero()
}

// inText returns a value as CSV has it.
func (c *column) inText(v reflect.Value) string {
	switch c.kind {
	case integer:
		return strconv.FormatInt(v.Int(), 10)
	case number:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case boolean:
		return strconv.FormatBool(v.Bool())
	case date:
		return inRFC3339(v)
	case list:
		return strings.Join(texts(v), ", ")
	}
	return v.String()
}

func inRFC3339(v reflect.Value) string { return timeOf(v).Format(time.RFC3339Nano) }

func timeOf(v reflect.Value) time.Time { return v.Interface().(time.Time) }

func texts(v reflect.Value) []string { return v.Interface().([]string) }
