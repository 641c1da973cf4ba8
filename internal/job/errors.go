package job

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/option"
)

var (
	// ErrExists is returned when the folder exists and is not that of a job.
	ErrExists = errors.New("already exists")

	// ErrUnusable is returned when the folder holds a job that is damaged, or of another version.
	ErrUnusable = errors.New("weft: the job cannot be used")

	// ErrPlan is returned when an option differs from the job's.
	ErrPlan = option.ErrPlan

	// ErrNoSeed is returned when there is neither a seed nor a job that has some.
	ErrNoSeed = errors.New("none, expected a URL such as https://example.org/")

	errNoJob   = errors.New("no job, expected one to recrawl")
	errGoesOn  = errors.New("its last crawl is not finished, expected no choice of URLs: it goes on with all of them")
	errChoice  = errors.New("its last run ended while it chose URLs, expected the same choice again")
	errNoRetry = errors.New("no job, expected one to retry")
)

// inUse is a LockedError without the folder, which the caller names.
type inUse struct{ *store.LockedError }

func (e inUse) Error() string { return e.Holder() }
func (e inUse) Unwrap() error { return e.LockedError }

// Errors of options: see package option.
type (
	OptionError = option.Error
	PlanError   = option.PlanError
	Difference  = option.Difference
)

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
