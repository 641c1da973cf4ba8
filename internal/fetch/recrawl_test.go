package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/frontier/store"
	jobs "github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
)

const monday = "Mon, 05 Jan 2026 10:00:00 GMT"

// TestUnchangedSitemap checks that a sitemap with the same entries counts as unchanged, even if it
// is compressed differently, and that a broken sitemap always counts as changed.
func TestUnchangedSitemap(t *testing.T) {
	compressed := func(text string, level int) crawltest.Response {
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
		return crawltest.Response{Body: b.String(), Header: map[string]string{"Content-Type": "application/gzip"}}
	}
	s := crawltest.NewChanging(t)
	s.Sitemaps = true
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {}, "/1": {Body: crawltest.Prose("one")}}
	const one, two = "<urlset><url><loc>/1</loc><lastmod>2024</lastmod></url></urlset>", "<urlset><url><loc>/1</loc><lastmod>2025</lastmod></url></urlset>"
	for _, c := range []struct {
		name string
		body crawltest.Response
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
		if _, got := s.Visit(t, job, pages); !strings.Contains(got, "/sitemap.xml: "+c.want+"\n") || !strings.Contains(got, "/1: 200") {
			t.Errorf("%s:\n%swant %s", c.name, got, c.want)
		}
	}
}

// TestCutSitemapChanges checks that a sitemap index that is not read completely counts as changed.
func TestCutSitemapChanges(t *testing.T) {
	s := crawltest.NewChanging(t)
	s.Sitemaps = true
	job := filepath.Join(t.TempDir(), "job")
	index := func(maps ...string) crawltest.Response {
		return crawltest.Response{Body: "<sitemapindex><sitemap><loc>" + strings.Join(maps, "</loc></sitemap><sitemap><loc>") + "</loc></sitemap></sitemapindex>"}
	}
	pages := map[string]crawltest.Response{"/": {}, "/sitemap.xml": index("/1"), "/1": index("/2"), "/2": index("/3"), "/3": index("/4"), "/4": index("/5"), "/5": index("/6")}
	s.Visit(t, job, pages)
	pages["/4"], pages["/5"] = index(" /5"), index("/6", "/7")
	_, got := s.Visit(t, job, pages)
	if !strings.Contains(got, "/4: 200 unchanged by text\n") || !strings.Contains(got, "/5: 200 changed\n") {
		t.Errorf("beyond the limit of nested indexes:\n%s", got)
	}
}

// TestRecrawl checks how a recrawl reports each kind of change, and pages that have not changed.
func TestRecrawl(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	home := crawltest.Response{Body: crawltest.Prose("home", "/validated", "/dated", "/same", "/clock", "/stamped", "/edited", "/dropped", "/410", "/missing", "/back", "/moved", "/moves", "/fails"), ETag: `"home"`}
	first := map[string]crawltest.Response{
		"/": home, "/validated": {Body: crawltest.Prose("validated"), ETag: `W/"validated"`, Modified: monday}, "/dated": {Body: crawltest.Prose("dated"), Modified: monday}, "/same": {Body: crawltest.Prose("same")},
		"/clock":   {Body: crawltest.Prose("at 10:20:30", "/lost")},
		"/stamped": {Body: crawltest.Prose("at 10:20:30"), ETag: `"1"`},
		"/edited":  {Body: crawltest.Prose("one", "/lost"), ETag: `"1"`}, "/lost": {Body: crawltest.Prose("lost"), ETag: `"lost"`},
		"/dropped": {Body: crawltest.Prose("dropped"), ETag: `"d"`}, "/410": {Body: crawltest.Prose("410")},
		"/moved": {Location: "/validated"}, "/moves": {Location: "/validated"}, "/fails": {Body: crawltest.Prose("fails"), ETag: `"fails"`},
	}
	sum, got := s.Visit(t, job, first)
	if sum.Visit != 1 || sum.Unchanged+sum.Changed+sum.Gone+sum.New != 0 || strings.Contains(got, "requested with") || strings.Contains(got, "changed") {
		t.Fatalf("first visit: %+v\n%s", sum, got)
	}

	second := map[string]crawltest.Response{
		"/": home, "/validated": first["/validated"], "/dated": first["/dated"], "/same": first["/same"],
		"/clock":   {Body: crawltest.Prose("at 11:21:31", "/lost")},
		"/stamped": {Body: crawltest.Prose("at 11:21:31"), ETag: `"2"`},
		"/edited":  {Body: crawltest.Prose("two", "/new"), ETag: `"2"`}, "/lost": first["/lost"], "/new": {Body: crawltest.Prose("new")},
		"/410":  {Status: http.StatusGone},
		"/back": {Body: crawltest.Prose("back")}, "/moved": {Location: "/dated"}, "/moves": {Location: "/validated"}, "/fails": {Status: 500},
	}
	sum, got = s.Visit(t, job, second)
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

	second["/stamped"] = crawltest.Response{Body: crawltest.Prose("at 12:22:32"), ETag: `"3"`}
	_, got = s.Visit(t, job, second)
	if !strings.Contains(got, `/stamped: 200 unchanged by text, requested with "2"`) {
		t.Errorf("third visit:\n%s", got)
	}
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "/fails") != !strings.Contains(line, " unchanged ") {
			t.Errorf("third visit, the site has not changed: %s", line)
		}
	}
	second["/fails"] = first["/fails"]
	if _, got = s.Visit(t, job, second); !strings.Contains(got, `/fails: 304 unchanged by not-modified, requested with "fails"`) {
		t.Errorf("a page that failed and is back unchanged:\n%s", got)
	}

	// The records alone say when each page last changed, and which body it has.
	all := crawltest.Visits(t, job)
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
	if err != nil || status.Visit != 4 || status.Unchanged != 15 || status.State != weft.JobFinished || status.Done != 15 || status.Skipped != 1 {
		t.Errorf("status %+v, %v", status, err)
	}
	n := 0
	for u, err := range j.URLs(t.Context(), weft.URLFilter{State: weft.URLState(weft.ChangeUnchanged)}) {
		if n++; err != nil || u.Known.Visit != 4 || u.Known.FirstAt.After(u.Known.ChangedAt) {
			t.Errorf("%+v, %v", u, err)
		}
	}
	if n != 15 { // /missing is gone since the first visit
		t.Errorf("%d URLs are unchanged, expected 15", n)
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
// target of a dead link counts as new when it appears; what was never there is not gone.
func TestPageReturns(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {Body: crawltest.Prose("home", "/goes", "/dead")}, "/goes": {Body: crawltest.Prose("goes")}}
	s.Visit(t, job, pages)
	for _, want := range []string{"/goes: 404 gone\n", "/goes: 404 unchanged by answer\n"} {
		if _, got := s.Visit(t, job, map[string]crawltest.Response{"/": pages["/"]}); !strings.Contains(got, want) || !strings.Contains(got, "/dead: 404 unchanged by answer\n") {
			t.Errorf("page gone:\n%swant %s", got, want)
		}
	}
	pages["/dead"] = crawltest.Response{Body: crawltest.Prose("lives")}
	pages["/goes"] = crawltest.Response{Body: crawltest.Prose("back", "/never")}
	if _, got := s.Visit(t, job, pages); !strings.Contains(got, "/goes: 200 changed\n") || !strings.Contains(got, "/never: 404\n") {
		t.Errorf("page back:\n%s", got)
	}
	// The visit before has not asked it.
	if _, got := s.Visit(t, job, pages); !strings.Contains(got, "/dead: 200 new\n") {
		t.Errorf("page there:\n%s", got)
	}
}

// TestGoneForLong: a URL that is gone is asked by the visit after, and then when it is gone for
// twice as many visits; seeds always are. What is not asked has no record and counts as skipped,
// and weft why says when it is asked next.
func TestGoneForLong(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {Body: crawltest.Prose("home", "/goes", "/dead")}, "/goes": {Body: crawltest.Prose("goes")}}
	s.Visit(t, job, pages)
	delete(pages, "/goes")
	asked := map[string][]int{}
	for visit := 2; visit <= 18; visit++ {
		if visit > 2 {
			delete(pages, "/")
		}
		sum, got := s.Visit(t, job, pages)
		for line := range strings.Lines(got) {
			path, _, _ := strings.Cut(line, ":")
			asked[path] = append(asked[path], visit)
		}
		if sum.Recorded()+sum.Skipped != 3 || sum.Recorded() != strings.Count(got, "\n") || !sum.Finished {
			t.Errorf("visit %d: %d done, %d skipped, finished %t:\n%s", visit, sum.Recorded(), sum.Skipped, sum.Finished, got)
		}
	}
	want := map[string]string{"/dead": "[2 3 5 9 17]", "/goes": "[2 3 4 6 10 18]", "/": "[2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18]"}
	for path, visits := range want {
		if got := fmt.Sprint(asked[path]); got != visits {
			t.Errorf("%s is asked by the visits %s, expected %s", path, got, visits)
		}
	}
	j, err := weft.OpenJob(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	why, err := j.Why(t.Context(), s.URL+"/dead")
	last := why.Steps[len(why.Steps)-1]
	if err != nil || why.Known.GoneSince != 1 || last.What != "next" || !strings.HasPrefix(last.Text, "gone since visit 1: asked again at visit 33, ") {
		t.Errorf("%+v, %+v: %v", why.Known, why.Steps, err)
	}
}

// TestUpdateSome: a recrawl that is narrowed asks what is chosen, by its last record and its age,
// what is gone for long included; the others stay as they are.
func TestUpdateSome(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {Body: crawltest.Prose("home", "/1", "/2", "/3", "/dead")}, "/1": {Body: crawltest.Prose("one")}, "/2": {Body: crawltest.Prose("two")}, "/3": {Body: crawltest.Prose("three")}}
	for range 3 {
		s.Visit(t, job, pages)
	}
	visit := func(o weft.Rerun) (weft.Summary, string, error) {
		t.Helper()
		o.Update = true
		c, err := weft.New(weft.Options{Job: job, Rerun: o})
		if err != nil {
			return weft.Summary{}, "", err
		}
		sum, err := c.Run(t.Context())
		var paths []string
		for _, r := range crawltest.Visits(t, job)[sum.Visit] {
			paths = append(paths, strings.TrimPrefix(r.URL, s.URL))
		}
		slices.Sort(paths)
		return sum, strings.Join(paths, " "), err
	}
	last := func(path string) func(r *weft.Record) bool {
		return func(r *weft.Record) bool { return strings.HasSuffix(r.URL, path) && r.Visit == 3 || r.Status == 404 }
	}
	pages["/2"] = crawltest.Response{Body: crawltest.Prose("another", "/4", "/1")}
	pages["/4"] = crawltest.Response{Body: crawltest.Prose("four")}
	s.Show(pages)
	for _, c := range []struct {
		name string
		o    weft.Rerun
		want string
		kept int
	}{
		{"a page, which leads on, and a dead link", weft.Rerun{UpdateOnly: last("/2")}, "/2 /4 /dead", 3},
		{"nothing: an earlier record does not count", weft.Rerun{UpdateOnly: func(r *weft.Record) bool { return strings.HasSuffix(r.URL, "/2") && r.Visit == 3 }}, "", 6},
		{"what is old", weft.Rerun{OlderThan: time.Hour}, "", 6},
		{"what is not, and the dead link, as is due", weft.Rerun{OlderThan: time.Nanosecond}, "/ /1 /2 /3 /4 /dead", 0},
		{"the same without it", weft.Rerun{OlderThan: time.Nanosecond}, "/ /1 /2 /3 /4", 1},
		{"both", weft.Rerun{OlderThan: time.Nanosecond, UpdateOnly: last("/none")}, "/dead", 5},
	} {
		sum, got, err := visit(c.o)
		if err != nil || got != c.want || sum.Skipped != c.kept || !sum.Finished || sum.Done+sum.Skipped != 6 || sum.Statuses[200].URLs+sum.Statuses[404].URLs != sum.Done {
			t.Errorf("%s: asked %q, %d done, %d skipped, expected %q, %d: %v", c.name, got, sum.Done, sum.Skipped, c.want, c.kept, err)
		}
	}

	// A run that ends while it chooses: the next one needs the same choice, and makes the same visit.
	ctx, stop := context.WithCancel(t.Context())
	half, err := jobs.Open(jobs.Options{Dir: job, Files: store.Disk, Update: true, Only: func(*weft.Record) bool { stop(); return true }})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(half.StartVisit(ctx), half.Close()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, _, err := visit(weft.Rerun{}); err == nil || !strings.Contains(err.Error(), "expected the same choice again") {
		t.Errorf("without a choice: %v", err)
	}
	if sum, got, err := visit(weft.Rerun{UpdateOnly: last("/none")}); err != nil || got != "/dead" || sum.Visit != 10 {
		t.Errorf("visit %d asked %q: %v", sum.Visit, got, err)
	}

	// A retry asks a URL that the visit has not asked.
	c, err := weft.New(weft.Options{Job: job, Rerun: weft.Rerun{RetryFailed: func(r *weft.Record) bool { return strings.HasSuffix(r.URL, "/1") }}})
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := c.Run(t.Context()); err != nil || sum.Done != 2 || sum.Skipped != 4 || sum.Statuses[200].URLs != 1 || sum.Statuses[404].URLs != 1 || !sum.Finished {
		t.Errorf("a retry: %+v, %v", sum, err)
	}

	// A choice does not narrow a visit that has begun with all URLs.
	if c, err = weft.New(weft.Options{Job: job, Rerun: weft.Rerun{Update: true}, Limits: weft.Limits{Limit: 1}}); err != nil {
		t.Fatal(err)
	}
	if sum, err := c.Run(t.Context()); err != nil || sum.Finished {
		t.Fatalf("%+v, %v", sum, err)
	}
	if _, _, err := visit(weft.Rerun{OlderThan: time.Hour}); err == nil || !strings.Contains(err.Error(), "it goes on with all of them") {
		t.Errorf("an unfinished visit: %v", err)
	}
}

// TestSeedMoves checks that a seed that starts to redirect to a known page counts as fetched.
func TestSeedMoves(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {Body: crawltest.Prose("home", "/a")}, "/a": {Body: crawltest.Prose("moved")}}
	for visit := 1; visit <= 3; visit++ {
		if sum, got := s.Visit(t, job, pages); sum.SeedsFetched != 1 {
			t.Errorf("visit %d: %d seeds fetched, expected one:\n%s", visit, sum.SeedsFetched, got)
		}
		pages["/"] = crawltest.Response{Location: "/a"}
	}
}

// TestSeedIsDown checks that a seed that always redirects counts as fetched only if its target
// does.
func TestSeedIsDown(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {Location: "/a"}, "/a": {Body: crawltest.Prose("home")}}
	for visit, want := range []int{1, 1, 0, 0} {
		if visit == 2 {
			pages["/a"] = crawltest.Response{Status: 500}
		}
		if sum, got := s.Visit(t, job, pages); sum.SeedsFetched != want {
			t.Errorf("visit %d: %d seeds fetched, expected %d:\n%s", visit+1, sum.SeedsFetched, want, got)
		}
	}
}

// TestUnchangedHeader checks that links of a page with an unchanged body are followed if its header
// has a new Link or no longer says nofollow.
func TestUnchangedHeader(t *testing.T) {
	next := func(path string) map[string]string { return map[string]string{"Link": "<" + path + ">; rel=next"} }
	tag := func(robots string) map[string]string { return map[string]string{"X-Robots-Tag": robots} }
	page := crawltest.Prose("home", "/a")
	for name, c := range map[string]struct {
		visits []crawltest.Response // home page by visit
		found  []string             // new paths by visit
	}{
		"a new Link":                {[]crawltest.Response{{Body: page}, {Body: page, Header: next("/b")}}, []string{"/a", "/b"}},
		"another Link":              {[]crawltest.Response{{Body: page, Header: next("/b")}, {Body: page, Header: next("/c")}}, []string{"/a /b", "/c"}},
		"nofollow removed":          {[]crawltest.Response{{Body: page, Header: tag("nofollow")}, {Body: page}}, []string{"", "/a"}},
		"nofollow added":            {[]crawltest.Response{{Body: page}, {Body: page, Header: tag("nofollow")}}, []string{"/a", ""}},
		"Link in a 304":             {[]crawltest.Response{{Body: page, ETag: `"1"`}, {Body: page, ETag: `"1"`, Header: next("/b")}, {Body: page, ETag: `"1"`, Header: next("/b")}}, []string{"/a", "", "/b"}},
		"nofollow removed in a 304": {[]crawltest.Response{{Body: page, ETag: `"1"`, Header: tag("nofollow")}, {Body: page, ETag: `"1"`, Header: tag("all")}, {Body: page, ETag: `"1"`, Header: tag("all")}}, []string{"", "", "/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := crawltest.NewChanging(t)
			job := filepath.Join(t.TempDir(), "job")
			seen := map[string]bool{"/": true}
			for i, home := range c.visits {
				s.Show(map[string]crawltest.Response{"/": home, "/a": {Body: crawltest.Prose("a")}, "/b": {Body: crawltest.Prose("b")}, "/c": {Body: crawltest.Prose("c")}})
				o := weft.Options{Job: job, Pace: weft.Pace{Retries: -1}, Rerun: weft.Rerun{Update: i > 0}}
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
				for _, r := range crawltest.Visits(t, job)[i+1] {
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
		fmt.Fprint(w, crawltest.Prose("home"))
	}))
	defer s.Close()
	job := filepath.Join(t.TempDir(), "job")
	for i := range 3 {
		c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Reach: weft.Reach{NoRobots: true}, Rerun: weft.Rerun{Update: i > 0}})
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := c.Run(t.Context()); err != nil || sum.Unchanged != min(i, 1) || full.Load() != 1 {
			t.Errorf("visit %d: %+v, %d full responses, error %v", i+1, sum, full.Load(), err)
		}
	}
}

// TestUpdateRefused checks that Update is an error if there is nothing to recrawl or the seeds
// differ.
func TestUpdateRefused(t *testing.T) {
	for name, o := range map[string]weft.Options{
		"no job":       {Rerun: weft.Rerun{Update: true}, Seeds: []string{"http://127.0.0.1:1/"}},
		"no folder":    {Rerun: weft.Rerun{Update: true}, Job: filepath.Join(t.TempDir(), "none")},
		"fresh start":  {Rerun: weft.Rerun{Update: true, Fresh: true}, Job: t.TempDir(), Seeds: []string{"http://127.0.0.1:1/"}},
		"empty folder": {Rerun: weft.Rerun{Update: true}, Job: t.TempDir()},
		"other seeds":  {Rerun: weft.Rerun{Update: true}, Job: finished(t), Reach: weft.Reach{NoRobots: true}, Seeds: []string{"http://127.0.0.1:1/x"}},
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
	crawltest.NewChanging(t).Visit(t, job, map[string]crawltest.Response{"/": {Body: "x"}})
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
			fmt.Fprint(w, crawltest.Links("/a", "/b", "/c"))
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
		c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Pace: weft.Pace{Retries: -1}, Limits: weft.Limits{LimitPerHost: 2}, Rerun: weft.Rerun{Update: visit > 0}})
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
	s := crawltest.NewChanging(t)
	s.Show(map[string]crawltest.Response{"/": {Body: crawltest.Links("/1")}, "/1": {Body: crawltest.Links("/2")}, "/2": {Body: crawltest.Links("/3")}, "/3": {Body: "deep"}})
	job := filepath.Join(t.TempDir(), "job")
	for i, want := range []string{"/ /1 /2 /3", "/ /1 /2 /3 new", "/ /1 new /2 /3"} {
		sum := weft.Summary{}
		for run := 1; !sum.Finished; run++ {
			o := weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Reach: weft.Reach{NoRobots: true}, Limits: weft.Limits{LimitPerHost: 5}, Pace: weft.Pace{PerHost: 1}, Rerun: weft.Rerun{Update: i > 0}}
			if run == 1 && i > 0 {
				o.Limits.Limit = 1
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
		for _, r := range crawltest.Visits(t, job)[i+1] {
			if path := strings.TrimPrefix(r.URL, s.URL); strings.HasPrefix(path, "/new") {
				paths = append(paths, "new")
			} else {
				paths = append(paths, path)
			}
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("visit %d: fetched %s, expected %s", i+1, got, want)
		}
		s.Put("/", crawltest.Response{Body: crawltest.Links("/new1", "/new2", "/new3", "/new4", "/1")})
	}
}

// TestRecrawlPages checks that OnPage gets unchanged pages too, and that links and bodies are kept
// only of changed pages.
func TestRecrawlPages(t *testing.T) {
	s := crawltest.NewChanging(t)
	s.Show(map[string]crawltest.Response{"/": {Body: crawltest.Prose("home", "/validated", "/edited"), ETag: `"1"`}, "/validated": {Body: crawltest.Prose("validated"), ETag: `"1"`}, "/edited": {Body: crawltest.Prose("one")}})
	job := filepath.Join(t.TempDir(), "job")
	for visit := 1; visit <= 2; visit++ {
		var mu sync.Mutex
		shown := make(map[string]string)
		c, err := weft.New(weft.Options{
			Seeds: []string{s.URL + "/"}, Job: job, Reach: weft.Reach{NoRobots: true}, Keep: weft.Keep{KeepLinks: true, KeepBodies: true}, Rerun: weft.Rerun{Update: visit == 2},
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
		s.Put("/edited", crawltest.Response{Body: crawltest.Prose("two", "/validated")})
	}
}

// TestPageFacts: a record says what its page says of itself, whether search engines may list it,
// and how long it is; that of an unchanged page says what held when it was read.
func TestPageFacts(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	text := strings.Repeat("word ", 20)
	pages := map[string]crawltest.Response{
		"/": {Body: `<meta name=description content=" All  of it "><link rel=canonical href="#top"><body><h1>Home<br>page</h1>
			<main>` + text + `<a href=/other>o</a> <a href=/header>h</a> <a href=/hidden>n</a> <a href=/gone>g</a> <a href=/moved>m</a> <a href=/plain>p</a></main>`},
		"/other":  {Body: `<link rel=canonical href="/"><main>` + text + "other", ETag: `"1"`},
		"/header": {Body: "<main>" + text + "header", Header: map[string]string{"Link": `</other>; rel="canonical"`}},
		"/hidden": {Body: `<meta name=robots content=none><link rel=canonical href="/"><main>` + text + "hidden"},
		"/plain":  {Body: "text", Header: map[string]string{"Content-Type": "text/plain"}},
		"/moved":  {Location: "/plain"},
	}
	want := map[string]weft.Record{
		"/":       {Description: "All of it", H1: "Home page", Canonical: s.URL + "/", Words: 28, Indexability: record.Indexable},
		"/other":  {Canonical: s.URL + "/", Words: 21, Indexability: record.ByCanonical},
		"/header": {Canonical: s.URL + "/other", Words: 21, Indexability: record.ByCanonical},
		"/hidden": {Canonical: s.URL + "/", Words: 21, Indexability: record.ByNoindex},
		"/plain":  {Words: 1},
		"/moved":  {Indexability: record.ByRedirection},
		"/gone":   {Indexability: record.ByStatus},
	}
	for range 3 {
		s.Visit(t, job, pages)
	}
	for visit, records := range crawltest.Visits(t, job) {
		if len(records) != len(want) {
			t.Errorf("visit %d: %d records, expected %d", visit, len(records), len(want))
		}
		for _, r := range records {
			w := want[strings.TrimPrefix(r.URL, s.URL)]
			got := weft.Record{Description: r.Description, H1: r.H1, Canonical: r.Canonical, Words: r.Words, Indexability: r.Indexability}
			if !reflect.DeepEqual(got, w) {
				t.Errorf("visit %d: %s\n got %q %q %q %d %s\nwant %q %q %q %d %s", visit, r.URL, got.Description, got.H1, got.Canonical, got.Words, got.Indexability, w.Description, w.H1, w.Canonical, w.Words, w.Indexability)
			}
		}
	}
}

// TestRecrawlTitles: the record of an unchanged page keeps its title and its type, however often it
// is visited, and whether a 304 or the same body says that it is unchanged.
func TestRecrawlTitles(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{
		"/": {Body: `<title> The
			title </title><a href=/same>x</a>`, ETag: `"1"`},
		"/same": {Body: "<title>Same</title>"},
	}
	for range 3 {
		s.Visit(t, job, pages)
	}
	for visit, records := range crawltest.Visits(t, job) {
		for _, r := range records {
			want := map[string]string{s.URL + "/": "The title", s.URL + "/same": "Same"}[r.URL]
			if r.Title != want || r.ContentType != "text/html" || visit > 1 && r.Change != weft.ChangeUnchanged {
				t.Errorf("visit %d: %s is %q, %q, %s; expected %q", visit, r.URL, r.Title, r.ContentType, r.Change, want)
			}
		}
	}
}

// TestGoneIsLinked: a link to a URL that is gone for long has it asked if its page is new, and not
// if its page has only changed.
func TestGoneIsLinked(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {Body: crawltest.Prose("home", "/dead", "/gone")}}
	for range 3 {
		s.Visit(t, job, pages)
	}
	pages["/"] = crawltest.Response{Body: crawltest.Prose("other", "/dead", "/gone", "/new")}
	pages["/new"] = crawltest.Response{Body: crawltest.Prose("new", "/gone")}
	sum, got := s.Visit(t, job, pages)
	if want := "/: 200 changed\n/gone: 404 unchanged by answer\n/new: 200 new\n"; got != want || sum.Done != 3 || sum.Skipped != 1 || sum.Statuses[404].URLs != 1 || !sum.Finished {
		t.Errorf("%d done, %d skipped, finished %t:\n%sexpected\n%s", sum.Done, sum.Skipped, sum.Finished, got, want)
	}
	if _, got = s.Visit(t, job, pages); !strings.Contains(got, "/dead: 404") || strings.Contains(got, "/gone") {
		t.Errorf("the next visit:\n%s", got)
	}
}
