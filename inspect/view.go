package inspect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/engine"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/job"
	"github.com/weftcrawl/weft/scope/shapes"
	"github.com/weftcrawl/weft/weburl"
)

// View answers questions about a job: from what is saved of it, and, while its crawl runs, from
// that, too.
type View struct {
	Job   *job.Job
	Crawl *engine.Crawl // nil: it does not run
}

// phase is how much a crawl can say.
type phase int

const (
	gone     phase = iota // it does not run: what is saved holds
	starting              // it does not know yet where it stands: the same
	live
)

// ask runs fn on the coordinator's loop, if there is one; what fn returns is valid if the phase is
// live.
func ask[T any](ctx context.Context, v *View, fn func(*engine.Coordinator) T) (T, phase, error) {
	var none, value T
	if v.Crawl == nil {
		return none, gone, nil
	}
	var p phase // if Ask fails, the coordinator may yet write it, and value
	err := v.Crawl.Ask(ctx, func(d *engine.Coordinator) {
		if p = starting; d.Ready() {
			value, p = fn(d), live
		}
	})
	if errors.Is(err, engine.ErrEnded) {
		return none, gone, nil
	}
	if err != nil {
		return none, gone, err
	}
	return value, p, nil
}

// saved returns plan and history, as the job has them.
func (v *View) saved() (p job.Plan, h job.History, err error) {
	if p, _, err = v.Job.SavedPlan(); err == nil {
		h, err = v.Job.SavedHistory()
	}
	return p, h, err
}

// Status returns where the job stands.
func (v *View) Status(ctx context.Context) (Status, error) {
	now, phase, err := ask(ctx, v, (*engine.Coordinator).Snapshot)
	if phase == live {
		return runningStatus(v.Job.Dir, now), nil
	}
	if err != nil {
		return Status{}, err
	}
	p, h, err := v.saved()
	if err != nil {
		return Status{}, err
	}
	counts, err := v.Job.Store.Counts()
	if err != nil {
		return Status{}, err
	}
	s := savedStatus(v.Job.Dir, p, h, counts)
	if phase == starting {
		s.State, s.Reasons, s.Ended = JobStarting, nil, time.Time{}
	}
	return s, nil
}

// atOnce is how many hosts or URLs a running crawl is asked about at a time.
const atOnce = 256

// Hosts yields the hosts of the job, by name.
func (v *View) Hosts(ctx context.Context) iter.Seq2[HostStatus, error] {
	return func(yield func(HostStatus, error) bool) {
		p, _, err := v.saved()
		var traps map[string][]string
		if err == nil {
			traps, err = v.traps()
		}
		if err != nil {
			yield(HostStatus{}, err)
			return
		}
		for some, err := range chunks(v.Job.Store.Origins(), atOnce) {
			var infos []frontier.OriginInfo
			if err == nil {
				infos, err = v.infos(ctx, some)
			}
			if err != nil {
				yield(HostStatus{}, err)
				return
			}
			now := time.Now()
			for i, h := range some {
				s := hostStatus(now, p, infos[i], h.Rules)
				s.Traps = traps[h.Name]
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// traps returns the shapes of URLs that are refused, by origin.
func (v *View) traps() (map[string][]string, error) {
	traps := make(map[string][]string)
	for name, err := range v.Job.Traps("") {
		if err != nil {
			return nil, err
		}
		origin := shapes.Origin(name)
		traps[origin] = append(traps[origin], frontier.Brief(name))
	}
	return traps, nil
}

// infos returns what is known of hosts now.
func (v *View) infos(ctx context.Context, hosts []store.Origin) ([]frontier.OriginInfo, error) {
	infos := make([]frontier.OriginInfo, len(hosts))
	clock, err := v.clock(ctx)
	if err != nil {
		return nil, err
	}
	for i, h := range hosts {
		infos[i].OriginState, infos[i].Pace = h.OriginState, h.Most
	}
	now, p, err := ask(ctx, v, func(d *engine.Coordinator) []frontier.OriginInfo {
		now := slices.Clone(infos)
		for i, h := range hosts {
			if info, known := d.Frontier().Origin(d.Clock().Job, h.Name); known { // else it was evicted since it was saved
				now[i] = info
			}
		}
		return now
	})
	if p == live {
		infos = now
	}
	for i := range infos {
		dateInfo(clock, &infos[i])
	}
	return infos, err
}

// clock returns the time of the job and of the calendar, now or at its last commit.
func (v *View) clock(ctx context.Context) (job.Clock, error) {
	c, p, err := ask(ctx, v, (*engine.Coordinator).Clock)
	if p == live || err != nil {
		return c, err
	}
	_, h, err := v.saved()
	return h.Clock, err
}

// dateInfo turns times of the job into those of the calendar.
func dateInfo(c job.Clock, h *frontier.OriginInfo) {
	for _, t := range []*time.Time{
		&h.Asked, &h.Hold, &h.Next, &h.Trouble.Since, &h.Trouble.Until, &h.Robots.Until,
	} {
		*t = c.Date(*t)
	}
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

// URLs yields the URLs that a filter selects: pending ones by host, in the order of its queue, then
// others by URL. One that ends meanwhile may come twice, as what it was and as what it became.
func (v *View) URLs(ctx context.Context, f URLFilter) iter.Seq2[URLStatus, error] {
	return func(yield func(URLStatus, error) bool) {
		leased, err := v.leased(ctx)
		var h job.History
		if err == nil {
			_, h, err = v.saved()
		}
		var clock job.Clock
		if err == nil {
			clock, err = v.clock(ctx)
		}
		if err == nil && f.State != "" && !slices.Contains(states, f.State) {
			err = fmt.Errorf("state %.32q, expected pending, leased, done, failed, refused, unchanged, changed, gone or new", f.State)
		}
		if err != nil {
			yield(URLStatus{}, err)
			return
		}
		for e, err := range v.entriesIn(f.State, leased) {
			if err != nil {
				yield(URLStatus{}, err)
				return
			}
			u := urlStatus(e, leased[e.URL.URL], clock)
			if f.selects(&u, h.Summary.Visit) && !yield(u, nil) {
				return
			}
		}
	}
}

// entriesIn yields what is saved of the URLs that may be in a state.
func (v *View) entriesIn(state URLState, leased map[weburl.URL]bool) iter.Seq2[store.Entry, error] {
	s := v.Job.Store
	switch state {
	case URLLeased:
		return v.entries(leased)
	case URLPending:
		return s.URLs(store.Pending)
	case URLRefused:
		return s.URLs(store.Refused)
	case "":
		return s.URLs(0)
	}
	return s.URLs(store.Done)
}

// leased returns the URLs that are being fetched.
func (v *View) leased(ctx context.Context) (map[weburl.URL]bool, error) {
	leased, _, err := ask(ctx, v, func(d *engine.Coordinator) map[weburl.URL]bool {
		leased := make(map[weburl.URL]bool)
		for u := range d.Frontier().Leased() {
			leased[u] = true
		}
		return leased
	})
	return leased, err
}

// entries yields what is saved of URLs, in their order. It leaves out one that is not saved yet.
func (v *View) entries(urls map[weburl.URL]bool) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for _, u := range slices.SortedFunc(maps.Keys(urls), func(a, b weburl.URL) int { return strings.Compare(a.String(), b.String()) }) {
			e, found, err := v.Job.Store.Find(u)
			if (found || err != nil) && !yield(e, err) {
				return
			}
		}
	}
}
