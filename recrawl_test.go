package weft_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
)

// changing is a site whose pages differ between visits: the first crawl and its recrawls.
type changing struct {
	*httptest.Server
	sitemaps bool // crawl with Sitemaps
	prune    bool // crawl with PruneDuplicates
	mu       struct {
		sync.Mutex
		pages      map[string]response
		validators map[string]string // by path, the validators of the last request
	}
}

// response is what the site sends for a path; a path without one gets a 404.
type response struct {
	body, etag, modified string
	status               int // 0: 200
	location             string
	header               map[string]string // further fields
}

func newChanging(t *testing.T) *changing {
	s := new(changing)
	s.mu.validators = make(map[string]string)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *changing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	a, ok := s.mu.pages[r.URL.Path]
	s.mu.validators[r.URL.Path] = strings.TrimSpace(r.Header.Get("If-None-Match") + " " + r.Header.Get("If-Modified-Since"))
	s.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "text/html")
	if a.etag != "" {
		h.Set("ETag", a.etag)
	}
	for name, value := range a.header {
		h.Set(name, value)
	}
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case a.location != "":
		h.Set("Location", a.location)
		w.WriteHeader(http.StatusMovedPermanently)
	case a.status != 0:
		w.WriteHeader(a.status)
	default:
		at, _ := http.ParseTime(a.modified) // zero if there is none; then it is not sent
		http.ServeContent(w, r, "", at, strings.NewReader(a.body))
	}
}

// show sets the pages of the site.
func (s *changing) show(pages map[string]response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.pages = pages
}

// put sets the page of one path.
func (s *changing) put(path string, page response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.pages[path] = page
}

// visit crawls or recrawls the site with the given pages. It returns a line for each record of that
// visit: path, status, change, and the validators that the request carried.
func (s *changing) visit(t *testing.T, job string, pages map[string]response) (weft.Summary, string) {
	t.Helper()
	s.mu.Lock()
	s.mu.pages = pages
	clear(s.mu.validators)
	s.mu.Unlock()
	_, err := os.Stat(job)
	o := weft.Options{Seeds: []string{s.URL + "/"}, Job: job, NoRobots: true, Sitemaps: s.sitemaps, PruneDuplicates: s.prune, Retries: -1, Update: err == nil}
	if o.Update {
		o.Seeds = nil
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range recordsOf(t, job)[max(1, sum.Visit)] {
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

// recordsOf returns the records of a job by visit, in file order.
func recordsOf(t *testing.T, job string) map[int][]weft.Record {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	visits, err := byVisit(b)
	if err != nil {
		t.Fatal(err)
	}
	return visits
}

func byVisit(pages []byte) (map[int][]weft.Record, error) {
	visits := make(map[int][]weft.Record)
	for line := range bytes.Lines(pages) {
		var r weft.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		visits[max(1, r.Visit)] = append(visits[max(1, r.Visit)], r)
	}
	return visits, nil
}

// prose returns a page with links and with enough words for a text hash.
func prose(words string, links ...string) string {
	return "<title>A page</title><nav>" + words[:1] + "</nav><p>Once upon a time there was a crawler that came by again " + words + "</p>" + a(links...)
}

const monday = "Mon, 05 Jan 2026 10:00:00 GMT"

// TestUnchangedSitemap checks that a sitemap with the same entries counts as unchanged, even if it
// is compressed differently, and that a broken sitemap always counts as changed.
func TestUnchangedSitemap(t *testing.T) {
	compressed := func(text string, level int) response {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return response{body: b.String(), header: map[string]string{"Content-Type": "application/gzip"}}
	}
	s := newChanging(t)
	s.sitemaps = true
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]response{"/": {}, "/1": {body: prose("one")}}
	const one, two = "<urlset><url><loc>/1</loc><lastmod>2024</lastmod></url></urlset>", "<urlset><url><loc>/1</loc><lastmod>2025</lastmod></url></urlset>"
	for _, c := range []struct {
		name string
		body response
		want string
	}{
		{"the first visit", compressed(one, 9), "200"},
		{"the same", compressed(one, 9), "200 unchanged by answer"},
		{"compressed differently", compressed(one, 1), "200 unchanged by text"},
		{"another comment", compressed("<!-- 2 -->"+one, 9), "200 unchanged by text"},
		{"another date", compressed(two, 9), "200 changed"},
		{"broken", compressed(strings.TrimSuffix(two, "</urlset>"), 9), "200 changed"},
		{"broken differently", compressed("<!-- 3 -->"+strings.TrimSuffix(two, "</urlset>"), 9), "200 changed"},
	} {
		pages["/sitemap.xml"] = c.body
		if _, got := s.visit(t, job, pages); !strings.Contains(got, "/sitemap.xml: "+c.want+"\n") || !strings.Contains(got, "/1: 200") {
			t.Errorf("%s:\n%swant %s", c.name, got, c.want)
		}
	}
}

// TestCutSitemapChanges checks that a sitemap index that is not read completely counts as changed.
func TestCutSitemapChanges(t *testing.T) {
	s := newChanging(t)
	s.sitemaps = true
	job := filepath.Join(t.TempDir(), "job")
	index := func(maps ...string) response {
		return response{body: "<sitemapindex><sitemap><loc>" + strings.Join(maps, "</loc></sitemap><sitemap><loc>") + "</loc></sitemap></sitemapindex>"}
	}
	pages := map[string]response{"/": {}, "/sitemap.xml": index("/1"), "/1": index("/2"), "/2": index("/3"), "/3": index("/4"), "/4": index("/5"), "/5": index("/6")}
	s.visit(t, job, pages)
	pages["/4"], pages["/5"] = index(" /5"), index("/6", "/7")
	_, got := s.visit(t, job, pages)
	if !strings.Contains(got, "/4: 200 unchanged by text\n") || !strings.Contains(got, "/5: 200 changed\n") {
		t.Errorf("beyond the limit of nested indexes:\n%s", got)
	}
}

// TestRecrawl checks how a recrawl reports each kind of change, and pages that have not changed.
func TestRecrawl(t *testing.T) {
	s := newChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	home := response{body: prose("home", "/validated", "/dated", "/same", "/clock", "/stamped", "/edited", "/dropped", "/410", "/missing", "/back", "/moved", "/moves", "/fails"), etag: `"home"`}
	first := map[string]response{
		"/": home, "/validated": {body: prose("validated"), etag: `W/"validated"`, modified: monday}, "/dated": {body: prose("dated"), modified: monday}, "/same": {body: prose("same")},
		"/clock":   {body: prose("at 10:20:30", "/lost")},
		"/stamped": {body: prose("at 10:20:30"), etag: `"1"`},
		"/edited":  {body: prose("one", "/lost"), etag: `"1"`}, "/lost": {body: prose("lost"), etag: `"lost"`},
		"/dropped": {body: prose("dropped"), etag: `"d"`}, "/410": {body: prose("410")},
		"/moved": {location: "/validated"}, "/moves": {location: "/validated"}, "/fails": {body: prose("fails"), etag: `"fails"`},
	}
	sum, got := s.visit(t, job, first)
	if sum.Visit != 1 || sum.Unchanged+sum.Changed+sum.Gone+sum.New != 0 || strings.Contains(got, "requested with") || strings.Contains(got, "changed") {
		t.Fatalf("first visit: %+v\n%s", sum, got)
	}

	second := map[string]response{
		"/": home, "/validated": first["/validated"], "/dated": first["/dated"], "/same": first["/same"],
		"/clock":   {body: prose("at 11:21:31", "/lost")},
		"/stamped": {body: prose("at 11:21:31"), etag: `"2"`},
		"/edited":  {body: prose("two", "/new"), etag: `"2"`}, "/lost": first["/lost"], "/new": {body: prose("new")},
		"/410":  {status: http.StatusGone},
		"/back": {body: prose("back")}, "/moved": {location: "/dated"}, "/moves": {location: "/validated"}, "/fails": {status: 500},
	}
	sum, got = s.visit(t, job, second)
	if want := `/410: 410 gone
/: 304 unchanged by not-modified, requested with "home"
/back: 200 new
/clock: 200 unchanged by text
/dated: 304 unchanged by not-modified, requested with Mon, 05 Jan 2026 10:00:00 GMT
/dropped: 404 gone, requested with "d"
/edited: 200 changed, requested with "1"
/fails: 500, requested with "fails"
/lost: 304 unchanged by not-modified, requested with "lost"
/missing: 404 unchanged by answer
/moved: 301 changed
/moves: 301 unchanged by answer
/new: 200 new
/same: 200 unchanged by answer
/stamped: 200 unchanged by text, requested with "1"
/validated: 304 unchanged by not-modified, requested with W/"validated" Mon, 05 Jan 2026 10:00:00 GMT
`; got != want {
		t.Errorf("second visit:\n%swant\n%s", got, want)
	}
	if sum.Visit != 2 || sum.Unchanged != 9 || sum.Changed != 2 || sum.Gone != 2 || sum.New != 2 || sum.Recorded() != 16 || sum.Runs != 1 || !sum.Finished || sum.SeedsFetched != 1 || sum.BytesSaved <= 0 {
		t.Errorf("summary %+v", sum)
	}

	second["/stamped"] = response{body: prose("at 12:22:32"), etag: `"3"`}
	_, got = s.visit(t, job, second)
	if !strings.Contains(got, `/stamped: 200 unchanged by text, requested with "2"`) {
		t.Errorf("third visit:\n%s", got)
	}
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "/fails") != !strings.Contains(line, " unchanged ") {
			t.Errorf("third visit, the site has not changed: %s", line)
		}
	}
	second["/fails"] = first["/fails"]
	if _, got = s.visit(t, job, second); !strings.Contains(got, `/fails: 304 unchanged by not-modified, requested with "fails"`) {
		t.Errorf("a page that failed and is back unchanged:\n%s", got)
	}

	// The records alone say when each page last changed, and which body it has.
	all := recordsOf(t, job)
	began := make(map[int]time.Time)
	hash := make(map[string]string)
	for n := 1; n <= 4; n++ {
		for _, r := range all[n] {
			path := strings.TrimPrefix(r.URL, s.URL)
			if began[n].IsZero() || r.Started.Before(began[n]) {
				began[n] = r.Started
			}
			changed := map[bool]int{true: 2, false: 1}[path == "/edited" || path == "/new" || path == "/back" || path == "/moved" || path == "/dropped" || path == "/410"]
			if n > 1 && r.Change != "" && (r.ChangedAt.Before(began[changed]) || changed == 1 && !r.ChangedAt.Before(began[2])) {
				t.Errorf("visit %d: %s changed at %v, expected a time in visit %d", n, path, r.ChangedAt, changed)
			}
			if n > 2 && r.SHA256 != hash[path] && path != "/fails" && path != "/stamped" {
				t.Errorf("visit %d: %s has hash %q, but had %q", n, path, r.SHA256, hash[path])
			}
			hash[path] = r.SHA256
			if n > 1 && path == "/validated" && (r.ContentType != "text/html" || r.SHA256 == "") {
				t.Errorf("visit %d: record %+v", n, r)
			}
		}
	}

	j, err := weft.OpenJob(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	status, err := j.Status(t.Context())
	if err != nil || status.Visit != 4 || status.Unchanged != 16 || status.State != weft.JobFinished || status.Done != 16 {
		t.Errorf("status %+v, %v", status, err)
	}
	n := 0
	for u, err := range j.URLs(t.Context(), weft.URLFilter{State: weft.URLState(weft.ChangeUnchanged)}) {
		if n++; err != nil || u.Known.Visit != 4 || u.Known.FirstAt.After(u.Known.ChangedAt) {
			t.Errorf("%+v, %v", u, err)
		}
	}
	if n != 16 {
		t.Errorf("%d URLs are unchanged, expected 16", n)
	}
	why, err := j.Why(t.Context(), s.URL+"/edited")
	if step := why.Steps[max(0, len(why.Steps)-3)]; err != nil || step.What != "visit" || !strings.HasPrefix(step.Text, `4: unchanged, status 200, as since `) || !strings.HasSuffix(step.Text, `, ETag "2"`) {
		t.Errorf("why: %+v, %v", why.Steps, err)
	}
	if step := why.Steps[0]; step.What != "found" || !step.At.IsZero() {
		t.Errorf("first step %+v, expected found without a time", step)
	}
}

// TestPageReturns checks that a page that was gone counts as changed when it is back, and that the
// target of a dead link counts as new when it appears.
func TestPageReturns(t *testing.T) {
	s := newChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]response{"/": {body: prose("home", "/goes", "/dead")}, "/goes": {body: prose("goes")}}
	s.visit(t, job, pages)
	for _, want := range []string{"/goes: 404 gone\n", "/goes: 404 unchanged by answer\n"} {
		if _, got := s.visit(t, job, map[string]response{"/": pages["/"]}); !strings.Contains(got, want) || !strings.Contains(got, "/dead: 404 unchanged by answer\n") {
			t.Errorf("page gone:\n%swant %s", got, want)
		}
	}
	pages["/dead"] = response{body: prose("lives")}
	if _, got := s.visit(t, job, pages); !strings.Contains(got, "/goes: 200 changed\n") || !strings.Contains(got, "/dead: 200 new\n") {
		t.Errorf("page back:\n%s", got)
	}
}

// TestSeedMoves checks that a seed that starts to redirect to a known page counts as fetched.
func TestSeedMoves(t *testing.T) {
	s := newChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]response{"/": {body: prose("home", "/a")}, "/a": {body: prose("moved")}}
	for visit := 1; visit <= 3; visit++ {
		if sum, got := s.visit(t, job, pages); sum.SeedsFetched != 1 {
			t.Errorf("visit %d: %d seeds fetched, expected one:\n%s", visit, sum.SeedsFetched, got)
		}
		pages["/"] = response{location: "/a"}
	}
}

// TestSeedIsDown checks that a seed that always redirects counts as fetched only if its target
// does.
func TestSeedIsDown(t *testing.T) {
	s := newChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]response{"/": {location: "/a"}, "/a": {body: prose("home")}}
	for visit, want := range []int{1, 1, 0, 0} {
		if visit == 2 {
			pages["/a"] = response{status: 500}
		}
		if sum, got := s.visit(t, job, pages); sum.SeedsFetched != want {
			t.Errorf("visit %d: %d seeds fetched, expected %d:\n%s", visit+1, sum.SeedsFetched, want, got)
		}
	}
}

// TestUnchangedHeader checks that links of a page with an unchanged body are followed if its header
// has a new Link or no longer says nofollow.
func TestUnchangedHeader(t *testing.T) {
	next := func(path string) map[string]string { return map[string]string{"Link": "<" + path + ">; rel=next"} }
	tag := func(robots string) map[string]string { return map[string]string{"X-Robots-Tag": robots} }
	page := prose("home", "/a")
	for name, c := range map[string]struct {
		visits []response // home page by visit
		found  []string   // new paths by visit
	}{
		"a new Link":                {[]response{{body: page}, {body: page, header: next("/b")}}, []string{"/a", "/b"}},
		"another Link":              {[]response{{body: page, header: next("/b")}, {body: page, header: next("/c")}}, []string{"/a /b", "/c"}},
		"nofollow removed":          {[]response{{body: page, header: tag("nofollow")}, {body: page}}, []string{"", "/a"}},
		"nofollow added":            {[]response{{body: page}, {body: page, header: tag("nofollow")}}, []string{"/a", ""}},
		"Link in a 304":             {[]response{{body: page, etag: `"1"`}, {body: page, etag: `"1"`, header: next("/b")}, {body: page, etag: `"1"`, header: next("/b")}}, []string{"/a", "", "/b"}},
		"nofollow removed in a 304": {[]response{{body: page, etag: `"1"`, header: tag("nofollow")}, {body: page, etag: `"1"`, header: tag("all")}, {body: page, etag: `"1"`, header: tag("all")}}, []string{"", "", "/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newChanging(t)
			job := filepath.Join(t.TempDir(), "job")
			seen := map[string]bool{"/": true}
			for i, home := range c.visits {
				s.show(map[string]response{"/": home, "/a": {body: prose("a")}, "/b": {body: prose("b")}, "/c": {body: prose("c")}})
				o := weft.Options{Job: job, Retries: -1, Update: i > 0}
				if i == 0 {
					o.Seeds = []string{s.URL + "/"}
				}
				crawler, err := weft.New(o)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := crawler.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				var found []string
				for _, r := range recordsOf(t, job)[i+1] {
					path := strings.TrimPrefix(r.URL, s.URL)
					if !seen[path] {
						found = append(found, path)
					} else if r.Change != weft.ChangeUnchanged && i > 0 {
						t.Errorf("visit %d: %s is %q, expected unchanged", i+1, path, r.Change)
					}
					seen[path] = true
				}
				if slices.Sort(found); strings.Join(found, " ") != c.found[i] {
					t.Errorf("visit %d found %q, expected %q", i+1, found, c.found[i])
				}
			}
		})
	}
}

// TestNotModifiedOmitsFields checks that header fields omitted from a 304 keep their values, so
// that the next request is conditional again.
func TestNotModifiedOmitsFields(t *testing.T) {
	var full atomic.Int32 // responses with a body
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		full.Add(1)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Link", "</>; rel=next")
		w.Header().Set("X-Robots-Tag", "noarchive")
		fmt.Fprint(w, prose("home"))
	}))
	defer s.Close()
	job := filepath.Join(t.TempDir(), "job")
	for i := range 3 {
		c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job, NoRobots: true, Update: i > 0})
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := c.Run(t.Context()); err != nil || sum.Unchanged != min(i, 1) || full.Load() != 1 {
			t.Errorf("visit %d: %+v, %d full responses, error %v", i+1, sum, full.Load(), err)
		}
	}
}

// TestWhyAfterRecrawl checks that Why still explains an unfollowed link when the recrawl did not
// parse its page again.
func TestWhyAfterRecrawl(t *testing.T) {
	s := newChanging(t)
	s.show(map[string]response{"/": {body: "<a href=/no rel=nofollow>"}})
	dir := filepath.Join(t.TempDir(), "job")
	for n := range 3 {
		c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Job: dir, Update: n > 0})
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := c.Run(t.Context()); err != nil || sum.Unchanged != min(n, 1) {
			t.Fatalf("visit %d: %+v, %v", n+1, sum, err)
		}
	}
	j, err := weft.OpenJob(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	why, err := j.Why(t.Context(), s.URL+"/no")
	if err != nil || !strings.Contains(why.Steps[0].Text, "links with rel=nofollow (1)") {
		t.Errorf("steps %+v, error %v", why.Steps, err)
	}
}

// TestUpdateRefused checks that Update is an error if there is nothing to recrawl or the seeds
// differ.
func TestUpdateRefused(t *testing.T) {
	for name, o := range map[string]weft.Options{
		"no job":       {Update: true, Seeds: []string{"http://127.0.0.1:1/"}},
		"no folder":    {Update: true, Job: filepath.Join(t.TempDir(), "none")},
		"fresh start":  {Update: true, Job: t.TempDir(), Fresh: true, Seeds: []string{"http://127.0.0.1:1/"}},
		"empty folder": {Update: true, Job: t.TempDir()},
		"other seeds":  {Update: true, Job: finished(t), NoRobots: true, Seeds: []string{"http://127.0.0.1:1/x"}},
	} {
		_, err := weft.New(o)
		var option *weft.OptionError
		if !errors.As(err, &option) || option.Option != map[bool]string{true: "Seeds", false: "Update"}[name == "other seeds"] {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// finished returns the folder of a finished job.
func finished(t *testing.T) string {
	job := filepath.Join(t.TempDir(), "job")
	newChanging(t).visit(t, job, map[string]response{"/": {body: "x"}})
	return job
}

// TestRecrawlRefused checks that a URL refused because robots.txt was unreachable is requested by
// the recrawl, without back-off, and that the limits of a host start over.
func TestRecrawlRefused(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/robots.txt":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, a("/a", "/b", "/c"))
		case down.Load():
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	job := filepath.Join(t.TempDir(), "job")
	for visit, want := range []weft.Summary{
		{Counters: weft.Counters{Refused: 1}, Errors: map[string]weft.Count{"http-500": {URLs: 1}}},
		{Counters: weft.Counters{Done: 2, New: 2, OverLimit: 2}},
		{Counters: weft.Counters{Done: 2, Unchanged: 2, OverLimit: 2}},
	} {
		c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Retries: -1, LimitPerHost: 2, Update: visit > 0})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Run(t.Context())
		if err != nil || got.Visit != visit+1 || !got.Finished || got.Recorded() != want.Recorded() || got.New != want.New || got.Unchanged != want.Unchanged || got.OverLimit != want.OverLimit || len(got.Errors) != len(want.Errors) {
			t.Errorf("visit %d: %+v, %v", visit+1, got, err)
		}
		down.Store(false)
	}
}

// TestRecrawlLimit checks that known URLs take precedence within LimitPerHost over new URLs, even
// if these are less deep, and even if the recrawl is interrupted.
func TestRecrawlLimit(t *testing.T) {
	s := newChanging(t)
	s.show(map[string]response{"/": {body: a("/1")}, "/1": {body: a("/2")}, "/2": {body: a("/3")}, "/3": {body: "deep"}})
	job := filepath.Join(t.TempDir(), "job")
	for i, want := range []string{"/ /1 /2 /3", "/ /1 /2 /3 new", "/ /1 new /2 /3"} {
		sum := weft.Summary{}
		for run := 1; !sum.Finished; run++ {
			o := weft.Options{Seeds: []string{s.URL + "/"}, Job: job, NoRobots: true, LimitPerHost: 5, PerHost: 1, Update: i > 0}
			if run == 1 && i > 0 {
				o.Limit = 1
			}
			c, err := weft.New(o)
			if err != nil {
				t.Fatal(err)
			}
			if sum, err = c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var paths []string
		for _, r := range recordsOf(t, job)[i+1] {
			if path := strings.TrimPrefix(r.URL, s.URL); strings.HasPrefix(path, "/new") {
				paths = append(paths, "new")
			} else {
				paths = append(paths, path)
			}
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("visit %d: fetched %s, expected %s", i+1, got, want)
		}
		s.put("/", response{body: a("/new1", "/new2", "/new3", "/new4", "/1")})
	}
}

// TestRecrawlPages checks that OnPage gets unchanged pages too, and that links and bodies are kept
// only of changed pages.
func TestRecrawlPages(t *testing.T) {
	s := newChanging(t)
	s.show(map[string]response{"/": {body: prose("home", "/validated", "/edited"), etag: `"1"`}, "/validated": {body: prose("validated"), etag: `"1"`}, "/edited": {body: prose("one")}})
	job := filepath.Join(t.TempDir(), "job")
	for visit := 1; visit <= 2; visit++ {
		var mu sync.Mutex
		shown := make(map[string]string)
		c, err := weft.New(weft.Options{
			Seeds: []string{s.URL + "/"}, Job: job, NoRobots: true, KeepLinks: true, KeepBodies: true, Update: visit == 2,
			Hooks: weft.Hooks{
				OnRequest: func(r *weft.Request) error {
					r.Header = append(r.Header, httpclient.Field{Name: "X-Visit", Value: "1"})
					return nil
				},
				OnPage: func(_ context.Context, p *weft.Page) error {
					mu.Lock()
					defer mu.Unlock()
					shown[strings.TrimPrefix(p.URL, s.URL)] = fmt.Sprintf("%d %s, %t, %d", p.Status, p.Change, len(p.Body) > 0, p.Visit)
					return nil
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		links, err := os.ReadFile(filepath.Join(job, "links.jsonl"))
		bodies, _ := filepath.Glob(filepath.Join(job, "bodies", "*", "*"))
		if want := []int{2, 3}[visit-1]; err != nil || bytes.Count(links, []byte("\n")) != want || len(bodies) != visit+2 {
			t.Errorf("visit %d: %d bodies, links %s, expected %d links; %v", visit, len(bodies), links, want, err)
		}
		if n := bytes.Count(links, []byte(`,"visit":2}`+"\n")); n != visit-1 {
			t.Errorf("visit %d: %d links say that they are of visit 2: %s", visit, n, links)
		}
		want := map[string]string{"/": "200 , true, 0", "/validated": "200 , true, 0", "/edited": "200 , true, 0"}
		if visit == 2 {
			want = map[string]string{"/": "304 unchanged, false, 2", "/validated": "304 unchanged, false, 2", "/edited": "200 changed, true, 2"}
		}
		if !maps.Equal(shown, want) {
			t.Errorf("visit %d: OnPage got %v, expected %v", visit, shown, want)
		}
		s.put("/edited", response{body: prose("two", "/validated")})
	}
}

// TestRecrawlTitles: the record of an unchanged page keeps its title and its type, however often it
// is visited, and whether a 304 or the same body says that it is unchanged.
func TestRecrawlTitles(t *testing.T) {
	s := newChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]response{
		"/": {body: `<title> The
			title </title><a href=/same>x</a>`, etag: `"1"`},
		"/same": {body: "<title>Same</title>"},
	}
	for range 3 {
		s.visit(t, job, pages)
	}
	for visit, records := range recordsOf(t, job) {
		for _, r := range records {
			want := map[string]string{s.URL + "/": "The title", s.URL + "/same": "Same"}[r.URL]
			if r.Title != want || r.ContentType != "text/html" || visit > 1 && r.Change != weft.ChangeUnchanged {
				t.Errorf("visit %d: %s is %q, %q, %s; expected %q", visit, r.URL, r.Title, r.ContentType, r.Change, want)
			}
		}
	}
}
