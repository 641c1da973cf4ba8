package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/firecrawl"
	"github.com/weftcrawl/weft/internal/loopback"
	"github.com/weftcrawl/weft/internal/metrics"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/internal/view"
	"github.com/weftcrawl/weft/record"
)

// Options are those of a server.
type Options struct {
	Crawls *crawls.Folder
	Tokens *Tokens
	Hosts  []string // names that the server has beside those of loopback

	Plan     Planner
	Settable []Setting // the options that may be asked for

	Report Reporter // of changes

	Scraper *scrape.Scraper // of pages that are requested at once
}

// Server answers requests. Make it with New.
type Server struct {
	o      Options
	mux    *http.ServeMux
	guard  *http.CrossOriginProtection
	pages  *pages
	people *sessions
	series *metrics.Server
	takes  times

	requests *share.Stock // at once
	bodies   *share.Room  // of requests with a long body
	reading  *share.Room  // of those that read jobs
	answers  *share.Stock // bytes of answers in memory
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{
		o: o, mux: http.NewServeMux(), guard: http.NewCrossOriginProtection(), people: &sessions{tokens: o.Tokens, all: make(map[string]session)},
		takes:    times{requestTakes, writeTakes},
		requests: share.NewStock(mostConnections, mostRequests), bodies: share.NewRoom(mostLong, mostOwnLong),
		reading: share.NewRoom(mostReading, mostOwnReading), answers: share.NewStock(mostAnswers, 0),
	}
	s.pages = newPages(o.Crawls, o.Tokens, s.reading)
	began := time.Now()
	s.series = metrics.NewOwn(s.figures, func() weft.Figures {
		return weft.Figures{Figures: record.Figures{Started: began, Process: view.Process()}}
	})
	s.register()
	return s
}

// Answers is the memory of answers: there may be others that wait for their readers.
func (s *Server) Answers() *share.Stock { return s.answers }

// times bound requests.
type times struct{ request, write time.Duration }

const (
	requestTakes = 10 * time.Minute // at most, its body included, until somebody reads the answer
	writeTakes   = 30 * time.Second // that long he may take to read a part of it
	mostBody     = 4 << 20          // bytes of a request
	mostAnswers  = 256 << 20        // bytes of answers in memory

	// mostRequests bounds the requests of one token at once, far below the connections that there
	// may be, so that nobody who has one keeps others out.
	mostRequests = mostConnections / 4

	mostReading    = 8 // requests that read jobs
	mostOwnReading = 4 // of one token
)

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := s.patient(w, r)
	s.serve(p, r)
	p.end()
}

func (s *Server) serve(w *patient, r *http.Request) {
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
	// A recorder of a test has none. The end of the time for reading ends the request, too.
	_ = w.conn.SetReadDeadline(time.Now().Add(s.takes.request))
	if !s.isHost(r.Host) {
		w.fail(w, http.StatusMisdirectedRequest, "this server has no such name: weft serve --host adds one")
		return
	}
	if s.isForeign(r) {
		w.fail(w, http.StatusForbidden, "a page of another origin may not use this server")
		return
	}
	who, err := asking(r, s.o.Tokens, s.people)
	switch {
	case err != nil:
		w.fail(w, http.StatusInternalServerError, "the tokens cannot be read")
		return
	case who == nil && isPage(r):
		http.Redirect(w, r, "/", http.StatusSeeOther) // where a person signs in
		return
	case who == nil && !isOpen(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="weft"`)
		w.fail(w, http.StatusUnauthorized, lacking(r))
		return
	case who == nil:
		s.mux.ServeHTTP(w, r)
		return
	}
	busy(r.Context())
	ctx := share.As(context.WithValue(r.Context(), asks{}, who), who.Name)
	end, err := s.requests.Take(ctx, 1)
	if err != nil {
		w.fail(w, http.StatusTooManyRequests, "too many requests of one token at once")
		return
	}
	defer end()
	ctx, give := s.answers.Open(ctx)
	defer give()
	w.ctx = ctx
	with, leave, no := s.body(w.ResponseWriter, r.WithContext(ctx))
	if no != nil {
		w.fail(w, no.status, no.detail)
		return
	}
	defer leave()
	s.mux.ServeHTTP(w, with)
}

// isForeign reports whether a page of another origin makes a request, be it one that changes
// nothing: it could have the server work, and no honest page does. A link that somebody follows is
// no request of the page.
func (s *Server) isForeign(r *http.Request) bool {
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return false
	}
	order := r.WithContext(r.Context())
	order.Method = http.MethodPost // the guard lets GET pass
	return s.guard.Check(order) != nil
}

// isOpen reports whether a request needs no token: it is of the document that describes the API, of
// whether the server lives, or of the page where a person gives his token.
func isOpen(r *http.Request) bool {
	switch r.URL.Path {
	case "/v1/openapi.json", "/healthz", "/session", "/", "/page/live.css", "/page/text.js", "/page/serve.js", "/page/icon.svg":
		return true
	}
	return false
}

// isPage reports whether a browser asks for the page of a crawl.
func isPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/crawls/") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// lacking says what a request without a valid token lacks.
func lacking(r *http.Request) string {
	if strings.HasPrefix(r.Header.Get("Authorization"), bearer) {
		return "there is no such token: it has a mistake, or was removed"
	}
	return "expected a token: Authorization: Bearer weft_…"
}

// metrics answers with the series of all crawls that run, and the number of crawls by state.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	for _, right := range []Right{Read, Others} {
		if err := may(r.Context(), right); err != nil {
			refuse(w, err)
			return
		}
	}
	text, err := s.series.Text()
	if err != nil {
		refuse(w, problem(err))
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_, _ = w.Write(text)
	counts := make(map[crawls.State]int)
	for _, c := range s.o.Crawls.List(func(*crawls.Crawl) bool { return true }) {
		counts[c.State]++
	}
	fmt.Fprint(w, "# HELP weft_crawls Crawls of the folder, by state.\n# TYPE weft_crawls gauge\n")
	for _, state := range crawls.States {
		fmt.Fprintf(w, "weft_crawls{state=%q} %d\n", state, counts[state])
	}
}

// figures looks at the crawls that run. One that ends meanwhile has none.
func (s *Server) figures(ctx context.Context) (all []weft.Figures, err error) {
	for _, c := range s.o.Crawls.List(func(c *crawls.Crawl) bool { return c.State == crawls.Running }) {
		job, err := weft.OpenJob(ctx, s.o.Crawls.Job(c.Name))
		if err != nil {
			continue
		}
		if f, err := job.Figures(ctx); err == nil {
			all = append(all, f)
		}
		_ = job.Close()
	}
	return all, nil
}

// withoutValues leaves out of an error what was sent: it may be megabytes, or a secret.
func withoutValues(_ huma.Context, _ string, v any) (any, error) {
	if e, ok := v.(*huma.ErrorModel); ok {
		for _, one := range e.Errors {
			one.Value = nil
		}
		e.Errors = e.Errors[:min(len(e.Errors), mostErrors)]
	}
	return v, nil
}

// mostErrors bounds the mistakes that an answer lists.
const mostErrors = 10

// isHost reports whether a Host is a name of this server. A page of the Web may have its own name
// lead here, and read what it loads by it. An address is no name that anybody can have lead
// elsewhere.
func (s *Server) isHost(host string) bool {
	if loopback.IsHost(host) {
		return true
	}
	bare := host
	if name, _, err := net.SplitHostPort(host); err == nil {
		bare = name
	}
	if _, err := netip.ParseAddr(strings.Trim(bare, "[]")); err == nil {
		return true
	}
	return slices.ContainsFunc(s.o.Hosts, func(name string) bool {
		return strings.EqualFold(name, bare) || strings.EqualFold(name, host)
	})
}

// register registers the API.
func (s *Server) register() {
	config := huma.DefaultConfig("Weft", weft.Version)
	config.OpenAPIPath = "/v1/openapi"
	config.DocsPath, config.SchemasPath = "", ""
	config.CreateHooks = nil // no links to schemas in answers
	config.Formats = map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	config.Transformers = []huma.Transformer{withoutValues}
	config.Info.Description = "Run crawls and read their results, and fetch single pages. Errors follow RFC 9457. Lists come in parts: pass `next` of a part as `after` to get the following one."
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	config.Security = []map[string][]string{{"token": {}}}
	api := humago.New(s.mux, config)
	jobs := &jobs{folder: s.o.Crawls, pages: s.pages, plan: s.o.Plan, reading: s.reading}
	rs := routes{api, s.mux, s.o.Crawls}
	jobs.register(rs)
	brought := &brought{jobs}
	brought.register(rs)
	changes := &changes{folder: s.o.Crawls, report: s.o.Report, reading: s.reading}
	changes.register(rs)
	s.mux.HandleFunc("/crawls/{id}/{path...}", s.pages.serve)
	web := newFetches(s.o.Scraper)
	web.register(rs)
	s.mux.Handle("/mcp", s.agents(web))
	s.mux.Handle("/v2/", firecrawl.New(house{web, brought, s.pages}, s.o.Crawls, s.o.Scraper))
	describe(api, s.o.Settable)
	index(s.mux)
	s.mux.HandleFunc("GET "+metrics.Path, s.metrics)
	s.mux.HandleFunc("POST /session", s.people.begin)
	s.mux.HandleFunc("DELETE /session", s.people.end)
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // who asked may have left
	})
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "there is no such path: /v1/openapi.json lists them")
	})
}
