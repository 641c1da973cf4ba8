package weft

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/aio"
)

var (
	// ErrJobExists is returned when the job's folder is already there.
	ErrJobExists = errors.New("exists already")

	// ErrJobUnusable is returned when the job's folder holds what no crawl of this version
	// can go on from: it is damaged, or of another version.
	ErrJobUnusable = errors.New("weft: the job cannot be used")

	// ErrRan is returned when a Crawler is run again.
	ErrRan = errors.New("weft: a crawl runs once")

	errNoSeed   = errors.New("none, expected a URL such as https://example.org/")
	errNegative = errors.New("expected more than 0, or 0 for the default")
)

// unusable makes an error ErrJobUnusable.
type unusable struct{ error }

func (unusable) Is(target error) bool { return target == ErrJobUnusable }
func (e unusable) Unwrap() error      { return e.error }
func (e unusable) Error() string      { return strings.TrimPrefix(e.error.Error(), "store: ") }

// OptionError is that a crawl cannot do with a field of Options.
type OptionError struct {
	Option string // the name of the field, such as "Concurrency"
	Value  string // as given; empty if Err says it, or there is none
	Err    error  // what is wrong with it, and what was expected
}

func (e *OptionError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("option %s: %v", e.Option, e.Err)
	}
	return fmt.Sprintf("option %s %.128q: %v", e.Option, e.Value, e.Err)
}

func (e *OptionError) Unwrap() error { return e.Err }

// untasked is err without the names of the tasks that it came through, which whoever
// runs a crawl has not started.
func untasked(err error) error {
	switch e := err.(type) {
	case *aio.TaskError:
		return untasked(e.Err)
	case interface{ Unwrap() []error }: // several that aio has joined
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, untasked(one))
		}
		return errors.Join(all...)
	}
	return err
}
