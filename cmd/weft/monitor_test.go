package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/record"
)

// effectMetrics: a crawl serves its series while it runs, and nothing when it has ended.
func effectMetrics(t *testing.T) {
	var once sync.Once
	asked, answer := make(chan bool), make(chan bool)
	let := sync.OnceFunc(func() { close(answer) })
	defer let()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			wefttest.HTML(w, "/gone", "/moved", "/last")
		case "/gone":
			http.NotFound(w, r)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			once.Do(func() { close(asked) })
			<-answer
			wefttest.HTML(w)
		}
	})
	cmd, at, stderr := monitored(t, "metrics", "crawl", "--job", "job", "--warc", "--per-host", "1", "--metrics", "127.0.0.1:0", s.URL)
	<-asked
	text := get(t, at)
	for _, want := range []string{
		`weft_state{crawl="job",state="running"} 1`,
		`weft_records_total{crawl="job",outcome="page"} 1`,
		`weft_records_total{crawl="job",outcome="status"} 1`,
		`weft_records_total{crawl="job",outcome="redirect"} 1`,
		`weft_responses_total{crawl="job",class="4xx"} 1`,
		`weft_urls{crawl="job",state="in_flight"} 1`,
		`weft_urls{crawl="job",state="done"} 3`,
		`weft_robots_total{crawl="job"} 1`,
		`weft_fetch_duration_seconds_count{crawl="job"} 3`,
		`weft_loop_tasks{crawl="job",loop="coordinator"} `,
		`weft_loop_tasks{crawl="job",loop="fetch 1"} `,
		`weft_job_bytes{crawl="job",part="state"} `,
		`weft_memory_max_bytes{crawl="job"} 5.36870912e+08`,
		"process_cpu_seconds_total{", "weft_archive_records_total{", "weft_build_info{",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("the series lack %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	job, err := weft.OpenJob(t.Context(), filepath.Join(cmd.Dir, "job"))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := job.Figures(t.Context()); err != nil || f.Done != 3 || f.Work.URLs[record.OutcomePage] != 1 || f.Work.Took.Sum == 0 {
		t.Errorf("by its socket: %+v, %v", f, err)
	}
	_ = job.Close()
	let()
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if resp, err := http.Get(at); err == nil {
		resp.Body.Close()
		t.Error("it is served after the end")
	}
}

// monitored starts a crawl that serves metrics or its page, and returns the address that it prints,
// and what it prints next.
func monitored(t *testing.T, what string, args ...string) (cmd *exec.Cmd, at string, stderr io.Reader) {
	t.Helper()
	cmd, _ = weftCommand(t, args...)
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stderr).ReadString('\n')
	_, at, ok := strings.Cut(strings.TrimSpace(line), "weft: "+what+": ")
	if !ok {
		t.Fatalf("printed %q", line)
	}
	return cmd, at, stderr
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return string(text)
}

// TestMetricsRefused: where no series may be served nothing is crawled.
func TestMetricsRefused(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(http.ResponseWriter, *http.Request) {})
	taken := strings.TrimPrefix(s.URL, "http://")
	for at, want := range map[string]struct {
		code int
		text string
	}{
		"0.0.0.0:9339": {exitUsage, "expected an address of loopback, such as 127.0.0.1:9337: ssh -L or a reverse proxy"},
		"9339":         {exitUsage, "expected an address of loopback and a port"},
		taken:          {exitError, "weft: " + taken + " is in use by another program: --metrics names another"},
	} {
		e := weftRun(t, "crawl", "--job", "job", "--metrics", at, s.URL)
		if e.code != want.code || !strings.Contains(e.stderr, want.text) {
			t.Errorf("%s: %+v", at, e)
		}
		if _, err := os.Stat(e.dir + "/job"); err == nil {
			t.Errorf("%s: there is a job", at)
		}
	}
}

// collector counts the spans that it is sent, by name.
func collector(t *testing.T) (url string, spans func(name string) int) {
	var mu sync.Mutex
	var all []byte
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, body...)
	}))
	t.Cleanup(s.Close)
	return s.URL, func(name string) int {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Count(all, []byte(`"name":"`+name+`"`))
	}
}

// effectTraces: each fetch is a span.
func effectTraces(t *testing.T) {
	url, spans := collector(t)
	s := wefttest.NewAsked(t, false, wefttest.Star)
	e := crawlArgs(t, exitDone, "--job", "job", "--otlp", url, "--trace-sample", "1", s.URL)
	// One may take less than the clock of a loop tells.
	if got, waits := spans("GET"), spans("wait"); got != 4 || waits == 0 {
		t.Errorf("%d fetches, %d waits: %s", got, waits, e.stderr)
	}
	if e := weftRun(t, "crawl", "--otlp", "localhost:4318", s.URL); e.code != exitUsage || !strings.Contains(e.stderr, "expected the URL of a collector") {
		t.Errorf("%+v", e)
	}
}

// effectTraceSample: few fetches are traced by default.
func effectTraceSample(t *testing.T) {
	url, spans := collector(t)
	s := wefttest.NewAsked(t, false, chain)
	crawlArgs(t, exitLimit, "--limit", "60", "--otlp", url, "--trace-sample", "1", s.URL)
	if got := spans("GET"); got != 60 {
		t.Errorf("%d of 60 fetches", got)
	}
	if e := weftRun(t, "crawl", "--trace-sample", "1", s.URL); e.code != exitUsage || !strings.Contains(e.stderr, "expected together with --otlp") {
		t.Errorf("%+v", e)
	}
}

// effectWeb: a crawl has its page while it runs, and keeps a job for it.
func effectWeb(t *testing.T) {
	asked, answer := make(chan bool), make(chan bool)
	let := sync.OnceFunc(func() { close(answer) })
	defer let()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			close(asked)
			<-answer
		}
	})
	cmd, at, _ := monitored(t, "web", "crawl", "-o", "records.jsonl", "--web", "127.0.0.1:0", s.URL)
	<-asked
	if text := get(t, at+"v1/status"); !strings.Contains(text, `"state":"running"`) {
		t.Error(text)
	}
	let()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(at); err == nil {
		t.Error("the page is there after the crawl")
	}
}
