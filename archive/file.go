package archive

import (
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/internal/regular"
)

// OpenRegular opens a regular file. It does not wait for the writer of a pipe, as an open of a job
// from elsewhere may lead to one.
func OpenRegular(path string) (*os.File, error) {
	return regular.Open(path)
}

// OpenBody opens a body of a job that keeps bodies in files, by the sha256 of its record. The error
// is [fs.ErrNotExist] if the job has none of that name.
func OpenBody(dir, sha256 string) (*os.File, error) {
	if _, err := hex.DecodeString(sha256); err != nil || len(sha256) != 64 {
		return nil, fs.ErrNotExist
	}
	return OpenRegular(filepath.Join(dir, "bodies", sha256[:2], sha256))
}
