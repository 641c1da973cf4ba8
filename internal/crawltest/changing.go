package crawltest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
)

// Changing is a site whose pages differ between visits: the first crawl and its recrawls.
type Changing struct {
	*httptest.Server
	Sitemaps bool // crawl with Sitemaps
	Prune    bool // crawl with PruneDuplicates
	mu       struct {
		sync.Mutex
		pages      map[string]Response
		validators map[string]string // by path, the validators of the last request
	}
}

// Response is the site's response for a path; a path without one gets a 404.
type Response struct {
	Body, ETag, Modified string
	Status               int // 0: 200
	Location             string
	Header               map[string]string // further fields
}

// NewChanging starts a Changing without pages.
func NewChanging(t *testing.T) *Changing {
	s := new(Changing)
	s.mu.validators = make(map[string]string)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *Changing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	a, ok := s.mu.pages[r.URL.Path]
	s.mu.validators[r.URL.Path] = strings.TrimSpace(r.Header.Get("If-None-Match") + " " + r.Header.Get("If-Modified-Since"))
	s.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "text/html")
	if a.ETag != "" {
		h.Set("ETag", a.ETag)
	}
	for name, value := range a.Header {
		h.Set(name, value)
	}
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case a.Location != "":
		h.Set("Location", a.Location)
		w.WriteHeader(http.StatusMovedPermanently)
	case a.Status != 0:
		w.WriteHeader(a.Status)
	default:
		at, _ := http.ParseTime(a.Modified) // zero if there is none; then it is not sent
		http.ServeContent(w, r, "", at, strings.NewReader(a.Body))
	}
}

// Show sets the pages of the site.
func (s *Changing) Show(pages map[string]Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.pages = pages
	clear(s.mu.validators)
}

// Put sets the page of one path.
func (s *Changing) Put(path string, page Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.pages[path] = page
}

// Visit crawls or recrawls the site with the given pages. It returns a line for each record of that
// visit: path, status, change, and the validators that the request carried.
func (s *Changing) Visit(t *testing.T, job string, pages map[string]Response) (weft.Summary, string) {
	t.Helper()
	s.Show(pages)
	_, err := os.Stat(job)
	o := weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Reach: weft.Reach{NoRobots: true, Sitemaps: s.Sitemaps, PruneDuplicates: s.Prune}, Pace: weft.Pace{Retries: -1}, Rerun: weft.Rerun{Update: err == nil}}
	if o.Rerun.Update {
		o.Seeds = nil
	}
	sum := Crawl(t, o)
	var lines []string
	for _, r := range Visits(t, job)[max(1, sum.Visit)] {
		path := strings.TrimPrefix(r.URL, s.URL)
		line := fmt.Sprintf("%s: %d", path, r.Status)
		if r.Change != "" {
			line += " " + string(r.Change)
		}
		if r.UnchangedBy != "" {
			line += " by " + string(r.UnchangedBy)
		}
		s.mu.Lock()
		if v := s.mu.validators[path]; v != "" {
			line += ", requested with " + v
		}
		s.mu.Unlock()
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	return sum, strings.Join(lines, "")
}
