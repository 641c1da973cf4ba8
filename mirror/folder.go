package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

const (
	partName = Hidden + "/part" // a file while it is written
	lockName = Hidden + "/lock"
	jobName  = Hidden + "/job"
)

// ErrBusy is returned while another Write has the folder.
var ErrBusy = errors.New("another weft mirror is writing to it")

// prepare makes the folder that a mirror keeps its job in. It is an error if a symbolic link stands
// there, or below: a crawl would write to where it leads.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	d := &folder{Root: root, made: make(map[string]bool)}
	defer d.close()
	if err := d.enter(Hidden, true); err != nil {
		return err
	}
	if err := d.enter(jobName, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.inspect(Hidden)
}

// inspect sees to it that nothing below a folder leads elsewhere, or waits for somebody: a link, a
// pipe, a device. The socket of a crawl may be there.
func (d *folder) inspect(dir string) error {
	return fs.WalkDir(d.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // or is no longer
			return nil
		}
		if mode := e.Type(); err == nil && !mode.IsDir() && !mode.IsRegular() && mode&fs.ModeSocket == 0 {
			return fmt.Errorf("%s: %w", name, errNoFile)
		}
		return err
	})
}

// folder is a folder that a mirror is in. Symbolic links in it are not followed.
type folder struct {
	*os.Root
	list *list
	lock *os.File
	made map[string]bool // folders that were seen to be some
}

// open makes a folder if need be, and locks it.
func open(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &folder{Root: root, made: make(map[string]bool)}
	if err := d.prepare(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *folder) prepare() (err error) {
	if err = d.enter(Hidden, true); err != nil {
		return err
	}
	if d.lock, err = d.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return naming(lockName, err)
	}
	if !lock(d.lock) {
		return ErrBusy
	}
	if err = d.Remove(partName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return naming(partName, err)
	}
	d.list, err = readList(d.Root)
	return err
}

// close unlocks the folder.
func (d *folder) close() error {
	var errs []error
	if d.list != nil {
		errs = append(errs, d.list.close())
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	return errors.Join(append(errs, d.Close())...)
}

// outcome is the result of writing a file.
type outcome uint8

const (
	same    outcome = iota // as before
	written                // new or changed
	foreign                // something else has its name, or somebody has changed it
)

// put makes a file hold a text. One that does already is not touched.
func (d *folder) put(url, name string, text []byte) (outcome, error) {
	digest := digestOf(text)
	found, err := d.state(name)
	switch {
	case err != nil:
		return 0, err
	case found == foreign:
		return foreign, nil
	case found == same && d.list.own[name].SHA256 == digest:
		return same, nil
	}
	if err := d.enter(path.Dir(name), true); err != nil {
		return 0, err
	}
	if err := d.Remove(partName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	f, err := d.OpenFile(partName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(text)
	at := time.Now().Round(0).Truncate(time.Microsecond).UTC()
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Chtimes(partName, at, at)
	}
	if err == nil { // the list knows the file before it is there
		err = d.list.note(file{URL: url, File: name, SHA256: digest, Bytes: int64(len(text)), Modified: at})
	}
	if err == nil {
		err = d.Rename(partName, name)
	}
	if err != nil {
		return 0, errors.Join(err, d.Remove(partName))
	}
	return written, nil
}

// state compares a file with the list: same if it has its digest, written if it has an earlier one,
// or is not there.
func (d *folder) state(name string) (outcome, error) {
	switch err := d.enter(path.Dir(name), false); {
	case errors.Is(err, fs.ErrNotExist):
		return written, nil
	case errors.Is(err, errNoFolder):
		return foreign, nil
	case err != nil:
		return 0, err
	}
	info, err := d.Lstat(name)
	own := d.list.own[name]
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return written, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular(), own == nil, own.SHA256 == "":
		return foreign, nil
	case info.Size() == own.Bytes && info.ModTime().Equal(own.Modified):
		return same, nil
	}
	f, err := d.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return 0, err
	}
	switch digest := hex.EncodeToString(sum.Sum(nil)); {
	case digest == own.SHA256:
		return same, nil
	case own.has(digest):
		return written, nil
	}
	return foreign, nil
}

// take removes an own file, and the folders that are empty then. It reports whether it did.
func (d *folder) take(name string) (bool, error) {
	found, err := d.state(name)
	if err != nil || found == foreign {
		return false, err
	}
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for dir := path.Dir(name); dir != "." && d.Remove(dir) == nil; dir = path.Dir(dir) {
		delete(d.made, dir)
	}
	return true, nil
}

var (
	errNoFolder = errors.New("expected a folder")
	errNoFile   = errors.New("expected a file")
)

// enter sees to it that a folder, and those that it is in, are no links. It makes them, or not.
func (d *folder) enter(dir string, make bool) error {
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		if at = path.Join(at, part); d.made[at] {
			continue
		}
		if make {
			if err := d.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		if info, err := d.Lstat(at); err != nil {
			return err
		} else if !info.IsDir() {
			return fmt.Errorf("%s: %w", at, errNoFolder)
		}
		d.made[at] = true
	}
	return nil
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
