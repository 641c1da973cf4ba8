package main

import (
	"bytes"
	"crypto/sha256"
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

// unpacked is a folder that bodies are written to. It remembers 16 bytes for each file and folder.
type unpacked struct {
	root  *os.Root
	seed  maphash.Seed
	names map[uint64]uint64 // in lower case, to the name itself: both as hashes
	next  map[uint64]int    // by hash of a name with a date: the first number that is free
}

func newUnpacked(root *os.Root) *unpacked {
	return &unpacked{root, maphash.MakeSeed(), make(map[uint64]uint64), make(map[uint64]int)}
}

// partName is that of a file while it is written.
const partName = ".weft-extract.part"

// write writes a body to a file named for its URL, and returns the name; "" if there is nothing to
// write. Damage is an error of reading the body: the file then has what came before it.
func (u *unpacked) write(url, mime string, at time.Time, body io.Reader) (name string, damage, err error) {
	f, err := u.root.OpenFile(partName, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	defer u.root.Remove(partName) // unless it was renamed
	in := &failing{Reader: body}
	n, err := io.Copy(f, in)
	if in.err == nil && err != nil {
		return "", nil, err
	}
	if n == 0 {
		return "", in.err, nil
	}
	dir, base := path.Split(pathOf(url, mime))
	if dir, err = u.folder(dir); err != nil {
		return "", in.err, err
	}
	dated := maphash.String(u.seed, path.Join(dir, another(base, at, 1)))
	for i := 0; ; i++ {
		if i > 1 { // those between have other contents
			i = max(i, u.next[dated])
			u.next[dated] = i + 1
		}
		name = path.Join(dir, another(base, at, i))
		free, err := u.place(f, name)
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

// claim reports whether a name may be used: no other one differs from it in the case of letters only.
func (u *unpacked) claim(name string) bool {
	key, exact := maphash.String(u.seed, strings.ToLower(name)), maphash.String(u.seed, name)
	had, known := u.names[key]
	if !known {
		u.names[key] = exact
	}
	return !known || had == exact
}

// place gives the file its name, unless there is another file of that name. One with the same
// content is as good.
func (u *unpacked) place(f *os.File, name string) (bool, error) {
	if !u.claim(name) {
		return false, nil
	}
	info, err := u.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, u.root.Rename(partName, name)
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	old, err := u.root.Open(name)
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
func (u *unpacked) folder(dir string) (made string, err error) {
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		for made = path.Join(made, part); ; made += "~" {
			if !u.claim(made) {
				continue
			}
			if err := u.root.Mkdir(made, 0o777); err == nil {
				break
			} else if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
			if info, err := u.root.Lstat(made); err != nil {
				return "", err
			} else if info.IsDir() {
				break
			}
		}
	}
	return made, nil
}

const (
	mostPart  = 200 // bytes of a part of a path; file systems allow 255
	mostParts = 50
	mostPath  = 1000 // bytes
)

// pathOf returns a relative path for a URL: host and path, or the scheme and what follows.
func pathOf(url, mime string) string {
	rest, _, _ := strings.Cut(url, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	if _, after, found := strings.Cut(rest, "://"); found {
		host, path, _ := strings.Cut(strings.TrimLeft(after, "/"), "/")
		rest = host[strings.LastIndexByte(host, '@')+1:] + "/" + path // without a password
	} else {
		rest = strings.Replace(rest, ":", "/", 1)
	}
	dir, base := path.Split(rest)
	if base == "" {
		base = "index"
		if mime == "text/html" || mime == "application/xhtml+xml" {
			base = "index.html"
		}
	}
	if hasQuery {
		ext := shortExt(base) // stays at the end, where programs look for it
		base = strings.TrimSuffix(base, ext) + "@" + query + ext
	}
	var parts []string
	for part := range strings.SplitSeq(dir, "/") {
		if part != "" {
			parts = append(parts, safePart(part))
		}
	}
	if len(parts) == 0 {
		parts = []string{"unknown"}
	}
	name := path.Join(append(parts, safePart(base))...)
	if len(parts) > mostParts || len(name) > mostPath {
		return path.Join(parts[0], digestOf(url)+shortExt(safePart(base)))
	}
	return name
}

// digestOf tells names apart that were cut.
func digestOf(s string) string { return fmt.Sprintf("~%x", sha256.Sum256([]byte(s)))[:17] }

// safePart makes a part of a path that any file system allows.
func safePart(part string) string {
	var b strings.Builder
	for i := range len(part) {
		c := part[i]
		// A dot at the end is lost on some file systems, and ".." leads elsewhere.
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"*/:<>?\|`, c) >= 0 || c == '.' && i == len(part)-1 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	safe := b.String()
	if len(safe) > mostPart {
		ext := shortExt(safe)
		safe = safe[:mostPart-17-len(ext)] + digestOf(part) + ext
	}
	return safe
}

// shortExt returns the extension of a name, unless it is long.
func shortExt(name string) string {
	if ext := path.Ext(name); len(ext) <= 10 {
		return ext
	}
	return ""
}
