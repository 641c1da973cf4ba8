package inflate_test

import (
	"bytes"
	stdlib "compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/weftcrawl/weft/internal/cost"
	"github.com/weftcrawl/weft/internal/inflate"
)

// sites are the folders of two documentation sites in the Debian packages python3.11-doc and
// libboost1.81-doc.
var sites = []struct{ name, folder string }{
	{"small", "/usr/share/doc/python3.11/html"},
	{"medium", "/usr/share/doc/libboost1.81-doc"},
}

// gzipped returns up to 500 pages of a site, compressed as a server does on the fly, and their
// total length before compression.
func gzipped(b *testing.B, folder string) (pages [][]byte, size int) {
	b.Helper()
	enough := errors.New("enough")
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") {
			return err
		}
		if len(pages) == 500 {
			return enough
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var z bytes.Buffer
		w, err := stdlib.NewWriterLevel(&z, stdlib.BestSpeed)
		if err == nil {
			_, err = w.Write(text)
		}
		if err == nil {
			err = w.Close()
		}
		pages, size = append(pages, z.Bytes()), size+len(text)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		b.Skip("no pages: ", err)
	}
	if err != nil && err != enough {
		b.Fatal(err)
	}
	return pages, size
}

// BenchmarkGunzip decompresses whole pages with their checksums, compared with the readers of the
// standard library and of klauspost/compress with room for a whole page.
func BenchmarkGunzip(b *testing.B) {
	type resetter interface {
		io.Reader
		Reset(io.Reader) error
	}
	room := make([]byte, 0, 16<<20)
	for _, site := range sites {
		pages, size := gzipped(b, site.folder)
		run := func(name string, undo func(page []byte) error) {
			b.Run(site.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size / len(pages)))
				m := cost.Start(b)
				for i := 0; b.Loop(); i++ {
					if err := undo(pages[i%len(pages)]); err != nil {
						b.Fatal(err)
					}
				}
				m.ReportBytes(b.N * (size / len(pages)))
				m.Report(b.N, "op")
			})
		}
		var d inflate.Decoder
		run("inflate", func(page []byte) error {
			const header = 10
			text, used, err := d.Append(room, page[header:], cap(room))
			sum := page[header+used:]
			if err == nil && crc32.ChecksumIEEE(text) != uint32(sum[0])|uint32(sum[1])<<8|uint32(sum[2])<<16|uint32(sum[3])<<24 {
				return errors.New("another checksum")
			}
			return err
		})
		for name, r := range map[string]resetter{"stdlib": new(stdlib.Reader), "klauspost": new(gzip.Reader)} {
			var in bytes.Reader
			run(name, func(page []byte) error {
				in.Reset(page)
				if err := r.Reset(&in); err != nil {
					return err
				}
				for n := 0; ; {
					m, err := r.Read(room[n:cap(room)])
					if n += m; err == io.EOF {
						return nil
					} else if err != nil {
						return err
					}
				}
			})
		}
	}
}
