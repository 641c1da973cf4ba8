package served

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// word is the one that is new at a visit.
func word(visit int) string { return "report" + strings.Repeat(string(rune('a'+visit%26)), 3) }

// news is a site of three pages. The text of its first one is another each time that it is asked
// for, and asked says so.
func news(t *testing.T) (url string, asked <-chan int) {
	t.Helper()
	var times atomic.Int64
	seen := make(chan int, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			n := times.Add(1)
			fmt.Fprintf(w, "<title>News</title><main><h1>News</h1><p>The newest one on this page is the %s of the town.</p><a href=/a>a</a><a href=/b>b</a></main>", word(int(n)))
			seen <- int(n)
		case "/a", "/b":
			fmt.Fprintf(w, "<title>Page %[1]s</title><p>The text of %[1]s stays as it is.</p>", r.URL.Path)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/", seen
}

// own writes a file of the operator into a folder of crawls.
func own(t *testing.T, dir, name, url, table string) {
	t.Helper()
	text := fmt.Sprintf("[crawl]\nurls = [%q]\nwarc = true\nmemory = '64MiB'\n[schedule]\n%s\n", url, table)
	if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pause lets others go on.
func pause(t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// visitsOf returns the paths that a crawl has records of, by visit.
func visitsOf(t *testing.T, dir, name string) []map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name+".weft", "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]int
	for line := range strings.Lines(string(text)) {
		var r struct {
			URL   string
			Visit int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		for len(all) < max(1, r.Visit) {
			all = append(all, make(map[string]int))
		}
		all[max(1, r.Visit)-1][r.URL]++
	}
	return all
}

// TestSchedule: the crawl of an operator's file is visited again at its interval, whenever the
// server is killed: no visit is lost, none is made twice, and no two are made at once.
func TestSchedule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url, asked := news(t)
	own(t, dir, "site", url, "every = '2s'")
	s := serve(t, dir, "--allow-private")
	const visits = 6
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for n := 0; n < visits; {
		select {
		case n = <-asked:
		case <-ctx.Done():
			t.Fatalf("%d visits", n)
		}
		if n%2 == 0 { // it runs
			s.signal(syscall.SIGKILL)
			s = serve(t, dir, "--allow-private")
		}
	}
	for ; ; pause(t, 50*time.Millisecond) {
		var c struct {
			Visits   int
			Schedule struct {
				Every string
				Next  time.Time
			}
		}
		if s.ask("GET", "/v1/crawls/site", nil, &c); c.Visits >= visits {
			if c.Schedule.Every != "2s" || time.Until(c.Schedule.Next).Abs() > time.Minute {
				t.Errorf("%+v", c)
			}
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("%+v", c)
		}
	}
	s.signal(syscall.SIGTERM)
	all := visitsOf(t, dir, "site")
	if len(all) < visits {
		t.Errorf("%d visits", len(all))
	}
	for i, visit := range all[:visits] {
		for _, path := range []string{"", "a", "b"} {
			if visit[url+path] != 1 {
				t.Errorf("visit %d: %v", i+1, visit)
				break
			}
		}
	}
}

// TestScheduleByRequest: a request sets, changes and removes the schedule of its crawl, within the
// bounds of strangers; what is wrong with one is said in a line.
func TestScheduleByRequest(t *testing.T) {
	t.Parallel()
	url, asked := news(t)
	dir := t.TempDir()
	s := serve(t, dir, "--allow-private")
	c := s.start(map[string]any{"urls": []string{url}, "schedule": map[string]any{"every": "2s"}})
	for n := 0; n < 2; {
		n = <-asked
	}
	at := "/v1/crawls/" + c.ID
	for body, want := range map[string]string{
		`{}`: "expected every", `{"every":"1ns"}`: "from 1s to 366d", `{"every":"-1h"}`: "from 1s", `{"every":6}`: "expected string",
		`{"cron":"* * * * * *"}`: "expected five", `{"cron":"0 0 30 2 *"}`: "five years", `{"cron":"0-999999 * * * *"}`: "above maximum",
		`{"cron":"@daily","zone":"../../etc/passwd"}`: "time zone", `{"every":"6h","notify":["true"]}`: "unexpected property",
		`{"every":"6h","missed":"twice"}`: "once", `{"every":"` + strings.Repeat("9", 3<<20) + `h"}`: "length", `{"every":"6h","jitter":"7h"}`: "jitter",
		`null`: "expected", `[]`: "expected",
	} {
		status, text := s.ask("PUT", at+"/schedule", json.RawMessage(body), nil)
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, want) || len(text) > 1000 {
			t.Errorf("%.60s: %d, %.500s, expected %s", body, status, text, want)
		}
		if status, _ := s.ask("POST", "/v1/crawls", json.RawMessage(`{"urls":["`+url+`"],"schedule":`+body+`}`), nil); status != http.StatusUnprocessableEntity && body != "null" {
			t.Errorf("%.60s: %d", body, status)
		}
	}
	var set struct {
		Schedule *struct {
			Cron, Zone string
			Next       time.Time
		}
	}
	if status, text := s.ask("PUT", at+"/schedule", map[string]any{"cron": "0 3 * * *", "zone": "Europe/Berlin"}, &set); status != http.StatusOK || set.Schedule == nil || set.Schedule.Next.UTC().Minute() != 0 {
		t.Errorf("%d, %s", status, text)
	}
	if status, text := s.ask("DELETE", at+"/schedule", nil, nil); status != http.StatusOK || strings.Contains(text, "schedule") {
		t.Errorf("%d, %s", status, text)
	}
	if status, _ := s.ask("PUT", "/v1/crawls/none/schedule", map[string]any{"every": "6h"}, nil); status != http.StatusNotFound {
		t.Error(status)
	}
	s.token = strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "me", "--rights", "all", dir).Stdout)
	if status, text := s.ask("PUT", at+"/schedule", map[string]any{"every": "59m"}, nil); status != http.StatusUnprocessableEntity || !strings.Contains(text, "at least 1h") {
		t.Errorf("%d, %s", status, text)
	}
	if status, text := s.ask("PUT", at+"/schedule", map[string]any{"every": "60m"}, nil); status != http.StatusOK {
		t.Errorf("%d, %s", status, text)
	}
}

// TestNotices: whenever the server is killed, during a visit, its comparison or a notice of it, the
// webhook and the operator's command are seen what each visit has changed, in order and at least
// once; requests list it, and feeds.
func TestNotices(t *testing.T) {
	t.Parallel()
	const visits, mostKills = 5, 8
	dir, mails := t.TempDir(), t.TempDir()
	first, _ := news(t)
	second, _ := news(t)
	type event struct {
		Type string
		Data struct {
			Visit   int
			Counts  struct{ Changed int }
			Changes []struct {
				Kind, URL string
				Details   json.RawMessage
			}
		}
	}
	var mu sync.Mutex
	var events []event
	var kills atomic.Int64
	kill := make(chan struct{}, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
		if kills.Add(1) <= mostKills {
			select {
			case kill <- struct{}{}: // it is delivered, and the server does not know
			default:
			}
			if len(events)%2 == 0 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}))
	t.Cleanup(hook.Close)
	own(t, dir, "site", first, fmt.Sprintf("every = '2s'\nnotify = ['/bin/sh', '-c', 'cat >$(mktemp %s/XXXXXX)']\nmail_to = 'me@a.test'", mails))
	s := serve(t, dir, "--allow-private")
	c := s.start(map[string]any{
		// Without events, crawl.changed is one of them.
		"urls": []string{second}, "options": map[string]any{"warc": true, "memory": "64MiB"}, "schedule": map[string]any{"every": "2s"},
		"webhook": map[string]any{"url": hook.URL, "secret": "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="},
	})
	noticed := func() (n int) {
		files, err := filepath.Glob(filepath.Join(mails, "*"))
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[int]bool)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// An empty one is being written.
			if strings.Contains(string(text), dir) || len(text) > 0 && !strings.HasPrefix(string(text), "To: <me@a.test>\r\n") {
				t.Errorf("%.200s", text)
			}
			for visit := 2; visit <= visits; visit++ {
				// Its lines are quoted-printable.
				if strings.Contains(strings.ReplaceAll(string(text), "=\r\n", ""), word(visit)) {
					seen[visit] = true
				}
			}
		}
		return len(seen)
	}
	changed := func() (all []event) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			if e.Type == "crawl.changed" {
				all = append(all, e)
			}
		}
		return all
	}
	done := func() bool {
		all := changed()
		return len(all) > 0 && all[len(all)-1].Data.Visit >= visits && noticed() == visits-1
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-kill:
			s.signal(syscall.SIGKILL)
			s = serve(t, dir, "--allow-private")
		default:
			pause(t, 50*time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Fatalf("%+v, %d notices", changed(), noticed())
		}
	}
	last := 1
	for _, e := range changed() {
		if e.Data.Visit != last && e.Data.Visit != last+1 {
			t.Errorf("visit %d after %d", e.Data.Visit, last)
		}
		last = e.Data.Visit
		if e.Data.Counts.Changed != 1 || len(e.Data.Changes) != 1 || e.Data.Changes[0].URL != second || !strings.Contains(string(e.Data.Changes[0].Details), word(last)) {
			t.Errorf("%+v", e.Data)
		}
	}
	at := "/v1/crawls/" + c.ID + "/changes"
	var all struct {
		Changes []struct{ Visit, Changed, Unchanged int }
	}
	if s.ask("GET", at, nil, &all); len(all.Changes) < visits-1 || all.Changes[0].Visit != 2 || all.Changes[0].Changed != 1 || all.Changes[0].Unchanged != 2 {
		t.Errorf("%+v", all)
	}
	var feed struct {
		Entries []struct {
			Title   string `xml:"title"`
			Content string `xml:"content"`
		} `xml:"entry"`
	}
	_, text := s.ask("GET", at+".atom", nil, nil)
	if err := xml.Unmarshal([]byte(text), &feed); err != nil || strings.Contains(text, dir) || len(feed.Entries) < visits-1 || feed.Entries[0].Title != "1 changed" || !strings.Contains(feed.Entries[0].Content, second) {
		t.Errorf("%s, %v", text, err)
	}
	for path, want := range map[string]string{
		"/3": word(3), "/3?format=text": word(3), "/3?format=html": word(3), "/3?format=markdown": word(3), "/3?format=mail": "Subject: ", "/3?format=none": "expected one of json", "/1": "not known", "/../x": "", "/x": "not known", "/99": "not known",
	} {
		if _, text := s.ask("GET", at+path, nil, nil); !strings.Contains(text, want) || strings.Contains(text, dir) {
			t.Errorf("%s: %s, expected %s, and nothing of %s", path, text, want, dir)
		}
	}
	resp, err := http.Get(s.url + at + "/3?format=html")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox;") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("a report may do this: %s", policy)
	}
	if status, _ := s.ask("DELETE", "/v1/crawls/"+c.ID, nil, nil); status != http.StatusNoContent {
		t.Error(status)
	}
	s.signal(syscall.SIGTERM)
	for i, visit := range visitsOf(t, dir, "site")[:visits] {
		if visit[first] != 1 {
			t.Errorf("visit %d: %v", i+1, visit)
		}
	}
}
