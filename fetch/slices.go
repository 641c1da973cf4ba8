package fetch

import (
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/weburl"
)

// sliceText is how many bytes of links a page may have judged by an expression, or fewer by
// several, before everything else on the loop has its turn. An expression may take 100 ns a byte,
// and a page may have maxLinkText bytes.
const sliceText = 128 << 10

// slices is the page that is being read in slices.
type slices struct {
	task *aio.Task // nil: none
	left int       // of sliceText
	err  error     // the task is cancelled
}

// inSlices runs fn, which reads a page, with the lock f.turn: on the loop's stack, or, if the user's
// expressions judge links, on that of the task, which then gives up its turn now and then.
func (f *Loop) inSlices(t *aio.Task, fn func()) error {
	if f.bounds.Expressions() == 0 {
		t.OnLoop(fn)
		return nil
	}
	f.slices = slices{task: t, left: sliceText}
	fn()
	err := f.slices.err
	f.slices = slices{}
	return err
}

// judging is called before expressions judge a link of the page that is being read, and reports
// whether to read on.
func (f *Loop) judging(u weburl.URL) bool {
	s := &f.slices
	if s.task == nil || s.err != nil {
		return s.err == nil
	}
	if s.left -= len(u.String()) * f.bounds.Expressions(); s.left < 0 {
		s.left = sliceText
		s.err = s.task.Yield()
	}
	return s.err == nil
}
