package wacz

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/warc"
)

// ErrNoCapture is returned when there is nothing to pack.
var ErrNoCapture = errors.New("no capture: a response, revisit or resource record")

// PackFiles writes a package of WARC files. Pages and their titles are found in the files.
func PackFiles(to io.Writer, paths []string, o Options) error {
	paths = slices.Clone(paths)
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(filepath.Base(a), filepath.Base(b)) })
	p := newPacker(to, o)
	defer p.close()
	index := extsort.New("")
	defer index.Close()
	size := int64(0)
	for i, path := range paths {
		if i > 0 && filepath.Base(path) == filepath.Base(paths[i-1]) {
			return fmt.Errorf("%s: a second file of that name", path)
		}
		n, err := p.file(path, index)
		if err != nil {
			return err
		}
		size += n
	}
	if size == 0 {
		return ErrNoCapture
	}
	if err := p.index(size, index.Each); err != nil {
		return err
	}
	return p.finish()
}

// file adds a WARC file, and its lines to the index. It returns the length of these.
func (p *packer) file(path string, index *extsort.Sorter) (size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	name := filepath.Base(path)
	see := func(r *warc.Record, m *warc.Message) error {
		if strings.HasPrefix(r.Version, "ARC/") {
			return fmt.Errorf("%s: ARC, expected WARC: a WACZ holds no other", path)
		}
		if r.Type() == warc.Response && m != nil && m.Status() == 200 && record.IsHTML(m.Header.Get("Content-Type")) {
			return p.pages.add(r.URL(), r.Date(), titleOf(m))
		}
		return nil
	}
	var line []byte
	add := func(x *warc.Index) error {
		line = x.Append(line[:0])
		size += int64(len(line))
		return errors.Join(p.note(x), index.Add(line[:len(line)-1]))
	}
	err = p.entry(archives+name, zip.Store, func(w io.Writer) error {
		copied := io.TeeReader(f, w)
		if err := cdxj.Scan(name, copied, see, add, p.damage(path)); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, copied)
		return err
	})
	return size, err
}

func (p *packer) damage(path string) func(*warc.DamageError) {
	return func(d *warc.DamageError) {
		if p.opt.Damage != nil {
			p.opt.Damage(path, d)
		}
	}
}
