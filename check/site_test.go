package check_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/check"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// asked is a server that notes what it is asked for.
type asked struct {
	*httptest.Server
	mu struct {
		sync.Mutex
		paths []string
	}
}

// serve serves pages of HTML by path; others are missing.
func serve(t *testing.T, page func(path string) (text string, ok bool)) *asked {
	s := new(asked)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.mu.paths = append(s.mu.paths, r.URL.Path)
		s.mu.Unlock()
		text, ok := page(r.URL.Path)
		w.Header().Set("Content-Type", "text/html")
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// times returns how often a path was asked for.
func (s *asked) times(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.mu.paths {
		if p == path {
			n++
		}
	}
	return n
}

// rules returns the rules of a report's findings, and closes it.
func rules(t *testing.T, r *check.Report, err error) (all []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range r.Findings() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f.Rule)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return all
}

func faulty(path string) (string, bool) {
	pages := map[string]string{"/": "<title>a</title><a href=/b>b</a> <a href=/gone>x</a> <form action=/form></form>", "/b": "<title>b</title>"}
	text, ok := pages[path]
	return text, ok
}

// TestSite: a site is crawled and checked, and nothing stays. A job stays, and is not crawled
// again.
func TestSite(t *testing.T) {
	s := serve(t, faulty)
	temp := t.TempDir()
	o := check.SiteOptions{Options: check.Options{Dir: temp}, Crawl: weft.Options{Seeds: []string{s.URL}}}
	r, err := check.Site(t.Context(), o)
	if err == nil && (r.Subject != s.URL || r.Part != "" || r.Interrupted || !r.Crawl.Finished || r.Totals.Pages != 2) {
		t.Errorf("%+v", r)
	}
	want := []string{check.BrokenLink, check.BrokenLink} // the form, too
	if got := rules(t, r, err); !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	o.Crawl.Job = filepath.Join(t.TempDir(), "job")
	for range 2 {
		r, err := check.Site(t.Context(), o)
		if got := rules(t, r, err); !slices.Equal(got, want) || s.times("/b") != 2 {
			t.Errorf("found %q, asked for /b %d times", got, s.times("/b"))
		}
		job, err := weft.OpenJob(t.Context(), o.Crawl.Job)
		if err != nil {
			t.Fatal(err) // nobody else has it
		}
		job.Close()
	}
	r, err = check.Job(t.Context(), o.Crawl.Job, check.Options{})
	if got := rules(t, r, err); !slices.Equal(got, want) {
		t.Errorf("of the job: %q", got)
	}
}

// TestSiteStopped: a crawl that is stopped is reported as a part, and the next call goes on with
// it. One that is cancelled is not reported.
func TestSiteStopped(t *testing.T) {
	stop, ends := context.WithCancel(t.Context())
	var requests atomic.Int32
	s := serve(t, func(path string) (string, bool) {
		// Each page has a link to a further one, up to a number.
		n := requests.Add(1)
		if n > 20 {
			ends()
		}
		if n > 1000 {
			return "<title>last</title>", true
		}
		return fmt.Sprintf("<title>%d</title><a href=/p%[1]d>next</a>", n), true
	})
	o := check.SiteOptions{Options: check.Options{Stop: stop}, Crawl: weft.Options{Seeds: []string{s.URL}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Concurrency: 1}, Loops: 1}}
	r, err := check.Site(t.Context(), o)
	if err == nil && (!r.Interrupted || !r.Crawl.Interrupted || !strings.HasPrefix(r.Part, "the crawl is interrupted, ") || r.Totals.Pages < 10 || r.Totals.Pages > 1000) {
		t.Errorf("%t, %q, %+v", r.Interrupted, r.Part, r.Totals)
	}
	rules(t, r, err)
	requests.Store(1000)
	o.Stop = nil
	r, err = check.Site(t.Context(), o)
	if err == nil && (r.Interrupted || r.Part != "" || !r.Crawl.Finished) {
		t.Errorf("the rest: %t, %q, %+v", r.Interrupted, r.Part, r.Totals)
	}
	rules(t, r, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Crawl.Job, o.Dir = "", t.TempDir()
	if r, err := check.Site(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
	if left, _ := os.ReadDir(o.Dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestSiteLinks: what is ignored is not asked for, and a hook of the program judges the rest;
// beyond the scope nothing is asked for on request.
func TestSiteLinks(t *testing.T) {
	other := serve(t, faulty)
	s := serve(t, func(string) (string, bool) {
		return "<title>x</title><a href='/private#x'>a</a><a href=/hidden>b</a><a href=" + other.URL + "/b>c</a>", true
	})
	for _, within := range []bool{true, false} {
		o := check.SiteOptions{NoExternal: within, Crawl: weft.Options{Seeds: []string{s.URL}}}
		o.Ignore = []*regexp.Regexp{regexp.MustCompile("/private$")}
		o.Crawl.Hooks.OnLink = func(_ weburl.URL, l links.Link) (v weft.Verdict) {
			if l.URL.Path() == "/private" {
				t.Error("the hook judges what is ignored")
			}
			if l.URL.Path() == "/hidden" {
				v.Decision = weft.Drop
			}
			return v
		}
		r, err := check.Site(t.Context(), o)
		rules(t, r, err)
		if s.times("/private") > 0 || s.times("/hidden") > 0 || other.times("/b") > 0 == within {
			t.Errorf("asked for %q and %q", s.mu.paths, other.mu.paths)
		}
	}
}

// TestFilesOnTheWeb: links of files to the Web are asked for once, unless they are not to be.
func TestFilesOnTheWeb(t *testing.T) {
	s := serve(t, faulty)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("[x]("+s.URL+"/gone) [y]("+s.URL+"/b) [z]("+s.URL+"/b)"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := check.SiteOptions{Crawl: weft.Options{HTTP: weft.HTTP{AllowPrivate: true}}, NoExternal: true}
	r, err := check.Files(t.Context(), []string{dir}, o)
	if err == nil && (r.Totals.Unchecked != 3 || s.times("/b") != 0) {
		t.Errorf("%+v", r.Totals)
	}
	rules(t, r, err)
	o.NoExternal = false
	r, err = check.Files(t.Context(), []string{dir}, o)
	if err == nil && (r.Totals.URLs != 2 || r.Crawl.Pages == 0) {
		t.Errorf("%+v", r.Totals)
	}
	if got := rules(t, r, err); !slices.Equal(got, []string{check.BrokenLink}) || s.times("/b") != 1 || s.times("/gone") != 1 {
		t.Errorf("found %q, asked for %q", got, s.mu.paths)
	}
}
