package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/control"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// resources are the paths with data, and how it is come by.
var resources = map[string]func(*Server, *http.Request) (any, error){
	"v1/status":  (*Server).status,
	"v1/hosts":   (*Server).hosts,
	"v1/urls":    (*Server).urls,
	"v1/why":     (*Server).why,
	"v1/tasks":   (*Server).tasks,
	"v1/figures": (*Server).figures,
	"v1/cluster": (*Server).cluster,
	"v1/records": (*Server).latest,
	"v1/speed":   (*Server).overTime,
	"v1/orders":  (*Server).order,
}

func (s *Server) status(r *http.Request) (any, error) { return s.Status(r.Context(), time.Time{}) }

// Status tells where the job stands, as of the last second, and not before a time.
func (s *Server) Status(ctx context.Context, since time.Time) (*weft.Status, error) {
	l := s.looks.now(ctx, since)
	return l.Status, l.err
}

const (
	mostListed  = 1000 // values of a part of a list
	usualListed = 50
	lookFor     = time.Second // that long a request looks for values of a list
)

// part reads which part of a list is asked for.
func part(q url.Values) (weft.ListPart, error) {
	p := weft.ListPart{After: q.Get("after"), AtMost: usualListed, Within: lookFor}
	if limit := q.Get("limit"); limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 || n > mostListed {
			return p, wrong(fmt.Errorf("limit %.20q, expected 1 to %d", limit, mostListed))
		}
		p.AtMost = n
	}
	return p, nil
}

// Hosts is a part of the hosts.
type Hosts struct {
	Hosts []weft.HostStatus `json:"hosts"`
	Next  string            `json:"next,omitempty"` // the cursor of the next part: after
}

func (s *Server) hosts(r *http.Request) (any, error) {
	p, err := part(r.URL.Query())
	if err != nil {
		return nil, err
	}
	got := Hosts{Hosts: []weft.HostStatus{}}
	err = s.inJob(r.Context(), func(job *weft.Job) error {
		hosts, next, err := job.SomeHosts(r.Context(), p)
		got.Hosts, got.Next = append(got.Hosts, hosts...), next
		return err
	})
	return got, err
}

// URLs is a part of the URLs.
type URLs struct {
	URLs []weft.URLStatus `json:"urls"`
	Next string           `json:"next,omitempty"` // the cursor of the next part: after
}

func (s *Server) urls(r *http.Request) (any, error) {
	q := r.URL.Query()
	p, err := part(q)
	if err != nil {
		return nil, err
	}
	f := weft.URLFilter{State: weft.URLState(q.Get("state")), ErrorKind: q.Get("error")}
	if status := q.Get("status"); status != "" {
		if f.Status, err = inspect.ParseStatuses(status); err != nil {
			return nil, wrong(fmt.Errorf("status %.20q, %w", status, err))
		}
	}
	got := URLs{URLs: []weft.URLStatus{}}
	err = s.inJob(r.Context(), func(job *weft.Job) error {
		urls, next, err := job.SomeURLs(r.Context(), f, p)
		got.URLs, got.Next = append(got.URLs, urls...), next
		return err
	})
	return got, err
}

func (s *Server) why(r *http.Request) (any, error) {
	name := r.URL.Query().Get("url")
	if _, err := weft.ReadSeed(name); err != nil {
		return nil, wrong(err)
	}
	var why weft.Why
	err := s.inJob(r.Context(), func(job *weft.Job) (err error) {
		why, err = job.Why(r.Context(), name)
		return err
	})
	return why, err
}

func (s *Server) tasks(r *http.Request) (any, error) {
	var all []weft.TaskStatus
	err := s.inJob(r.Context(), func(job *weft.Job) (err error) {
		all, err = job.Tasks(r.Context())
		return err
	})
	return map[string]any{"tasks": all}, err
}

// figures are those of the process, for all who look.
func (s *Server) figures(r *http.Request) (any, error) {
	return s.machine.get(2*time.Second, func() (f weft.Figures, err error) {
		ctx, cancel := forAll(r.Context())
		defer cancel()
		err = s.inJob(ctx, func(job *weft.Job) error {
			f, err = job.Figures(ctx)
			return err
		})
		f.Job = cmp.Or(s.name, f.Job)
		return f, err
	})
}

// cluster is the status of all nodes, if the crawl is one's part: a cluster.Status.
func (s *Server) cluster(r *http.Request) (any, error) {
	return s.whole.get(5*time.Second, func() (json.RawMessage, error) {
		ctx, cancel := forAll(r.Context())
		defer cancel()
		crawl, err := control.Dial(ctx, s.dir)
		if err != nil {
			return nil, err
		}
		return crawl.Whole(ctx)
	})
}

// records are the last records of a job, the latest first, and the slowest of the last 500, with
// the hosts of errors among these.
type records struct {
	Latest  []record.Record `json:"latest"`
	Slowest []record.Record `json:"slowest"`
	Failing []failing       `json:"failing"` // most errors first
}

// failing is a host with errors among some records.
type failing struct {
	Host    string `json:"host"` // its origin
	Errors  int    `json:"errors"`
	Of      int    `json:"of"`      // its records
	Kind    string `json:"kind"`    // of the last error: an error kind or a status
	Example string `json:"example"` // its URL
}

// failures returns the hosts of errors among records, the latest of which come first.
func failures(all []record.Record) []failing {
	by := make(map[string]*failing)
	for _, r := range all {
		u, err := weburl.Parse(r.URL)
		if err != nil {
			continue
		}
		f := by[u.Origin()]
		if f == nil {
			f = &failing{Host: u.Origin()}
			by[f.Host] = f
		}
		f.Of++
		if r.ErrorKind == "" && r.Status < 400 {
			continue
		}
		if f.Errors++; f.Errors == 1 {
			f.Kind, f.Example = cmp.Or(r.ErrorKind, strconv.Itoa(r.Status)), r.URL
		}
	}
	hosts := []failing{}
	for _, f := range by {
		if f.Errors > 0 {
			hosts = append(hosts, *f)
		}
	}
	slices.SortFunc(hosts, func(a, b failing) int {
		return cmp.Or(cmp.Compare(b.Errors, a.Errors), cmp.Compare(a.Host, b.Host))
	})
	return hosts[:min(len(hosts), mostFailing)]
}

const mostFailing = 20 // hosts

func (s *Server) latest(r *http.Request) (any, error) {
	return s.records.get(2*time.Second, func() (records, error) {
		ctx, cancel := forAll(r.Context())
		defer cancel()
		leave, err := s.enter(ctx)
		if err != nil {
			return records{}, err
		}
		defer leave()
		all, err := results.Latest(s.dir, 500)
		slow := slices.Clone(all)
		slices.SortStableFunc(slow, func(a, b record.Record) int { return cmp.Compare(b.TotalMS, a.TotalMS) })
		return records{slices.Clip(all[:min(50, len(all))]), slow[:min(10, len(slow))], failures(all)}, err
	})
}

// speed is the speed of the job over time.
type speed struct {
	Rates []results.Rate `json:"rates"`
}

func (s *Server) overTime(r *http.Request) (any, error) {
	return s.speed.get(10*time.Second, func() (speed, error) {
		ctx, cancel := forAll(r.Context())
		defer cancel()
		leave, err := s.enter(ctx)
		if err != nil {
			return speed{}, err
		}
		defer leave()
		rates, err := results.Speed(s.dir, 200)
		return speed{rates}, err
	})
}

type orderKey struct{}

// Allowing returns a context for requests of somebody whose orders are carried out if allow has no
// error.
func Allowing(ctx context.Context, allow func(words []string) error) context.Context {
	return context.WithValue(ctx, orderKey{}, allow)
}

// allowed asks whether an order may be carried out.
func allowed(ctx context.Context, words []string) error {
	if allow, ok := ctx.Value(orderKey{}).(func([]string) error); ok {
		return allow(words)
	}
	return nil
}

// order has the words of weft.ParseOrder.
type order struct {
	Words []string `json:"words"`
}

func (s *Server) order(r *http.Request) (any, error) {
	// A form of another site cannot have this type.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, problem(http.StatusUnsupportedMediaType, "expected application/json")
	}
	var o order
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	if err := body.Decode(&o); err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			return nil, problem(http.StatusRequestEntityTooLarge, err.Error())
		}
		return nil, wrong(fmt.Errorf(`%w, expected an order such as {"words": ["pause"]}`, err))
	}
	parsed, err := weft.ParseOrder(o.Words...)
	if err == nil {
		err = allowed(r.Context(), o.Words)
	}
	if err != nil {
		return nil, wrong(err)
	}
	var lines []string
	err = s.inJob(r.Context(), func(job *weft.Job) (err error) {
		lines, err = job.Do(r.Context(), parsed)
		return err
	})
	return map[string]any{"lines": lines}, err
}
