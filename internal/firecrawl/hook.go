package firecrawl

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/webhook"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// HookForm names the form of Firecrawl's webhooks.
const HookForm = "firecrawl"

// hookEvents are the events of a webhook, with their origin.
var hookEvents = map[string]string{
	"started": webhook.EventStarted, "page": webhook.EventPages, "completed": webhook.EventEnded, "failed": webhook.EventEnded,
}

// ofBatch is the first word of the types of a batch scrape's events.
const ofBatch = "batch_scrape"

// hookNote is kept with a webhook.
type hookNote struct {
	Of       string            `json:"of"`       // the first word of the types of events
	Events   []string          `json:"events"`   // those that are asked for
	Metadata map[string]string `json:"metadata"` // of the client, which gets it back
}

// readHook reads where events are delivered: a URL, or an object with one.
func (a *ask) readHook(raw json.RawMessage) error {
	var o struct {
		URL      string            `json:"url"`
		Headers  map[string]string `json:"headers"`
		Metadata map[string]string `json:"metadata"`
		Events   []string          `json:"events"`
	}
	if json.Unmarshal(raw, &o.URL) != nil {
		var values map[string]json.RawMessage
		if err := cmp.Or(json.Unmarshal(raw, &values), json.Unmarshal(raw, &o)); err != nil {
			return errors.New(expected(err, "a URL, or an object with url, headers and metadata of texts, and events"))
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if !slices.Contains([]string{"url", "headers", "metadata", "events"}, name) {
				return unsupported("webhook."+short(name), "Weft knows no such field")
			}
		}
	}
	h := webhook.Hook{URL: o.URL, Form: HookForm}
	note := hookNote{Metadata: o.Metadata}
	if note.Metadata == nil {
		note.Metadata = make(map[string]string)
	}
	if len(o.Events) == 0 {
		o.Events = slices.Sorted(maps.Keys(hookEvents))
	}
	for _, event := range o.Events {
		name := event[strings.LastIndexByte(event, '.')+1:] // crawl.page is page
		if hookEvents[name] == "" {
			return unsupported("webhook.events: "+short(event), "expected started, page, completed or failed")
		}
		note.Events = append(note.Events, name)
		if of := hookEvents[name]; !slices.Contains(h.Events, of) {
			h.Events = append(h.Events, of)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		if !strings.EqualFold(name, "Content-Type") { // that is JSON
			h.Header = append(h.Header, httpclient.Field{Name: name, Value: o.Headers[name]})
		}
	}
	if err := h.Check(); err != nil {
		return err
	}
	var scratch weft.HTTP
	if err := giveHeader(&scratch, &h); err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	a.hook, a.note = &h, note
	return nil
}

func giveHeader(o *weft.HTTP, h *webhook.Hook) error {
	to, err := weft.ReadSeed(h.URL)
	if err != nil {
		return err
	}
	return scrape.Give(o, h.Header, to)
}

// hookOf completes the webhook of a crawl or batch scrape; nil: there is none.
func (a *ask) hookOf(of string) (*webhook.Hook, error) {
	if a.hook == nil {
		return nil, nil
	}
	a.note.Of = of
	var err error
	if a.hook.Note, err = json.Marshal(a.note); err == nil {
		if _, err = a.hook.File(); err != nil {
			err = wrong("webhook: %s", err)
		}
	}
	return a.hook, err
}

// delivery is the JSON of an event.
type delivery struct {
	Success   bool              `json:"success"`
	Type      string            `json:"type"`
	ID        string            `json:"id"`
	WebhookID string            `json:"webhookId"`
	Data      []*document       `json:"data"`
	Error     string            `json:"error,omitempty"`
	Metadata  map[string]string `json:"metadata"`
}

// Deliveries is the form of Firecrawl's webhooks, with pages of the crawls of a folder.
func Deliveries(folder *crawls.Folder, scraper *scrape.Scraper) webhook.Form {
	s := &server{crawls: folder, scraper: scraper}
	return webhook.Form{
		Records: 1,
		Tells:   func(r *record.Record) bool { return isDocument(r) || r.ErrorKind != "" && !isForbidden(r) },
		Body:    s.delivery, Sign: sign,
	}
}

func (s *server) delivery(ctx context.Context, d *webhook.Delivery) ([]byte, error) {
	var n hookNote
	if err := json.Unmarshal(d.Hook.Note, &n); err != nil {
		return nil, err
	}
	out := delivery{Success: true, ID: d.Crawl.Name, WebhookID: d.ID, Data: []*document{}, Metadata: n.Metadata}
	event := ""
	switch d.Type {
	case webhook.EventStarted:
		event = "started"
	case webhook.EventPages:
		event = "page"
		r := d.Event.Data.Records[0]
		if out.Success, out.Error = r.ErrorKind == "", r.Error; out.Success {
			one, err := s.kept(ctx, d.Crawl, r)
			if err != nil {
				return nil, err
			}
			out.Data = append(out.Data, one)
		}
	case webhook.EventEnded:
		event = states[d.Crawl.State]
		if n.Of == ofBatch && s.isFruitless(ctx, d.Crawl) {
			event = states[crawls.Done]
		}
		if event != "completed" {
			event, out.Success, out.Error = "failed", false, cmp.Or(d.Crawl.Message, "the crawl was "+event)
		}
	}
	if !slices.Contains(n.Events, event) {
		return nil, nil
	}
	out.Type = n.Of + "." + event
	return json.Marshal(&out)
}

// isFruitless reports whether a crawl counts as failed as none of its URLs could be fetched. To
// Firecrawl, a batch scrape of such URLs is completed, and has errors.
func isFruitless(c *crawls.Crawl, st *weft.Status) bool {
	return c.State == crawls.Failed && st.State == weft.JobFailed
}

// isFruitless looks into the job of a crawl.
func (s *server) isFruitless(ctx context.Context, c *crawls.Crawl) bool {
	job, err := weft.OpenJob(ctx, s.crawls.Job(c.Name))
	if err != nil {
		return false
	}
	defer job.Close()
	st, err := job.Status(ctx)
	return err == nil && isFruitless(c, &st)
}

// kept is a page that a crawl has kept, for a delivery.
func (s *server) kept(ctx context.Context, c *crawls.Crawl, r *record.Record) (*document, error) {
	wanted, err := pageOf(c)
	if err != nil {
		return nil, err
	}
	bodies, err := results.OpenBodies(s.crawls.Job(c.Name))
	if err != nil {
		return nil, err
	}
	defer bodies.Close()
	return s.saved(ctx, wanted, bodies, r), ctx.Err()
}

// sign adds the fields of the client, and the signature if there is a secret
// (https://docs.firecrawl.dev/webhooks/security).
func sign(o *weft.HTTP, d *webhook.Delivery, body []byte) error {
	if err := giveHeader(o, d.Hook); err != nil || d.Hook.Secret == "" {
		return err
	}
	mac := hmac.New(sha256.New, []byte(d.Hook.Secret))
	mac.Write(body)
	o.Header.Set("X-Firecrawl-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return nil
}
