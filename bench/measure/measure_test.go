package measure

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/bench/lab"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be the children.
func TestMain(m *testing.M) {
	Child(testWays)
	os.Exit(m.Run())
}

// testWays behave like ways, or fail in some way.
var testWays = []lab.Way{
	{Name: "blocking", Fetch: func(ctx context.Context, urls []string, _ int) ([]lab.Page, error) { return fetch(ctx, urls, 1), nil }},
	{Name: "together", About: "all at once", Fetch: func(ctx context.Context, urls []string, atOnce int) ([]lab.Page, error) {
		return fetch(ctx, urls, atOnce), nil
	}},
	{Name: "three", Fetch: func(ctx context.Context, urls []string, _ int) ([]lab.Page, error) { return fetch(ctx, urls, 3), nil }},
	{Name: "liar", Fetch: func(ctx context.Context, urls []string, atOnce int) ([]lab.Page, error) {
		pages := fetch(ctx, urls, atOnce)
		pages[1].Body = append(pages[1].Body, "\x1b[2J"...)
		return pages, nil
	}},
	{Name: "moody", Fetch: func(ctx context.Context, urls []string, atOnce int) ([]lab.Page, error) {
		pages := fetch(ctx, urls, atOnce)
		pages[0].Status += int(moods.Add(1))
		return pages, nil
	}},
	{Name: "processes", Fetch: func(ctx context.Context, urls []string, atOnce int) ([]lab.Page, error) {
		if atOnce > 100 {
			return nil, fmt.Errorf("%d at once", atOnce)
		}
		return fetch(ctx, urls, atOnce), nil
	}},
	{Name: "poor", Fetch: func(context.Context, []string, int) ([]lab.Page, error) {
		return nil, fmt.Errorf("socket: %w", unix.EMFILE)
	}},
	{Name: "careless", Fetch: func(ctx context.Context, urls []string, atOnce int) ([]lab.Page, error) {
		pages := fetch(ctx, urls, atOnce)
		for i := range 3 {
			pages[i].Err = unix.ECONNRESET
		}
		return pages, nil
	}},
	{Name: "lazy", Fetch: func(context.Context, []string, int) ([]lab.Page, error) { return nil, nil }},
	{Name: "dying", Fetch: func(context.Context, []string, int) ([]lab.Page, error) {
		fmt.Fprintln(os.Stderr, "\nruntime: out of threads\n...")
		os.Exit(2)
		return nil, nil
	}},
	{Name: "endless", Fetch: func(ctx context.Context, _ []string, _ int) ([]lab.Page, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}},
}

var moods atomic.Int32

func ways(names ...string) []lab.Way {
	var some []lab.Way
	for _, name := range names {
		some = append(some, testWays[slices.IndexFunc(testWays, func(w lab.Way) bool { return w.Name == name })])
	}
	return some
}

func fetch(ctx context.Context, urls []string, atOnce int) []lab.Page {
	pages := make([]lab.Page, len(urls))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, u := range urls {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			var err error
			if pages[i], err = get(ctx, u); err != nil {
				pages[i] = lab.Page{URL: u, Err: err}
			}
		})
	}
	all.Wait()
	return pages
}

func quietly[T any](T) {}

// compare has ways fetch 3 pages in 2 rounds.
func compare(t *testing.T, names ...string) *Compared {
	t.Helper()
	found, err := Compare(t.Context(), Comparison{Ways: ways(names...), Rounds: 2, Pages: 3, ConnectDelay: time.Millisecond, ResponseDelay: time.Millisecond, Begin: quietly[int]})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCompare(t *testing.T) {
	found := compare(t, "blocking", "together")
	if !found.Agree || len(found.Disagreements) != 0 {
		t.Errorf("they do not agree: %q", found.Disagreements)
	}
	for _, w := range found.Ways {
		if w.Error != "" || w.WallMS < 2 || w.CPUMS <= 0 || w.Memory < 1<<20 || w.Faster == nil {
			t.Errorf("%+v", w)
		}
		if runtime.GOOS == "linux" && w.Threads < 2 {
			t.Errorf("%s: %d threads", w.Name, w.Threads)
		}
	}
	if blocking := found.Ways[0]; blocking.WallMS < 6 || *blocking.Faster != 1 {
		t.Errorf("3 pages of 2 ms, one after the other: %+v", blocking)
	}
}

// TestDisagreement: a way that differs from the first, or fails, is named.
func TestDisagreement(t *testing.T) {
	for name, want := range map[string]string{
		"liar":  "/2: status 200, ",
		"moody": "moody: 1 of 3 pages not the same in each round",
		"poor":  "poor: EMFILE: too many open files",
		"lazy":  "lazy: 0 pages of 3",
		"dying": "dying: runtime: out of threads",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := compare(t, "together", name)
			if all := strings.Join(found.Disagreements, "\n"); found.Agree || len(found.Disagreements) != 1 || !strings.HasPrefix(all, name+": ") || !strings.Contains(all, want) {
				t.Errorf("agree: %t, %s; expected %s", found.Agree, all, want)
			}
		})
	}
}

// TestNoResponse: ways that all fetch nothing do not agree.
func TestNoResponse(t *testing.T) {
	found, err := Compare(t.Context(), Comparison{Ways: ways("together"), Rounds: 1, URLs: []string{"http://127.0.0.1:1/"}, Begin: quietly[int]})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(found.Disagreements, "\n"); found.Agree || !strings.Contains(all, "no complete response: ECONNREFUSED") {
		t.Errorf("agree: %t, %s", found.Agree, all)
	}
}

// TestCompareBound: a way that runs a process per page does not get hundreds.
func TestCompareBound(t *testing.T) {
	found, err := Compare(t.Context(), Comparison{Ways: ways("processes"), Rounds: 1, Pages: 150, Begin: quietly[int]})
	if err != nil {
		t.Fatal(err)
	}
	if w := found.Ways[0]; w.Error != "" || w.AtOnce != 100 || w.Bound == "" {
		t.Errorf("%+v", w)
	}
}

func TestCompareCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Compare(ctx, Comparison{Ways: ways("endless"), Rounds: 1, Pages: 1, Begin: func(int) {
		time.AfterFunc(10*time.Millisecond, cancel)
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestHold(t *testing.T) {
	if n := MaxConnections(); n < 20 {
		t.Skipf("only %d descriptors", n)
	}
	for _, c := range []struct {
		way     string
		n       int
		quiet   time.Duration
		least   int
		most    int
		stopped string
	}{
		{"together", 8, 0, 8, 8, ""},
		{"three", 8, 50 * time.Millisecond, 1, 3, "no more came for 50ms"},
		{"blocking", 8, 0, 1, 1, "it fetches one page after the other"},
		{"careless", 8, 0, 8, 8, "ECONNRESET: connection reset by peer (3 of 8)"}, // at the responses
		{"poor", 8, 0, 0, 0, "EMFILE: too many open files"},
		{"dying", 8, 0, 0, 0, "runtime: out of threads"},
	} {
		t.Run(c.way, func(t *testing.T) {
			t.Parallel()
			held, err := Hold(t.Context(), Holding{Ways: ways(c.way), Connections: c.n, For: time.Millisecond, Quiet: c.quiet, Begin: quietly[lab.Way]})
			if err != nil {
				t.Fatal(err)
			}
			h := held[0]
			if h.Held < c.least || h.Held > c.most || !strings.HasPrefix(h.Stopped, c.stopped) || (c.stopped == "") != (h.Stopped == "") {
				t.Errorf("%+v, expected %d to %d held, %q", h, c.least, c.most, c.stopped)
			}
			if c.least > 0 && (h.CPUMS <= 0 || runtime.GOOS == "linux" && h.Memory <= 0) {
				t.Errorf("%+v", h)
			}
		})
	}
}

// TestChildEnds: a child ends when its parent has gone, whatever it does.
func TestChildEnds(t *testing.T) {
	p, err := start(t.Context(), wayName, wayTask{"endless", []string{"http://127.0.0.1/"}, 1, time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.receive(t.Context(), new(before)); err != nil {
		t.Fatal(err)
	}
	if err := p.in.Encode("round"); err != nil {
		t.Fatal(err)
	}
	_ = p.In.Close()
	if err := p.Wait(); err != nil {
		t.Errorf("%v", err)
	}
}

// TestFamily: a process's memory and threads include its descendants'.
func TestFamily(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	p, err := start(t.Context(), wayName, wayTask{"endless", nil, 1, time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if err := p.receive(t.Context(), new(before)); err != nil {
		t.Fatal(err)
	}
	alone, all := lookAt(p.PID()), lookAt(os.Getpid())
	if alone.resident == 0 || alone.children != 0 || all.children == 0 || all.threads <= alone.threads {
		t.Errorf("the child alone: %+v; its parent with it: %+v", alone, all)
	}
}

func TestSite(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /secret")
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=/a#x>a</a><a href=/secret>s</a><a href=/>home</a><a href=http://example.test/>out</a>")
		case "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/b":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=/c>c</a><a href=/a>a</a>")
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	root, err := weburl.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{1: "/", 2: "/ /a", 10: "/ /a /b /c"} {
		all, err := Site(t.Context(), root, n, "weft")
		if got := strings.ReplaceAll(strings.Join(all, " "), s.URL, ""); got != want || err != nil {
			t.Errorf("%d pages: %s, %v; expected %s", n, got, err, want)
		}
	}
	secret, _ := root.Resolve("/secret")
	if _, err := Site(t.Context(), secret, 1, "weft"); err == nil || err.Error() != "its robots.txt disallows it" {
		t.Errorf("a disallowed page: %v", err)
	}
}

// TestSiteRobotsElsewhere: a robots.txt may redirect to its rules over up to five hops (RFC 9309,
// section 2.3.1.2).
func TestSiteRobotsElsewhere(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.Atoi(r.URL.Path[1:]); n > 1 {
			http.Redirect(w, r, fmt.Sprintf("/%d", n-1), http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, "User-agent: *\nDisallow: /secret")
	}))
	defer elsewhere.Close()
	for hops, want := range map[int]string{1: "/", 5: "/", 6: "/ /secret"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.Redirect(w, r, fmt.Sprintf("%s/%d", elsewhere.URL, hops), http.StatusFound)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=/secret>s</a>")
		}))
		defer s.Close()
		root, err := weburl.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Site(t.Context(), root, 10, "weft")
		if got := strings.ReplaceAll(strings.Join(all, " "), s.URL, ""); got != want || err != nil {
			t.Errorf("%d hops: %s, %v; expected %s", hops, got, err, want)
		}
	}
}

func TestLatencies(t *testing.T) {
	var began []string
	found, err := Latencies{Dir: t.TempDir(), Least: time.Microsecond, Memory: 1 << 20, File: 64 << 10, Begin: func(name string) { began = append(began, name) }}.Measure(t.Context())
	if err != nil || len(found) != 13 || len(began) != len(found) {
		t.Fatalf("%v, %d measured of %q", err, len(found), began)
	}
	for _, l := range found {
		noDirect := l.Name == "disk read" && l.Error != "" // as a folder in memory has it
		if !noDirect && (l.Error != "" || l.NS <= 0 || l.NS > 1e10) {
			t.Errorf("%+v", l)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Latencies{Begin: func(string) {}}).Measure(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestChart: it is XML with all names and values, for light and dark themes, and always the same.
func TestChart(t *testing.T) {
	draw := func() []byte {
		svg, err := Chart("title", "what it shows", []Bar{{"one", 1, "1 ms"}, {"<two>", 12, "12 ms"}, {"none", 0, "0 ms"}})
		if err != nil {
			t.Fatal(err)
		}
		return svg
	}
	svg := draw()
	var text strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if chars, ok := token.(xml.CharData); ok {
			fmt.Fprintf(&text, "%s|", chars)
		}
	}
	for _, word := range []string{"title", "what it shows", "one", "<two>", "1 ms", "12 ms", "0 ms"} {
		if !strings.Contains(text.String(), word+"|") {
			t.Errorf("no %q in %s", word, &text)
		}
	}
	if !bytes.Contains(svg, []byte("prefers-color-scheme:dark")) || !bytes.Equal(svg, draw()) {
		t.Errorf("no dark theme, or another chart the second time: %s", svg)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}} {
		if got := median(c.values, func(v float64) float64 { return v }); got != c.want {
			t.Errorf("of %v: %v, expected %v", c.values, got, c.want)
		}
	}
}
