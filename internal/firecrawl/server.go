package firecrawl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/internal/webhook"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// House is the server around the endpoints. Its errors may have a GetStatus, as HTTP has it.
type House interface {
	// May refuses who has not the right: read, write or fetch.
	May(ctx context.Context, right string) error
	// Sees reports whether a crawl is there for who asks.
	Sees(ctx context.Context, c *crawls.Crawl) bool
	// Most is the limit of URLs of a crawl; 0: none.
	Most(ctx context.Context) int

	Page(ctx context.Context, a scrape.Ask) (*scrape.Result, error)
	Map(ctx context.Context, a scrape.MapAsk) (*scrape.Map, error)

	// Start starts a crawl, with a note that is kept with it, and a webhook unless that is nil.
	Start(ctx context.Context, urls []string, options map[string]any, key string, note json.RawMessage, hook *webhook.Hook) (crawls.Crawl, error)
	// Enter waits until the job of a crawl may be read.
	Enter(ctx context.Context, id string) (dir string, leave func(), err error)
	Status(ctx context.Context, c crawls.Crawl) (*weft.Status, error)
}

type server struct {
	house   House
	crawls  *crawls.Folder
	scraper *scrape.Scraper // of pages that are kept
}

// New returns the handler of the paths below /v2/.
func New(house House, folder *crawls.Folder, scraper *scrape.Scraper) http.Handler {
	s, mux := &server{house, folder, scraper}, http.NewServeMux()
	for pattern, do := range map[string]struct {
		right  string
		answer func(*http.Request) (any, error)
	}{
		"POST /v2/scrape":                  {"fetch", s.scrape},
		"POST /v2/map":                     {"fetch", s.mapped},
		"POST /v2/crawl":                   {"write", s.crawl},
		"GET /v2/crawl/active":             {"read", s.active},
		"GET /v2/crawl/{id}":               {"read", s.status},
		"GET /v2/crawl/{id}/errors":        {"read", s.errors},
		"DELETE /v2/crawl/{id}":            {"write", s.cancel},
		"POST /v2/batch/scrape":            {"write", s.batch},
		"GET /v2/batch/scrape/{id}":        {"read", s.status},
		"GET /v2/batch/scrape/{id}/errors": {"read", s.errors},
		"DELETE /v2/batch/scrape/{id}":     {"write", s.cancel},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := s.house.May(r.Context(), do.right)
			if id := r.PathValue("id"); err == nil && id != "" {
				var c crawls.Crawl
				if c, err = s.crawls.Get(id); err == nil && !s.house.Sees(r.Context(), &c) {
					err = crawls.ErrUnknown
				}
			}
			var answer any
			if err == nil {
				answer, err = do.answer(r)
			}
			if err != nil {
				refuse(w, err)
				return
			}
			reply(w, http.StatusOK, answer)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		Refuse(w, http.StatusNotFound, r.Method+" "+short(r.URL.Path)+" is not supported: docs/api.md lists what is")
	})
	return mux
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who asked may have left
}

// refusal is an error in an answer.
type refusal struct {
	Success bool   `json:"success"`
	Code    string `json:"code,omitempty"`
	Error   string `json:"error"`
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, status int, text string) { reply(w, status, refusal{Error: text}) }

// statusOf has the statuses of pages that were not fetched; 0: 500, which clients do not take for a
// mistake of their own.
var statusOf = map[scrape.Kind]int{
	scrape.KindMistake: http.StatusBadRequest, scrape.KindBlocked: http.StatusForbidden,
	scrape.KindBusy: http.StatusTooManyRequests, scrape.KindTimeout: http.StatusRequestTimeout,
}

func refuse(w http.ResponseWriter, err error) {
	var m *mistake
	var failed *scrape.Error
	var known interface{ GetStatus() int }
	r, status := refusal{Error: err.Error()}, http.StatusInternalServerError
	switch {
	case errors.As(err, &m):
		status = m.status
	case errors.As(err, &failed) && failed.Kind == scrape.KindNoRendering:
		r.Error, status = "rendering is not supported: "+failed.Detail, http.StatusBadRequest
	case errors.As(err, &failed):
		r.Error = failed.Advised()
		r.Code = "SCRAPE_" + strings.ToUpper(strings.ReplaceAll(string(failed.Kind), "-", "_"))
		if is := statusOf[failed.Kind]; is > 0 {
			status = is
		}
	case errors.Is(err, crawls.ErrPlace):
		status = http.StatusBadRequest
	case errors.Is(err, crawls.ErrUnknown):
		status = http.StatusNotFound
	case errors.Is(err, share.ErrFull):
		status = http.StatusTooManyRequests
	case errors.As(err, &known):
		if status = known.GetStatus(); status == http.StatusUnprocessableEntity {
			status = http.StatusBadRequest
		}
	}
	reply(w, status, r)
}

// asked reads a request.
func asked(r *http.Request, known fields) (*ask, error) {
	body, err := io.ReadAll(r.Body)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, &mistake{http.StatusRequestEntityTooLarge, "the body is too long"}
	case err != nil:
		return nil, wrong("the body: %s", err)
	}
	return read(body, known)
}

// scraped is the answer with a page.
type scraped struct {
	Success bool      `json:"success"`
	Data    *document `json:"data"`
}

func (s *server) scrape(r *http.Request) (any, error) {
	a, err := asked(r, scrapeFields)
	if err != nil {
		return nil, err
	}
	one, err := a.single()
	if err != nil {
		return nil, err
	}
	result, err := s.house.Page(r.Context(), one)
	if err != nil {
		return nil, err
	}
	return scraped{true, documentOf(result, a.URL, a.Page.Formats)}, nil
}

// mapped is the answer with the URLs of a site.
type mapped struct {
	Success bool   `json:"success"`
	Links   []link `json:"links"`
	Warning string `json:"warning,omitempty"`
}

type link struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

func (s *server) mapped(r *http.Request) (any, error) {
	a, err := asked(r, mapFields)
	if err != nil {
		return nil, err
	}
	site, err := a.site()
	if err != nil {
		return nil, err
	}
	m, err := s.house.Map(r.Context(), site)
	if err != nil {
		return nil, err
	}
	out := mapped{Success: true, Links: []link{}, Warning: m.Cut}
	for _, u := range m.URLs {
		out.Links = append(out.Links, link{u.URL, u.Text})
	}
	return out, nil
}

// started is the answer with a new crawl.
type started struct {
	Success bool     `json:"success"`
	ID      string   `json:"id"`
	URL     string   `json:"url"` // of its status
	Invalid []string `json:"invalidURLs,omitempty"`
}

func (s *server) crawl(r *http.Request) (any, error) {
	a, err := asked(r, crawlFields)
	if err == nil {
		err = a.crawl(s.house.Most(r.Context()))
	}
	if err != nil {
		return nil, err
	}
	return s.start(r, a, "crawl", nil)
}

func (s *server) batch(r *http.Request) (any, error) {
	a, err := asked(r, batchFields)
	if err != nil {
		return nil, err
	}
	invalid, err := a.batch()
	if err != nil {
		return nil, err
	}
	return s.start(r, a, ofBatch, invalid)
}

func (s *server) start(r *http.Request, a *ask, of string, invalid []string) (any, error) {
	note, err := json.Marshal(a.Page)
	if err != nil {
		return nil, err
	}
	if len(note) > crawls.MostNote {
		return nil, wrong("formats: %d bytes, expected at most %d", len(note), crawls.MostNote)
	}
	key := r.Header.Get("x-idempotency-key")
	if len(key) > 255 {
		return nil, wrong("x-idempotency-key: %d bytes, expected at most 255", len(key))
	}
	hook, err := a.hookOf(of)
	if err != nil {
		return nil, err
	}
	c, err := s.house.Start(r.Context(), a.URLs, a.options, key, note, hook)
	if err != nil {
		return nil, err
	}
	return started{true, c.Name, at(r, strings.TrimSuffix(r.URL.Path, "/")+"/"+c.Name), invalid}, nil
}

// at is the URL of a path of this server, as its client has it.
func at(r *http.Request, path string) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host + path
}

// state is the answer with where a crawl stands, and a part of its pages.
type state struct {
	Success     bool        `json:"success"`
	Status      string      `json:"status"`
	Error       string      `json:"error,omitempty"`
	Completed   int         `json:"completed"`
	Total       int         `json:"total"`
	CreditsUsed int         `json:"creditsUsed"`
	Next        string      `json:"next,omitempty"`
	Data        []*document `json:"data"`
}

var states = map[crawls.State]string{
	crawls.Queued: "scraping", crawls.Running: "scraping", crawls.Done: "completed", crawls.Limited: "completed",
	crawls.Stopped: "cancelled", crawls.Failed: "failed",
}

// Limits of an answer.
const (
	mostDocuments = 100
	mostBytes     = 8 << 20 // about
	mostErrors    = 1000
	lookFor       = 5 * time.Second // then the next one goes on
)

func (s *server) status(r *http.Request) (any, error) {
	c, err := s.crawls.Get(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	out := state{Success: true, Status: states[c.State], Error: c.Message, Data: []*document{}}
	if c.Stopping {
		out.Status = states[crawls.Stopped]
	}
	wanted, err := pageOf(&c)
	if err != nil {
		return nil, err
	}
	if st, err := s.house.Status(r.Context(), c); err == nil {
		if strings.HasPrefix(r.URL.Path, "/v2/batch/") && isFruitless(&c, st) {
			out.Status, out.Error = states[crawls.Done], ""
		}
		out.Completed = st.Done - st.Failed - st.Redirects
		out.Total = out.Completed + st.Failed + st.Refused
		if !c.State.Ended() {
			out.Total += st.Pending + st.InFlight
		}
	}
	dir, leave, err := s.house.Enter(r.Context(), c.Name)
	if err != nil {
		return nil, err
	}
	defer leave()
	bodies, err := results.OpenBodies(dir)
	if err != nil {
		return nil, err
	}
	defer bodies.Close()
	size, late, full := 0, time.Now().Add(lookFor), error(nil)
	next, more, err := crawls.Records(dir, r.URL.Query().Get("after"), func(one *record.Record, bytes int) bool {
		if isDocument(one) {
			d := s.saved(r.Context(), wanted, bodies, one)
			size += d.size()
			full = share.Hold(r.Context(), 2*d.size()) // with its text
			out.Data = append(out.Data, d)
		}
		return full == nil && len(out.Data) < mostDocuments && size < mostBytes && time.Now().Before(late) && r.Context().Err() == nil
	})
	if more {
		out.Next = at(r, r.URL.Path+"?after="+url.QueryEscape(next))
	}
	return out, cmp.Or(full, err)
}

// failures are the answer with what a crawl has not fetched.
type failures struct {
	Errors []failure `json:"errors"`
	Robots []string  `json:"robotsBlocked"`
	Next   string    `json:"next,omitempty"`
}

type failure struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	URL       string `json:"url"`
	Code      string `json:"code"`
	Error     string `json:"error"`
}

func (s *server) errors(r *http.Request) (any, error) {
	dir, leave, err := s.house.Enter(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	out, late := failures{Errors: []failure{}, Robots: []string{}}, time.Now().Add(lookFor)
	next, more, err := crawls.Records(dir, r.URL.Query().Get("after"), func(one *record.Record, _ int) bool {
		switch {
		case one.ErrorKind == "":
		case isForbidden(one):
			out.Robots = append(out.Robots, one.URL)
		default:
			out.Errors = append(out.Errors, failure{one.URL, one.Started.UTC().Format(time.RFC3339), one.URL, one.ErrorKind, one.Error})
		}
		return len(out.Errors)+len(out.Robots) < mostErrors && time.Now().Before(late) && r.Context().Err() == nil
	})
	if more {
		out.Next = at(r, r.URL.Path+"?after="+url.QueryEscape(next))
	}
	return out, err
}

// ended is the answer to the end of a crawl.
type ended struct {
	Success bool   `json:"success"`
	Status  string `json:"status"`
}

func (s *server) cancel(r *http.Request) (any, error) {
	c, err := s.crawls.Stop(r.PathValue("id"))
	if err == nil && c.State.Ended() && c.State != crawls.Stopped {
		err = &mistake{http.StatusConflict, "the crawl has ended: it is " + states[c.State]}
	}
	return ended{true, "cancelled"}, err
}

// activeCrawls are the answer with crawls that have not ended.
type activeCrawls struct {
	Success bool     `json:"success"`
	Crawls  []active `json:"crawls"`
}

type active struct {
	ID      string `json:"id"`
	TeamID  string `json:"teamId"` // the name of the token that asked for it
	URL     string `json:"url"`
	Created string `json:"created_at"`
}

func (s *server) active(r *http.Request) (any, error) {
	out := activeCrawls{Success: true, Crawls: []active{}}
	for _, c := range s.crawls.List(func(c *crawls.Crawl) bool { return !c.State.Ended() && s.house.Sees(r.Context(), c) }) {
		out.Crawls = append(out.Crawls, active{c.Name, c.By, weft.WithoutSecrets(c.First), c.Created.UTC().Format(time.RFC3339)})
	}
	return out, nil
}
