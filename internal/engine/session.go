package engine

import (
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/internal/fetch"
)

// ErrSignedOut is returned by a crawl that is logged out, and has no job in which it could wait for
// another login.
var ErrSignedOut = errors.New("the crawl is logged out")

// signedOut takes in that a page says that the crawl is not logged in any more: no other is
// requested, and those that say so, too, stay pending.
func (o *outcomes) signedOut(out *fetch.Outcome) {
	job := o.committer.job
	switch why := fmt.Errorf("%w: %s: %s", ErrSignedOut, out.URL.URL, out.SignedOut); {
	case job == nil:
		o.fail(why)
	case !o.pauses.reasons[PausedSignedOut]:
		o.pauses.set(PausedSignedOut, true)
		o.warn(fmt.Errorf("%w. It waits, and loses nothing: log in with weft login, then weft ctl %s resume", why, job.Dir))
	}
}

// ReadSession reads the file of the session again, from any goroutine, before a crawl that was
// logged out goes on.
func (c *Crawl) ReadSession() error {
	s := c.coordinator.cfg.Fetch.Session
	if s == nil {
		return nil
	}
	if err := s.Reload(); err != nil {
		return fmt.Errorf("the session: %w", err)
	}
	return nil
}
