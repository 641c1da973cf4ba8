package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/internal/share"
)

// Options are those of deliveries.
type Options struct {
	Forms map[string]Form // other than Weft's own
	HTTP  weft.HTTP       // the operator's; credentials are not used
	First time.Duration   // pause before the second try of a delivery; 0: 1 s
	Every time.Duration   // between two looks for new records; 0: 1 s
	Most  time.Duration   // time for which a delivery is tried; 0: 24 h
	Warn  func(err error) // takes what is given up
	Held  *share.Stock    // of bytes, in which deliveries are; nil: there is room for any
}

const (
	mostPause = 10 * time.Minute
	mostFile  = 64 << 10

	mostMaking = 2 // bodies that are made at once

	turnTakes = 5 * time.Second // that long one crawl has its place while others wait
)

// Run delivers the events of all crawls of a folder until ctx ends.
func Run(ctx context.Context, f *crawls.Folder, o Options) {
	if o.First <= 0 {
		o.First = time.Second
	}
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.Most <= 0 {
		o.Most = 24 * time.Hour
	}
	r := newRunner(f, o)
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		hooks := make(map[string]bool)
		some := f.List(func(c *crawls.Crawl) bool { hooks[c.Name] = c.Hook; return c.Hook && !r.isIdle(c) })
		r.forget(hooks)
		r.startAll(ctx, some)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-tick.C:
		}
	}
	r.all.Wait()
}

// runner delivers events.
type runner struct {
	Options
	folder *crawls.Folder
	wake   chan struct{} // has a value when there may be a place for a crawl that waits
	all    sync.WaitGroup
	making *share.Room // of bodies: each takes memory many times its own

	mu      sync.Mutex
	places  places
	waits   bool                 // a crawl, for a place
	to      map[string]endpoint  // of crawls with events
	last    map[string]time.Time // turns of these
	running map[string]bool      // crawls whose events are being delivered
	done    map[string]end       // those that have no more
	late    map[string]again     // those whose next event was not taken in
}

func newRunner(f *crawls.Folder, o Options) *runner {
	return &runner{Options: o, folder: f, wake: make(chan struct{}, 1), making: share.NewRoom(mostMaking, 0), places: newPlaces(), to: make(map[string]endpoint), last: make(map[string]time.Time), running: make(map[string]bool), done: make(map[string]end), late: make(map[string]again)}
}

// again is the next try of a delivery.
type again struct {
	since, next time.Time
	pause       time.Duration // before next
}

// end is the last that has become of a crawl.
type end struct {
	state    crawls.State
	at       time.Time
	compared int // visits
}

func endOf(c *crawls.Crawl) end { return end{c.State, c.Ended.UTC().Round(0), c.Visits.Compared} }

// isIdle reports whether a crawl has no events to deliver by now, or somebody delivers them.
func (r *runner) isIdle(c *crawls.Crawl) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	done, is := r.done[c.Name]
	return r.running[c.Name] || is && done == endOf(c) || time.Now().Before(r.late[c.Name].next)
}

// forget forgets crawls that are deleted.
func (r *runner) forget(hooks map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.late, func(name string, _ again) bool { return !hooks[name] })
	maps.DeleteFunc(r.done, func(name string, _ end) bool { return !hooks[name] })
	maps.DeleteFunc(r.last, func(name string, _ time.Time) bool { return !hooks[name] })
	wanted := make(map[endpoint]bool)
	maps.DeleteFunc(r.to, func(name string, to endpoint) bool { wanted[to] = wanted[to] || hooks[name]; return !hooks[name] })
	r.places.forget(wanted)
}

// startAll delivers the events of crawls as far as there are places, those first that have had no
// turn for the longest time.
func (r *runner) startAll(ctx context.Context, some []crawls.Crawl) {
	r.mu.Lock()
	slices.SortStableFunc(some, func(a, b crawls.Crawl) int { return r.last[a.Name].Compare(r.last[b.Name]) })
	r.waits = false
	r.mu.Unlock()
	for _, c := range some {
		to, known := r.endpoint(&c)
		if !known {
			continue
		}
		r.mu.Lock()
		leave, ok := r.places.enter(to)
		if ok {
			r.running[c.Name], r.last[c.Name] = true, time.Now()
		}
		r.waits = r.waits || !ok
		r.mu.Unlock()
		if ok {
			r.start(ctx, c, leave)
		}
	}
}

// endpoint returns the endpoint of the events of a crawl, if there is one.
func (r *runner) endpoint(c *crawls.Crawl) (to endpoint, ok bool) {
	r.mu.Lock()
	to, ok = r.to[c.Name]
	r.mu.Unlock()
	if ok {
		return to, true
	}
	s, err := r.load(c.Name)
	if err == nil {
		var u weft.Seed
		u, err = weft.ReadSeed(s.URL)
		to = endpoint{c.By, u.URL.Host()}
	}
	if err != nil {
		r.finish(c.Name, endOf(c)) // it is not looked at again before the crawl is another
		r.warn(c.Name, err)
		return to, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to[c.Name] = to
	return to, true
}

func (r *runner) warn(name string, err error) {
	if r.Warn != nil {
		r.Warn(fmt.Errorf("webhook of %s: %w", name, err))
	}
}

// start delivers the events of a crawl, which has a place, beside those of others.
func (r *runner) start(ctx context.Context, c crawls.Crawl, leave func()) {
	r.all.Go(func() {
		err := r.deliver(ctx, c.Name)
		if err != nil && ctx.Err() == nil && !errors.Is(err, crawls.ErrUnknown) {
			r.warn(c.Name, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		leave()
		delete(r.running, c.Name)
		if r.waits {
			select {
			case r.wake <- struct{}{}:
			default:
			}
		}
	})
}

// note notes how the endpoint of a crawl has taken a delivery.
func (r *runner) note(name string, prompt bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places.note(r.to[name], prompt)
}

// isOver reports whether a turn is over: others wait.
func (r *runner) isOver(began time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waits && time.Since(began) > turnTakes
}

// deliver delivers the events of a crawl until there are none, or one is not taken in.
func (r *runner) deliver(ctx context.Context, name string) error {
	began := time.Now()
	c, err := r.folder.Get(name)
	if err != nil {
		return err
	}
	s, err := r.load(name)
	form, known := r.Forms[s.Form]
	if s.Form == "" {
		form, known = own, true
	}
	if err == nil && !known {
		err = fmt.Errorf("its form is %.40q, which this version does not know", s.Form)
	}
	if err != nil {
		r.finish(name, endOf(&c)) // it is not looked at again before the crawl is another
		return err
	}
	for saved := s.After; ; {
		c, err := r.folder.Get(name)
		if err != nil {
			return err
		}
		if s.Failed != "" {
			r.finish(name, endOf(&c))
			return nil
		}
		e, next, err := s.next(&c, r.folder, &form)
		if err != nil {
			return err
		}
		if e == nil {
			if c.State != crawls.Running {
				r.finish(name, endOf(&c))
			}
			if next.After != saved { // there were records that nothing tells of
				return r.save(name, &next)
			}
			return nil
		}
		sent, err := r.try(ctx, &form, &Delivery{Hook: &s.Hook, ID: s.id(e, &next), Crawl: &c, Event: e})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if err = r.later(name, err); err == nil {
				return nil
			}
			s.Failed = err.Error()
			return errors.Join(err, r.save(name, &s))
		}
		r.taken(name)
		if s = next; sent {
			s.Sent++
			if err := r.save(name, &s); err != nil {
				return err
			}
			saved = s.After
		}
		if r.isOver(began) {
			return nil
		}
	}
}

// id names a delivery: two with one name say the same. A part of the records may have grown when it
// is tried again.
func (s *state) id(e *Event, next *state) string {
	id := e.Data.Crawl + "." + strconv.Itoa(s.Sent+1)
	if e.Type == EventPages {
		id += "." + next.After
	}
	return id
}

// later has a delivery that was not taken in tried again. Its error is that it is given up.
func (r *runner) later(name string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, was := time.Now(), r.late[name]
	if was.since.IsZero() {
		was = again{since: now, pause: r.First / 2}
	}
	if now.Sub(was.since) > r.Most {
		delete(r.late, name)
		return fmt.Errorf("given up after %s: %w", r.Most, err)
	}
	was.pause = min(2*was.pause, mostPause)
	was.next = now.Add(was.pause)
	r.late[name] = was
	return nil
}

// taken notes that a delivery was taken in, or is of no use.
func (r *runner) taken(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.late, name)
}

// finish notes that there is nothing to deliver until the crawl ends again.
func (r *runner) finish(name string, last end) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[name] = last
}

func (r *runner) load(name string) (s state, err error) {
	file, err := regular.Open(r.folder.Hook(name))
	if err != nil {
		return s, err
	}
	defer file.Close()
	return s, json.NewDecoder(io.LimitReader(file, mostFile)).Decode(&s)
}

func (r *runner) save(name string, s *state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.folder.SaveHook(name, text)
}

// body makes the body of a delivery.
func (r *runner) body(ctx context.Context, form *Form, d *Delivery) ([]byte, error) {
	leave, err := r.making.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	body, err := form.Body(ctx, d)
	if err == nil {
		err = share.Hold(ctx, len(body))
	}
	return body, err
}

// try makes one request. It reports whether there was one to make. The body is in memory no longer.
func (r *runner) try(ctx context.Context, form *Form, d *Delivery) (sent bool, err error) {
	ctx = share.As(ctx, d.Crawl.By)
	if r.Held != nil {
		var give func()
		ctx, give = r.Held.Open(ctx)
		defer give()
	}
	body, err := r.body(ctx, form, d)
	if body == nil || err != nil {
		return false, err
	}
	o := weft.FetchOptions{NoRedirects: true, Post: &weft.Post{URL: d.Hook.URL, Type: "application/json", Body: body}}
	o.HTTP = weft.HTTP{
		Distrust: true, AllowPrivate: r.HTTP.AllowPrivate, UserAgent: r.HTTP.UserAgent, Proxy: r.HTTP.Proxy, RootCAs: r.HTTP.RootCAs,
		Resolve: r.HTTP.Resolve, DNS: r.HTTP.DNS, Timeout: 30 * time.Second, MaxBody: 64 << 10,
	}
	if err := form.Sign(&o.HTTP, d, body); err != nil {
		return false, err
	}
	tried := time.Now()
	if err = post(ctx, d.Hook.URL, o); ctx.Err() == nil {
		r.note(d.Crawl.Name, err == nil && time.Since(tried) < promptWithin)
	}
	return true, err
}

// post makes the request of a delivery.
func post(ctx context.Context, to string, o weft.FetchOptions) error {
	p, err := weft.Fetch(ctx, to, o)
	var failed *weft.FetchError
	if errors.As(err, &failed) && failed.Record.Status/100 == 2 {
		return nil // whatever is wrong with the body of the answer, it was delivered
	}
	if err != nil {
		return err
	}
	if p.Status/100 != 2 {
		return fmt.Errorf("%s: status %d %s, expected 2xx", to, p.Status, http.StatusText(p.Status))
	}
	return nil
}
