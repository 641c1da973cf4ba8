package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/record"
)

// whole is a crawl that has a value for each series.
func whole() inspect.Figures {
	f := inspect.Figures{
		Job: "/jobs/example.org.weft", State: inspect.JobPaused,
		Waits: []inspect.Waiting{{For: inspect.ByPace, Hosts: 3, Pending: 40}},
		Figures: record.Figures{
			Version: "1.2.3", Started: time.UnixMilli(1_700_000_000_500), Paused: []string{"disk"}, Traps: 1, GivenUp: 2, Memory: 5, MaxMemory: 6,
			Shares: []record.Share{{Of: "seen", Used: 7, Most: 8}}, Work: record.NewWork(),
			Commits: &record.Commits{Last: time.Unix(1_700_000_100, 0), Running: 0.5, Open: 9},
			Loops:   []record.Loop{{Name: "fetch 1", Lag: 0.001, Answer: 0.002, Turns: 10, Tasks: 11, Open: 12}},
			Disk:    &record.Disk{Free: 13, Size: 14, Parts: map[string]int64{"state": 15}},
			Browser: &record.Browser{Tabs: 2, Busy: 1, Starts: 3, Memory: 16, MaxMemory: 17},
			Node:    &record.Node{Outbox: 18, Bytes: 19, Lag: 1.5},
			Traces:  &record.Traces{Sent: 24, Dropped: 25, Waiting: 26},
			Process: record.Process{CPU: 2.5, Resident: 20, Open: 21, MaxOpen: 22, Routines: 23},
		},
	}
	f.Pending, f.InFlight, f.Done, f.Refused, f.Pages, f.Failed, f.Hosts = 1, 2, 3, 4, 5, 6, 7
	f.Left, f.NewPerURL = 90*time.Second, 0.25
	for _, r := range []record.Record{
		{Status: 200, ContentType: "text/html", Bytes: 100, BodyBytes: 400, Tries: 1, TotalMS: 30, NewLinks: 8},
		{Status: 503, Bytes: 10, Tries: 3, TotalMS: 40_000},
		{ErrorKind: "dns", Tries: 1},
		{ErrorKind: record.KindRobots},
		{Status: 200, ContentType: "text/html", Tries: 1, Rendered: &record.Rendered{MS: 1500}},
		{Status: 200, ContentType: "text/html", Tries: 1, Rendered: &record.Rendered{Error: "gone", ErrorKind: "crash"}},
	} {
		f.Work.Count(&r)
	}
	f.Work.Robots, f.Work.Archived, f.Work.Compressed = 1, 2, 3
	f.Commits.Took.Add(20 * time.Millisecond)
	return f
}

func text(t *testing.T, all ...inspect.Figures) string {
	t.Helper()
	text, err := New(func(context.Context) ([]inspect.Figures, error) { return all, nil }).Text()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestText: each series has a sample, and promtool finds nothing wrong with any.
func TestText(t *testing.T) {
	got := text(t, whole())
	golden.Equal(t, "testdata/metrics.txt", got)
	for _, s := range Table() {
		if !strings.Contains(got, "\n"+s.Name+"{") && !strings.Contains(got, "\n"+s.Name+"_count{") {
			t.Errorf("%s has no sample", s.Name)
		}
	}
	if n := len(Table()); n < 30 {
		t.Errorf("%d series", n)
	}
	promtool(t, got, "check", "metrics")
}

// promtool runs the tool of Prometheus.
func promtool(t *testing.T, stdin string, args ...string) {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool: Debian has it in prometheus")
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestCrawls: several crawls have their samples together, below one head; parts that a crawl does
// not have, no series.
func TestCrawls(t *testing.T) {
	hostile := inspect.Figures{Job: "a\"b\\c\nd\xff", Figures: record.Figures{Work: record.NewWork()}}
	got := text(t, whole(), hostile)
	if n := strings.Count(got, "# TYPE weft_pages gauge"); n != 1 {
		t.Errorf("%d heads of weft_pages", n)
	}
	if !strings.Contains(got, "weft_pages{crawl=\"example.org.weft\"} 5\nweft_pages{crawl=\"a\\\"b\\\\c\\nd\uFFFD\"} 0\n") {
		t.Errorf("weft_pages:\n%s", regexp.MustCompile("(?m)^weft_pages.*").FindAllString(got, -1))
	}
	promtool(t, got, "check", "metrics")
	alone := text(t, hostile)
	for _, none := range []string{"weft_browser", "weft_cluster", "weft_disk", "weft_commit", "weft_remaining"} {
		if strings.Contains(alone, none) {
			t.Errorf("a crawl without it has %s", none)
		}
	}
}

// TestOwn: a server of crawls has the series of its own process beside those of their processes,
// without the label crawl.
func TestOwn(t *testing.T) {
	own := inspect.Figures{Figures: record.Figures{Started: time.Unix(1_700_000_000, 0), Process: record.Process{CPU: 1.5, Resident: 5, Open: 6, MaxOpen: 7, Routines: 8}}}
	for _, all := range [][]inspect.Figures{nil, {whole()}} {
		s := NewOwn(func(context.Context) ([]inspect.Figures, error) { return all, nil }, func() inspect.Figures { return own })
		got, err := s.Text()
		if err != nil || !strings.Contains(string(got), "\nprocess_cpu_seconds_total 1.5\n") || !strings.Contains(string(got), "\ngo_goroutines 8\n") || strings.Count(string(got), "# TYPE go_goroutines") != 1 {
			t.Errorf("%v: %s", err, got)
		}
		if strings.Contains(string(got), "weft_") != (all != nil) || strings.Contains(string(got), `go_goroutines{crawl="example.org.weft"} 23`) != (all != nil) {
			t.Errorf("%s", got)
		}
		promtool(t, string(got), "check", "metrics")
	}
}

// TestShared: however many ask, there is one look a second.
func TestShared(t *testing.T) {
	var looks atomic.Int64
	s := New(func(context.Context) ([]inspect.Figures, error) {
		looks.Add(1)
		return []inspect.Figures{whole()}, nil
	})
	began := time.Now()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 20 {
				if _, err := s.Text(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if most := 1 + int64(time.Since(began)/lookEvery); looks.Load() > most {
		t.Errorf("%d looks, expected at most %d", looks.Load(), most)
	}
	before := looks.Load()
	s.made = s.made.Add(-lookEvery)
	if _, err := s.Text(); err != nil || looks.Load() != before+1 {
		t.Errorf("a second later: %v, %d looks after %d", err, looks.Load(), before)
	}
}

// TestServer: what is answered, and what is refused.
func TestServer(t *testing.T) {
	var fails error
	for _, c := range []struct {
		method, host, path string
		err                error
		status             int
	}{
		{"GET", "127.0.0.1:9339", Path, nil, http.StatusOK},
		{"HEAD", "localhost", Path, nil, http.StatusOK},
		{"GET", "[::1]:9339", Path, nil, http.StatusOK},
		{"GET", "example.org", Path, nil, http.StatusMisdirectedRequest},
		{"GET", "127.0.0.1.example.org", Path, nil, http.StatusMisdirectedRequest},
		{"GET", "127.0.0.1", "/", nil, http.StatusNotFound},
		{"GET", "127.0.0.1", "/metrics/", nil, http.StatusNotFound},
		{"POST", "127.0.0.1", Path, nil, http.StatusMethodNotAllowed},
		{"GET", "127.0.0.1", Path, errors.New("the crawl has ended"), http.StatusServiceUnavailable},
	} {
		fails = c.err
		s := New(func(context.Context) ([]inspect.Figures, error) { return []inspect.Figures{whole()}, fails })
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status || (w.Code == http.StatusOK) != (w.Header().Get("Content-Type") == ContentType) {
			t.Errorf("%s %s of %s: %d %s, expected %d", c.method, c.path, c.host, w.Code, w.Header().Get("Content-Type"), c.status)
		}
	}
}

const page = "../../docs/metrics.md"

// TestPage: the page lists each series.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| series | type | label | value |\n|---|---|---|---|\n")
	for _, s := range Table() {
		label := ""
		if s.Label != "" {
			label = "`" + s.Label + "`"
		}
		b.WriteString("| `" + s.Name + "` | " + string(s.Type) + " | " + label + " | " + s.Help + " |\n")
	}
	was, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| series \| type \|.*\n(\|.*\n)+`)
	if !rows.Match(was) {
		t.Fatalf("%s has no table of series", page)
	}
	golden.Equal(t, page, string(rows.ReplaceAllLiteral(was, []byte(b.String()))))
}

// TestPatience: a crawl that does not respond is given up before a scraper, which waits for 10 s,
// gives up all of them.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := New(func(ctx context.Context) ([]inspect.Figures, error) {
			<-ctx.Done()
			return []inspect.Figures{whole()}, nil
		})
		if text, err := s.Text(); err != nil || len(text) == 0 || time.Since(began) >= 10*time.Second {
			t.Errorf("%v, after %s", err, time.Since(began))
		}
	})
}
