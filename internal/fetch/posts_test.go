package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// forms is a site that takes POSTs, and notes them.
type forms struct {
	*httptest.Server
	mu struct {
		sync.Mutex
		got []string
	}
}

func newForms(t *testing.T) *forms {
	f := new(forms)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /private")
			return
		}
		f.mu.Lock()
		f.mu.got = append(f.mu.got, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+string(body)))
		again := strings.Count(strings.Join(f.mu.got, "\n"), r.URL.Path) > 1
		f.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/see-other":
			http.Redirect(w, r, "/done", http.StatusSeeOther)
		case "/kept":
			http.Redirect(w, r, "/search#part", http.StatusPermanentRedirect)
		case "/cut":
			panic(http.ErrAbortHandler)
		case "/busy", "/gateway":
			if !again {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(map[string]int{"/busy": 503, "/gateway": 502}[r.URL.Path])
			}
		case "/base":
			fmt.Fprint(w, `<base href="/sub/"><a href="rel">text</a>`)
		case "/search":
			fmt.Fprintf(w, `<title>%s</title><a href="">here</a> <a href="?page=2">next</a>`, body)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// requests returns what came since the last call, sorted.
func (f *forms) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	got := f.mu.got
	f.mu.got = nil
	slices.Sort(got)
	return got
}

func (f *forms) expect(t *testing.T, what string, want ...string) {
	t.Helper()
	if got := f.requests(); !slices.Equal(got, want) {
		t.Errorf("%s: requested\n%s\nexpected\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPosts: two bodies to one URL are two requests, 307 and 308 keep them, other redirects lead to
// a GET, robots.txt holds, and a POST that may have arrived is not sent again.
func TestPosts(t *testing.T) {
	s := newForms(t)
	form := func(path, q string) weft.Post { return weft.PostForm(s.URL+path, url.Values{"q": {q}}) }
	o := weft.Options{
		Job: filepath.Join(t.TempDir(), "job"), Keep: weft.Keep{Archive: true},
		Posts: []weft.Post{form("/search", "a b"), form("/search", "c"), form("/search", "c"), form("/see-other", "d"), form("/kept", "e"),
			form("/private", "f"), form("/cut", "g"), form("/busy", "h"), form("/gateway", "i")},
	}
	run := func(o weft.Options) weft.Summary {
		t.Helper()
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	first := run(o)
	s.expect(t, "first", "GET /done", "GET /search", "GET /search?page=2", "POST /busy q=h", "POST /busy q=h", "POST /cut q=g", "POST /gateway q=i",
		"POST /kept q=e", "POST /search q=a+b", "POST /search q=c", "POST /search q=e", "POST /see-other q=d")
	records := make(map[string]string)
	for _, r := range crawltest.Visits(t, o.Job)[1] {
		path, fragment, _ := strings.Cut(strings.TrimPrefix(r.URL, s.URL), "#")
		if (r.Method == "POST") != strings.HasPrefix(fragment, "POST-") {
			t.Errorf("%s: method %q", r.URL, r.Method)
		}
		records[r.URL] = fmt.Sprint(path, " ", r.Title, r.ErrorKind)
	}
	if len(records) != first.Recorded() || len(records) != 12 {
		t.Errorf("%d records, expected one for each of 12 requests: %q", len(records), records)
	}
	kept, err := archive.Open(o.Job)
	if err != nil {
		t.Fatal(err)
	}
	if gets, err := kept.Captures(s.URL + "/search"); err != nil || len(gets) != 1 || gets[0].Method != "" {
		t.Errorf("captures of /search: %v, %v, expected that of the GET", gets, err)
	}
	if posts, err := kept.Captures(s.URL + "/search?__wb_method=POST&q=a+b"); err != nil || len(posts) != 1 || posts[0].RequestBody != "q=a+b" || posts[0].URL != s.URL+"/search" {
		t.Errorf("captures of the POST by its key: %v, %v", posts, err)
	}
	_ = kept.Close()
	if run(o); len(s.requests()) > 0 {
		t.Error("a finished job sent something again")
	}
	other := o
	other.Posts = slices.Concat(o.Posts, []weft.Post{form("/search", "new")})
	if _, err := weft.New(other); !errors.Is(err, weft.ErrPlan) {
		t.Errorf("another body: %v, expected another crawl", err)
	}
	other.Rerun.Amend, other.Posts = true, other.Posts[len(o.Posts):]
	run(other)
	s.expect(t, "amended", "POST /search q=new")

	job, err := weft.OpenJob(t.Context(), o.Job)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	for u := range records {
		why, err := job.Why(context.Background(), u)
		if err != nil || why.URL != u {
			t.Errorf("why %s: %s, %v", u, why.URL, err)
		}
	}
}

// TestPostsResume: a crawl that ends before its POSTs are sent sends each of them in a later run,
// once, and a recrawl again.
func TestPostsResume(t *testing.T) {
	s := newForms(t)
	o := weft.Options{Job: filepath.Join(t.TempDir(), "job"), Loops: 1, Pace: weft.Pace{Concurrency: 1}}
	var want []string
	for i := range 6 {
		o.Posts = append(o.Posts, weft.PostMultipart(s.URL+"/one", weft.Part{Name: "n", Content: fmt.Append(nil, i)}))
		want = append(want, strings.TrimSpace("POST /one "+string(o.Posts[i].Body)))
	}
	slices.Sort(want)
	var got []string
	for i, seeds := range [][]weft.Post{o.Posts, nil, o.Posts} {
		o.Posts, o.Limits.Limit = seeds, []int{2, 4, 0}[i]
		crawltest.CrawlOnce(t, o)
		got = append(got, s.requests()...)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("three runs sent %q, expected each of %q once", got, want)
	}
	if crawltest.CrawlOnce(t, weft.Options{Job: o.Job, Rerun: weft.Rerun{Update: true}}); len(s.requests()) != len(want) {
		t.Error("a recrawl did not send each again")
	}
}

// TestPagePost: what a hook sends is a URL like those it adds, with its body, in later runs and
// visits, too.
func TestPagePost(t *testing.T) {
	s := newForms(t)
	form := func(to, q string) weft.Post { return weft.PostForm(to, url.Values{"q": {q}}) }
	o := weft.Options{Seeds: []string{s.URL + "/start/"}, Job: filepath.Join(t.TempDir(), "job"), Keep: weft.Keep{Archive: true}, Limits: weft.Limits{Limit: 1}, Pace: weft.Pace{Concurrency: 1}}
	var pages []string
	o.Hooks.OnPage = func(_ context.Context, page *weft.Page) error {
		pages = append(pages, page.Method+" "+strings.TrimPrefix(page.URL, s.URL)+" "+page.Title+page.Data)
		if page.Data != "" {
			t.Errorf("%s: data %q, expected none", page.URL, page.Data)
		}
		if page.Depth > 0 {
			return nil
		}
		return errors.Join(page.Post(form("../search", "a b")), page.Post(form("../search", "a b")), page.Post(form("/kept", "e")), page.Post(form("/see-other", "d")),
			page.Post(form("/private", "f")), page.Post(form("https://example.org/", "g")), page.Post(weft.Post{URL: "/api", Type: "application/json", Body: []byte("\x00{}")}))
	}
	for visit, run := range []struct {
		limit  int
		update bool
		want   []string
	}{
		{1, false, []string{"GET /start/"}},
		{0, false, []string{"GET /done", "GET /search", "GET /search?page=2", "POST /api \x00{}", "POST /kept q=e", "POST /search q=a+b", "POST /search q=e", "POST /see-other q=d"}},
		{0, true, []string{"GET /done", "GET /search", "GET /search?page=2", "GET /start/", "POST /api \x00{}", "POST /kept q=e", "POST /search q=a+b", "POST /search q=e", "POST /see-other q=d"}},
	} {
		o.Limits.Limit, o.Rerun.Update = run.limit, run.update
		c, err := weft.New(o)
		if err == nil {
			_, err = c.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		s.expect(t, fmt.Sprint("run ", visit+1), run.want...)
	}
	slices.Sort(pages)
	for i, page := range pages {
		pages[i], _, _ = strings.Cut(page, "-")
	}
	if want := []string{" /done ", " /search ", " /search?page=2 ", " /start/ ", "POST /api#POST", "POST /search#POST"}; !slices.Equal(slices.Compact(pages), want) {
		t.Errorf("pages %q", pages)
	}
	a, err := archive.Open(o.Job)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if found, err := a.Posted(s.URL+"/search", "application/x-www-form-urlencoded", strings.NewReader("q=a b")); err != nil || len(found) != 2 {
		t.Errorf("captures %v, %v", found, err)
	}
}

// TestPagePostErrors: what cannot be sent is an error of the hook.
func TestPagePostErrors(t *testing.T) {
	s := newForms(t)
	for want, post := range map[string]weft.Post{
		`scheme "mailto", expected http or https`: {URL: "mailto:a@example.org"},
		`of 4131 bytes, expected at most 4095`:    weft.PostForm("/x", url.Values{"q": {strings.Repeat("x", 4096)}}),
		`type "a", expected a media type such as`: {URL: "/x", Type: "a"},
	} {
		c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Hooks: weft.Hooks{OnPage: func(_ context.Context, page *weft.Page) error { return page.Post(post) }}})
		if err == nil {
			_, err = c.Run(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// TestPageAddBase: what a page adds is resolved as its links are: against its <base>, if it has
// one.
func TestPageAddBase(t *testing.T) {
	s := newForms(t)
	o := weft.Options{Seeds: []string{s.URL + "/base"}, Reach: weft.Reach{Depth: 1}}
	o.Hooks.OnHTML("a", func(p *weft.Page, link *goquery.Selection) error {
		return errors.Join(p.AddWith(link.AttrOr("href", ""), link.Text()), p.Post(weft.Post{URL: "form", Body: []byte("q=1")}))
	})
	data := make(map[string]string)
	for page, err := range weft.Crawl(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		data[strings.TrimPrefix(page.URL, s.URL)] = page.Data
	}
	s.expect(t, "with a base", "GET /base", "GET /sub/rel", "POST /sub/form q=1")
	if data["/sub/rel"] != "text" {
		t.Errorf("data %q", data)
	}
}
