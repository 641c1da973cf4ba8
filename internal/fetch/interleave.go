package fetch

import (
	"context"
	"errors"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/weburl"
)

// yieldAfter is the number of bytes of links that a page may have judged by an expression, or fewer
// by several, or a long page or sitemap may have read, before everything else on the loop has its
// turn. An expression may take 100 ns a byte, and a page may have maxLinkText bytes; a sitemap
// takes 30 ns.
const yieldAfter = 128 << 10

// interleaver reads one page after another. A long one is read in parts, between which others may
// be read.
// Owner: one loop.
type interleaver struct {
	bounds  *scope.Bounds
	reports *reports

	lock    aio.Lock // held by the worker that reads a page
	offLock aio.Lock // held by the worker that has something done off the loop
	page    reading  // that is being read
}

// reading is the page that is being read; the zero reading is done in one go, not in parts.
type reading struct {
	task *aio.Task // nil: none
	left int       // of yieldAfter
	err  error     // the task is cancelled
	long bool      // other pages may be read between two parts: it has extractors of its own

	sitemap *Outcome // of a sitemap: its links are sent with each part
}

// read runs fn, which reads a page, with the lock: on the loop's stack, or, if the
// user's expressions judge links or it is a long page or sitemap, on that of the task, which then
// gives up its turn now and then.
func (s *interleaver) read(t *aio.Task, long bool, fn func()) error {
	if s.bounds.Expressions() == 0 && !long {
		t.OnLoop(fn)
		return nil
	}
	s.page = reading{task: t, left: yieldAfter, long: long}
	fn()
	err := s.page.err
	s.page = reading{}
	return err
}

// proceed is called for each link of the page that is being read, before expressions judge it, and
// reports whether to read on.
func (s *interleaver) proceed(u weburl.URL) bool {
	p := &s.page
	if p.task == nil || p.err != nil {
		return p.err == nil
	}
	if p.left -= len(u.String()) * max(1, s.bounds.Expressions()); p.left < 0 {
		s.pause()
	}
	return p.err == nil
}

// pause gives up the turn of the task that reads a page, and the lock if that is a long one.
func (s *interleaver) pause() {
	p := &s.page
	p.left = yieldAfter
	switch {
	case p.err != nil:
	case p.sitemap != nil:
		out := p.sitemap
		s.meanwhile(func(t *aio.Task) error { return s.reports.sendLinks(t, out) })
	case p.long:
		s.meanwhile((*aio.Task).Yield)
	default:
		p.err = p.task.Yield()
	}
}

// meanwhile lets other pages be read while wait waits.
func (s *interleaver) meanwhile(wait func(t *aio.Task) error) {
	p := s.page
	s.page = reading{}
	s.lock.Unlock(p.task)
	p.err = errors.Join(p.err, wait(p.task), p.task.Shield(s.lock.Lock))
	s.page = p
}

// apart runs fn, which uses nothing of the loop: off it if the page that is being read is long.
func (s *interleaver) apart(fn func()) {
	if !s.page.long {
		fn()
		return
	}
	s.meanwhile(func(t *aio.Task) error { return s.offLoop(t, fn) })
}

// offLoop runs fn, which uses nothing of the loop, while that continues: work on a long body that
// cannot be done in parts. There is one at a time, as the loops need the processors too.
func (s *interleaver) offLoop(t *aio.Task, fn func()) error {
	if err := s.offLock.Lock(t); err != nil {
		return err
	}
	defer s.offLock.Unlock(t)
	_, err := aio.Offload(t, func(context.Context) (struct{}, error) {
		fn()
		return struct{}{}, nil
	})
	return err
}
