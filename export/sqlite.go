package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"github.com/weftcrawl/weft/internal/sqlitefile"
)

// sqlTypes are the types of columns. A boolean is 0 or 1; a time is text in RFC 3339, which
// SQLite's functions read; a list is its values, joined with commas.
var sqlTypes = map[kind]string{text: "TEXT", integer: "INTEGER", number: "REAL", boolean: "INTEGER", date: "TEXT", list: "TEXT"}

// sqlIndexes are made of the columns that a table has.
var sqlIndexes = []struct {
	table, column string
	unique        bool
}{
	{"pages", "url", true}, {"pages", "status", false}, {"pages", "host", false}, {"pages", "error_kind", false},
	{"pages", "redirect", false}, {"pages", "sha256", false}, {"links", "from", false}, {"links", "to", false}, {"hosts", "host", false},
}

// sqlViews are made if pages has all its columns. Redirects and errors are tables in other formats.
var sqlViews = []struct{ name, query string }{
	{"redirects", `SELECT url, status, redirect, "from", depth, visit, started FROM pages WHERE redirect IS NOT NULL`},
	{"errors", `SELECT url, status, error_kind, error, "from", depth, tries, visit, started FROM pages WHERE error_kind IS NOT NULL OR status >= 400`},
	{"broken", `SELECT url, status, error_kind, error, "from", depth FROM pages WHERE state <> 'refused' AND (error_kind IS NOT NULL OR status >= 400)`},
	{"broken_links", `SELECT l."from", l."to", l.tag, l.text, p.status, p.error_kind FROM links l JOIN broken p ON p.url = l."to"`},
	{"slow", `SELECT url, status, total_ms, ttfb_ms, bytes FROM pages WHERE total_ms >= 1000 ORDER BY total_ms DESC`},
	{"duplicates", `SELECT sha256, count(*) AS pages, min(url) AS url, max(body_bytes) AS body_bytes, max(title) AS title FROM pages ` +
		`WHERE sha256 IS NOT NULL AND body_bytes > 0 GROUP BY sha256 HAVING count(*) > 1`},
	{"by_host", `SELECT host, count(*) AS pages, sum(status >= 400 OR error_kind IS NOT NULL) AS errors, sum(bytes) AS bytes, avg(total_ms) AS total_ms FROM pages GROUP BY host`},
}

// writeSQLite writes pages, links, items and hosts as tables of a database, with indexes and views.
func writeSQLite(s *source, pages rows, to io.Writer) error {
	named, ok := to.(interface{ Name() string })
	if !ok || named.Name() == "" {
		return errors.New("sqlite: expected a file")
	}
	f, err := os.OpenFile(named.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if i, err := f.Stat(); err != nil || i.Size() > 0 { // which half of another would spoil
		return errors.Join(cmp.Or(err, fmt.Errorf("sqlite: %s: expected an empty file", named.Name())), f.Close())
	}
	return errors.Join(fillSQLite(s, pages, sqlitefile.New(f, s.o.Temp)), f.Close())
}

// fillSQLite writes the database.
func fillSQLite(s *source, pages rows, db *sqlitefile.Writer) error {
	if err := sqlTable(s, db, pages); err != nil {
		return err
	}
	for _, name := range []string{"links", "items", "hosts"} {
		t, err := tableNamed(name)
		if err == nil && t.ofJob != nil {
			t, err = t.ofJob(s)
		}
		if err == nil {
			err = sqlTable(s, db, rows{table: t, columns: t.columns})
		}
		if err != nil && !errors.Is(err, ErrNoItems) { // without items there is no table of them
			return err
		}
	}
	if len(pages.columns) == len(pages.table.columns) {
		for _, v := range sqlViews {
			db.View(v.name, v.query)
		}
	}
	return db.Close()
}

// sqlTable writes a table, which is empty if the job has nothing for it: no links, no state.
func sqlTable(s *source, db *sqlitefile.Writer, r rows) error {
	var columns []sqlitefile.Column
	var indexes []sqlitefile.Index
	for _, c := range r.columns {
		columns = append(columns, sqlitefile.Column{Name: c.name, Type: sqlTypes[c.kind]})
	}
	for _, x := range sqlIndexes {
		if x.table == r.table.name && slices.ContainsFunc(r.columns, func(c column) bool { return c.name == x.column }) {
			indexes = append(indexes, sqlitefile.Index{Name: x.table + "_" + x.column, Column: x.column, Unique: x.unique})
		}
	}
	t, err := db.Table(r.table.name, columns, indexes...)
	if err != nil {
		return err
	}
	values := make([]any, len(r.columns))
	err = r.each(s, func(row reflect.Value) error {
		for i := range r.columns {
			values[i] = r.columns[i].sql(row)
		}
		return t.Add(values)
	})
	if err == nil || errors.Is(err, ErrNoLinks) || errors.Is(err, ErrNoState) {
		err = t.Close(s.ctx)
	}
	return errors.Join(err, t.Discard())
}

func (c *column) sql(row reflect.Value) any {
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
	}
	return c.inText(v)
}
