package filename

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Folder is a folder that bodies are written to: no file in it is replaced. It remembers 16 bytes
// for each file and folder.
type Folder struct {
	root  *os.Root
	seed  maphash.Seed
	names map[uint64]uint64 // in lower case, to the name itself: both as hashes
	next  map[uint64]int    // by hash of a name with a date: the first number that is free
}

// NewFolder returns a folder below a root.
func NewFolder(root *os.Root) *Folder {
	return &Folder{root, maphash.MakeSeed(), make(map[uint64]uint64), make(map[uint64]int)}
}

// partName is that of a file while it is written.
const partName = ".weft.part"

// Write writes a body to a file named for its URL, and returns the name; "" if there is nothing to
// write. Damage is an error of reading the body: the file then has what came before it.
func (d *Folder) Write(url, mime string, at time.Time, body io.Reader) (name string, damage, err error) {
	if err := d.root.Remove(partName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	f, err := d.root.OpenFile(partName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	defer d.root.Remove(partName) // unless it was renamed
	in := &failing{Reader: body}
	n, err := io.Copy(f, in)
	if in.err == nil && err != nil {
		return "", nil, err
	}
	if n == 0 {
		return "", in.err, nil
	}
	dir, base := path.Split(Of(url, mime))
	if dir, err = d.folder(dir); err != nil {
		return "", in.err, err
	}
	dated := maphash.String(d.seed, path.Join(dir, another(base, at, 1)))
	for i := 0; ; i++ {
		if i > 1 { // those between have other contents
			i = max(i, d.next[dated])
			d.next[dated] = i + 1
		}
		name = path.Join(dir, another(base, at, i))
		free, err := d.place(f, name)
		if free || err != nil {
			return name, in.err, err
		}
	}
}

// failing keeps the error of a reader.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// another returns a name, or from the second on, others like it.
func another(base string, at time.Time, i int) string {
	if i == 0 {
		return base
	}
	ext := path.Ext(base)
	mark := "~" + at.UTC().Format("20060102150405")
	if i > 1 {
		mark += fmt.Sprintf("-%d", i)
	}
	return strings.TrimSuffix(base, ext) + mark + ext
}

// claim reports whether a name may be used: no other one differs from it in the case of letters
// only.
func (d *Folder) claim(name string) bool {
	key, exact := maphash.String(d.seed, strings.ToLower(name)), maphash.String(d.seed, name)
	had, known := d.names[key]
	if !known {
		d.names[key] = exact
	}
	return !known || had == exact
}

// place gives the file its name, unless there is another file of that name. One with the same
// content is as good.
func (d *Folder) place(f *os.File, name string) (bool, error) {
	if !d.claim(name) {
		return false, nil
	}
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, d.root.Rename(partName, name)
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	old, err := d.root.Open(name)
	if err != nil {
		return false, err
	}
	defer old.Close()
	return sameContent(f, old)
}

func sameContent(a, b *os.File) (bool, error) {
	bufA, bufB := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		n, errA := a.ReadAt(bufA, at)
		m, errB := b.ReadAt(bufB, at)
		if n != m || !bytes.Equal(bufA[:n], bufB[:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF {
				return false, err
			}
		}
		if n < len(bufA) {
			return true, nil
		}
		at += int64(n)
	}
}

// folder makes a folder. Where a file has its name, it gets another.
func (d *Folder) folder(dir string) (made string, err error) {
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		for made = path.Join(made, part); ; made += "~" {
			if !d.claim(made) {
				continue
			}
			if err := d.root.Mkdir(made, 0o777); err == nil {
				break
			} else if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
			if info, err := d.root.Lstat(made); err != nil {
				return "", err
			} else if info.IsDir() {
				break
			}
		}
	}
	return made, nil
}
