package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/record"
)

// Events.
const (
	EventStarted = "crawl.started"
	EventPages   = "crawl.pages"
	EventEnded   = "crawl.ended"
	EventChanged = "crawl.changed"
)

// Events lists them.
func Events() []string { return []string{EventStarted, EventPages, EventEnded, EventChanged} }

// Hook is an address to which the events of a crawl are delivered.
type Hook struct {
	URL    string   `json:"url"`
	Secret string   `json:"secret"` // whsec_ and its base64
	Events []string `json:"events"` // empty: all but EventPages

	Form   string            `json:"form,omitempty"`   // of Options.Forms; "": Weft's own
	Header httpclient.Header `json:"header,omitempty"` // for the Form
	Note   json.RawMessage   `json:"note,omitempty"`   // for the Form
}

const secretPrefix = "whsec_"

// Check completes a hook, and refuses one that cannot work.
func (h *Hook) Check() error {
	u, err := weft.ParseSeed(h.URL)
	if err != nil {
		return err
	}
	if port := u.EffectivePort(); guard.BlocksPort(port) {
		return fmt.Errorf("url: port %d, which is blocked, as in browsers", port)
	}
	h.URL = u.String()
	for _, event := range h.Events {
		if !slices.Contains(Events(), event) {
			return fmt.Errorf("event %.40q, expected some of %s", event, strings.Join(Events(), ", "))
		}
	}
	if len(h.Events) == 0 {
		h.Events = []string{EventStarted, EventEnded, EventChanged}
	}
	if h.Form != "" {
		return nil
	}
	if key, err := h.key(); err != nil || len(key) < 16 || len(key) > 64 {
		return errors.New("secret: expected whsec_ and the base64 of 16 to 64 bytes")
	}
	return nil
}

func (h *Hook) key() ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(h.Secret, secretPrefix))
}

// state is a hook with its cursor, as NAME.hook has it.
type state struct {
	Hook
	Sent   int       `json:"sent"`   // deliveries
	Begun  bool      `json:"begun"`  // EventStarted is delivered
	After  string    `json:"after"`  // the place behind the last record: see crawls.Records
	Ended  time.Time `json:"ended"`  // of the crawl, as it was delivered
	Failed string    `json:"failed"` // the reason for which the events are given up

	Changed int `json:"changed,omitempty"` // the last visit whose changes are delivered
}

// File returns the contents of NAME.hook for a new crawl.
func (h *Hook) File() ([]byte, error) {
	text, err := json.Marshal(state{Hook: *h})
	if len(text) > mostFile/2 {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(text), mostFile/2)
	}
	return text, err
}

// Form is a form of deliveries.
type Form struct {
	Records int                       // of a delivery, at most
	Tells   func(*record.Record) bool // whether there are deliveries with a record; nil: with all

	// Body makes the JSON of a delivery; nil: there is none of this event.
	Body func(context.Context, *Delivery) ([]byte, error)
	// Sign adds header fields to its request.
	Sign func(o *weft.HTTP, d *Delivery, body []byte) error
}

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
	mostPages = 100     // records, or changes, of a delivery
	mostBytes = 1 << 20 // of a delivery

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

// Delivery is an event on its way to a hook.
type Delivery struct {
	*Event
	Hook  *Hook
	ID    string
	Crawl *crawls.Crawl
}

// Event is an event as Weft's own form has it.
type Event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

// Data is the news of a crawl.
type Data struct {
	Crawl   string            `json:"crawl"`
	State   crawls.State      `json:"state,omitempty"`
	Message string            `json:"message,omitempty"`
	Pages   []json.RawMessage `json:"pages,omitempty"` // the records, in Body

	Visit   int               `json:"visit,omitempty"`
	Counts  *crawls.Counts    `json:"counts,omitempty"`  // of its changes
	Changes []json.RawMessage `json:"changes,omitempty"` // the first of them

	Records []*record.Record `json:"-"`
}

// own is Weft's own form.
var own = Form{
	Records: mostPages,
	Body: func(_ context.Context, d *Delivery) ([]byte, error) {
		e := *d.Event
		for _, r := range e.Data.Records {
			e.Data.Pages = append(e.Data.Pages, r.Line())
		}
		return json.Marshal(&e)
	},
	Sign: func(o *weft.HTTP, d *Delivery, body []byte) error {
		now := strconv.FormatInt(time.Now().Unix(), 10)
		o.Header = httpclient.Header{
			{Name: "webhook-id", Value: d.ID}, {Name: "webhook-timestamp", Value: now},
			{Name: "webhook-signature", Value: d.Hook.signature(d.ID, now, body)},
		}
		return nil
	},
}

// next returns the next event of a crawl, and the state once it is delivered; nil: there is none.
func (s state) next(c *crawls.Crawl, f *crawls.Folder, form *Form) (*Event, state, error) {
	after := s
	if !s.Begun {
		after.Begun = true
		if !slices.Contains(s.Events, EventStarted) {
			return after.next(c, f, form)
		}
		return &Event{EventStarted, c.Created, Data{Crawl: c.Name}}, after, nil
	}
	if slices.Contains(s.Events, EventPages) {
		var some []*record.Record
		size := 0
		next, _, err := crawls.Records(f.Job(c.Name), s.After, func(r *record.Record, bytes int) bool {
			if form.Tells == nil || form.Tells(r) {
				some = append(some, r)
				size += bytes
			}
			return len(some) < form.Records && size < mostBytes
		})
		if err != nil {
			return nil, s, err
		}
		after.After = next
		if len(some) > 0 {
			return &Event{EventPages, time.Now(), Data{Crawl: c.Name, Records: some}}, after, nil
		}
		s = after
	}
	if c.State.Ended() && !c.Ended.Equal(s.Ended) && slices.Contains(s.Events, EventEnded) {
		after.Ended = c.Ended
		return &Event{EventEnded, c.Ended, Data{Crawl: c.Name, State: c.State, Message: c.Message}}, after, nil
	}
	if slices.Contains(s.Events, EventChanged) {
		return s.changed(c, f)
	}
	return nil, s, nil
}

// changed returns the event of the next visit that has changes, as next does.
func (s state) changed(c *crawls.Crawl, f *crawls.Folder) (*Event, state, error) {
	all, err := f.ListChanges(c.Name)
	if err != nil {
		return nil, s, err
	}
	for _, of := range all {
		if of.Visit <= s.Changed || of.Visit > c.Visits.Compared || !of.Differ() {
			continue
		}
		some, err := f.SomeChanges(c.Name, of.Visit, mostPages, mostBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is no longer kept
		}
		after := s
		after.Changed = of.Visit
		return &Event{EventChanged, of.Time, Data{Crawl: c.Name, Visit: of.Visit, Counts: &of.Counts, Changes: some}}, after, err
	}
	return nil, s, nil
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

// signature signs a delivery (Standard Webhooks 1.0, "Signature scheme").
func (h *Hook) signature(id, timestamp string, body []byte) string {
	key, _ := h.key() // it was checked
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
