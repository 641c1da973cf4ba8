//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

func identify(info fs.FileInfo) (id folderID, known bool) {
	s, known := info.Sys().(*syscall.Stat_t)
	if known {
		id = folderID{uint64(s.Dev), s.Ino}
	}
	return id, known
}
