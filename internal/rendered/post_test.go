package rendered_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// graph is a site whose pages get their content by POST, one of them twice with the same body, and
// send beacons; one page has an API on another host of its site, which is asked for leave.
type graph struct {
	*wefttest.Site
	mu    sync.Mutex
	asked []string // method, path, type and body of each request but GET
}

const graphPage = `<!doctype html><meta charset=utf-8><title>Graph</title><div id=root></div><script>
const ask = (url, init) => fetch(url, {method: 'POST', body: JSON.stringify({query: location.pathname}), ...init})
	.then(r => r.json()).then(d => { root.innerHTML += '<h1>' + d.title + '</h1><a href=' + d.next + '>next</a>' }, e => { root.innerHTML += 'failed ' })
const json = {headers: {'Content-Type': 'application/json'}}
if (location.pathname == '/once') ask('/graphql', json)
if (location.pathname == '/cross') ask('http://api.weft.test:%[1]s/graphql', json)
if (location.pathname == '/other') ask('http://other.test:%[1]s/graphql', json)
if (location.pathname == '/header') fetch('http://other.test:%[1]s/get', {headers: {'X-Custom': 1}})
if (location.pathname == '/put') ask('/graphql', {...json, method: 'PUT'})
if (location.pathname == '/form') ask('/graphql', {body: new URLSearchParams({q: 'é'})})
if (location.pathname == '/302') ask('/leads', json)
if (location.pathname == '/307') ask('/repeats', json)
navigator.sendBeacon('/beacon', 'seen')
</script>`

func newGraph(t *testing.T) *graph {
	t.Helper()
	g := new(graph)
	g.Site = wefttest.NewSite(t, g.serve)
	return g
}

func (g *graph) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodGet {
		g.mu.Lock()
		g.asked = append(g.asked, fmt.Sprintf("%s %s%s %s %s", r.Method, strings.Split(r.Host, ":")[0], r.URL.Path, r.Header.Get("Content-Type"), body))
		g.mu.Unlock()
	}
	w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	switch {
	case r.Method == http.MethodGet && (r.URL.Path == "/robots.txt" || strings.HasPrefix(r.URL.Path, "/next")):
		http.NotFound(w, r)
	case r.Method == http.MethodGet && r.URL.Path == "/landed":
		fmt.Fprint(w, `{"title": "Landed", "next": "/next-landed"}`)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, graphPage, g.port())
	case r.URL.Path == "/leads":
		http.Redirect(w, r, "/landed", http.StatusFound)
	case r.URL.Path == "/repeats":
		http.Redirect(w, r, "/graphql", http.StatusTemporaryRedirect)
	case r.URL.Path == "/graphql":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=3600") // of a POST, which nobody keeps
		fmt.Fprintf(w, `{"title": "Answer %d", "next": "/next-%d"}`, len(body), len(body))
	}
}

func (g *graph) port() string {
	_, port, _ := strings.Cut(strings.TrimPrefix(g.URL, "http://"), ":")
	return port
}

// sent returns what was sent, in order of the alphabet.
func (g *graph) sent() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.Sort(g.asked)
	return g.asked
}

// crawls crawls pages of the graph as www.weft.test, and returns their records.
func (g *graph) crawls(t *testing.T, pages []string, options ...string) (wefttest.Ended, map[string]*weft.Record) {
	t.Helper()
	base := "http://www.weft.test:" + g.port()
	args := append(options, "--render", "--job", "job", "--allow-private")
	for _, host := range []string{"www.weft.test", "api.weft.test", "other.test"} {
		args = append(args, "--resolve", host+":"+g.port()+":127.0.0.1")
	}
	for _, page := range pages {
		args = append(args, base+page)
	}
	e := wefttest.Crawl(t, wefttest.Done, args...)
	return e, wefttest.RecordsOf(t, filepath.Join(e.Dir, "job"), base)
}

var graphPages = []string{"/once", "/cross", "/other", "/put", "/header", "/form", "/302", "/307"}

// TestRenderPost: with --render-post the scripts of a page send POSTs to the page's own site, and
// only there. What they get is archived, each for its body.
func TestRenderPost(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	e, all := g.crawls(t, graphPages, "--render-post", "--warc")
	for page, want := range map[string]struct{ h1, refused string }{
		"/once":  {"Answer 17", ""},
		"/cross": {"Answer 18", ""},
		"/form":  {"Answer 8", ""},
		"/302":   {"Landed", ""},
		"/307":   {"Answer 16", ""},
		"/other": {"", "http://other.test:" + g.port() + "/graphql method POST to another site"},
		"/put":   {"", "/graphql method PUT"},

		"/header": {"", ""}, // the server does not agree
	} {
		r := all[page]
		if r == nil || r.Rendered == nil || r.H1 != want.h1 {
			t.Errorf("%s: %+v, expected %q", page, r, want.h1)
			continue
		}
		if refused := strings.Join(r.Rendered.Refused, "\n"); !strings.HasSuffix(refused, want.refused) || (refused == "") != (want.refused == "") {
			t.Errorf("%s: refused %q, expected %q", page, refused, want.refused)
		}
	}
	if all["/next-17"] == nil {
		t.Error("the links of an answer")
	}
	want := []string{
		"OPTIONS other.test/get  ",
		`POST api.weft.test/graphql application/json {"query":"/cross"}`,
		"POST www.weft.test/graphql application/json {\"query\":\"/307\"}",
		"POST www.weft.test/graphql application/json {\"query\":\"/once\"}",
		"POST www.weft.test/graphql application/x-www-form-urlencoded;charset=UTF-8 q=%C3%A9",
		"POST www.weft.test/leads application/json {\"query\":\"/302\"}",
		"POST www.weft.test/repeats application/json {\"query\":\"/307\"}",
	}
	for range graphPages {
		want = append(want, "POST www.weft.test/beacon text/plain;charset=UTF-8 seen")
	}
	slices.Sort(want)
	if got := g.sent(); !slices.Equal(got, want) {
		t.Errorf("requests:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	g.replays(t, filepath.Join(e.Dir, "job"))
	files, _ := filepath.Glob(filepath.Join(e.Dir, "job/archive/*.warc.gz"))
	if e := wefttest.In(t, e.Dir, append([]string{"warc", "check"}, files...)...); e.Code != wefttest.Done {
		t.Errorf("the archive: %s%s", e.Stdout, e.Stderr)
	}
}

// replays expects a replay to answer each POST of a page for its body, and no other.
func (g *graph) replays(t *testing.T, job string) {
	t.Helper()
	root := replayOf(t, job)
	for body, want := range map[string]string{`{"query":"/once"}`: "Answer 17", `{"query":"/307"}`: "Answer 16", `{"query":"/none"}`: ""} {
		res, err := http.Post(root+"2mp_/http://www.weft.test:"+g.port()+"/graphql", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if want == "" && res.StatusCode != http.StatusNotFound || want != "" && !strings.Contains(string(text), want) {
			t.Errorf("replayed %s: %d %.200s, expected %q", body, res.StatusCode, text, want)
		}
	}
}

// TestRenderNoPost: without --render-post no page sends a POST, and the record says why.
func TestRenderNoPost(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	_, all := g.crawls(t, []string{"/once", "/cross"})
	for _, page := range []string{"/once", "/cross"} {
		r := all[page]
		if r == nil || r.Rendered == nil || r.H1 != "" || !strings.Contains(strings.Join(r.Rendered.Refused, "\n"), "/graphql method POST, which --render-post allows to the page's site") {
			t.Errorf("%s: %+v", page, r)
		}
	}
	if sent := g.sent(); len(sent) > 0 {
		t.Errorf("requests: %q", sent)
	}
}

// TestReadPost: weft read sends the POSTs of a page, too, if it may.
func TestReadPost(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	for option, want := range map[string]int{"--render-post": 1, "--render=auto": 0} {
		if e := wefttest.Run(t, "read", "--render", option, g.URL+"/once"); strings.Count(e.Stdout, "# Answer 17") != want {
			t.Errorf("%s: %s%s", option, e.Stdout, e.Stderr)
		}
	}
	if e := wefttest.Run(t, "read", "--render-post", g.URL); e.Code != wefttest.Misused || !strings.Contains(e.Stderr, "--render-post: expected together with --render") {
		t.Errorf("exit %d: %s", e.Code, e.Stderr)
	}
}
