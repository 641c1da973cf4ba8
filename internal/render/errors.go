package render

import (
	"errors"
	"fmt"
)

// Kind is the reason for which a page has no rendered document.
type Kind string

// Kinds. A page fails by one of the first five if it does so twice: the fault may be that of a page
// beside it, or a script waits for the clock, unless that is the real one.
const (
	KindCrash   Kind = "crash"   // its process has died
	KindMemory  Kind = "memory"  // it takes more memory than the browser may
	KindDisk    Kind = "disk"    // it stores more than the browser may
	KindGone    Kind = "gone"    // the browser has ended
	KindCPU     Kind = "cpu"     // it computes without end
	KindTime    Kind = "time"    // it hangs: its document cannot be read
	KindStart   Kind = "start"   // the browser does not start: see StartError
	KindLeft    Kind = "left"    // a script has put another document in its place
	KindEmptied Kind = "emptied" // scripts have removed all of its content
	KindLength  Kind = "length"  // the document is too long
	KindOther   Kind = "other"   // the browser refuses it
)

// Errors of pages.
var (
	errCrashed = errors.New("the page's process has died")
	errMemory  = errors.New("the page takes more memory than the browser may")
	errCPU     = errors.New("the page computes without end")
	errGone    = errors.New("the browser has ended")
	errLate    = errors.New("the page does not answer in time")

	errDisk = errors.New("the page stores more than the browser may")

	errOutside  = fmt.Errorf("%w, outside its process", errMemory)
	errUndrawn  = fmt.Errorf("%w: it draws nothing any more", errGone)
	errEndless  = fmt.Errorf("%w, by the real clock", errCPU)
	errReplaced = errors.New("a script has put another document in the page's place")
	errEmptied  = errors.New("scripts have removed all of the page's content")
	errRestless = errors.New("the page before makes requests") // another tab is of use
	errHugeBody = fmt.Errorf("longer than the %d MiB that a browser takes", mostBody>>20)
	errTooLong  = errors.New("the rendered document is too long")
)

// KindOf returns the kind of an error of Render.
func KindOf(err error) Kind {
	var start *StartError
	if errors.As(err, &start) || errors.Is(err, ErrNoBrowser) {
		return KindStart
	}
	for kind, of := range map[Kind]error{KindCrash: errCrashed, KindMemory: errMemory, KindCPU: errCPU, KindGone: errGone, KindTime: errLate, KindLength: errTooLong, KindDisk: errDisk, KindLeft: errReplaced, KindEmptied: errEmptied} {
		if errors.Is(err, of) {
			return kind
		}
	}
	return KindOther
}

// mayRecover reports whether a page may be whole at a second try.
func mayRecover(err error) bool {
	switch KindOf(err) {
	case KindCrash, KindMemory, KindDisk, KindGone,
		KindLeft, KindEmptied: // if they are read soon
		return true
	case KindCPU: // on another clock
		return !errors.Is(err, errEndless)
	}
	return false
}

// StartError is returned for a browser that does not start. No page is rendered any more.
type StartError struct {
	Program string
	Err     error // its last words, or its end
	crashed bool  // by a signal: a further try may do
	silent  bool  // it has not answered in its time: one further try may do
}

func (e *StartError) Error() string {
	return fmt.Sprintf("browser %s does not start: %v; expected Chromium, and room for its profile in the folder for temporary files (TMPDIR)", e.Program, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }
