package weft

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/weburl"
)

// view answers what is asked about a job: from what is saved of it, and, while its crawl
// runs, from that too. What a crawl has done in the last tenth of a second need not be
// saved yet. Any goroutine.
type view struct {
	job   *job
	crawl *Crawler // nil: it does not run
}

// errEnded is that a crawl has nothing more to say: its last word is saved.
var errEnded = errors.New("the crawl has ended")

// ask has fn run on the desk's loop. If it returns nil, fn has run; otherwise it still may.
func (c *Crawler) ask(ctx context.Context, fn func(*desk)) error {
	done := make(chan struct{})
	c.mu.Lock()
	ended := c.mu.inbox.Post(func() {
		fn(c.desk)
		close(done)
	})
	c.mu.Unlock()
	if ended != nil {
		return errEnded
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// phase is how much a crawl can say.
type phase int

const (
	gone     phase = iota // it does not run: what is saved holds
	starting              // it does not know yet where it stands: the same
	live
)

// look is ask where there is a crawl; what fn returns is valid while that is live.
func look[T any](ctx context.Context, v *view, fn func(*desk) T) (T, phase, error) {
	var none, told T
	if v.crawl == nil {
		return none, gone, nil
	}
	var p phase // if ask fails, the desk may yet write it, and told
	err := v.crawl.ask(ctx, func(d *desk) {
		if p = starting; d.ready {
			told, p = fn(d), live
		}
	})
	if errors.Is(err, errEnded) {
		return none, gone, nil
	}
	if err != nil {
		return none, gone, err
	}
	return told, p, nil
}

// saved returns plan and history, as the job has them.
func (v *view) saved() (p plan, h history, err error) {
	if _, err = v.job.note(notePlan, &p); err == nil {
		_, err = v.job.note(noteHistory, &h)
	}
	return p, h, err
}

func (v *view) status(ctx context.Context) (Status, error) {
	s, phase, err := look(ctx, v, (*desk).status)
	if phase == live || err != nil {
		return s, err
	}
	p, h, err := v.saved()
	if err != nil {
		return Status{}, err
	}
	counts, err := v.job.store.Counts()
	if err != nil {
		return Status{}, err
	}
	s = newStatus(v.job.dir, p, h, counts)
	if phase == starting {
		s.State, s.Reasons, s.Ended = JobStarting, nil, time.Time{}
	}
	return s, nil
}

// status is that of a crawl that runs.
func (d *desk) status() Status {
	counts := d.frontier.Stats()
	s := newStatus(d.job.dir, d.job.plan, d.history(), counts)
	s.Ended, s.Reasons = time.Time{}, nil
	switch {
	case d.draining || d.over.IsSet():
		s.State = JobEnding
	default:
		s.State = JobRunning
		if s.Reasons = d.reasons(); len(s.Reasons) > 0 {
			s.State = JobPaused
		}
	}
	s.Memory, s.MaxMemory = memoryUsed(), int64(d.cfg.Memory)
	s.URLsPerSecond, s.BytesPerSecond = d.pulse.rate(d.loop.Now())
	if s.URLsPerSecond > 0 {
		s.SecondsLeft = float64(counts.Pending+counts.Leased) / s.URLsPerSecond
	}
	return s
}

// A crawl that runs is asked about this many hosts or URLs at a time, so that it goes on
// with others meanwhile.
const asked = 256

// hosts yields the hosts of the job, by name.
func (v *view) hosts(ctx context.Context) iter.Seq2[HostStatus, error] {
	return func(yield func(HostStatus, error) bool) {
		p, _, err := v.saved()
		if err != nil {
			yield(HostStatus{}, err)
			return
		}
		for some, err := range chunks(v.job.store.Hosts(), asked) {
			if err == nil {
				err = v.tell(ctx, p, some, yield)
			}
			if errors.Is(err, errEnough) {
				return
			}
			if err != nil {
				yield(HostStatus{}, err)
				return
			}
		}
	}
}

// errEnough is that whoever is told needs no more.
var errEnough = errors.New("enough")

// tell yields hosts as they are now.
func (v *view) tell(ctx context.Context, p plan, hosts []store.Host, yield func(HostStatus, error) bool) error {
	infos, err := v.infos(ctx, hosts)
	if err != nil {
		return err
	}
	now := time.Now()
	for i, h := range hosts {
		if !yield(newHostStatus(now, p, infos[i], h.Rules), nil) {
			return errEnough
		}
	}
	return nil
}

// infos returns what is known of hosts now.
func (v *view) infos(ctx context.Context, hosts []store.Host) ([]frontier.HostInfo, error) {
	infos := make([]frontier.HostInfo, len(hosts))
	for i, h := range hosts {
		infos[i].HostState, infos[i].Pace = h.HostState, h.Most
	}
	now, p, err := look(ctx, v, func(d *desk) []frontier.HostInfo {
		now := slices.Clone(infos)
		for i, h := range hosts {
			if info, known := d.frontier.View().Host(d.loop.Now(), h.Name); known { // or it has left memory since it was saved
				now[i] = info
			}
		}
		return now
	})
	if p == live {
		infos = now
	}
	return infos, err
}

// chunks yields values n at a time.
func chunks[T any](values iter.Seq2[T, error], n int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var some []T
		for v, err := range values {
			if err != nil {
				yield(nil, err)
				return
			}
			if some = append(some, v); len(some) == n {
				if !yield(some, nil) {
					return
				}
				some = some[:0]
			}
		}
		if len(some) > 0 {
			yield(some, nil)
		}
	}
}

// urls yields the URLs in a state.
func (v *view) urls(ctx context.Context, state URLState) iter.Seq2[URLStatus, error] {
	of, ok := map[URLState]store.State{
		URLPending: store.Pending, URLDone: store.Done, URLFailed: store.Done, URLRefused: store.Refused,
		URLState(ChangeUnchanged): store.Done, URLState(ChangeChanged): store.Done, URLState(ChangeGone): store.Done, URLState(ChangeNew): store.Done,
	}[state]
	if !ok && state != URLLeased {
		return func(yield func(URLStatus, error) bool) {
			yield(URLStatus{}, fmt.Errorf("state %.32q, expected pending, leased, done, failed, refused, unchanged, changed, gone or new", state))
		}
	}
	return func(yield func(URLStatus, error) bool) {
		leased, err := v.leased(ctx)
		var h history
		if err == nil {
			_, h, err = v.saved()
		}
		if err != nil {
			yield(URLStatus{}, err)
			return
		}
		entries := v.job.store.URLs(of)
		if state == URLLeased {
			entries = v.entries(leased)
		}
		for e, err := range entries {
			if err != nil {
				yield(URLStatus{}, err)
				return
			}
			u := newURLStatus(e, leased[e.URL.URL])
			if u.isIn(state, h.Summary.Visit) && !yield(u, nil) {
				return
			}
		}
	}
}

// leased returns the URLs that are under way.
func (v *view) leased(ctx context.Context) (map[weburl.URL]bool, error) {
	leased, _, err := look(ctx, v, func(d *desk) map[weburl.URL]bool {
		leased := make(map[weburl.URL]bool)
		for u := range d.frontier.View().Leased() {
			leased[u] = true
		}
		return leased
	})
	return leased, err
}

// entries yields what is saved of URLs, in their order. One that is not saved yet was
// added a moment ago, and is left out.
func (v *view) entries(urls map[weburl.URL]bool) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for _, u := range slices.SortedFunc(maps.Keys(urls), func(a, b weburl.URL) int { return strings.Compare(a.String(), b.String()) }) {
			e, found, err := v.job.store.Find(u)
			if (found || err != nil) && !yield(e, err) {
				return
			}
		}
	}
}
