package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawls"
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

// The most of a delivery.
const (
	mostPages = 100     // records, or changes
	mostBytes = 1 << 20 // of these
)

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

// signature signs a delivery (Standard Webhooks 1.0, "Signature scheme").
func (h *Hook) signature(id, timestamp string, body []byte) string {
	key, _ := h.key() // it was checked
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
