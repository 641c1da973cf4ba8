package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"

	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/where"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// ErrNoItems is returned for a job that has no items.
var ErrNoItems = errors.New("the job has no items, expected a job of weft crawl --extract or --structured")

// mostColumns bounds the columns of items: databases have such a bound, too.
const mostColumns = 1000

// item is the source of the columns of items that are no fields.
type item struct {
	URL        string   `json:"url"`
	Type       string   `json:"type,omitempty"`
	Missing    []string `json:"missing,omitempty"`
	Structured string   `json:"structured,omitempty" holds:"json"`
	Notes      []string `json:"notes,omitempty"`
	Visit      int      `json:"visit,omitempty"`
}

// items is the table of a job's items: a column for each field that one of them has, behind url and
// type. A field that is called like another column is one of "field_" and its name. Records
// are JSON; what is now of one type, now of another, is a text, and JSON where it was none.
func (s *source) items() (*table, error) {
	old, err := s.superseded(s.eachItemLine)
	if err != nil {
		return nil, err
	}
	shape := itemShape{kinds: make(map[string]kind)}
	for i, err := range s.currentItems(old) {
		if err != nil {
			return nil, err
		}
		if err := shape.add(i.Fields); err != nil {
			return nil, err
		}
	}
	t := shape.table()
	t.rows = func(s *source, condition string) (iter.Seq2[reflect.Value, error], error) {
		var filter *where.Condition
		if condition != "" {
			var err error
			if filter, err = where.CompileFor(shape.row0, condition); err != nil {
				return nil, &OptionError{"where", condition, err}
			}
		}
		return func(yield func(reflect.Value, error) bool) {
			for i, err := range s.currentItems(old) {
				var row reflect.Value
				if err == nil {
					row, err = shape.row(i)
				}
				if err == nil && filter != nil {
					holds, bad := filter.Holds(row)
					if bad != nil {
						err = &OptionError{"where", condition, bad}
					} else if !holds {
						continue
					}
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}, nil
	}
	return t, nil
}

// currentItems yields the items of lines that are not in old.
func (s *source) currentItems(old results.Set) iter.Seq2[*record.Item, error] {
	return orNone(results.Each[record.Item](s.ctx, s.dir, job.ItemsFile, old), ErrNoItems)
}

// eachItemLine calls do with the page and the visit of each item.
func (s *source) eachItemLine(do func(url string, e entry) error) error {
	for l, err := range orNone(results.Lines(s.ctx, s.dir, job.ItemsFile, nil), ErrNoItems) {
		if err != nil {
			return err
		}
		url, visit, err := l.URL()
		if err == nil {
			err = do(string(url), entry{line: l.N, visit: visit})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// itemShape is the columns that items have.
type itemShape struct {
	names []string // of fields, in the order in which items have them
	kinds map[string]kind
	row0  reflect.Type
}

// add takes in the fields of an item.
func (t *itemShape) add(fields record.Fields) error {
	for _, f := range fields {
		was, known := t.kinds[f.Name]
		switch is := kindOfValue(f.Value); {
		case !known && len(t.names) == mostColumns:
			return fmt.Errorf("items with more than %d fields, expected --format jsonl of weft extract", mostColumns)
		case !known:
			t.names = append(t.names, f.Name)
			t.kinds[f.Name] = is
		case was != is:
			t.kinds[f.Name] = text
		}
	}
	return nil
}

func kindOfValue(v any) kind {
	switch v := v.(type) {
	case json.Number:
		return number
	case []any:
		for _, part := range v {
			if _, ok := part.(string); !ok {
				return object
			}
		}
		return list
	case string:
		return text
	}
	return object
}

// types are those of the columns of fields.
var types = map[kind]reflect.Type{
	text: reflect.TypeFor[string](), object: reflect.TypeFor[string](), number: reflect.TypeFor[float64](), list: reflect.TypeFor[[]string](),
}

// table returns the table, without its rows. Its rows are structs that are made for it.
func (t *itemShape) table() *table {
	own := make(map[string]bool)
	fields := reflect.VisibleFields(reflect.TypeFor[item]())
	for _, f := range fields {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		own[name] = true
	}
	for i, name := range t.names {
		column := name
		for own[column] {
			column = "field_" + column
		}
		own[column] = true
		tag := fmt.Sprintf("json:%q", column+",omitempty")
		if t.kinds[name] == object {
			tag += ` holds:"json"`
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: types[t.kinds[name]], Tag: reflect.StructTag(tag)})
	}
	t.row0 = reflect.StructOf(fields)
	first := []string{"url", "type"}
	for _, f := range fields[len(fields)-len(t.names):] {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		first = append(first, name)
	}
	columns := columnsOf(t.row0, first)
	for i := range columns {
		if c := &columns[i]; c.kind == number {
			c.nan, c.optional, c.omitted = true, true, false
		}
	}
	return &table{name: "items", columns: columns}
}

// row returns the row of an item.
func (t *itemShape) row(i *record.Item) (reflect.Value, error) {
	row := reflect.New(t.row0).Elem()
	own := item{URL: i.URL, Type: i.Type, Missing: i.Missing, Notes: i.Notes, Visit: i.Visit}
	if i.Structured != nil {
		text, err := inJSON(i.Structured)
		if err != nil {
			return row, err
		}
		own.Structured = text
	}
	from := reflect.ValueOf(own)
	for k := range from.NumField() {
		row.Field(k).Set(from.Field(k))
	}
	for k, name := range t.names {
		v, to := i.Fields.Get(name), row.Field(from.NumField()+k)
		if v == nil {
			if t.kinds[name] == number {
				to.SetFloat(math.NaN())
			}
			continue
		}
		switch t.kinds[name] {
		case number:
			n, err := v.(json.Number).Float64()
			if err != nil {
				return row, fmt.Errorf("%s: %w", name, err)
			}
			to.SetFloat(n)
		case list:
			for _, part := range v.([]any) {
				to.Set(reflect.Append(to, reflect.ValueOf(part)))
			}
		default:
			s, plain := v.(string)
			if !plain {
				var err error
				if s, err = inJSON(v); err != nil {
					return row, err
				}
			}
			to.SetString(s)
		}
	}
	return row, nil
}

func inJSON(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
