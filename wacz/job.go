package wacz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/warc"
)

// PackJob writes a package of the archive in a job's folder, up to the last commit. Pages are those
// of pages.jsonl. The error is [store.ErrLocked] while a crawl runs. Without the state of a crawl,
// as in a copy of the archive, all of the archive counts.
func PackJob(to io.Writer, dir string, o Options) error {
	committed, err := committedIn(dir)
	if err != nil {
		return err
	}
	return packJob(to, dir, committed, o)
}

// committedIn returns the committed length of captures.cdxj: see [cdxj.Update].
func committedIn(dir string) (int64, error) {
	j, err := job.View(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return cdxj.All, nil
	}
	if err != nil {
		return 0, err
	}
	committed, err := j.Store.Committed(job.CapturesFile)
	return committed, errors.Join(err, j.Close())
}

func packJob(to io.Writer, dir string, committed int64, o Options) error {
	archive := filepath.Join(dir, job.ArchiveDir)
	index, done, err := cdxj.Sorted(archive, committed)
	if err != nil {
		return err
	}
	defer done()
	p := newPacker(to, o)
	defer p.close()
	ends := make(map[string]int64) // of the last indexed record of each file
	size := int64(0)
	err = linesOf(index)(func(line []byte) error {
		size += int64(len(line)) + 1
		x, err := warc.ParseIndex(string(line))
		if err != nil {
			return fmt.Errorf("%s: %w", index, err)
		}
		ends[x.Filename] = max(ends[x.Filename], x.Offset+x.Length)
		return p.note(&x)
	})
	if err != nil {
		return err
	}
	if size == 0 {
		return fmt.Errorf("%s: %w", archive, ErrNoCapture)
	}
	if err := p.archives(archive, ends); err != nil {
		return err
	}
	if err := p.index(size, linesOf(index)); err != nil {
		return err
	}
	if err := p.records(filepath.Join(dir, job.PagesFile)); err != nil {
		return err
	}
	return p.finish()
}

// archives adds the WARC files of a job.
func (p *packer) archives(dir string, ends map[string]int64) error {
	files, err := archivesIn(dir)
	if err != nil {
		return err
	}
	for name := range ends {
		if files[name] == "" {
			return fmt.Errorf("%s is missing, and the index has records of it", filepath.Join(dir, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, files[name])
		if err := p.archive(name, path, ends[name]); err != nil {
			return err
		}
	}
	return nil
}

// archivesIn returns the WARC files in a folder, by their final names.
func archivesIn(dir string) (map[string]string, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string)
	for _, e := range all {
		name := strings.TrimSuffix(e.Name(), cdxj.OpenSuffix)
		if !strings.HasSuffix(name, ".warc.gz") && !strings.HasSuffix(name, ".warc") {
			continue
		}
		if files[name] != name { // the closed one counts
			files[name] = e.Name()
		}
	}
	return files, nil
}

// archive adds a file whose last indexed record ends at indexed.
func (p *packer) archive(name, path string, indexed int64) error {
	// A link in a job from elsewhere would pack, and so publish, any file of this machine.
	f, err := regular.OpenIn(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < indexed {
		return fmt.Errorf("%s has %d bytes, expected at least %d: the index has records up to there", path, size, indexed)
	}
	if strings.HasSuffix(path, cdxj.OpenSuffix) {
		if size, err = wholeRecords(f, indexed, size); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return p.entry(archives+name, zip.Store, func(w io.Writer) error {
		all := &io.LimitedReader{R: f, N: size}
		err := eachRecord(io.TeeReader(all, w), p.damage(path))
		if err == nil && all.N > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

// eachRecord reads a WARC file to its end, for damage.
func eachRecord(from io.Reader, damage func(*warc.DamageError)) error {
	in := warc.NewReader(from)
	for {
		_, err := in.Next()
		var d *warc.DamageError
		switch {
		case err == io.EOF:
			_, err = io.Copy(io.Discard, from)
			return err
		case errors.As(err, &d):
			damage(d)
		case err != nil:
			return err
		}
	}
}

// wholeRecords returns where the last whole record ends that belongs to the indexed ones: their
// requests and notes, but no capture, which would have been indexed.
func wholeRecords(f *os.File, indexed, size int64) (int64, error) {
	in := warc.NewReader(io.NewSectionReader(f, indexed, size-indexed))
	for {
		r, err := in.Next()
		var d *warc.DamageError
		switch {
		case err == io.EOF:
			return size, nil
		case errors.As(err, &d):
			return indexed + d.Offset, nil
		case err != nil:
			return 0, err
		}
		switch r.Type() {
		case warc.Response, warc.Revisit, warc.Resource:
			return indexed + r.Offset, nil
		}
	}
}

// records adds the pages among the records of a job.
func (p *packer) records(path string) error {
	return linesOf(path)(func(line []byte) error {
		var r record.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if r.Status != 200 || r.Method == "POST" || !record.IsHTML(r.Type()) {
			return nil
		}
		return p.pages.add(r.URL, r.Started, r.Title)
	})
}

// linesOf returns the lines of a file that have an end: others were being written.
func linesOf(path string) lines {
	return func(use func([]byte) error) error {
		f, err := regular.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return eachLine(f, func(line []byte, _ int64) error {
			if whole, ended := bytes.CutSuffix(line, []byte("\n")); ended {
				return use(whole)
			}
			return nil
		})
	}
}

// mostLine bounds a line of a text file, in bytes.
const mostLine = 1 << 20

// eachLine calls use for each line, with its end and its offset. The last one may have none.
func eachLine(from io.Reader, use func(line []byte, at int64) error) error {
	in := bufio.NewReaderSize(from, mostLine)
	for at := int64(0); ; {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			return fmt.Errorf("offset %d: line longer than %d bytes", at, mostLine)
		}
		if len(line) > 0 {
			if err := use(line, at); err != nil {
				return err
			}
			at += int64(len(line))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
