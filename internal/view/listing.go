package view

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Listing lists the hosts and the URLs of a job from what is saved of it: its own store, or a
// snapshot that its crawl has made.
type Listing struct {
	Job    *job.Job
	Clock  job.Clock // of the job, now or at its last commit
	Leased []string  // the URLs that are being fetched, in order

	// Origins returns what the crawl knows of those of the named origins that are in its memory;
	// nil: it does not run.
	Origins func(ctx context.Context, names []string) ([]frontier.OriginInfo, error)
}

// List returns the listing of a job that does not run.
func List(j *job.Job) (*Listing, error) {
	h, err := j.SavedHistory()
	return &Listing{Job: j, Clock: h.Clock}, err
}

// atOnce is the number of hosts that a running crawl is asked about at a time.
const atOnce = 256

// Hosts yields the hosts of the job behind one of them, or all behind "", by name.
func (l *Listing) Hosts(ctx context.Context, after string) iter.Seq2[inspect.HostStatus, error] {
	return func(yield func(inspect.HostStatus, error) bool) {
		p, _, err := l.Job.SavedPlan()
		var traps map[string][]string
		if err == nil {
			traps, err = l.traps()
		}
		if err != nil {
			yield(inspect.HostStatus{}, err)
			return
		}
		for some, err := range chunks(l.Job.Store.Origins(after), atOnce) {
			var infos map[string]frontier.OriginInfo
			if err == nil {
				infos, err = l.infos(ctx, some)
			}
			if err != nil {
				yield(inspect.HostStatus{}, err)
				return
			}
			now := time.Now()
			for _, h := range some {
				info := infos[h.Name]
				dateInfo(l.Clock, &info)
				s := hostStatus(now, p, info, h.Rules)
				s.Traps = traps[h.Name]
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// traps returns the shapes of URLs that are refused, by origin.
func (l *Listing) traps() (map[string][]string, error) {
	traps := make(map[string][]string)
	for name, err := range l.Job.Traps("") {
		if err != nil {
			return nil, err
		}
		origin := shapes.Origin(name)
		traps[origin] = append(traps[origin], frontier.Brief(name))
	}
	return traps, nil
}

// infos returns what is known of hosts now, by name.
func (l *Listing) infos(ctx context.Context, hosts []store.Origin) (map[string]frontier.OriginInfo, error) {
	infos := make(map[string]frontier.OriginInfo, len(hosts))
	names := make([]string, len(hosts))
	for i, h := range hosts {
		infos[h.Name], names[i] = savedInfo(h), h.Name
	}
	if l.Origins == nil {
		return infos, nil
	}
	now, err := l.Origins(ctx, names)
	for _, info := range now {
		infos[info.Name] = info
	}
	return infos, err
}

// savedInfo returns the saved state of a host, as that of a host at rest.
func savedInfo(h store.Origin) frontier.OriginInfo {
	return frontier.OriginInfo{OriginState: h.OriginState, Pace: h.Most}
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
// others by URL.
func (l *Listing) URLs(f inspect.URLFilter) iter.Seq2[inspect.URLStatus, error] {
	return func(yield func(inspect.URLStatus, error) bool) {
		for c, err := range l.candidates(f, "") {
			if (err != nil || c.selected) && !yield(c.URLStatus, err) {
				return
			}
		}
	}
}

// candidate is a URL that a filter has judged.
type candidate struct {
	inspect.URLStatus
	selected bool
	entry    store.Entry
}

// candidates yields the URLs behind a cursor that may be in the state of a filter.
func (l *Listing) candidates(f inspect.URLFilter, after string) iter.Seq2[candidate, error] {
	return func(yield func(candidate, error) bool) {
		h, err := l.Job.SavedHistory()
		if err == nil && f.State != "" && !slices.Contains(states, f.State) {
			err = fmt.Errorf("state %.32q, %w", f.State, inspect.ErrState)
		}
		if err != nil {
			yield(candidate{}, err)
			return
		}
		for e, err := range l.entries(f.State, after) {
			c := candidate{entry: e}
			if err == nil {
				c.URLStatus = urlStatus(e, l.isLeased(e), l.Clock)
				c.selected = selects(f, &c.URLStatus, h.Summary.Visit)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// isLeased reports whether a URL that is saved as pending is being fetched.
func (l *Listing) isLeased(e store.Entry) bool {
	if e.State != store.Pending {
		return false
	}
	_, leased := slices.BinarySearch(l.Leased, e.URL.URL.String())
	return leased
}

// entries yields what is saved of the URLs behind a cursor that may be in a state.
func (l *Listing) entries(state inspect.URLState, after string) iter.Seq2[store.Entry, error] {
	s := l.Job.Store
	switch state {
	case inspect.URLLeased:
		return func(yield func(store.Entry, error) bool) { l.leased(after, yield) }
	case inspect.URLPending:
		return s.URLs(store.Pending, after)
	case inspect.URLRefused:
		return s.URLs(store.Refused, after)
	case "":
		return s.URLs(0, after)
	}
	return s.URLs(store.Done, after)
}

// leased yields what is saved of the URLs behind another that are being fetched. It leaves out one
// that is not saved yet.
func (l *Listing) leased(after string, yield func(store.Entry, error) bool) {
	for _, name := range l.Leased {
		if name <= after {
			continue
		}
		u, err := weburl.Parse(name)
		var e store.Entry
		var found bool
		if err == nil {
			e, found, err = l.Job.Store.Find(u)
		}
		if (found || err != nil) && !yield(e, err) {
			return
		}
	}
}

func urlStatus(e store.Entry, leased bool, c job.Clock) inspect.URLStatus {
	u := e.URL
	s := inspect.URLStatus{
		URL: u.URL.String(), State: inspect.URLPending, Depth: u.Depth, From: u.From, Hops: u.Hops, Priority: int(u.Priority), AsSitemap: fetch.IsSitemap(u), Role: fetch.RoleOf(&u),
		Tries: u.Tries, NotBefore: c.Date(u.NotBefore),
	}
	if n := len(u.Past); n > 0 {
		last := u.Past[n-1]
		s.At, s.Status, s.ErrorKind, s.Error = last.At, last.Status, last.Kind, last.Reason
		if last.Kind == "" {
			s.Error = ""
			if record.IsRedirect(last.Status) {
				s.Redirect = last.Reason
			}
		}
	}
	if v := u.Known; v != nil {
		s.Known = &inspect.Known{
			Visit: v.Number, Change: record.Change(v.Change), Status: v.Status, At: v.At,
			FirstAt: v.First, ChangedAt: v.Changed, ETag: v.ETag, LastModified: v.Modified, GoneSince: v.Gone,
		}
	}
	switch {
	case e.State == store.Done:
		s.State = inspect.URLDone
		if s.ErrorKind != "" {
			s.State = inspect.URLFailed
		}
		if s.ErrorKind != record.KindRefused { // by OnRequest, before a request
			s.Tries++
		}
	case e.State == store.Refused:
		s.State, s.At, s.ErrorKind, s.Error = inspect.URLRefused, e.At, e.Kind, e.Reason
	case e.State == store.Dropped:
		s.State = inspect.URLDropped
	case leased:
		s.State = inspect.URLLeased
	}
	return s
}

// states are those of inspect.URLFilter.
var states = []inspect.URLState{
	inspect.URLPending, inspect.URLLeased, inspect.URLDone, inspect.URLFailed, inspect.URLRefused,
	inspect.URLState(record.ChangeUnchanged), inspect.URLState(record.ChangeChanged), inspect.URLState(record.ChangeGone), inspect.URLState(record.ChangeNew),
}

// selects reports whether the filter selects a URL of a job that is at a visit.
func selects(f inspect.URLFilter, s *inspect.URLStatus, visit int) bool {
	return (f.State == "" || isIn(s, f.State, visit)) &&
		(len(f.Status) == 0 || slices.ContainsFunc(f.Status, func(r inspect.StatusRange) bool { return r.From <= s.Status && s.Status <= r.To })) &&
		(f.ErrorKind == "" || f.ErrorKind == s.ErrorKind)
}

// isIn reports whether a URL is in a state, or has changed so at a visit.
func isIn(s *inspect.URLStatus, state inspect.URLState, visit int) bool {
	return s.State == state || state == inspect.URLDone && s.State == inspect.URLFailed ||
		s.Known != nil && s.Known.Visit == visit && s.Known.Change == record.Change(state)
}
