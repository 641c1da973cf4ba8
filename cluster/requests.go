package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// requests repeats requests until they succeed: servers that are away come back, and full streams
// get room. When one fails, it finds out whether the servers still have what the crawl needs: for a
// stream that was deleted nobody need wait. Operations share it.
type requests struct {
	remote   *remote
	warnings *warnings
	ctx      context.Context      // of the looks
	made     map[string]time.Time // when the streams were made, by name
	fail     func(error)          // is called once, when a stream was deleted

	mu      sync.Mutex // held while it looks
	last    time.Time
	deleted bool
}

// retry calls fn until it succeeds. Its error is that of ctx. Meanwhile the outbox fills, and the
// engine stops.
func (r *requests) retry(ctx context.Context, fn func(context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, requestTimeout)
		err := fn(one)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if !r.verify() { // that of one request after the other says the same
			r.warnings.seldom("messages wait", time.Minute, func() error {
				return fmt.Errorf("messages wait: %w", r.remote.servers.refused(err))
			})
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// verify ends the node if what it needs was deleted, and reports that. It is called when a request
// has failed; of several calls in a beat, one looks.
func (r *requests) verify() (deleted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.deleted || time.Since(r.last) < r.remote.beat {
		return r.deleted
	}
	ctx, cancel := context.WithTimeout(r.ctx, requestTimeout)
	defer cancel()
	for _, name := range r.remote.name.streamNames() {
		s, err := r.remote.needed(ctx, name)
		var away *absent
		if ctx.Err() != nil || errors.As(err, &away) {
			break // the servers do not say
		}
		if err == nil && !s.CachedInfo().Created.Equal(r.made[name]) {
			err = fmt.Errorf("crawl %s: stream %s was deleted from the servers, and made again", r.remote.name, name)
		}
		if err != nil {
			r.deleted = true
			r.fail(err)
			break
		}
	}
	r.last = time.Now()
	return r.deleted
}
