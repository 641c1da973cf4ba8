// Package sqlitefile writes database files of SQLite, from their first page to their last.
//
// The format (https://sqlite.org/fileformat2.html) is kept by its authors, who promise to read it
// through 2050. A table's rows come in order and get the rowids 1, 2, …; an index is sorted on
// disk (package internal/extsort) when its table is complete. So every b-tree grows from its
// leaves up, each page is written once, and memory does not grow with the rows. Nothing is read,
// changed or deleted, and there is no SQL but the text of CREATE statements: whoever opens the
// file has SQLite.
//
// What is written: rowid tables, indexes of one column that holds texts, integers or NULL, views.
// Pages have 4,096 bytes, texts are UTF-8.
package sqlitefile
