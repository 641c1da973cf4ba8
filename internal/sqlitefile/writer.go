package sqlitefile

import (
	"encoding/binary"
	"io"
)

const (
	headerSize = 100                   // of the file, at the beginning of page 1
	version    = 3_046_000             // of SQLite: a library that has written such a file
	magic      = "SQLite format 3\x00" // at the file's beginning
)

// Writer writes a database. Owner: one goroutine.
type Writer struct {
	file   io.WriterAt
	pages  *pages
	temp   string
	schema [3][]object // tables, indexes, views
}

// object is a row of the schema.
type object struct {
	kind, name, table string
	root              uint32 // page; 0: a view has none
	sql               string
}

// New returns a writer of a database to an empty file. Indexes are sorted in the folder temp; "" is
// that for temporary files.
func New(file io.WriterAt, temp string) *Writer {
	return &Writer{file: file, pages: newPages(file), temp: temp}
}

// View adds a view, whose query nobody checks.
func (w *Writer) View(name, query string) {
	w.schema[2] = append(w.schema[2], object{"view", name, name, 0, "CREATE VIEW " + name + " AS " + query})
}

// Close completes the database: without it the file is none. It does not close the file.
func (w *Writer) Close() error {
	t := tree{pages: w.pages}
	var r record
	rowid := int64(0)
	for _, objects := range w.schema {
		for _, o := range objects {
			r.begin()
			r.text(o.kind)
			r.text(o.name)
			r.text(o.table)
			r.integer(int64(o.root))
			r.text(o.sql)
			rowid++
			if err := t.addRow(rowid, r.bytes()); err != nil {
				return err
			}
		}
	}
	root, err := t.root()
	if err == nil && root.size() > pageSize-headerSize {
		// The root is page 1, which has less room: there, a page may be empty but for the one below.
		below, failed := t.put(root)
		root, err = &level{kind: interiorTable, right: below}, failed
	}
	if err == nil {
		err = w.pages.out.Flush()
	}
	if err != nil {
		return err
	}
	var page [pageSize]byte
	root.write(page[:], headerSize)
	w.header(page[:])
	_, err = w.file.WriteAt(page[:], 0)
	return err
}

// header writes the first 100 bytes of the file: fields that are not named are 0.
func (w *Writer) header(page []byte) {
	copy(page, magic)
	binary.BigEndian.PutUint16(page[16:], pageSize)
	copy(page[18:], []byte{
		1, 1, // format of writing and reading: a journal, not a log
		0, 64, 32, 32, // bytes of a page that are not used; constants
	})
	binary.BigEndian.PutUint32(page[24:], 1)              // changes of the file
	binary.BigEndian.PutUint32(page[28:], w.pages.next-1) // pages
	binary.BigEndian.PutUint32(page[40:], 1)              // changes of the schema
	binary.BigEndian.PutUint32(page[44:], 4)              // format of the schema
	binary.BigEndian.PutUint32(page[56:], 1)              // UTF-8
	binary.BigEndian.PutUint32(page[92:], 1)              // changes, as of the number of pages
	binary.BigEndian.PutUint32(page[96:], version)
}
