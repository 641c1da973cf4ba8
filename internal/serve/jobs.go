package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/conditional"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/internal/webhook"
)

// Planner checks the options of a crawl that somebody asks for, and brings them within limits. Its
// error names the option.
type Planner func(options map[string][]string, l Limits) (map[string][]string, error)

// Setting is an option of a crawl that a request may set.
type Setting struct {
	Name  string
	Help  string
	Kind  string   // "string", "integer", "number", "boolean"
	Many  bool     // it may be a list
	Words []string // the values it may have; nil: any
}

// jobs are the resources of crawls.
type jobs struct {
	folder  *crawls.Folder
	pages   *pages
	plan    Planner
	reading *share.Room
}

// Ask is a crawl that a request asks for.
type Ask struct {
	URLs    []string       `json:"urls" minItems:"1" maxItems:"100000" doc:"the URLs to start from" example:"[\"https://example.org/\"]"`
	Options map[string]any `json:"options,omitempty" doc:"options of weft crawl, by name without the leading hyphens"`
	Webhook *Webhook       `json:"webhook,omitempty" doc:"the receiver of events"`

	Schedule *Schedule `json:"schedule,omitempty" doc:"when the crawl is visited again; if absent, never"`
}

// Webhook is an address to which events of a crawl are delivered.
type Webhook struct {
	URL    string   `json:"url" maxLength:"2048"`
	Events []string `json:"events,omitempty" enum:"crawl.started,crawl.pages,crawl.ended,crawl.changed" doc:"if absent, all but crawl.pages"`
	Secret string   `json:"secret" doc:"the key that signs deliveries: whsec_, followed by 16 to 64 bytes in base64"`
}

// Crawl is a crawl in an answer.
type Crawl struct {
	ID      string       `json:"id"`
	State   crawls.State `json:"state" enum:"queued,running,done,limited,stopped,failed"`
	URL     string       `json:"url" doc:"the first of the URLs to start from"`
	URLs    int          `json:"urls" doc:"the number of URLs to start from"`
	By      string       `json:"by,omitempty" doc:"the name of the token that started the crawl"`
	Created time.Time    `json:"created"`
	Started *time.Time   `json:"started,omitempty" doc:"the start of the last run"`
	Ended   *time.Time   `json:"ended,omitempty"`
	Message string       `json:"message,omitempty" doc:"why the crawl has failed, or has stopped without an order"`
	Waits   *crawls.Wait `json:"waits,omitempty" doc:"why a queued crawl is not running yet"`
	Status  *weft.Status `json:"status,omitempty" doc:"the state of the job, as weft status --json prints it"`

	Visits   int        `json:"visits,omitempty" doc:"the number of complete visits; every one but the first is a recrawl"`
	Schedule *Scheduled `json:"schedule,omitempty"`
}

// crawl is a crawl with the reason why it waits.
func (s *jobs) crawl(ctx context.Context, c *crawls.Crawl) Crawl {
	out := crawlOf(*c)
	if w := s.folder.Waits(c); w != nil {
		out.Waits = w.Without()
		if _, err := find(ctx, s.folder, w.Crawl); err == nil { // else it is of another
			out.Waits.Crawl = w.Crawl
		}
	}
	return out
}

// isPaused reports whether the crawl that another waits for is paused.
func (s *jobs) isPaused(ctx context.Context, c *crawls.Crawl) bool {
	w := s.folder.Waits(c)
	if w == nil || w.Crawl == "" {
		return false
	}
	status, err := s.pages.page(w.Crawl).Status(ctx, time.Time{})
	return err == nil && status.State == weft.JobPaused
}

func crawlOf(c crawls.Crawl) Crawl {
	return Crawl{ID: c.Name, State: c.State, URL: weft.WithoutSecrets(c.First), URLs: c.Seeds, By: c.By, Created: c.Created,
		Started: some(c.Started), Ended: some(c.Ended), Message: c.Message, Visits: c.Visits.Ended, Schedule: scheduled(c.Schedule)}
}

func some(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Named names the crawl that a request is about.
type Named struct {
	ID string `path:"id" maxLength:"103" pattern:"^[a-z0-9][a-z0-9.-]*$" doc:"the ID of the crawl"`
}

func (n *Named) crawl() string { return n.ID }

// started answers with a new crawl.
type started struct {
	Location string `header:"Location" doc:"the path of the crawl"`
	Body     Crawl
}

func (s *jobs) register(rs routes) {
	add(rs, route{"start-crawl", http.MethodPost, "/v1/crawls", "Start a crawl", Write, http.StatusCreated}, s.start)
	add(rs, route{"start-batch", http.MethodPost, "/v1/batches", "Start a crawl of the given URLs only", Write, http.StatusCreated}, s.batch)
	add(rs, route{"list-crawls", http.MethodGet, "/v1/crawls", "List crawls", Read, 0}, s.list)
	add(rs, route{"get-crawl", http.MethodGet, "/v1/crawls/{id}", "Get the state of a crawl", Read, 0}, s.get)
	add(rs, route{"delete-crawl", http.MethodDelete, "/v1/crawls/{id}", "Stop a crawl, and delete all its files", Write, http.StatusNoContent}, s.remove)
	add(rs, route{"stop-crawl", http.MethodPost, "/v1/crawls/{id}/stop", "Stop a crawl, which can be resumed", Write, http.StatusAccepted}, s.stop)
	add(rs, route{"resume-crawl", http.MethodPost, "/v1/crawls/{id}/resume", "Resume a crawl that has ended", Write, http.StatusAccepted}, s.resume)
	add(rs, route{"retry-crawl", http.MethodPost, "/v1/crawls/{id}/retry", "Retry the failed URLs of a crawl that has ended", Write, http.StatusAccepted}, s.retry)
	add(rs, route{"set-schedule", http.MethodPut, "/v1/crawls/{id}/schedule", "Set the schedule of a crawl", Write, 0}, s.setSchedule)
	add(rs, route{"remove-schedule", http.MethodDelete, "/v1/crawls/{id}/schedule", "Remove the schedule of a crawl", Write, 0}, s.removeSchedule)
	add(rs, route{"order-crawl", http.MethodPost, "/v1/crawls/{id}/orders", "Give an order to a running crawl, as weft ctl does", Write, 0}, s.order)
}

// start asks for a crawl.
func (s *jobs) start(ctx context.Context, in *struct {
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"a repeated request with the same key returns the same crawl"`
	Body Ask
}) (*started, error) {
	c, _, err := s.add(who(ctx), in.Body, in.Key, nil, nil)
	if err != nil {
		return nil, problem(err)
	}
	return &started{Location: "/v1/crawls/" + url.PathEscape(c.Name), Body: crawlOf(c)}, nil
}

// batch asks for a crawl that follows no link, and keeps what texts are made of.
func (s *jobs) batch(ctx context.Context, in *struct {
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"a repeated request with the same key returns the same crawl"`
	Body Ask
}) (*started, error) {
	options := map[string]any{"bodies": true}
	maps.Copy(options, in.Body.Options)
	if _, ok := options["scope"]; ok {
		return nil, problem(wrong{errors.New("options: scope: expected none: a batch is of its URLs alone")})
	}
	options["scope"], in.Body.Options = string(weft.ScopePage), options
	return s.start(ctx, in)
}

// add asks for a crawl in the name of the holder of a token. A hook of another form than Weft's own
// is signed with what its receiver can know of the token.
func (s *jobs) add(by *Token, ask Ask, key string, note json.RawMessage, other *webhook.Hook) (crawls.Crawl, bool, error) {
	if len(ask.URLs) == 0 { // null passes for a list
		return crawls.Crawl{}, false, wrong{errors.New("urls: none, expected at least one URL")}
	}
	for _, seed := range ask.URLs {
		if _, err := weft.ReadListedSeed(seed); err != nil {
			return crawls.Crawl{}, false, wrong{fmt.Errorf("urls: %w", err)}
		}
	}
	options := make(map[string][]string)
	for name, value := range ask.Options {
		values, err := texts(value)
		if err != nil {
			return crawls.Crawl{}, false, wrong{fmt.Errorf("options: %s: %w", name, err)}
		}
		options[name] = values
	}
	options, err := s.plan(options, by.Limits)
	if err != nil {
		return crawls.Crawl{}, false, wrong{fmt.Errorf("options: %w", err)}
	}
	if by.Limits.Pages > 0 && len(ask.URLs) > by.Limits.Pages {
		return crawls.Crawl{}, false, wrong{fmt.Errorf("urls: %d, expected at most %d, which is the token's limit", len(ask.URLs), by.Limits.Pages)}
	}
	rule, err := ask.Schedule.rule(by)
	if err != nil {
		return crawls.Crawl{}, false, wrong{err}
	}
	text, err := json.Marshal(struct {
		Ask
		Note json.RawMessage `json:"note,omitempty"`
		Hook *webhook.Hook   `json:"hook,omitempty"`
	}{ask, note, other})
	if err != nil {
		return crawls.Crawl{}, false, err
	}
	var hook []byte
	h := other
	if ask.Webhook != nil {
		h = &webhook.Hook{URL: ask.Webhook.URL, Events: ask.Webhook.Events, Secret: ask.Webhook.Secret}
	} else if other != nil {
		h.Secret = by.Hash
	}
	if h != nil {
		if err = h.Check(); err == nil {
			hook, err = h.File()
		}
		if err != nil {
			return crawls.Crawl{}, false, wrong{fmt.Errorf("webhook: %w", err)}
		}
	}
	sum := sha256.Sum256(text)
	return s.folder.Add(crawls.Ask{Seeds: ask.URLs, Options: options, By: by.Name, Key: key, Digest: hex.EncodeToString(sum[:]), Note: note, Hook: hook, Rule: rule})
}

// texts returns the values of an option as a person would type them.
func texts(value any) ([]string, error) {
	switch v := value.(type) {
	case string:
		return []string{v}, nil
	case bool:
		return []string{strconv.FormatBool(v)}, nil
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case []any:
		var all []string
		for _, one := range v {
			if _, list := one.([]any); list {
				break
			}
			some, err := texts(one)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		if len(all) == len(v) {
			return all, nil
		}
	}
	return nil, errors.New("expected a text, a number, true or false, or a list of these")
}

// Crawls is a part of the crawls.
type Crawls struct {
	Crawls []Crawl `json:"crawls"`
	Next   string  `json:"next,omitempty" doc:"pass this as after to get the next part; absent in the last part"`

	Mistakes []string `json:"mistakes,omitempty" doc:"in the first part, for tokens with the right others: mistakes in files of the folder, which are ignored"`
}

// list lists crawls, the oldest first unless asked otherwise.
func (s *jobs) list(ctx context.Context, in *struct {
	Part
	State  crawls.State `query:"state" enum:"queued,running,done,limited,stopped,failed" doc:"only crawls in this state"`
	Newest bool         `query:"newest" doc:"list the newest first"`
}) (*answer[Crawls], error) {
	out := Crawls{Crawls: []Crawl{}}
	by := who(ctx)
	all := s.folder.List(func(c *crawls.Crawl) bool {
		later := in.After == "" || cursorOf(c) > in.After
		if in.Newest {
			later = in.After == "" || cursorOf(c) < in.After
		}
		return later && by.sees(c) && (in.State == "" || c.State == in.State)
	})
	if in.Newest {
		slices.Reverse(all)
	}
	for _, c := range all[:min(len(all), in.Limit)] {
		out.Crawls, out.Next = append(out.Crawls, s.crawl(ctx, &c)), cursorOf(&c)
	}
	if len(all) <= in.Limit {
		out.Next = ""
	}
	if in.After == "" && by.May(Others) {
		out.Mistakes = s.folder.Mistakes()
	}
	return &answer[Crawls]{Body: out}, nil
}

// cursorOf orders crawls as their list does.
func cursorOf(c *crawls.Crawl) string { return fmt.Sprintf("%020d-%s", c.Created.UnixNano(), c.Name) }

// get tells where a crawl stands.
func (s *jobs) get(ctx context.Context, in *struct {
	Named
	conditional.Params
	Wait int `query:"wait" minimum:"0" maximum:"25" doc:"seconds to wait for the end of the crawl"`
}) (*stable[Crawl], error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(in.Wait)*time.Second)
	defer cancel()
	c, err := s.folder.Await(ctx, in.ID, func(c *crawls.Crawl) bool { return c.State.Ended() })
	if err != nil {
		return nil, problem(err)
	}
	out := stable[Crawl]{Body: s.crawl(ctx, &c)}
	if w := out.Body.Waits; w != nil && w.For == crawls.ForHost {
		w.Paused = s.isPaused(ctx, &c)
	}
	if status, err := s.pages.page(in.ID).Status(ctx, c.Ended); err == nil {
		out.Body.Status = status
	}
	out.ETag = tagOf(out.Body)
	return &out, unless(&in.Params, out.ETag)
}

// tagOf returns the tag of a state.
func tagOf(v any) string {
	text, _ := json.Marshal(v) // of the types here, all have JSON
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// unless answers that nothing has changed to one who has what has a tag.
func unless(p *conditional.Params, tag string) error {
	p.IfModifiedSince, p.IfUnmodifiedSince = time.Time{}, time.Time{} // there are no such times
	if tag == "" || !p.HasConditionalParams() {
		return nil
	}
	for i, one := range p.IfNoneMatch {
		p.IfNoneMatch[i] = strings.TrimSpace(one)
	}
	if err := p.PreconditionFailed(strings.Trim(tag, `"`), time.Time{}); err != nil {
		return huma.ErrorWithHeaders(err, http.Header{"ETag": {tag}})
	}
	return nil
}

func (s *jobs) remove(_ context.Context, in *Named) (*struct{}, error) {
	return nil, problem(s.folder.Delete(in.ID))
}

func (s *jobs) stop(_ context.Context, in *Named) (*answer[Crawl], error) {
	c, err := s.folder.Stop(in.ID)
	return &answer[Crawl]{crawlOf(c)}, problem(err)
}

func (s *jobs) resume(_ context.Context, in *Named) (*answer[Crawl], error) {
	c, err := s.folder.Resume(in.ID)
	return &answer[Crawl]{crawlOf(c)}, problem(err)
}

// Retry names the failed URLs that are requested again.
type Retry struct {
	Error  string `json:"error,omitempty" maxLength:"40" doc:"only URLs that failed with this error kind"`
	Status string `json:"status,omitempty" maxLength:"200" doc:"only URLs with one of these statuses, such as 404,5xx"`
}

func (s *jobs) retry(_ context.Context, in *struct {
	Named
	Body Retry
}) (*answer[Crawl], error) {
	if kind := in.Body.Error; kind != "" && !slices.ContainsFunc(weft.Kinds(), func(k weft.ErrorKind) bool { return k.Name == kind }) {
		return nil, problem(wrong{fmt.Errorf("error: %q, expected an error kind: weft kinds lists them", kind)})
	}
	if in.Body.Status != "" {
		if _, err := inspect.ParseStatuses(in.Body.Status); err != nil {
			return nil, problem(wrong{fmt.Errorf("status: %q: %w", in.Body.Status, err)})
		}
	}
	c, err := s.folder.Retry(in.ID, crawls.Retry(in.Body))
	return &answer[Crawl]{crawlOf(c)}, problem(err)
}

func (s *jobs) setSchedule(ctx context.Context, in *struct {
	Named
	Body Schedule
}) (*answer[Crawl], error) {
	rule, err := in.Body.rule(who(ctx))
	if err != nil {
		return nil, problem(wrong{err})
	}
	c, err := s.folder.SetSchedule(in.ID, rule)
	return &answer[Crawl]{crawlOf(c)}, problem(err)
}

func (s *jobs) removeSchedule(_ context.Context, in *Named) (*answer[Crawl], error) {
	c, err := s.folder.SetSchedule(in.ID, nil)
	return &answer[Crawl]{crawlOf(c)}, problem(err)
}

// Order is an order to a crawl.
type Order struct {
	Words []string `json:"words" minItems:"1" maxItems:"1000" doc:"the order, as weft ctl takes it after JOB" example:"[\"pause\"]"`
}

// Lines are the answer to an order.
type Lines struct {
	Lines []string `json:"lines"`
}

func (s *jobs) order(ctx context.Context, in *struct {
	Named
	Body Order
}) (*answer[Lines], error) {
	c, err := s.folder.Get(in.ID)
	if err != nil {
		return nil, problem(err)
	}
	order, err := weft.ParseOrder(in.Body.Words...)
	if err == nil {
		err = who(ctx).allow(&c, in.Body.Words)
	}
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	var lines []string
	err = s.inJob(ctx, in.ID, func(job *weft.Job) (err error) {
		lines, err = job.Do(ctx, order)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = weft.ErrNotRunning
	}
	return &answer[Lines]{Lines{lines}}, problem(err)
}

// inJob opens the job of a crawl, when others that read leave room.
func (s *jobs) inJob(ctx context.Context, name string, look func(*weft.Job) error) error {
	leave, err := s.reading.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	job, err := weft.OpenJob(ctx, s.folder.Job(name))
	if err != nil {
		return err
	}
	return errors.Join(look(job), job.Close())
}

// describe describes the options of a crawl as the command has them.
func describe(api huma.API, all []Setting) {
	schema := api.OpenAPI().Components.Schemas.Map()["Ask"].Properties["options"]
	schema.AdditionalProperties = false
	schema.Properties = make(map[string]*huma.Schema)
	for _, o := range all {
		one := &huma.Schema{Type: o.Kind, Description: o.Help}
		for _, word := range o.Words {
			one.Enum = append(one.Enum, word)
		}
		one.PrecomputeMessages()
		if o.Many {
			list := &huma.Schema{Type: huma.TypeArray, Items: one, Description: o.Help}
			list.PrecomputeMessages()
			one = &huma.Schema{OneOf: []*huma.Schema{list, one}, Description: o.Help}
			one.PrecomputeMessages()
		}
		schema.Properties[o.Name] = one
	}
	schema.PrecomputeMessages()
}
