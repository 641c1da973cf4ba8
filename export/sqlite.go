package export

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// sqlTypes are the types of columns. A boolean is 0 or 1; a time is text in RFC 3339, which
// SQLite's functions read; a list is its values, joined with commas.
var sqlTypes = map[kind]string{text: "TEXT", integer: "INTEGER", number: "REAL", boolean: "INTEGER", date: "TEXT", list: "TEXT"}

// sqlIndexes are made when the tables are full, if these have the column.
var sqlIndexes = []struct{ table, column, unique string }{
	{"pages", "url", "UNIQUE"}, {"pages", "status", ""}, {"pages", "host", ""}, {"pages", "error_kind", ""},
	{"pages", "redirect", ""}, {"pages", "sha256", ""}, {"links", "from", ""}, {"links", "to", ""}, {"hosts", "host", ""},
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
func writeSQLite(s *source, r rows, to io.Writer) error {
	f, ok := to.(interface{ Name() string })
	if !ok || f.Name() == "" {
		return errors.New("sqlite: expected a file")
	}
	// Nobody reads the file before it is complete: it needs no journal.
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: f.Name()}).EscapedPath()}).String()+
		"?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=locking_mode(exclusive)&vfs=unix-none&_pragma=cache_size(-16000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	return errors.Join(fillSQLite(s, r, db), db.Close())
}

// fillSQLite writes the tables in one transaction.
func fillSQLite(s *source, pages rows, db *sql.DB) error {
	tx, err := db.BeginTx(s.ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of what was not committed
	if err := sqlTable(s, tx, pages); err != nil {
		return err
	}
	for _, name := range []string{"links", "items", "hosts"} {
		t, err := tableNamed(name)
		if err == nil && t.ofJob != nil {
			t, err = t.ofJob(s)
		}
		if err == nil {
			err = sqlTable(s, tx, rows{table: t, columns: t.columns})
		}
		// Without links or a state the table is empty; without items there is none.
		if err != nil && !errors.Is(err, ErrNoLinks) && !errors.Is(err, ErrNoState) && !errors.Is(err, ErrNoItems) {
			return err
		}
	}
	if err := sqlExtras(s.ctx, tx, pages); err != nil {
		return err
	}
	return tx.Commit()
}

// sqlTable writes a table.
func sqlTable(s *source, tx *sql.Tx, r rows) error {
	var columns, marks []string
	for _, c := range r.columns {
		columns = append(columns, fmt.Sprintf("%q %s", c.name, sqlTypes[c.kind]))
		marks = append(marks, "?")
	}
	create := fmt.Sprintf("CREATE TABLE %s (%s)", r.table.name, strings.Join(columns, ", "))
	if _, err := tx.ExecContext(s.ctx, create); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(s.ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s)", r.table.name, strings.Join(marks, ",")))
	if err != nil {
		return err
	}
	defer insert.Close()
	values := make([]any, len(r.columns))
	return r.each(s, func(row reflect.Value) error {
		for i := range r.columns {
			values[i] = r.columns[i].sql(row)
		}
		// No context: a transaction whose context ends rolls back by itself, and a statement with
		// one starts a goroutine.
		_, err := insert.Exec(values...)
		return err
	})
}

func (c *column) sql(row reflect.Value) any {
	v, ok := c.of(row)
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

// sqlExtras makes the indexes, and the views whose columns the table pages has.
func sqlExtras(ctx context.Context, tx *sql.Tx, pages rows) error {
	has := func(name string) bool {
		for _, c := range pages.columns {
			if c.name == name {
				return true
			}
		}
		return false
	}
	for _, x := range sqlIndexes {
		if x.table == "pages" && !has(x.column) {
			continue
		}
		create := fmt.Sprintf(`CREATE %s INDEX %s_%s ON %s (%q)`, x.unique, x.table, x.column, x.table, x.column)
		if _, err := tx.ExecContext(ctx, create); err != nil {
			return err
		}
	}
	if len(pages.columns) < len(pages.table.columns) {
		return nil
	}
	for _, v := range sqlViews {
		if _, err := tx.ExecContext(ctx, "CREATE VIEW "+v.name+" AS "+v.query); err != nil {
			return err
		}
	}
	return nil
}
