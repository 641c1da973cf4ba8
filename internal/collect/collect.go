package collect

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/results"
)

// Summary is the extent of a merge: see cluster.Collected.
type Summary struct {
	Records, Repeated, Archives int
	Bytes                       int64
}

// ErrTwice is returned by Jobs for a folder that is named twice.
var ErrTwice = errors.New("named twice, expected each folder once")

// Jobs merges the jobs in some folders into a new one. It is whole, or not there: what was
// interrupted begins again. The files of archives are linked where both folders are on one disk,
// else copied. A job may come from another machine: what leads out of its folder is refused.
// Errors: fs.ErrExist if there is such a folder, or one that is not a part of it where its part is
// to be written.
func Jobs(ctx context.Context, dir string, jobs []string) (s Summary, err error) {
	if _, err := os.Lstat(dir); err == nil {
		return s, fmt.Errorf("%s: %w, expected a new folder", dir, fs.ErrExist)
	}
	if err := distinct(jobs); err != nil {
		return s, err
	}
	c := &collection{ctx: ctx, jobs: jobs, old: make([]results.Set, len(jobs)), lost: make([]map[[16]byte]struct{}, len(jobs))}
	for i := range c.lost {
		c.lost[i] = make(map[[16]byte]struct{})
		root, err := os.OpenRoot(jobs[i])
		if err != nil {
			return s, err
		}
		defer root.Close()
		c.roots = append(c.roots, root)
	}
	part, err := begin(dir)
	if err != nil {
		return s, err
	}
	defer func() { err = cmp.Or(err, part.leave()) }()
	c.dir = part.dir
	for _, step := range []func() error{c.judge, c.records, c.lists, c.bodies, c.archives} {
		if err := step(); err != nil {
			return c.Summary, err
		}
	}
	return c.Summary, part.become(dir)
}

// distinct refuses a folder that is named twice: all its pages would count as fetched twice.
func distinct(jobs []string) error {
	var all []os.FileInfo
	for _, dir := range jobs {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			return fmt.Errorf("%s: %w", dir, ErrTwice)
		}
		all = append(all, info)
	}
	return nil
}

// collection is a merge that runs.
type collection struct {
	Summary
	ctx   context.Context
	dir   string
	jobs  []string
	roots []*os.Root              // of the jobs: see open
	old   []results.Set           // lines of each job's records that do not count
	lost  []map[[16]byte]struct{} // URLs whose record in another job counts, for each dead node
}

func fingerprint(url []byte) [16]byte {
	sum := sha256.Sum256(url)
	return [16]byte(sum[:])
}

// entry is a record to be compared: its URL, when its fetch began, job and line, so that they sort
// in this order.
const entrySize = 16 + 12 + 4 + 8

// open opens a file of a job, which may come from another machine: a link that leads out of the
// folder would publish any file of this one, and a pipe would wait for its writer.
func (c *collection) open(i int, name string) (*os.File, error) {
	f, err := c.roots[i].OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s: not a file", name), f.Close())
	}
	return f, nil
}

// lines are those of a file of a job.
func (c *collection) lines(i int, name string, old results.Set) iter.Seq2[results.Line, error] {
	return func(yield func(results.Line, error) bool) {
		f, err := c.open(i, name)
		if err != nil {
			yield(results.Line{}, err)
			return
		}
		_ = f.Close() // nothing was written
		results.Lines(c.ctx, c.jobs[i], name, old)(yield)
	}
}

// judge finds out which records count.
func (c *collection) judge() error {
	sorter := extsort.New(c.dir)
	defer sorter.Close()
	for i, dir := range c.jobs {
		for l, err := range c.lines(i, results.Pages, nil) {
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			var r struct {
				URL     string    `json:"url"`
				Started time.Time `json:"started"`
			}
			if err := l.Into(&r); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			sum := fingerprint([]byte(r.URL))
			entry := make([]byte, 0, 2*entrySize)
			entry = append(entry, sum[:]...)
			// At least 0: a page that was not fetched has year 1.
			entry = binary.BigEndian.AppendUint64(entry, uint64(max(0, r.Started.Unix())))
			entry = binary.BigEndian.AppendUint32(entry, uint32(r.Started.Nanosecond()))
			entry = binary.BigEndian.AppendUint32(entry, uint32(i))
			entry = binary.BigEndian.AppendUint64(entry, l.N)
			if err := sorter.Add(entry); err != nil {
				return err
			}
		}
	}
	var last [entrySize]byte
	first := true
	return sorter.Each(func(entry []byte) error {
		if !first && [16]byte(entry) == [16]byte(last[:]) {
			loser, winner := binary.BigEndian.Uint32(last[28:]), binary.BigEndian.Uint32(entry[28:])
			c.old[loser].Add(binary.BigEndian.Uint64(last[32:]))
			c.Repeated++
			c.lost[loser][[16]byte(entry)] = struct{}{}
			delete(c.lost[winner], [16]byte(entry)) // it may have fetched it before, too
		}
		first = false
		copy(last[:], entry)
		return nil
	})
}

// records writes those that count.
func (c *collection) records() error {
	return c.write(results.Pages, func(out *bufio.Writer) error {
		for i, dir := range c.jobs {
			for l, err := range c.lines(i, results.Pages, c.old[i]) {
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				c.Records++
				if err := c.line(out, i, l.Bytes()); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// fileField is the field in which a record names its archive, in one of Weft's own lines.
var fileField = []byte(`"warc_file":"`)

// line writes a record, with the name that the file of its archive has in the folder. In a text of
// a page the quote would have a backslash.
func (c *collection) line(out *bufio.Writer, i int, line []byte) error {
	if before, after, ok := bytes.Cut(line, fileField); ok {
		line = bytes.Join([][]byte{before, fileField, []byte(c.name(i, "")), after}, nil)
	}
	return writeLine(out, line)
}

func writeLine(out *bufio.Writer, line []byte) error {
	_, err := out.Write(line)
	return cmp.Or(err, out.WriteByte('\n'))
}

// name is the name of a job's file of an archive.
func (c *collection) name(i int, file string) string { return fmt.Sprintf("n%d-%s", i+1, file) }

// lists writes the links and items of pages that count.
func (c *collection) lists() error {
	for _, list := range []struct{ file, url string }{{job.LinksFile, "from"}, {job.ItemsFile, "url"}} {
		if !c.any(list.file) {
			continue
		}
		err := c.write(list.file, func(out *bufio.Writer) error {
			for i, dir := range c.jobs {
				for l, err := range c.lines(i, list.file, nil) {
					if errors.Is(err, fs.ErrNotExist) {
						break
					}
					if err != nil {
						return fmt.Errorf("%s: %w", dir, err)
					}
					url, err := urlIn(&l, list.url)
					if err != nil {
						return fmt.Errorf("%s: %s: %w", dir, list.file, err)
					}
					if _, lost := c.lost[i][fingerprint(url)]; lost {
						continue
					}
					if err := writeLine(out, l.Bytes()); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func urlIn(l *results.Line, field string) ([]byte, error) {
	if url, ok := l.Plain(field); ok {
		return url, nil
	}
	var all map[string]json.RawMessage
	if err := l.Into(&all); err != nil {
		return nil, err
	}
	var url string
	err := json.Unmarshal(all[field], &url)
	return []byte(url), err
}

// any reports whether a job has a file.
func (c *collection) any(name string) bool {
	for _, dir := range c.jobs {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// bodies takes over the files of bodies, whose names are what is in them.
func (c *collection) bodies() error {
	for i, dir := range c.jobs {
		err := fs.WalkDir(c.roots[i].FS(), bodies, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && name == bodies:
				return fs.SkipAll
			case err != nil:
				return err
			case d.IsDir():
				return c.ctx.Err()
			}
			return c.take(i, name, name)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// bodies is the folder of the files of bodies.
const bodies = "bodies"

// archives writes an index of the captures that count, and takes over the files of WARC.
func (c *collection) archives() error {
	if !c.any(job.CapturesFile) {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(c.dir, job.ArchiveDir), 0o777); err != nil {
		return err
	}
	if err := c.write(job.CapturesFile, func(out *bufio.Writer) error {
		for i := range c.jobs {
			if err := c.captures(out, i); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for i, dir := range c.jobs { // after their index, which so leads to what is there
		all, err := fs.Glob(c.roots[i].FS(), path.Join(job.ArchiveDir, "*.warc*"))
		if err != nil {
			return err
		}
		for _, name := range all {
			if err := c.archive(i, name); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
		}
	}
	return nil
}

// archive takes over a WARC file. A file that its node had not finished is copied, since a later
// run of that node would truncate or continue it.
func (c *collection) archive(i int, name string) error {
	f, err := c.open(i, name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	final, open := strings.CutSuffix(path.Base(name), cdxj.OpenSuffix)
	if _, err := c.roots[i].Lstat(strings.TrimSuffix(name, cdxj.OpenSuffix)); open && err == nil {
		return nil // the closed one counts
	}
	c.Archives++
	c.Bytes += info.Size()
	final = path.Join(job.ArchiveDir, c.name(i, final))
	if open {
		return c.copy(i, name, final)
	}
	return c.take(i, name, final)
}

// capture is the part of an index line that matters here.
type capture struct {
	URL    string `json:"url"`
	MIME   string `json:"mime"`
	Digest string `json:"digest"`
}

// captures writes the lines of a job's index, except those of URLs that another job has fetched
// later. Of these, it writes only captures whose payload a revisit refers to.
func (c *collection) captures(out *bufio.Writer, i int) error {
	needed := make(map[string]bool) // payloads, by their digests: no more than URLs are lost
	lost := func(of *capture) bool { _, ok := c.lost[i][fingerprint([]byte(of.URL))]; return ok }
	if len(c.lost[i]) > 0 {
		if err := c.eachCapture(i, func(_, _ string, of *capture) error {
			if lost(of) && of.Digest != "" {
				needed[of.Digest] = false
			}
			return nil
		}); err != nil {
			return err
		}
		if err := c.eachCapture(i, func(_, _ string, of *capture) error {
			if _, ok := needed[of.Digest]; ok && of.MIME == "warc/revisit" && !lost(of) {
				needed[of.Digest] = true
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return c.eachCapture(i, func(head, text string, of *capture) error {
		if lost(of) && !needed[of.Digest] {
			return nil
		}
		text = strings.Replace(text, `"filename":"`, `"filename":"`+c.name(i, ""), 1)
		_, err := fmt.Fprintf(out, "%s {%s\n", head, text)
		return err
	})
}

// eachCapture calls fn for each line of a job's index, split before its brace.
func (c *collection) eachCapture(i int, fn func(head, text string, of *capture) error) error {
	for l, err := range c.lines(i, job.CapturesFile, nil) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.jobs[i], err)
		}
		head, text, ok := strings.Cut(string(l.Bytes()), " {")
		var of capture
		if !ok || json.Unmarshal([]byte("{"+text), &of) != nil {
			return fmt.Errorf("%s: line %d of %s: expected a capture", c.jobs[i], l.N+1, job.CapturesFile)
		}
		if err := fn(head, text, &of); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the folder.
func (c *collection) write(name string, fill func(*bufio.Writer) error) error {
	f, err := os.Create(filepath.Join(c.dir, name))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	err = fill(out)
	return cmp.Or(err, out.Flush(), f.Sync(), f.Close()) // a full disk is one error
}

// take links or copies a file of a job into the folder, which may have it.
func (c *collection) take(i int, name, as string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	to := filepath.Join(c.dir, as)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	info, err := c.roots[i].Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		// A link to a link would lead from the folder to another place than from the job.
		if err := os.Link(filepath.Join(c.jobs[i], name), to); err == nil || errors.Is(err, fs.ErrExist) {
			return nil
		}
	}
	return c.copy(i, name, as)
}

// copy copies a file of a job into the folder, unless that has it.
func (c *collection) copy(i int, name, as string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	from, err := c.open(i, name)
	if err != nil {
		return err
	}
	defer from.Close()
	// What is there may be a job's own file.
	f, err := os.OpenFile(filepath.Join(c.dir, as), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return cmp.Or(err, f.Sync(), f.Close())
}
