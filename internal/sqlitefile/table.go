package sqlitefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/extsort"
)

// sortBytes is the memory of the sorter of an index: all those of a table are open at once.
const sortBytes = 8 << 20

// Column is a column of a table. Its type is SQL's, such as TEXT, and does not change the values
// that are added.
type Column struct{ Name, Type string }

// Index is an index of a table.
type Index struct {
	Name   string
	Column string
	Unique bool // no two rows have the same value; any number have NULL
}

// Table is a table that takes rows. Owner: that of its writer. One table is open at a time.
type Table struct {
	w       *Writer
	name    string
	sql     string
	tree    tree
	rows    int64
	record  record
	indexes []*index
}

// index is an index whose table takes rows.
type index struct {
	Index
	column int
	keys   *extsort.Sorter
	key    []byte
}

// Table begins a table, which is part of the database when it is closed. The indexes have columns
// that the table has.
func (w *Writer) Table(name string, columns []Column, indexes ...Index) (*Table, error) {
	if err := distinct(columns); err != nil {
		return nil, err
	}
	t := &Table{w: w, name: name, tree: tree{pages: w.pages}}
	var definitions []string
	for _, c := range columns {
		definitions = append(definitions, quoted(c.Name)+" "+c.Type)
	}
	for _, x := range indexes {
		at := slices.IndexFunc(columns, func(c Column) bool { return c.Name == x.Column })
		t.indexes = append(t.indexes, &index{Index: x, column: at, keys: extsort.NewWithin(w.temp, sortBytes)})
	}
	t.sql = fmt.Sprintf("CREATE TABLE %s (%s)", name, strings.Join(definitions, ", "))
	return t, nil
}

// Add adds a row: a value for each column, nil, string, int64, float64 or bool, which is 0 or 1.
func (t *Table) Add(values []any) error {
	t.rows++
	t.record.begin()
	for _, v := range values {
		if err := t.record.add(v); err != nil {
			return err
		}
	}
	for _, x := range t.indexes {
		key, err := appendKey(x.key[:0], values[x.column], t.rows)
		if err == nil {
			err = x.keys.Add(key)
		}
		if err != nil {
			return fmt.Errorf("table %s, row %d, column %s: %w", t.name, t.rows, x.Column, err)
		}
		x.key = key
	}
	return t.tree.addRow(t.rows, t.record.bytes())
}

// Close ends a table and writes its indexes, whether or not rows were added.
func (t *Table) Close(ctx context.Context) error {
	root, err := t.tree.end()
	if err != nil {
		return err
	}
	t.w.schema[0] = append(t.w.schema[0], object{"table", t.name, t.name, root, t.sql})
	for _, x := range t.indexes {
		root, err := x.write(ctx, t)
		if err != nil {
			return err
		}
		unique := ""
		if x.Unique {
			unique = "UNIQUE "
		}
		t.w.schema[1] = append(t.w.schema[1], object{"index", x.Name, t.name, root,
			fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)", unique, x.Name, t.name, quoted(x.Column))})
	}
	return t.Discard()
}

// Discard removes what a table has in the folder for temporary files. It may follow Close.
func (t *Table) Discard() error {
	var all []error
	for _, x := range t.indexes {
		all = append(all, x.keys.Close())
	}
	t.indexes = nil
	return errors.Join(all...)
}

// write writes the index of a complete table.
func (x *index) write(ctx context.Context, t *Table) (root uint32, err error) {
	tree := tree{pages: t.w.pages, index: true}
	var last []byte
	err = x.keys.Each(func(key []byte) error {
		value := key[:len(key)-rowidSize]
		if x.Unique && value[0] != keyNull && bytes.Equal(value, last) {
			return fmt.Errorf("sqlitefile: two rows have the same %s.%s", t.name, x.Column)
		}
		last = append(last[:0], value...)
		t.record.begin()
		t.record.key(value)
		t.record.integer(int64(binary.BigEndian.Uint64(key[len(value):])))
		if err := tree.addKey(t.record.bytes()); err != nil {
			return err
		}
		return ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	return tree.end()
}

// quoted returns a name as SQL has it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// distinct returns an error if SQLite would refuse the names of columns.
func distinct(columns []Column) error {
	seen := make(map[string]bool)
	for _, c := range columns {
		folded := strings.Map(func(r rune) rune { // SQLite folds ASCII alone
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}, c.Name)
		if seen[folded] {
			return fmt.Errorf("sqlitefile: duplicate column name: %s", c.Name)
		}
		seen[folded] = true
	}
	return nil
}
