package crawltest

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
)

// Held is a site whose pages /held and /waits respond only after Release, and whose page /busy
// fails once.
type Held struct {
	*httptest.Server
	Release func()
}

// NewHeld starts a Held.
func NewHeld(t *testing.T) *Held {
	released := make(chan struct{})
	var busy sync.Once
	s := &Held{Release: sync.OnceFunc(func() { close(released) })}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nAllow: /a\nDisallow: /private\n")
		case "/":
			fmt.Fprint(w, `<a href=a><a href=moved><a href=held><a href=private><a href=broken><a href=busy><a href=skipped>`)
		case "/a":
			fmt.Fprint(w, `<a href=b>`)
		case "/moved":
			http.Redirect(w, r, "/target", http.StatusFound)
		case "/held":
			<-released
		case "/sitemap.xml":
			fmt.Fprint(w, `<urlset><url><loc>/mapped</loc></url></urlset>`)
		case "/waits":
			<-released
			fmt.Fprint(w, `<a href=late><a href=a>`)
		case "/broken":
			panic(http.ErrAbortHandler)
		case "/busy":
			busy.Do(func() { w.WriteHeader(http.StatusBadGateway) })
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.Release)
	return s
}

// Running is a crawl in progress, and the job that inspects it.
type Running struct {
	t    *testing.T
	Dir  string
	Job  *weft.Job
	Done chan weft.Summary
	End  func() // cancels the crawl and waits for it
}

// Start starts a crawl.
func Start(t *testing.T, o weft.Options) *Running {
	t.Helper()
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &Running{t: t, Dir: o.Job, Done: make(chan weft.Summary, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s, err := c.Run(ctx)
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		r.Done <- s
	}()
	r.End = func() { cancel(); <-ended }
	t.Cleanup(r.End)
	return r
}

// Inspect opens the job of the running crawl.
func (r *Running) Inspect() {
	r.t.Helper()
	r.Job = Open(r.t, r.Dir)
	if !r.Job.Running() {
		r.t.Fatal("the crawl does not respond")
	}
}

// Open opens a job until the end of the test.
func Open(t *testing.T, dir string) *weft.Job {
	t.Helper()
	job, err := weft.OpenJob(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = job.Close() })
	return job
}

// Await polls the status until cond holds.
func (r *Running) Await(what string, cond func(weft.Status) bool) weft.Status {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 4000 {
		s := Status(r.t, r.Job)
		if cond(s) {
			return s
		}
		<-tick.C
	}
	r.t.Fatalf("the crawl was never %s: %+v", what, Status(r.t, r.Job))
	return weft.Status{}
}

// Do gives the crawl an order.
func (r *Running) Do(words ...string) []string {
	r.t.Helper()
	o, err := weft.ParseOrder(words...)
	if err != nil {
		r.t.Fatal(err)
	}
	replies, err := r.Job.Do(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return replies
}

// Status returns the status of a job.
func Status(t *testing.T, job *weft.Job) weft.Status {
	t.Helper()
	s, err := job.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Collect returns all values.
func Collect[T any](t *testing.T, values iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for v, err := range values {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// Paths returns the paths of the URLs in a state.
func Paths(t *testing.T, job *weft.Job, state weft.URLState) string {
	t.Helper()
	var all []string
	for _, u := range Collect(t, job.URLs(t.Context(), weft.URLFilter{State: state})) {
		if u.State != state && state != weft.URLDone {
			t.Errorf("%s is %s, but is listed as %s", u.URL, u.State, state)
		}
		path := u.URL[strings.LastIndexByte(u.URL, '/'):]
		all = append(all, path)
	}
	return strings.Join(all, " ")
}

// WhyText returns the state and steps that Why reports, without times and without the site's
// address.
func WhyText(t *testing.T, job *weft.Job, site, path string) string {
	t.Helper()
	why, err := job.Why(t.Context(), site+path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", why.State)
	for _, s := range why.Steps {
		fmt.Fprintf(&b, "%s: %s\n", s.What, s.Text)
	}
	text := strings.ReplaceAll(b.String(), site, "SITE")
	return regexp.MustCompile(`127\.0\.0\.1:\d+(->127\.0\.0\.1:\d+)?`).ReplaceAllString(text, "ADDR")
}
