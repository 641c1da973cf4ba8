//go:build !unix

package store

import (
	"errors"
	"io/fs"
	"os"
)

// Here the build ends with package aio, which says that the system is not supported.

func lock(*os.File, bool) error { return errors.ErrUnsupported }

func identify(fs.FileInfo) (id folderID, known bool) { return id, false }
