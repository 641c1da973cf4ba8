package weft

import (
	"errors"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/option"
)

// OptionError reports an invalid option.
type OptionError = option.Error

// PlanError reports in an OptionError every frozen option that differs from the job's.
type PlanError = option.PlanError

// Difference is one of them.
type Difference = option.Difference

var (
	// ErrJobExists is returned when the job's folder exists and is not that of a job.
	ErrJobExists = job.ErrExists

	// ErrJobUnusable is returned when the folder holds a job that is damaged, or of another
	// version.
	ErrJobUnusable = job.ErrUnusable

	// ErrPlan is returned when an option differs from the job's first run.
	ErrPlan = option.ErrPlan

	// ErrRan is returned when a Crawler is run again.
	ErrRan = engine.ErrRan
)

var (
	errNegative = errors.New("expected more than 0, or 0 for the default")
	errNoJob    = errors.New("no job, expected one to recrawl")
	errNoUpdate = errors.New("without Update, expected both")
	errNoRetry  = errors.New("no job, expected one to retry")
	errNotRetry = errors.New("with Fresh or Update, expected one of them")
	errFresh    = errors.New("with Fresh, expected one of them")
)

// FetchError reports a URL that could not be fetched, or that is not to be.
type FetchError struct{ Record *Record }

func (e *FetchError) Error() string {
	return e.Record.URL + ": " + e.Record.ErrorKind + ": " + e.Record.Error
}

func invalid(option, value string, err error) *OptionError {
	return &OptionError{Option: option, Value: value, Err: err}
}
