package collect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// part is the folder DIR.part, which becomes DIR when it is complete.
type part struct {
	dir  string
	mark *os.File // a file in it, locked while a process writes there
}

// markFile tells a part from any other folder of that name.
const markFile = ".weft-collect"

// begin makes the part of a folder. What a process that was killed has left of it is removed; what
// nobody has marked is somebody else's.
func begin(dir string) (part, error) {
	p := part{dir: filepath.Clean(dir) + ".part"}
	if err := os.MkdirAll(filepath.Dir(p.dir), 0o777); err != nil {
		return p, err
	}
	flags := os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	made := os.Mkdir(p.dir, 0o777)
	if made == nil {
		flags |= os.O_CREATE
	} else if !errors.Is(made, fs.ErrExist) {
		return p, made
	}
	var err error
	if p.mark, err = os.OpenFile(filepath.Join(p.dir, markFile), flags, 0o666); err != nil {
		if made != nil {
			err = fmt.Errorf("%s: %w, and no earlier run has left it; expected another name", p.dir, fs.ErrExist)
		}
		return p, err
	}
	if err := syscall.Flock(int(p.mark.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return p, errors.Join(fmt.Errorf("%s: %w, as another process writes it", p.dir, fs.ErrExist), p.mark.Close())
	}
	old, err := os.ReadDir(p.dir)
	for _, e := range old {
		if e.Name() != markFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.dir, e.Name())))
		}
	}
	return p, err
}

// become gives the part its final name.
func (p *part) become(dir string) error {
	if err := os.Rename(p.dir, dir); err != nil {
		return err
	}
	p.dir = ""
	return os.Remove(filepath.Join(dir, markFile))
}

// leave removes the part, unless it has its final name.
func (p *part) leave() (err error) {
	if p.dir != "" {
		err = os.RemoveAll(p.dir)
	}
	return errors.Join(err, p.mark.Close())
}
