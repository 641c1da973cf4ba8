package archive

import (
	"io"

	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/warc"
)

// Indexer makes an index of WARC and ARC files: a line of CDXJ for each capture, sorted by bytes,
// as pywb and ReplayWeb.page search it. What does not fit into memory is sorted on disk. One
// goroutine may use it.
type Indexer struct {
	lines *extsort.Sorter
	line  []byte
}

// NewIndexer returns an Indexer that sorts in files of the folder temp; empty: that of the system.
func NewIndexer(temp string) *Indexer { return &Indexer{lines: extsort.New(temp)} }

// File adds the captures of a file, which the lines call by name. It hands on what cannot be read.
// A record that shares a gzip member with others cannot be read from an offset: it is damage, of
// which the first is handed on.
func (x *Indexer) File(name string, from io.Reader, damage func(*warc.DamageError)) error {
	return cdxj.Scan(name, from, nil, func(c *warc.Index) error {
		x.line = c.Append(x.line[:0])
		return x.lines.Add(x.line[:len(x.line)-1])
	}, damage)
}

// WriteTo writes the index of all files.
func (x *Indexer) WriteTo(w io.Writer) (int64, error) { return x.lines.WriteTo(w) }

// Close removes the temporary files.
func (x *Indexer) Close() error { return x.lines.Close() }
