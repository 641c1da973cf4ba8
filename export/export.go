package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
)

// Options select the rows and columns of an export. The zero value is all pages.
type Options struct {
	Format string        // one of Formats
	Table  string        // one of Tables, for formats of one table; empty: pages
	Fields []string      // the columns, in their order; empty: all
	Where  string        // a condition over the table's fields: see package where; empty: none
	State  weft.URLState // of pages: as weft.URLFilter.State; empty: all that have a record
	Visit  int           // the records of this visit; 0: the last record of each URL
	Temp   string        // folder for temporary files; empty: the system's
}

// OptionError is returned for an option that is wrong.
type OptionError struct {
	Option string // its name in lower case
	Value  string
	Err    error
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s %.128q: %v", e.Option, e.Value, e.Err) }
func (e *OptionError) Unwrap() error { return e.Err }

// format is a way to write a job.
type format struct {
	name  string
	ends  []string // of the names of files
	text  bool     // it may be written to a terminal or a pipe
	table string   // with the fields of the options; empty: the one asked for
	write func(s *source, rows rows, to io.Writer) error
}

var formats = []format{
	{"csv", []string{".csv"}, true, "", oneTable(newCSV)},
	{"jsonl", []string{".jsonl", ".ndjson"}, true, "", oneTable(newJSONL)},
	{"parquet", []string{".parquet"}, false, "", oneTable(newParquet)},
	{"sqlite", []string{".sqlite", ".sqlite3", ".db"}, false, "pages", writeSQLite},
	{"graphml", []string{".graphml"}, true, "pages", writeGraphML},
	{"edges", []string{".edges", ".edgelist"}, true, "links", writeEdges},
}

// Formats returns the names of the formats.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// FormatOf returns the format that the name of a file ends with; "" for none.
func FormatOf(path string) string {
	end := strings.ToLower(filepath.Ext(path))
	at := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.ends, end) })
	if at < 0 {
		return ""
	}
	return formats[at].name
}

// IsText reports whether a format may be written to a pipe: it is text, written from its beginning
// to its end.
func IsText(name string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.name == name && f.text })
}

// rows are the rows of a table that the options select.
type rows struct {
	table   *table
	columns []column
	where   string
}

// Export is a checked set of options.
type Export struct {
	format format
	rows   rows
	o      Options
}

// New checks options. Errors: *OptionError.
func New(o Options) (*Export, error) {
	at := slices.IndexFunc(formats, func(f format) bool { return f.name == o.Format })
	if at < 0 {
		return nil, &OptionError{"format", o.Format, errors.New("expected one of " + strings.Join(Formats(), ", "))}
	}
	e := &Export{format: formats[at], o: o}
	name := o.Table
	if e.format.table != "" {
		if name != "" && name != e.format.table {
			return nil, &OptionError{"table", name, fmt.Errorf("expected no table, as %s has its own", o.Format)}
		}
		name = e.format.table
	}
	t, err := tableNamed(name)
	if err != nil {
		return nil, err
	}
	if e.format.name != "sqlite" && e.format.table != "" && len(o.Fields) > 0 {
		return nil, &OptionError{"fields", o.Fields[0], errors.New(o.Format + " has its own fields")}
	}
	var columns []column
	if t.ofJob == nil {
		if columns, err = t.only(o.Fields); err == nil {
			_, err = t.rows(nil, o.Where)
		}
	}
	e.rows = rows{t, columns, o.Where}
	return e, err
}

// Write writes the export of a job in a folder; nil: the folder has results and no state. For
// SQLite, the writer has a method Name, as an *os.File has, and the database is the file of that
// name. Errors: ErrNoLinks, ErrNoItems, ErrNoState, an *OptionError about a field that items do not
// have, those of reading and writing, and those of ctx.
func (e *Export) Write(ctx context.Context, dir string, job *weft.Job, to io.Writer) error {
	s := &source{ctx: ctx, dir: dir, job: job, o: &e.o}
	r := e.rows
	if r.table.ofJob != nil {
		var err error
		if r.table, err = r.table.ofJob(s); err != nil {
			return err
		}
		if r.columns, err = r.table.only(e.o.Fields); err != nil {
			return err
		}
	}
	return e.format.write(s, r, to)
}

// rowWriter writes rows. Owner: one goroutine.
type rowWriter interface {
	row(reflect.Value) error
	close() error // writes what is left
}

// oneTable writes a table with a writer of its rows.
func oneTable(open func(to io.Writer, name string, columns []column) (rowWriter, error)) func(*source, rows, io.Writer) error {
	return func(s *source, r rows, to io.Writer) error {
		buffered := bufio.NewWriterSize(to, 256<<10)
		w, err := open(buffered, r.table.name, r.columns)
		if err == nil {
			err = r.each(s, w.row)
		}
		if err == nil {
			err = w.close()
		}
		// What was written before an error of reading is whole, as a pipe has it.
		return errors.Join(err, buffered.Flush())
	}
}
