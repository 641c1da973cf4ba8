package fetch

import (
	"context"
	"errors"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/weburl"
)

// sliceText is the number of bytes of links that a page may have judged by an expression, or fewer
// by several, or a long page or sitemap may have read, before everything else on the loop has its
// turn. An expression may take 100 ns a byte, and a page may have maxLinkText bytes; a sitemap
// takes 30 ns.
const sliceText = 128 << 10

// slices is the page that is being read in slices.
type slices struct {
	task *aio.Task // nil: none
	left int       // of sliceText
	err  error     // the task is cancelled
	long bool      // other pages may be read between two slices: it has extractors of its own

	sitemap *Outcome // of a sitemap: its links are sent with each slice
}

// inSlices runs fn, which reads a page, with the lock f.turn: on the loop's stack, or, if the
// user's expressions judge links or it is a long page or sitemap, on that of the task, which then
// gives up its turn now and then.
func (f *Loop) inSlices(t *aio.Task, long bool, fn func()) error {
	if f.bounds.Expressions() == 0 && !long {
		t.OnLoop(fn)
		return nil
	}
	f.slices = slices{task: t, left: sliceText, long: long}
	fn()
	err := f.slices.err
	f.slices = slices{}
	return err
}

// proceed is called for each link of the page that is being read, before expressions judge it, and
// reports whether to read on.
func (f *Loop) proceed(u weburl.URL) bool {
	s := &f.slices
	if s.task == nil || s.err != nil {
		return s.err == nil
	}
	if s.left -= len(u.String()) * max(1, f.bounds.Expressions()); s.left < 0 {
		f.pause()
	}
	return s.err == nil
}

// pause gives up the turn of the task that reads a page, and the lock f.turn if that is a long one.
func (f *Loop) pause() {
	s := &f.slices
	s.left = sliceText
	switch {
	case s.err != nil:
	case s.sitemap != nil:
		out := s.sitemap
		f.meanwhile(func(t *aio.Task) error { return f.sendLinks(t, out) })
	case s.long:
		f.meanwhile((*aio.Task).Yield)
	default:
		s.err = s.task.Yield()
	}
}

// meanwhile lets other pages be read while wait waits.
func (f *Loop) meanwhile(wait func(t *aio.Task) error) {
	s := f.slices
	f.slices = slices{}
	f.turn.Unlock(s.task)
	s.err = errors.Join(s.err, wait(s.task), s.task.Shield(f.turn.Lock))
	f.slices = s
}

// apart runs fn, which uses nothing of the loop: off it if the page that is being read is long.
func (f *Loop) apart(fn func()) {
	if !f.slices.long {
		fn()
		return
	}
	f.meanwhile(func(t *aio.Task) error { return f.offLoop(t, fn) })
}

// offLoop runs fn, which uses nothing of the loop, while that continues: work on a long body that
// cannot be done in slices. There is one at a time, as the loops need the processors too.
func (f *Loop) offLoop(t *aio.Task, fn func()) error {
	if err := f.readers.offLoop.Lock(t); err != nil {
		return err
	}
	defer f.readers.offLoop.Unlock(t)
	_, err := aio.Offload(t, func(context.Context) (struct{}, error) {
		fn()
		return struct{}{}, nil
	})
	return err
}

// extractors returns those that the page is read with which is being read.
func (f *Loop) extractors() *extractors {
	if !f.slices.long {
		return f.short
	}
	if f.long == nil {
		f.long = newExtractors(f.cfg, 1)
	}
	return f.long
}

// sendLinks sends the links that an outcome has so far to the coordinator, and waits until they are
// admitted: so a sitemap takes the memory of a slice.
func (f *Loop) sendLinks(t *aio.Task, out *Outcome) error {
	var admitted aio.Event
	links := out.Links
	out.Links = nil
	ended := f.outbox.Post(func() {
		f.report.Links(links, func(added, tooMany int) {
			f.post(func() {
				out.Added(added, tooMany)
				admitted.Set()
			})
		})
	})
	return errors.Join(ended, admitted.Wait(t))
}
