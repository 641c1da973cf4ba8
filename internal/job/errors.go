package job

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/weftcrawl/weft/internal/frontier/store"
)

var (
	// ErrExists is returned when the folder exists and is not that of a job.
	ErrExists = errors.New("already exists")

	// ErrUnusable is returned when the folder holds a job that is damaged, or of another version.
	ErrUnusable = errors.New("weft: the job cannot be used")

	// ErrPlan is returned when an option differs from the job's.
	ErrPlan = errors.New("as the job began with")

	// ErrNoSeed is returned when there is neither a seed nor a job that has some.
	ErrNoSeed = errors.New("none, expected a URL such as https://example.org/")

	errNoJob   = errors.New("no job, expected one to recrawl")
	errNoRetry = errors.New("no job, expected one to retry")
	errInUse   = fmt.Errorf("%w: another crawl or command", store.ErrLocked)
)

// OptionError reports an invalid option.
type OptionError struct {
	Option string // field of weft.Options, such as "Concurrency"
	Value  string // as given; empty if there is none, or Err names it
	Err    error  // what is wrong, and what was expected
}

func (e *OptionError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("option %s: %v", e.Option, e.Err)
	}
	return fmt.Sprintf("option %s %.128q: %v", e.Option, e.Value, e.Err)
}

func (e *OptionError) Unwrap() error { return e.Err }

// PlanError reports frozen options whose values are not the job's. It is an ErrPlan.
type PlanError struct {
	Differences []Difference // in the order of Frozen, then seeds and exclusions
	Finished    bool         // the job's crawl is
}

// Difference is an option with the job's value and the requested one, in words.
type Difference struct{ Option, Was, Now string }

// Error leaves the name and value of the first difference to the OptionError that wraps it.
func (e *PlanError) Error() string {
	text := fmt.Sprintf("expected %s, %v", e.Differences[0].Was, ErrPlan)
	for _, d := range e.Differences[1:] {
		text += fmt.Sprintf("; option %s %.128q: expected %s", d.Option, d.Now, d.Was)
	}
	return text
}

func (*PlanError) Is(target error) bool { return target == ErrPlan }

// unusable makes an error of the store ErrUnusable.
type unusable struct{ error }

func (unusable) Is(target error) bool { return target == ErrUnusable }
func (e unusable) Unwrap() error      { return e.error }
func (e unusable) Error() string      { return strings.TrimPrefix(e.error.Error(), "store: ") }

// withoutPath returns an error of the file system without its path, which the caller names.
func withoutPath(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// Damaged returns ErrUnusable for a part of a job that cannot be read.
func Damaged(part string, err error) error {
	return unusable{fmt.Errorf("%w: %s: %w", store.ErrDamaged, part, err)}
}
