package fetch

import (
	"errors"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/weburl"
)

// sliceText is how many bytes of links a page may have judged by an expression, or fewer by
// several, or a sitemap may have read, before everything else on the loop has its turn. An
// expression may take 100 ns a byte, and a page may have maxLinkText bytes; a sitemap takes 30 ns.
const sliceText = 128 << 10

// slices is the page that is being read in slices.
type slices struct {
	task *aio.Task // nil: none
	left int       // of sliceText
	err  error     // the task is cancelled

	// Of a sitemap: its links are sent with each slice, and other pages may be read meanwhile.
	sitemap *Outcome
}

// inSlices runs fn, which reads a page, with the lock f.turn: on the loop's stack, or, if the user's
// expressions judge links or the page may be a long sitemap, on that of the task, which then gives
// up its turn now and then.
func (f *Loop) inSlices(t *aio.Task, long bool, fn func()) error {
	if f.bounds.Expressions() == 0 && !long {
		t.OnLoop(fn)
		return nil
	}
	f.slices = slices{task: t, left: sliceText}
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

// pause gives up the turn of the task that reads a page, and the lock f.turn if that is a sitemap.
func (f *Loop) pause() {
	s := f.slices
	s.left = sliceText
	if s.sitemap == nil {
		s.err = s.task.Yield()
	} else {
		f.slices = slices{}
		f.turn.Unlock(s.task)
		s.err = errors.Join(f.sendLinks(s.task, s.sitemap), s.task.Shield(f.turn.Lock))
	}
	f.slices = s
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
