package deflate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/weftcrawl/weft/internal/cost"
	"github.com/weftcrawl/weft/internal/deflate"
)

// kinds are folders of Debian packages with files of a kind: libboost1.81-doc, python3.11-doc,
// libjs-mathjax, iso-codes, debian-reference-ja, aptitude-doc-ru.
var kinds = []struct{ name, folder, end string }{
	{"small", "/usr/share/doc/libboost1.81-doc/doc/html", ".html"},
	{"large", "/usr/share/doc/python3.11/html", ".html"},
	{"script", "/usr/share/javascript/mathjax", ".js"},
	{"json", "/usr/share/iso-codes/json", ".json"},
	{"cjk", "/usr/share/debian-reference", ".ja.html"},
	{"cyrillic", "/usr/share/doc/aptitude/html/ru", ".html"},
}

type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// BenchmarkAppend compresses whole files, compared with klauspost/compress at its fastest level.
func BenchmarkAppend(b *testing.B) {
	for _, kind := range kinds {
		texts, size := read(b, kind.folder, kind.end)
		run := func(name string, compress func(dst, text []byte) []byte) {
			b.Run(kind.name+"/"+name, func(b *testing.B) {
				if size == 0 {
					b.Skip("no files")
				}
				b.SetBytes(int64(size))
				var dst []byte
				written := 0
				m := cost.Start(b)
				for b.Loop() {
					written = 0
					for _, text := range texts {
						dst = compress(dst[:0], text)
						written += len(dst)
					}
				}
				m.ReportBytes(b.N * size)
				b.ReportMetric(float64(written)/float64(size), "ratio")
			})
		}
		e := new(deflate.Encoder)
		run("deflate", func(dst, text []byte) []byte { return e.Append(dst, text) })
		var a appender
		w, _ := flate.NewWriter(&a, flate.BestSpeed)
		run("klauspost", func(dst, text []byte) []byte {
			a.b = dst
			w.Reset(&a)
			w.Write(text)
			w.Close()
			return a.b
		})
	}
}

// read returns up to 1,000 files of a folder, and their total length.
func read(b *testing.B, folder, end string) (texts [][]byte, size int) {
	b.Helper()
	var paths []string
	filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, end) {
			paths = append(paths, path)
		}
		return nil
	})
	for path := range slices.Values(paths[:min(len(paths), 1000)]) {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		texts, size = append(texts, text), size+len(text)
	}
	return texts, size
}
