package live

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/share"
)

// serving serves a job.
func serving(t *testing.T, dir string) (*httptest.Server, *Server) {
	t.Helper()
	s := New(dir, "")
	served := httptest.NewServer(s)
	t.Cleanup(func() {
		served.CloseClientConnections()
		served.Close()
	})
	served.URL += strings.TrimSuffix(s.Root(), "/")
	return served, s
}

// ask sends a request below the root, with header fields in pairs, and reads the response into to.
func ask(t *testing.T, s *httptest.Server, method, path, body string, to any, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && to != nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", path, err, text)
	}
	return resp
}

const isJSON = "application/json"

// held runs a crawl that waits for one page.
func held(t *testing.T) (*crawltest.Held, *crawltest.Running) {
	t.Helper()
	site := crawltest.NewHeld(t)
	r := crawltest.Start(t, weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Retries: -1}})
	r.Inspect()
	r.Await("held", func(s weft.Status) bool { return s.InFlight == 1 && s.Pending == 0 && s.Done > 5 })
	r.Await("saved", func(s weft.Status) bool {
		return len(crawltest.Collect(t, r.Job.URLs(t.Context(), weft.URLFilter{State: weft.URLDone}))) == s.Done
	})
	return site, r
}

// TestData: each path has the data of a crawl that runs, and of the job after it.
func TestData(t *testing.T) {
	aiotest.CheckLeaks(t)
	site, r := held(t)
	s, server := serving(t, r.Dir)
	var status weft.Status
	if ask(t, s, "GET", "/v1/status", "", &status); status.State != weft.JobRunning || status.InFlight != 1 {
		t.Errorf("%+v", status)
	}
	check := func() {
		t.Helper()
		var hosts Hosts
		if ask(t, s, "GET", "/v1/hosts", "", &hosts); len(hosts.Hosts) != 1 || hosts.Hosts[0].Host != site.URL || hosts.Next != "" {
			t.Errorf("%+v", hosts)
		}
		if ask(t, s, "GET", "/v1/hosts?after="+site.URL, "", &hosts); len(hosts.Hosts) != 0 {
			t.Errorf("behind the only host: %+v", hosts)
		}
		whole := crawltest.Collect(t, r.Job.URLs(t.Context(), weft.URLFilter{State: weft.URLDone}))
		var parts []weft.URLStatus
		for next := ""; ; {
			var urls URLs
			ask(t, s, "GET", "/v1/urls?state=done&limit=2&after="+next, "", &urls)
			if parts = append(parts, urls.URLs...); len(urls.URLs) > 2 || urls.Next == "" {
				break
			}
			next = urls.Next
		}
		if !slices.EqualFunc(whole, parts, func(a, b weft.URLStatus) bool { return a.URL == b.URL && a.Status == b.Status }) {
			t.Errorf("parts %+v of %+v", parts, whole)
		}
		var urls URLs
		if ask(t, s, "GET", "/v1/urls?status=302,500..599&error=", "", &urls); len(urls.URLs) != 2 {
			t.Errorf("%+v", urls)
		}
		var why weft.Why
		if ask(t, s, "GET", "/v1/why?url="+site.URL+"/private", "", &why); why.State != weft.URLRefused || why.Referrers.Total != 1 {
			t.Errorf("%+v", why)
		}
		var got records
		if ask(t, s, "GET", "/v1/records", "", &got); len(got.Latest) != len(parts)+1 || len(got.Slowest) == 0 {
			t.Errorf("%d records, expected those of %d URLs", len(got.Latest), len(parts)+1)
		}
		if f := got.Failing; len(f) != 1 || f[0].Host != site.URL || f[0].Of != len(got.Latest) || f[0].Errors == 0 || f[0].Errors >= f[0].Of || f[0].Kind == "" || !strings.HasPrefix(f[0].Example, site.URL) {
			t.Errorf("hosts of errors %+v", f)
		}
		if resp := ask(t, s, "GET", "/v1/speed", "", &struct{}{}); resp.StatusCode != 200 {
			t.Error(resp.Status)
		}
	}
	check()
	var leased URLs
	if ask(t, s, "GET", "/v1/urls?state=leased&limit=1", "", &leased); len(leased.URLs) != 1 || leased.Next != "" {
		t.Errorf("%+v", leased)
	}
	var tasks struct{ Tasks []weft.TaskStatus }
	if ask(t, s, "GET", "/v1/tasks", "", &tasks); len(tasks.Tasks) < 3 {
		t.Errorf("%+v", tasks)
	}
	var lines struct{ Lines []string }
	if ask(t, s, "POST", "/v1/orders", `{"words":["pause"]}`, &lines, "Content-Type", isJSON, "Origin", "http://"+s.Listener.Addr().String()); !slices.Equal(lines.Lines, []string{"paused; 1 in flight"}) {
		t.Errorf("%q", lines)
	}
	r.Do("resume")
	site.Release()
	<-r.Done
	r.Job = crawltest.Open(t, r.Dir)
	server.records = shared[records]{} // it would hold for a while
	check()
	var p Problem
	if ask(t, s, "POST", "/v1/orders", `{"words":["pause"]}`, &p, "Content-Type", isJSON); p.Status != http.StatusConflict {
		t.Errorf("%+v", p)
	}
	if resp := ask(t, s, "GET", "/", "", nil); resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%+v", resp)
	}
}

// TestRefused: what other sites, other users and mistakes send is refused, each with a problem.
func TestRefused(t *testing.T) {
	_, r := held(t)
	s, _ := serving(t, r.Dir)
	const pause = `{"words":["pause"]}`
	for _, c := range []struct {
		method, path, body string
		status             int
		header             []string
	}{
		{"GET", "/v1/status", "", 421, []string{"Host", "evil.example"}},
		{"GET", "/v1/status", "", 421, []string{"Host", "evil.example:80"}},
		{"GET", "/v1/status", "", 421, []string{"Host", "127.0.0.1.evil.example"}},
		{"POST", "/v1/orders", pause, 403, []string{"Content-Type", isJSON, "Origin", "http://evil.example"}},
		{"POST", "/v1/orders", pause, 403, []string{"Content-Type", isJSON, "Origin", "null"}},
		{"POST", "/v1/orders", pause, 403, []string{"Content-Type", isJSON, "Origin", "http://127.0.0.1:1"}},
		{"POST", "/v1/orders", pause, 403, []string{"Content-Type", isJSON, "Sec-Fetch-Site", "cross-site"}},
		{"POST", "/v1/orders", pause, 403, []string{"Content-Type", isJSON, "Sec-Fetch-Site", "same-site"}},
		{"POST", "/v1/orders", pause, 415, nil},
		{"POST", "/v1/orders", pause, 415, []string{"Content-Type", "text/plain; x=application/json"}},
		{"POST", "/v1/orders", pause, 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"OPTIONS", "/v1/orders", "", 405, nil},
		{"GET", "/v1/orders", "", 405, nil},
		{"POST", "/v1/status", "", 405, nil},
		{"DELETE", "/", "", 405, nil},
		{"POST", "/v1/orders", "", 400, []string{"Content-Type", isJSON}},
		{"POST", "/v1/orders", `{"words":["dance"]}`, 400, []string{"Content-Type", isJSON}},
		{"POST", "/v1/orders", `{"words":["exclude","("]}`, 400, []string{"Content-Type", isJSON}},
		{"POST", "/v1/orders", `{"word":["pause"]}`, 400, []string{"Content-Type", isJSON}},
		{"POST", "/v1/orders", `{"words":["add","` + strings.Repeat("x", mostOrder) + `"]}`, 413, []string{"Content-Type", isJSON}},
		{"GET", "/v1/urls?state=lost", "", 400, nil},
		{"GET", "/v1/urls?status=abc", "", 400, nil},
		{"GET", "/v1/urls?limit=0", "", 400, nil},
		{"GET", "/v1/urls?limit=1001", "", 400, nil},
		{"GET", "/v1/urls?after=%00", "", 400, nil},
		{"GET", "/v1/why?url=ftp://a.test/", "", 400, nil},
		{"GET", "/v1/why", "", 400, nil},
		{"GET", "/v1/nothing", "", 404, nil},
		{"GET", "/../server.go", "", 404, nil},
	} {
		var p Problem
		resp := ask(t, s, c.method, c.path, c.body, &p, c.header...)
		if resp.StatusCode != c.status || p.Status != c.status || p.Detail == "" || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %.40s %q: %s, %+v; expected %d", c.method, c.path, c.header, resp.Status, p, c.status)
		}
	}
	s.URL = s.URL[:strings.LastIndexByte(s.URL, '/')] + "/" + strings.Repeat("A", 26)
	if resp := ask(t, s, "GET", "/v1/status", "", &Problem{}); resp.StatusCode != 404 {
		t.Errorf("without the path of the server: %s", resp.Status)
	}
	if s := crawltest.Status(t, r.Job); s.State != weft.JobRunning {
		t.Errorf("the crawl is %s", s.State)
	}
}

// TestLooks: viewers see the crawl run and end, and share the looks; there are not too many of
// them; and nothing is done when they have left.
func TestLooks(t *testing.T) {
	aiotest.CheckLeaks(t)
	site, r := held(t)
	s, server := serving(t, r.Dir)
	resp, err := s.Client().Get(s.URL + "/v1/looks")
	if err != nil {
		t.Fatal(err)
	}
	events := bufio.NewScanner(resp.Body)
	next := func() (l look) {
		t.Helper()
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &l); err != nil || l.Status == nil {
					t.Fatalf("%v: %s", err, data)
				}
				return l
			}
		}
		t.Fatal("the looks have ended: ", events.Err())
		return l
	}
	if l := next(); l.Status.State != weft.JobRunning {
		t.Errorf("%+v", l.Status)
	}
	if _, err := server.looks.places.Take(t.Context(), mostViewers-1); err != nil {
		t.Error(err)
	}
	if resp := ask(t, s, "GET", "/v1/looks", "", &Problem{}); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one viewer too many: %s", resp.Status)
	}
	site.Release()
	<-r.Done
	l := next()
	for l.Status.State == weft.JobRunning || l.Status.State == weft.JobEnding {
		l = next()
	}
	if l.Status.State != weft.JobFinished || l.Status.InFlight != 0 {
		t.Errorf("%+v", l.Status)
	}
	resp.Body.Close()
	server.looks.mu.Lock()
	clear(server.looks.viewers)
	server.looks.mu.Unlock()
	if server.looks.show(t.Context()) || server.looks.running {
		t.Error("it looks for nobody")
	}
}

// TestIdle: looks at a job whose crawl does not run open its store only when it has changed, so
// that a crawl can resume.
func TestIdle(t *testing.T) {
	site := crawltest.NewHeld(t)
	site.Release()
	o := weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Retries: -1}, Limits: weft.Limits{Limit: 3}}
	crawltest.Crawl(t, o)
	l := newLooks(share.NewRoom(1, 0), o.Job, "")
	first, err := l.status(t.Context())
	if err != nil || first.State != weft.JobStopped {
		t.Fatalf("%+v, %v", first, err)
	}
	manifests, _ := filepath.Glob(filepath.Join(o.Job, "state", "MANIFEST-*"))
	whole, err := os.ReadFile(manifests[0])
	if err == nil {
		err = os.Truncate(manifests[0], 0) // which leaves the folder as it was
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.status(t.Context()); err != nil || again.Done != first.Done {
		t.Errorf("%+v, %v", again, err)
	}
	if job, err := weft.OpenJob(t.Context(), o.Job); err == nil {
		t.Error("the store opens, whatever is in it", job.Close())
	}
	if err := os.WriteFile(manifests[0], whole, 0o666); err != nil {
		t.Fatal(err)
	}
	o.Limits.Limit = 0
	crawltest.Crawl(t, o)
	if last, err := l.status(t.Context()); err != nil || last.State != weft.JobFinished || last.Done <= first.Done {
		t.Errorf("%+v, %v", last, err)
	}
}
