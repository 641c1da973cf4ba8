package store

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrLocked matches a LockedError.
	ErrLocked = errors.New("in use")

	// ErrVersion matches a VersionError.
	ErrVersion = errors.New("of another version")

	// ErrDamaged matches a DamageError.
	ErrDamaged = errors.New("damaged")

	// ErrShort matches a ShortError.
	ErrShort = errors.New("shorter than what was committed")

	// ErrReadOnly is returned by Commit of a read-only store.
	ErrReadOnly = errors.New("store: read only")

	// ErrMoved is the failure of a store whose folder was renamed, removed or replaced when it
	// needed a new file there. What was committed is where the folder is now.
	ErrMoved = errors.New("the folder was moved, expected it to stay while it is written to")

	// ErrClosed is returned by calls to a closed store.
	ErrClosed = errors.New("store: closed")
)

// LockedError is returned by Open when another process, or another Store in this one, has the job
// open.
type LockedError struct {
	Dir  string
	lock string // path of the file that is locked
}

func (e *LockedError) Error() string { return "store: " + e.Dir + ": " + e.Holder() }

// Holder says who has the job open, at the time of the call, as far as the system tells.
func (e *LockedError) Holder() string {
	if who := holder(e.lock); who != "" {
		return "in use by " + who
	}
	return "in use by another process"
}

func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// VersionError is returned by Open for a state written by another version of Weft.
type VersionError struct {
	Dir   string
	Found uint64 // format of the state; 0: unknown
	Known uint64 // format of this version
}

func (e *VersionError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("store: %s: written by a newer version of Weft; this one reads format %d", e.Dir, e.Known)
	}
	return fmt.Sprintf("store: %s: written by another version of Weft, in format %d; this one reads format %d", e.Dir, e.Found, e.Known)
}

func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// DamageError is returned when the state is not as written: a file is missing, cut or altered.
type DamageError struct {
	Dir string // of the state
	Err error  // the damage, and where
}

func (e *DamageError) Error() string {
	first, _, _ := strings.Cut(e.Err.Error(), "\n") // Pebble has one line per file
	return fmt.Sprintf("store: %s: damaged: %s", e.Dir, first)
}

func (e *DamageError) Is(target error) bool { return target == ErrDamaged }
func (e *DamageError) Unwrap() error        { return e.Err }

// ShortError is returned by Open when an output is shorter than its committed length: committed
// lines are lost.
type ShortError struct {
	Name string // path of the output
	Size int64  // its bytes; 0 if it is missing
	Want int64  // committed bytes
}

func (e *ShortError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("store: %s: missing or empty, expected the %d bytes that were committed", e.Name, e.Want)
	}
	return fmt.Sprintf("store: %s: %d bytes, expected at least the %d that were committed", e.Name, e.Size, e.Want)
}

func (e *ShortError) Is(target error) bool { return target == ErrShort }

// wrap marks an error of the disk, which names the file, as one of the store.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %w", err)
}
