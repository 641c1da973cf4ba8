package read

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/weftcrawl/weft/internal/filename"
)

// Index is the name of the list of texts in a folder: a line of JSON for each, without the text.
const Index = "index.jsonl"

// partName is that of a file while it is written.
const partName = ".weft.part"

// Folder writes the texts of a job to a folder, one file a page. A file whose content is the same
// stays as it is; those of pages that are gone are removed, if the index has them. The index is
// replaced last: until then, it says what the folder was. It is an error if the folder has texts
// and no page is left to write, as by mistyped options: all files stay.
func Folder(ctx context.Context, dir, to string, o Options) (c Counts, err error) {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return c, err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return c, err
	}
	defer root.Close()
	f := &folder{root: root, ext: extension(o.Text), text: o.Text}
	defer f.leave()
	old, err := openRegular(root, Index)
	if err != nil {
		return c, err
	}
	var in io.Reader
	if old != nil {
		defer old.Close()
		in = old
	}
	index, err := newPart(root)
	if err != nil {
		return c, err
	}
	defer index.Close()
	defer root.Remove(partName)
	out := bufio.NewWriterSize(index, 256<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	before := newEarlier(in, func(p *Page) error {
		c.Gone++
		return f.gone(p.File)
	})
	err = each(ctx, dir, "", o, &c, func(e *entry, p *Page) error {
		was, err := before.upTo(p.URL)
		if err != nil {
			return err
		}
		c.Pages++
		p.Change = c.compared(was, p)
		if p.File, err = f.nameOf(e); err != nil {
			return err
		}
		if was != nil && was.File != p.File {
			if err := f.gone(was.File); err != nil {
				return err
			}
		}
		if err := f.write(p.File, p.file()); err != nil {
			return err
		}
		p.Markdown, p.Text, p.Chunks = "", "", nil
		return enc.Encode(p)
	})
	if err = errors.Join(err, ctx.Err()); err == nil {
		if err = o.matched(&c, before); err != nil {
			err = fmt.Errorf("%s: its texts stay: %w", to, err)
		}
	}
	if err == nil {
		err = before.end()
	}
	if err == nil {
		err = f.settle()
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return c, err
	}
	return c, root.Rename(partName, Index)
}

func extension(text bool) string {
	if text {
		return ".txt"
	}
	return ".md"
}

// newPart makes a file under a name that is not its last.
func newPart(root *os.Root) (*os.File, error) {
	f, err := root.OpenFile(partName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	if err := root.Remove(partName); err != nil { // a killed run has left it
		return nil, err
	}
	return root.OpenFile(partName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// openRegular opens a regular file, and no link to one; nil if there is none.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: no regular file, expected one that weft read has written", name)
	}
	return root.Open(name)
}

// folder is a folder of texts. Names come in the order of their lower case, so that those which
// clash stand together.
type folder struct {
	root    *os.Root
	ext     string
	text    bool
	last    string          // the last name before it was changed, in lower case
	written map[string]bool // names that begin like it
	left    []string        // files of gone pages, removed unless another page has the name
	dir     string          // folder of the last file
	in      *os.Root        // that folder
}

// nameOf returns the name of the file of a page. Where several differ in the case of letters only,
// the first has it.
func (f *folder) nameOf(e *entry) (string, error) {
	dir, base := path.Split(e.name)
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if strings.HasSuffix(strings.ToLower(part), f.ext) {
			part += "~" // no file has the name
		}
		parts = append(parts, part)
	}
	lower := strings.ToLower(e.name)
	name := path.Join(append(parts, base)...)
	if lower == f.last {
		name += filename.Digest(e.record.URL)
	} else if err := f.settle(); err != nil {
		return "", err
	}
	f.last = lower
	return name + f.ext, nil
}

// gone removes a file of a page that is gone, when it is certain that no page has its name.
func (f *folder) gone(name string) error {
	if path.Ext(name) == f.ext {
		f.left = append(f.left, name)
	}
	return nil
}

// settle removes the files that are left over from pages that are gone.
func (f *folder) settle() error {
	left := f.left
	f.left = nil
	for _, name := range left {
		if f.written[name] {
			continue
		}
		err := f.root.Remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(name); dir != "." && f.root.Remove(dir) == nil; { // empty ones go, too
			dir = path.Dir(dir)
		}
	}
	f.written = make(map[string]bool)
	return nil
}

// write writes a file unless it has this content.
func (f *folder) write(name string, text []byte) error {
	f.written[name] = true
	dir, base := path.Split(name)
	if err := f.enter(strings.TrimSuffix(dir, "/")); err != nil {
		return err
	}
	info, err := f.in.Lstat(base)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s: a folder, expected a file or nothing", name)
	}
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(text)) {
		if old, err := f.in.ReadFile(base); err == nil && bytes.Equal(old, text) {
			return nil
		}
	}
	part, err := newPart(f.in)
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	if err = errors.Join(err, part.Close()); err == nil {
		err = f.in.Rename(partName, base)
	}
	if err != nil {
		return errors.Join(err, f.in.Remove(partName))
	}
	return nil
}

// enter opens a folder, and makes it. Links to folders are not followed.
func (f *folder) enter(dir string) error {
	if f.in != nil && f.dir == dir {
		return nil
	}
	f.leave()
	at := f.root
	for part := range strings.SplitSeq(dir, "/") {
		if err := at.Mkdir(part, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := at.Lstat(part)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s: %s is no folder, expected one or nothing", dir, part)
		}
		var next *os.Root
		if err == nil {
			next, err = at.OpenRoot(part)
		}
		if at != f.root {
			at.Close()
		}
		if err != nil {
			return err
		}
		at = next
	}
	f.dir, f.in = dir, at
	return nil
}

func (f *folder) leave() {
	if f.in != nil {
		f.in.Close()
		f.in = nil
	}
}
