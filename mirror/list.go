package mirror

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Hidden is the folder within a mirror that holds its list. Names of pages do not begin with a dot.
const Hidden = ".weft"

const (
	listName = Hidden + "/files.jsonl"
	newName  = Hidden + "/files.new"
)

// file is a line of the list: a URL and its file. Without a digest the file is only planned.
type file struct {
	URL      string    `json:"url"`
	File     string    `json:"file"`
	SHA256   string    `json:"sha256,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
	Modified time.Time `json:"modified,omitzero"` // the time that the file was given
}

// head is the first line of the list.
type head struct {
	Version  int    `json:"weft_mirror"`
	Home     string `json:"home,omitempty"`     // the host whose files have no folder of its name
	Visit    int    `json:"visit,omitempty"`    // of the job, that the files are of
	Complete bool   `json:"complete,omitempty"` // all files were written
}

const version = 1

// list is the files of a mirror. While it is complete, nothing was written since.
type list struct {
	root *os.Root
	head head
	urls map[string]string // to names of files
	own  map[string]*own   // by name
	log  *os.File          // lines are appended to it; nil: none yet
}

// own is the entry of a file in the list.
type own struct {
	file
	earlier []string // digests that the file had, or was about to have
	uses    int      // URLs that have it
}

// errNoList is returned for a list that Weft has not written.
var errNoList = errors.New("expected the list of a mirror")

// readList reads the list of a mirror; a folder without one has an empty list.
func readList(root *os.Root) (*list, error) {
	l := &list{root: root, urls: make(map[string]string), own: make(map[string]*own)}
	info, err := root.Lstat(listName) // opened, a pipe would wait for somebody
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err == nil && !info.Mode().IsRegular():
		err = errNoFile
	}
	if err != nil {
		return nil, naming(listName, err)
	}
	f, err := root.Open(listName)
	if err != nil {
		return nil, naming(listName, err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF { // half a line: its file was not written
			return l, nil
		}
		if err != nil {
			return nil, naming(listName, err)
		}
		if n == 1 {
			if err = json.Unmarshal(line, &l.head); err == nil && l.head.Version != version {
				err = errNoList
			}
		} else {
			var one file
			if err = json.Unmarshal(line, &one); err == nil && (one.URL == "" || !filepath.IsLocal(one.File)) {
				err = errNoList
			}
			l.add(one)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", listName, n, err)
		}
	}
}

func (l *list) add(f file) {
	o := l.own[f.File]
	if o == nil {
		o = &own{file: file{URL: f.URL, File: f.File}}
		l.own[f.File] = o
	}
	if name, had := l.urls[f.URL]; !had || name != f.File {
		l.drop(f.URL)
		l.urls[f.URL] = f.File
		o.uses++
	}
	if f.SHA256 == "" {
		return
	}
	if o.SHA256 != "" && o.SHA256 != f.SHA256 {
		o.earlier = append(o.earlier, o.SHA256)
	}
	o.file = f
}

// has reports whether a digest is that of a file, or was.
func (o *own) has(digest string) bool {
	return o.SHA256 == digest || slices.Contains(o.earlier, digest)
}

// begin saves the list, which is not complete from now on, and opens it for note.
func (l *list) begin(visit int) (err error) {
	if err = l.replace(head{Visit: visit}); err == nil {
		l.log, err = l.root.OpenFile(listName, os.O_WRONLY|os.O_APPEND, 0)
	}
	return naming(listName, err)
}

// note appends a line to the list.
func (l *list) note(f file) error {
	l.add(f)
	line, err := json.Marshal(f)
	if err == nil {
		_, err = l.log.Write(append(line, '\n'))
	}
	return naming(listName, err)
}

// save writes the list anew.
func (l *list) save(h head) error { return naming(listName, l.replace(h)) }

func (l *list) replace(h head) error {
	h.Version, h.Home = version, l.head.Home
	if err := l.root.Remove(newName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := l.root.OpenFile(newName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 64<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	err = lines.Encode(h)
	for _, url := range slices.Sorted(maps.Keys(l.urls)) {
		o := l.own[l.urls[url]]
		for _, digest := range o.earlier {
			if !h.Complete { // complete files have one digest
				err = cmp.Or(err, lines.Encode(file{URL: url, File: o.File, SHA256: digest}))
			}
		}
		one := o.file
		one.URL = url
		err = cmp.Or(err, lines.Encode(one))
	}
	if err = errors.Join(err, out.Flush(), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, l.root.Remove(newName))
	}
	l.head = h
	return errors.Join(l.close(), l.root.Rename(newName, listName))
}

// drop removes a URL from the list, and its file if no other URL has it.
func (l *list) drop(url string) {
	name, had := l.urls[url]
	if !had {
		return
	}
	delete(l.urls, url)
	if l.own[name].uses--; l.own[name].uses == 0 {
		delete(l.own, name)
	}
}

// close closes what it appends to.
func (l *list) close() error {
	log := l.log
	if l.log = nil; log == nil {
		return nil
	}
	return log.Close()
}

// naming returns an error of a file with its name in the mirror, and with no other.
func naming(name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
