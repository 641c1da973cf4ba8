package regular

import (
	"io/fs"
	"time"
)

// Version tells the contents of a file from earlier ones. The zero Version is that of no file.
type Version struct {
	Size int64
	Time time.Time // of the last change
}

// VersionOf returns the version of a file.
func VersionOf(info fs.FileInfo) Version { return Version{info.Size(), info.ModTime()} }

// IsFresh reports whether the file has changed within a time before now: somebody may still write.
func (v Version) IsFresh(now time.Time, within time.Duration) bool {
	age := now.Sub(v.Time)
	return age >= 0 && age < within
}
