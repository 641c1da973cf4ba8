package store

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrLocked is returned by Open when another process, or another Store of this
	// one, has the job open.
	ErrLocked = errors.New("in use by another process")

	// ErrVersion is what a VersionError is.
	ErrVersion = errors.New("of another version")

	// ErrDamaged is what a DamageError is.
	ErrDamaged = errors.New("damaged")

	// ErrShort is what a ShortError is.
	ErrShort = errors.New("shorter than what was committed")

	// ErrReadOnly is returned by Commit of a store that was opened to be read.
	ErrReadOnly = errors.New("store: read only")

	// ErrClosed is returned by calls to a closed store.
	ErrClosed = errors.New("store: closed")
)

// VersionError is returned by Open for a state that another version of Weft has written.
type VersionError struct {
	Dir   string
	Found uint64 // format of the state; 0: one that cannot even be told
	Known uint64 // the one this version reads and writes
}

func (e *VersionError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("store: %s: written by a newer version of Weft; this one reads format %d", e.Dir, e.Known)
	}
	return fmt.Sprintf("store: %s: written by another version of Weft, in format %d; this one reads format %d", e.Dir, e.Found, e.Known)
}

func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// DamageError is returned when the state cannot be what was written: a file is missing,
// cut or altered.
type DamageError struct {
	Dir string // of the state
	Err error  // what is wrong, and where
}

func (e *DamageError) Error() string {
	first, _, _ := strings.Cut(e.Err.Error(), "\n") // Pebble has a line for each file
	return fmt.Sprintf("store: %s: damaged: %s", e.Dir, first)
}

func (e *DamageError) Is(target error) bool { return target == ErrDamaged }
func (e *DamageError) Unwrap() error        { return e.Err }

// ShortError is returned by Open when an output holds less than was committed: lines
// that the state says are there are lost.
type ShortError struct {
	Name string // path of the output
	Size int64  // bytes it has; 0 if it is missing too
	Want int64  // bytes that were committed
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("store: %s: %d bytes, expected at least the %d that were committed", e.Name, e.Size, e.Want)
}

func (e *ShortError) Is(target error) bool { return target == ErrShort }
